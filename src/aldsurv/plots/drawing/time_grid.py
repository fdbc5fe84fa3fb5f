"""Times at which a curve is computed so that it looks as it is: smooth, with its corners and its jumps."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import to_device
from numpy.typing import NDArray

from aldsurv.distributions import SurvivalDistribution
from aldsurv.distributions.numerics.backend import without_gradient
from aldsurv.errors import ParameterError

__all__ = ["FloatArray", "as_numpy", "curve_times"]

FloatArray = NDArray[np.float64]

_GRID = 401
# Levels of the quantiles that say how far time should go; the last is the share of events to show.
_LEVELS = np.linspace(0.02, 0.98, 49)
_LOWER, _UPPER = np.searchsorted(_LEVELS, [0.25, 0.75])
# How many interquartile ranges above the upper quartile a heavy tail is followed.
_FENCE = 4.0
# Where a curve may be too steep for an even grid: a density or hazard that comes down from infinity, say.
_EXTREMES = [1e-5, 1e-4, 1e-3, 1e-2, 0.99, 0.999]
# Distance at which a curve is computed on both sides of a corner or jump, as a share of the picture: too
# small to see, and large enough that rounding cannot move the jump past it.
_BESIDE = 1e-6


def as_numpy(array: Any) -> FloatArray:
    """Values of an array of any backend and device."""
    return np.asarray(to_device(without_gradient(array), "cpu"), dtype=np.float64)


def curve_times(distribution: SurvivalDistribution, times: Any = None) -> list[FloatArray]:
    """Ascending times for each row.

    Parameters
    ----------
    distribution
        Its rows.
    times
        Times that are wanted; corners and jumps between them get a time on either side. None: from 0 to where
        nearly all events of all rows have happened, and never to infinity.
    """
    # A corner too far away for a float is none in this picture.
    with np.errstate(all="ignore"):
        corners = as_numpy(distribution.kinks())
    if times is not None:
        wanted = _checked(times)
        return [_with_corners(wanted, row) for row in corners]
    quantiles = as_numpy(distribution.quantile(_LEVELS))
    stop = max(_row_end(row, corner) for row, corner in zip(quantiles, corners, strict=True))
    # All probability below 0 is no sensible prediction, but should be seen as what it is.
    start = 0.0 if stop > 0 else min(float(quantiles.min()), stop - 1)
    grid = np.linspace(start, stop, _GRID)
    dense = np.concatenate([quantiles, as_numpy(distribution.quantile(_EXTREMES))], axis=1)
    return [
        _with_corners(np.unique(np.append(grid, _between(more, start, stop))), row)
        for more, row in zip(dense, corners, strict=True)
    ]


def _checked(times: Any) -> FloatArray:
    try:
        found = np.unique(np.asarray(times, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"times must be numbers, but are {times!r:.60}.") from None
    if found.size < 2 or not np.isfinite(found).all():
        raise ParameterError(f"times must be at least two different finite numbers, but are {times!r:.60}.")
    return found


def _row_end(quantiles: FloatArray, corners: FloatArray) -> float:
    finite = quantiles[np.isfinite(quantiles)]
    if finite.size == quantiles.size:
        lower, upper = quantiles[_LOWER], quantiles[_UPPER]
        last = min(finite[-1], upper + _FENCE * (upper - lower)) if upper > lower else finite[-1]
    else:
        # Some never have the event: the picture goes on until nothing more happens.
        last = np.concatenate([finite, corners[np.isfinite(corners)]]).max(initial=0.0)
    return float(last + 0.04 * abs(last)) or 1.0


def _with_corners(times: FloatArray, corners: FloatArray) -> FloatArray:
    """Both sides of each corner in place of the corner itself, where a hazard may have either value or none."""
    start, stop = float(times[0]), float(times[-1])
    beside = _BESIDE * (stop - start)
    corners = np.unique(corners[(corners >= start) & (corners <= stop)])
    inner = times[1:-1]
    nearest = np.append(corners, np.inf)[np.searchsorted(corners, inner - beside)]
    sides = _between(np.concatenate([corners - beside, corners + beside]), start, stop)
    return np.unique(np.concatenate([[start, stop], inner[nearest > inner + beside], sides]))


def _between(values: FloatArray, start: float, stop: float) -> FloatArray:
    return values[(values > start) & (values < stop)]
