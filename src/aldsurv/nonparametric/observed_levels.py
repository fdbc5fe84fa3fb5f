"""The distribution of the levels of events, ``u = F(y|x)``, by Kaplan-Meier, and the map that makes them uniform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.errors import ParameterError
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["LevelCurve", "level_curve", "level_map", "observed_odds"]

FloatArray = NDArray[np.float64]

# With fewer events than this beyond a knot, or fewer rows at risk there, its position is too uncertain.
_LEAST_EVENTS = 5
_LEAST_AT_RISK = 10
# A steeper map would put a spike of density where many rows have the same level, as tied times have.
_STEEPEST = 20.0


class LevelCurve(NamedTuple):
    """Kaplan-Meier estimate of the distribution of the levels of events.

    Attributes
    ----------
    odds
        Log odds of the levels (m,) at which events were seen, ascending; infinite for levels 0 and 1.
    cdf
        Estimated share of all rows whose event comes at or below each level.
    at_risk
        Weight of the rows at risk at each level.
    events
        Number of events; with weights the effective number, of equal weights that carry as much information.
    weight
        That equal weight: 1 without weights.
    """

    odds: FloatArray
    cdf: FloatArray
    at_risk: FloatArray
    events: float
    weight: float


def observed_odds(predicted: SurvivalDistribution, times: FloatArray) -> FloatArray:
    """Log odds (n,) of ``F(time)`` of each row, -inf at time -inf."""
    finite = np.isfinite(times)
    column = np.where(finite, times, 0.0)[:, None]
    with np.errstate(divide="ignore"):
        odds = np.asarray(predicted.log_cdf(column) - predicted.log_survival(column), np.float64)[:, 0]
    return np.where(finite, odds, -np.inf)


def level_curve(parts: Sequence[tuple[SurvivalDistribution, SurvivalData]]) -> LevelCurve:
    """The curve of rows that were predicted in one or several parts.

    A censored row is censored at the level it had reached; one that entered late is at risk from the level of its
    entry on. Weights count.

    Parameters
    ----------
    parts
        Predictions, each with the same rows as observed: exact or right-censored.
    """
    if any(len(predicted) != len(data) for predicted, data in parts):
        raise ParameterError("each prediction must have as many rows as the data that it is for.", argument="parts")
    data = SurvivalData.concatenate([rows for _, rows in parts])
    event = data.event
    odds = np.concatenate([observed_odds(predicted, rows.time) for predicted, rows in parts])
    since = np.full(len(data), -np.inf)
    if data.entry is not None:
        starts = [np.full(len(rows), -np.inf) if rows.entry is None else rows.entry for _, rows in parts]
        since = np.concatenate([observed_odds(each, start) for (each, _), start in zip(parts, starts, strict=True)])
    # A row whose predicted survival was 0 before its entry was never at risk: it carries no information.
    usable = (odds > since) & (data.weights > 0) if data.entry is not None else data.weights > 0
    odds, since, event, weight = odds[usable], since[usable], event[usable], data.weights[usable]
    if not event.any():
        return LevelCurve(np.empty(0), np.empty(0), np.empty(0), 0.0, 1.0)
    # Only the order of the levels matters, and ranks can serve as times.
    places, ranks = np.unique(np.concatenate([since, odds]), return_inverse=True)
    entry, time = (part.astype(np.float64) for part in np.split(ranks.ravel(), 2))
    entered = None if data.entry is None else np.where(np.isfinite(since), entry, -np.inf)
    curve = kaplan_meier(SurvivalData.right(time, event, entry=entered, weight=weight))
    seen = curve.events > 0
    weighed = weight[event]
    return LevelCurve(
        places[curve.times[seen].astype(np.intp)],
        1 - curve.survival[seen],
        curve.at_risk[seen],
        float(weighed.sum() ** 2 / (weighed**2).sum()),
        float((weighed**2).sum() / weighed.sum()),
    )


def level_map(parts: Sequence[tuple[SurvivalDistribution, SurvivalData]], *, bins: int | None = None) -> LevelMap:
    """The map after which the levels of events are uniform: through the Kaplan-Meier estimate at a few levels.

    It passes through the estimate where that has reached 1/bins, 2/bins, … and, if there are events enough, halfway to
    both ends again and again. Beyond the last knot, where censoring ended the estimate, the prediction keeps its shape.

    Parameters
    ----------
    parts
        Predictions of rows that the model was not trained on, each with the same rows as observed.
    bins
        Number of bins; None: the cube root of the number of events. Fewer than two: the identity.

    Examples
    --------
    Times twice as long as predicted: the predicted median is reached when 29 % have had the event.

    >>> from aldsurv.distributions import Exponential
    >>> time = np.random.default_rng(0).exponential(2.0, 4000)
    >>> recalibration = level_map([(Exponential(np.ones(4000)), SurvivalData.right(time, np.ones(4000)))])
    >>> recalibration([0.5, 0.9]).round(2)
    array([0.29, 0.69])
    """
    curve = level_curve(parts)
    count = round(curve.events ** (1 / 3)) if bins is None else bins
    wanted = np.arange(1, count) / max(count, 1)
    end = 1 / count if count > 1 else 0.0
    while end * curve.events / 2 >= _LEAST_EVENTS:
        end /= 2
        wanted = np.concatenate([[end], wanted, [1 - end]])
    chosen = np.unique(np.searchsorted(curve.cdf, wanted - 1e-12))
    chosen = chosen[chosen < curve.cdf.size]
    usable = np.isfinite(curve.odds[chosen]) & (curve.cdf[chosen] > 0) & (curve.cdf[chosen] < 1 - 1e-12)
    usable &= curve.at_risk[chosen] >= _LEAST_AT_RISK * curve.weight
    cdf = curve.cdf[chosen[usable]]
    return LevelMap(*_not_too_steep(curve.odds[chosen[usable]], np.log(cdf) - np.log1p(-cdf)))


def _not_too_steep(knots: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    kept: list[int] = []
    for k in range(knots.size):
        if not kept or values[k] - values[kept[-1]] <= _STEEPEST * (knots[k] - knots[kept[-1]]):
            kept.append(k)
    return knots[kept], values[kept]
