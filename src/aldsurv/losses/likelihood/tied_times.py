"""How finely times are resolved: what a component of a mixture must not be narrower than."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.losses.rounding import rounded

__all__ = ["least_component_scale"]

# Ties of a smaller share of the events gain a spike too little to be worth one.
_NOTABLE_SHARE = 0.01
# The scale stays between these shares of the spread of the times.
_LEAST_SHARE, _LARGEST_SHARE = 0.02, 0.5
# Binary digits of the scale: those behind depend on the unit of time.
_DIGITS = 24


def least_component_scale(times: NDArray[np.float64]) -> float:
    """Smallest scale of a component that does not let it stand on a single repeated time.

    The density of a mixture can grow without bound where several events have the very same time, for they were rounded.
    Around such a time others are as many as those tied there only within some distance, for rounded times the step of
    rounding; the largest such distance is returned, within limits set by the spread of all times.

    Parameters
    ----------
    times
        Times (or their logarithms) of the events.

    Examples
    --------
    >>> least_component_scale(np.repeat(np.arange(1.0, 41.0), 5))
    1.0
    """
    times = np.sort(np.asarray(times, np.float64))
    times = times[np.isfinite(times)]
    if times.size < 2:
        return _LEAST_SHARE
    spread = float(np.mean(np.abs(times - np.median(times))))
    values, counts = np.unique(times, return_counts=True)
    found = 0.0
    notable = counts >= max(2, _NOTABLE_SHARE * times.size)
    for value, count in zip(values[notable], counts[notable], strict=True):
        # The nearest `count` others are among as many on either side.
        first, last = np.searchsorted(times, value, "left"), np.searchsorted(times, value, "right")
        near = np.concatenate([times[max(0, first - count) : first], times[last : last + count]])
        if near.size:
            distance = np.sort(np.abs(near - value))
            found = max(found, float(distance[min(count, near.size) - 1]))
    scale = float(np.clip(found, _LEAST_SHARE * spread, _LARGEST_SHARE * spread))
    return float(rounded(scale, _DIGITS)) if scale > 0 else _LEAST_SHARE
