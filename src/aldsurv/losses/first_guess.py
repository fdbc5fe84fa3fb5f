"""From where to look for the outputs that suit all rows best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import LEAST_LOG_TIME
from aldsurv.losses.rounding import beside_the_times, rounded

__all__ = ["ald_guess", "mixture_guess"]

_WEIGHT_REACH = 0.2
# Binary digits of a spread that is only where to begin.
_DIGITS = 12
# Of shares of the weight, so that a half is a half in whatever order it was added up.
_SHARE_DIGITS = 32


def ald_guess(times: Any, exp_theta: bool, weight: Any = None) -> tuple[Any, Any]:
    """Outputs of a symmetric ALD in the middle of the times, and their scales."""
    middle, spread, _ = _middle_and_spread(times, weight, np.array([0.5]))
    location = np.log(max(middle, spread)) if exp_theta else middle
    return np.array([location, np.log(spread), 0.0]), np.array([1.0 if exp_theta else spread, 1.0, 1.0])


def mixture_guess(layout: MixtureOutputs, times: Any, least: Any, weight: Any = None) -> tuple[Any, Any]:
    """Outputs of symmetric components at evenly spread quantiles of the times, and their scales."""
    k = layout.components
    middle, spread, places = _middle_and_spread(times, weight, (np.arange(k) + 0.5) / k)
    reach = np.ones(1)
    if layout.exp_theta:
        middle, places = np.log(max(middle, spread)), np.log(np.maximum(places, spread / 10))
    else:
        reach = np.full(1, spread)
    width = np.log(max(spread / math.sqrt(k) - float(np.max(least)), spread / 10))
    zeros, ones = np.zeros(k), np.ones(k)
    # Log weights may move little, so that every component still has rows of its own when training begins.
    if not layout.tied:
        start = [places - layout.places, zeros + width, zeros, zeros]
        return np.concatenate(start), np.concatenate([np.repeat(reach, k), ones, ones, _WEIGHT_REACH * ones])
    relative = (places - middle) / (1.0 if layout.exp_theta else spread)
    shared = [middle, np.log(spread), 0.0][: layout.shared]
    start = [shared, zeros, relative - layout.places, zeros + width - np.log(spread), zeros]
    return np.concatenate(start), np.concatenate(
        [reach, np.ones(layout.shared - 1), _WEIGHT_REACH * ones, np.ones(3 * k)]
    )


def _middle_and_spread(times: Any, weight: Any, levels: Any) -> tuple[float, float, Any]:
    """Median, mean distance to it and quantiles of the times that have a say, to a few digits."""
    weight = np.ones(len(times)) if weight is None else weight
    counting = (times > LEAST_LOG_TIME) & (weight > 0)
    times, weight = (times[counting], weight[counting]) if counting.any() else (np.ones(1), np.ones(1))
    order = np.argsort(times, kind="stable")
    times, weight = times[order], weight[order] / weight.sum()
    # A row of weight 2 is two rows: at a level is the first time by which that share of the weight has come.
    reached = np.searchsorted(rounded(np.cumsum(weight), _SHARE_DIGITS), [0.5, *levels])
    middle, *places = times[np.minimum(reached, len(times) - 1)]
    spread = max(float((weight * np.abs(times - middle)).sum()), 1e-3 * abs(middle), 1e-3)
    return float(beside_the_times(middle)), float(rounded(spread, _DIGITS)), beside_the_times(np.array(places))
