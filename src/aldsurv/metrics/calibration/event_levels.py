"""Levels of events in their predicted distributions, ``u = F(y|x)``, and how uniform they are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from aldsurv.checks import WholeNumber, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.distributions.numerics.backend import Array
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.errors import ParameterError
from aldsurv.metrics.cause_of_interest import Cause, event_of_interest
from aldsurv.metrics.checked_arguments import (
    FloatArray,
    PredictedDistribution,
    as_numbers,
    matched_data,
    undefined,
)

__all__ = ["CalibrationLine", "CalibrationPoints", "EventLevels", "event_levels"]


class CalibrationLine(NamedTuple):
    """Least-squares line through calibration points: slope 1 and intercept 0 for a right prediction."""

    slope: float
    intercept: float


class CalibrationPoints(NamedTuple):
    """Predicted probabilities and observed shares of events, each (k,)."""

    predicted: FloatArray
    observed: FloatArray

    @property
    def line(self) -> CalibrationLine:
        """Least-squares line of the observed on the predicted."""
        centred = self.predicted - self.predicted.mean()
        slope = float((centred * self.observed).sum() / (centred**2).sum())
        return CalibrationLine(slope, float(self.observed.mean() - slope * self.predicted.mean()))


class EventLevels(NamedTuple):
    """One unit of mass per row, times its weight: spread evenly over (low, high], or at low where both are equal."""

    low: FloatArray
    high: FloatArray
    weight: FloatArray

    @property
    def middle(self) -> FloatArray:
        """Middle of the interval of each row (n,): for an event at an exact time its level."""
        return (self.low + self.high) / 2

    def mass_until(self, level: float, *, inclusive: bool = True) -> float:
        """Mass at or below `level`; below it, if not inclusive."""
        return float((self.weight * self.share_until(level, inclusive=inclusive)).sum())

    def share_until(self, level: float, *, inclusive: bool = True) -> FloatArray:
        """Share of the mass of each row (n,) at or below `level`; below it, if not inclusive."""
        # A width next to 0 does no harm: inside it the quotient is below 1, outside it is cut, even if infinite.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = np.clip((level - self.low) / (self.high - self.low), 0.0, 1.0)
        reached = self.low <= level if inclusive else self.low < level
        return np.where(self.low == self.high, reached, share)

    def counts(self, bins: int) -> FloatArray:
        """Mass in each of `bins` equal bins (a, b]; mass at 0 counts in the first."""
        check("bins", bins, WholeNumber(2))
        inner = [self.mass_until(j / bins) for j in range(1, bins)]
        return np.diff([0.0, *inner, float(self.weight.sum())])

    def condensed(self, bins: int) -> EventLevels:
        """At most ``4·bins + 1`` masses that `counts`, `survival_points` and `density_points` cannot tell from these.

        Those look at multiples of ``1/(2·bins)`` only: mass at one stays there, mass between two goes to their middle.
        """
        ends = [k / (2 * bins) for k in range(2 * bins + 1)]
        until = [self.mass_until(end, inclusive=inclusive) for end in ends for inclusive in (False, True)]
        middles = [(low + high) / 2 for low, high in pairwise(ends)]
        places = np.sort(np.concatenate([ends, middles]))
        return EventLevels(places, places, np.diff(until))

    def distance_from_uniform(self, bins: int) -> float:
        """``100·Σ (1/bins - share of the mass in a bin)²``."""
        return float(100 * ((1 / bins - self._shares(self.counts(bins))) ** 2).sum())

    def expected_distance(self, bins: int) -> float:
        """Expected value of `distance_from_uniform` if the levels are uniform.

        Each row's mass in a bin has mean 1/bins then, so that its squared distance from there is the variance.
        """
        check("bins", bins, WholeNumber(2))
        until = [np.zeros(len(self.low)), *(self.share_until(j / bins) for j in range(1, bins)), np.ones(len(self.low))]
        squared = sum((after - before - 1 / bins) ** 2 for before, after in pairwise(until))
        return float(100 * (self._shares(self.weight) ** 2 * squared).sum())

    def survival_points(self, bins: int) -> CalibrationPoints:
        """Share of the mass at or below j/bins, j = 1 … bins."""
        counts = self.counts(bins)
        return CalibrationPoints(np.arange(1, bins + 1) / bins, self._shares(np.cumsum(counts)))

    def density_points(self, bins: int) -> CalibrationPoints:
        """Share of the mass in [0.5 - w/2, 0.5 + w/2], w = j/bins, j = 1 … bins - 1."""
        check("bins", bins, WholeNumber(3))
        # Ends of the interval as quotients of integers: 0.5 - 0.7/2 is not the float 0.15.
        within = [
            self.mass_until((bins + j) / (2 * bins)) - self.mass_until((bins - j) / (2 * bins), inclusive=False)
            for j in range(1, bins)
        ]
        return CalibrationPoints(np.arange(1, bins) / bins, self._shares(np.array(within)))

    def _shares(self, mass: FloatArray) -> FloatArray:
        total = float(self.weight.sum())
        if total == 0:
            return np.full(mass.shape, undefined("calibration", "no row has a positive weight", stacklevel=5))
        return mass / total


def event_levels(
    predicted: PredictedDistribution, data: SurvivalData, *, cause: Cause = None, smallest: float | None = None
) -> EventLevels:
    """The interval in which ``u = F(y|x)`` of each row lies.

    If the predictions are right, the u of the event times are uniform on (0, 1). The u of an event is one number, that
    of a censored row lies in an interval: right-censored at y ``(F(y), 1]``, left-censored ``(0, F(y)]``,
    interval-censored ``(F(lower), F(upper)]``; if the prediction is right, u is uniform in there. An event at 0 is one
    at or before the smallest time above 0 of these rows, as in training. With delayed entry at a, F is that of those
    event-free at a: ``1 - S(y)/S(a)``.

    With a cause, u is the level of its event among the times of that cause, ``F(y|x)/F(∞|x)`` with F the incidence, and
    uniform for those who have it. An event of another cause has no u. A row censored at c has one with the predicted
    probability that the cause comes yet, ``(F(∞) - F(c))/S(c)``: so much of its weight lies in ``(F(c)/F(∞), 1]``. The
    levels say whether the times of a cause are right given that it comes, not how often it comes: for that see
    `calibration_in_the_large`.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, censored in any way; with a cause, exact or right-censored.
    cause
        Number or name of the cause, where prediction and data have causes; None: they are of one event.
    smallest
        The smallest time above 0, where these rows are a part of all. None: that of these rows.
    """
    if cause is not None:
        return _levels_of_cause(predicted, SurvivalData.of(data), cause)
    distribution, _ = event_of_interest(predicted, SurvivalData.of(data), None)
    rows = with_zero_as_early(matched_data(distribution, data), smallest)
    low = _level(distribution, rows.lower, rows.entry)
    high = np.where(rows.right_censored, 1.0, low)
    between = np.flatnonzero(rows.left_censored | rows.interval_censored)
    if between.size:
        entry = None if rows.entry is None else rows.entry[between]
        high[between] = _level(distribution[between], rows.upper[between], entry)
    return EventLevels(low, np.maximum(low, high), rows.weights)


def _levels_of_cause(predicted: PredictedDistribution, rows: SurvivalData, cause: int | str) -> EventLevels:
    part, other = event_of_interest(predicted, rows, cause)
    if not isinstance(predicted, CompetingDistribution):
        raise ParameterError(
            f"predicted must be a CompetingDistribution, but is {type(predicted).__name__}.", argument="predicted"
        )
    early = with_zero_as_early(rows)
    at_zero = early.left_censored
    time = np.where(at_zero, early.upper, rows.time)
    until, ever = _at(part.cdf, time), predicted.cause_probability(cause)
    since = np.zeros(len(rows)) if rows.entry is None else _at(part.cdf, rows.entry)
    # Where the prediction leaves no probability for the cause, its event comes after all of it.
    yet = np.maximum(ever - since, 0.0)
    level = np.where(yet > 0, np.clip((until - since) / np.where(yet > 0, yet, 1.0), 0.0, 1.0), 1.0)
    left = _at(predicted.overall().survival, time)
    chance = np.divide(np.maximum(ever - until, 0.0), left, out=np.zeros(len(rows)), where=left > 0)
    mass = np.where(rows.event, ~other, np.minimum(chance, 1.0))
    high = np.where(rows.event, level, 1.0)
    return EventLevels(np.where(at_zero, 0.0, level), np.maximum(level, high), rows.weights * mass)


def _level(predicted: SurvivalDistribution, time: FloatArray, entry: FloatArray | None) -> FloatArray:
    """``F(time)``, or that of those event-free at `entry`."""
    if entry is None:
        return _at(predicted.cdf, time)
    since = _at(predicted.log_survival, entry)
    # If by the prediction no subject was left at entry, the event comes after all of the probability.
    left = since > -np.inf
    until = np.where(left, _at(predicted.log_survival, np.maximum(time, entry)), -np.inf)
    return np.asarray(-np.expm1(until - np.where(left, since, 0.0)))


def _at(method: Callable[[FloatArray], Array], time: FloatArray) -> FloatArray:
    """The cdf or the log survival at one time per row: both are 0 at -inf."""
    finite = np.isfinite(time)
    return np.where(finite, as_numbers(method(np.where(finite, time, 0.0)[:, None]))[:, 0], 0.0)
