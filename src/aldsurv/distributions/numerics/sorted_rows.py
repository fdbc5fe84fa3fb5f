"""Searching and picking in sorted rows: what the families given by tables have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aldsurv.distributions.numerics.backend import Array, namespace

__all__ = ["count_below", "pick", "shared_or_mapped", "stacked"]


def count_below(rows: Array, values: Array, *, inclusive: bool) -> Array:
    """How many of each sorted row lie below each value: ``rows`` (1 or n, m), ``values`` (1 or n, k) → (…, k).

    ``inclusive`` counts equal ones too.
    """
    xp = namespace(rows)
    if rows.shape[0] == 1:
        side = "right" if inclusive else "left"
        flat = xp.searchsorted(rows[0, :], xp.reshape(values, (-1,)), side=side)
        return xp.reshape(flat, values.shape)
    n = rows.shape[0]
    # One comparison of a column with all the rest at a time, along the shorter axis: never (n, m, k) at once.
    if values.shape[1] <= rows.shape[1]:
        columns = []
        for k in range(values.shape[1]):
            value = values[:, k : k + 1]
            below = rows <= value if inclusive else rows < value
            columns.append(xp.sum(xp.astype(below, xp.int64), axis=1))
        return xp.stack(columns, axis=1) if columns else xp.zeros((n, 0), dtype=xp.int64)
    total = xp.zeros((n, values.shape[1]), dtype=xp.int64, device=rows.device)
    for j in range(rows.shape[1]):
        knot = rows[:, j : j + 1]
        total = total + xp.astype(knot <= values if inclusive else knot < values, xp.int64)
    return total


def pick(rows: Array, index: Array) -> Array:
    """``rows[i, index[i, k]]``, where either may have a single row that stands for all."""
    xp = namespace(rows)
    if rows.shape[0] == 1:
        return rows[0, :][index]
    if index.shape[0] != rows.shape[0]:
        index = xp.broadcast_to(index, (rows.shape[0], index.shape[1]))
    return xp.take_along_axis(rows, index, axis=1)


def shared_or_mapped(array: Array, change: Callable[[Array], Array]) -> Array:
    """``change(array)`` if it has a row for each individual; itself if one row stands for all."""
    return array if array.shape[0] == 1 else change(array)


def stacked(arrays: Sequence[Array], lengths: Sequence[int]) -> Array:
    """Rows of all arrays, of ``lengths`` individuals; one row for all stays so where it is the same everywhere."""
    xp = namespace(arrays[0])
    first = arrays[0]
    if all(array.shape == first.shape and array.shape[0] == 1 and bool(xp.all(array == first)) for array in arrays):
        return first
    rows = zip(arrays, lengths, strict=True)
    return xp.concat([xp.broadcast_to(array, (n, *array.shape[1:])) for array, n in rows], axis=0)
