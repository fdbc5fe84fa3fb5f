"""Calibration slope: whether predicted differences between rows are as large as those observed."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.calibration.cox_regression import LARGEST_LOG_RATIO, RiskSets, fit_cox
from aldsurv.metrics.calibration.expected_events import (
    cut_follow_up,
    finite_hazard,
    no_estimate,
    risks_at,
    rows_overall,
)
from aldsurv.metrics.cause_of_interest import Cause, event_of_interest
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution, as_numbers, undefined

__all__ = ["CalibrationSlope", "SlopeEstimate", "calibration_slope", "slope_by_weights", "slope_limits"]

# Predictions count as equal below this standard deviation of log(-log S): a network computes in single precision.
_ALIKE = 1e-6
_ITERATIONS = 50


class CalibrationSlope(NamedTuple):
    """Slope with its confidence limits and standard error."""

    slope: float
    lower: float
    upper: float
    standard_error: float


class SlopeEstimate(NamedTuple):
    """Slope and its standard error; NaN with the reason where there is none."""

    slope: float
    standard_error: float
    reason: str = ""


# Weights (n,) of the rows to the estimate from rows so weighted.
SlopeByWeights: TypeAlias = Callable[[FloatArray], SlopeEstimate]


def calibration_slope(
    predicted: PredictedDistribution,
    data: SurvivalData,
    time: float | None = None,
    *,
    cause: Cause = None,
    confidence: float = 0.95,
) -> CalibrationSlope:
    """Slope of the observed on the predicted log hazard, with confidence limits; 1 is best.

    Below 1 the predictions are too extreme, high risks too high and low ones too low, as those of an over-trained model
    are; above 1 they are too alike; at 0 the predicted differences have nothing to do with the observed ones, and below
    0 they are reversed. Neither the level of the risks nor their course in time matters: see
    `calibration_in_the_large` and `observed_expected_ratio`.

    At a `time` it is the coefficient of ``log(-log S(time))`` in a Cox regression of the rows, their follow-up cut off
    at `time` (Royston & Altman 2013, McLernon et al. 2023). With a cause the regression is that of Fine & Gray on
    ``log(-log(1 - F))``, F being the predicted incidence, with robust standard errors.

    Without a time it is that of all follow-up, from a Poisson regression of the events (Crowson, Atkinson & Therneau
    2016): a row with the linear predictor x that is expected to have ``e = H(y) = -log S(y)`` events until its own time
    y has a mean of ``exp(a + b·x + log e - x)``, and the slope is b. That is for proportional hazards. Others have no
    linear predictor, and the log hazards of two rows may differ more at one time than at another: so rows are cut at
    the deciles of the event times, as for covariates that change, and in each part x is the logarithm of the rise of H
    from one decile to the next, less its mean over all rows. Of proportional hazards x is the same in all parts, and
    cutting changes nothing. With a cause, H is its cumulative hazard among those without any event. Delayed entry is
    allowed: expected are ``H(y) - H(entry)``.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored. Weights count as numbers of rows.
    time
        When to look, not after the last row; None: over all follow-up.
    cause
        Number or name of the cause, where prediction and data have causes; None: they are of one event.
    confidence
        Confidence of the limits, ``slope ± z·standard_error``. They take rows as independent; of rows in groups
        use `bootstrap`.

    Returns
    -------
    CalibrationSlope
        ``slope lower upper standard_error``; NaN, with a warning that says why, without an event, with predictions that
        are all alike, and where events and predictions are separated so that no slope is finite. A predicted survival
        of exactly 0 or 1 counts as 1e-10 away from it, or as the nearest of the other rows if that is nearer.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> risk = np.random.default_rng(0).normal(size=500)
    >>> data = SurvivalData.right(Exponential(np.exp(risk)).sample(random_state=1), np.ones(500, bool))
    >>> calibration_slope(Exponential(np.exp(2 * risk)), data)
    CalibrationSlope(slope=0.5261, lower=0.4841, upper=0.5681, standard_error=0.02144)
    >>> calibration_slope(Exponential(np.exp(2 * risk)), data, 1.0)
    CalibrationSlope(slope=0.5062, lower=0.4406, upper=0.5718, standard_error=0.03347)
    """
    check("confidence", confidence, Number(0, 1, above=True, below=True))
    estimate, weights = slope_by_weights(predicted, data, time, cause)
    result = estimate(weights)
    if result.reason:
        return CalibrationSlope(undefined("calibration_slope", result.reason), *[float("nan")] * 3)
    return slope_limits(result, confidence)


def slope_limits(estimate: SlopeEstimate, confidence: float) -> CalibrationSlope:
    """The slope with its limits."""
    width = NormalDist().inv_cdf((1 + confidence) / 2) * estimate.standard_error
    slope = estimate.slope
    return CalibrationSlope(slope, slope - width, slope + width, estimate.standard_error)


def slope_by_weights(
    predicted: PredictedDistribution, data: SurvivalData, time: float | None, cause: Cause
) -> tuple[SlopeByWeights, FloatArray]:
    """The slope as a function of the weights of the rows (n,), and the weights that they have."""
    weights = SurvivalData.of(data).weights
    if time is None:
        return _overall(predicted, data, cause), weights
    return _at_time(predicted, data, time, cause), weights


def _at_time(predicted: PredictedDistribution, data: SurvivalData, time: float, cause: Cause) -> SlopeByWeights:
    until, _, rows, other = risks_at(predicted, data, time, cause, "calibration_slope")
    reason = no_estimate(rows, other, until)
    if reason:
        return lambda _: SlopeEstimate(np.nan, np.nan, reason)
    cut = SurvivalData.right(np.minimum(rows.time, until), rows.event & (rows.time <= until))
    order = np.argsort(-cut.time, kind="stable")
    cut, other_by_then = cut[order], (other & (rows.time <= until))[order]
    given = SurvivalData.of(data)
    counted = np.flatnonzero(given.weights > 0)[order]
    hazard = -as_numbers(event_of_interest(predicted, given, cause)[0][counted].log_survival(until))
    x = np.log(finite_hazard(hazard, np.ones(len(rows), np.bool_)))

    def estimate(weights: FloatArray) -> SlopeEstimate:
        weight = weights[counted]
        some = weight > 0
        if not some.any():
            return SlopeEstimate(np.nan, np.nan, "no row has a positive weight")
        drawn, never, values = cut[some].with_weight(weight[some]), other_by_then[some], x[some]
        if not (drawn.event & ~never).any():
            return SlopeEstimate(np.nan, np.nan, f"no row has an event by the time {until:g}")
        mean, spread = _mean_and_spread(values, drawn.weights)
        if spread < _ALIKE:
            return SlopeEstimate(np.nan, np.nan, f"all predictions are alike at the time {until:g}")
        fit = fit_cox(RiskSets.of(drawn, never), ((values - mean) / spread)[:, None])
        if fit is None:
            return SlopeEstimate(np.nan, np.nan, _NO_SOLUTION)
        return SlopeEstimate(float(fit.coefficients[0]) / spread, float(np.sqrt(fit.variance[0, 0])) / spread)

    return estimate


def _overall(predicted: PredictedDistribution, data: SurvivalData, cause: Cause) -> SlopeByWeights:
    overall = rows_overall(predicted, data, cause)
    counted = overall.rows.weights > 0
    if not (counted & overall.event).any():
        reason = "no row has an event" if counted.any() else "no row has a positive weight"
        return lambda _: SlopeEstimate(np.nan, np.nan, reason)
    parts = cut_follow_up(predicted, overall, cause)

    def estimate(weights: FloatArray) -> SlopeEstimate:
        weight = weights[parts.row]
        some = weight > 0
        events = (weight * parts.event)[some]
        if not events.any():
            return SlopeEstimate(np.nan, np.nan, "no row has an event")
        mean, spread = _mean_and_spread(parts.log_hazard[some], weight[some])
        if spread < _ALIKE:
            return SlopeEstimate(np.nan, np.nan, "all predictions are alike")
        values = (parts.log_hazard[some] - mean) / spread
        slope, variance = _poisson(values, events, (weight * parts.expected)[some])
        if np.isnan(slope):
            return SlopeEstimate(np.nan, np.nan, _NO_SOLUTION)
        return SlopeEstimate(1 + slope / spread, float(np.sqrt(variance)) / spread)

    return estimate


_NO_SOLUTION = "the regression of the events on the predictions has no finite solution"


def _mean_and_spread(x: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Weighted mean and standard deviation."""
    mean = float(np.average(x, weights=weights))
    return mean, float(np.sqrt(np.average((x - mean) ** 2, weights=weights)))


def _poisson(x: FloatArray, events: FloatArray, expected: FloatArray) -> tuple[float, float]:
    """Coefficient of `x` and its variance, of events with mean ``expected·exp(a + b·x)``; NaN without a maximum.

    For each b the best a makes the means add up to the events; what is left is concave in b alone, and its curvature
    the information of b.
    """
    total = float(events.sum())

    def likelihood(slope: float) -> tuple[float, FloatArray]:
        score = slope * x
        # Any constant goes to a; this one keeps the exponentials finite.
        shares = expected * np.exp(score - score.max())
        return float(events @ score) - total * float(score.max() + np.log(shares.sum())), shares / shares.sum()

    slope, (value, shares) = 0.0, likelihood(0.0)
    for _ in range(_ITERATIONS):
        mean = float(shares @ x)
        gradient, curvature = float(events @ x) - total * mean, total * float(shares @ (x - mean) ** 2)
        if curvature <= 1e-12 * total:
            return float("nan"), float("nan")
        step = gradient / curvature
        if abs(step) < 1e-10:
            return slope + step, 1 / curvature
        if abs(slope + step) * np.ptp(x) > LARGEST_LOG_RATIO:
            return float("nan"), float("nan")
        for _ in range(20):
            longer, new = likelihood(slope + step)
            if longer >= value - 1e-10 * abs(value):
                break
            step /= 2
        slope, value, shares = slope + step, longer, new
    return float("nan"), float("nan")
