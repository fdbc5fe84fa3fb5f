"""A few rows that stand for a table: their predictions and columns have nearly the means of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.inspection.covariate_table import CovariateTable

__all__ = ["error_of_mean", "even_steps", "typical_rows"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Levels of a text column that are counted, the most frequent ones.
_LEVELS = 6
_SWEEPS = 4
# The mean prediction is what contributions are counted from: it counts more than the mean of one column.
_OF_PREDICTION = 3.0


def even_steps(length: int, most: int) -> IntArray:
    """All of `length` places, or `most` of them at even steps if there are more."""
    if length <= most:
        return np.arange(length)
    return np.asarray(np.linspace(0, length - 1, most).round(), np.intp)


def typical_rows(predicted: FloatArray, table: CovariateTable, count: int) -> IntArray:
    """Places of `count` rows, in the order of their predictions.

    The rows, in the order of their mean prediction, are divided into `count` parts of equal size, of which each gives
    one row: that which brings the means over the chosen rows nearest to those over all rows, part after part until
    nothing changes. Means are those of predictions, of numbers and their squares by rank, of gaps and of levels.
    Contributions of columns that act by themselves then hardly depend on which rows were chosen.

    Parameters
    ----------
    predicted
        Predictions (n, m) of the rows, finite.
    table
        The rows.
    count
        How many, less than n.
    """
    order = np.argsort(predicted.mean(axis=1), kind="stable")
    parts = np.array_split(order, count)
    features = _features(predicted, table)
    chosen = np.array([part[len(part) // 2] for part in parts])
    total = features[chosen].sum(axis=0)
    for _ in range(_SWEEPS):
        before = chosen.copy()
        for place, part in enumerate(parts):
            without = total - features[chosen[place]]
            best = part[np.argmin(((without + features[part]) ** 2).sum(axis=1))]
            chosen[place], total = best, without + features[best]
        if (chosen == before).all():
            break
    return chosen


def error_of_mean(values: FloatArray, share: float) -> FloatArray:
    """Standard error (…) of the mean of values (k, …) of rows that stand for a table, in the order of predictions.

    By differences of neighbours, as for samples at even steps: what grows with the prediction is no error.

    Parameters
    ----------
    values
        One per chosen row, two rows or more.
    share
        Of the rows of the table that were chosen.
    """
    count = len(values)
    return np.asarray(np.sqrt((1 - share) * (np.diff(values, axis=0) ** 2).sum(axis=0) / (2 * count * (count - 1))))


def _features(predicted: FloatArray, table: CovariateTable) -> FloatArray:
    """Numbers (n, q) with mean 0 and variance 1 whose means the chosen rows are to have."""
    columns = [_OF_PREDICTION * _standardised(predicted.mean(axis=1))]
    for column in table.columns:
        columns += [_standardised(numbers) for numbers in _numbers(column)]
    return np.stack(columns, axis=1)


def _numbers(column: NDArray[Any]) -> list[FloatArray]:
    """Ranks from -1 to 1, their squares and whether there is a gap; of text whether it is each frequent level."""
    if column.dtype.kind in "biuf":
        values = column.astype(np.float64)
        there = ~np.isnan(values)
        rank = np.zeros(len(values))
        levels, places = np.unique(values[there], return_inverse=True)
        rank[there] = 2 * (places + 0.5) / max(levels.size, 1) - 1
        return [rank, rank**2, there.astype(np.float64)]
    _, places, counts = np.unique(column.astype(str), return_inverse=True, return_counts=True)
    return [(places == level).astype(np.float64) for level in np.argsort(-counts, kind="stable")[:_LEVELS]]


def _standardised(values: FloatArray) -> FloatArray:
    spread = values.std()
    return (values - values.mean()) / spread if spread > 1e-12 * (1 + np.abs(values).max()) else np.zeros(values.shape)
