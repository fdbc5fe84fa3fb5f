"""Metrics as functions of how often each row counts: a resample of rows is a vector of counts.

To count a row k times and to give it k times its weight is the same for a weighted metric. So all that depends on the
prediction is computed once, and a replicate needs only sums over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.shapes import Rows
from aldsurv.errors import ParameterError
from aldsurv.metrics.calibration.event_levels import CalibrationLine, CalibrationPoints, EventLevels, event_levels
from aldsurv.metrics.calibration.level_calibration import (
    censored_d_calibration,
    density_calibration,
    survival_calibration,
)
from aldsurv.metrics.calibration.mean_calibration import (
    MeanEvents,
    calibration_in_the_large,
    in_the_large,
    mean_by_weights,
    observed_expected,
    observed_expected_ratio,
)
from aldsurv.metrics.calibration.slope_calibration import calibration_slope, slope_by_weights, slope_limits
from aldsurv.metrics.catalogue import Metric, MetricFunction
from aldsurv.metrics.cause_of_interest import Cause, event_of_interest, others_never
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution, Prediction, number_column
from aldsurv.metrics.discrimination.concordance import (
    concordance_harrell,
    concordance_uno,
    event_importance,
    last_uncensored,
    uno_importance,
    uno_with_others,
)
from aldsurv.metrics.discrimination.pair_order import PairOrder
from aldsurv.metrics.error.absolute_error import mean_absolute_error
from aldsurv.metrics.error.brier import integrated_brier_rows, integrated_brier_score
from aldsurv.metrics.error.log_likelihood import (
    bounded_log_likelihood,
    bounded_rows,
    log_likelihood,
    log_likelihood_rows,
)
from aldsurv.metrics.point_estimates import Point, RankingPoint, point_estimate, ranking_time
from aldsurv.nonparametric.censoring_weights import Ties, censoring_distribution

__all__ = ["ByCounts", "Counts", "by_counts", "numbers"]

Counts: TypeAlias = NDArray[np.int64]
# Counts (b, n) of the rows in b resamples to the k numbers of the metric on each (b, k).
ByCounts: TypeAlias = Callable[[Counts], FloatArray]


def by_counts(metric: Metric, predicted: Prediction, data: SurvivalData, options: Mapping[str, object]) -> ByCounts:
    """The metric as a function of counts.

    Parameters
    ----------
    metric, predicted, data, options
        A call of the metric that has been made, so that its arguments are right.
    """
    build = next((build for function, build in _BUILDERS if function is metric.function), None)
    if build is None:
        return _repeated(metric, predicted, data, options)
    form = build(predicted, data, **options)
    if metric.part is None:
        return form
    parts = list(metric.part) if isinstance(metric.part, tuple) else [metric.part]
    return lambda counts: form(counts)[:, parts]


def numbers(result: object) -> FloatArray:
    """The number or numbers of a metric as a vector."""
    try:
        vector = np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty((0, 0))
    if vector.ndim > 1:
        raise ParameterError(
            f"metric must give a number or a tuple of numbers, but gave {type(result).__name__}.", argument="metric"
        )
    return np.atleast_1d(vector)


def _repeated(metric: Metric, predicted: Prediction, data: SurvivalData, options: Mapping[str, object]) -> ByCounts:
    """Any metric: it gets the rows as often as they count."""
    prediction = predicted if isinstance(predicted, Rows) else np.asarray(predicted)
    place, first = np.arange(len(data)), None if metric.record is None else _first_row_after_zero(data)
    with_absent = data if first is None else _with_absent_copy(data, first)
    uses_truth = metric.record is not None and metric.record.uses_truth and options.get("truth") is not None
    truth = number_column(options["truth"], "truth", len(data)) if uses_truth else None

    def value(row_counts: Counts) -> FloatArray:
        rows = np.repeat(place, row_counts)
        drawn = data[rows]
        if first is not None and row_counts[first] == 0:
            drawn, rows = with_absent[np.append(rows, len(data))], np.append(rows, first)
        given = options if truth is None else {**options, "truth": truth[rows]}
        return numbers(metric(prediction[rows], drawn, **given))

    return lambda counts: np.array([value(row_counts) for row_counts in counts])


def _first_row_after_zero(data: SurvivalData) -> int | None:
    """The row whose time bounds an event at 0; None if there is no such event.

    An event at 0 is one at or before the smallest time above 0. That time is a property of the clock, not of the rows
    that happen to be drawn: a resample without this row keeps it, with weight 0.
    """
    if not (data.exact & (data.lower <= 0)).any() or data.total_weight == 0:
        return None
    bounds = np.stack([data.lower, data.upper])
    earliest = np.where(bounds > 0, bounds, np.inf).min(axis=0)
    return int(np.argmin(earliest)) if np.isfinite(earliest).any() else None


def _with_absent_copy(data: SurvivalData, row: int) -> SurvivalData:
    """The data with a copy of a row behind them, of weight 0."""
    return SurvivalData.concatenate([data, data[[row]]]).with_weight(np.append(data.weights, 0.0))


def _mean(values: FloatArray, weight: FloatArray) -> ByCounts:
    """Weighted mean of one number per row; NaN where no row counts."""
    finite = np.isfinite(values)
    usual, infinite = np.where(finite, values, 0.0), values[~finite]

    def form(counts: Counts) -> FloatArray:
        weights = counts * weight
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (weights @ usual) / weights.sum(axis=1)
            if infinite.size:
                # An infinite value makes the mean infinite where its row counts, and does nothing where not.
                mean += np.where(weights[:, ~finite] > 0, infinite, 0.0).sum(axis=1)
        return np.asarray(mean[:, None])

    return form


def _by_error(
    predicted: Prediction,
    data: SurvivalData,
    *,
    point: Point = "median",
    truth: ArrayLike | None = None,
    unit: float = 1.0,
) -> ByCounts:
    counted = data.event if truth is None else np.ones(len(data), dtype=np.bool_)
    target = data.time if truth is None else number_column(truth, "truth", len(data))
    distance = np.abs(point_estimate(predicted, data, point=point) - target) / unit
    return _mean(distance, data.weights * counted)


def _by_likelihood(predicted: PredictedDistribution, data: SurvivalData) -> ByCounts:
    return _mean(log_likelihood_rows(predicted, data), data.weights)


def _by_bounded_likelihood(
    predicted: PredictedDistribution, data: SurvivalData, *, train: SurvivalData | None = None, share: float = 0.01
) -> ByCounts:
    return _mean(bounded_rows(predicted, data, train, share), data.weights)


def _by_brier(
    predicted: PredictedDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: ArrayLike | None = None,
    ties: Ties = "events_first",
    cause: Cause = None,
) -> ByCounts:
    rows = integrated_brier_rows(predicted, data, train=train, times=times, ties=ties, cause=cause)
    return _mean(rows, data.weights)


def _by_levels(
    shares_of: Callable[[EventLevels, int], FloatArray], measure: Callable[[FloatArray, int], float | CalibrationLine]
) -> Callable[..., ByCounts]:
    """A measure of the shares (k,) of all mass in k intervals, from the shares of each row (n, k)."""

    def build(predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None) -> ByCounts:
        levels = event_levels(predicted, data, cause=cause)
        shares = shares_of(levels, bins)

        def form(counts: Counts) -> FloatArray:
            weights = counts * levels.weight
            with np.errstate(invalid="ignore"):
                observed = (weights @ shares) / weights.sum(axis=1, keepdims=True)
            return np.array([numbers(measure(row, bins)) for row in observed])

        return form

    return build


def _in_bins(levels: EventLevels, bins: int) -> FloatArray:
    until = [levels.share_until(j / bins) for j in range(1, bins)]
    return np.diff(np.stack([np.zeros(len(levels.low)), *until, np.ones(len(levels.low))], axis=1), axis=1)


def _in_central_intervals(levels: EventLevels, bins: int) -> FloatArray:
    ends = [((bins - j) / (2 * bins), (bins + j) / (2 * bins)) for j in range(1, bins)]
    within = [levels.share_until(high) - levels.share_until(low, inclusive=False) for low, high in ends]
    return np.stack(within, axis=1)


def _distance(share: FloatArray, bins: int) -> float:
    return float(100 * ((1 / bins - share) ** 2).sum())


def _survival_line(share: FloatArray, bins: int) -> CalibrationLine:
    return CalibrationPoints(np.arange(1, bins + 1) / bins, np.cumsum(share)).line


def _density_line(share: FloatArray, bins: int) -> CalibrationLine:
    return CalibrationPoints(np.arange(1, bins) / bins, share).line


def _by_harrell(
    predicted: Prediction,
    data: SurvivalData,
    *,
    point: RankingPoint = "follow_up",
    train: SurvivalData | None = None,
    cause: Cause = None,
) -> ByCounts:
    prediction, other = event_of_interest(predicted, data, cause)
    rows = others_never(data, other)
    pairs = PairOrder.of(ranking_time(prediction, data, point=point, train=train), rows)
    return _by_pairs(pairs, event_importance(pairs, rows), data.weights)


def _by_uno(
    predicted: Prediction,
    data: SurvivalData,
    *,
    train: SurvivalData,
    tau: float | None = None,
    point: RankingPoint = "follow_up",
    ties: Ties = "scikit-survival",
    cause: Cause = None,
) -> ByCounts:
    prediction, other = event_of_interest(predicted, data, cause)
    estimate = ranking_time(prediction, data, point=point, train=train)
    censoring = censoring_distribution(train)
    end = last_uncensored(censoring) if tau is None else tau
    if other.any() and end > 0:
        share = uno_with_others(estimate, data, other, censoring, end, ties)
        return lambda counts: np.array([[share(row_counts * data.weights)] for row_counts in counts])
    pairs = PairOrder.of(estimate, data)
    importance = uno_importance(pairs, data, censoring, end, ties) if end > 0 else np.zeros(len(data))
    return _by_pairs(pairs, importance, data.weights)


def _by_pairs(pairs: PairOrder, importance: FloatArray, weight: FloatArray) -> ByCounts:
    """The order of the rows does not depend on their counts."""
    return lambda counts: pairs.shares(importance, (counts * weight)[:, pairs.rows])[:, None]


def _by_slope(
    predicted: PredictedDistribution,
    data: SurvivalData,
    time: float | None = None,
    *,
    cause: Cause = None,
    confidence: float = 0.95,
) -> ByCounts:
    estimate, weight = slope_by_weights(predicted, data, time, cause)
    return lambda counts: np.array([slope_limits(estimate(row * weight), confidence) for row in counts])


def _by_mean(measure: Callable[[MeanEvents, float], tuple[float, ...]], metric: str) -> Callable[..., ByCounts]:
    """A measure of observed and expected events."""

    def build(
        predicted: PredictedDistribution,
        data: SurvivalData,
        time: float | None = None,
        *,
        cause: Cause = None,
        confidence: float = 0.95,
    ) -> ByCounts:
        estimate, weight = mean_by_weights(predicted, data, time, cause, metric)
        return lambda counts: np.array([measure(estimate(row * weight), confidence) for row in counts])

    return build


_BUILDERS: list[tuple[MetricFunction, Callable[..., ByCounts]]] = [
    (mean_absolute_error, _by_error),
    (integrated_brier_score, _by_brier),
    (concordance_harrell, _by_harrell),
    (concordance_uno, _by_uno),
    (censored_d_calibration, _by_levels(_in_bins, _distance)),
    (survival_calibration, _by_levels(_in_bins, _survival_line)),
    (density_calibration, _by_levels(_in_central_intervals, _density_line)),
    (log_likelihood, _by_likelihood),
    (bounded_log_likelihood, _by_bounded_likelihood),
    (calibration_slope, _by_slope),
    (calibration_in_the_large, _by_mean(in_the_large, "calibration_in_the_large")),
    (observed_expected_ratio, _by_mean(observed_expected, "observed_expected_ratio")),
]
