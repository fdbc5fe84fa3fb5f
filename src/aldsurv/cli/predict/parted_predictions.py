"""Predictions for a folder of Parquet files: a file for each, by this process or the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.predict.prediction_notes import cause_notes, horizon_notes
from aldsurv.cli.shared.input_files import require_file
from aldsurv.cli.shared.number_text import format_clock, json_text
from aldsurv.cli.shared.outputs import checked_folder
from aldsurv.cli.shared.progress import progress_line
from aldsurv.cli.shared.reading_options import ReadingOptions
from aldsurv.errors import ParameterError
from aldsurv.plain_numbers import percent
from aldsurv.quoting import printable

if TYPE_CHECKING:
    from aldsurv.cli.shared.notes import Notes
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.models.parted.scoring import ScoredParts
    from aldsurv.models.prediction.prediction_request import PredictionRequest

__all__ = ["predict_folder", "refuse_options"]


def refuse_options(given: Mapping[str, object], file_format: str | None, reading: ReadingOptions) -> None:
    """Raise `ParameterError` for options that only a table that is read as a whole has."""
    text = {f"--{name}": getattr(reading, name) for name in ("delimiter", "decimal", "encoding", "sheet")}
    for option, value in {**given, **text}.items():
        if value is not None:
            raise ParameterError(f"{option} cannot be combined with a folder of Parquet files. Leave it out.")
    if file_format not in (None, "parquet"):
        raise ParameterError(f"--format {file_format} is not written for a folder of Parquet files. Leave it out.")


def predict_folder(
    model: SurvivalEstimator,
    table: Path,
    out: Path | None,
    request: PredictionRequest,
    keep: tuple[str, ...],
    notes: Notes,
    *,
    missing: tuple[str, ...],
    cluster: str | None,
    start: float,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the predictions, and say how many there are."""
    from aldsurv.datasets import open_table
    from aldsurv.models.parted.engine import open_engine
    from aldsurv.models.parted.scoring import write_predictions

    require_file(table)
    if out is None:
        raise ParameterError("a folder of Parquet files needs a folder to write to. Name it by --out.")
    checked_folder(out)
    if out.resolve() == table.resolve():
        raise ParameterError("--out must not be the folder of the table. Name another one.")
    for note in (*horizon_notes(request, model), *cause_notes(request, model)):
        notes.add(note)
    # Workers may be in another folder.
    parted = open_table(table.resolve() if cluster else table, missing=missing)
    if keep == ("all",):
        keep = tuple(parted.feature_names)
    with open_engine(cluster), progress_line(show=not quiet) as show:
        begun = time.monotonic()

        def report_progress(so_far: ScoredParts) -> None:
            seconds = time.monotonic() - begun
            left = seconds / so_far.parts * (len(parted.parts) - so_far.parts)
            show(
                f"predicted {so_far.rows:,} rows, {so_far.parts}/{len(parted.parts)} files, about "
                f"{format_clock(left)} left"
            )

        scored = write_predictions(model, parted, out, request, keep=keep, on_part=report_progress)
    if scored.outside:
        share = percent(scored.outside / scored.rows)
        notes.add(f"{scored.outside} of {scored.rows} rows ({share}) lie outside of what training had shown.")
    notes.show()
    seconds = time.perf_counter() - start
    if as_json:
        document = {"out": str(out), **scored._asdict(), "seconds": round(seconds, 3), "notes": list(notes)}
        click.echo(json_text(document))
    elif not quiet:
        again = f", {scored.found} of them by an earlier run" if scored.found else ""
        click.echo(
            f"{printable(str(out))}: {scored.rows:,} rows in {scored.parts} files{again}, {format_clock(seconds)}"
        )
