"""Several persons: the survival curve of each, and when their event is to be expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aldsurv.distributions import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.plots.benchmark.model_looks import model_look
from aldsurv.plots.curves import BandAt, plot_survival
from aldsurv.plots.drawing.appearance import new_axes, show_legend
from aldsurv.plots.drawing.row_choice import choose_rows
from aldsurv.plots.drawing.time_grid import as_numpy

__all__ = ["plot_individuals"]

# Height of the line of one person under the curves, as a probability.
_PITCH = 0.055


def plot_individuals(
    predicted: SurvivalDistribution,
    *,
    rows: Any = None,
    level: float = 0.8,
    labels: Sequence[str] | None = None,
    times: Any = None,
    band: BandAt | None = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the survival curves of some rows and, under them, the median and a prediction interval of each.

    Parameters
    ----------
    predicted
        Predictions.
    rows, labels, times
        As in `plot_survival`: at most ten rows, a name for each, and the times of the curves.
    level
        Probability that the event falls into the interval, from the ``(1 - level)/2`` to the ``(1 + level)/2``
        quantile. One that goes on outside the picture ends in an arrow.
    band
        Limits to shade around the curves, as in `plot_survival`.
    unit
        Unit of time, named at the axis.
    ax
        Where to draw; None: in a new figure.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> ax = plot_individuals(Exponential([5.0, 20.0]), labels=["fast", "slow"], unit="years")
    >>> [line.get_label() for line in ax.lines[:2]], ax.get_xlabel()
    (['fast', 'slow'], 'time (years)')
    """
    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise ParameterError(f"level must be a number between 0 and 1, but is {level!r}.")
    chosen, _ = choose_rows(predicted, rows, labels)
    ax = new_axes() if ax is None else ax
    plot_survival(predicted, times, rows=rows, labels=labels, band=band, unit=unit, ax=ax)
    shares = [(1 - level) / 2, 0.5, (1 + level) / 2]
    quantiles = as_numpy(chosen.quantile(shares))
    start, stop = ax.get_xlim()
    for place, (curve, (low, median, high)) in enumerate(
        zip(list(ax.lines)[-len(chosen) :], quantiles.tolist(), strict=True)
    ):
        colour, height = curve.get_color(), -_PITCH * (place + 1)
        look = model_look(place)["marker"]
        # What is outside the picture is said by an arrow at its edge; the numbers are in the distribution.
        ax.plot(
            [min(max(low, start), stop), min(high, stop)], [height, height], color=colour, linewidth=3.0, alpha=0.5,
            solid_capstyle="butt",
        )  # fmt: skip
        if high > stop:
            ax.plot(stop, height, marker=">", color=colour, markersize=5, clip_on=False, linestyle="none")
        if start <= median <= stop:
            ax.plot([median, median], [0.5, height], marker=look, color=colour, markersize=5, linestyle="none")
    ax.set_ylim(-_PITCH * (len(chosen) + 1), 1.02)
    ax.set_yticks(np.linspace(0, 1, 6).tolist())
    ax.axhline(0.0, color="0.3", linewidth=0.8)
    ax.set_title(f"below: median and {100 * level:g} % interval", loc="right", fontsize="small", color="0.4")
    return show_legend(ax)
