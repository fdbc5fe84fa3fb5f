"""How often the predicted order of two subjects is the observed one, in O(n log n)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.point_estimates import Point, point_estimate
from aldsurv.metrics.row_matching import FloatArray, undefined, without_delayed_entry
from aldsurv.nonparametric.censoring_weights import censoring_distribution, inverse_censoring_weights
from aldsurv.survival_data import SurvivalData

__all__ = ["concordance_harrell", "concordance_uno"]

# Counts stay integers, and so exact, unless rows have weights.
Numbers = NDArray[Any]


def concordance_harrell(predicted: SurvivalDistribution | Any, data: SurvivalData, *, point: Point = "median") -> float:
    """Harrell's C: the share of comparable pairs whose predicted times are in the observed order.

    A pair is comparable if the earlier of its times is an event; at equal times, if one is an event and the
    other censored. Equal predictions count one half. With weights a pair counts the product of its two.

    Parameters
    ----------
    predicted
        A distribution, or predicted times (n,): higher is later. Only exactly equal ones are tied.
    data
        Exact and right-censored rows.
    point
        What stands for a distribution, as in `point_estimate`.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 3, 4], [True, False, True, True])
    >>> concordance_harrell([2.0, 1.0, 3.0, 3.0], data)
    0.625
    """
    rows = without_delayed_entry(SurvivalData.of(data), "concordance_harrell")
    estimate = point_estimate(predicted, rows, point=point)
    return _concordance(estimate, rows, rows.event.astype(np.int64), "concordance_harrell")


def concordance_uno(
    predicted: SurvivalDistribution | Any,
    data: SurvivalData,
    *,
    train: SurvivalData,
    tau: float | None = None,
    point: Point = "median",
) -> float:
    """Uno's C: Harrell's with each pair weighted by ``1/G(t)²``, t its earlier time, for events before `tau`.

    G is the Kaplan-Meier estimate of the censoring time on the training rows. The weights remove the dependence
    of Harrell's C on how the rows happen to be censored, if censoring does not depend on the covariates.

    Parameters
    ----------
    predicted, data, point
        As in `concordance_harrell`.
    train
        Rows to estimate the censoring from; their weights and delayed entries are heeded.
    tau
        Only events before this time begin a pair; later rows still are their later half. None: the largest
        training time at which G is positive.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 3, 4], [True, False, True, True])
    >>> round(concordance_uno([2.0, 1.0, 3.0, 3.0], data, train=data), 4)
    0.5952
    """
    rows = without_delayed_entry(SurvivalData.of(data), "concordance_uno")
    estimate = point_estimate(predicted, rows, point=point)
    censoring = censoring_distribution(train)
    if tau is None:
        positive = censoring.times[censoring.survival > 0]
        if positive.size == 0:
            return undefined("concordance_uno", "all training rows are censored at their first time")
        tau = float(positive[-1])
    elif not (isinstance(tau, (int, float, np.number)) and tau > 0):
        raise ParameterError(f"tau must be a positive number or None, but is {tau!r}.")
    if tau == 0:
        return undefined("concordance_uno", "no event can come before tau = 0")
    # The horizon is inclusive, tau is not.
    before = float(np.nextafter(tau, -np.inf))
    inverse = inverse_censoring_weights(rows, censoring, horizon=before)
    return _concordance(estimate, rows, inverse**2, "concordance_uno", f" before tau = {tau:g}")


def _concordance(estimate: FloatArray, data: SurvivalData, importance: Numbers, metric: str, limit: str = "") -> float:
    """Weighted share of concordant pairs; `importance` is what a row counts as the earlier of a pair."""
    weight: Numbers = np.ones(len(data), dtype=np.int64)
    if data.weight is not None:
        counted = data.weight > 0
        weight = data.weight[counted]
        estimate, data, importance = estimate[counted], data[counted], importance[counted] * weight
    if not importance.any():
        return undefined(metric, f"no row has an event{limit}", stacklevel=4)
    # Pairs begin at events and go on to a larger key: a censoring at the same time, or any later time.
    moment = np.unique(data.time, return_inverse=True)[1]
    key = 2 * moment + ~data.event
    rank = np.unique(estimate, return_inverse=True)[1]
    comparable = (importance * _sum_after(key, weight)).sum()
    if comparable == 0:
        return undefined(metric, f"no row is known to outlive one with an event{limit}", stacklevel=4)
    concordant = (importance * _twice_sum_above(key, rank, weight)).sum() / 2
    # Two sums of weights may differ in their last digit where they should be equal.
    return min(max(float(concordant / comparable), 0.0), 1.0)


def _sum_after(key: NDArray[np.intp], weight: Numbers) -> Numbers:
    """Sum of the weights of the rows of larger key, for each row."""
    totals = np.zeros(int(key.max()) + 2, dtype=weight.dtype)
    np.add.at(totals, key, weight)
    return np.cumsum(totals[::-1])[::-1][key + 1]


def _twice_sum_above(key: NDArray[np.intp], rank: NDArray[np.intp], weight: Numbers) -> Numbers:
    """Sum over the rows of larger key: twice the weights at a larger rank, once those at the same, for each row.

    Of two keys the larger is told by the highest bit in which they differ. So bit by bit from the top: rows
    whose keys agree in all higher bits form a group, ordered by rank; in it those with the bit are later than those
    without, and running sums count them. A stable partition of each group by the bit leads to the next.
    """
    found = np.zeros(key.size, dtype=weight.dtype)
    rows = np.argsort(rank, kind="stable")
    place = np.arange(key.size)
    for bit in reversed(range(int(key.max()).bit_length())):
        group, level = key[rows] >> (bit + 1), rank[rows]
        later = (key[rows] >> bit) & 1
        new_group = np.concatenate([[True], group[1:] != group[:-1]])
        group_start, group_end = _edges(new_group)
        new_group[1:] |= level[1:] != level[:-1]
        tie_start, tie_end = _edges(new_group)

        running = np.concatenate([[0], np.cumsum(weight[rows] * later)])
        above = 2 * running[group_end] - running[tie_start] - running[tie_end]
        found[rows] += np.where(later, 0, above)

        moved = np.concatenate([[0], np.cumsum(later)])
        earlier_goes = place - (moved[:-1] - moved[group_start])
        later_goes = group_end - (moved[group_end] - moved[:-1])
        arranged = np.empty_like(rows)
        arranged[np.where(later, later_goes, earlier_goes)] = rows
        rows = arranged
    return found


def _edges(new: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the stretch of each place starts and ends, given where a new one begins."""
    edges = np.append(np.flatnonzero(new), new.size)
    stretch = np.cumsum(new)
    return edges[stretch - 1], edges[stretch]
