"""What ``aldsurv plan table`` does: read the table, fit to growing parts, and record each fit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import final

import click

from aldsurv.cli.shared.error_text import errors_in_file
from aldsurv.cli.shared.input_files import read_outcome_table, require_events
from aldsurv.cli.shared.number_text import format_clock
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.outputs import FileKind, checked_output
from aldsurv.cli.shared.progress import progress_line
from aldsurv.cli.shared.reading_options import ReadingOptions
from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.planning.curve_record import curve_fingerprint, read_cells, write_cells
from aldsurv.planning.growing_parts import LearningCell, LearningCurve, curve_sizes, learning_curve
from aldsurv.quoting import printable
from aldsurv.registry import MODELS
from aldsurv.tables.date_covariates import without_dates
from aldsurv.tables.table import Table

__all__ = ["CurveRequest", "CurveResult", "run_curve"]

_RECORD = FileKind("a record of aldsurv", lambda path, start: b'"kind": "aldsurv learning curve"' in start)


@final
@dataclass(frozen=True)
class CurveRequest:
    """A table, a model, and how often it is fitted to how many rows; the fields are the options of the command."""

    table: Path
    outcome: OutcomeColumns
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    model: str
    sizes: tuple[int, ...] | None
    repeats: int
    held_out: float
    seed: int
    record: Path | None
    reading: ReadingOptions
    force: bool
    show_progress: bool


@final
@dataclass(frozen=True)
class CurveResult:
    """The curve, what it is of, and the file with the fits."""

    request: CurveRequest
    table: Table
    curve: LearningCurve
    record: Path


def run_curve(request: CurveRequest) -> CurveResult:
    """Fit what the record does not have yet, and give the curve."""
    _check(request)
    table = read_outcome_table(
        request.table,
        request.outcome,
        drop=request.drop,
        categorical=request.categorical,
        reading=request.reading,
    )
    table = without_dates(table)
    data = require_events(table, request.outcome)
    estimator = _estimator(request, table)
    with errors_in_file(table.path):
        fingerprint = curve_fingerprint(estimator, table.x, data, held_out=request.held_out, random_state=request.seed)
    stem = Path(table.path.name.removesuffix(".gz")).stem
    place = request.record or Path(f"{stem}.plan-{fingerprint[:12]}.json")
    checked_output(place, _RECORD, inputs=[request.table], force=request.force, option="--record")
    cells = read_cells(place, fingerprint)
    sizes = request.sizes or curve_sizes(data, request.held_out)
    wanted = {(repeat, size) for repeat in range(request.repeats) for size in sizes}
    left = len(wanted - {cell[:2] for cell in cells})
    start, done = time.monotonic(), 0

    with progress_line(show=request.show_progress) as show:

        def record_cell(cell: LearningCell) -> None:
            nonlocal done
            cells.append(cell)
            write_cells(place, fingerprint, cells)
            done += 1
            seconds = (time.monotonic() - start) / done * (left - done)
            show(f"fit {done} of {left}, {100 * done // left} % done, about {format_clock(seconds)} left")

        try:
            curve = learning_curve(
                estimator,
                table.x,
                data,
                sizes=sizes,
                repeats=request.repeats,
                done=[cell for cell in cells if cell[:2] in wanted],
                held_out=request.held_out,
                random_state=request.seed,
                on_cell=record_cell,
            )
        except KeyboardInterrupt:
            if request.show_progress and cells:
                click.echo(
                    f"aldsurv: note: the fits so far are in {printable(place)}: the same command goes on from there.",
                    err=True,
                )
            raise
    return CurveResult(request, table, curve, place)


def _check(request: CurveRequest) -> None:
    """Raise `ParameterError` for what would fail whatever the rows are."""
    request.outcome.require_pair()
    if not 0 < request.held_out < 1:
        raise ParameterError(f"--held-out must be a share between 0 and 1, but is {request.held_out:g}.")
    if request.repeats < 1:
        raise ParameterError(f"--repeats must be a whole number from 1 on, but is {request.repeats}.")
    if request.seed < 0:
        raise ParameterError(f"--seed must be a whole number from 0 on, but is {request.seed}.")


def _estimator(request: CurveRequest, table: Table) -> SurvivalEstimator:
    """The model with its defaults; seeds are given to each fit."""
    estimator_type: type[SurvivalEstimator] = MODELS.load(request.model)
    names = estimator_type.parameter_defaults()
    if table.categorical and "categorical" not in names:
        raise ParameterError(
            f"the model {request.model!r} has no --categorical. Drop such columns, or write them as text."
        )
    given = {"categorical": list(table.categorical) or None, "progress": False}
    return estimator_type(**{name: value for name, value in given.items() if name in names})
