"""Which summary of a distribution to answer with, by rows that the networks did not learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.follow_up import end_of_follow_up
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.models.prediction.point_summaries import POINTS, summarised, time_point

__all__ = ["HeldRows", "PointChoice", "PointScores", "chosen_points", "given_points"]

FloatArray = NDArray[np.float64]
PointScores = dict[str, dict[str, tuple[float, float]]]

# What is taken unless another summary is better by more than chance explains: as the time, and to rank by.
_USUAL, _USUAL_RANKING = "median", "follow_up"
# Fewer events are not enough for a choice.
_LEAST_EVENTS = 10
# Rows of one member whose order is looked at, and draws of them: more would hardly change a standard error.
_MOST_RANKED, _DRAWS = 1000, 100
# Errors are measured up to the time by which this share of the rows has left: behind it weights grow without end.
_SHARE = 0.9


class HeldRows(NamedTuple):
    """What one member predicts for rows that it did not learn from, these rows, and their numbers."""

    predicted: SurvivalDistribution
    data: SurvivalData
    numbers: NDArray[np.int64]


@final
@dataclass(frozen=True)
class PointChoice:
    """The summaries chosen, and what they were chosen by: ``(score, standard error of its distance to the usual)``."""

    error: str
    ranking: str
    scores: PointScores


def given_points(point: str) -> PointChoice:
    """The summaries that a value of `point` names; of ``"auto"`` those to take without validation rows."""
    ranking = _USUAL_RANKING if point == "auto" else point
    return PointChoice(time_point(ranking), ranking, {})


def chosen_points(held: Sequence[HeldRows], train: SurvivalData, last: float) -> PointChoice:
    """The summary with the least error, and the one that ranks best.

    They are the median, and the restricted mean up to the end of follow-up, unless another is clearly better.

    The error is the mean absolute one of times cut off at the 0.9 quantile of the training times, weighted by the
    inverse probability of censoring: of times up to there it is what it would be without any censoring, if that
    does not depend on the covariates. The ranking is by Harrell's C within the rows of each member, as ``score`` has
    it. Another summary is taken if it is better by more than one standard error of the difference.

    Parameters
    ----------
    held
        Of each member; only exact and right-censored rows without delayed entry count.
    train
        All rows, to estimate the censoring and the end of follow-up from.
    last
        Up to which time the restricted mean counts.
    """
    held, train = [_usable(part) for part in held], train.persons()
    if sum(part.data.n_events for part in held) < _LEAST_EVENTS:
        return given_points("auto")
    times = [{point: summarised(part.predicted, point, last) for point in POINTS} for part in held]
    # A family without a mode, say, has none to offer.
    for point in [point for point in POINTS if any(np.isnan(own[point]).any() for own in times)]:
        times = [{other: own[other] for other in own if other != point} for own in times]
    error = _finite(_errors(held, times, train))
    end = end_of_follow_up(train)
    within = [{_USUAL_RANKING: np.asarray(part.predicted.approximate_restricted_mean(end))} for part in held]
    ranking = _finite(_rankings(held, [first | own for first, own in zip(within, times, strict=True)]))
    if _USUAL not in error or _USUAL_RANKING not in ranking:
        return given_points("auto")
    return PointChoice(
        _best(error, _USUAL, least=True),
        _best(ranking, _USUAL_RANKING, least=False),
        {"error": error, "ranking": ranking},
    )


def _usable(part: HeldRows) -> HeldRows:
    data = part.data
    rows = (data.exact | data.right_censored) & (data.weights > 0)
    if data.entry is not None:
        rows &= ~np.isfinite(data.entry)
    return HeldRows(part.predicted[rows], data[rows], part.numbers[rows])


def _finite(scores: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    return {point: score for point, score in scores.items() if np.isfinite(score).all()}


def _best(scores: dict[str, tuple[float, float]], usual: str, *, least: bool) -> str:
    to_beat = scores[usual][0]
    sign = -1.0 if least else 1.0
    clear = {point: sign * value for point, (value, error) in scores.items() if sign * (value - to_beat) > error}
    return max(clear, key=lambda point: clear[point]) if clear else usual


def _errors(
    held: Sequence[HeldRows], times: Sequence[dict[str, FloatArray]], train: SurvivalData
) -> dict[str, tuple[float, float]]:
    from aldsurv.nonparametric.censoring_weights import censoring_distribution

    known = train[(train.exact | train.right_censored) & (train.weights > 0)]
    end = float(np.quantile(known.time, _SHARE))
    censoring = censoring_distribution(known)
    time = np.concatenate([part.data.time for part in held])
    event = np.concatenate([part.data.event for part in held])
    weight = np.concatenate([part.data.weights for part in held])
    numbers = np.concatenate([part.numbers for part in held])
    seen = np.minimum(time, end)
    # Who is censored at the time of an event was still there to have it: just before counts.
    chance = censoring.survival_at(np.nextafter(seen, -np.inf))
    weight = np.where(event | (time >= end), weight / np.maximum(chance, 1 - _SHARE), 0.0)
    errors = {
        point: np.abs(np.minimum(np.concatenate([own[point] for own in times]), end) - seen) for point in times[0]
    }
    total = weight.sum()
    found = {}
    for point, error in errors.items():
        difference = error - errors[_USUAL]
        pull = weight * (difference - weight @ difference / total) / total
        # A row that several members held out is one row.
        found[point] = float(weight @ error / total), float(np.sqrt((np.bincount(numbers, pull) ** 2).sum()))
    return found


def _rankings(held: Sequence[HeldRows], times: Sequence[dict[str, FloatArray]]) -> dict[str, tuple[float, float]]:
    from aldsurv.metrics.discrimination.concordance import event_importance
    from aldsurv.metrics.discrimination.pair_order import PairOrder

    generator = np.random.default_rng(0)
    shares: list[dict[str, FloatArray]] = []
    for part, own in zip(held, times, strict=True):
        rows = np.arange(len(part.data))
        if len(rows) > _MOST_RANKED:
            rows = np.sort(generator.choice(rows, _MOST_RANKED, replace=False))
        data = part.data[rows]
        counts = generator.multinomial(len(rows), np.full(len(rows), 1 / max(len(rows), 1)), _DRAWS)
        weights = np.vstack([np.ones(len(rows)), counts]) * data.weights
        orders = {point: PairOrder.of(own[point][rows], data) for point in own}
        found = {p: pairs.shares(event_importance(pairs, data), weights[:, pairs.rows]) for p, pairs in orders.items()}
        # Rows none of which is known to outlive another's event have no order.
        if np.isfinite(found[_USUAL_RANKING][0]):
            shares.append(found)
    if not shares:
        return {}
    mean = {point: np.mean([found[point] for found in shares], axis=0) for point in times[0]}
    return {
        point: (float(own[0]), float(np.std((own - mean[_USUAL_RANKING])[1:][np.isfinite(own[1:])])))
        for point, own in mean.items()
        if np.isfinite(own[1:]).any()
    }
