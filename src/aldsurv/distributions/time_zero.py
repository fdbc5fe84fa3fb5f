"""What an event at time 0 says: the one rule of training and of metrics."""

from __future__ import annotations

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError

__all__ = ["with_log_times", "with_zero_as_early"]


def with_zero_as_early(data: SurvivalData, smallest: float | None = None) -> SurvivalData:
    """The same data, but an event at 0 is one at or before the smallest time above 0.

    The times were too coarse to show when it came. At 0 itself one family has a density and another none, so that a
    likelihood there would compare conventions; the probability of an early event is defined for all of them. Data
    without an event at 0, without any later time, or without any weight are given back as they are.

    Parameters
    ----------
    data
        Rows of any censoring; entries and weights stay.
    smallest
        The smallest time above 0, where these rows are a part of all. None: that of these rows.

    Examples
    --------
    >>> with_zero_as_early(SurvivalData.right([0, 2, 5], [True, False, True])).upper
    array([ 2., inf,  5.])
    """
    at_zero = data.exact & (data.lower <= 0)
    if not at_zero.any() or data.total_weight == 0:
        return data
    if smallest is None:
        bounds = np.concatenate([data.lower, data.upper])
        smallest = float(bounds[np.isfinite(bounds) & (bounds > 0)].min(initial=np.inf))
    if not np.isfinite(smallest):
        return data
    lower, upper = np.where(at_zero, -np.inf, data.lower), np.where(at_zero, smallest, data.upper)
    cause = None if data.cause is None else np.where(at_zero, 0, data.cause)
    return SurvivalData.from_checked(*data.columns._replace(lower=lower, upper=upper, cause=cause))


def with_log_times(data: SurvivalData, smallest: float | None = None) -> SurvivalData:
    """The same data for a model of log time, under which nothing happens at or before time 0.

    An event at 0 came before times can be told apart: at or before the smallest time above 0 that was seen. An interval
    from 0 on, and an entry at 0, say no more than one from the start.

    Parameters
    ----------
    data
        Rows of any censoring.
    smallest
        As in `with_zero_as_early`.
    """
    data = with_zero_as_early(data, smallest)
    if (data.exact & (data.lower <= 0)).any():
        raise DataError("all times are 0: there is nothing to learn.", advice="Check the time column.")
    from_zero = data.interval_censored & (data.lower <= 0)
    entered = np.zeros(len(data), np.bool_) if data.entry is None else data.entry == 0
    if not (from_zero | entered).any():
        return data
    entry = None if data.entry is None else np.where(entered, -np.inf, data.entry)
    lower = np.where(from_zero, -np.inf, data.lower)
    return SurvivalData.from_checked(*data.columns._replace(lower=lower, entry=entry))
