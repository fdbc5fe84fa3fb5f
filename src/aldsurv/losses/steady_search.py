"""The point of least loss, found by steps on which last digits have no say.

scipy's L-BFGS-B multiplies what rounding has changed: after some dozen steps on a mixture's likelihood, which has
several optima and a jump of its slope at every event, another processor or unit of time can end in another optimum.
Here every point looked at is a multiple of a small step, and so is every loss and slope that is seen there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.losses.rounding import on_grid

__all__ = ["least_point", "least_points"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Function: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]
Functions: TypeAlias = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]
Found = TypeVar("Found")
# Gives points, is sent the loss and the slopes there, and returns what it was looking for.
Search: TypeAlias = Generator[FloatArray, tuple[float, FloatArray], Found]

# Of points, losses and slopes: far below what a search can still gain.
_POINT_STEP, _LOSS_STEP, _SLOPE_STEP = 2.0**-30, 2.0**-34, 2.0**-28
# It ends when the loss falls by less than the first, or no slope is above the second.
_LEAST_FALL, _LEAST_SLOPE = 2e-9, 1e-5
# Steps of which the curvature is remembered, and trials for the length of each step.
_REMEMBERED, _TRIALS = 10, 30
# Share of the fall that the slope promises which a step must bring, and of the slope which it may leave.
_FALL, _LEFT = 1e-4, 0.9


class _Pair(NamedTuple):
    """A step, how it changed the slopes, and the product of the two."""

    step: FloatArray
    change: FloatArray
    curvature: float


def least_point(loss_and_slopes: Function, size: int, *, farthest: float, steps: int) -> FloatArray:
    """The point (size,) of least loss, by L-BFGS from 0 with a search along each step that jumps do not mislead.

    The search along a step halves an interval until the weak conditions of Wolfe hold (Lewis & Overton 2013).

    Parameters
    ----------
    loss_and_slopes
        Of a point, a mean loss and its slopes (size,).
    size
        How many numbers the point has.
    farthest
        What no number of it is beyond, in absolute value.
    steps
        How many at most.
    """

    def of_one(_: IntArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        loss, slopes = loss_and_slopes(points[0])
        return np.array([loss]), np.asarray(slopes)[None]

    return np.asarray(least_points(of_one, 1, size, farthest=farthest, steps=steps)[0])


def least_points(losses_and_slopes: Functions, count: int, size: int, *, farthest: float, steps: int) -> FloatArray:
    """The points (count, size) of least loss of several functions, which are evaluated together.

    Parameters
    ----------
    losses_and_slopes
        Of the numbers (k,) of some of the functions and a point (k, size) of each, their losses (k,) and slopes
        (k, size).
    count
        How many functions there are.
    size, farthest, steps
        As for `least_point`.
    """
    searches = [_search(size, farthest, steps) for _ in range(count)]
    points, found = {k: next(search) for k, search in enumerate(searches)}, np.zeros((count, size))
    while points:
        which = np.array(list(points))
        losses, slopes = losses_and_slopes(which, np.stack(list(points.values())))
        losses, slopes = on_grid(losses, _LOSS_STEP), on_grid(slopes, _SLOPE_STEP)
        answers = zip(which.tolist(), losses.tolist(), slopes, strict=True)
        asked = {k: _next_point(searches[k], (loss, own), found[k]) for k, loss, own in answers}
        points = {k: point for k, point in asked.items() if point is not None}
    return found


def _next_point(search: Search[FloatArray], answer: tuple[float, FloatArray], best: FloatArray) -> FloatArray | None:
    """The point that a search asks for next; None if it has ended, with what it returns in `best`."""
    try:
        return search.send(answer)
    except StopIteration as end:
        best[:] = end.value
        return None


def _search(size: int, farthest: float, steps: int) -> Search[FloatArray]:
    """Asks for loss and slopes at one point after the other, and returns that of least loss."""
    point = np.zeros(size)
    loss, slopes = yield point
    pairs: list[_Pair] = []
    for _ in range(steps):
        free = ~((np.abs(point) >= farthest) & (point * slopes < 0))
        if not np.isfinite(loss) or (np.abs(slopes[free]) <= _LEAST_SLOPE).all():
            break
        direction = np.where(free, _direction(slopes, pairs), 0.0)
        if (direction * slopes).sum() >= 0:
            pairs, direction = [], np.where(free, -slopes, 0.0)
        first = 1.0 if pairs else min(1.0, 1 / float(np.sqrt((direction**2).sum())))
        lower = yield from _along(point, loss, slopes, direction, first, farthest)
        if lower is None:
            break
        new, new_loss, new_slopes = lower
        step, change = new - point, new_slopes - slopes
        fall = loss - new_loss
        point, loss, slopes = new, new_loss, new_slopes
        if fall <= _LEAST_FALL * max(abs(loss), 1.0):
            break
        curvature = (step * change).sum()
        if curvature > 1e-10 * (change**2).sum():
            pairs = [*pairs[-_REMEMBERED + 1 :], _Pair(step, change, curvature)]
    return point


def _direction(slopes: FloatArray, pairs: list[_Pair]) -> FloatArray:
    """Where L-BFGS goes, from the steps remembered and the changes of the slopes along them."""
    q: FloatArray = slopes.copy()
    shares = []
    for step, change, curvature in reversed(pairs):
        share = (step * q).sum() / curvature
        q -= share * change
        shares.append(share)
    if pairs:
        last = pairs[-1]
        q *= last.curvature / (last.change**2).sum()
    for (step, change, curvature), share in zip(pairs, reversed(shares), strict=True):
        q += (share - (change * q).sum() / curvature) * step
    return np.negative(q)


def _along(
    point: FloatArray, loss: float, slopes: FloatArray, direction: FloatArray, length: float, farthest: float
) -> Search[tuple[FloatArray, float, FloatArray] | None]:
    """A point along the direction with its loss and slopes; None if none is lower."""
    slope = float((direction * slopes).sum())
    shortest, longest, lower = 0.0, np.inf, None
    for _ in range(_TRIALS):
        new = on_grid(np.clip(point + length * direction, -farthest, farthest), _POINT_STEP)
        new_loss, new_slopes = yield new
        if not (new_loss <= loss + _FALL * length * slope and np.isfinite(new_slopes).all()):
            longest = length
        elif (new_slopes * direction).sum() < _LEFT * slope and not (np.abs(new) >= farthest).any():
            shortest, lower = length, (new, new_loss, new_slopes)
        else:
            return new, new_loss, new_slopes
        length = (shortest + longest) / 2 if longest < np.inf else 2 * length
    return lower
