"""The distribution of the censoring time, and the weights that make up for rows lost to censoring."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Choice, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.nonparametric.kaplan_meier import KaplanMeier, departures, product_limit
from aldsurv.quoting import quoted

__all__ = ["TIES", "Ties", "censoring_distribution", "has_estimate", "inverse_censoring_weights", "uncensored_share"]

Ties: TypeAlias = Literal["events_first", "scikit-survival"]
TIES = ("events_first", "scikit-survival")


def censoring_distribution(data: SurvivalData) -> KaplanMeier:
    """Kaplan-Meier estimate of G, the survival function of the censoring time.

    The roles of event and censoring are exchanged; at a tie events come first, so those with an event at a
    time are no longer at risk of being censored at it. In the result `events` are the censorings.

    Parameters
    ----------
    data
        Exact and right-censored rows; delayed entry and weights count. Of episodes, persons count.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 2, 4], [True, True, False, False])
    >>> censoring_distribution(data).survival
    array([1. , 0.5, 0. ])
    """
    # A person is not censored where one episode ends and the next begins.
    leaving = departures(SurvivalData.of(data).persons())
    return product_limit(leaving, leaving.censored, leaving.events, leaving.after)


def has_estimate(censoring: KaplanMeier, times: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether G is known and positive at each time: up to the last training row, and before G falls to 0."""
    return np.asarray((times <= censoring.times[-1]) & (censoring.survival_at(times) > 0))


def uncensored_share(censoring: KaplanMeier, time: ArrayLike, ties: Ties) -> NDArray[np.float64]:
    """Probability, at each event time, that the event was not hidden by censoring.

    Parameters
    ----------
    censoring
        G as `censoring_distribution` gives it.
    time
        Times of events, of any shape.
    ties
        ``"events_first"``: ``G(t-)``, for an event at t is seen unless the censoring came before t, and at equal times
        the event comes first, as in the estimate of G itself. ``"scikit-survival"``: ``G(t)``, which also counts
        censorings at t; with coarsely rounded times these are many, and late events weigh too much.
    """
    check("ties", ties, Choice(TIES))
    return censoring.survival_before(time) if ties == "events_first" else censoring.survival_at(time)


def inverse_censoring_weights(
    data: SurvivalData,
    censoring: KaplanMeier | SurvivalData,
    *,
    horizon: float | None = None,
    ties: Ties = "scikit-survival",
) -> NDArray[np.float64]:
    """Weights ``event/G(time)`` (n,): each event stands for those censored before it could be seen.

    Rows that are censored, or whose event comes after `horizon`, get 0. G is held after its last time. The weights of
    `data` are not multiplied in.

    Parameters
    ----------
    data
        Exact and right-censored rows to be weighted.
    censoring
        G as `censoring_distribution` gives it, or the rows to estimate it from: usually the training rows.
    horizon
        Time up to which events count; None: all.
    ties
        Whether G is taken at the time itself or, with ``"events_first"``, just before it, as in `uncensored_share`.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 2, 4], [True, True, False, True])
    >>> inverse_censoring_weights(data, censoring_distribution(data))
    array([1., 2., 0., 2.])
    """
    if not isinstance(censoring, KaplanMeier):
        censoring = censoring_distribution(censoring)
    rows = SurvivalData.of(data).persons()
    time, counts = rows.time, rows.exact
    if horizon is not None:
        if not (isinstance(horizon, (int, float, np.number)) and horizon > 0):
            raise ParameterError(
                f"horizon must be a positive number or None, but is {quoted(horizon)}.", argument="horizon"
            )
        counts = counts & (time <= horizon)
    uncensored = uncensored_share(censoring, time, ties)
    lost = counts & (uncensored == 0)
    if lost.any():
        raise _no_weight(time, counts & ~lost, int(np.flatnonzero(lost)[0]), censoring)
    return np.divide(1.0, uncensored, out=np.zeros(time.shape), where=counts)


def _no_weight(
    time: NDArray[np.float64], usable: NDArray[np.bool_], row: int, censoring: KaplanMeier
) -> CensoringError:
    end = float(censoring.times[np.argmin(censoring.survival)])
    advice = "No event comes before that: estimate the censoring from more rows."
    if usable.any():
        advice = f"The largest usable horizon is {float(time[usable].max())!r}: give that, or drop later events."
    return CensoringError(
        f"an event at time {float(time[row])!r} has no weight: by the estimate of the censoring no row is uncensored "
        f"from time {end!r} on",
        argument="horizon",
        row=row,
        advice=advice,
    )
