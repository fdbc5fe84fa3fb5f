"""Sums over the pairs of rows that come in the same order by two rankings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.metrics.checked_arguments import FloatArray

__all__ = ["Places", "sum_of_pairs"]

Places = NDArray[np.int32]

# Rows counted in one go; more are split in two by place. So the cost of a row grows with their logarithm alone, and
# the number of a block is below 2¹⁵.
_MOST_ROWS = 1 << 21
# Cells, and places, worked on at once: as many as fit the processor's cache.
_CELLS = 1 << 16
_PLACES = 1 << 17
# A count in one byte.
_MOST_COUNT = 255


def sum_of_pairs(place: Places, importance: FloatArray, weight: FloatArray | None = None) -> float:
    """Sum of ``importance[i]·weight[j]`` over the places ``i < j`` whose second ranks are ``rank[i] < rank[j]``.

    Places are grouped in blocks of equal size, and ranks in as many buckets. The order of two rows that differ in block
    and in bucket follows from the numbers of these: such pairs are summed from a table of blocks by buckets. Pairs of
    one block are compared by rank, and pairs of one bucket but two blocks by block, both one by one. At blocks of about
    n^(1/3) rows the table, (n/size)² cells, and the comparisons, n·size, cost alike. The sum is exact if importance and
    weight are integers and it is below 2⁵³.

    Parameters
    ----------
    place
        Places 0 … n-1, listed by their second rank.
    importance, weight
        Numbers (n,) by place; a weight of None is one each.
    """
    n = place.size
    if n > _MOST_ROWS:
        return _sum_of_halves(place, importance, weight)
    # Weights make comparisons dearer than they make the table.
    size = max(4, round((2.5 if weight is None else 2.0) * n ** (1 / 3)))
    rank = np.empty(n, dtype=np.int32)
    rank[place] = np.arange(n, dtype=np.int32)
    block = (place // size).astype(np.int16)
    apart = _sum_over_cells(rank // size, importance, weight, size)
    same_block = _sum_in_groups(rank, importance, weight, size)
    ranked_weight = None if weight is None else weight[place]
    return apart + same_block + _sum_in_groups(block, importance[place], ranked_weight, size)


def _sum_of_halves(place: Places, importance: FloatArray, weight: FloatArray | None) -> float:
    """The same sum from two problems of half the size, and the pairs across."""
    half = place.size // 2
    late = place >= half
    behind = late if weight is None else np.where(late, weight[place], 0.0)
    above = np.cumsum(behind[::-1], dtype=np.float64)[::-1][~late]
    early = place[~late]
    across = float(importance[early] @ above)
    parts = (early, slice(None, half)), (place[late] - np.int32(half), slice(half, None))
    return across + sum(sum_of_pairs(p, importance[s], None if weight is None else weight[s]) for p, s in parts)


def _sum_over_cells(bucket: Places, importance: FloatArray, weight: FloatArray | None, size: int) -> float:
    """Sum over the pairs that differ in block and bucket; `bucket` is listed by place."""
    n, columns = bucket.size, -(-bucket.size // size) + 1
    # From the highest bucket down: the sum above a bucket is then a running sum, and column 0, above all, stays 0.
    column = (columns - 1) - bucket
    kind: type[np.int64 | np.float64] = np.int64 if weight is None else np.float64
    later, total = np.zeros(columns, dtype=kind), 0.0
    step = max(1, _CELLS // columns) * size
    first_cell = np.arange(min(n, step)) // size * columns
    for start in reversed(range(0, n, step)):
        rows = slice(start, min(start + step, n))
        cell = first_cell[: rows.stop - start] + column[rows]
        blocks = -(-(rows.stop - start) // size)
        counts = np.bincount(cell, None if weight is None else weight[rows], minlength=blocks * columns)
        table = counts.reshape(blocks, columns)
        above = np.empty((blocks, columns), dtype=kind)
        for block in reversed(range(blocks)):
            above[block] = later
            later += table[block]
        np.cumsum(above, axis=1, out=above)
        total += float(importance[rows] @ above.ravel()[cell - 1])
    return total


def _sum_in_groups(values: NDArray[Any], importance: FloatArray, weight: FloatArray | None, size: int) -> float:
    """Sum over the pairs ``i < j`` in each run of `size` entries whose values are ``v[i] < v[j]``."""
    step, total = max(1, _PLACES // size) * size, 0.0
    for start in range(0, values.size, step):
        rows = slice(start, start + step)
        value, begins = _side_by_side(values[rows], size), _side_by_side(importance[rows], size)
        ends = None if weight is None else _side_by_side(weight[rows], size)
        runs = value.size // size
        larger = np.empty(value.size, dtype=np.bool_)
        sums: NDArray[Any] = np.zeros(value.size, dtype=np.uint8 if ends is None else np.float64)
        for lag in range(1, size):
            here, there = slice(None, value.size - lag * runs), slice(lag * runs, None)
            np.less(value[here], value[there], out=larger[here])
            sums[here] += larger[here].view(np.uint8) if ends is None else larger[here] * ends[there]
            if ends is None and lag % _MOST_COUNT == 0:
                total += float(begins @ sums)
                sums[:] = 0
        total += float(begins @ sums)
    return total


def _side_by_side(column: NDArray[Any], size: int) -> NDArray[Any]:
    """Runs of `size` entries next to each other: the first of all, then the second of all.

    Entries that are `lag` apart in every run are then two long stretches. A last run that is short is filled up
    with 0, which is larger than no value and counts nothing.
    """
    missing = -column.size % size
    if missing:
        column = np.concatenate([column, np.zeros(missing, dtype=column.dtype)])
    return np.ascontiguousarray(column.reshape(-1, size).T).ravel()
