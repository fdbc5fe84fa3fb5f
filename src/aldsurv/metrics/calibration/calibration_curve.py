"""The probability of an event by a time as a smooth function of the predicted one, from censored rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.calibration.cox_regression import RiskSets, fit_cox
from aldsurv.metrics.checked_arguments import FloatArray
from aldsurv.nonparametric.aalen_johansen import aalen_johansen
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["observed_incidence", "observed_probability"]

# Predictions of 0 and 1 have no complementary log-log; they count as this far away from them.
_TINY = 1e-10
_KNOTS = (0.1, 0.5, 0.9)


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
    ordered, covariates = RiskSets.of(data[order], never[order]), spline[order]
    fit = fit_cox(ordered, covariates)
    if fit is None:
        return None
    slope = fit.coefficients
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
