"""How often the predicted order of two subjects is the observed one, in O(n log n)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.metrics.cause_of_interest import Cause, censoring_of_causes, event_of_interest, others_never
from aldsurv.metrics.checked_arguments import FloatArray, Prediction, person_rows, undefined, without_delayed_entry
from aldsurv.metrics.discrimination.key_order import Flags
from aldsurv.metrics.discrimination.pair_order import PairOrder, share_in_order
from aldsurv.metrics.point_estimates import RankingPoint, ranking_time
from aldsurv.nonparametric.censoring_weights import Ties, inverse_censoring_weights, uncensored_share
from aldsurv.nonparametric.kaplan_meier import KaplanMeier
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted

__all__ = [
    "concordance_harrell",
    "concordance_uno",
    "event_importance",
    "last_uncensored",
    "uno_importance",
    "uno_with_others",
]


def concordance_harrell(
    predicted: Prediction,
    data: SurvivalData,
    *,
    point: RankingPoint = "follow_up",
    train: SurvivalData | None = None,
    cause: Cause = None,
) -> float:
    """Harrell's C: the share of comparable pairs whose predicted times are in the observed order.

    A pair is comparable if the earlier of its times is an event; at equal times, if one is an event and the
    other censored. Equal predictions count one half. With weights a pair counts the product of its two.

    With a cause it is that of Wolbers et al. (2009): pairs begin at its events, and rows with an event of another cause
    are the later of every such pair, for they never have that of the cause.

    Parameters
    ----------
    predicted
        A distribution, or predicted times (n,): higher is later. Only exactly equal ones are tied.
    data
        Exact and right-censored rows.
    point
        Time that represents a distribution: by default (``"follow_up"``) its mean up to the time by which 80 % of the
        training rows have left; or ``"median"``, ``"mean"``, ``"mode"``, ``"restricted_mean"`` as in `point_estimate`.
    train
        The training rows, whose follow-up counts; None: `data`.
    cause
        Number or name of the cause, where prediction and data have causes; None: they are of one event. The time that
        ranks is then that without event of the cause, within follow-up; other points are mostly infinite, for the event
        may never come.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 3, 4], [True, False, True, True])
    >>> concordance_harrell([2.0, 1.0, 3.0, 3.0], data)
    0.625
    """
    rows = without_delayed_entry(person_rows(data), "concordance_harrell")
    prediction, other = event_of_interest(predicted, rows, cause)
    estimate = ranking_time(prediction, rows, point=point, train=train)
    rows = others_never(rows, other)
    pairs = PairOrder.of(estimate, rows)
    return _concordance(pairs, rows, event_importance(pairs, rows), "concordance_harrell")


def concordance_uno(
    predicted: Prediction,
    data: SurvivalData,
    *,
    train: SurvivalData,
    tau: float | None = None,
    point: RankingPoint = "follow_up",
    ties: Ties = "scikit-survival",
    cause: Cause = None,
) -> float:
    """Uno's C: Harrell's with each pair weighted by ``1/G(t)²``, t its earlier time, for events before `tau`.

    G is the Kaplan-Meier estimate of the censoring time on the training rows. The weights remove the dependence
    of Harrell's C on how the rows happen to be censored, if censoring does not depend on the covariates.

    With a cause it is that of Wolbers et al. (2014): pairs as in `concordance_harrell`, weighted by ``1/(G(t)·G(s))``
    where the later of them had another event at ``s < t``.

    Parameters
    ----------
    predicted, data, point, cause
        As in `concordance_harrell`.
    train
        Rows to estimate the censoring from; their weights and delayed entries count.
    tau
        Only events before this time begin a pair; later rows still are their later half. None: the largest
        training time at which G is positive.
    ties
        Weight of an event at whose time others are censored: ``1/G(t)²`` as in scikit-survival, or with
        ``"events_first"`` ``1/G(t-)²``, as in `brier_score`. Without such ties both are the same.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 3, 4], [True, False, True, True])
    >>> round(concordance_uno([2.0, 1.0, 3.0, 3.0], data, train=data), 4)
    0.5952
    """
    rows = without_delayed_entry(person_rows(data), "concordance_uno")
    prediction, other = event_of_interest(predicted, rows, cause)
    estimate = ranking_time(prediction, rows, point=point, train=train)
    censoring = censoring_of_causes(train, cause)
    end = last_uncensored(censoring) if tau is None else tau
    if not (isinstance(end, (int, float, np.number)) and (end > 0 or tau is None)):
        raise ParameterError(f"tau must be a positive number or None, but is {quoted(tau)}.", argument="tau")
    if end < 0:
        return undefined("concordance_uno", "all training rows are censored at their first time")
    if end == 0:
        return undefined("concordance_uno", "no event can come before tau = 0")
    if other.any():
        share = uno_with_others(estimate, rows, other, censoring, end, ties)(rows.weights)
        reason = f"no row is known to outlive one with an event of the cause before tau = {plain_number(end)}"
        return undefined("concordance_uno", reason) if np.isnan(share) else share
    pairs = PairOrder.of(estimate, rows)
    return _concordance(
        pairs,
        rows,
        uno_importance(pairs, rows, censoring, end, ties),
        "concordance_uno",
        f" before tau = {plain_number(end)}",
    )


def event_importance(pairs: PairOrder, data: SurvivalData) -> FloatArray:
    """Weight of a row as the earlier of a pair in Harrell's C (n,), by place."""
    return data.event[pairs.rows].astype(np.float64)


def uno_importance(
    pairs: PairOrder, data: SurvivalData, censoring: KaplanMeier, tau: float, ties: Ties = "scikit-survival"
) -> FloatArray:
    """Weight of a row as the earlier of a pair in Uno's C (n,), by place."""
    # The horizon is inclusive, tau is not.
    before = float(np.nextafter(tau, -np.inf))
    if uncensored_share(censoring, before, ties) == 0:
        # An event may have no weight, and the error should name its row.
        return inverse_censoring_weights(data, censoring, horizon=before, ties=ties)[pairs.rows] ** 2
    importance, begins = np.zeros(len(data)), np.flatnonzero(data.event[pairs.rows])
    # G is looked up many times faster at ascending times.
    time = data.time[pairs.rows[begins]]
    count = np.searchsorted(time, before, side="right")
    importance[begins[:count]] = (1 / uncensored_share(censoring, time[:count], ties)) ** 2
    return importance


def uno_with_others(
    estimate: FloatArray, data: SurvivalData, other: Flags, censoring: KaplanMeier, tau: float, ties: Ties
) -> Callable[[FloatArray], float]:
    """Uno's C of a cause as a function of the weights of the rows (n,); NaN without a pair.

    Parameters
    ----------
    estimate
        Time by which rows are ranked (n,).
    data, other
        The rows, and which of them had an event of another cause (n,).
    censoring, tau, ties
        As in `uno_importance`.
    """
    # With the others as censored at their event the pairs are those of which the later was seen to outlive the earlier.
    seen = SurvivalData.from_checked(data.time, np.where(other, np.inf, data.upper))
    pairs = PairOrder.of(estimate, seen)
    squared = uno_importance(pairs, seen, censoring, tau, ties)
    begins = np.zeros(len(data))
    begins[pairs.rows] = np.sqrt(squared)
    uncensored = uncensored_share(censoring, data.time, ties)
    ends = np.divide(1.0, uncensored, out=np.zeros(len(data)), where=other & (uncensored > 0))

    def share(weights: FloatArray) -> float:
        by_place = weights[pairs.rows]
        concordant, comparable = pairs.sums(squared * by_place, by_place)
        case, control = begins * weights, ends * weights
        # Pairs with another event before that of the cause: all with another event, less those in which it came later.
        total = float(case.sum() * control.sum())
        if total > 0:
            later = pairs.sums(case[pairs.rows], control[pairs.rows])
            concordant += share_in_order(estimate, case, control) * total - later[0]
            comparable += total - later[1]
        return min(max(concordant / comparable, 0.0), 1.0) if comparable > 0 else float("nan")

    return share


def last_uncensored(censoring: KaplanMeier) -> float:
    """Largest time at which the censoring curve is positive; below 0 if there is none."""
    positive = np.count_nonzero(censoring.survival)
    return float(censoring.times[positive - 1]) if positive else -1.0


def _concordance(pairs: PairOrder, data: SurvivalData, importance: FloatArray, metric: str, limit: str = "") -> float:
    """Share of concordant pairs; NaN with a warning if there is no pair."""
    weight = None if data.weight is None else data.weight[pairs.rows]
    if weight is not None:
        importance = importance * weight
    if not importance.any():
        return undefined(metric, f"no row has an event{limit}", stacklevel=4)
    share = pairs.share(importance, weight)
    if np.isnan(share):
        return undefined(metric, f"no row is known to outlive one with an event{limit}", stacklevel=4)
    return share
