"""What ``aldsurv fit`` does: read the table, fit to a part and score the rest, fit to all rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from aldsurv.checks import listed
from aldsurv.cli.causes.chosen_cause import models_with_causes
from aldsurv.cli.causes.event_values import complete_event_values, require_events_of_causes
from aldsurv.cli.fit import fit_text
from aldsurv.cli.fit.fit_request import FitRequest, default_target
from aldsurv.cli.fit.held_out_report import held_out_page, require_report_rows
from aldsurv.cli.fit.held_out_scores import HeldOutScores, score_held_out, split_table
from aldsurv.cli.fit.model_parameters import Setting, errors_of_settings
from aldsurv.cli.shared.column_uses import ColumnText, table_columns
from aldsurv.cli.shared.error_text import errors_in_file
from aldsurv.cli.shared.input_files import read_outcome_table, require_events
from aldsurv.cli.shared.leak_notes import find_leaks, leak_notes
from aldsurv.cli.shared.notes import Notes
from aldsurv.cli.shared.number_text import format_clock, format_count
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.progress import progress_line
from aldsurv.cli.shared.table_notes import censoring_note, copies_note, is_censoring_name, person_notes
from aldsurv.columns.features import Features
from aldsurv.errors import AldsurvError, CompetingCausesWarning, DataError, ParameterError
from aldsurv.files.writing import is_stream
from aldsurv.models.base import SurvivalEstimator
from aldsurv.quoting import printable, quoted
from aldsurv.tables.date_covariates import without_dates
from aldsurv.training.ranks import current_ranks

if TYPE_CHECKING:
    from aldsurv.cli.fit.fit_text import Printer
    from aldsurv.tables.table import Table
    from aldsurv.tuning.search import Progress, Tuning

__all__ = ["FitResult", "TableSummary", "TuningResult", "run_fit", "summarize_table"]


@final
@dataclass(frozen=True)
class TableSummary:
    """The table, how each of its columns is used, and the columns of the outcome as the model keeps them."""

    table: Table
    columns: list[ColumnText]
    outcome: OutcomeColumns


@final
@dataclass(frozen=True)
class TuningResult:
    """A search for settings, and the file with its trials."""

    tuning: Tuning
    journal: Path


@final
@dataclass(frozen=True)
class FitResult:
    """A fitted model, and how well it predicts.

    Attributes
    ----------
    model
        The model to save.
    rows
        How many rows it was fitted to.
    scores
        Metrics on the held-out rows; None without them.
    tuning
        The search for settings; None without one.
    interrupted
        Whether training was ended by Ctrl-C.
    page
        The report of the held-out rows, as HTML; None without one.
    """

    model: SurvivalEstimator
    rows: int
    scores: HeldOutScores | None
    tuning: TuningResult | None
    interrupted: bool
    page: str | None = None


def summarize_table(request: FitRequest) -> TableSummary:
    """Read the table, and learn how the model will use each column."""
    table = read_outcome_table(
        request.table,
        request.outcome,
        drop=request.drop,
        categorical=request.categorical,
        reading=request.reading,
    )
    require_events(table, request.outcome)
    event, value_named = request.outcome.event, request.outcome.event_value or request.outcome.event_values
    if event is not None and not value_named and is_censoring_name(event):
        warnings.warn(censoring_note(event), stacklevel=2)
    # Also of dates, which are left out: a number in place of one would give the outcome away just as well.
    for note in leak_notes(find_leaks(table), request.drop):
        warnings.warn(note, stacklevel=2)
    table = without_dates(table)
    outcome = request.outcome
    if outcome.event_values:
        require_events_of_causes(table, outcome.event_values)
        outcome = replace(outcome, event_values=complete_event_values(outcome.event_values, table.event_values))
    path, owner = str(table.path), request.estimator_type
    if table.categorical and "categorical" not in owner.parameter_defaults():
        raise ParameterError(
            f"the model {quoted(request.model)} has no --categorical, but {listed(table.categorical)} holds codes. "
            "Drop such columns, or write them as text."
        )
    if not table.x:
        raise ParameterError(f"{path!r} has no columns to learn from beside the outcome. Drop fewer.")
    with errors_in_file(path):
        features = Features.learn(table.x, categorical=table.categorical, owner=owner.__name__)
    if not features.width:
        rows = format_count(len(table), "row")
        raise DataError(f"{path!r}: no column has two values to learn from in its {rows}. Give more rows or columns.")
    return TableSummary(table, table_columns(table, features, outcome), outcome)


def run_fit(request: FitRequest, table: Table, printer: Printer, notes: Notes) -> FitResult:
    """Hold rows out, search for settings, fit, score, and fit to all rows.

    Parameters
    ----------
    request, table
        What to do, with which rows.
    printer
        Prints results on the way.
    notes
        Gets what the user should know.
    """
    _note_rows(request, table, notes)
    _note_causes(request, table, notes)
    notes.show()
    train, test = split_table(table, request.held_out, request.seed, notes)
    if request.report is not None:
        require_report_rows(test)
    settings: dict[str, Setting] = dict(request.parameters)
    tuning = None
    if request.trials is not None:
        tuning = _tune(request, request.trials, train)
        settings |= tuning.tuning.best
        printer.show(fit_text.tuning_text(tuning))
    model = fit_model(request, settings, train)
    if test is None:
        return FitResult(model, len(train), None, tuning, model.innermost.interrupted_)
    scores = None
    # Of several processes, one scores.
    if current_ranks().first:
        scores = score_held_out(model, train, test, request.seed, notes)
        has_causes = test.y is not None and test.y.causes is not None
        printer.show(fit_text.held_out_text(scores, len(train), has_causes=has_causes))
        notes.show()
    if model.innermost.interrupted_:
        return FitResult(model, len(train), scores, tuning, interrupted=True)
    try:
        final_model = fit_model(request, settings, table)
    except KeyboardInterrupt:
        # Not one epoch was done: the model that was tested is complete.
        return FitResult(model, len(train), scores, tuning, interrupted=True)
    if final_model.innermost.interrupted_ or request.report is None or not current_ranks().first:
        return FitResult(final_model, len(table), scores, tuning, final_model.innermost.interrupted_)
    page = held_out_page(request, model, train, test)
    return FitResult(final_model, len(table), scores, tuning, interrupted=False, page=page)


def fit_model(request: FitRequest, settings: dict[str, Setting], rows: Table) -> SurvivalEstimator:
    """The model with these settings, fitted to the rows."""
    with _without_cause_warnings(), errors_of_settings(request.parameters):
        return request.unfitted(settings, rows.categorical).fit(rows.x, rows.y)


def _note_rows(request: FitRequest, table: Table, notes: Notes) -> None:
    """Say that rows are copies, where any are held out, and that persons have several, unless they are named."""
    parts = {"validation", "folds"} & set(request.estimator_type.parameter_defaults())
    copies = copies_note(table) if request.held_out or request.trials or parts else None
    if copies is not None:
        notes.add(copies)
    for note in person_notes(table) if request.outcome.id is None else ():
        notes.add(note)


def _note_causes(request: FitRequest, table: Table, notes: Notes) -> None:
    """Say that the model does not tell the causes apart, and what to do."""
    data = table.y
    if data is None or data.causes is None or request.estimator_type.TAKES_CAUSES:
        return
    notes.add(
        f"the model {quoted(request.model)} does not tell causes apart: it learns the time to the first event of any "
        f"of {listed(data.causes)}. Models that do: {', '.join(models_with_causes())}. For one cause, the others as "
        "censored, give its value by --event-value."
    )


@contextmanager
def _without_cause_warnings() -> Iterator[None]:
    """Leave out the warning that a model does not tell causes apart: `_note_causes` says it in terms of options."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompetingCausesWarning)
        yield


def _tune(request: FitRequest, trials: int, rows: Table) -> TuningResult:
    from aldsurv.models.parted.engine import open_engine
    from aldsurv.tuning.search import search_fingerprint, tune

    estimator_type = request.estimator_type
    fixed = {name: value for name, value in request.parameters.items() if name != "unit"}
    codes = {"categorical": list(rows.categorical) or None}
    settings = {**fixed, **(codes if "categorical" in estimator_type.parameter_defaults() else {})}
    name = search_fingerprint(estimator_type, rows.x, rows.y, settings=settings, random_state=request.seed)
    # No file can be put beside a device or a pipe.
    place = default_target(rows.path) if is_stream(request.target) else request.target
    journal = place.with_name(f"{place.stem}.tune-{name[:12]}.journal")
    is_new = not journal.exists()
    try:
        with (
            open_engine(request.cluster),
            progress_line(show=request.show_progress) as show,
            _without_cause_warnings(),
        ):
            tuning = tune(
                estimator_type,
                rows.x,
                rows.y,
                trials=trials,
                settings=settings,
                random_state=request.seed,
                storage=journal,
                on_progress=_progress_report(trials, show),
            )
    except AldsurvError:
        # Do not leave an empty journal behind.
        if is_new:
            journal.unlink(missing_ok=True)
        raise
    except KeyboardInterrupt:
        if request.show_progress:
            fit_text.show_note(f"the trials so far are in {printable(journal)}: the same command goes on from there.")
        raise
    return TuningResult(tuning, journal)


def _progress_report(trials: int, show: Callable[[str], None]) -> Callable[[Progress], None]:
    """A function that shows how far a search is, and how long it will take at most."""
    start, first = time.monotonic(), 0

    def report_progress(progress: Progress) -> None:
        nonlocal first
        # What the record had is not counted, for it took no time.
        first = first or progress.done
        each = (time.monotonic() - start) / (progress.done - first + 1)
        left = format_clock(each * (progress.total - progress.done))
        share = f"{100 * progress.done // progress.total} %"
        what = "trying the best again" if progress.confirming else f"trial {progress.done} of {trials}"
        show(f"{what}, {share} done, at most about {left} left")

    return report_progress
