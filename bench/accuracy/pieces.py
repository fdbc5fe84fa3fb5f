"""The density of a model that gives a table of its curve: constant hazard between knots that all such models share.

A step function has no density, and every way to give it one favours somebody: between all event times the hazard of
Cox's baseline is one event over a risk set, here high and there low by chance. So all models that say no more than
values of a curve are asked for survival at the same knots, and what lies between is exponential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData
from aldsurv.distributions import (
    Mixture,
    ProportionalHazards,
    QuantileKnots,
    Recalibrated,
    Step,
    SurvivalDistribution,
)

__all__ = ["EVENTS_A_PIECE", "MOST_PIECES", "PiecewiseExponential", "is_table", "pieces_of"]

FloatArray = NDArray[np.float64]

# Thirty follow any curve of these data. K pieces that are estimated from the rows cost K/(2n) of log-loss, which with
# thirty would be 0.03 on the smallest sets: so ten events a piece at least, of which the hazard is known to a third.
MOST_PIECES = 30
EVENTS_A_PIECE = 10


@final
@dataclass(frozen=True)
class PiecewiseExponential:
    """Constant hazard between knots, the last going on for ever.

    Parameters
    ----------
    knots
        ``(m + 1,)``, ascending from 0.
    hazards
        ``(n, m)``, positive.
    """

    knots: FloatArray
    hazards: FloatArray

    def log_hazard(self, times: FloatArray) -> FloatArray:
        """Of each row at its own time (n,); a knot belongs to the piece that it ends."""
        piece = np.clip(np.searchsorted(self.knots, times) - 1, 0, self.hazards.shape[1] - 1)
        return np.asarray(np.log(self.hazards[np.arange(len(times)), piece]))

    def cumulative_hazard(self, times: FloatArray) -> FloatArray:
        """Of each row at its own time (n,)."""
        ends = np.append(self.knots[1:-1], np.inf)
        spent = np.clip(np.minimum(times[:, None], ends) - self.knots[:-1], 0.0, None)
        return np.asarray((self.hazards * spent).sum(axis=1))

    def log_likelihood(self, data: SurvivalData) -> FloatArray:
        """Of each row (n,): exact, right-censored or left-censored."""
        found = np.full(len(data), np.nan)
        exact, right = data.exact, data.right_censored
        left = np.isneginf(data.lower)
        early = np.where(left, data.upper, data.lower)
        cumulative = self.cumulative_hazard(early)
        found[exact] = (self.log_hazard(early) - cumulative)[exact]
        found[right] = -cumulative[right]
        found[left] = np.log(-np.expm1(-cumulative[left]))
        return found


def is_table(predicted: SurvivalDistribution) -> bool:
    """Whether a distribution is a table of a curve, with a density that is only that of the lines between."""
    if isinstance(predicted, Mixture):
        return any(is_table(part) for part in predicted.components)
    if isinstance(predicted, Recalibrated):
        return is_table(predicted.base)
    return isinstance(predicted, (ProportionalHazards, QuantileKnots, Step))


def pieces_of(
    predicted: SurvivalDistribution, learn: SurvivalData, *, pieces: int | None = None
) -> PiecewiseExponential:
    """A prediction made piecewise exponential at quantiles of the event times in the rows learned from.

    Steps are joined by straight lines first, so that a model with fewer steps than there are pieces has none without
    hazard. Whatever a tree or a tail has never seen, nothing is impossible: survival is at least half a row's share of
    the rows learned from, and the hazard at least half an event over all the time for which these were watched.
    """
    events = learn.time[learn.event]
    if pieces is None:
        pieces = int(np.clip(len(events) // EVENTS_A_PIECE, 1, MOST_PIECES))
    knots = np.unique(np.append(0.0, np.quantile(events, np.arange(1, pieces + 1) / pieces)))
    survival = np.asarray(_joined(predicted).survival(knots[1:]), np.float64).reshape(len(predicted), -1)
    survival = np.clip(survival, 0.5 / len(learn), 1.0)
    cumulative = np.maximum.accumulate(-np.log(survival), axis=1)
    hazards = np.diff(cumulative, axis=1, prepend=0.0) / np.diff(knots)
    return PiecewiseExponential(knots, np.maximum(hazards, 0.5 / learn.time.sum()))


def _joined(predicted: SurvivalDistribution) -> SurvivalDistribution:
    if isinstance(predicted, Mixture):
        return Mixture([_joined(part) for part in predicted.components], predicted.weights)
    return predicted.smoothed() if isinstance(predicted, (ProportionalHazards, Step)) else predicted
