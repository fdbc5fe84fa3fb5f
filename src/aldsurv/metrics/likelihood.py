"""The likelihood of what was observed under what was predicted."""

from __future__ import annotations

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.metrics.row_matching import as_numbers, matched_data, undefined
from aldsurv.survival_data import SurvivalData

__all__ = ["log_likelihood"]


def log_likelihood(predicted: SurvivalDistribution, data: SurvivalData) -> float:
    """Weighted mean over the rows of the censored log-likelihood; higher is better.

    Every kind of censoring, delayed entry and weights count as in `SurvivalDistribution.log_likelihood`. The
    value depends on the unit of time: in a unit `a` times as long each exact row gains ``log a``.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> log_likelihood(Exponential([2.0, 2.0]), SurvivalData.right([1, 3], [True, False]))
    -1.3466
    """
    rows = matched_data(predicted, data)
    if rows.total_weight == 0:
        return undefined("log_likelihood", "no row has a positive weight")
    if rows.weight is not None:
        # An impossible row of weight 0 would count 0 · -inf.
        counted = rows.weight > 0
        predicted, rows = predicted[counted], rows[counted]
    return float(as_numbers(predicted.log_likelihood(rows)).sum() / rows.total_weight)
