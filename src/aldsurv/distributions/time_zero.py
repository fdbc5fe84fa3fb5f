"""What an event at time 0 says: the one rule of training and of metrics."""

from __future__ import annotations

import numpy as np

from aldsurv.data.survival_data import SurvivalData

__all__ = ["with_zero_as_early"]


def with_zero_as_early(data: SurvivalData) -> SurvivalData:
    """The same data, but an event at 0 is one at or before the smallest time above 0.

    The clock was too coarse to tell when it came. At 0 itself one family has a density and another none, so that a
    likelihood there would compare conventions; of the probability of an early event all of them can tell. Data
    without an event at 0, without any later time, or without any weight are given back as they are.

    Parameters
    ----------
    data
        Rows of any censoring; entries and weights stay.

    Examples
    --------
    >>> with_zero_as_early(SurvivalData.right([0, 2, 5], [True, False, True])).upper
    array([ 2., inf,  5.])
    """
    at_zero = data.exact & (data.lower <= 0)
    if not at_zero.any() or data.total_weight == 0:
        return data
    known = np.concatenate([data.lower, data.upper])
    positive = known[np.isfinite(known) & (known > 0)]
    if not positive.size:
        return data
    lower, upper = np.where(at_zero, -np.inf, data.lower), np.where(at_zero, positive.min(), data.upper)
    return SurvivalData.interval(lower, upper, entry=data.entry, weight=data.weight)
