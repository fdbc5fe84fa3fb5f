"""Random numbers that belong to rows: by the number of a row in its table, or of its group.

The same random choice of rows can be computed again from these numbers alone: it does not depend on how a
table is divided into parts, in which order or by how many processes they are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.frame_columns import IntArray

__all__ = ["UIntArray", "chosen_share", "row_hashes"]

UIntArray = NDArray[np.uint64]

_HALF_WORD = np.uint64(2**63)


def row_hashes(numbers: IntArray, group: IntArray | None, seed: int) -> UIntArray:
    """A random whole number below 2**64 for each row (n,), equal for rows of one group and different for others.

    Parameters
    ----------
    numbers
        Number of each row in the whole table.
    group
        Group of each row as `SurvivalData` has it, -1 for a row that stands for itself; None: all do.
    seed
        Another one gives other numbers.

    Examples
    --------
    >>> rows = np.arange(4)
    >>> hashes = row_hashes(rows, np.array([7, -1, 7, -1]), seed=0)
    >>> bool(hashes[0] == hashes[2]), bool(hashes[1] == hashes[3])
    (True, False)
    """
    keys = np.asarray(numbers).astype(np.uint64)
    if group is not None:
        # Numbers of rows, and of groups, must not meet.
        keys = np.where(group < 0, keys, group.astype(np.uint64) | _HALF_WORD)
    (start,) = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return _mixed(_mixed(keys) ^ start)


def chosen_share(hashes: UIntArray, low: float, high: float) -> NDArray[np.bool_]:
    """Which rows have a hash in the stretch of all hashes from share `low` up to share `high`, from 0 to 1."""
    shares = hashes.astype(np.float64) * 2.0**-64
    return np.asarray((shares >= low) & (shares < high))


def _mixed(values: NDArray[Any]) -> UIntArray:
    """The finalizer of SplitMix64 (Steele, Lea & Flood, 2014), which maps numbers one to one."""
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
