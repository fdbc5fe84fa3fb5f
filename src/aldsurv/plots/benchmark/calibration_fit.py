"""Calibration curves of several models over the runs of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from aldsurv.errors import ParameterError
from aldsurv.plots.drawing.appearance import draw_grid, marker_look, new_axes, show_legend

__all__ = ["calibration_fit_figure", "plot_calibration_fit"]

# Neighbouring curves are moved apart by this share of the axis, so that all error bars can be seen.
_APART = 0.008

Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]


def plot_calibration_fit(curves: Curves, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw the observed against the expected share: the mean over runs, with bars of one standard deviation.

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
        ax.errorbar(
            moved, runs.mean(axis=0), yerr=sd, label=name, linewidth=1.2, markersize=3.5, elinewidth=0.9,
            **marker_look(place),
        )  # fmt: skip
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
    figure = Figure(figsize=(8.4, 4.4), layout="constrained")
    panels = figure.subplots(1, 2)
    for ax, curves, name in zip(panels, (survival, density), ("Cal[S]", "Cal[f]"), strict=True):
        plot_calibration_fit(curves, title=name, ax=ax)
    legend = panels[1].get_legend()
    if legend is not None and panels[0].get_legend() is not None:
        legend.remove()
    if title:
        figure.suptitle(title)
    return figure
