"""Rows that belong together: those of one group, and rows that a table holds more than once.

A copy on the other side of a split makes scores too good, and so does another row of the same person. Both are found
here, for everything that holds rows out; `aldsurv.data.rows.row_splitting.keep_together` then keeps them on one side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.covariates import covariate_arrays, take_rows
from aldsurv.data.group_column import group_numbers, joined_groups
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import AldsurvError

__all__ = ["count_extra", "find_copies", "find_groups", "value_numbers"]

IntArray = NDArray[np.int64]

# Pairs of equal rows are copies if there are more than so many times those expected by chance, and so many standard
# deviations of their (Poisson) number.
_TIMES, _DEVIATIONS = 2.0, 3.0
# A group with a larger share of the rows could not be held out as a whole.
_LARGEST_SHARE = 10


def find_copies(X: object, data: SurvivalData) -> IntArray | None:
    """A number for each row (n,), equal for exact copies of one row and -1 for a row that occurs once.

    Copies have equal covariates, times, events and entries; weights do not matter, nor does a column of text that
    differs in every row, as identifiers do. Equal rows are no copies where chance explains them: of few covariates with
    few values and times in whole years many people are alike. They count as copies if there are more than twice as many
    pairs of them as expected if outcomes were independent of covariates, and three standard deviations more. A group of
    more than a tenth of the rows is left alone: a part that holds it whole would hold little else.

    Parameters
    ----------
    X
        Covariates, as `fit` takes them.
    data
        Outcomes of the same rows.

    Returns
    -------
    array or None
        None if no row occurs twice, or if `X` cannot be read: the model that learns from it raises the error.

    Examples
    --------
    >>> age, time = [[40], [50], [40], [63], [58], [71], [66], [49]], [5, 3, 5, 8, 9, 2, 4, 7]
    >>> find_copies(age, SurvivalData.right(time, [1] * 8)).tolist()
    [0, -1, 0, -1, -1, -1, -1, -1]
    """
    n = len(data)
    if n < 2:
        return None
    outcomes = _grouped(_outcome_columns(data), np.arange(n), n)
    if not outcomes.rows.size:
        return None
    try:
        both = _grouped(_covariates(X), outcomes.rows, n, outcomes.numbers)
        if not both.rows.size:
            return None
        covariates = _grouped(_covariates(X), np.arange(n), n)
    except AldsurvError:
        return None
    expected = covariates.pairs * outcomes.pairs / (n * (n - 1) / 2)
    if both.pairs <= _TIMES * expected + _DEVIATIONS * math.sqrt(expected):
        return None
    sizes = np.bincount(both.numbers)
    kept = sizes[both.numbers] <= max(n // _LARGEST_SHARE, 2)
    if not kept.any():
        return None
    groups = np.full(n, -1, np.int64)
    groups[both.rows[kept]] = both.numbers[kept]
    return groups


def find_groups(X: object, data: SurvivalData) -> IntArray | None:
    """A number for each row (n,), equal for rows that belong together and -1 for a row that stands for itself.

    Rows of one group of the data belong together, so do exact copies of a row, and so do all that these link: if a row
    of one group is a copy of one of another, the two groups are one. Copies within a group are no news, and say nothing
    about whether rows are alike by chance.

    Parameters
    ----------
    X
        Covariates, as `fit` takes them; None if they are not known, which shows no copies.
    data
        Outcomes of the same rows, with their groups.

    Returns
    -------
    array or None
        None if every row stands for itself.

    Examples
    --------
    >>> age, time = [[40], [50], [40], [63], [58], [71], [66], [49]], [5, 3, 5, 8, 9, 2, 4, 7]
    >>> find_groups(age, SurvivalData.right(time, [1] * 8, group=list("abcdefab"))).tolist()
    [0, 1, 0, -1, -1, -1, 0, 1]
    """
    if data.group is None:
        return None if X is None else find_copies(X, data)
    group = group_numbers(data.group)
    copies = None if X is None else _copies_across(X, data, group)
    if copies is not None:
        linked = _linked(group, copies)
        # If all were one, nothing could be held out.
        group = linked if linked.any() or not group.any() else group
    return joined_groups(group)


def _copies_across(X: object, data: SurvivalData, group: IntArray) -> IntArray | None:
    """What `find_copies` gives, of rows none of which is a copy within its group."""
    n = len(data)
    try:
        outcomes = _grouped(_outcome_columns(data), np.arange(n), n)
        equal = _grouped(_covariates(X), outcomes.rows, n, outcomes.numbers)
        pairs = equal.numbers * n + group[equal.rows]
        first = np.unique(pairs, return_index=True)[1]
        kept = np.ones(n, np.bool_)
        kept[np.delete(equal.rows, first)] = False
        rows = np.flatnonzero(kept)
        some = find_copies(X if len(rows) == n else take_rows(X, rows), data[rows])
    except AldsurvError:
        return None
    if some is None:
        return None
    copies = np.full(n, -1, np.int64)
    copies[rows] = some
    return copies


def _linked(group: IntArray, copies: IntArray) -> IntArray:
    """The groups, those that have copies of one row joined: the number of the first of them stands for all."""
    leader = list(range(int(group.max()) + 1))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    first: dict[int, int] = {}
    for row in np.flatnonzero(copies >= 0).tolist():
        one, other = find(int(group[row])), find(first.setdefault(int(copies[row]), int(group[row])))
        leader[max(one, other)] = min(one, other)
    return np.array([find(number) for number in range(len(leader))], np.int64)[group]


def count_extra(groups: IntArray) -> int:
    """How many rows are copies of one before them."""
    inside = groups[groups >= 0]
    return int(inside.size - np.unique(inside).size)


@final
class _Groups(NamedTuple):
    """Rows that are equal to another one, and which of them are equal."""

    rows: IntArray
    numbers: IntArray

    @property
    def pairs(self) -> int:
        """Pairs of equal rows."""
        return sum(count * (count - 1) // 2 for count in np.bincount(self.numbers).tolist())


def _grouped(columns: Iterator[NDArray[Any]], rows: IntArray, n: int, numbers: IntArray | None = None) -> _Groups:
    """Rows equal in all columns, out of those that were equal so far."""
    numbers = np.zeros(len(rows), np.int64) if numbers is None else numbers
    for column in columns:
        if len(column) != n:
            return _Groups(rows[:0], numbers[:0])
        codes = value_numbers(column[rows])
        _, numbers, counts = np.unique(
            numbers * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True, return_counts=True
        )
        shared = counts[numbers] > 1
        if not shared.all():
            rows, numbers = rows[shared], np.unique(numbers[shared], return_inverse=True)[1]
        if not rows.size:
            break
    return _Groups(rows, numbers.astype(np.int64))


def _outcome_columns(data: SurvivalData) -> Iterator[NDArray[Any]]:
    yield from (column for column in (data.lower, data.upper, data.entry, data.cause) if column is not None)


def _covariates(X: object) -> Iterator[NDArray[Any]]:
    for column in covariate_arrays(X):
        if column.dtype.kind in "OUS":
            codes = value_numbers(column)
            if len(column) > 1 and codes.max() + 1 == len(column) and _is_text(column):
                continue
            yield codes
        else:
            yield column


def _is_text(column: NDArray[Any]) -> bool:
    return column.dtype.kind in "US" or all(isinstance(value, str) for value in column.tolist())


def value_numbers(column: NDArray[Any]) -> IntArray:
    """A number for each value, equal for equal values and for gaps."""
    if column.dtype.kind == "O":
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(_identity(value), len(numbers)) for value in column.tolist()], np.int64)
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _identity(value: object) -> object:
    """What distinguishes a value from others: gaps are alike, whatever they are written as."""
    if isinstance(value, float) and value != value:
        return None
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
