"""The log-likelihood of the observed rows under the predicted distributions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.distributions.families.exponential import Exponential
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.metrics.cause_of_interest import matched_causes
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution, as_numbers, matched_data, undefined

__all__ = ["bounded_log_likelihood", "bounded_rows", "log_likelihood", "log_likelihood_rows", "time_per_event"]


def log_likelihood(predicted: PredictedDistribution, data: SurvivalData) -> float:
    """Weighted mean over the rows of the censored log-likelihood; higher is better.

    Every kind of censoring, delayed entry and weights count as in `SurvivalDistribution.log_likelihood`; an event at 0
    is one at or before τ, the smallest time above 0 of all rows given, as in training; resamples of a bootstrap keep
    that time. Its likelihood is ``F(τ)``, or ``τ·f(τ)`` where a curve has its first step only later. Where all times
    are 0 there is no value; a row censored at 0 says nothing. The value depends on the unit of time: in a unit `a`
    times as long each exact row gains ``log a``. One row that the prediction holds impossible, such as an event after
    the last step of a curve, makes it -inf: see `bounded_log_likelihood`.

    Of a prediction with causes it is that of time and cause together: the density of the cause that was seen, or the
    survival of all.

    Parameters
    ----------
    predicted
        Distribution of each row, of data with causes one with causes.
    data
        The same rows as observed.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> log_likelihood(Exponential([2.0, 2.0]), SurvivalData.right([1, 3], [True, False]))
    -1.3466
    """
    rows = _matched(predicted, data)
    reason = _no_value(rows)
    if reason:
        return undefined("log_likelihood", reason)
    return _weighted_mean(log_likelihood_rows(predicted, rows), rows.weights)


def bounded_log_likelihood(
    predicted: PredictedDistribution, data: SurvivalData, *, train: SurvivalData | None = None, share: float = 0.01
) -> float:
    """`log_likelihood` of the prediction with a little of an exponential distribution mixed in; higher is better.

    ``log((1 - share)·L + share·L₀)`` in place of ``log L``, L the likelihood of a row and L₀ that under an exponential
    distribution with the event rate of the training rows. Always finite: a row that the prediction holds impossible
    costs as much as one whose likelihood is `share` times L₀, and any other loses at most ``-log(1 - share)``. The
    mixture is the same for all predictions, so that one that gives no density to late times can be compared with one
    that does. With causes each has its event rate.

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
    rows = _matched(predicted, data)
    reason = _no_value(rows)
    if reason:
        return undefined("bounded_log_likelihood", reason)
    return _weighted_mean(bounded_rows(predicted, rows, train, share), rows.weights)


def _matched(predicted: PredictedDistribution, data: SurvivalData) -> SurvivalData:
    if isinstance(predicted, CompetingDistribution):
        rows = SurvivalData.of(data)
        matched_causes(predicted, rows)
        return rows
    return matched_data(predicted, data)


def _no_value(rows: SurvivalData) -> str:
    """Why there is no log-likelihood; empty if there is one."""
    if rows.total_weight == 0:
        return "no row has a positive weight"
    if (_at_zero(with_zero_as_early(rows)) & (rows.weights > 0)).any():
        return "all times are 0, and an event at 0 is one at or before the smallest time above 0"
    return ""


def _at_zero(early: SurvivalData) -> NDArray[np.bool_]:
    """Events at 0 (n,) of which nothing is known that is above 0: they have no likelihood."""
    return early.exact & (early.lower <= 0)


def log_likelihood_rows(
    predicted: PredictedDistribution, data: SurvivalData, smallest: float | None = None
) -> FloatArray:
    """Log-likelihood of each row (n,), whatever its weight; an event at 0 counts as an early one.

    NaN where all times are 0, so that no time is early. `smallest` is the smallest time above 0, if these rows are a
    part of all.
    """
    rows = with_zero_as_early(data, smallest)
    at_zero = _at_zero(rows)
    if at_zero.any():
        result = np.full(len(rows), np.nan)
        result[~at_zero] = log_likelihood_rows(predicted[~at_zero], data[~at_zero], smallest)
        return result
    if isinstance(predicted, CompetingDistribution):
        return _rows_with_causes(predicted, data, rows)
    unweighted = SurvivalData.interval(rows.lower, rows.upper, entry=rows.entry)
    result = as_numbers(predicted.log_likelihood(unweighted))
    before_steps = np.flatnonzero(np.isneginf(result) & rows.left_censored & data.exact)
    if before_steps.size:
        # A density spreads the mass of a step over the time before it: so much of that lies before this time.
        time = rows.upper[before_steps]
        result = result.copy()
        result[before_steps] = as_numbers(predicted[before_steps].log_density(time[:, None]))[:, 0] + np.log(time)
    return result


def _rows_with_causes(predicted: CompetingDistribution, data: SurvivalData, early: SurvivalData) -> FloatArray:
    """Log-likelihood of time and cause of each row (n,); `early` are the data with an event at 0 as an early one."""
    cause = predicted.cause_numbers(data)
    at_zero = early.left_censored & data.exact
    # An event at 0 is replaced below; until then it is one at a time at which every family has an answer.
    time = np.where(at_zero, early.upper, data.lower)
    rows = SurvivalData.from_checked(
        time, np.where(data.exact, time, data.upper), data.entry, None, cause, predicted.causes
    )
    result = np.array(as_numbers(predicted.log_likelihood(rows)))
    if at_zero.any():
        chances = predicted[at_zero].incidence(time[at_zero, None])[:, :, 0]
        with np.errstate(divide="ignore"):
            result[at_zero] = np.log(chances[cause[at_zero] - 1, np.arange(chances.shape[1])])
    return result


def bounded_rows(
    predicted: PredictedDistribution,
    data: SurvivalData,
    train: SurvivalData | None = None,
    share: float = 0.01,
    smallest: float | None = None,
) -> FloatArray:
    """`bounded_log_likelihood` of each row (n,), whatever its weight; `smallest` as in `log_likelihood_rows`."""
    training = data if train is None else SurvivalData.of(train).persons()
    reference = Exponential(np.full(len(data), time_per_event(training)))
    usual = log_likelihood_rows(reference, data, smallest)
    if isinstance(predicted, CompetingDistribution):
        usual = usual + _log_share_of_cause(predicted, data, training)
    mixed = np.logaddexp(np.log1p(-share) + log_likelihood_rows(predicted, data, smallest), np.log(share) + usual)
    return np.asarray(mixed)


def _log_share_of_cause(predicted: CompetingDistribution, data: SurvivalData, train: SurvivalData) -> FloatArray:
    """Logarithm of the share of each row's cause (n,) in the training events; 0 of a row without event."""
    counts = np.bincount(predicted.cause_numbers(train), train.weights, len(predicted.causes) + 1)[1:]
    # A cause without an event in training has the rate of half an event: no row is impossible.
    counts = np.where(counts > 0, counts, 0.5)
    return np.concatenate([[0.0], np.log(counts / counts.sum())])[predicted.cause_numbers(data)]


def time_per_event(data: SurvivalData) -> float:
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
