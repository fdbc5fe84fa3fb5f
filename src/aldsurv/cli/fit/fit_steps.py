"""What ``aldsurv fit`` does, step by step."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from aldsurv.cli.fit.fit_plan import Plan, default_target
from aldsurv.cli.fit.held_out import HeldOut, figures, part_rows
from aldsurv.cli.shared.column_uses import ColumnText, table_columns
from aldsurv.cli.shared.notes import Notes
from aldsurv.cli.shared.outcome import OutcomeColumns, innermost, told_in_options
from aldsurv.data.outcome_columns import listed
from aldsurv.errors import AldsurvError, DataError, ParameterError
from aldsurv.files.writing import is_stream
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.tables.table import Table
    from aldsurv.tuning.search import Tuning

__all__ = ["Found", "Understood", "learned", "understood"]

_ROW = re.compile(r"(first: |but )row (\d+)\b")


@final
@dataclass(frozen=True)
class Understood:
    """The table, and how each of its columns is used."""

    table: Table
    columns: list[ColumnText]
    categorical: tuple[str, ...]


@final
@dataclass(frozen=True)
class Found:
    """What came of it.

    Attributes
    ----------
    model
        The model to save.
    rows, of
        How many rows it learned from, of how many.
    tested
        Rows and events held out, None without them.
    figures
        Metrics on these.
    tuning, journal
        The search for settings, and its file.
    interrupted
        Whether training was ended by Ctrl-C.
    """

    model: SurvivalEstimator
    rows: int
    of: int
    tested: tuple[int, int] | None
    figures: HeldOut
    tuning: Tuning | None
    journal: Path | None
    interrupted: bool


def understood(plan: Plan, table: Table, outcome: OutcomeColumns) -> Understood:
    """How each column is used, as the model will learn it from all rows."""
    from aldsurv.columns.features import Features

    path = str(table.path)
    if table.categorical and "categorical" not in plan.kind.parameter_defaults():
        raise ParameterError(
            f"the model {quoted(plan.name)} has no --categorical, but {listed(list(table.categorical), 12)} holds "
            "codes. Drop such columns, or write them as text."
        )
    if not table.x:
        raise ParameterError(f"{path!r} has no columns to learn from beside the outcome. Drop fewer.")
    try:
        with told_in_options(path):
            features = Features.learn(table.x, categorical=table.categorical, owner=plan.kind.__name__)
    except AldsurvError as error:
        told = _ROW.sub(lambda match: f"{match[1]}row {int(match[2]) + 1} below the header", str(error), count=1)
        raise type(error)(f"{path!r}: {told}") from None
    if not features.width:
        rows = f"{len(table)} row{'s' * (len(table) != 1)}"
        raise DataError(f"{path!r}: no column has two values to learn from in its {rows}. Give more rows or columns.")
    return Understood(table, table_columns(table, features, outcome), table.categorical)


def learned(plan: Plan, given: Understood, target: Path, tell: Callable[[str], None], notes: Notes) -> Found:
    """Hold rows out, search, fit, test, and fit to all rows.

    Parameters
    ----------
    plan, given
        What to do, with which rows.
    target
        Where the model will go; the record of a search goes beside it.
    tell
        Takes what people may read while they wait.
    notes
        Of warnings.
    """
    from aldsurv.cli.fit import fit_text

    table, parts = given.table, None
    _note_copies(plan, table, notes)
    if plan.held_out:
        split = part_rows(table, plan.held_out, plan.seed)
        if isinstance(split, str):
            notes.add(split)
        else:
            parts = split
    searched = table if parts is None else parts[0]
    settings, tuning, journal = plan.settings, None, None
    if plan.trials is not None:
        tuning, journal = _tuned(plan, given, searched, target)
        settings = {**settings, **tuning.best}
        tell(fit_text.tuned(tuning, journal))
    if parts is None:
        model = _fitted(plan, settings, given, table)
        return Found(model, len(table), len(table), None, HeldOut({}, math.nan), tuning, journal, _interrupted(model))
    first = _fitted(plan, settings, given, searched)
    test = parts[1]
    scores = figures(first, searched, test, plan.seed)
    tested = (len(test), 0 if test.y is None else test.y.n_events)
    tell(fit_text.held_out(scores, len(searched), tested))
    _note_no_skill(first, searched, test, notes)
    notes.tell()
    model, rows, ended = first, len(searched), _interrupted(first)
    if not ended:
        try:
            model, rows = _fitted(plan, settings, given, table), len(table)
            ended = _interrupted(model)
        except KeyboardInterrupt:
            # Not one epoch was done: what was tested is whole, and better than nothing.
            ended = True
    return Found(model, rows, len(table), tested, scores, tuning, journal, ended)


def _note_copies(plan: Plan, table: Table, notes: Notes) -> None:
    """Say that rows are there more than once, where any are held out."""
    from aldsurv.columns.row_copies import count_extra, find_copies

    parts_rows = plan.held_out > 0 or plan.trials is not None or "validation" in plan.kind.parameter_defaults()
    copies = find_copies(table.x, table.y) if parts_rows and table.y is not None else None
    if copies is not None:
        count = count_extra(copies)
        told = "1 row is an exact copy of another" if count == 1 else f"{count} rows are exact copies of others"
        notes.add(f"{told}: copies stay on the same side of every split.")


def _note_no_skill(model: SurvivalEstimator, train: Table, test: Table, notes: Notes) -> None:
    """Say that the rows held out are predicted worse than by Kaplan-Meier, by more than chance explains."""
    import numpy as np

    from aldsurv.models.neural.fitting.skill_check import HeldPart, gain_over_kaplan_meier, sampled_rows

    chosen = test[sampled_rows(np.arange(len(test)))]
    if chosen.y is None or train.y is None:
        return
    gain = gain_over_kaplan_meier([HeldPart(model.predict_distribution(chosen.x), chosen.y, train.y)])
    if gain is not None and gain.mean < -gain.error:
        notes.add(
            f"the rows held out are predicted worse than by Kaplan-Meier, which ignores all columns: their mean "
            f"log-likelihood is {-gain.mean:.2g} lower. Give more rows, or drop columns that tell nothing of the times."
        )


def _fitted(plan: Plan, settings: Mapping[str, Any], given: Understood, rows: Table) -> SurvivalEstimator:
    model = plan.kind(**{**settings, **_apart(plan, given)})
    return model.fit(rows.x, rows.y)


def _apart(plan: Plan, given: Understood) -> dict[str, Any]:
    """Arguments that are no settings: seed, display, which columns are codes."""
    known = plan.kind.parameter_defaults()
    apart: dict[str, Any] = {"random_state": plan.seed, "progress": False if plan.quiet else "auto"}
    apart["categorical"] = list(given.categorical) or None
    return {key: value for key, value in apart.items() if key in known}


def _tuned(plan: Plan, given: Understood, rows: Table, target: Path) -> tuple[Tuning, Path]:
    from aldsurv.cli.fit.fit_text import trial_display
    from aldsurv.tuning.search import search_fingerprint, tune

    fixed = {key: value for key, value in plan.settings.items() if key not in ("members", "unit")}
    fixed["categorical"] = list(given.categorical) or None
    trials = plan.trials or 1
    name = search_fingerprint(plan.kind, rows.x, rows.y, settings=fixed, random_state=plan.seed)
    # Beside a device or a pipe is no place for a file.
    place = default_target(given.table.path) if is_stream(target) else target
    journal = place.with_name(f"{place.stem}.tune-{name[:12]}.journal")
    new = not journal.exists()
    try:
        with trial_display(trials, journal, show=not plan.quiet) as tell:
            found = tune(
                plan.kind,
                rows.x,
                rows.y,
                trials=trials,
                settings=fixed,
                random_state=plan.seed,
                storage=journal,
                on_trial=tell,
            )
    except AldsurvError:
        # A record of nothing but what cannot be done would only stand about.
        if new:
            journal.unlink(missing_ok=True)
        raise
    return found, journal


def _interrupted(model: SurvivalEstimator) -> bool:
    inner = innermost(model)
    return isinstance(inner, NeuralSurvival) and inner.history_.stopped_by == "interrupt"
