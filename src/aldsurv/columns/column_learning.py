"""What is learned of one column of covariates from the training rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import (
    ColumnKey,
    Level,
    distinct_levels,
    entry_kinds,
    level_order,
    quoted_value,
    read_numbers,
)
from aldsurv.columns.column_plans import ColumnPlan, LeftOut, Levels, Number, as_single
from aldsurv.data.frame_columns import FloatArray, is_numeric_text
from aldsurv.errors import DataError

__all__ = [
    "LearnedColumn",
    "learn_column",
    "looks_like_identifier",
    "mean_and_deviation",
    "middle_and_knots",
    "named_like_identifier",
    "plan_of_levels",
    "plan_of_one_value",
    "require_no_numbers_as_text",
]

_SMALLEST = float(np.finfo(np.float64).tiny)
# With fewer rows, values that all differ are no sign of an identifier.
_IDENTIFIER_ROWS = 20
# Text of at most so many levels is a category, however rare they are.
_FEW_LEVELS = 20
_IDENTIFIER_WORDS = {"id", "ids", "pid", "uid", "uuid", "guid", "mrn", "identifier"}
_IDENTIFIER_NAMES = {"index", "row", "rownames", "patient", "subject", "unnamed: 0"}


class LearnedColumn(NamedTuple):
    """A plan, and whether its numbers look like an identifier."""

    plan: ColumnPlan
    looks_like_identifier: bool = False


def learn_column(
    raw: NDArray[Any],
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
    """Learn one column; `listed`: the user called it categorical; `categorical`: its type says so.

    Unless `exact`, what is learned of numbers is the same from a column in float32 and from one in float64.
    """
    kinds = entry_kinds(raw, column)
    if not kinds - {"gap"}:
        return LearnedColumn(LeftOut(name, "no values"))
    if listed or categorical or "text" in kinds:
        return LearnedColumn(_learn_levels(raw, name, column, listed, categorical, max_levels))
    values = read_numbers(raw, column)
    gaps = np.isnan(values)
    has_gaps = bool(gaps.any())
    present = values[~gaps] if has_gaps else values
    if present.size == 0:
        return LearnedColumn(LeftOut(name, "no values"))
    low, high = float(present.min()), float(present.max())
    if low == high:
        return LearnedColumn(plan_of_one_value(name, low, has_gaps=has_gaps))
    identifier = looks_like_identifier(present, name, low, high)
    if not exact:
        present = as_single(present, low, high)
    median, knots = middle_and_knots(present, low, high, bins)
    # 0/1 columns are scaled like all others: the weights of a network start at one size for all columns, so that
    # every column should vary as much.
    mean, deviation = (0.0, 1.0)
    if scale:
        mean, deviation = mean_and_deviation(present, float(present.min()), float(present.max()))
    return LearnedColumn(Number(name, mean, deviation, median, low, high, has_gaps, knots), identifier)


def plan_of_one_value(name: str, value: float, *, has_gaps: bool) -> ColumnPlan:
    """The plan of a column of numbers that are all the same, as of a box that was ticked or left blank.

    Only the gaps carry information, if there are any.
    """
    return Levels(name, (value,), gaps=True, other=False) if has_gaps else LeftOut(name, "constant")


def middle_and_knots(present: FloatArray, low: float, high: float, bins: int) -> tuple[float, tuple[float, ...]]:
    """The median of values between two ends, and the quantiles that divide them into pieces."""
    with np.errstate(over="ignore"):
        median = min(max(float(np.median(present)), low), high)
    return median, _knots(present, bins) if bins else ()


def _knots(values: FloatArray, bins: int) -> tuple[float, ...]:
    """Quantiles that divide the values into pieces of about as many rows; none if a single piece would be all.

    They are values that occur: between two of a column's few values there is nothing to bend at.
    """
    quantiles = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1), method="closest_observation"))
    # Ends so near to each other that no number lies between their halves make no piece.
    kept = [float(quantiles[0])]
    for value in quantiles[1:].tolist():
        if value / 2 - kept[-1] / 2 > 0:
            kept.append(value)
    return tuple(kept) if len(kept) > 2 else ()


def _learn_levels(
    raw: NDArray[Any], name: str, column: ColumnKey, listed: bool, categorical: bool, max_levels: int
) -> ColumnPlan:
    levels, inverse = distinct_levels(raw, column)
    counts: dict[Level, int] = {}
    for level, count in zip(levels, np.bincount(inverse, minlength=len(levels)).tolist(), strict=True):
        if level is not None:
            counts[level] = counts.get(level, 0) + count
    gaps = None in levels
    if counts and not (listed or categorical):
        require_no_numbers_as_text(counts, column, lambda level: int(np.argmax(inverse == levels.index(level))))
    return plan_of_levels(name, counts, has_gaps=gaps, listed=listed, max_levels=max_levels)


def plan_of_levels(
    name: str,
    counts: Mapping[Level, int],
    *,
    has_gaps: bool,
    listed: bool,
    max_levels: int,
    as_text: Mapping[Level, int] | None = None,
) -> ColumnPlan:
    """The plan of a column of categories by the number of rows of each level.

    Parameters
    ----------
    name
        The column.
    counts
        How many rows have each level.
    has_gaps
        Whether some rows have none.
    listed
        Whether the user called it categorical: then it is used however rare its levels are.
    max_levels
        How many levels are told apart.
    as_text
        The levels of fewer rows by which to judge whether the column holds identifiers or notes; None: those of all.
    """
    judged = counts if as_text is None else as_text
    counts = counts or judged
    if not counts:
        return LeftOut(name, "no values")
    if len(counts) == 1 and not has_gaps:
        return LeftOut(name, "constant")
    if not listed and len(judged) >= _IDENTIFIER_ROWS and max(judged.values()) == 1 and str in map(type, judged):
        return LeftOut(name, "identifier")
    if not listed and _is_nearly_unique(judged):
        return LeftOut(name, "nearly unique")
    kept = sorted(counts, key=level_order)
    if len(kept) > max_levels:
        # The sort is stable: of equally frequent levels the first in order stay.
        kept = sorted(sorted(kept, key=lambda level: -counts[level])[:max_levels], key=level_order)
    return Levels(name, tuple(kept), gaps=has_gaps, other=len(kept) < len(counts))


def _is_nearly_unique(counts: Mapping[Level, int]) -> bool:
    """Whether text is like names or notes: most of its values are in one row only, over a quarter of all rows.

    Indicators of such values fit their rows and say nothing about others. A long tail of rare levels in few of the rows
    is not enough: the frequent ones may well be of use.
    """
    if len(counts) <= _FEW_LEVELS or str not in map(type, counts):
        return False
    once = sum(count == 1 for count in counts.values())
    return 2 * once > len(counts) and 4 * once > sum(counts.values())


def mean_and_deviation(values: FloatArray, low: float, high: float) -> tuple[float, float]:
    """Mean and standard deviation, overwriting the values; in units of half the range nothing over- or underflows."""
    middle = low / 2 + high / 2
    half = max(high / 2 - low / 2, _SMALLEST)
    values -= middle
    values /= half
    mean = float(values.mean())
    values -= mean
    np.square(values, out=values)
    return middle + half * mean, max(half * math.sqrt(float(values.mean())), _SMALLEST)


def looks_like_identifier(values: FloatArray, name: str, low: float, high: float) -> bool:
    """Whether numbers without gaps count the rows, or all differ in a column that is named like an identifier."""
    if values.size < _IDENTIFIER_ROWS or not (values[:_IDENTIFIER_ROWS] % 1 == 0).all():
        return False
    named = named_like_identifier(name)
    if not named and high - low != values.size - 1:
        return False
    ordered = np.sort(values)
    return bool((ordered[1:] > ordered[:-1]).all() if named else (np.diff(ordered) == 1).all())


def named_like_identifier(name: str) -> bool:
    """Whether a column has a name as those of identifiers have."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    return bool(words & _IDENTIFIER_WORDS) or name.strip().lower() in _IDENTIFIER_NAMES


def require_no_numbers_as_text(
    levels: Collection[Level], column: ColumnKey, row_of: Callable[[Level], int | None]
) -> None:
    """Raise `DataError` if most levels of a column of text are numbers: it is one of numbers with some text in it."""
    numeric = [level for level in levels if not isinstance(level, str) or is_numeric_text(level)]
    if 2 * len(numeric) <= len(levels):
        return
    text = [level for level in levels if isinstance(level, str)]
    words = [level for level in text if not is_numeric_text(level)]
    shown = (words or text)[0]
    mixture = "numbers mixed with text" if words else "numbers as text"
    repair = "Put a gap (NaN) in place of such text" if words else "Convert the column to float"
    raise DataError(
        f"the column holds {mixture}, first {quoted_value(shown)}",
        argument="categorical",
        column=column,
        row=row_of(shown),
        advice=f"{repair}, or list the column in categorical if its numbers are codes.",
    )
