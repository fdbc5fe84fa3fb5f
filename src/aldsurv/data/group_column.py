"""Which rows belong together, as those of one person: labels of any kind as whole numbers."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from aldsurv.data.frame_columns import Column, FloatArray, IntArray, column_array, is_missing
from aldsurv.data.rows.row_checks import require_equal_length, require_rows

__all__ = ["count_groups", "group_column", "group_numbers", "joined_groups"]

# Labels that are not whole numbers become numbers from here on, far beyond those of usual numberings.
_FIRST_HASH = 2**62


def group_column(column: Column, time: Column, times: FloatArray) -> IntArray:
    """A number for each row (n,), equal where labels are; -1 stands for a row that belongs to no other.

    The number depends on the label alone, so that the parts of a table, read one by one, agree. Whole numbers from -1
    on stay as they are.
    """
    raw = column_array(column)
    require_equal_length(time, times, column, raw)
    if raw.dtype.kind in "bu" or (raw.dtype.kind == "i" and raw.size and raw.min() >= -1):
        numbers = raw.astype(np.int64)
        if (numbers >= -1).all():
            return numbers
    items = raw.tolist()
    present = np.array([not is_missing(item) for item in items], np.bool_)
    require_rows(
        present, column, "known in every row", {"": raw}, "Drop those rows, or give each of them a label of its own."
    )
    by_label: dict[Any, int] = {}
    try:
        return np.array([_number(item, by_label) for item in items], np.int64)
    except TypeError:
        raise column.error("must hold plain labels, such as text or numbers", advice="Give one per row.") from None


def _number(label: Any, by_label: dict[Any, int]) -> int:
    if label not in by_label:
        if isinstance(label, (float, np.floating)) and float(label).is_integer():
            # A column of whole numbers with a gap elsewhere is one of floats.
            label = int(label)
        if isinstance(label, (int, np.integer)) and -1 <= label < 2**63:
            return int(label)
        text = f"text {label}" if isinstance(label, str) else f"other {label!r}"
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        by_label[label] = _FIRST_HASH + int.from_bytes(digest, "big") % _FIRST_HASH
    return by_label[label]


def group_numbers(group: IntArray) -> IntArray:
    """The groups numbered from 0 on in the order of their first rows; a row that belongs to no other is one."""
    own = group < 0
    # No number of a group is negative.
    distinct = np.where(own, -1 - np.arange(group.size), group)
    _, first, place = np.unique(distinct, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[place.reshape(-1)]


def count_groups(group: IntArray) -> int:
    """How many groups there are, a row that belongs to no other being one."""
    return int(group_numbers(group).max(initial=-1)) + 1


def joined_groups(group: IntArray) -> IntArray | None:
    """Groups of two rows and more by number, -1 for all other rows; None if there are no such groups."""
    numbers = group_numbers(group)
    several = np.bincount(numbers)[numbers] > 1
    return np.where(several, numbers, -1) if several.any() else None
