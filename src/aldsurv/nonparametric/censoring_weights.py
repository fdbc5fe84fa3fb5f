"""The distribution of the censoring time, and the weights that make up for rows lost to censoring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import CensoringError, ParameterError
from aldsurv.nonparametric.kaplan_meier import KaplanMeier, departures, product_limit
from aldsurv.survival_data import SurvivalData

__all__ = ["censoring_distribution", "inverse_censoring_weights"]


def censoring_distribution(data: SurvivalData) -> KaplanMeier:
    """Kaplan-Meier estimate of G, the survival function of the censoring time.

    The roles of event and censoring are exchanged; at a tie events come first, so those with an event at a
    time are no longer at risk of being censored at it. In the result `events` are the censorings.

    Parameters
    ----------
    data
        Exact and right-censored rows; delayed entry and weights are heeded.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 2, 4], [True, True, False, False])
    >>> censoring_distribution(data).survival
    array([1. , 0.5, 0. ])
    """
    found = departures(data)
    return product_limit(found, found.censored, found.events, found.after)


def inverse_censoring_weights(
    data: SurvivalData, censoring: KaplanMeier | SurvivalData, *, horizon: float | None = None
) -> NDArray[np.float64]:
    """Weights ``event/G(time)`` (n,): each event stands for those censored before it could be seen.

    Rows that are censored, or whose event comes after `horizon`, get 0. G is taken at the time itself, and
    held after its last time. The weights of `data` are not multiplied in.

    Parameters
    ----------
    data
        Exact and right-censored rows to be weighted.
    censoring
        G as `censoring_distribution` gives it, or the rows to estimate it from: usually the training rows.
    horizon
        Time up to which events count; None: all.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 2, 4], [True, True, False, True])
    >>> inverse_censoring_weights(data, censoring_distribution(data))
    array([1., 2., 0., 2.])
    """
    if not isinstance(censoring, KaplanMeier):
        censoring = censoring_distribution(censoring)
    rows = SurvivalData.of(data)
    time, counts = rows.time, rows.exact
    if horizon is not None:
        if not (isinstance(horizon, (int, float, np.number)) and horizon > 0):
            raise ParameterError(f"horizon must be a positive number or None, but is {horizon!r}.")
        counts = counts & (time <= horizon)
    uncensored = censoring.survival_at(time)
    lost = counts & (uncensored == 0)
    if lost.any():
        raise CensoringError(_no_weight(time, counts & ~lost, int(np.flatnonzero(lost)[0]), censoring))
    return np.divide(1.0, uncensored, out=np.zeros(time.shape), where=counts)


def _no_weight(time: NDArray[np.float64], usable: NDArray[np.bool_], row: int, censoring: KaplanMeier) -> str:
    end = float(censoring.times[np.argmin(censoring.survival)])
    remedy = "No event comes before that: estimate the censoring from more rows."
    if usable.any():
        remedy = f"The largest usable horizon is {float(time[usable].max())!r}: give that, or drop later events."
    return (
        f"the event of row {row} at time {float(time[row])!r} has no weight: by the estimate nobody is still "
        f"uncensored from time {end!r} on. {remedy}"
    )
