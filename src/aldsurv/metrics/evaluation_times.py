"""Times at which metrics look: checked, chosen from the data, and the mean predicted survival at them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.checked_arguments import FloatArray, as_numbers
from aldsurv.metrics.row_blocks import row_blocks
from aldsurv.quoting import quoted

__all__ = ["checked_time", "checked_times", "event_quantiles", "mean_survival", "training_range", "weighted_quantiles"]


def checked_time(time: float, name: str = "time") -> float:
    """A time at which a metric looks: one positive, finite number."""
    check(name, time, Number(0, above=True))
    return float(time)


def checked_times(times: ArrayLike) -> FloatArray:
    """Times at which a metric looks: one or more finite numbers, in any order."""
    try:
        vector = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"times must be numbers, but {quoted(times, 60)} was given.", argument="times") from None
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise ParameterError(
            f"times must be a vector of one or more finite numbers, but {quoted(times, 60)} was given.",
            argument="times",
        )
    return vector


def event_quantiles(data: SurvivalData, shares: list[float]) -> FloatArray:
    """Times by which these shares of the events have come, each that of a row; without an event, of all rows."""
    counted = data.weights > 0
    counted = counted & data.event if (counted & data.event).any() else counted
    if not counted.any():
        raise ParameterError(
            "data must have a row of positive weight to choose times from, but have none.",
            argument="data",
            advice="Give times.",
        )
    quantiles = np.quantile(data.time[counted], shares, weights=data.weights[counted], method="inverted_cdf")
    return np.asarray(quantiles, dtype=np.float64)


def training_range(train: SurvivalData) -> tuple[float, float]:
    """The 0.1 and the 0.9 quantile of the training times: the default range of scores over time."""
    counted = train.weights > 0
    first, last = weighted_quantiles(train.time[counted], [0.1, 0.9], train.weights[counted])
    return float(first), float(last)


def weighted_quantiles(values: FloatArray, shares: list[float], weights: FloatArray) -> FloatArray:
    """Quantiles of `values` (n,), of which each counts as many times as its positive weight says.

    Weights that are whole numbers give the same as rows repeated so often, linear between two values as by default in
    numpy. With other weights a quantile is the first value by which its share of the weight has come, whatever the unit
    of the weights. Equal weights that are not whole numbers count as one each.
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
    for rows in row_blocks(len(predicted), times.size):
        total += weights[rows] @ as_numbers(predicted[rows].survival(times))
    return np.asarray(total / weights.sum())
