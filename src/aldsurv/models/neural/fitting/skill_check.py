"""Whether a model knows more than Kaplan-Meier, by rows that it did not learn from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.rows.row_selection import spread_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import NoSkillWarning
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = [
    "Gain",
    "HeldPart",
    "gain_over_kaplan_meier",
    "interval_log_likelihood",
    "predicted_survival",
    "right_censored_rows",
    "sampled_rows",
    "warn_without_skill",
]

FloatArray = NDArray[np.float64]

# Intervals of time in which events are looked for.
_INTERVALS = 10
# So much of every probability is spread evenly: a single surprise costs no more than a handful of rows can make up for.
_SPREAD = 0.002
# Rows of one part that are looked at: more would hardly change the answer.
_MOST_ROWS = 400
# Fewer events are not enough for the check.
_LEAST_EVENTS = 10
# Standard deviations by which early and late rows are separated, from which on that is not chance.
_RANKED = 2.0
# Standard errors of a gain in likelihood that chance does not explain.
_CERTAIN = 3.0


class HeldPart(NamedTuple):
    """What a model predicts for rows that it did not learn from, these rows, and those that it learned from."""

    predicted: SurvivalDistribution
    data: SurvivalData
    train: SurvivalData


class Gain(NamedTuple):
    """What held-out rows say for a model.

    Attributes
    ----------
    mean, error
        By how much the mean log-likelihood per row exceeds Kaplan-Meier's, and the standard error of that.
    ranking
        How well the model ranks early before late events, in standard deviations of what chance would do.
    """

    mean: float
    error: float
    ranking: float


def sampled_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the held-out rows that are looked at: all, or as many as are enough."""
    return spread_rows(rows, _MOST_ROWS)


def gain_over_kaplan_meier(parts: Iterable[HeldPart], *, repeats: float = 1.0) -> Gain | None:
    """By how much held-out rows are predicted better than by the Kaplan-Meier curve of the rows learned from.

    A density and a curve of steps cannot be compared by their likelihoods as such. So both are asked in which of ten
    intervals of time, between quantiles of the training events, an event falls; of a censored row how likely it is to
    last as long.

    Parameters
    ----------
    parts
        Of each member, or fold.
    repeats
        In how many parts a row is, on average: they carry no more information than the row once.

    Returns
    -------
    Gain or None
        None if fewer than ten events were held out.
    """
    gains, weights, events = [], [], 0
    covariance = variance = 0.0
    for part in parts:
        counted = part.data.weights > 0
        data, predicted = part.data[counted], part.predicted[counted]
        if not len(data):
            continue
        events += int(np.isfinite(data.upper).sum())
        known = right_censored_rows(part.train)
        times = known.time[known.event & (known.weights > 0)]
        if not times.size:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            curve = kaplan_meier(known)
        # Quantiles that are themselves times of events: curves of steps fall there and not a rounding later.
        cuts = np.unique(np.quantile(times, np.arange(1, _INTERVALS) / _INTERVALS, method="lower"))
        own = interval_log_likelihood(predicted_survival(predicted), data, cuts)
        gains.append(own - interval_log_likelihood(curve.survival_at, data, cuts))
        weights.append(data.weights)
        early = -np.asarray(predicted.survival(cuts), np.float64).sum(axis=1)
        more_covariance, more_variance = _association(early, _excess_events(curve.survival_at, data), data.weights)
        covariance, variance = covariance + more_covariance, variance + more_variance
    if events < _LEAST_EVENTS:
        return None
    gain, weight = np.concatenate(gains), np.concatenate(weights)
    weight = weight / weight.sum()
    mean = float(weight @ gain)
    ranking = covariance / np.sqrt(variance) if variance > 0 else 0.0
    error = float(np.sqrt(repeats * (weight**2) @ (gain - mean) ** 2))
    return Gain(mean, error, float(ranking / np.sqrt(repeats)))


def warn_without_skill(gain: Gain | None, owner: str) -> None:
    """Warn by a `NoSkillWarning` unless the held-out rows were predicted better than by Kaplan-Meier.

    Better is a higher likelihood and a clear order of early and late rows, for the likelihood alone says little: on a
    few hundred rows of covariates without information, stopping at the best epoch gains up to two standard errors.
    Beyond three, the order does not matter: covariates may show how certain times are, and not which are early.

    Parameters
    ----------
    gain
        What `gain_over_kaplan_meier` gives.
    owner
        The name of the model.
    """
    if gain is None or gain.mean > (0 if gain.ranking > _RANKED else _CERTAIN * gain.error):
        return
    if gain.ranking > _RANKED:
        message = (
            "gives the rows held out for validation the right order, but their times no higher likelihood than "
            "Kaplan-Meier does, which ignores all covariates. Use its ranks, and its probabilities only after "
            "recalibration or with more rows."
        )
    else:
        message = (
            "predicts the rows held out for validation no better than Kaplan-Meier does, which ignores all covariates, "
            "beyond what chance explains. Do not rely on differences between its predictions: give more rows, or only "
            "the columns that matter."
        )
    warnings.warn(f"{owner} {message}", NoSkillWarning, stacklevel=4)


def _excess_events(survival: Callable[[FloatArray], FloatArray], data: SurvivalData) -> FloatArray:
    """Events (n,) less those that Kaplan-Meier expects while a row was followed: martingale residuals."""
    seen = right_censored_rows(data)
    expected = -np.log(np.maximum(_survival(survival, seen.time), _SPREAD))
    if seen.entry is not None:
        expected = expected + np.log(np.maximum(_survival(survival, seen.entry), _SPREAD))
    return seen.event - expected


def _association(first: FloatArray, second: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Sum of products of the ranks of the first with the second, less its mean, and its variance, by permutation."""
    ranks = np.unique(first, return_inverse=True)[1].astype(np.float64)
    ranks, second = (values - np.average(values, weights=weight) for values in (ranks, second))
    largest = max(float(np.abs(ranks).max()), 1.0)
    products = weight * ranks * second / largest
    spread = (weight * (ranks / largest) ** 2).sum() * (weight * second**2).sum()
    return float(products.sum()), float(spread * (weight**2).sum() / weight.sum() ** 2)


def predicted_survival(predicted: SurvivalDistribution) -> Callable[[FloatArray], FloatArray]:
    """Survival (n,) of each row at a time of its own."""
    return lambda times: np.asarray(predicted.survival(times[:, None]), np.float64)[:, 0]


def interval_log_likelihood(
    survival: Callable[[FloatArray], FloatArray], data: SurvivalData, cuts: FloatArray
) -> FloatArray:
    """Log-likelihood (n,) of each row, events being known to the interval between two cuts; always finite.

    Parameters
    ----------
    survival
        What gives the survival (n,) of each row at a time of its own, as `predicted_survival`.
    data
        The rows: every kind of censoring, with delayed entry; weights do not count.
    cuts
        Times between the intervals (m,), ascending; there may be none.
    """
    place = np.searchsorted(cuts, data.lower, side="left")
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    lower = np.where(data.exact, edges[place], data.lower)
    upper = np.where(data.exact, edges[place + 1], data.upper)
    if data.entry is not None:
        # Before its entry a row was not watched.
        lower = np.maximum(lower, data.entry)
    chance = _survival(survival, lower) - _survival(survival, upper)
    chance = (1 - _SPREAD) * np.clip(chance, 0.0, 1.0) + _SPREAD / (len(cuts) + 1)
    if data.entry is None:
        return np.log(chance)
    entered = (1 - _SPREAD) * _survival(survival, np.maximum(data.entry, -np.inf)) + _SPREAD
    return np.log(chance) - np.log(entered)


def _survival(survival: Callable[[FloatArray], FloatArray], times: FloatArray) -> FloatArray:
    """1 before the beginning and 0 at infinity, whatever the curve; where it is not a number, nothing is known."""
    finite = np.isfinite(times)
    values = survival(np.where(finite, times, 0.0))
    values = np.where(np.isnan(values), 0.5, values)
    return np.where(finite, values, np.where(times > 0, 0.0, 1.0))


def right_censored_rows(data: SurvivalData) -> SurvivalData:
    """The same rows with the middle of an interval for an event within it, which Kaplan-Meier can take."""
    if (data.exact | data.right_censored).all():
        return data
    begin = np.where(np.isfinite(data.lower), np.maximum(data.lower, 0.0), 0.0)
    seen = np.isfinite(data.upper)
    middle = np.where(data.exact, data.lower, (begin + np.where(seen, data.upper, begin)) / 2)
    entry = None if data.entry is None else np.where(data.entry < middle, data.entry, -np.inf)
    return SurvivalData.right(
        np.maximum(np.where(seen, middle, data.lower), 0.0), seen, entry=entry, weight=data.weight
    )
