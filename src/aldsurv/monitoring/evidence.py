"""Evidence against a calibrated model, period by period, that may be looked at any time.

Given the past, the events of a calibrated model are a counting process whose compensator is the predicted cumulative
hazard. If all hazards were multiplied by r, the likelihood ratio would be ``r^N exp(-(r - 1)Λ)``. Under the model it is
a martingale with mean 1, and so is its mean over any r that were chosen before. A non-negative martingale that begins
at 1 ever reaches 1/α with a probability of at most α (Ville's inequality), however often it is looked at.

A change may begin in any period. Evidence is therefore the weighted mean of what begins in period 1, 2, …, with weights
``1/(k(k + 1))`` that were fixed before; what has not begun yet counts 1. The weights sum to 1, so this is a martingale,
too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Number, check
from aldsurv.errors import ParameterError

__all__ = ["SLOPE_CHANGES", "Evidence", "SlopeSums", "rate_evidence", "slope_evidence", "slope_sums"]

FloatArray = NDArray[np.float64]

# Shape and rate of the gamma distribution of the factor r: mean 1, standard deviation 0.45.
_SHAPE = 5.0
# Changes of the slope that the mean is over, with the weights of a normal distribution of this standard deviation.
SLOPE_CHANGES: FloatArray = np.linspace(-1.5, 1.5, 31)
_SLOPE_SPREAD = 0.5
_SLOPE_WEIGHTS = np.exp(-0.5 * (SLOPE_CHANGES / _SLOPE_SPREAD) ** 2)
_LOG_SLOPE_WEIGHTS: FloatArray = np.log(_SLOPE_WEIGHTS / _SLOPE_WEIGHTS.sum())
_TINY = 1e-300


class Evidence(NamedTuple):
    """Evidence after each period (..., k): its logarithm, and the period, from 0 on, at which most of it begins."""

    log: FloatArray
    start: NDArray[np.intp]


def rate_evidence(observed: ArrayLike, expected: ArrayLike, *, shape: float = _SHAPE) -> Evidence:
    """Evidence that more or fewer events come than predicted.

    It is ``∫ r^N exp(-(r - 1)Λ) dG(r)`` with N events observed and Λ expected since a change began, G a gamma
    distribution with mean 1, averaged over the periods in which it may have begun.

    Parameters
    ----------
    observed, expected
        Number of events in each period (..., k), and the sum of the predicted cumulative hazards of its rows.
    shape
        Of the gamma distribution: the larger, the smaller the changes that are found soonest.

    Examples
    --------
    >>> evidence = rate_evidence([10, 21, 24, 26], [10.0, 10.5, 11.0, 12.0])
    >>> np.exp(evidence.log[:3]).round(1)
    array([  0.8,   3. , 279.3])
    >>> int(evidence.start[-1])
    1
    """
    from scipy.special import gammaln

    check("shape", shape, Number(0, above=True))
    counts, means = (np.asarray(values, np.float64) for values in (observed, expected))
    if counts.shape != means.shape or counts.ndim == 0:
        raise ParameterError(
            f"observed and expected must have one number per period each, but have shapes {counts.shape} and "
            f"{means.shape}.",
            argument="expected",
        )
    since, hazard = _sums_since(counts, -1), _sums_since(means, -1)
    log = hazard + shape * np.log(shape) + gammaln(shape + since) - gammaln(shape)
    return _begun_anywhere(log - (shape + since) * np.log(shape + hazard))


class SlopeSums(NamedTuple):
    """Sums over the rows of each period.

    Attributes
    ----------
    observed, expected
        Events observed and expected (..., k).
    predictor
        The linear predictors of those with an event (..., k).
    changed
        Expected events after each of `SLOPE_CHANGES` (..., k, 31).
    """

    observed: FloatArray
    expected: FloatArray
    predictor: FloatArray
    changed: FloatArray


def slope_sums(event: ArrayLike, expected: ArrayLike, predictor: ArrayLike) -> SlopeSums:
    """What `slope_evidence` needs, of the rows (..., n) of one period.

    Parameters
    ----------
    event, expected, predictor
        Whether each row had the event, how many it was expected to have, and its linear predictor, which must be known
        before the outcomes. A change b of the slope multiplies the hazard of a row with the linear predictor z by
        ``exp(b·z)``.
    """
    seen, means, z = (np.asarray(values, np.float64) for values in (event, expected, predictor))
    # One change at a time: all at once would take 31 times the memory of the rows.
    changed = np.stack([(means * np.exp(change * z)).sum(-1) for change in SLOPE_CHANGES], -1)
    return SlopeSums(seen.sum(-1), means.sum(-1), (seen * z).sum(-1), changed)


def slope_evidence(sums: SlopeSums) -> Evidence:
    """Evidence that people differ less or more than predicted, whatever the level of all hazards.

    All hazards times r and those of a row times ``exp(b·z)``: the mean of this likelihood, over r as in `rate_evidence`
    and b normal on `SLOPE_CHANGES`, over the largest likelihood with b = 0 and any r (universal inference; Wasserman,
    Ramdas & Balakrishnan 2020). Its mean is at most 1 if the model is right up to a factor of all hazards. It is
    averaged over the periods in which the change may have begun.

    Parameters
    ----------
    sums
        What `slope_sums` gives, of all periods (..., k).
    """
    from scipy.special import gammaln, xlogy

    if np.ndim(sums.observed) == 0 or np.shape(sums.changed) != (*np.shape(sums.observed), len(SLOPE_CHANGES)):
        raise ParameterError(
            f"sums must have {len(SLOPE_CHANGES)} numbers of expected events per period, but changed has shape "
            f"{np.shape(sums.changed)}.",
            argument="sums",
        )
    events, hazard, predictor = (_sums_since(np.asarray(each, np.float64), -1) for each in sums[:3])
    largest = xlogy(events, events) - xlogy(events, np.maximum(hazard, _TINY)) - events
    changed = _sums_since(sums.changed, -2)
    shape = _SHAPE + events
    log = SLOPE_CHANGES * predictor[..., None] - shape[..., None] * np.log(_SHAPE + changed) + _LOG_SLOPE_WEIGHTS
    constant = _SHAPE * np.log(_SHAPE) + gammaln(shape) - gammaln(_SHAPE) - largest
    return _begun_anywhere(np.logaddexp.reduce(log, -1) + constant)


def _sums_since(values: FloatArray, axis: int) -> FloatArray:
    """Sums from each period to each later one: the axis of periods becomes two, of first and last period.

    Where the last is before the first, the sum is 0.
    """
    until = np.cumsum(values, axis)
    sums = np.expand_dims(until, axis - 1) - np.expand_dims(until - values, axis)
    place = np.arange(values.shape[axis])
    begun = place[:, None] <= place
    return np.where(begun if axis == -1 else begun[..., None], sums, 0.0)


def _begun_anywhere(log: FloatArray) -> Evidence:
    """The mean over first periods of log evidence (..., first, last), after each last period."""
    count = log.shape[-1]
    first = np.arange(1.0, count + 1)
    begun = first[:, None] <= first
    weighted = np.where(begun, log - np.log(first * (first + 1))[:, None], -np.inf)
    total = np.logaddexp(np.logaddexp.reduce(weighted, -2), -np.log(first + 1))
    return Evidence(total, weighted.argmax(-2))
