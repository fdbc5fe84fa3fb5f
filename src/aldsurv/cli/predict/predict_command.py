"""``aldsurv predict``: what a model predicts for each row of a table, however long the table is."""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.causes.chosen_cause import cause_option, chosen_causes
from aldsurv.cli.predict.prediction_files import (
    ALL_DIGITS,
    FORMATS,
    RowWriter,
    output_file,
    output_format,
    writes_to_terminal,
)
from aldsurv.cli.process import discard
from aldsurv.cli.shared.command_options import (
    cluster_option,
    force_option,
    json_option,
    out_option,
    parse_numbers,
    quiet_option,
    split_names,
)
from aldsurv.cli.shared.outputs import PREDICTIONS, checked_output
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of, reading_options
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.cli.predict.prediction_stream import Prediction
    from aldsurv.cli.shared.notes import Notes
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.models.prediction.prediction_request import PredictionRequest
    from aldsurv.tables.table_file import TableFile

__all__ = ["predict"]

# The exit code that a shell shows for a program that a closed pipe has ended.
_PIPE_CLOSED = 141
_DIGITS = 6


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--times", metavar="T,T", help="Times of survival_T and, with causes, incidence_CAUSE_T.")
@reading_options
@cause_option("Only the incidence of this cause at --times.")
@click.option("--quantiles", metavar="P,P", help="Times by which the event has occurred with these probabilities: q10.")
@click.option(
    "--summary",
    metavar="NAME,NAME",
    help="mean, median, mode, std; restricted_mean within each of --times, or within follow-up.",
)
@click.option("--interval", type=float, metavar="P", help="Central interval with probability P: lower_90, upper_90.")
@click.option(
    "--band",
    type=float,
    metavar="P",
    help="Limits at level P between the members of an ensemble: median_lower, median_upper.",
)
@click.option(
    "--given-survived",
    metavar="C",
    help="Time until which rows are known to be event-free: a column or a number.",
)
@click.option("--keep", metavar="A,B", help="Columns of the table to copy, such as an id; or all.")
@out_option("Write to FILE instead of standard output.")
@force_option()
@click.option(
    "--format",
    "file_format",
    type=click.Choice(FORMATS),
    metavar="F",
    help="csv, parquet or jsonl  [default: by the ending of FILE]",
)
@click.option(
    "--digits",
    type=click.IntRange(1, ALL_DIGITS),
    metavar="N",
    help=f"Significant digits of predictions in csv and jsonl; {ALL_DIGITS}: all. [default: {_DIGITS}]",
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Threads. [default: all cores]")
@cluster_option()
@json_option("With --out, print a summary as JSON; otherwise print rows as jsonl.")
@quiet_option("No notes, no progress, no summary line.")
def predict(
    model: Path,
    table: Path,
    reading: ReadingOptions,
    times: str | None,
    cause: str | None,
    quantiles: str | None,
    summary: str | None,
    interval: float | None,
    band: float | None,
    given_survived: str | None,
    keep: str | None,
    out: Path | None,
    force: bool,
    file_format: str | None,
    digits: int | None,
    jobs: int | None,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Predict with MODEL for each row of TABLE.

    TABLE is CSV, TSV (also gzipped), Parquet or Excel of any length.
    The output has one row for each row of TABLE, in order: the columns
    that are kept, the predictions, and whether a value lies outside the
    range of the training rows. With a model of episodes (fit --start
    --stop) and their columns in TABLE, it has one row for each person,
    whose covariates change as in TABLE and are constant after the last
    episode. The default without --times, --quantiles, --summary and
    --interval is median, q10 and q90.

    --band shows how much the prediction would vary with other training
    rows; --interval is a prediction interval for the time of the event.

    A model with causes predicts at each of --times the probability of
    every cause by then, and of no event; except for rounding these add
    up to 1. All other predictions are for the first event of any cause.

    FILE ends in .csv, .csv.gz, .parquet or .jsonl; a file of another
    kind is replaced only with --force. A quantile that a curve never
    reaches is inf, in jsonl null. Kept columns of a text table are
    copied unchanged.

    Predictions have 6 significant digits in csv and jsonl, or as many
    as --digits says; with 17, the numbers that are read back are the
    same. Parquet always has all digits.

    TABLE can be a folder of Parquet files of any size. --out is then
    also a folder, with a Parquet file for each of them. If the command
    is stopped, the same command continues.

    \b
    Examples:
      aldsurv predict m.aldsurv new.csv
      aldsurv predict m.aldsurv new.csv \\
        --times 30,90,365 --keep id
      aldsurv predict m.aldsurv new.csv \\
        --summary mean --out risk.parquet
      aldsurv predict m.aldsurv new.csv \\
        --given-survived days_so_far
      aldsurv predict m.aldsurv new.csv \\
        --times 12,36 --cause relapse
      aldsurv predict m.aldsurv big \\
        --out scored --cluster local:4
    """  # noqa: D301
    from aldsurv.cli.shared.input_files import load_model
    from aldsurv.cli.shared.notes import warnings_as_notes

    start = time.perf_counter()
    if table.is_dir() or cluster is not None:
        from aldsurv.cli.predict.parted_predictions import predict_folder, refuse_options

        refuse_options({"--given-survived": given_survived, "--digits": digits, "--jobs": jobs}, file_format, reading)
        with warnings_as_notes(quiet=quiet) as notes:
            estimator = load_model(model)
            request = _request(times, quantiles, summary, interval, band, float(estimator.unique_times_[-1]))
            request = _with_causes(request, estimator, cause)
            _require_members(estimator, band, model)
            predict_folder(
                estimator,
                table,
                out,
                request,
                split_names(keep),
                notes,
                missing=reading_of(estimator, reading).missing or (),
                cluster=cluster,
                start=start,
                as_json=as_json,
                quiet=quiet,
            )
        return
    form = output_format(out, file_format or ("jsonl" if as_json and out is None else None))
    if form == "parquet" and writes_to_terminal(out):
        raise ParameterError("--format parquet writes bytes that no terminal can show. Name a file by --out.")
    if form == "parquet" and digits is not None:
        raise ParameterError("--digits cannot be combined with Parquet, which holds all digits. Write csv or jsonl.")
    if out is not None:
        kind = PREDICTIONS["gz" if out.suffix.lower() == ".gz" else form]
        checked_output(out, kind, inputs=[model, table], force=force)
    elif sys.stdout is None:
        raise ParameterError("standard output is closed, so rows cannot be written. Name a file by --out.")
    with warnings_as_notes(quiet=quiet) as notes:
        estimator = load_model(model)
        request = _request(times, quantiles, summary, interval, band, float(estimator.unique_times_[-1]))
        request = _with_causes(request, estimator, cause)
        _require_members(estimator, band, model)
        prediction = _prediction(estimator, table, reading, request, split_names(keep), given_survived, notes)
        prediction = replace(prediction, digits=ALL_DIGITS if form == "parquet" else digits or _DIGITS)
    try:
        _write(
            prediction,
            out,
            form,
            notes,
            start,
            jobs=jobs or _cores(),
            markers_given=reading.missing is not None,
            as_json=as_json,
            quiet=quiet,
        )
    except BrokenPipeError:
        # The reader of the rows has left early, as `head` does.
        if sys.__stdout__ is not None:
            discard(sys.__stdout__.fileno())
        raise click.exceptions.Exit(_PIPE_CLOSED) from None


def _request(
    times: str | None,
    quantiles: str | None,
    summary: str | None,
    interval: float | None,
    band: float | None,
    follow_up: float,
) -> PredictionRequest:
    """The columns that are asked for; restricted means are up to the times, or to the end of follow-up."""
    from aldsurv.models.prediction.prediction_request import SUMMARIES, PredictionRequest

    horizons = parse_numbers(times, "--times", example="30,90,365")
    levels = parse_numbers(quantiles, "--quantiles", high=1.0, example="0.1,0.5,0.9")
    summaries = split_names(summary)
    for name in summaries:
        if name not in SUMMARIES:
            near = get_close_matches(name, SUMMARIES, n=1)
            hint = f"Did you mean {quoted(near[0])}? " if near else ""
            raise ParameterError(f"--summary holds {quoted(name)}. {hint}There are {', '.join(SUMMARIES)}.")
    for option, level in (("--interval", interval), ("--band", band)):
        if level is not None and not 0 < level < 1:
            raise ParameterError(f"{option} must lie between 0 and 1, but is {level:g}. Give {option} 0.9.")
    if not (horizons or levels or summaries) and interval is None:
        summaries, levels = ("median",), (0.1, 0.9)
    return PredictionRequest(summaries, levels, interval, horizons, horizons or (follow_up,), band)


def _require_members(model: SurvivalEstimator, band: float | None, path: Path) -> None:
    if band is not None and model.n_members < 2:
        raise ParameterError(
            f"--band needs a model of several members, but {str(path)!r} has one. Fit an ensemble: "
            "aldsurv fit --model ald --members 5."
        )


def _with_causes(request: PredictionRequest, model: SurvivalEstimator, cause: str | None) -> PredictionRequest:
    """The same with the causes of the model, or the one asked for."""
    causes = chosen_causes(model, cause)
    if cause is not None and not request.times:
        raise ParameterError("--cause needs the times by which its probability is asked for, such as --times 12,36.")
    return replace(request, causes=causes, with_survival=cause is None)


def _prediction(
    model: SurvivalEstimator,
    table_path: Path,
    reading: ReadingOptions,
    request: PredictionRequest,
    kept: tuple[str, ...],
    given_survived: str | None,
    notes: Notes,
) -> Prediction:
    """Everything that can be wrong before the first row is read."""
    from aldsurv.cli.predict.person_paths import PathColumns
    from aldsurv.cli.predict.prediction_inputs import ModelInputs, data_columns
    from aldsurv.cli.predict.prediction_notes import cause_notes, first_names, horizon_notes
    from aldsurv.cli.predict.prediction_stream import Prediction
    from aldsurv.cli.shared.input_files import require_file
    from aldsurv.datasets import read_blocks

    require_file(table_path)
    table = read_blocks(table_path, **reading_of(model, reading).arguments)
    if kept == ("all",) and "all" not in table.names:
        kept = tuple(data_columns(table))
    since = _since(given_survived, table)
    path = PathColumns.of_training(model, table)
    if path is not None and path.person not in kept:
        kept = (path.person, *kept)
    others = (*kept, since) if isinstance(since, str) else kept
    inputs = ModelInputs.find(model, table, others)
    for name in others:
        table.require(name)
    _require_distinct([*kept, *request.names, "outside"])
    used = (
        {column.name for column in inputs.inputs} | {column.key for column in inputs.inputs} | {*others, *(path or ())}
    )
    unused = [name for name in data_columns(table) if name not in used]
    if inputs.by_position:
        notes.add(f"the model has no names of columns: columns of {str(table_path)!r} are taken by their order.")
    if unused:
        notes.add(f"columns that the model does not use: {first_names(unused)}.")
    for note in (*horizon_notes(request, model), *cause_notes(request, model)):
        notes.add(note)
    return Prediction(model, table, inputs, request, kept, since, path)


def _write(
    prediction: Prediction,
    out: Path | None,
    form: str,
    notes: Notes,
    start: float,
    *,
    jobs: int,
    markers_given: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    from aldsurv.cli.predict.prediction_notes import show_summary, surprise_notes
    from aldsurv.cli.predict.prediction_stream import Surprises
    from aldsurv.cli.shared.progress import progress_line

    surprises = Surprises()
    with output_file(out) as file, progress_line(show=not quiet and not writes_to_terminal(out)) as show:
        writer = RowWriter.of(form, file)
        for block in prediction.blocks(jobs=jobs):
            writer.write(block.batch)
            surprises.add(block.surprises)
            show(f"predicted {surprises.rows} rows, {100 * block.position / max(prediction.table.size, 1):.0f} %")
        writer.finish()
    for note in surprise_notes(surprises, prediction):
        notes.add(note)
    unseen = prediction.table.describe_unseen_markers()
    if unseen and markers_given:
        notes.add(unseen)
    notes.show()
    if out is not None and (as_json or not quiet):
        seconds = time.perf_counter() - start
        show_summary(out, form, prediction, surprises, notes, seconds, as_json=as_json)


def _since(text: str | None, table: TableFile) -> float | str | None:
    """A column if there is one of that name, else a number."""
    if text is None or text in table.names:
        return text
    try:
        since = float(text)
    except ValueError:
        table.require(text)
        raise
    if not 0 <= since < math.inf:
        raise ParameterError(f"--given-survived must be a time from 0 on, but is {text}.")
    return since


def _require_distinct(names: list[str]) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ParameterError(
            f"the output would have the column {quoted(name)} twice, kept and predicted. Rename the one in the "
            "table, or do not keep it."
        )


def _cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
