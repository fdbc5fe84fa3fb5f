"""The point of least loss, found by steps on which last digits have no say.

scipy's L-BFGS-B multiplies what rounding has changed: after some dozen steps on a mixture's likelihood, which has
several optima and a jump of its slope at every event, another processor or unit of time can end in another optimum.
Here every point looked at is a multiple of a small step, and so is every loss and slope that is seen there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aldsurv.losses.rounding import on_grid

__all__ = ["least_point"]

FloatArray = NDArray[np.float64]
Function: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]

# Of points, losses and slopes: far below what a search can still gain.
_POINT_STEP, _LOSS_STEP, _SLOPE_STEP = 2.0**-30, 2.0**-34, 2.0**-28
# It ends when the loss falls by less than the first, or no slope is above the second.
_LEAST_FALL, _LEAST_SLOPE = 2e-9, 1e-5
# Steps of which the curvature is remembered, and trials for the length of each step.
_REMEMBERED, _TRIALS = 10, 30
# Share of the fall that the slope promises which a step must bring, and of the slope which it may leave.
_FALL, _LEFT = 1e-4, 0.9


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

    def seen(point: FloatArray) -> tuple[float, FloatArray]:
        loss, slopes = loss_and_slopes(point)
        return float(on_grid(loss, _LOSS_STEP)), on_grid(slopes, _SLOPE_STEP)

    point = np.zeros(size)
    loss, slopes = seen(point)
    pairs: list[tuple[FloatArray, FloatArray]] = []
    for _ in range(steps):
        free = ~((np.abs(point) >= farthest) & (point * slopes < 0))
        if not np.isfinite(loss) or (np.abs(slopes[free]) <= _LEAST_SLOPE).all():
            break
        direction = np.where(free, _direction(slopes, pairs), 0.0)
        if (direction * slopes).sum() >= 0:
            pairs, direction = [], np.where(free, -slopes, 0.0)
        first = 1.0 if pairs else min(1.0, 1 / float(np.sqrt((direction**2).sum())))
        found = _along(seen, point, loss, slopes, direction, first, farthest)
        if found is None:
            break
        new, new_loss, new_slopes = found
        step, change = new - point, new_slopes - slopes
        fall = loss - new_loss
        point, loss, slopes = new, new_loss, new_slopes
        if fall <= _LEAST_FALL * max(abs(loss), 1.0):
            break
        if (step * change).sum() > 1e-10 * (change**2).sum():
            pairs = [*pairs[-_REMEMBERED + 1 :], (step, change)]
    return point


def _direction(slopes: FloatArray, pairs: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Where L-BFGS goes, from the steps remembered and the changes of the slopes along them."""
    q: FloatArray = slopes.copy()
    shares = []
    for step, change in reversed(pairs):
        share = (step * q).sum() / (step * change).sum()
        q -= share * change
        shares.append(share)
    if pairs:
        step, change = pairs[-1]
        q *= (step * change).sum() / (change**2).sum()
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        q += (share - (change * q).sum() / (step * change).sum()) * step
    return np.negative(q)


def _along(
    seen: Function,
    point: FloatArray,
    loss: float,
    slopes: FloatArray,
    direction: FloatArray,
    length: float,
    farthest: float,
) -> tuple[FloatArray, float, FloatArray] | None:
    """A point along the direction with its loss and slopes; None if none is lower."""
    slope = float((direction * slopes).sum())
    shortest, longest, lower = 0.0, np.inf, None
    for _ in range(_TRIALS):
        new = on_grid(np.clip(point + length * direction, -farthest, farthest), _POINT_STEP)
        new_loss, new_slopes = seen(new)
        if not (new_loss <= loss + _FALL * length * slope and np.isfinite(new_slopes).all()):
            longest = length
        elif (new_slopes * direction).sum() < _LEFT * slope and not (np.abs(new) >= farthest).any():
            shortest, lower = length, (new, new_loss, new_slopes)
        else:
            return new, new_loss, new_slopes
        length = (shortest + longest) / 2 if longest < np.inf else 2 * length
    return lower
