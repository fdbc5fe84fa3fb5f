"""Up to which time follow-up tells subjects apart."""

from __future__ import annotations

import numpy as np

from aldsurv.data.survival_data import SurvivalData

__all__ = ["end_of_follow_up"]

# After it so few rows are left that the data say little about who lives longer.
_SHARE = 0.8


def end_of_follow_up(data: SurvivalData) -> float:
    """The time by which 80 % of the rows have had the event or have been censored.

    It is the time of a row: the first by which that share of the weight has come, so that a row of weight 2 counts as
    two rows. A row of which only bounds are known has the last finite one. If no event is known by then, or it is 0,
    nothing up to it tells rows apart: then it is the largest time. Without any row of positive weight it is 0.

    Parameters
    ----------
    data
        Rows of any censoring; those of weight 0 count as absent. Of episodes, persons count.

    Examples
    --------
    >>> end_of_follow_up(SurvivalData.right([1, 2, 3, 4, 50], [True, False, True, True, False]))
    4.0
    """
    data = data.persons()
    counted = data.weights > 0
    if not counted.any():
        return 0.0
    had_event = np.isfinite(data.upper[counted])
    times = np.where(had_event, data.upper[counted], data.lower[counted])
    end = float(np.quantile(times, _SHARE, weights=data.weights[counted], method="inverted_cdf"))
    return end if end > 0 and (times[had_event] <= end).any() else float(times.max())
