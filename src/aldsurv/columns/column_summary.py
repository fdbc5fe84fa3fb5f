"""What is learned of a column of covariates from its parts: summaries that merge into that of the whole.

Numbers of rows and gaps, extremes and levels are exact, means and deviations except for rounding. Quantiles do not
merge: they are those of a sample of the rows. So its memory does not grow with the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import ColumnKey, Level, distinct_levels, entry_kinds, quoted_value, read_numbers
from aldsurv.columns.column_learning import (
    LearnedColumn,
    looks_like_identifier,
    mean_and_deviation,
    middle_and_knots,
    named_like_identifier,
    plan_of_levels,
    plan_of_one_value,
    require_no_numbers_as_text,
)
from aldsurv.columns.column_plans import LeftOut, Number, as_single
from aldsurv.errors import DataError

__all__ = ["MOST_LEVELS", "ColumnSummary", "NumberSummary"]

# Levels of a column that are counted at a time. With more of them, the count of each is too low by at most this part
# of the rows (Misra & Gries, 1982); Agarwal et al. (2012) show that this holds for merged counts, too.
MOST_LEVELS = 1 << 17


@final
@dataclass(frozen=True)
class NumberSummary:
    """Some numbers, none of which is a gap.

    Attributes
    ----------
    count
        How many there are, at least one.
    low, high, mean, deviation
        The smallest and the largest, their mean and standard deviation.
    """

    count: int
    low: float
    high: float
    mean: float
    deviation: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> NumberSummary | None:
        """The summary of some numbers, which are overwritten; None if there are none."""
        if not values.size:
            return None
        low, high = float(values.min()), float(values.max())
        return cls(values.size, low, high, *mean_and_deviation(values, low, high))

    def merged(self, other: NumberSummary) -> NumberSummary:
        """The summary of both: Chan, Golub & LeVeque (1983), of halves so that nothing overflows."""
        count = self.count + other.count
        mine, theirs = self.count / count, other.count / count
        half = other.mean / 2 - self.mean / 2
        mean = self.mean + 2 * (half * theirs)
        between = 2 * math.sqrt(mine * theirs) * half
        deviation = math.hypot(math.sqrt(mine) * self.deviation, math.sqrt(theirs) * other.deviation, between)
        return NumberSummary(count, min(self.low, other.low), max(self.high, other.high), mean, deviation)


@final
@dataclass(frozen=True)
class ColumnSummary:
    """Some rows of a column.

    Attributes
    ----------
    rows, gaps
        How many rows there are, and how many without a value.
    numbers
        Of a column of numbers what they are; None if there were none, or values are levels.
    levels
        How many rows have each level of a column of categories; None for a column of numbers.
    dropped
        How many rows at most each count of a level is too low by: 0 unless there were more than `MOST_LEVELS`.
    """

    rows: int
    gaps: int
    numbers: NumberSummary | None = None
    levels: Mapping[Level, int] | None = None
    dropped: int = 0

    @classmethod
    def of(cls, raw: NDArray[Any], column: ColumnKey, *, as_levels: bool) -> ColumnSummary:
        """The summary of some rows; `as_levels`: numbers are codes, too."""
        kinds = entry_kinds(raw, column)
        if not kinds - {"gap"}:
            return cls(raw.size, raw.size)
        if not as_levels and "text" not in kinds:
            values = read_numbers(raw, column)
            gaps = np.isnan(values)
            count = int(np.count_nonzero(gaps))
            return cls(raw.size, count, NumberSummary.of(values[~gaps] if count else values))
        counts, gaps_seen = _counted_levels(raw, column)
        return cls(raw.size, gaps_seen, None, *_thinned(counts, 0))

    def merged(self, other: ColumnSummary, column: ColumnKey) -> ColumnSummary:
        """The summary of both."""
        rows, gaps = self.rows + other.rows, self.gaps + other.gaps
        if self.numbers is not None and other.numbers is not None:
            return ColumnSummary(rows, gaps, self.numbers.merged(other.numbers))
        if self.levels is not None and other.levels is not None:
            counts = dict(self.levels)
            for level, count in other.levels.items():
                counts[level] = counts.get(level, 0) + count
            return ColumnSummary(rows, gaps, None, *_thinned(counts, self.dropped + other.dropped))
        for one, more in ((self, other), (other, self)):
            if more.numbers is None and more.levels is None:
                return replace(one, rows=rows, gaps=gaps)
        text = next(iter(self.levels or other.levels or ()))
        raise DataError(
            f"the column holds numbers in some parts, and in others such as {quoted_value(text)}",
            argument="X",
            column=column,
            advice="Write the column in one type, or list it in categorical if its numbers are codes.",
        )

    def plan(
        self,
        sample: NDArray[Any],
        name: str,
        column: ColumnKey,
        *,
        listed: bool,
        categorical: bool,
        scale: bool,
        max_levels: int,
        bins: int,
        exact: bool = False,
    ) -> LearnedColumn:
        """What `learn_column` would learn of all these rows, quantiles being those of a sample of them."""
        has_gaps = self.gaps > 0
        if self.levels is not None:
            counts = _as_of_one_type(self.levels, has_gaps=has_gaps)
            if not (listed or categorical):
                require_no_numbers_as_text(counts, column, lambda level: None)
            # Which levels are rare may be forgotten: then those of the sample show whether most are.
            shown = _counted_levels(sample, column)[0] if self.dropped else None
            plan = plan_of_levels(name, counts, has_gaps=has_gaps, listed=listed, max_levels=max_levels, as_text=shown)
            return LearnedColumn(plan)
        numbers = self.numbers
        if numbers is None:
            return LearnedColumn(LeftOut(name, "no values"))
        low, high = numbers.low, numbers.high
        if low == high:
            return LearnedColumn(plan_of_one_value(name, low, has_gaps=has_gaps))
        values = read_numbers(sample, column)
        present = values[~np.isnan(values)]
        if not present.size:
            present = np.array([numbers.mean])
        identifier = self._looks_like_identifier(present, name)
        if not exact:
            present = as_single(present, low, high)
        median, knots = middle_and_knots(present, low, high, bins)
        mean, deviation = (numbers.mean, numbers.deviation) if scale else (0.0, 1.0)
        return LearnedColumn(Number(name, mean, deviation, median, low, high, has_gaps, knots), identifier)

    def _looks_like_identifier(self, sample: NDArray[np.float64], name: str) -> bool:
        """Whether numbers of a sample all differ, in a column that is named so or whose range counts the rows."""
        numbers = self.numbers
        if numbers is None:
            return False
        counts_rows = numbers.high - numbers.low == numbers.count - 1
        # With another name than theirs, neighbours in a sample do not follow one another.
        called = name if named_like_identifier(name) or not counts_rows else "id"
        return looks_like_identifier(np.sort(sample), called, float(sample.min()), float(sample.max()))


def _counted_levels(raw: NDArray[Any], column: ColumnKey) -> tuple[dict[Level, int], int]:
    """How many rows have each level, and how many have none."""
    found, inverse = distinct_levels(raw, column)
    counts: dict[Level, int] = {}
    gaps = 0
    for level, count in zip(found, np.bincount(inverse, minlength=len(found)).tolist(), strict=True):
        if level is None:
            gaps += count
        else:
            counts[level] = counts.get(level, 0) + count
    return counts, gaps


def _thinned(counts: dict[Level, int], dropped: int) -> tuple[dict[Level, int], int]:
    """At most so many levels as are counted, and by how much their counts may be too low."""
    if len(counts) <= MOST_LEVELS:
        return counts, dropped
    off = int(np.partition(np.fromiter(counts.values(), np.int64, len(counts)), -MOST_LEVELS - 1)[-MOST_LEVELS - 1])
    return {level: count - off for level, count in counts.items() if count > off}, dropped + off


def _as_of_one_type(counts: Mapping[Level, int], *, has_gaps: bool) -> dict[Level, int]:
    """Levels as they are in a whole column: with a gap or a float anywhere, whole numbers are floats."""
    types = set(map(type, counts))
    if not types <= {int, float} or (types == {int} and not has_gaps):
        return dict(counts)
    return {float(level): count for level, count in counts.items()}
