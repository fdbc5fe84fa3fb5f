"""Groups of rows with like predictions, and the probability of the event that was observed in each of them."""

from __future__ import annotations

from math import exp, log, nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.calibration.calibration_curve import observed_incidence
from aldsurv.metrics.calibration.expected_events import cumulative_hazard, no_estimate, risks_at
from aldsurv.metrics.cause_of_interest import Cause
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution
from aldsurv.nonparametric.kaplan_meier import kaplan_meier
from aldsurv.nonparametric.survival_limits import survival_limits

__all__ = [
    "ObservedRisk",
    "RiskGroup",
    "calibration_groups",
    "ends_before",
    "groups_by_risk",
    "joined_groups",
    "observed_risk",
]


class ObservedRisk(NamedTuple):
    """An observed probability of the event with its confidence limits; NaN where no row was followed so long."""

    observed: float
    lower: float
    upper: float


class RiskGroup(NamedTuple):
    """A group of like predictions: its number of rows, mean predicted and observed probability with limits."""

    rows: int
    predicted: float
    observed: float
    lower: float
    upper: float


def groups_by_risk(risk: FloatArray, weights: FloatArray, bins: int) -> NDArray[np.intp]:
    """Number of the group of each row, by the share of the weight of smaller risk; of ties, by their middle."""
    rank = np.unique(risk, return_inverse=True)[1]
    tied = np.bincount(rank, weights)
    middle = (np.cumsum(tied) - tied / 2) / tied.sum()
    return np.asarray(np.minimum((bins * middle).astype(np.intp), bins - 1)[rank])


def joined_groups(
    group: NDArray[np.intp], hazard: FloatArray, rows: SurvivalData, time: float, least: int
) -> NDArray[np.intp]:
    """Numbers of groups, neighbours joined until each has enough expected events and enough rows beyond `time`."""
    expected = np.bincount(group, rows.weights * hazard)
    beyond = np.bincount(group, rows.weights * (rows.time > time))
    label = np.zeros(expected.size, np.intp)
    current, events, rest = 0, 0.0, 0.0
    for place in range(expected.size):
        label[place] = current
        events, rest = events + float(expected[place]), rest + float(beyond[place])
        if min(events, rest) >= least:
            current, events, rest = current + 1, 0.0, 0.0
    # Rows left over at the end go to the last group that has enough.
    return np.asarray(np.minimum(label, max(current - 1, 0))[group])


def ends_before(rows: SurvivalData, time: float) -> bool:
    """Whether the last row was censored before `time`, so that there is no estimate at it."""
    last = rows.time.max()
    return bool(last < time and not rows.event[rows.time == last].all())


def observed_risk(
    rows: SurvivalData, other: NDArray[np.bool_], time: float, *, confidence: float = 0.95
) -> ObservedRisk:
    """Kaplan-Meier's probability of the event by `time`, that of a cause Aalen-Johansen's, with confidence limits.

    Limits are those of the beta product (`survival_limits`); with weights, delayed entry or other causes they are
    normal for ``log(-log(1 - F))``.

    Parameters
    ----------
    rows, other
        Rows of positive weight, and which of them (n,) had an event of another cause.
    time
        When to look.
    confidence
        Confidence of the limits.
    """
    if len(rows) == 0 or ends_before(rows, time):
        return ObservedRisk(nan, nan, nan)
    delayed = rows.entry is not None and bool((rows.entry > 0).any())
    if rows.weight is None and not delayed and not other.any():
        curve = kaplan_meier(rows)
        low, high = survival_limits(curve, time, confidence)
        return ObservedRisk(1 - float(curve.survival_at(time)), 1 - high, 1 - low)
    observed, variance = observed_incidence(rows, other, time)
    if not 0 < observed < 1 or not variance > 0:
        return ObservedRisk(observed, nan, nan)
    survival = 1 - observed
    width = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(variance) / (survival * -log(survival))
    lower, upper = (1 - survival ** exp(min(side * width, 700.0)) for side in (-1, 1))
    return ObservedRisk(observed, lower, upper)


def calibration_groups(
    predicted: PredictedDistribution,
    data: SurvivalData,
    time: float,
    *,
    bins: int = 10,
    least: int = 5,
    cause: Cause = None,
) -> tuple[RiskGroup, ...]:
    """The groups of `one_calibration`, each with 95 % limits of its observed probability; none without an estimate."""
    until, risk, rows, other = risks_at(predicted, data, time, cause, "calibration_groups")
    if no_estimate(rows, other, until):
        return ()
    counted = SurvivalData.of(data).weights > 0
    hazard = cumulative_hazard(predicted[counted], np.minimum(rows.time, until), cause)
    group = joined_groups(groups_by_risk(risk, rows.weights, bins), hazard, rows, until, least)
    results = []
    for number in np.unique(group):
        here = group == number
        mean = float(np.average(risk[here], weights=rows.weights[here]))
        results.append(RiskGroup(int(here.sum()), mean, *observed_risk(rows[here], other[here], until)))
    return tuple(results)
