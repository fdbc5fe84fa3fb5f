"""Calibration in the large: whether as many events come as predicted, by a time and over all follow-up."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, nan, sqrt
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.calibration.calibration_curve import observed_incidence
from aldsurv.metrics.calibration.expected_events import no_estimate, risks_at, rows_overall
from aldsurv.metrics.cause_of_interest import Cause
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution, undefined

__all__ = [
    "CalibrationInTheLarge",
    "MeanEvents",
    "ObservedExpected",
    "calibration_in_the_large",
    "in_the_large",
    "mean_by_weights",
    "observed_expected",
    "observed_expected_ratio",
]


class CalibrationInTheLarge(NamedTuple):
    """Observed less expected, with limits, and the two and their ratio."""

    difference: float
    lower: float
    upper: float
    observed: float
    expected: float
    ratio: float


class ObservedExpected(NamedTuple):
    """Observed over expected, with limits, and the two."""

    ratio: float
    lower: float
    upper: float
    observed: float
    expected: float


class MeanEvents(NamedTuple):
    """Observed and expected probability by a time, or number of events until the end of the rows.

    Attributes
    ----------
    observed, expected
        The two; NaN with the reason where there are none.
    variance
        Greenwood's variance of the observed probability; of a number of events that number itself. 0 if it has none.
    counts
        Whether the two are numbers of events.
    reason
        Why there is no estimate.
    """

    observed: float
    expected: float
    variance: float
    counts: bool
    reason: str = ""


# Weights (n,) of the rows to the two from rows so weighted.
MeanByWeights: TypeAlias = Callable[[FloatArray], MeanEvents]


def calibration_in_the_large(
    predicted: PredictedDistribution,
    data: SurvivalData,
    time: float | None = None,
    *,
    cause: Cause = None,
    confidence: float = 0.95,
) -> CalibrationInTheLarge:
    """How many more events come than predicted, over all rows, with confidence limits; 0 is best.

    At a `time` it is the observed probability of the event by then, Kaplan-Meier's or that of a cause Aalen-Johansen's,
    less the mean of the predicted ones. Limits are normal, with Greenwood's variance of the observed one.

    Without a time it is ``log(observed) - log(expected)`` of the numbers of events over all follow-up, the expected one
    being the sum of the predicted cumulative hazards of the rows at their own times: the intercept of a Poisson
    regression of the events with that as offset (Crowson, Atkinson & Therneau 2016). With a cause, the hazard is that
    of the cause among those without any event. Delayed entry is allowed.

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
        Confidence of the limits. They take rows as independent and predictions as given; of rows in groups use
        `bootstrap`.

    Returns
    -------
    CalibrationInTheLarge
        ``difference lower upper observed expected ratio``. Limits are NaN at a time by which no row, or every row, had
        the event, and everything is NaN, with a warning, without an estimate.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> large = calibration_in_the_large(Exponential([2.0] * 4), data, 3.0)
    >>> large.difference, large.observed, large.expected
    (-0.1519, 0.625, 0.7769)
    >>> overall = calibration_in_the_large(Exponential([2.0] * 4), data)
    >>> overall.difference, overall.observed, overall.expected
    (-0.6061, 3.0, 5.5)
    """
    check("confidence", confidence, Number(0, 1, above=True, below=True))
    estimate, weights = mean_by_weights(predicted, data, time, cause, "calibration_in_the_large")
    mean = estimate(weights)
    reason = mean.reason or ("no row has an event" if mean.counts and not mean.observed else "")
    if reason:
        return CalibrationInTheLarge(undefined("calibration_in_the_large", reason), *[nan] * 5)
    return in_the_large(mean, confidence)


def observed_expected_ratio(
    predicted: PredictedDistribution,
    data: SurvivalData,
    time: float | None = None,
    *,
    cause: Cause = None,
    confidence: float = 0.95,
) -> ObservedExpected:
    """How many events came for each that was predicted, with confidence limits; 1 is best.

    Above 1 more events came than predicted: the predicted risks are too low, the predicted times too long.

    At a `time` it is the observed probability of the event by then, Kaplan-Meier's or that of a cause Aalen-Johansen's,
    over the mean of the predicted ones, with limits ``ratio·exp(±z·s)``, where s is Greenwood's standard error over the
    observed probability (McLernon et al. 2023).

    Without a time it is the number of events of all follow-up over the sum of the predicted cumulative hazards of the
    rows at their own times (the standardised incidence ratio; Crowson, Atkinson & Therneau 2016), with limits
    ``ratio·exp(±z/√observed)``, those of a Poisson regression; without an event the upper one is the exact one.

    Parameters
    ----------
    predicted, data, time, cause, confidence
        As in `calibration_in_the_large`.

    Returns
    -------
    ObservedExpected
        ``ratio lower upper observed expected``. Limits are NaN at a time by which no row, or every row, had the event,
        and everything is NaN, with a warning, without an estimate. A predicted survival of exactly 0 counts as 1e-10,
        23 expected events, or as the least of the other rows if that is less.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right(Exponential([2.0] * 300).sample(random_state=1), [True] * 300)
    >>> observed_expected_ratio(Exponential([3.0] * 300), data, 2.0)
    ObservedExpected(ratio=1.288, lower=1.18, upper=1.405, observed=0.6267, expected=0.4866)
    >>> observed_expected_ratio(Exponential([3.0] * 300), data)
    ObservedExpected(ratio=1.507, lower=1.346, upper=1.688, observed=300.0, expected=199.1)
    """
    check("confidence", confidence, Number(0, 1, above=True, below=True))
    estimate, weights = mean_by_weights(predicted, data, time, cause, "observed_expected_ratio")
    mean = estimate(weights)
    if mean.reason:
        return ObservedExpected(undefined("observed_expected_ratio", mean.reason), *[nan] * 4)
    return observed_expected(mean, confidence)


def in_the_large(mean: MeanEvents, confidence: float) -> CalibrationInTheLarge:
    """Difference of observed and expected, of numbers that of their logarithms, with limits."""
    observed, expected = mean.observed, mean.expected
    if mean.counts:
        difference = log(observed) - log(expected) if observed > 0 else nan
        width = _quantile(confidence) / sqrt(observed) if observed > 0 else nan
    else:
        difference = observed - expected
        width = _quantile(confidence) * sqrt(mean.variance) if mean.variance > 0 else nan
    return CalibrationInTheLarge(
        difference, difference - width, difference + width, observed, expected, observed / expected
    )


def observed_expected(mean: MeanEvents, confidence: float) -> ObservedExpected:
    """Ratio of observed and expected with limits."""
    observed, expected = mean.observed, mean.expected
    ratio = observed / expected
    if mean.counts and observed == 0:
        # The largest mean number under which no event has the probability that both tails share evenly.
        return ObservedExpected(0.0, 0.0, -log((1 - confidence) / 2) / expected, observed, expected)
    error = sqrt(mean.variance) / observed if mean.variance > 0 else nan
    factor = exp(min(_quantile(confidence) * error, 700.0)) if error == error else nan
    return ObservedExpected(ratio, ratio / factor, ratio * factor, observed, expected)


def mean_by_weights(
    predicted: PredictedDistribution, data: SurvivalData, time: float | None, cause: Cause, metric: str
) -> tuple[MeanByWeights, FloatArray]:
    """Observed and expected as a function of the weights of the rows (n,), and the weights that they have."""
    weights = SurvivalData.of(data).weights
    if time is None:
        return _overall(predicted, data, cause), weights
    return _at_time(predicted, data, time, cause, metric), weights


def _at_time(
    predicted: PredictedDistribution, data: SurvivalData, time: float, cause: Cause, metric: str
) -> MeanByWeights:
    until, risk, rows, other = risks_at(predicted, data, time, cause, metric)
    reason = no_estimate(rows, None, until)
    counted = np.flatnonzero(SurvivalData.of(data).weights > 0)

    def estimate(weights: FloatArray) -> MeanEvents:
        if reason:
            return MeanEvents(nan, nan, nan, False, reason)
        weight = weights[counted]
        some = weight > 0
        if not some.any():
            return MeanEvents(nan, nan, nan, False, "no row has a positive weight")
        expected = float(np.average(risk[some], weights=weight[some]))
        if not expected > 0:
            return MeanEvents(nan, nan, nan, False, f"no event is predicted by the time {until:g}")
        drawn = rows[some].with_weight(weight[some])
        if until > drawn.time.max():
            return MeanEvents(nan, nan, nan, False, no_estimate(drawn, None, until))
        observed, variance = observed_incidence(drawn, other[some], until)
        return MeanEvents(observed, expected, variance, False)

    return estimate


def _overall(predicted: PredictedDistribution, data: SurvivalData, cause: Cause) -> MeanByWeights:
    event, expected, *_ = rows_overall(predicted, data, cause)

    def estimate(weights: FloatArray) -> MeanEvents:
        if not weights.any():
            return MeanEvents(nan, nan, nan, True, "no row has a positive weight")
        observed = float(weights @ event)
        return MeanEvents(observed, float(weights @ expected), observed, True)

    return estimate


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
