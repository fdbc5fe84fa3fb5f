"""``aldsurv fit`` for tables that are read in parts: hold some rows out, fit to the others, score, save."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from aldsurv.checks import listed
from aldsurv.cli.fit import fit_text
from aldsurv.cli.fit.held_out_scores import HeldOutScores, score_held_out
from aldsurv.cli.shared.input_files import open_outcome_table
from aldsurv.cli.shared.leak_notes import find_leaks, leak_notes
from aldsurv.cli.shared.number_text import format_count
from aldsurv.cli.shared.table_notes import censoring_note, is_censoring_name
from aldsurv.cli.shared.text_layout import screen_width, wrapped
from aldsurv.errors import DataError, ParameterError
from aldsurv.files.writing import is_stream
from aldsurv.quoting import printable, quoted
from aldsurv.registry import MODELS
from aldsurv.tables.table import Table

if TYPE_CHECKING:
    from aldsurv.cli.fit.fit_request import FitRequest
    from aldsurv.cli.fit.fit_text import Printer
    from aldsurv.cli.shared.notes import Notes
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.parts import PartedTable, RowSample

__all__ = ["PartedFit", "facts", "reads_in_parts", "run_parted_fit", "saved_text"]

# Rows of a Parquet file beyond which it is read in parts.
_MOST_ROWS_IN_MEMORY = 5_000_000
# Held-out rows at most: metrics hardly change with more of them.
_MOST_HELD_OUT = 50_000
# A byte of Parquet holds a row of few columns at the most.
_LEAST_BYTES = 1_000_000


@final
@dataclass(frozen=True)
class PartedFit:
    """A model fitted to a table in parts.

    Attributes
    ----------
    model, table
        The model, and the table with all its rows.
    rows
        How many rows it was fitted to.
    scores
        Metrics on the held-out rows; None without them.
    checkpoint
        Where an interrupted training goes on from; None if there is no such file.
    """

    model: SurvivalEstimator
    table: PartedTable
    rows: int
    scores: HeldOutScores | None
    checkpoint: Path | None

    @property
    def interrupted(self) -> bool:
        """Whether training was ended by Ctrl-C."""
        return self.model.innermost.interrupted_


def reads_in_parts(paths: Sequence[Path], *, stream: bool) -> bool:
    """Whether a table is read in parts: a folder, several files, a large Parquet file, or because somebody says so."""
    if stream or len(paths) > 1 or paths[0].is_dir():
        return True
    path = paths[0]
    if not path.is_file() or path.stat().st_size < _LEAST_BYTES:
        return False
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return False
    from aldsurv.tables.parts.part_source import FilePart

    return FilePart.of(path).n_rows > _MOST_ROWS_IN_MEMORY


def run_parted_fit(request: FitRequest, paths: Sequence[Path], printer: Printer, notes: Notes) -> PartedFit:
    """Open the table, hold rows out, fit to the others, score, and save the model.

    Parameters
    ----------
    request
        What to do.
    paths
        A folder, or files.
    printer
        Prints results on the way.
    notes
        Gets what the user should know.
    """
    from aldsurv.models.parted.engine import open_engine
    from aldsurv.training.ranks import current_ranks

    _require_possible(request)
    table = _opened(request, paths)
    printer.show(_table_text(table))
    event, value_named = request.outcome.event, request.outcome.event_value or request.outcome.event_values
    if event is not None and not value_named and is_censoring_name(event):
        warnings.warn(censoring_note(event), stacklevel=2)
    notes.show()
    train, held, seen = table, None, None
    share = min(request.held_out, _MOST_HELD_OUT / len(table))
    if share:
        train, test = table.split(share, seed=request.seed)
        held, seen = _sampled(test), _sampled(train)
        for note in leak_notes(find_leaks(seen), request.drop):
            notes.add(note)
        notes.show()
    model = request.unfitted(request.parameters, table.categorical)
    checkpoint = _checkpoint(request)
    if checkpoint is not None and "checkpoint" in model.get_params():
        model.set_params(checkpoint=checkpoint)
        if checkpoint.exists() and request.show_progress:
            fit_text.show_note(f"training goes on from {printable(checkpoint)}.")
    try:
        with open_engine(request.cluster):
            model.fit(train.x, train.y)
    except KeyboardInterrupt:
        if checkpoint is not None and checkpoint.exists() and request.show_progress:
            fit_text.show_note(f"no model was saved: the same command goes on from {printable(checkpoint)}.")
        raise
    # Of several processes, one scores and saves.
    current_ranks().leave()
    if "checkpoint" in model.get_params():
        # It belongs to this run, not to the model.
        model.set_params(checkpoint=None)
    scores = None
    if held is not None and seen is not None:
        scores = score_held_out(model, seen, held, request.seed, notes)
        has_causes = held.y is not None and held.y.causes is not None
        printer.show(fit_text.held_out_text(scores, len(train), has_causes=has_causes))
        notes.show()
    model.set_outcome_columns(request.outcome.given, request.reading.missing or ())
    model.save(request.target)
    left = checkpoint if checkpoint is not None and checkpoint.exists() else None
    return PartedFit(model, table, len(train), scores, left)


def saved_text(request: FitRequest, result: PartedFit, seconds: float) -> str:
    """What was saved, and how an interrupted training goes on."""
    which = "all" if result.rows == len(result.table) else "the"
    others = "" if result.rows == len(result.table) else " that were not held out"
    saved = f"Saved {printable(request.target)}: fitted to {which} {result.rows:,} rows{others}"
    if result.interrupted:
        saved += ", until training was interrupted"
    lines = [f"{saved} ({seconds:.1f} s)"]
    if result.checkpoint is not None:
        lines.append(f"The same command goes on with training, from {printable(result.checkpoint)}.")
    if not is_stream(request.target):
        lines.append(f"Next: aldsurv info {printable(request.target)}")
    return "\n".join(part for line in lines for part in wrapped(line, screen_width(), indent=2))


def facts(request: FitRequest, result: PartedFit, seconds: float, notes: list[str]) -> dict[str, object]:
    """All of it as JSON has it."""
    from aldsurv.cli.info_command import shown_settings

    trained_on = result.model.trained_on_
    return {
        "model": request.model,
        "file": str(request.target),
        "table": result.table.label,
        "parts": len(result.table.parts),
        "rows": len(result.table),
        "events": None if trained_on is None else trained_on.events,
        "settings": shown_settings(result.model),
        "held_out": None if result.scores is None else fit_text.held_out_facts(result.scores),
        "fitted_to": result.rows,
        "interrupted": result.interrupted,
        "checkpoint": None if result.checkpoint is None else str(result.checkpoint),
        "seconds": round(seconds, 2),
        "notes": list(notes),
    }


def _require_possible(request: FitRequest) -> None:
    """Raise `ParameterError` for what needs all rows at once."""
    for option, given in (("--tune", request.trials is not None), ("--report", request.report is not None)):
        if given:
            raise ParameterError(
                f"{option} needs all rows in memory, and this table is read in parts. Use it on some of the rows, in a "
                "file of their own."
            )
    if not request.estimator_type.FITS_PARTS:
        possible = [name for name in MODELS if MODELS.load(name).FITS_PARTS]
        raise ParameterError(
            f"the model {quoted(request.model)} needs all rows in memory, and this table is read in parts. Models that "
            f"do not: {', '.join(possible)}."
        )


def _opened(request: FitRequest, paths: Sequence[Path]) -> PartedTable:
    """The table, without covariates that are dates."""
    # Workers of a cluster may be in another folder.
    places = [path.resolve() for path in paths] if request.cluster else list(paths)
    table = open_outcome_table(
        places[0] if len(places) == 1 else places,
        request.outcome,
        drop=request.drop,
        categorical=request.categorical,
        missing=request.reading.missing or (),
    )
    return _without_dates(table)


def _without_dates(table: PartedTable) -> PartedTable:
    from aldsurv.errors import FitWarning

    dates = [name for name in table.date_columns if name not in table.categorical]
    if not dates:
        return table
    plural = len(dates) != 1
    warnings.warn(
        f"column{'s' * plural} {listed(dates, 8)} hold{'s' * (not plural)} dates and {'are' if plural else 'is'} left "
        "out. If a date is known when predictions are made and matters, give a number in its place.",
        FitWarning,
        stacklevel=2,
    )
    return table.without(dates)


def _sampled(part: PartedTable) -> Table:
    """Some rows in memory, as a table of which the parts are known."""
    from aldsurv.tables.parts import RowSample

    sample: RowSample = RowSample.of(part.blocks())
    if sample.x is None:
        raise DataError(f"{part.label!r} has too few rows to hold some out", advice="Give --held-out 0.")
    return Table(sample.x, sample.y, part.columns, part.categorical, Path(part.label), "Parquet")


def _checkpoint(request: FitRequest) -> Path | None:
    """The file beside the model from which training goes on; None for a model that goes to a stream."""
    return None if is_stream(request.target) else request.target.with_name(f"{request.target.name}.checkpoint")


def _table_text(table: PartedTable) -> str:
    counts = f"{format_count(len(table), 'row')} in {format_count(len(table.parts), 'part')}"
    lines = wrapped(f"{printable(table.label)}: {counts}, {format_count(len(table.columns), 'column')}", screen_width())
    width = min(max(len(column.name) for column in table.columns), 40)
    shown = [f"  {printable(column.name):<{width}}  {column.use}" for column in table.columns[:60]]
    more = len(table.columns) - len(shown)
    return "\n".join([*lines, *shown, *([f"  and {format_count(more, 'more column')}"] if more > 0 else [])])
