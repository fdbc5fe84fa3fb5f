"""Times at which a curve is computed: dense enough to be smooth, with both sides of its corners and jumps."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import to_device
from numpy.typing import ArrayLike, NDArray

from aldsurv.distributions import SurvivalDistribution
from aldsurv.distributions.numerics.backend import without_gradient
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

__all__ = ["FloatArray", "as_numpy", "curve_times"]

FloatArray = NDArray[np.float64]

_GRID = 401
# Levels of the quantiles that determine the last time; the last level is the share of events to show.
_LEVELS = np.linspace(0.02, 0.98, 49)
_LOWER, _UPPER = np.searchsorted(_LEVELS, [0.25, 0.75])
# A heavy tail is shown up to this many interquartile ranges above the upper quartile.
_FENCE = 4.0
# Levels where a curve may be too steep for an even grid, such as a density with a pole.
_EXTREMES = [1e-5, 1e-4, 1e-3, 1e-2, 0.99, 0.999]
# Distance of the times on both sides of a corner or jump, as a share of the axis: too small to see, and large
# enough that rounding cannot move the jump past it.
_BESIDE = 1e-6


def as_numpy(array: Any) -> FloatArray:
    """Values of an array of any backend and device."""
    return np.asarray(to_device(without_gradient(array), "cpu"), dtype=np.float64)


def curve_times(distribution: SurvivalDistribution, times: ArrayLike | None = None) -> list[FloatArray]:
    """Ascending times for each row.

    Parameters
    ----------
    distribution
        The rows.
    times
        Times to include; corners and jumps between them get a time on either side. None: from 0 to a finite time by
        which nearly all events of all rows have happened.
    """
    # A corner too far away for a float is not in the picture.
    with np.errstate(all="ignore"):
        corners = as_numpy(distribution.kinks())
    if times is not None:
        wanted = _checked(times)
        return [_with_corners(wanted, row) for row in corners]
    quantiles = as_numpy(distribution.quantile(_LEVELS))
    stop = max(_row_end(row, corner) for row, corner in zip(quantiles, corners, strict=True))
    # A distribution entirely below 0 is drawn where it is.
    start = 0.0 if stop > 0 else min(float(quantiles.min()), stop - 1)
    grid = np.linspace(start, stop, _GRID)
    dense = np.concatenate([quantiles, as_numpy(distribution.quantile(_EXTREMES))], axis=1)
    return [
        _with_corners(np.unique(np.append(grid, _between(more, start, stop))), row)
        for more, row in zip(dense, corners, strict=True)
    ]


def _checked(times: ArrayLike) -> FloatArray:
    try:
        distinct = np.unique(np.asarray(times, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"times must be numbers, but are {quoted(times, 60)}.", argument="times") from None
    if distinct.size < 2 or not np.isfinite(distinct).all():
        problem = f"times must be at least two different finite numbers, but are {quoted(times, 60)}."
        raise ParameterError(problem, argument="times")
    return distinct


def _row_end(quantiles: FloatArray, corners: FloatArray) -> float:
    finite = quantiles[np.isfinite(quantiles)]
    if finite.size == quantiles.size:
        lower, upper = quantiles[_LOWER], quantiles[_UPPER]
        last = min(finite[-1], upper + _FENCE * (upper - lower)) if upper > lower else finite[-1]
    else:
        # Some rows never have the event: the picture ends where the curves become constant.
        last = np.concatenate([finite, corners[np.isfinite(corners)]]).max(initial=0.0)
    return float(last + 0.04 * abs(last)) or 1.0


def _with_corners(times: FloatArray, corners: FloatArray) -> FloatArray:
    """Both sides of each corner in place of the corner, where a hazard may have either value or none."""
    start, stop = float(times[0]), float(times[-1])
    beside = _BESIDE * (stop - start)
    corners = np.unique(corners[(corners >= start) & (corners <= stop)])
    inner = times[1:-1]
    nearest = np.append(corners, np.inf)[np.searchsorted(corners, inner - beside)]
    sides = _between(np.concatenate([corners - beside, corners + beside]), start, stop)
    return np.unique(np.concatenate([[start, stop], inner[nearest > inner + beside], sides]))


def _between(values: FloatArray, start: float, stop: float) -> FloatArray:
    return values[(values > start) & (values < stop)]
