"""Coverage and width of prediction intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.metrics.checked_arguments import FloatArray, as_numbers, matched_data, undefined

__all__ = ["IntervalCoverage", "interval_coverage"]


class IntervalCoverage(NamedTuple):
    """Share of the events in their interval, its least and largest possible value, and the width of the intervals."""

    coverage: float
    lower: float
    upper: float
    mean_width: float
    median_width: float


def interval_coverage(predicted: SurvivalDistribution, data: SurvivalData, *, level: float = 0.8) -> IntervalCoverage:
    """How often the event falls into the central interval predicted to hold it with probability `level`.

    The interval runs from the ``(1 - level)/2`` to the ``(1 + level)/2`` quantile, ends included; after delayed entry
    at a, of the distribution of those event-free at a. An event is in it or not; one at 0 counts as censored, at or
    before the smallest time above 0, as in training. Of a censored row only ``(lower, upper]`` is observed; it counts

    - in `coverage`, the predicted probability of the interval given ``(lower, upper]``: this pulls towards `level`, the
      more so the heavier the censoring;
    - in `lower`, 1 if all of ``(lower, upper]`` is in the interval, else 0; in `upper`, 1 if some of it is. Whatever
      the event times were, the share of those in their interval is between these two.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, censored in any way. Weights count in all five numbers.
    level
        Promised coverage, between 0 and 1.

    Returns
    -------
    IntervalCoverage
        ``coverage lower upper mean_width median_width``. The median is the smallest width that half of
        the weight does not exceed. A width may be infinite.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 9], [True, False, True])  # the intervals are 0.21–4.61, 0.42–9.21, 0.32–6.91
    >>> interval_coverage(Exponential([2.0, 4.0, 3.0]), data)
    IntervalCoverage(coverage=0.6117, lower=0.3333, upper=0.6667, mean_width=6.5917, median_width=6.5917)
    """
    check("level", level, Number(0, 1, above=True, below=True))
    rows = with_zero_as_early(matched_data(predicted, data))
    counted = rows.weights > 0
    if not counted.any():
        return IntervalCoverage(*[undefined("interval_coverage", "no row has a positive weight")] + [float("nan")] * 4)
    rows, predicted = rows[counted], predicted[counted]
    low, high = _interval(predicted, rows, float(level))
    # An event time is not negative: whatever the time of a left-censored row, it is after an end of 0 or less.
    from_below = np.where(rows.left_censored, low <= 0, low <= rows.lower)
    within = np.where(rows.exact, (low <= rows.lower) & (rows.lower <= high), from_below & (rows.upper <= high))
    apart = np.where(rows.exact, ~within, (rows.lower >= high) | (rows.upper < low))
    share = within.astype(np.float64)
    open_rows = np.flatnonzero(~within & ~apart)
    if open_rows.size:
        share[open_rows] = _conditional(predicted[open_rows], rows[open_rows], low[open_rows], high[open_rows])
    # Where not even the lower end is reached, the interval is as wide as where only the upper one is not.
    weight, width = rows.weights, np.where(np.isinf(high), np.inf, high - np.where(np.isinf(high), 0.0, low))
    covered, at_least, apart_weight = (float(weight @ part / weight.sum()) for part in (share, within, apart))
    median = float(np.quantile(width, 0.5, weights=weight, method="inverted_cdf"))
    return IntervalCoverage(covered, at_least, 1 - apart_weight, float(weight @ width / weight.sum()), median)


def _interval(predicted: SurvivalDistribution, rows: SurvivalData, level: float) -> tuple[FloatArray, FloatArray]:
    left = np.array([[(1 + level) / 2, (1 - level) / 2]])
    if rows.entry is not None:
        entry = np.where(np.isfinite(rows.entry), rows.entry, 0.0)
        present = as_numbers(predicted.survival(entry[:, None]))
        # A quantile of those event-free at entry is a higher quantile of all.
        left = left * np.where(np.isfinite(rows.entry)[:, None], present, 1.0)
    ends = as_numbers(predicted.quantile(np.broadcast_to(1 - left, (len(rows), 2))))
    return ends[:, 0], ends[:, 1]


def _conditional(predicted: SurvivalDistribution, rows: SurvivalData, low: FloatArray, high: FloatArray) -> FloatArray:
    """Predicted probability of ``[low, high]`` given ``(lower, upper]``, which it overlaps; 0 if that has none."""
    # A probability is that of an interval open below: one float down, the end belongs to it.
    start = np.maximum(np.nextafter(low, -np.inf), rows.lower)
    inside = _log_probability(predicted, start, np.minimum(high, rows.upper))
    whole = _log_probability(predicted, rows.lower, rows.upper)
    possible = whole > -np.inf
    return np.where(possible, np.exp(np.minimum(inside - np.where(possible, whole, 0.0), 0.0)), 0.0)


def _log_probability(predicted: SurvivalDistribution, lower: FloatArray, upper: FloatArray) -> FloatArray:
    finite_lower, finite_upper = np.isfinite(lower), np.isfinite(upper)

    def at(method: Callable[..., Array], *bounds: FloatArray) -> FloatArray:
        return as_numbers(method(*(bound[:, None] for bound in bounds)))[:, 0]

    below, above = np.where(finite_lower, lower, 0.0), np.where(finite_upper, upper, 0.0)
    between = at(predicted.log_probability, np.minimum(below, above), above)
    until = np.where(finite_lower, between, at(predicted.log_cdf, above))
    return np.where(finite_upper, until, np.where(finite_lower, at(predicted.log_survival, below), 0.0))
