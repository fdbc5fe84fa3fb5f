"""Quantiles of mixtures of asymmetric Laplace distributions, nearly: where an exact search begins.

One exponential a component and step gives survival, cdf and density at once. That loses digits where components are
extreme, which the exact search after it makes good.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.numerics.log_space import log1mexp
from aldsurv.distributions.numerics.squared_areas import Curves

__all__ = ["near_quantiles"]

FloatArray = NDArray[np.float64]
_MOST_STEPS = 40
_NEAR_ENOUGH = 1e-13
_LOG_HALF = math.log(0.5)


def near_quantiles(survivals: Curves, log_survival: FloatArray) -> FloatArray:
    """Times (n, m) (log times, for support log) at which the mixture's log survival is about `log_survival` (n, m).

    Parameters
    ----------
    survivals
        The components' survivals, as `aldsurv.distributions.numerics.squared_areas.falling` gives them.
    log_survival
        Numbers (n, m) below 0.
    """
    n, m = log_survival.shape
    # One row a quantile, one column a component; the columns of an individual are repeated for each of its levels.
    names = ("place", "far", "near", "reach", "mass", "weight")
    columns = np.stack([np.repeat(getattr(survivals, name), m, axis=0) for name in names])
    columns[0] *= -1
    log_s = log_survival.reshape(n * m, 1)
    with np.errstate(all="ignore"):
        late = log_s < _LOG_HALF
        target = np.where(late, log_s, log1mexp(log_s))
        low, start, high = _between(columns, log_s)
        return _search(columns, late, target, low, start, high).reshape(n, m)


def _between(columns: FloatArray, log_s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """First, mean and last quantile of the components."""
    place, left, right, below, above, weight = columns
    survival = np.exp(log_s)
    after = survival < above
    # Before the place, survival is above + below·(1 - e^((t-place)/left)).
    fallen = np.where(after, 0.5, np.maximum((above + below - survival) / below, 1e-300))
    times = place + np.where(after, right * (np.log(above) - log_s), left * np.log(fallen))
    low = np.min(np.where(weight > 0, times, np.inf), axis=1, keepdims=True)
    high = np.max(np.where(weight > 0, times, -np.inf), axis=1, keepdims=True)
    mean = np.sum(weight * np.where(weight > 0, times, 0.0), axis=1, keepdims=True)
    return low, np.clip(mean, low, high), high


def _search(
    columns: FloatArray,
    late: NDArray[np.bool_],
    target: FloatArray,
    low: FloatArray,
    times: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """Newton steps on log S for late times and on log F for early ones, within a bracket."""
    found: FloatArray = times.copy()
    rows, going = np.arange(len(times)), np.ones_like(late)
    for _ in range(_MOST_STEPS):
        survival, cdf, density = _values(columns, times)
        tail = np.where(late, survival, cdf)
        value = np.log(tail) - target
        before = np.where(late, value > 0, value < 0)
        low, high = np.where(before, times, low), np.where(before, high, times)
        newton = times + np.where(late, value, -value) * tail / density
        good = (newton >= low) & (newton <= high)
        following = np.where(good, newton, low + (high - low) / 2)
        near = np.abs(following - times) <= _NEAR_ENOUGH * (np.abs(times) + (high - low))
        # One that has arrived stays where it is, however long the others take.
        times = np.where(going, following, times)
        found[rows] = times
        going = going & ~near
        if not going.any():
            break
        if going.mean() < 0.5:
            still = going[:, 0]
            rows, columns = rows[still], columns[:, still]
            late, going = late[still], going[still]
            target, low, times, high = (column[still] for column in (target, low, times, high))
    return found


def _values(columns: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Survival, cdf and density of the mixtures at one time each."""
    place, left, right, below, above, weight = columns
    z = times - place
    early = z < 0
    decay = np.exp(z / np.where(early, left, -right))
    part = weight * np.where(early, below, above) * decay
    density = part / np.where(early, left, right)
    gone = np.sum(np.where(early, part, weight - part), axis=1, keepdims=True)
    left_over = np.sum(np.where(early, weight * (above + below) - part, part), axis=1, keepdims=True)
    # Of positive times, the cdf is what survival leaves: there, the constant that was cut off is not in `part`.
    floor = np.sum(np.where(early, weight * (above + below - 1), 0.0), axis=1, keepdims=True)
    return left_over, gone - floor, np.sum(density, axis=1, keepdims=True)
