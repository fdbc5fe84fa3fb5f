"""The log-likelihood of the observed rows under the predicted distributions."""

from __future__ import annotations

import numpy as np

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.exponential import Exponential
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.metrics.checked_arguments import FloatArray, as_numbers, matched_data, undefined

__all__ = ["bounded_log_likelihood", "bounded_rows", "log_likelihood", "log_likelihood_rows"]


def log_likelihood(predicted: SurvivalDistribution, data: SurvivalData) -> float:
    """Weighted mean over the rows of the censored log-likelihood; higher is better.

    Every kind of censoring, delayed entry and weights count as in `SurvivalDistribution.log_likelihood`; an event at 0
    is one at or before the smallest time above 0 of all rows given, as in training; resamples of a bootstrap keep that
    time. The value depends on the unit of time: in a unit `a` times as long each exact row gains ``log a``. One row
    that the prediction holds impossible, such as an event after the last step of a curve, makes it -inf: see
    `bounded_log_likelihood`.

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
    return _weighted_mean(log_likelihood_rows(predicted, rows), rows.weights)


def bounded_log_likelihood(
    predicted: SurvivalDistribution, data: SurvivalData, *, train: SurvivalData | None = None, share: float = 0.01
) -> float:
    """`log_likelihood` of the prediction with a little of an exponential distribution mixed in; higher is better.

    ``log((1 - share)·L + share·L₀)`` in place of ``log L``, L the likelihood of a row and L₀ that under an exponential
    distribution with the event rate of the training rows. Always finite: a row that the prediction holds impossible
    costs as much as one whose likelihood is `share` times L₀, and any other loses at most ``-log(1 - share)``. The
    mixture is the same for all predictions, so that one that gives no density to late times can be compared with one
    that does.

    Parameters
    ----------
    predicted, data
        As in `log_likelihood`.
    train
        Rows whose event rate the exponential distribution has; None: `data`.
    share
        Share of the exponential distribution in the mixture, between 0 and 1.

    Examples
    --------
    >>> from aldsurv.distributions import Step
    >>> data = SurvivalData.right([1, 3], [True, True])
    >>> curve = Step([1.0, 2.0], [[0.5, 0.2], [0.5, 0.2]])  # nothing is said of times after 2
    >>> log_likelihood(curve, data), round(bounded_log_likelihood(curve, data), 4)
    (-inf, -3.7477)
    """
    check("share", share, Number(0, 1, above=True, below=True))
    rows = matched_data(predicted, data)
    if rows.total_weight == 0:
        return undefined("bounded_log_likelihood", "no row has a positive weight")
    return _weighted_mean(bounded_rows(predicted, rows, train, share), rows.weights)


def log_likelihood_rows(predicted: SurvivalDistribution, data: SurvivalData) -> FloatArray:
    """Log-likelihood of each row (n,), whatever its weight; an event at 0 counts as an early one."""
    rows = with_zero_as_early(data)
    unweighted = SurvivalData.interval(rows.lower, rows.upper, entry=rows.entry)
    return as_numbers(predicted.log_likelihood(unweighted))


def bounded_rows(
    predicted: SurvivalDistribution, data: SurvivalData, train: SurvivalData | None = None, share: float = 0.01
) -> FloatArray:
    """`bounded_log_likelihood` of each row (n,), whatever its weight."""
    reference = Exponential(np.full(len(data), _mean_time(data if train is None else SurvivalData.of(train).persons())))
    mixed = np.logaddexp(
        np.log1p(-share) + log_likelihood_rows(predicted, data), np.log(share) + log_likelihood_rows(reference, data)
    )
    return np.asarray(mixed)


def _mean_time(data: SurvivalData) -> float:
    """Time under observation per event; of bounds their middle."""
    since = np.zeros(len(data)) if data.entry is None else np.maximum(data.entry, 0.0)
    low = np.maximum(data.lower, since)
    until = np.where(data.right_censored, low, low / 2 + np.where(data.right_censored, low, data.upper) / 2)
    total = float(data.weights @ np.maximum(until - since, 0.0))
    events = float(data.weights[~data.right_censored].sum())
    mean = total / events if events > 0 else total
    return mean if 0 < mean < np.inf else 1.0


def _weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    # An impossible row of weight 0 would count 0 · -inf.
    counted = weights > 0
    return float(weights[counted] @ values[counted] / weights[counted].sum())
