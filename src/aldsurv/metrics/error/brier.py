"""The Brier score of predicted survival or incidence, at times and over a range of times."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import AldsurvWarning, ParameterError
from aldsurv.metrics.cause_of_interest import Cause, censoring_of_causes, event_of_interest
from aldsurv.metrics.checked_arguments import (
    FloatArray,
    PredictedDistribution,
    as_numbers,
    matched_data,
    undefined,
    without_delayed_entry,
)
from aldsurv.metrics.evaluation_times import checked_times, training_range
from aldsurv.metrics.row_blocks import row_blocks
from aldsurv.nonparametric.censoring_weights import Ties, has_estimate, uncensored_share
from aldsurv.nonparametric.kaplan_meier import KaplanMeier
from aldsurv.plain_numbers import plain_number

__all__ = [
    "brier_score",
    "default_times",
    "event_weights",
    "integrated_brier_rows",
    "integrated_brier_score",
    "integrated_squared_error",
    "mean_brier_score",
    "squared_error_at",
]


def brier_score(
    predicted: PredictedDistribution,
    data: SurvivalData,
    times: ArrayLike,
    *,
    train: SurvivalData,
    ties: Ties = "events_first",
    cause: Cause = None,
) -> FloatArray:
    """Squared error of the predicted survival at `times` (m,), weighted for censoring; lower is better.

    ``BS(t) = mean[S(t|x)²·1(y ≤ t, event)/G(y-) + (1 - S(t|x))²·1(y > t)/G(t)]`` after Graf et al. (1999), where G is
    the Kaplan-Meier estimate of the censoring time on the training rows and ``G(y-)`` its value just before y. At a
    time that no training row reaches, or at which G is 0, there is no estimate: NaN, with a warning.

    With a cause k and its predicted incidence F, ``mean[(1 - F(t|x))²·1(y ≤ t, cause k)/G(y-) + F(t|x)²·1(y ≤ t, other
    cause)/G(y-) + F(t|x)²·1(y > t)/G(t)]`` (Schoop et al. 2011): who had another event is known not to have that of the
    cause.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored. The mean is weighted if they are.
    times
        Times (m,), in any order.
    train
        Rows to estimate the censoring from; their weights and delayed entries count.
    ties
        Weight of an event where others are censored at its time. ``"events_first"``: ``1/G(y-)``, by which
        no prediction beats the true one on average. ``"scikit-survival"``: ``1/G(y)``, the number that
        scikit-survival gives. Without such ties both are the same.
    cause
        Number or name of the cause to score, where prediction, data and training rows have causes; None: they are of
        one event.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> brier_score(Exponential([1.0, 2.0, 3.0, 6.0]), data, [1, 2.5], train=data).round(4)
    array([0.0985, 0.1651])
    """
    prediction, other = event_of_interest(predicted, SurvivalData.of(data), cause)
    rows = without_delayed_entry(matched_data(prediction, data), "brier_score")
    grid = checked_times(times)
    if rows.total_weight == 0:
        return np.full(grid.shape, undefined("brier_score", "no row has a positive weight"))
    censoring = censoring_of_causes(train, cause)
    defined = _defined_times(censoring, grid)
    score = np.full(grid.shape, np.nan)
    score[defined] = squared_error_at(prediction, rows, other, grid[defined], censoring, ties)
    return score


def mean_brier_score(
    predicted: PredictedDistribution,
    data: SurvivalData,
    times: ArrayLike,
    *,
    train: SurvivalData,
    ties: Ties = "events_first",
    cause: Cause = None,
) -> float:
    """Mean of `brier_score` over the times that have one; NaN if none has."""
    score = brier_score(predicted, data, times, train=train, ties=ties, cause=cause)
    defined = score[~np.isnan(score)]
    return float(defined.mean()) if defined.size else float("nan")


def integrated_brier_score(
    predicted: PredictedDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: ArrayLike | None = None,
    ties: Ties = "events_first",
    cause: Cause = None,
) -> float:
    """Mean of the Brier score over a range of times by the trapezoid rule; lower is better.

    Parameters
    ----------
    predicted, data, train, ties, cause
        As in `brier_score`.
    times
        Grid (m,), strictly increasing. None: 100 points from the 0.1 to the 0.9 quantile of the training times, of
        which each counts with its weight.
        Times at which `brier_score` has no estimate are left out, and a warning says where the grid ends.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> round(integrated_brier_score(Exponential([1.0, 2.0, 3.0, 6.0]), data, train=data), 4)
    0.138
    """
    prediction, other = event_of_interest(predicted, SurvivalData.of(data), cause)
    rows = without_delayed_entry(matched_data(prediction, data), "integrated_brier_score")
    training = SurvivalData.of(train).persons()
    if rows.total_weight == 0:
        return undefined("integrated_brier_score", "no row has a positive weight")
    censoring = censoring_of_causes(training, cause)
    if times is None:
        times = default_times(training)
        if times[0] == times[-1]:
            return undefined(
                "integrated_brier_score", f"most training times are {plain_number(times[0])}, which leaves no range"
            )
    grid = checked_times(times)
    if grid.size < 2 or not (np.diff(grid) > 0).all():
        raise ParameterError(
            "times must be two or more in strictly increasing order.",
            argument="times",
            advice="For one time use brier_score.",
        )
    grid = grid[_defined_times(censoring, grid)]
    if grid.size < 2:
        return undefined("integrated_brier_score", "fewer than two times have an estimate of the censoring")
    return integrated_squared_error(prediction, rows, other, grid, censoring, ties)


def integrated_squared_error(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    other: NDArray[np.bool_],
    times: FloatArray,
    censoring: KaplanMeier,
    ties: Ties,
) -> float:
    """`integrated_brier_score` over times (m,) at which the censoring has an estimate.

    Parameters
    ----------
    predicted
        Distribution of the time to the event of interest.
    data
        The rows, of which those in `other` (n,) had an event of another cause.
    other, times, censoring, ties
        As `event_of_interest` and `censoring_of_causes` give them.
    """
    return float(
        np.trapezoid(squared_error_at(predicted, data, other, times, censoring, ties), times) / (times[-1] - times[0])
    )


def integrated_brier_rows(
    predicted: PredictedDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: ArrayLike | None = None,
    ties: Ties = "events_first",
    cause: Cause = None,
) -> FloatArray:
    """What each row (n,) adds to `integrated_brier_score`, whatever its weight: the score is their weighted mean.

    NaN where the score has no value, without a warning.

    Parameters
    ----------
    predicted, data, train, times, ties, cause
        As in `integrated_brier_score`.
    """
    without_delayed_entry(data, "integrated_brier_score")
    prediction, other = event_of_interest(predicted, data, cause)
    training = SurvivalData.of(train).persons()
    censoring = censoring_of_causes(training, cause)
    grid = default_times(training) if times is None else np.asarray(times, dtype=np.float64)
    grid = grid[has_estimate(censoring, grid)]
    if grid.size < 2 or grid[0] == grid[-1]:
        return np.full(len(data), np.nan)
    width = np.diff(grid, prepend=grid[0], append=grid[-1])
    share = (width[1:] + width[:-1]) / (2 * (grid[-1] - grid[0]))
    present = share / censoring.survival_at(grid)
    seen = event_weights(data, censoring, ties)
    score = np.empty(len(data))
    for rows in row_blocks(len(data), grid.size):
        survival = as_numbers(prediction[rows].survival(grid))
        waiting = data.time[rows, None] > grid
        score[rows] = np.where(waiting, (1 - survival) ** 2, 0.0) @ present
        score[rows] += seen[rows] * (np.where(waiting, 0.0, (survival - other[rows, None]) ** 2) @ share)
    return score


def default_times(train: SurvivalData) -> FloatArray:
    """The times of the integrated Brier score: 100 from the 0.1 to the 0.9 quantile of the training times."""
    return np.linspace(*training_range(train), 100)


def event_weights(data: SurvivalData, censoring: KaplanMeier, ties: Ties) -> FloatArray:
    """Number of subjects that the event of each row (n,) stands for: itself, and those hidden by censoring."""
    uncensored = uncensored_share(censoring, data.time, ties)
    # An event that counts at any of the times of a score has a positive G. The others may have none, and get 0.
    return np.divide(1.0, uncensored, out=np.zeros(len(data)), where=data.event & (uncensored > 0))


def _defined_times(censoring: KaplanMeier, times: FloatArray) -> NDArray[np.bool_]:
    """Times at which the censoring has an estimate; a warning if not all have one."""
    defined = has_estimate(censoring, times)
    if not defined.all():
        horizon = f"the horizon used is {plain_number(times[defined].max())}" if defined.any() else "no time is left"
        warnings.warn(
            f"{np.count_nonzero(~defined)} of {times.size} times have no estimate of the censoring: the training "
            f"rows end at {plain_number(censoring.times[-1])}, and once the censoring curve is 0 no row is left "
            f"uncensored. These times are left out; {horizon}.",
            AldsurvWarning,
            stacklevel=3,
        )
    return defined


def squared_error_at(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    other: NDArray[np.bool_],
    times: FloatArray,
    censoring: KaplanMeier,
    ties: Ties,
) -> FloatArray:
    """`brier_score` at times (m,) at which the censoring has an estimate, with those of `integrated_squared_error`."""
    time, weight = data.time[:, None], data.weights
    seen = weight * event_weights(data, censoring, ties)
    past, present = np.zeros(times.shape), np.zeros(times.shape)
    for rows in row_blocks(len(data), times.size):
        waiting = (time[rows] > times).astype(np.float64)
        # Who had an event of another cause never has that of interest.
        error = (as_numbers(predicted[rows].survival(times)) - np.maximum(waiting, other[rows, None])) ** 2
        waiting *= error
        # Exactly 0 where a row is still waiting.
        error -= waiting
        present += weight[rows] @ waiting
        past += seen[rows] @ error
    return (past + present / censoring.survival_at(times)) / data.total_weight
