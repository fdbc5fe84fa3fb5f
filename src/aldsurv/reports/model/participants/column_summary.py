"""A column of training rows beside the same of other rows: its summaries, and how far apart they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_labels import ColumnLabels
from aldsurv.columns.column_plans import ColumnPlan, Levels, Number

__all__ = ["ColumnSummary", "LevelCount", "Spread", "summarise_column"]

# A column of numbers with more distinct values is summarised by its quartiles.
_MOST_DISTINCT = 8
_MOST_LEVELS = 12


@final
@dataclass(frozen=True)
class Spread:
    """Quartiles, mean and standard deviation of numbers; those that are not known are NaN."""

    median: float
    lower: float
    upper: float
    mean: float
    sd: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Spread:
        """Of numbers without gaps."""
        if values.size == 0:
            return cls(*[float("nan")] * 5)
        lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
        sd = float(values.std(ddof=1)) if values.size > 1 else float("nan")
        return cls(median, lower, upper, float(values.mean()), sd)


@final
@dataclass(frozen=True)
class LevelCount:
    """A level, how many rows have it in training (None if that is not known) and here, and the difference."""

    level: object
    train: int | None
    test: int
    difference: float


@final
@dataclass(frozen=True)
class ColumnSummary:
    """A column in training and here.

    Attributes
    ----------
    name
        Of the column.
    train, test
        Quartiles, mean and standard deviation of a column of numbers; None for one of levels, or where not known.
    known_range
        Least and largest value of training that the model file has, if nothing else is known of them.
    difference
        Standardised difference: of the means over the root of the mean of both variances. NaN if it is not known.
    levels
        Of a column of levels: each with its counts and the standardised difference of its shares.
    train_rows, test_rows
        Rows with a value; None where not known.
    train_missing, test_missing
        Rows without one.
    """

    name: str
    train: Spread | None
    test: Spread | None
    known_range: tuple[float, float] | None
    difference: float
    levels: tuple[LevelCount, ...]
    train_rows: int | None
    test_rows: int
    train_missing: int | None
    test_missing: int

    def titled(self, labels: ColumnLabels) -> ColumnSummary:
        """The same with the column and its levels called by their labels."""
        levels = tuple(replace(entry, level=labels.level(self.name, entry.level)) for entry in self.levels)
        return replace(self, name=labels.column(self.name), levels=levels)


def summarise_column(
    name: str, test: NDArray[Any], train: NDArray[Any] | None, plan: ColumnPlan | None
) -> ColumnSummary:
    """Summaries of one column.

    Parameters
    ----------
    name, test
        Its name, and its values in the evaluated rows.
    train
        Its values in the training rows, if these are given.
    plan
        What the model has kept of it.
    """
    here, there = _present(test), None if train is None else _present(train)
    counts = (len(here), len(test) - len(here))
    of_train = (None, None) if train is None or there is None else (len(there), len(train) - len(there))
    numbers, train_numbers = _numbers(here), None if there is None else _numbers(there)
    several = len(set(here) | set(there or ())) > _MOST_DISTINCT
    if numbers is not None and several and (there is None or train_numbers is not None):
        spread = Spread.of(numbers)
        known = None if train_numbers is None else Spread.of(train_numbers)
        bounds = None
        if known is None and isinstance(plan, Number):
            known = Spread(plan.median, *[float("nan")] * 4)
            bounds = (plan.low, plan.high)
        difference = float("nan") if known is None else _difference(spread.mean - known.mean, known.sd**2, spread.sd**2)
        return ColumnSummary(
            name, known, spread, bounds, difference, (), of_train[0], counts[0], of_train[1], counts[1]
        )
    levels = _levels(here, there, plan)
    return ColumnSummary(name, None, None, None, float("nan"), levels, of_train[0], counts[0], of_train[1], counts[1])


def _levels(here: Sequence[Any], there: Sequence[Any] | None, plan: ColumnPlan | None) -> tuple[LevelCount, ...]:
    counts, train = Counter(here), None if there is None else Counter(there)
    total = counts + (train or Counter())
    if train is None and isinstance(plan, Levels):
        # Levels of training that no row here has.
        total.update(dict.fromkeys((level for level in plan.levels if level not in total), 0))
    kept = [level for level, _ in total.most_common(_MOST_LEVELS)]
    kept.sort(key=lambda level: (float(level), "") if isinstance(level, (int, float)) else (0.0, str(level)))
    entries = [_level(level, counts[level], None if train is None else train[level], here, there) for level in kept]
    if len(total) > len(kept):
        rest = sum(count for level, count in counts.items() if level not in kept)
        train_rest = None if train is None else sum(count for level, count in train.items() if level not in kept)
        entries.append(_level(f"{len(total) - len(kept)} others", rest, train_rest, here, there))
    return tuple(entries)


def _level(
    level: object, count: int, train: int | None, here: Sequence[Any], there: Sequence[Any] | None
) -> LevelCount:
    difference = float("nan")
    if train is not None and here and there:
        p, q = count / len(here), train / len(there)
        difference = _difference(p - q, p * (1 - p), q * (1 - q))
    return LevelCount(level, train, count, difference)


def _difference(means: float, first: float, second: float) -> float:
    """Difference of means in units of the root of the mean variance; 0 of equal means without any variance."""
    variance = (first + second) / 2
    if variance > 0:
        return means / float(np.sqrt(variance))
    return 0.0 if means == 0 else float("nan")


def _present(values: NDArray[Any]) -> list[Any]:
    return [value for value in values.tolist() if value is not None and value == value]


def _numbers(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """The values as numbers; None if some are not."""
    if not all(isinstance(value, (int, float)) for value in values):
        return None
    return np.array(values, np.float64)
