"""Whether the predicted probability of an event by one time comes true as often as it says."""

from __future__ import annotations

import warnings
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, WholeNumber, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import AldsurvWarning
from aldsurv.metrics.calibration.calibration_curve import observed_incidence, observed_probability
from aldsurv.metrics.calibration.event_levels import CalibrationPoints
from aldsurv.metrics.calibration.expected_events import cumulative_hazard, no_estimate, risks_at
from aldsurv.metrics.calibration.risk_groups import ends_before, groups_by_risk, joined_groups
from aldsurv.metrics.cause_of_interest import Cause
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution, undefined
from aldsurv.plain_numbers import plain_number

__all__ = [
    "CalibrationIndex",
    "OneCalibration",
    "calibration_curve",
    "integrated_calibration_index",
    "one_calibration",
]


Variance: TypeAlias = Literal["effective", "greenwood", "binomial"]


class CalibrationIndex(NamedTuple):
    """Mean, median and 90 % point of the distance between predicted and observed probability."""

    ici: float
    e50: float
    e90: float


class OneCalibration(NamedTuple):
    """Test of the probabilities of groups, and the predicted and observed probability of each (groups,)."""

    statistic: float
    p_value: float
    predicted: FloatArray
    observed: FloatArray


def calibration_curve(
    predicted: PredictedDistribution, data: SurvivalData, time: float, *, cause: Cause = None
) -> CalibrationPoints:
    """Observed against predicted probability of the event by `time`, as a smooth curve through all predictions.

    The regression is that of `integrated_calibration_index`, which is the mean distance of the two.

    Parameters
    ----------
    predicted, data, time, cause
        As in `integrated_calibration_index`.

    Returns
    -------
    CalibrationPoints
        ``predicted observed``, one per row of positive weight, in ascending order of the prediction. The observed are
        NaN, with a warning, where there is no estimate.
    """
    until, risk, rows, other = risks_at(predicted, data, time, cause, "calibration_curve")
    observed, reason = _smooth_observed(risk, rows, other, until)
    if observed is None:
        observed = np.full(risk.shape, undefined("calibration_curve", reason))
    order = np.argsort(risk, kind="stable")
    return CalibrationPoints(risk[order], observed[order])


def integrated_calibration_index(
    predicted: PredictedDistribution, data: SurvivalData, time: float, *, cause: Cause = None
) -> CalibrationIndex:
    """ICI, E50 and E90 of Austin, Harrell & van Klaveren (2020) at `time`; 0 is best.

    Mean, median and 90 % point over the rows of ``|p - o(p)|``, where p is the predicted probability of the event by
    `time` and o(p) the observed one among rows with that prediction: by a Cox regression on a restricted cubic spline
    of ``log(-log(1 - p))`` with three knots, at the 10 %, 50 % and 90 % points. All of the follow-up counts in the
    regression, not only that up to `time`. Of few events the curve is an unsteady estimate, and the index larger
    than 0 for a right prediction.

    With a cause p is the predicted incidence, and the regression that of Fine & Gray, in which rows with an event of
    another cause stay at risk (Austin et al. 2022).

    The reference does the same with `rcs` and `coxph` of R; here events at one time share their risk set
    (Breslow's rule, not Efron's), and quantiles are values of rows, not interpolated between two.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored. Weights count as numbers of rows.
    time
        When to look, not after the last row.
    cause
        Number or name of the cause, where prediction and data have causes; None: they are of one event.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> rng = np.random.default_rng(0)
    >>> truth = Exponential(rng.uniform(1, 9, 500))
    >>> data = SurvivalData.right(truth.sample(random_state=1), np.ones(500, bool))
    >>> integrated_calibration_index(truth.scaled(2.0), data, 4.0)
    CalibrationIndex(ici=0.2076, e50=0.2012, e90=0.2514)
    """
    until, risk, rows, other = risks_at(predicted, data, time, cause, "integrated_calibration_index")
    observed, reason = _smooth_observed(risk, rows, other, until)
    if observed is None:
        return CalibrationIndex(undefined("integrated_calibration_index", reason), float("nan"), float("nan"))
    distance = np.abs(risk - observed)
    e50, e90 = np.quantile(distance, [0.5, 0.9], weights=rows.weights, method="inverted_cdf")
    return CalibrationIndex(float(np.average(distance, weights=rows.weights)), float(e50), float(e90))


def one_calibration(
    predicted: PredictedDistribution,
    data: SurvivalData,
    time: float,
    *,
    bins: int = 10,
    least: int = 5,
    variance: Variance = "effective",
    cause: Cause = None,
) -> OneCalibration:
    """Hosmer-Lemeshow test at `time` of groups of like predictions, each against its Kaplan-Meier curve.

    Rows in order of the predicted probability of the event by `time` are cut into `bins` groups of equal weight; equal
    predictions stay together. Neighbours are joined until each group has `least` events to be expected while its rows
    were followed, and `least` rows followed beyond `time`.

    ``Σ_g (o_g - p_g)²/v_g``, with p the mean prediction of a group, o one less its Kaplan-Meier
    estimate and v a variance, is compared with chi-square of as many degrees of freedom as there are groups: the
    predictions must not have been fitted to these rows.

    With a cause, o is the Aalen-Johansen estimate of its incidence.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored. Weights count as numbers of rows.
    time
        When to look, not after the last row. A group whose rows end earlier has no estimate: it is left out, with a
        warning.
    bins
        Number of groups before any are joined, 2 or more.
    least
        How many expected events, and how many rows beyond `time`, each group must have; 0: groups stay as they are
        cut. The Kaplan-Meier estimate of a group of which hardly a row is followed so long is not normal, and its
        estimated variance often far too small: with groups as they are cut, right predictions were rejected at the 5 %
        level in 9 % of simulations with 60 rows per group and 63 % of them censored, and in half of them where hardly a
        row is left at `time`; with joined groups in 3 % to 8 %, and in 10 % where 1 % of the rows are left.
    variance
        ``"effective"``: ``p(1 - p)/m``, with the number m of uncensored rows that would know the observed probability
        as well, ``o(1 - o)/g``, g being Greenwood's variance. ``"greenwood"``: g itself (Demler, Paynter & Cook 2015);
        in groups of few events or survivors it is often far too small, and right predictions are rejected
        too often. ``"binomial"``: ``p(1 - p)/n`` (D'Agostino & Nam 2003), too small with censoring, to
        the same effect. Where g is 0, without events or without survivors, all are binomial.
    cause
        Number or name of the cause, where prediction and data have causes; None: they are of one event.

    Returns
    -------
    OneCalibration
        ``statistic p_value predicted observed``; the last two (groups,) in ascending order.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> truth = Exponential(np.random.default_rng(0).uniform(1, 9, 500))
    >>> data = SurvivalData.right(truth.sample(random_state=1), np.ones(500, bool))
    >>> result = one_calibration(truth, data, 4.0, bins=3)
    >>> result.predicted.round(2), result.observed.round(2), round(result.p_value, 2)
    (array([0.4 , 0.53, 0.8 ]), array([0.41, 0.51, 0.81]), 0.88)
    """
    check("bins", bins, WholeNumber(2))
    check("least", least, WholeNumber(0))
    check("variance", variance, Choice(("effective", "greenwood", "binomial")))
    until, risk, rows, other = risks_at(predicted, data, time, cause, "one_calibration")
    reason = no_estimate(rows, other, until)
    if reason:
        return OneCalibration(undefined("one_calibration", reason), float("nan"), np.empty(0), np.empty(0))
    from scipy.special import chdtrc

    group = groups_by_risk(risk, rows.weights, int(bins))
    if least:
        counted = SurvivalData.of(data).weights > 0
        followed = np.minimum(rows.time, until)
        group = joined_groups(group, cumulative_hazard(predicted[counted], followed, cause), rows, until, int(least))
    groups = [_group(risk[group == g], rows[group == g], other[group == g], until, variance) for g in np.unique(group)]
    expected, observed, spread = (np.array(column) for column in zip(*groups, strict=True))
    followed = ~np.isnan(observed)
    if not followed.all():
        warnings.warn(
            f"one_calibration: {np.count_nonzero(~followed)} of {followed.size} groups have no row left at time "
            f"{plain_number(until)} and are left out of the test.",
            AldsurvWarning,
            stacklevel=2,
        )
    distance = (observed - expected)[followed] ** 2
    # A group predicted with certainty is right, or as wrong as can be.
    with np.errstate(divide="ignore"):
        part = np.divide(distance, spread[followed], out=np.zeros(distance.shape), where=distance > 0)
    statistic = float(part.sum())
    return OneCalibration(statistic, float(chdtrc(part.size, statistic)), expected, observed)


def _smooth_observed(
    risk: FloatArray, rows: SurvivalData, other: NDArray[np.bool_], time: float
) -> tuple[FloatArray | None, str]:
    """The observed probability of each row, or why there is none."""
    reason = no_estimate(rows, other, time)
    if reason:
        return None, reason
    observed = observed_probability(risk, rows, time, other)
    return observed, "the regression of the events on the predictions has no finite solution"


def _group(
    risk: FloatArray, rows: SurvivalData, other: NDArray[np.bool_], time: float, variance: Variance
) -> tuple[float, float, float]:
    """Mean prediction, observed probability and variance of the latter; NaN if no row was followed so long."""
    expected = float(np.average(risk, weights=rows.weights))
    if ends_before(rows, time):
        return expected, float("nan"), float("nan")
    binomial = expected * (1 - expected) / rows.total_weight
    observed, greenwood = observed_incidence(rows, other, time)
    if variance == "binomial" or greenwood == 0:
        return expected, observed, binomial
    # The variance of one row is the predicted one, not that observed by chance.
    effective = expected * (1 - expected) * greenwood / (observed * (1 - observed))
    return expected, observed, greenwood if variance == "greenwood" else effective
