"""Discrimination that may change with time: the cumulative/dynamic AUC and Antolini's C."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.metrics.cause_of_interest import Cause, censoring_of_causes, event_of_interest, others_never
from aldsurv.metrics.checked_arguments import (
    FloatArray,
    PredictedDistribution,
    Prediction,
    as_numbers,
    matched_data,
    person_rows,
    undefined,
    without_delayed_entry,
)
from aldsurv.metrics.discrimination.key_order import Flags, Indices
from aldsurv.metrics.discrimination.pair_order import share_in_order
from aldsurv.metrics.error.brier import event_weights
from aldsurv.metrics.evaluation_times import checked_times
from aldsurv.metrics.point_estimates import point_estimate
from aldsurv.nonparametric.aalen_johansen import aalen_johansen
from aldsurv.nonparametric.censoring_weights import Ties, has_estimate
from aldsurv.nonparametric.kaplan_meier import kaplan_meier
from aldsurv.plain_numbers import plain_number

__all__ = ["DynamicAuc", "concordance_antolini", "cumulative_dynamic_auc"]

# Pairs compared at once: bounds the memory, whatever the number of rows.
_BLOCK_PAIRS = 1 << 20


class DynamicAuc(NamedTuple):
    """Area under the ROC curve at each time (m,), and its mean."""

    auc: FloatArray
    mean: float


def cumulative_dynamic_auc(
    predicted: Prediction,
    data: SurvivalData,
    times: ArrayLike,
    *,
    train: SurvivalData,
    ties: Ties = "events_first",
    cause: Cause = None,
) -> DynamicAuc:
    """Probability that of a row with the event by t and one event-free at t the first has the higher risk at t.

    Cases at t are the events at ``y ≤ t``, each weighted by ``1/G(y-)``, controls the rows at ``y > t`` (Uno et al.
    2007; Hung & Chiang 2010); G is the Kaplan-Meier estimate of the censoring time on the training rows. The risk is
    ``1 - S(t|x)``; equal ones count one half. The mean weights each time by the fall of the Kaplan-Meier
    curve of the rows since the time before it (Lambert & Chevret 2016). It takes O(n log n) per time.

    With a cause, cases are its events, and controls all that have not had one by t: rows at ``y > t``, weighted by
    ``1/G(t)``, and those with an event of another cause at ``y ≤ t``, weighted by ``1/G(y-)`` (the second definition of
    Blanche, Dartigues & Jacqmin-Gadda 2013, and that of riskRegression). The risk is the predicted incidence, and the
    mean follows the rise of the Aalen-Johansen estimate.

    Parameters
    ----------
    predicted
        A distribution, or predicted times (n,): higher is later.
    data
        Exact and right-censored rows. With weights a pair counts the product of its two.
    times
        Times (m,), in any order. NaN, with a warning, where there is no case or no control, where no training
        row reaches, or where G is 0; the mean is that of the others.
    train
        Rows to estimate the censoring from; their weights and delayed entries count.
    ties
        Weight of a case at whose time others are censored, as in `brier_score`: ``"scikit-survival"`` for ``1/G(y)``.
    cause
        Number or name of the cause, as in `brier_score`.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 3, 4, 5], [True, False, True, True, False])
    >>> result = cumulative_dynamic_auc([2.0, 1.0, 4.0, 3.0, 5.0], data, [1, 3], train=data)
    >>> result.auc.round(4), round(result.mean, 4)
    (array([0.75  , 0.7143]), 0.7296)
    """
    rows = without_delayed_entry(person_rows(data), "cumulative_dynamic_auc")
    grid = checked_times(times)
    prediction, other = event_of_interest(predicted, rows, cause)
    ranking = _ranking_by_time(prediction, rows)
    weight = rows.weights
    if not weight.any():
        nothing = undefined("cumulative_dynamic_auc", "no row has a positive weight")
        return DynamicAuc(np.full(grid.shape, nothing), nothing)
    censoring = censoring_of_causes(train, cause)
    event_weight = weight * event_weights(rows, censoring, ties)
    auc = np.full(grid.shape, np.nan)
    for k in np.flatnonzero(has_estimate(censoring, grid)):
        waiting = rows.time > grid[k]
        case = np.where(waiting | other, 0.0, event_weight)
        # Relative to the rows still waiting, of which each stands for 1/G(t).
        control = np.where(other, event_weight * censoring.survival_at(grid[k]), 0.0)
        control = np.where(waiting, weight, control)
        if case.any() and control.any():
            auc[k] = share_in_order(ranking(float(grid[k])), case, control)
    _warn_of_gaps(grid, auc)
    return DynamicAuc(auc, _mean_auc(auc, grid, _observed_survival(rows, other, cause)))


def _ranking_by_time(predicted: Prediction, rows: SurvivalData) -> Callable[[float], FloatArray]:
    """Values (n,) by which the rows are ranked at a time, higher for those expected later."""
    if isinstance(predicted, SurvivalDistribution):
        matched_data(predicted, rows)
        # The logarithm keeps apart survival probabilities next to 1 or to 0.
        return lambda time: as_numbers(predicted.log_survival(time))
    estimate = point_estimate(predicted, rows)
    return lambda time: estimate


def _warn_of_gaps(times: FloatArray, auc: FloatArray) -> None:
    gaps = np.isnan(auc)
    if not gaps.any():
        return
    used = (
        f"the horizon used is {plain_number(times[~gaps].max())}"
        if not gaps.all()
        else "no time is left, the mean is NaN"
    )
    undefined(
        "cumulative_dynamic_auc",
        "before the first event, after the last row, or where the training rows give no estimate of the censoring; "
        f"{used}",
        where=f"at {gaps.sum()} of {times.size} times (first: {plain_number(times[gaps][0])})",
        stacklevel=4,
    )


def _observed_survival(rows: SurvivalData, other: Flags, cause: Cause) -> Callable[[FloatArray], FloatArray]:
    """Estimated probability of no event of interest by any times."""
    if cause is None:
        return kaplan_meier(rows).survival_at
    curves = aalen_johansen(SurvivalData.competing(rows.time, np.where(rows.event, 1 + other, 0), weight=rows.weight))
    return lambda times: 1 - curves.incidence_at(times, 1)


def _mean_auc(auc: FloatArray, times: FloatArray, survival: Callable[[FloatArray], FloatArray]) -> float:
    defined = ~np.isnan(auc)
    if not defined.any():
        return float("nan")
    order = np.argsort(times[defined], kind="stable")
    fall = -np.diff(np.append(1.0, survival(times[defined][order])))
    # There is a case at each of the times, so that the curve has fallen and the sum is positive.
    return float((auc[defined][order] * (fall / fall.sum())).sum())


def concordance_antolini(predicted: PredictedDistribution, data: SurvivalData, *, cause: Cause = None) -> float:
    """Antolini's time-dependent C: the share of comparable pairs of which the one with the event had less survival.

    ``S(y_i|x_i) < S(y_i|x_j)`` at the earlier time y_i. Pairs, ties of times and weights are those of
    `concordance_harrell`, and equal survival counts one half: where predicted curves do not cross, it is Harrell's C
    of the median. With a cause, survival is one less its incidence, and rows with an event of another cause outlive
    every event. It takes O(n²), in blocks of bounded memory.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        Exact and right-censored rows.
    cause
        Number or name of the cause, as in `brier_score`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 4], [True, False, True, True])
    >>> concordance_antolini(Exponential([2.0, 1.0, 3.0, 3.0]), data)
    0.625
    """
    prediction, other = event_of_interest(predicted, SurvivalData.of(data), cause)
    rows = others_never(without_delayed_entry(matched_data(prediction, data), "concordance_antolini"), other)
    event = rows.event
    # From the last to the first: at equal times the censored are the later ones, and with them come before.
    order = np.lexsort((event, -rows.time))
    order = order[rows.weights[order] > 0]
    prediction, rows, event = prediction[order], rows[order], event[order]
    time, weight = rows.time, rows.weights
    if not event.any():
        return undefined("concordance_antolini", "no row has an event")
    moment = np.unique(-time, return_inverse=True)[1]
    # Rows before this one are known to outlive an event: its ties are in the same stretch.
    key = 2 * moment + event
    outlived = np.searchsorted(key, key, side="left")
    before = np.concatenate([[0.0], np.cumsum(weight)])
    events = np.flatnonzero(event & (outlived > 0))
    comparable = float((weight[events] * before[outlived[events]]).sum())
    if comparable == 0:
        return undefined("concordance_antolini", "no row is known to outlive one with an event")
    concordant, start = 0.0, 0
    while start < events.size:
        # Blocks grow smaller as more rows have to be looked at.
        size = max(1, _BLOCK_PAIRS // int(events[start] + 1))
        block = events[start : start + size]
        while block.size > 1 and block.size * (block[-1] + 1) > _BLOCK_PAIRS:
            block = block[: block.size // 2]
        concordant += _outliving(prediction, time, weight, block, outlived[block])
        start += block.size
    return min(max(concordant / comparable, 0.0), 1.0)


def _outliving(
    predicted: SurvivalDistribution, time: FloatArray, weight: FloatArray, events: Indices, outlived: Indices
) -> float:
    """Weight of the concordant pairs that begin at `events`, of which each outlives the first `outlived` rows."""
    end = int(events[-1]) + 1
    moments, column = np.unique(time[events], return_inverse=True)
    survival = as_numbers(predicted[:end].log_survival(moments))
    of_event = survival[events, column]
    survival = survival[:, column]
    share = 0.5 * (survival > of_event) + 0.5 * (survival >= of_event)
    share *= np.arange(end)[:, None] < outlived
    return float(weight[:end] @ share @ weight[events])
