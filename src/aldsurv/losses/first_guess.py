"""From where to look for the outputs that suit all rows best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.losses.log_times import LEAST_LOG_TIME

__all__ = ["ald_guess", "mixture_guess"]

_WEIGHT_REACH = 0.2


def ald_guess(times: Any, exp_theta: bool) -> tuple[Any, Any]:
    """Outputs of a symmetric ALD in the middle of the times, and their scales."""
    times = times[times > LEAST_LOG_TIME]
    middle = float(np.median(times)) if times.size else 1.0
    spread = max(float(np.mean(np.abs(times - middle))) if times.size else 1.0, 1e-3 * abs(middle), 1e-3)
    location = np.log(max(middle, spread)) if exp_theta else middle
    return np.array([location, np.log(spread), 0.0]), np.array([1.0 if exp_theta else spread, 1.0, 1.0])


def mixture_guess(layout: MixtureOutputs, times: Any, least: Any) -> tuple[Any, Any]:
    """Outputs of symmetric components at evenly spread quantiles of the times, and their scales."""
    k = layout.components
    times = times[times > LEAST_LOG_TIME]
    times = times if times.size else np.ones(1)
    middle = float(np.median(times))
    spread = max(float(np.mean(np.abs(times - middle))), 1e-3 * abs(middle), 1e-3)
    places = np.quantile(times, (np.arange(k) + 0.5) / k)
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
    start = [[middle, np.log(spread)], zeros, relative - layout.places, zeros + width - np.log(spread), zeros]
    return np.concatenate(start), np.concatenate([reach, [1.0], _WEIGHT_REACH * ones, np.ones(3 * k)])
