"""The times at which a report judges predictions: given ones, checked, or round ones within the follow-up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.metrics.evaluation_times import event_quantiles
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted
from aldsurv.reports.model.row_kind import known_times

__all__ = ["checked_report_times", "default_report_times", "main_time", "median_time"]

# More make the page long.
_MOST = 6
# An estimate at a time needs rows beyond it and events before it.
_LEAST_LEFT, _LEAST_EVENTS = 10, 10
_QUARTILES = [0.25, 0.75]


def median_time(data: SurvivalData) -> float:
    """The median of the observed times; of rows with bounds, of the last known ones."""
    return float(np.quantile(known_times(data), 0.5, weights=data.weights, method="inverted_cdf"))


def checked_report_times(times: Sequence[float], data: SurvivalData) -> tuple[float, ...]:
    """Given times in ascending order, each once; `ParameterError` unless all lie within the follow-up of the rows."""
    try:
        grid = np.unique(np.asarray(times, dtype=np.float64).reshape(-1))
    except (TypeError, ValueError):
        raise ParameterError(f"times must be numbers, but {quoted(times, 60)} was given.", argument="times") from None
    if not 1 <= grid.size <= _MOST:
        raise ParameterError(f"times must be 1 to {_MOST} different times, but are {grid.size}.", argument="times")
    last = float(known_times(data)[data.weights > 0].max(initial=0.0))
    wrong = grid[~((grid > 0) & (grid <= last))]
    if wrong.size:
        raise ParameterError(
            f"times must lie after 0 and within the follow-up of the rows, which ends at {plain_number(last)}, but one "
            f"is {plain_number(float(wrong[-1]))}",
            argument="times",
            advice="Give earlier times." if wrong[-1] > last else "Give positive times.",
        )
    return tuple(grid.tolist())


def default_report_times(data: SurvivalData) -> tuple[float, ...]:
    """The median observed time and, rounded, the quartiles of the event times that have enough rows on both sides.

    Parameters
    ----------
    data
        Rows with times.
    """
    middle = median_time(data)
    if not middle > 0:
        return ()
    time, counted = data.time, data.weights > 0
    rounded = [float(f"{quartile:.1g}") for quartile in event_quantiles(data, _QUARTILES)]
    events = [np.count_nonzero(counted & data.event & (time <= at)) for at in rounded]
    left = [np.count_nonzero(counted & (time > at)) for at in rounded]
    enough = [at for at, had, beyond in zip(rounded, events, left, strict=True)
              if had >= _LEAST_EVENTS and beyond >= _LEAST_LEFT]  # fmt: skip
    # Next to the middle another time would say the same.
    apart = [at for at in enough if not 0.7 < at / middle < 1.4]
    return tuple(sorted({middle, *apart}))


def main_time(times: Sequence[float], data: SurvivalData) -> float:
    """The one of the times that is nearest to the median observed one."""
    middle = median_time(data)
    return min(times, key=lambda time: abs(time - middle)) if times else middle
