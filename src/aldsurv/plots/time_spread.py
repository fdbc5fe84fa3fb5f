"""The observed times at a glance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from aldsurv.data.survival_data import SurvivalData
from aldsurv.plots.benchmark.time_histogram import plot_time_histogram
from aldsurv.plots.drawing.appearance import new_axes
from aldsurv.plots.drawing.message import write_message

__all__ = ["plot_time_distribution"]


def plot_time_distribution(
    data: SurvivalData, *, bins: int | Sequence[float] = 40, unit: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how many rows have their event, or are censored, when.

    Parameters
    ----------
    data
        Rows censored in any way. One that is known to have its event between two times is at their middle, a
        left-censored one halfway from 0.
    bins, unit, ax
        As in `plot_time_histogram`.

    Examples
    --------
    >>> ax = plot_time_distribution(SurvivalData.right([1, 2, 2, 4], [1, 1, 0, 1]), bins=2)
    >>> [float(bar.get_height()) for bar in ax.containers[0]]
    [1.0, 2.0]
    """
    ax = new_axes() if ax is None else ax
    if len(data) == 0:
        return write_message(ax, "there are no rows.")
    low = np.where(np.isfinite(data.lower), data.lower, 0.0)
    middle = np.where(data.right_censored, low, (low + np.where(data.right_censored, low, data.upper)) / 2)
    plot_time_histogram(middle, data.exact, bins=bins, unit=unit, ax=ax)
    share, plural = 100 * data.n_events / len(data), "s" * (data.n_events != 1)
    shares = f"{len(data)} rows, {data.n_events} event{plural} ({share:.0f} %)"
    ax.set_title(shares, loc="right", fontsize="small", color="0.4")
    return ax
