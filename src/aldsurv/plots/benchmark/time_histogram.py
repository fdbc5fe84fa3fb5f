"""Counts of observed times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from aldsurv.plots.benchmark.model_looks import bare_axes, model_look
from aldsurv.plots.drawing.appearance import new_axes, show_legend

__all__ = ["plot_time_histogram", "time_histogram_figure"]

_BINS = 40


def plot_time_histogram(
    time: ArrayLike,
    event: ArrayLike,
    *,
    bins: int | Sequence[float] = _BINS,
    unit: str | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw how many subjects were last seen when, those with the event below those censored.

    Parameters
    ----------
    time, event
        Last time of each subject, and whether it is that of the event.
    bins
        Number of bins from 0 to the last time, or their edges.
    unit
        Unit of time, named at the axis.
    title
        Above the axes.
    ax
        Where to draw; None: in a new figure.
    """
    times, events = np.asarray(time, np.float64), np.asarray(event, np.bool_)
    edges = _edges(times, bins) if isinstance(bins, int) else np.asarray(bins, np.float64)
    ax = new_axes() if ax is None else ax
    colours = [model_look(0)["color"], "0.75"]
    names = ["event", "censored"]
    ax.hist([times[events], times[~events]], bins=edges.tolist(), stacked=True, color=colours, label=names)
    ax.set_xlabel("time" if unit is None else f"time ({unit})")
    ax.set_ylabel("subjects")
    ax.set_title(title, fontsize="medium")
    bare_axes(ax, grid="y")
    return show_legend(ax)


def time_histogram_figure(
    parts: Mapping[str, tuple[ArrayLike, ArrayLike]], *, bins: int = _BINS, unit: str | None = None
) -> Figure:
    """New figure with one histogram for each part of a dataset, in the same bins.

    Parameters
    ----------
    parts
        Times and events by name, such as ``"training"`` and ``"test"``.
    bins, unit
        As in `plot_time_histogram`.
    """
    figure = Figure(figsize=(4.6 * max(len(parts), 1), 3.4), layout="constrained")
    panels = figure.subplots(1, max(len(parts), 1), squeeze=False)[0]
    edges = _edges(np.concatenate([np.zeros(1), *(np.ravel(np.asarray(time)) for time, _ in parts.values())]), bins)
    for ax, (name, (time, event)) in zip(panels, parts.items(), strict=False):
        title = f"{name} ({np.size(time)} subjects)"
        plot_time_histogram(time, event, bins=edges.tolist(), unit=unit, title=title, ax=ax)
    return figure


def _edges(times: ArrayLike, bins: int) -> np.ndarray:
    return np.linspace(0.0, float(np.max(np.asarray(times), initial=0.0)) or 1.0, bins + 1)
