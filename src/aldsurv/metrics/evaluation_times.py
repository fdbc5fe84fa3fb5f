"""Times at which metrics look: checked, chosen from the data, and the mean predicted survival at them."""

from __future__ import annotations

from typing import Any

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.checked_arguments import FloatArray, as_numbers

__all__ = ["checked_time", "checked_times", "event_quantiles", "mean_survival", "training_range", "weighted_quantiles"]

# Survival probabilities held at once: few enough for the cache, whatever the number of rows and times.
_BLOCK_VALUES = 1 << 16


def checked_time(time: Any, name: str = "time") -> float:
    """A time at which a metric looks: one positive, finite number."""
    if isinstance(time, bool) or not isinstance(time, (int, float, np.number)) or not 0 < time < np.inf:
        raise ParameterError(f"{name} must be one positive, finite number, but is {time!r:.60}.")
    return float(time)


def checked_times(times: Any) -> FloatArray:
    """Times at which a metric looks: one or more finite numbers, in any order."""
    try:
        asked = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"times must be numbers, but {times!r:.60} was given.") from None
    if asked.ndim != 1 or asked.size == 0 or not np.isfinite(asked).all():
        raise ParameterError(f"times must be a vector of one or more finite numbers, but {times!r:.60} was given.")
    return asked


def event_quantiles(data: SurvivalData, shares: list[float]) -> FloatArray:
    """Times by which these shares of the events have come, each that of a row; without an event, of all rows."""
    counted = data.weights > 0
    counted = counted & data.event if (counted & data.event).any() else counted
    if not counted.any():
        raise ParameterError("data must have a row of positive weight to choose times from, but have none. Give times.")
    found = np.quantile(data.time[counted], shares, weights=data.weights[counted], method="inverted_cdf")
    return np.asarray(found, dtype=np.float64)


def training_range(train: SurvivalData) -> tuple[float, float]:
    """The 0.1 and the 0.9 quantile of the training times: from where to where scores look unless they are told."""
    counted = train.weights > 0
    first, last = weighted_quantiles(train.time[counted], [0.1, 0.9], train.weights[counted])
    return float(first), float(last)


def weighted_quantiles(values: FloatArray, shares: list[float], weights: FloatArray) -> FloatArray:
    """Quantiles of `values` (n,), of which each counts as many times as its positive weight says.

    Weights that are whole numbers give the same as rows repeated so often, linear between two values as by default in
    numpy. Others are no numbers of rows: then a quantile is the first value by which its share of the weight has come,
    whatever the unit of the weights. Equal weights of such a kind count as one each.
    """
    if (weights == weights[0]).all() and not weights[0].is_integer():
        weights = np.ones_like(weights)
    if (weights != np.floor(weights)).any():
        return np.asarray(np.quantile(values, shares, weights=weights, method="inverted_cdf"), dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    place = np.asarray(shares) * (ends[-1] - 1)
    below = np.floor(place)
    low, high = (
        values[order[np.minimum(np.searchsorted(ends, index, side="right"), ends.size - 1)]]
        for index in (below, below + 1)
    )
    part = place - below
    # From the nearer end, as numpy does it: the same digits.
    return np.asarray(np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part)))


def mean_survival(predicted: SurvivalDistribution, weights: FloatArray, times: FloatArray) -> FloatArray:
    """Weighted mean over the rows of the predicted survival at `times` (m,)."""
    total = np.zeros(times.shape)
    step = max(1, _BLOCK_VALUES // max(1, times.size))
    for start in range(0, len(predicted), step):
        rows = slice(start, start + step)
        total += weights[rows] @ as_numbers(predicted[rows].survival(times))
    return np.asarray(total / weights.sum())
