"""The probability of an event by a time as a smooth function of the predicted one, from censored rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.checked_arguments import FloatArray
from aldsurv.nonparametric.aalen_johansen import aalen_johansen
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["observed_incidence", "observed_probability"]

# Predictions of 0 and 1 have no complementary log-log; they count as this far away from them.
_TINY = 1e-10
_KNOTS = (0.1, 0.5, 0.9)
_ITERATIONS = 50
_TOLERANCE = 1e-9
# Logarithm of a ratio of hazards that no data can distinguish from infinity, and whose exponential is still finite.
_LARGEST = 300.0


def observed_probability(
    risk: FloatArray, data: SurvivalData, time: float, other: NDArray[np.bool_] | None = None
) -> FloatArray | None:
    """Probability (n,) of the event by `time` among rows of the same predicted `risk`; None without an estimate.

    A Cox regression of the rows on a restricted cubic spline of ``log(-log(1 - risk))`` with three knots, at the 10 %,
    50 % and 90 % points of the predictions, and Breslow's baseline hazard. With too few distinct predictions for
    three knots the spline is a straight line, with only one the estimate is Kaplan-Meier's.

    Of rows in `other` (n,) an event of another cause was seen, so that that of interest never comes. The regression is
    then that of Fine & Gray (1999): these rows stay at risk, at t with the weight ``G(t-)/G(y-)``, the probability to
    be uncensored at t of those who were so at their event at y.
    """
    clipped = np.clip(risk, _TINY, 1 - _TINY)
    spline = _spline(np.log(-np.log1p(-clipped)), data.weights)
    never = np.zeros(len(data), np.bool_) if other is None else other
    if spline is None:
        return np.full(risk.shape, float(observed_incidence(data, never, time)[0]))
    # In time order from the last to the first, all who are at risk at a time come up to the end of its stretch.
    order = np.argsort(-data.time, kind="stable")
    ordered, covariates = _RiskSets.of(data[order], never[order]), spline[order]
    slope = _fit(ordered, covariates)
    if slope is None:
        return None
    relative = ordered.weights * np.exp(covariates @ slope)
    at_risk = ordered.sums(relative)
    counted = ordered.time[ordered.event] <= time
    baseline = float((ordered.weights[ordered.event][counted] / at_risk[counted]).sum())
    return np.asarray(-np.expm1(-baseline * np.exp(spline @ slope)))


def observed_incidence(data: SurvivalData, other: NDArray[np.bool_], time: float) -> tuple[float, float]:
    """Estimated probability of the event of interest by `time`, and its variance: Aalen-Johansen's, or Kaplan-Meier's.

    Parameters
    ----------
    data, other
        The rows, and which of them (n,) had an event of another cause.
    time
        When to look.
    """
    if not other.any():
        curve = kaplan_meier(data)
        place = int(np.searchsorted(curve.times, time, side="right")) - 1
        return 1 - float(curve.survival_at(time)), float(curve.variance[place]) if place >= 0 else 0.0
    curves = aalen_johansen(SurvivalData.competing(data.time, np.where(data.event, 1 + other, 0), weight=data.weight))
    place = int(np.searchsorted(curves.times, time, side="right")) - 1
    return float(curves.incidence_at(time, 1)), float(curves.variance[0, place]) if place >= 0 else 0.0


class _RiskSets(NamedTuple):
    """Rows in descending order of time, and who is at risk at the event of each."""

    time: FloatArray
    weights: FloatArray
    event: NDArray[np.bool_]
    ends: NDArray[np.intp]
    stays: FloatArray
    """What a row counts after its time: 1/G(y-) after another event, else 0."""
    uncensored: FloatArray
    """G just before each time."""

    @classmethod
    def of(cls, data: SurvivalData, other: NDArray[np.bool_]) -> _RiskSets:
        uncensored = np.ones(len(data))
        if other.any():
            uncensored = censoring_distribution(data).survival_before(data.time)
        stays = np.divide(1.0, uncensored, out=np.zeros(len(data)), where=other & (uncensored > 0))
        return cls(data.time, data.weights, data.event & ~other, _stretch_ends(data.time), stays, uncensored)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum of values (n, …) over those at risk at each event of interest."""
        at_events = self.ends[self.event]
        present = np.cumsum(values, axis=0)[at_events]
        if not self.stays.any():
            return np.asarray(present)
        shape = (-1,) + (1,) * (values.ndim - 1)
        staying = np.cumsum(values * self.stays.reshape(shape), axis=0)
        return np.asarray(present + self.uncensored[self.event].reshape(shape) * (staying[-1] - staying[at_events]))


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


def _fit(data: _RiskSets, covariates: FloatArray) -> FloatArray | None:
    """Coefficients of the Cox regression by Newton's method; None if it has no finite maximum.

    Events at one time share their risk set (Breslow), so that a row of weight 2 counts exactly as two rows.
    """
    event = data.event
    weight, of_events = data.weights[event], covariates[event]
    products = covariates[:, :, None] * covariates[:, None, :]

    def likelihood(slope: FloatArray) -> tuple[float, FloatArray]:
        score = covariates @ slope
        # Any constant cancels; this one keeps the exponentials finite.
        relative = data.weights * np.exp(score - score.max())
        return float(weight @ (of_events @ slope - score.max() - np.log(data.sums(relative)))), relative

    slope = np.zeros(covariates.shape[1])
    value, relative = likelihood(slope)
    for _ in range(_ITERATIONS):
        total = data.sums(relative)
        mean = data.sums(relative[:, None] * covariates) / total[:, None]
        square = data.sums(relative[:, None, None] * products) / total[:, None, None]
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
