"""``aldsurv predict``: for each row of a table what a model predicts, however long the table is."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aldsurv.cli.process import discard
from aldsurv.cli.shared.outputs import PREDICTIONS, checked_output, force_option
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.cli.predict.prediction_columns import Asked
    from aldsurv.cli.predict.prediction_stream import Prediction
    from aldsurv.cli.shared.notes import Notes
    from aldsurv.tables.table_file import TableFile

__all__ = ["predict"]

_FORMATS = ("csv", "parquet", "jsonl")
# What a shell shows for a program that a closed pipe has ended.
_PIPE_CLOSED = 141


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--times", metavar="T,T", help="Survival at these times: survival_T.")
@click.option("--quantiles", metavar="P,P", help="Times by which the event has come with these probabilities: q10.")
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
    help="Rows are known to be event-free until then: a column or a number.",
)
@click.option("--keep", metavar="A,B", help="Columns of the table to copy, such as an id; or all.")
@click.option(
    "--out", type=click.Path(path_type=Path, readable=False), metavar="FILE", help="Write here, not to standard output."
)
@force_option
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), metavar="F", help="csv, parquet, jsonl; else as FILE ends."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Threads. [default: all cores]")
@click.option("--json", "as_json", is_flag=True, help="With --out: say as JSON what was done. Else: rows as jsonl.")
@click.option("--quiet", is_flag=True, help="No notes, no progress, no last word.")
def predict(model: Path, table: Path, **options: Any) -> None:
    """Predict with MODEL for each row of TABLE.

    TABLE is CSV, TSV (also gzipped) or Parquet of any length. One row comes
    out for each that goes in, in order: the columns kept, the
    predictions, and whether some value lies outside of what training had
    shown. Without --times, --quantiles, --summary and --interval: median,
    q10 and q90.

    --band tells how far the prediction would move with other rows of
    training like those seen; --interval, where the event of a row may
    fall.

    FILE ends in .csv, .csv.gz, .parquet or .jsonl; one of another kind is
    replaced only with --force. A quantile that a curve
    never comes to is inf, in jsonl null. Kept columns of a text table stay
    the text they are.

    \b
    Examples:
      aldsurv predict m.aldsurv new.csv
      aldsurv predict m.aldsurv new.csv \\
        --times 30,90,365 --keep id
      aldsurv predict m.aldsurv new.csv \\
        --summary mean --out risk.parquet
      aldsurv predict m.aldsurv new.csv \\
        --given-survived days_so_far
    """  # noqa: D301
    try:
        _run(model, table, options)
    except BrokenPipeError:
        # Whoever read the rows has seen enough, as `head` does.
        if sys.__stdout__ is not None:
            discard(sys.__stdout__.fileno())
        raise click.exceptions.Exit(_PIPE_CLOSED) from None


def _run(model: Path, table: Path, options: dict[str, Any]) -> None:
    from aldsurv.cli.predict.prediction_files import RowWriter, file_format, output_file, writes_to_terminal
    from aldsurv.cli.predict.prediction_notes import surprise_notes, tell_what_was_done
    from aldsurv.cli.predict.prediction_stream import Surprises
    from aldsurv.cli.shared.notes import warnings_as_notes

    out, quiet = options["out"], options["quiet"]
    begun = time.perf_counter()
    form = options["form"] or ("jsonl" if options["as_json"] and out is None else None)
    form = file_format(out, form)
    if form == "parquet" and writes_to_terminal(out):
        raise ParameterError("--format parquet writes bytes that no terminal can show. Name a file by --out.")
    if out is not None:
        kind = PREDICTIONS["gz" if out.suffix.lower() == ".gz" else form]
        checked_output(out, kind, inputs=[model, table], force=options["force"])
    elif sys.stdout is None:
        raise ParameterError("standard output is closed: rows have nowhere to go. Name a file by --out.")
    with warnings_as_notes(quiet=quiet) as notes:
        prediction = _prediction(model, table, options, notes)
    found = Surprises()
    show = not quiet and not writes_to_terminal(out)
    with output_file(out) as file, _progress(show, prediction.table.size) as advance:
        writer = RowWriter.of(form, file)
        for block in prediction.blocks(jobs=options["jobs"] or _cores()):
            writer.write(block.batch)
            found.add(block.surprises)
            advance(block.position)
        writer.finish()
    for note in surprise_notes(found, prediction):
        notes.add(note)
    notes.tell()
    if out is not None and (options["as_json"] or not quiet):
        tell_what_was_done(
            out, form, prediction, found, notes.messages, time.perf_counter() - begun, as_json=options["as_json"]
        )


def _prediction(model_path: Path, table_path: Path, options: dict[str, Any], notes: Notes) -> Prediction:
    """Everything that can be wrong before the first row is read."""
    from aldsurv.cli.predict.prediction_inputs import ModelInputs, data_columns
    from aldsurv.cli.predict.prediction_notes import few, horizon_notes
    from aldsurv.cli.predict.prediction_stream import Prediction
    from aldsurv.cli.shared.outcome import load_model, told_in_options, words
    from aldsurv.datasets import read_blocks

    model = load_model(model_path)
    last = float(model.unique_times_[-1])
    asked = _asked(options, last)
    if asked.band is not None and model.n_members < 2:
        raise ParameterError(
            f"--band needs a model of several members, but {str(model_path)!r} has one. Fit an ensemble, such as "
            "--model ald --members 5."
        )
    with told_in_options(table_path):
        table = read_blocks(table_path)
    kept = words(options["keep"])
    if kept == ("all",) and "all" not in table.names:
        kept = tuple(data_columns(table))
    since = _since(options["given_survived"], table)
    aside = {*kept, since} if isinstance(since, str) else {*kept}
    inputs = ModelInputs.of(model, table, aside)
    for name in (*kept, *([since] if isinstance(since, str) else [])):
        table.require(name)
    _require_names(kept, asked)
    used = {own.name for own in inputs.inputs} | {own.key for own in inputs.inputs} | aside
    unused = [name for name in data_columns(table) if name not in used]
    if inputs.by_position:
        notes.add(f"the model has no names of columns: columns of {str(table_path)!r} are taken by their order.")
    if unused:
        notes.add(f"columns that the model does not use: {few(unused)}.")
    for note in horizon_notes(asked, last, model):
        notes.add(note)
    return Prediction(model, table, inputs, asked, kept, since)


def _asked(options: dict[str, Any], last: float) -> Asked:
    from difflib import get_close_matches

    from aldsurv.cli.predict.prediction_columns import SUMMARIES, Asked, numbers_of
    from aldsurv.cli.shared.outcome import words

    times = numbers_of(options["times"], "--times", low=0.0, high=math.inf, example="--times 30,90,365")
    levels = numbers_of(options["quantiles"], "--quantiles", low=0.0, high=1.0, example="--quantiles 0.1,0.5,0.9")
    interval, summaries = options["interval"], words(options["summary"])
    for name in summaries:
        if name not in SUMMARIES:
            near = get_close_matches(name, SUMMARIES, n=1)
            hint = f"Did you mean {quoted(near[0])}? " if near else ""
            raise ParameterError(f"--summary holds {quoted(name)}. {hint}There are {', '.join(SUMMARIES)}.")
    if interval is not None and not 0 < interval < 1:
        raise ParameterError(f"--interval must lie between 0 and 1, but is {interval:g}. Give --interval 0.9.")
    band = options["band"]
    if band is not None and not 0 < band < 1:
        raise ParameterError(f"--band must lie between 0 and 1, but is {band:g}. Give --band 0.9.")
    if not (times or levels or summaries) and interval is None:
        summaries, levels = ("median",), (0.1, 0.9)
    return Asked(summaries, levels, interval, times, times or (last,), band)


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


def _require_names(kept: tuple[str, ...], asked: Asked) -> None:
    from aldsurv.cli.predict.prediction_columns import repeated

    twice = repeated([*kept, *asked.names, "outside"])
    if twice is not None:
        raise ParameterError(
            f"the output would have the column {quoted(twice)} twice, kept and predicted. Rename the one in the "
            "table, or do not keep it."
        )


@contextmanager
def _progress(show: bool, size: int) -> Iterator[Callable[[int], None]]:
    """A function to call with how much of the table has been read."""
    if not show or not sys.stderr or not sys.stderr.isatty():
        yield lambda position: None
        return
    with click.progressbar(length=size, label="predict", file=sys.stderr) as bar:
        yield lambda position: bar.update(max(0, position - bar.pos))


def _cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
