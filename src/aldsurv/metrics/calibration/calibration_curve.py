"""The probability of an event by a time as a smooth function of the predicted one, from censored rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.checked_arguments import FloatArray
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["observed_probability"]

# Predictions of 0 and 1 have no complementary log-log; they count as this far away from them.
_TINY = 1e-10
_KNOTS = (0.1, 0.5, 0.9)
_ITERATIONS = 50
_TOLERANCE = 1e-9
# Logarithm of a ratio of hazards that no data can distinguish from infinity, and whose exponential is still finite.
_LARGEST = 300.0


def observed_probability(risk: FloatArray, data: SurvivalData, time: float) -> FloatArray | None:
    """Probability (n,) of the event by `time` among rows of the same predicted `risk`; None without an estimate.

    A Cox regression of the rows on a restricted cubic spline of ``log(-log(1 - risk))`` with three knots, at the 10 %,
    50 % and 90 % points of the predictions, and Breslow's baseline hazard. With too few distinct predictions for
    three knots the spline is a straight line, with only one the estimate is Kaplan-Meier's.
    """
    clipped = np.clip(risk, _TINY, 1 - _TINY)
    spline = _spline(np.log(-np.log1p(-clipped)), data.weights)
    if spline is None:
        return np.full(risk.shape, 1 - float(kaplan_meier(data).survival_at(time)))
    # In time order from the last to the first, all who are at risk at a time come up to the end of its stretch.
    order = np.argsort(-data.time, kind="stable")
    ordered, covariates = data[order], spline[order]
    slope = _fit(ordered, covariates)
    if slope is None:
        return None
    relative = ordered.weights * np.exp(covariates @ slope)
    at_risk = np.cumsum(relative)[_stretch_ends(ordered.time)]
    counted = ordered.event & (ordered.time <= time)
    baseline = float((ordered.weights[counted] / at_risk[counted]).sum())
    return np.asarray(-np.expm1(-baseline * np.exp(spline @ slope)))


def _spline(x: FloatArray, weights: FloatArray) -> FloatArray | None:
    """Columns of the spline, of mean 0 and variance 1; None if `x` is constant."""
    first, middle, last = np.quantile(x, _KNOTS, weights=weights, method="inverted_cdf")
    columns = [x]
    if first < middle < last:
        cubes = [np.maximum(x - knot, 0.0) ** 3 for knot in (first, middle, last)]
        # Weights of the cubes that leave a straight line behind the last knot.
        shares = (last - first) / (last - middle), (middle - first) / (last - middle)
        columns.append((cubes[0] - shares[0] * cubes[1] + shares[1] * cubes[2]) / (last - first) ** 2)
    centred = np.stack([column - np.average(column, weights=weights) for column in columns], axis=1)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=weights))
    if spread[0] <= 1e-12 * np.abs(x).max():
        return None
    return np.asarray(centred / spread)


def _fit(data: SurvivalData, covariates: FloatArray) -> FloatArray | None:
    """Coefficients of the Cox regression by Newton's method; None if it has no finite maximum.

    `data` in descending order of time. Events at one time share their risk set (Breslow), so that a row of weight 2
    counts exactly as two rows.
    """
    ends, event = _stretch_ends(data.time), data.event
    weight, of_events = data.weights[event], covariates[event]
    products = covariates[:, :, None] * covariates[:, None, :]

    def likelihood(slope: FloatArray) -> tuple[float, FloatArray]:
        score = covariates @ slope
        # Any constant cancels; this one keeps the exponentials finite.
        relative = data.weights * np.exp(score - score.max())
        sums = np.cumsum(relative)[ends][event]
        return float(weight @ (of_events @ slope - score.max() - np.log(sums))), relative

    slope = np.zeros(covariates.shape[1])
    value, relative = likelihood(slope)
    for _ in range(_ITERATIONS):
        total = np.cumsum(relative)[ends][event]
        mean = np.cumsum(relative[:, None] * covariates, axis=0)[ends][event] / total[:, None]
        square = np.cumsum(relative[:, None, None] * products, axis=0)[ends][event] / total[:, None, None]
        gradient = weight @ (of_events - mean)
        curvature = np.tensordot(weight, square - mean[:, :, None] * mean[:, None, :], axes=1)
        if np.linalg.cond(curvature) > 1e12:
            return None
        step = np.linalg.solve(curvature, gradient)
        if np.abs(step).max() < _TOLERANCE:
            return np.asarray(slope + step)
        # Without a maximum the steps go on for ever; with one, full steps may overshoot far from it.
        if np.ptp(covariates @ (slope + step)) > _LARGEST:
            return None
        for _ in range(20):
            longer, weights = likelihood(slope + step)
            if longer >= value - 1e-10 * abs(value):
                break
            step = step / 2
        slope, value, relative = slope + step, longer, weights
    return None


def _stretch_ends(time: FloatArray) -> NDArray[np.intp]:
    """Index of the last row of the same time, for rows in order of time."""
    last = np.append(np.flatnonzero(time[1:] != time[:-1]), time.size - 1)
    return last[np.searchsorted(last, np.arange(time.size))]
