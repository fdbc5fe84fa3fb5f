"""The section of a model's report about participants: training rows beside those it is evaluated on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv.data.persons import first_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.participants.column_summary import ColumnSummary, Spread, summarise_column
from aldsurv.reports.model.participants.outcome_summary import OutcomeSummary
from aldsurv.reports.page.number_format import fixed, number, percent, time_with_unit, value_text
from aldsurv.reports.page.page import Section, Text
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["Participants", "compute_participants", "participant_section"]

_MOST_COLUMNS = 60
# Standardised differences that are called large (Austin 2009 takes 0.1 as negligible).
_LARGE = 0.2
_UNKNOWN = "not known"


@final
@dataclass(frozen=True, eq=False)
class Participants:
    """Outcomes and columns of the training rows, as far as they are known, and of those evaluated.

    Attributes
    ----------
    train, test
        Outcomes; None if nothing is known of the training rows.
    columns
        Columns of the model.
    has_covariates
        Whether the columns of the training rows were given.
    """

    train: OutcomeSummary | None
    test: OutcomeSummary
    columns: tuple[ColumnSummary, ...]
    has_covariates: bool


def compute_participants(
    evaluated: EvaluatedModel, outcome: SurvivalData, train: SurvivalData | None, train_X: object
) -> Participants:
    """Summaries of both sets of rows.

    Parameters
    ----------
    evaluated
        The model and the rows.
    outcome
        Outcomes of all of the rows, of episodes as they are.
    train, train_X
        Outcomes and columns of the training rows, as far as they are given.
    """
    known = OutcomeSummary.of(train) if train is not None else None
    if known is None and evaluated.model.trained_on_ is not None:
        known = OutcomeSummary.of_training(evaluated.model.trained_on_)
    given = None if train_X is None else CovariateTable.of(train_X)
    if given is not None and train is not None and train.person is not None:
        given = given.rows(first_rows(train))
    features = evaluated.model.innermost.features_
    plans = {} if features is None else {plan.name: plan for plan in features.columns}
    of_train = {} if given is None else dict(zip(given.names, given.columns, strict=True))
    table = evaluated.everything
    named = [(table.key_names[place], table.columns[place]) for place in evaluated.used_places]
    columns = tuple(
        summarise_column(name, values, of_train.get(name), plans.get(name)).titled(evaluated.labels)
        for name, values in named
    )
    return Participants(known, OutcomeSummary.of(outcome), columns, bool(of_train))


def participant_section(evaluated: EvaluatedModel, participants: Participants) -> Section:
    """A table of both sets of rows."""
    known, has_columns = participants.train, participants.has_covariates
    lead = "The rows that the model was trained on beside those of this report. "
    if known is None:
        lead += "The model has no record of its training rows, and none were given. "
    elif known.censored is None:
        lead += "The training rows were not given: shown is what the model has kept of them. "
    elif not has_columns:
        lead += "Only the outcome of the training rows was given: of their columns, what the model has kept is shown. "
    if has_columns:
        lead += _describe_differences(participants)
    if any(column.train_missing or column.test_missing for column in participants.columns):
        lead += " Percentages and quartiles are of the rows that have a value."
    columns = (
        PageColumn("what", "Characteristic"),
        PageColumn("train", "Training"),
        PageColumn("test", "These rows"),
        PageColumn(
            "difference",
            "Standardised difference",
            numeric=True,
            meaning="of means or shares, in standard deviations",
        ),
    )
    rows = [*_outcome_rows(evaluated, participants)]
    shown = participants.columns[:_MOST_COLUMNS]
    rows += [row for column in shown for row in _column_rows(column, has_train=known is not None)]
    about = "Numbers are median (first to third quartile), or rows with their share of those with a value."
    if len(shown) < len(participants.columns):
        about += f" The first {_MOST_COLUMNS} of {len(participants.columns)} columns."
    table = PageTable("participants", "Participants", columns, tuple(rows), about=about)
    return Section("participants", "Participants", (Text(lead.strip()), table))


def _describe_differences(participants: Participants) -> str:
    large = [
        column.name
        for column in participants.columns
        if any(abs(size) >= _LARGE for size in (column.difference, *(level.difference for level in column.levels)))
    ]
    if not large:
        return f"No standardised difference reaches {_LARGE}: the two are alike in these columns."
    names = ", ".join(large[:5]) + (f" and {len(large) - 5} more" if len(large) > 5 else "")
    return f"They differ by {_LARGE} standard deviations or more in {names}."


def _outcome_rows(evaluated: EvaluatedModel, participants: Participants) -> Iterator[tuple[PageCell, ...]]:
    train, test = participants.train, participants.test
    persons = test.episodes is not None
    both = (train, test)

    def row(label: str, text: Callable[[OutcomeSummary], str]) -> tuple[PageCell, ...]:
        first, second = (_UNKNOWN if each is None else text(each) for each in both)
        return _row(label, first, second)

    yield row("Persons" if persons else "Rows", lambda each: f"{each.rows:,}")
    if persons:
        yield row("Episodes", lambda each: _count(each.episodes))
    bounded = any(each and each.bounded for each in both)
    yield row("Events at a known time" if bounded else "Events", lambda each: _share(each.events, each.rows))
    for name, count in test.causes:
        causes = dict(train.causes) if train else {}
        of_train = _share(causes[name], train.rows) if train and name in causes else _UNKNOWN
        yield _row(f"Events: {name}", of_train, _share(count, test.rows))
    yield row("Censored", lambda each: _known_share(each.censored, each.rows))
    if bounded:
        yield row(
            "Events within bounds (left- or interval-censored)", lambda each: _known_share(each.bounded, each.rows)
        )
    if any(each and each.delayed for each in both):
        yield row("Delayed entry", lambda each: _known_share(each.delayed, each.rows))
    unit = evaluated.unit
    yield row("Follow-up, median (reverse Kaplan-Meier)", lambda each: _follow_up(each, unit))
    yield row("Observed times, range", lambda each: f"{number(each.first)} to {time_with_unit(each.last, unit)}")


def _column_rows(column: ColumnSummary, *, has_train: bool) -> Iterator[tuple[PageCell, ...]]:
    train_missing, has_values = column.train_missing, column.train_rows is not None
    if column.test is not None:
        yield _row(column.name, _describe_train(column), _quartiles(column.test), column.difference)
    else:
        unknown = _UNKNOWN if has_train or has_values else "–"
        for level in column.levels:
            of_train = _level_text(level.train, column.train_rows) if has_values else unknown
            label = f"{column.name} = {value_text(level.level)}"
            yield _row(label, of_train, _level_text(level.test, column.test_rows), level.difference)
        if not column.levels:
            yield _row(column.name, _UNKNOWN if not has_values else "no values", "no values")
    if train_missing or column.test_missing:
        total = None if column.train_rows is None or train_missing is None else column.train_rows + train_missing
        gaps = _UNKNOWN if total is None or train_missing is None else _share(train_missing, total)
        yield _row(f"{column.name}: missing", gaps, _share(column.test_missing, column.test_rows + column.test_missing))


def _describe_train(column: ColumnSummary) -> str:
    if column.train is None:
        return _UNKNOWN
    if column.known_range is not None:
        low, high = (value_text(value, 4) for value in column.known_range)
        return f"{value_text(column.train.median, 4)}, range {low} to {high}"
    return _quartiles(column.train)


def _quartiles(spread: Spread) -> str:
    if np.isnan(spread.median):
        return "no values"
    lower, upper = value_text(spread.lower, 4), value_text(spread.upper, 4)
    return f"{value_text(spread.median, 4)} ({lower} to {upper})"


def _follow_up(summary: OutcomeSummary, unit: str | None) -> str:
    if summary.follow_up is None:
        return "not defined" if summary.bounded else _UNKNOWN
    return "not reached" if np.isnan(summary.follow_up) else time_with_unit(summary.follow_up, unit)


def _known_share(count: int | None, total: int) -> str:
    return _UNKNOWN if count is None else _share(count, total)


def _level_text(count: int | None, total: int | None) -> str:
    return _UNKNOWN if count is None or not total else _share(count, total)


def _count(value: int | None) -> str:
    return _UNKNOWN if value is None else f"{value:,}"


def _share(count: int, total: int) -> str:
    return f"{count:,} ({percent(count / total)})" if total else f"{count:,}"


def _row(label: str, train: str, test: str, difference: float = float("nan")) -> tuple[PageCell, ...]:
    size = PageCell("") if np.isnan(difference) else PageCell(fixed(difference, 2), difference)
    return PageCell(label), PageCell(train), PageCell(test), size
