"""What a fit must know of all rows of a table in parts before it can read one: columns, outcomes, a sample of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_summary import ColumnSummary
from aldsurv.columns.features import Features
from aldsurv.data.follow_up import end_of_follow_up
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.parted.engine import current_engine
from aldsurv.models.rows.training_rows import (
    TrainedOn,
    distinct_times,
    installed_versions,
    require_events,
    thinned,
)
from aldsurv.tables.parts import SAMPLE_ROWS, PartedTable, RowSample, TablePart

__all__ = ["OutcomeSummary", "TableSummary", "summarise"]

# Exact, right-, left- and interval-censored rows.
_KINDS = 4


@final
@dataclass(frozen=True, eq=False)
class OutcomeSummary:
    """The outcomes of some rows.

    Attributes
    ----------
    rows, events, bounded
        How many rows there are, with an event that was observed, and with one that is known to lie within bounds.
    total_weight, least_weight, largest_weight
        The sum of the weights, and their range.
    first_time, last_time
        The range of all finite times and bounds.
    examples
        Rows of every sort that there is: of each kind of censoring, with and without delayed entry, of each cause, and
        those with the smallest time above 0 and the largest. What is computed of some rows and these has the form that
        it has of all rows.
    known
        How many rows of positive weight have an event at a known time or within bounds.
    fractional
        Whether some weight is no whole number.
    causes
        How many events there are of each cause, by name; empty without causes.
    """

    rows: int
    events: int
    bounded: int
    total_weight: float
    least_weight: float
    largest_weight: float
    first_time: float
    last_time: float
    examples: SurvivalData
    known: int
    fractional: bool
    causes: dict[str, int]

    @classmethod
    def of(cls, y: SurvivalData) -> OutcomeSummary:
        """The summary of some rows."""
        bounds = np.concatenate([y.lower, y.upper])
        finite = bounds[np.isfinite(bounds)]
        return cls(
            len(y),
            y.n_events,
            int(np.count_nonzero(np.isfinite(y.upper) & ~y.exact)),
            y.total_weight,
            float(y.weights.min()),
            float(y.weights.max()),
            float(finite.min()),
            float(finite.max()),
            _examples(y),
            int(np.count_nonzero(np.isfinite(y.upper) & (y.weights > 0))),
            bool((y.weights != np.floor(y.weights)).any()),
            _events_by_cause(y),
        )

    def merged(self, other: OutcomeSummary) -> OutcomeSummary:
        """The summary of both."""
        return OutcomeSummary(
            self.rows + other.rows,
            self.events + other.events,
            self.bounded + other.bounded,
            self.total_weight + other.total_weight,
            min(self.least_weight, other.least_weight),
            max(self.largest_weight, other.largest_weight),
            min(self.first_time, other.first_time),
            max(self.last_time, other.last_time),
            _examples(SurvivalData.concatenate([self.examples, other.examples])),
            self.known + other.known,
            self.fractional or other.fractional,
            {name: count + other.causes[name] for name, count in self.causes.items()},
        )

    @property
    def smallest_time(self) -> float:
        """The smallest time or bound above 0; infinite if there is none."""
        bounds = np.concatenate([self.examples.lower, self.examples.upper])
        return float(bounds[bounds > 0].min(initial=np.inf))


def _events_by_cause(y: SurvivalData) -> dict[str, int]:
    if y.cause is None or y.causes is None:
        return {}
    counts = np.bincount(y.cause, minlength=len(y.causes) + 1)[1:]
    return dict(zip(y.causes, counts.tolist(), strict=True))


def _examples(y: SurvivalData) -> SurvivalData:
    """The first row of each sort among those that count, and those with extreme times."""
    entry = np.full(len(y), -np.inf) if y.entry is None else y.entry
    kinds = np.select([y.exact, y.right_censored, ~np.isfinite(y.lower)], [0, 1, 2], 3)
    # What is known of time 0 may be read in another way than what is known of later times.
    zeros = 1 * (y.lower == 0) + 2 * (y.upper == 0) + 4 * (np.isfinite(entry) & (entry > 0)) + 8 * (entry == 0)
    sorts = kinds + _KINDS * zeros
    if y.cause is not None:
        sorts = sorts + _KINDS * 16 * y.cause
    counted = y.weights > 0
    sorts = np.where(counted, sorts, -1)
    rows = set(np.unique(sorts, return_index=True)[1].tolist())
    for bound in (y.lower, y.upper):
        positive = np.isfinite(bound) & (bound > 0)
        if positive.any():
            rows.add(int(np.argmin(np.where(positive, bound, np.inf))))
            rows.add(int(np.argmax(np.where(positive, bound, -np.inf))))
    chosen = y[np.array(sorted(rows))]
    # Groups of examples say nothing.
    return SurvivalData.from_checked(*chosen.columns._replace(group=None))


@final
@dataclass(frozen=True, eq=False)
class TableSummary:
    """What is known of the rows of some parts.

    Attributes
    ----------
    columns
        The covariates, in the order of the table.
    outcome
        The outcomes; None of parts without rows.
    sample
        Some of the rows.
    """

    columns: dict[str, ColumnSummary]
    outcome: OutcomeSummary | None
    sample: RowSample

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return 0 if self.outcome is None else self.outcome.rows

    @property
    def outcomes(self) -> OutcomeSummary:
        """The outcomes of rows of which there are some."""
        if self.outcome is None:
            raise DataError("the table has no rows", argument="X", advice="Give at least one.")
        return self.outcome

    @property
    def sampled_x(self) -> dict[str, NDArray[Any]]:
        """The covariates of the sample."""
        return self.sample.x or {}

    @property
    def sampled_y(self) -> SurvivalData:
        """The outcomes of the sample."""
        if self.sample.y is None:
            raise DataError("the table has no rows", argument="X", advice="Give at least one.")
        return self.sample.y

    def merged(self, other: TableSummary) -> TableSummary:
        """The summary of both."""
        if other.outcome is None or self.outcome is None:
            return self if other.outcome is None else other
        columns = {name: column.merged(other.columns[name], name) for name, column in self.columns.items()}
        sample = self.sample if other.sample is self.sample else self.sample.merged(other.sample)
        return TableSummary(columns, self.outcome.merged(other.outcome), sample)

    @property
    def times(self) -> NDArray[np.float64]:
        """Some of the distinct times, evenly by rank, the first and the last of all among them."""
        rows = SurvivalData.concatenate([self.sampled_y.without_causes(), self.outcomes.examples.without_causes()])
        return thinned(distinct_times(rows))

    @property
    def trained_on(self) -> TrainedOn:
        """What a model keeps of the outcomes; the end of follow-up is that of the sample."""
        outcome = self.outcomes
        return TrainedOn(
            rows=outcome.rows,
            events=outcome.events,
            total_weight=outcome.total_weight,
            first_time=outcome.first_time,
            last_time=outcome.last_time,
            versions=installed_versions(),
            follow_up=end_of_follow_up(self.sampled_y),
            bounded=outcome.bounded or None,
        )

    def features(self, *, categorical: Sequence[str], **options: Any) -> Features:
        """How columns become numbers, as `Features.learn` has it of a table in memory; the options are its own."""
        return Features.of_summaries(self.columns, self.sampled_x, categorical=categorical, **options)


def summarise(
    table: PartedTable,
    categorical: Sequence[str | int] = (),
    *,
    sample_rows: int = SAMPLE_ROWS,
    on_rows: Callable[[int], object] = lambda rows: None,
) -> tuple[TableSummary, tuple[str, ...]]:
    """Read all parts once, by the engine that works on parts, and check that there is something to learn.

    Parameters
    ----------
    table
        The table.
    categorical
        Columns whose numbers are codes, by name or position, beside those of which the table knows.
    sample_rows
        How many rows the sample has at most.
    on_rows
        Called with the number of rows of each part that was read.

    Returns
    -------
    summary
        What is known of all rows.
    categorical
        Names of all columns whose values are codes.
    """
    codes = _categorical_names(table, categorical)
    of_part = partial(_summary_of_part, codes=frozenset(codes), sample_rows=sample_rows)
    summary = TableSummary({}, None, RowSample.empty(sample_rows))
    for one in current_engine().map(of_part, list(table.parts)):
        summary = summary.merged(one)
        on_rows(one.n_rows)
    require_events(summary.outcomes.examples)
    return summary, codes


def _summary_of_part(part: TablePart, codes: frozenset[str], sample_rows: int) -> TableSummary:
    summary = TableSummary({}, None, RowSample.empty(sample_rows))
    waiting: list[RowSample] = []
    for block in part.blocks():
        with part.located(block.numbers):
            columns = {
                name: ColumnSummary.of(values, name, as_levels=name in codes) for name, values in block.x.items()
            }
            outcome = OutcomeSummary.of(block.outcome)
            summary = summary.merged(TableSummary(columns, outcome, summary.sample))
        waiting.append(summary.sample.candidates(block))
        # To sort the sample for every block would take longer than to read it.
        if sum(map(len, waiting)) >= sample_rows:
            summary, waiting = _with_sampled(summary, waiting), []
    return _with_sampled(summary, waiting)


def _with_sampled(summary: TableSummary, waiting: Sequence[RowSample]) -> TableSummary:
    return replace(summary, sample=RowSample.joined([summary.sample, *waiting]))


def _categorical_names(table: PartedTable, categorical: Sequence[str | int]) -> tuple[str, ...]:
    names = table.feature_names
    chosen = set(table.categorical)
    for column in () if categorical is None else categorical:
        if isinstance(column, str) and column in names:
            chosen.add(column)
        elif isinstance(column, int) and not isinstance(column, bool) and 0 <= column < len(names):
            chosen.add(names[column])
        else:
            raise ParameterError(
                f"categorical lists {column!r}, which is not a column of the table", argument="categorical"
            )
    return tuple(name for name in names if name in chosen)
