"""Calibration curves over the runs of a benchmark, and the straight line through each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike

from aldsurv.errors import ParameterError
from aldsurv.metrics.calibration.event_levels import CalibrationLine, CalibrationPoints
from aldsurv.plots.drawing.appearance import draw_grid, marker_look, show_legend
from aldsurv.plots.drawing.new_figures import new_axes, returned_figure

__all__ = ["calibration_examples_figure", "calibration_fit_figure", "plot_calibration_fit"]

# Neighbouring curves are moved apart by this share of the axis, so that all error bars can be seen.
_APART = 0.008
# Height in inches of a line of a legend below the axes, and of the name of the axis between.
_LEGEND_LINE, _AXIS_NAME = 0.21, 0.42

Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]


def plot_calibration_fit(curves: Curves, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw observed against expected shares, and the least-squares line of each model with its slope and intercept.

    Points are means over runs, with bars of one standard deviation. The line is that through the means, whose slope
    and intercept are the means of those of the runs.

    Parameters
    ----------
    curves
        By model: expected shares (k,), and observed ones (runs, k) or (k,). The place in the mapping gives the colour.
    title
        Above the axes.
    ax
        Where to draw; None: in a new figure.
    """
    ax = new_axes(4.4, 4.4) if ax is None else ax
    ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1.0, zorder=1)
    for place, (name, (expected, observed)) in enumerate(curves.items()):
        x, runs = np.asarray(expected, np.float64), np.atleast_2d(np.asarray(observed, np.float64))
        if runs.ndim != 2 or x.shape != runs.shape[1:]:
            shares = f"{name!r} has {runs.shape[-1]} and {x.size}"
            problem = f"curves must have as many observed as expected shares, but {shares}."
            raise ParameterError(problem, argument="curves")
        sd = runs.std(axis=0, ddof=1) if len(runs) > 1 else np.zeros(x.size)
        moved = x + _APART * (place - (len(curves) - 1) / 2)
        look = marker_look(place)
        # A single point has no line.
        with np.errstate(invalid="ignore"):
            line = CalibrationPoints(x, runs.mean(axis=0)).line
        ax.errorbar(
            moved, runs.mean(axis=0), yerr=sd, label=f"{name}: {_describe(line)}", linestyle="none", markersize=3.5,
            elinewidth=0.9, **look,
        )  # fmt: skip
        ax.plot([0, 1], [line.intercept, line.intercept + line.slope], color=look["color"], linewidth=1.2)
    ax.set_xlim(0.0, 1.03)
    ax.set_ylim(0.0, 1.03)
    ax.set_aspect("equal")
    ax.set_xlabel("expected share")
    ax.set_ylabel("observed share")
    ax.set_title(title, fontsize="medium")
    draw_grid(ax)
    return show_legend(ax)


def calibration_fit_figure(survival: Curves, density: Curves, *, title: str = "") -> Figure:
    """New figure with the curves of the survival function and of the density side by side.

    Parameters
    ----------
    survival, density
        As in `plot_calibration_fit`, with the models in the same order.
    title
        Above both.
    """
    longest = max(len(survival), len(density))
    figure = returned_figure(6.8, 3.7 + _LEGEND_LINE * longest)
    panels = figure.subplots(1, 2)
    for ax, curves, name in zip(panels, (survival, density), ("Cal[S]", "Cal[f]"), strict=True):
        plot_calibration_fit(curves, title=name, ax=ax)
        if ax.get_legend() is not None:
            # Below the name of the axis: curves far from the diagonal leave no corner free for one line per model.
            below = ax.transAxes + ScaledTranslation(0.0, -_AXIS_NAME, figure.dpi_scale_trans)
            ax.legend(
                loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=below, frameon=False, fontsize="small"
            )
    if title:
        figure.suptitle(title)
    return figure


def calibration_examples_figure(rows: Sequence[Sequence[tuple[str, Curves]]]) -> Figure:
    """New figure with a grid of calibration curves.

    Parameters
    ----------
    rows
        For each row of the grid its panels from left to right: the title, and curves as in `plot_calibration_fit`.
    """
    height, width = len(rows), max((len(row) for row in rows), default=0)
    figure = returned_figure(3.5 * max(width, 1), 3.6 * max(height, 1))
    grid = figure.subplots(max(height, 1), max(width, 1), squeeze=False)
    for panels, row in zip(grid, rows, strict=False):
        for ax, (title, curves) in zip(panels, row, strict=False):
            plot_calibration_fit(curves, title=title, ax=ax)
    for ax in grid.flat:
        # A row with fewer panels than the others leaves its last places empty.
        ax.set_visible(ax.has_data())
    return figure


def _describe(line: CalibrationLine) -> str:
    return f"slope {_rounded(line.slope)}, intercept {_rounded(line.intercept)}"


def _rounded(value: float) -> str:
    if np.isnan(value):
        return "–"
    text = f"{value:.2f}"
    # Zero has no sign.
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")
