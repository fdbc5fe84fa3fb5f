"""D-calibration, a test of the levels of single rows, and the distance of the mean prediction from Kaplan-Meier."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import AldsurvWarning
from aldsurv.metrics.calibration.event_levels import event_levels
from aldsurv.metrics.cause_of_interest import Cause, event_of_interest
from aldsurv.metrics.checked_arguments import (
    FloatArray,
    PredictedDistribution,
    matched_data,
    undefined,
    without_delayed_entry,
)
from aldsurv.metrics.evaluation_times import checked_time, mean_survival
from aldsurv.nonparametric.aalen_johansen import aalen_johansen
from aldsurv.nonparametric.kaplan_meier import kaplan_meier
from aldsurv.plain_numbers import plain_number

__all__ = ["DCalibration", "d_calibration", "d_calibration_of", "km_calibration"]

# Times at which the two curves are compared: of each kind, evenly spaced and those of events, at most so many.
_PLACES = 512


class DCalibration(NamedTuple):
    """Test of uniform ``u = F(y|x)``: the statistic, its p-value and the counts (bins,) it compares."""

    statistic: float
    p_value: float
    counts: FloatArray


def d_calibration(
    predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None
) -> DCalibration:
    """D-calibration of Haider et al. (2020): chi-square test that the `calibration_counts` are all alike.

    ``Σ_j (ζ_j - N/bins)²/(N/bins)``, ζ the counts and N their sum, against chi-square with ``bins - 1`` degrees of
    freedom. A small p-value speaks against the prediction. Without censoring the p-values of a right prediction
    are uniform. Censored rows are spread, which takes scatter out of the counts: then they tend to be larger, the
    test is conservative, and a large one is weak evidence.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, censored in any way; delayed entry as in `event_levels`. A weight counts as that
        many rows, so weights on another scale change the p-value.
    bins
        Number of bins, 2 or more. The p-value needs about five rows or more per bin.
    cause
        Number or name of a cause: then of the levels of its events among the times of that cause, as in `event_levels`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([0.1, 0.2, 1.0, 2.0], [True] * 4)
    >>> d_calibration(Exponential([1.0] * 4), data, bins=4)
    DCalibration(statistic=2.0, p_value=0.5724, counts=array([2., 0., 1., 1.]))
    """
    counts = event_levels(predicted, data, cause=cause).counts(bins)
    if counts.sum() == 0:
        reason = "no row has a positive weight" if cause is None else "no row can have an event of the cause"
        return DCalibration(undefined("d_calibration", reason), float("nan"), counts)
    return d_calibration_of(counts)


def d_calibration_of(counts: FloatArray) -> DCalibration:
    """The test of counts (bins,) that are not all 0."""
    total, bins = float(counts.sum()), counts.size
    # Imports ten times faster than scipy.stats.
    from scipy.special import chdtrc

    expected = total / bins
    statistic = float(((counts - expected) ** 2).sum() / expected)
    return DCalibration(statistic, float(chdtrc(bins - 1, statistic)), counts)


def km_calibration(
    predicted: PredictedDistribution, data: SurvivalData, *, horizon: float | None = None, cause: Cause = None
) -> float:
    """Mean squared distance over time of the mean predicted survival from the Kaplan-Meier curve; 0 is best.

    ``1/τ·∫ (mean S(t|x) - KM(t))² dt`` over ``(0, τ)``. The difference is computed at 512 evenly spaced times and just
    before and at each time of an event (of more than 512 of these, at 512 spread like them), and is linear in between.
    All predictions being the Kaplan-Meier curve is enough for a 0: it says nothing about single rows. With a cause, the
    mean predicted incidence is compared with the Aalen-Johansen estimate.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored. Weights count in both curves.
    horizon
        τ; None: the last event time. One after the last row is cut to the last time, with a warning.
    cause
        Number or name of the cause, where prediction and data have causes; None: they are of one event.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> round(km_calibration(Exponential([1.0, 2.0, 3.0, 6.0]), data), 4)
    0.0589
    """
    prediction, other = event_of_interest(predicted, SurvivalData.of(data), cause)
    rows = without_delayed_entry(matched_data(prediction, data), "km_calibration")
    if horizon is not None:
        checked_time(horizon, "horizon")
    _ = rows.time  # raises for rows that are neither exact nor right-censored, even of weight 0
    if rows.total_weight == 0:
        return undefined("km_calibration", "no row has a positive weight")
    curve = _observed_curve(rows, other, cause)
    last = float(rows.time[rows.weights > 0].max())
    if horizon is None:
        if not (curve.falls > 0).any():
            return undefined("km_calibration", "no row has an event after time 0")
        horizon = float(curve.falls[-1])
    elif last == 0:
        return undefined("km_calibration", "all rows end at time 0")
    if horizon > last:
        warnings.warn(
            f"km_calibration: the rows end at {plain_number(last)}, before the horizon {plain_number(horizon)}; the "
            f"horizon used is {plain_number(last)}.",
            AldsurvWarning,
            stacklevel=2,
        )
    until = min(float(horizon), last)
    return _squared_distance(prediction, rows.weights, curve, until) / until


class _ObservedCurve(NamedTuple):
    """An estimate of survival without the event of interest, and the times at which it falls, ascending."""

    survival_at: Callable[[FloatArray], FloatArray]
    falls: FloatArray


def _observed_curve(rows: SurvivalData, other: NDArray[np.bool_], cause: Cause) -> _ObservedCurve:
    if cause is None:
        curve = kaplan_meier(rows)
        return _ObservedCurve(curve.survival_at, curve.times[curve.events > 0])
    curves = aalen_johansen(SurvivalData.competing(rows.time, np.where(rows.event, 1 + other, 0), weight=rows.weight))
    return _ObservedCurve(lambda times: 1 - curves.incidence_at(times, 1), curves.times[curves.events[0] > 0])


def _squared_distance(
    predicted: SurvivalDistribution, weights: FloatArray, curve: _ObservedCurve, until: float
) -> float:
    """``∫ (mean S - KM)²`` from 0 to `until`, exact for a difference that is linear between its places."""
    falls = curve.falls[(curve.falls > 0) & (curve.falls <= until)]
    if falls.size > _PLACES:
        falls = falls[np.linspace(0, falls.size - 1, _PLACES).astype(np.intp)]
    # Both curves may fall at the times of events: up to a time the value just before it holds.
    before = np.nextafter(falls, 0.0)
    places = np.unique(np.concatenate([np.linspace(0.0, until, _PLACES), falls, before]))
    apart = mean_survival(predicted, weights, places) - curve.survival_at(places)
    left, right = apart[:-1], apart[1:]
    return float((np.diff(places) * (left**2 + left * right + right**2)).sum() / 3)
