"""Random parts of rows, the same for everything that holds rows out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

__all__ = ["keep_together", "split_rows"]


def split_rows(
    stratum: NDArray[np.bool_] | None,
    n: int,
    test: float,
    random_state: int | np.random.Generator | None,
    groups: NDArray[np.int64] | None = None,
    *,
    by_lot: bool = False,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers of a random training and test part, each in ascending order.

    Parameters
    ----------
    stratum
        A bool for each row whose share is kept in both parts to within one row; None: as it falls.
    n
        Number of rows.
    test
        Share of the rows in the test part, which has ``round(test * n)`` of them.
    random_state
        Seed or generator.
    groups
        A number for each row (n,); rows with the same one from 0 on stay on one side. None: none need to.
    by_lot
        As in `keep_together`.
    """
    if not (isinstance(test, (float, np.floating)) and 0 < test < 1):
        raise ParameterError(f"test must be a share between 0 and 1, but is {quoted(test)}.", argument="test")
    n_test = round(float(test) * n)
    if not 0 < n_test < n:
        raise ParameterError(
            f"test={test!r} of {n} rows leaves {n_test} for the test part and {n - n_test} for training",
            argument="test",
            advice="Choose a share that leaves both some rows.",
        )
    try:
        generator = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state must be an integer from 0, a numpy Generator or None, but is {quoted(random_state)}.",
            argument="random_state",
        ) from None
    shuffled = generator.permutation(n)
    in_test = np.zeros(n, np.bool_)
    if stratum is None:
        in_test[shuffled[:n_test]] = True
    else:
        inside = stratum[shuffled]
        n_inside = round(n_test * int(inside.sum()) / n)
        in_test[shuffled[inside][:n_inside]] = True
        in_test[shuffled[~inside][: n_test - n_inside]] = True
    if groups is not None:
        in_test = keep_together(in_test.astype(np.int64), groups, stratum, shuffled, by_lot=by_lot) > 0
        if in_test.all() or not in_test.any():
            raise ParameterError(
                f"all {n} rows are of one group, which stays on one side",
                argument="group",
                advice="Give two groups or more, or none.",
            )
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def keep_together(
    parts: NDArray[np.int64],
    groups: NDArray[np.int64] | None,
    stratum: NDArray[np.bool_] | None,
    order: NDArray[np.int64],
    *,
    by_lot: bool = False,
) -> NDArray[np.int64]:
    """The number of each row's part (n,), changed as little as it takes to have each group in one part.

    A group goes where most of its rows were if it fits there, else where there is most room; single rows change places
    with those that moved, so that every part keeps its size, and its share of a stratum, unless a group is too large
    for that. A part is left empty only where there are fewer groups and single rows than parts. Without groups nothing
    changes.

    Parameters
    ----------
    parts
        The number of each row's part (n,) before.
    groups
        A number for each row (n,): from 0 on for those that belong together, -1 for a row without a group. None: no
        groups.
    stratum
        A bool for each row whose share in each part is kept. None: as it falls.
    order
        All rows in the random order that decides which single rows change places.
    by_lot
        A group goes where the first of its rows was. Most rows of a large group are in the largest part: without lots,
        a small part would have only groups of few rows.
    """
    if groups is None or not (groups >= 0).any():
        return parts
    moved: NDArray[np.int64] = parts.copy()
    n_parts = int(parts.max()) + 1
    inside = np.zeros(len(parts), np.int64) if stratum is None else stratum.astype(np.int64)
    # How many more rows of each stratum each part takes; groups first, as single rows fit everywhere.
    room = np.zeros((n_parts, 2), np.int64)
    np.add.at(room, (parts, inside), 1)
    total = np.maximum(room.sum(axis=0), 1)
    together = _groups_by_size(groups, order)
    for members in together:
        size = np.bincount(inside[members], minlength=2)
        chosen = _part_for(parts[[members.min()]] if by_lot else parts[members], size, room, total)
        moved[members] = chosen
        room[chosen] -= size
    for value in (0, 1):
        rows = order[(inside[order] == value) & (groups[order] < 0)]
        left = room[:, value].tolist()
        leaving = []
        for part in range(n_parts):
            stay = rows[parts[rows] == part]
            kept = max(min(len(stay), left[part]), 0)
            leaving.append(stay[kept:])
            left[part] -= kept
        for row in np.concatenate(leaving):
            chosen = left.index(max(left))
            moved[row] = chosen
            left[chosen] -= 1
    return _without_empty_parts(moved, np.bincount(parts, minlength=n_parts), together, order[groups[order] < 0])


def _part_for(
    before: NDArray[np.int64], size: NDArray[np.int64], room: NDArray[np.int64], total: NDArray[np.int64]
) -> int:
    """The part in which most of some rows of a group were, if it fits there; else the one with most room for it."""
    counts = np.bincount(before, minlength=len(room))
    counts[((room < size) & (size > 0)).any(axis=1)] = 0
    if counts.any():
        return int(np.argmax(counts))
    # What is left of the room, squared and relative to the rows of the stratum, becomes least.
    return int(np.argmax((room * (size / total)).sum(axis=1)))


def _without_empty_parts(
    parts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    together: list[NDArray[np.int64]],
    single: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Give each part that has lost all its rows a group, or a single row, of a part that has others left."""
    counts = np.bincount(parts, minlength=len(sizes))
    empty = np.flatnonzero((counts == 0) & (sizes > 0))
    if not empty.size:
        return parts
    units = [*together, *(single[k : k + 1] for k in range(len(single)))]
    held = np.bincount([parts[unit[0]] for unit in units], minlength=len(sizes))
    for part in empty:
        movable = [unit for unit in units if held[parts[unit[0]]] > 1]
        if not movable:
            break
        unit = min(movable, key=lambda unit: abs(len(unit) - int(sizes[part])))
        held[parts[unit[0]]] -= 1
        parts[unit] = part
        held[part] += 1
    return parts


def _groups_by_size(groups: NDArray[np.int64], rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The rows of each group among `rows`, the largest group first, those of one size in the order of `rows`."""
    inside = rows[groups[rows] >= 0]
    if not inside.size:
        return []
    _, first, number, sizes = np.unique(groups[inside], return_index=True, return_inverse=True, return_counts=True)
    members = np.split(inside[np.argsort(number, kind="stable")], np.cumsum(sizes)[:-1])
    return [members[k] for k in np.lexsort((first, -sizes))]
