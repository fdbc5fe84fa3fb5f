"""Survival curves of several subjects, with the median and a prediction interval of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from aldsurv.checks import Number, check
from aldsurv.distributions import SurvivalDistribution
from aldsurv.plots.curves import BandAt, plot_survival
from aldsurv.plots.drawing.appearance import marker_look, show_legend, write_remark
from aldsurv.plots.drawing.new_figures import new_axes
from aldsurv.plots.drawing.row_choice import RowChoice, choose_rows
from aldsurv.plots.drawing.time_grid import as_numpy

__all__ = ["plot_individuals"]

# Height of one subject's interval under the curves, as a probability.
_PITCH = 0.055


def plot_individuals(
    predicted: SurvivalDistribution,
    *,
    rows: RowChoice = None,
    level: float = 0.8,
    labels: Sequence[str] | None = None,
    times: ArrayLike | None = None,
    band: BandAt | None = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the survival curves of some rows and, under them, the median and a prediction interval of each.

    Parameters
    ----------
    predicted
        The predictions.
    rows, labels, times
        As in `plot_survival`: at most ten rows, a name for each, and the times of the curves.
    level
        Probability that the event falls into the interval, from the ``(1 - level)/2`` to the ``(1 + level)/2``
        quantile. An interval that extends beyond the picture ends in an arrow.
    band
        Limits to shade around the curves, as in `plot_survival`.
    unit, ax
        As in `plot_survival`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> ax = plot_individuals(Exponential([5.0, 20.0]), labels=["fast", "slow"], unit="years")
    >>> [line.get_label() for line in ax.lines[:2]], ax.get_xlabel()
    (['fast', 'slow'], 'time (years)')
    """
    check("level", level, Number(0, 1, above=True, below=True))
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
        look = marker_look(place)["marker"]
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
    write_remark(ax, f"below: median and {100 * level:g} % interval")
    return show_legend(ax)
