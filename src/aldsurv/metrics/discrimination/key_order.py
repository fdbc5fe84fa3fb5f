"""The order of many numbers, by sorting integers that carry their row: at most half the time of an `argsort`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.metrics.checked_arguments import FloatArray

__all__ = ["Flags", "Indices", "Keys", "changes", "float_keys", "key_order"]

Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Keys = NDArray[np.uint64]

# Fewer rows are sorted before it pays; of more, three numbers of a row have no room in 64 bits.
_FEWEST, _MOST = 1 << 12, 1 << 21


def float_keys(values: FloatArray) -> Keys:
    """Integers that are in the order of the floats, none of them NaN, and equal where these are."""
    bits = (values + 0.0).view(np.int64)  # -0.0 becomes 0.0
    # All bits of a negative float count downwards; of the others only the sign has to change.
    flips = bits >> 63
    flips |= np.int64(np.iinfo(np.int64).min)
    flips ^= bits
    return flips.view(np.uint64)


def key_order(keys: Keys) -> tuple[Indices, Flags]:
    """Rows in ascending order of their keys (n,), and where in this order a new key begins (n,).

    The lowest bits of a key make room for the row, and one sort of integers moves both. Where that makes keys
    equal, a second one, of the bits that were left out, puts these rows in order.
    """
    n = keys.size
    if not _FEWEST <= n <= _MOST:
        order = np.argsort(keys)
        return order, changes(keys[order])
    width = np.uint64((n - 1).bit_length())
    low = np.uint64((1 << int(width)) - 1)
    packed = keys & ~low
    packed |= np.arange(n, dtype=np.uint64)
    packed.sort()
    order = (packed & low).view(np.intp)
    packed >>= width
    new = changes(packed)
    if not new.all():
        _settle(order, new, keys & low, width)
    return order, new


def _settle(order: Indices, new: Flags, rest: Keys, width: np.uint64) -> None:
    """Put runs that agree so far in the order of the rest of their keys, in place."""
    inside = ~new
    inside[:-1] |= inside[1:]
    at = np.flatnonzero(inside)
    rows = order[at]
    left = rest[rows]
    if (left == left[0]).all():  # as of whole numbers, which are short
        return
    run = np.cumsum(new[at]).astype(np.uint64)
    packed = (run << width) | left
    packed <<= width
    packed |= rows.view(np.uint64)
    packed.sort()
    order[at] = (packed & np.uint64((1 << int(width)) - 1)).view(np.intp)
    packed >>= width
    new[at] = changes(packed)


def changes(ordered: NDArray[np.generic]) -> Flags:
    """Where a new value begins."""
    new = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new
