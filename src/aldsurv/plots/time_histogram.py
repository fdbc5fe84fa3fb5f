"""Histograms of observed times: when events happened and when observation ended without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.plain_numbers import percent
from aldsurv.plots.drawing.appearance import COLOURS, draw_grid, show_legend, time_label, write_remark
from aldsurv.plots.drawing.axes_text import write_message
from aldsurv.plots.drawing.new_figures import new_axes, returned_figure
from aldsurv.plots.drawing.time_grid import FloatArray

__all__ = ["plot_time_distribution", "plot_time_histogram", "time_histogram_figure"]

_BINS = 40
_GRID = 401


def plot_time_distribution(
    data: SurvivalData, *, bins: int | Sequence[float] = _BINS, unit: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a histogram of the observed times, of events and censored rows.

    Parameters
    ----------
    data
        Rows with any censoring. An interval-censored row is drawn at the middle of its interval, a left-censored one
        at half its time.
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
    events = int(np.isfinite(data.upper).sum())
    share, plural = percent(events / len(data)), "s" * (events != 1)
    bounded = events - data.n_events
    within = f", {bounded} within bounds" if bounded else ""
    write_remark(ax, f"{len(data)} rows, {events} event{plural} ({share}){within}")
    return ax


def plot_time_histogram(
    time: ArrayLike,
    event: ArrayLike,
    *,
    bins: int | Sequence[float] = _BINS,
    density: bool = False,
    unit: str | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a histogram of the last observed times, with the censored subjects above those with an event.

    Parameters
    ----------
    time, event
        Last time of each subject, and whether it is that of the event.
    bins
        Number of bins from 0 to the last time, or their edges.
    density
        Whether to draw a kernel density estimate of all times over the bars, in subjects per bin; bins must be equally
        wide. The kernel is Gaussian with Scott's bandwidth. Times below the first edge cannot be: what the kernels
        have there is reflected at it, so that the estimate does not sink towards the edge.
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
    colours = [COLOURS[0], "0.75"]
    names = ["event", "censored"]
    ax.hist([times[events], times[~events]], bins=edges.tolist(), stacked=True, color=colours, label=names)
    if density:
        _draw_density(ax, times, edges)
    ax.set_xlabel(time_label(unit))
    ax.set_ylabel("subjects")
    ax.set_title(title, fontsize="medium")
    draw_grid(ax, "y")
    return show_legend(ax)


def time_histogram_figure(
    parts: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    bins: int = _BINS,
    density: bool = False,
    unit: str | None = None,
) -> Figure:
    """New figure with one histogram per part of a dataset, in the same bins.

    Parameters
    ----------
    parts
        Times and events by name, such as ``"training"`` and ``"test"``.
    bins, density, unit
        As in `plot_time_histogram`.
    """
    figure = returned_figure(4.6 * max(len(parts), 1), 3.4)
    panels = figure.subplots(1, max(len(parts), 1), squeeze=False)[0]
    edges = _edges(np.concatenate([np.zeros(1), *(np.ravel(np.asarray(time)) for time, _ in parts.values())]), bins)
    for ax, (name, (time, event)) in zip(panels, parts.items(), strict=False):
        title = f"{name} ({np.size(time)} subjects)"
        plot_time_histogram(time, event, bins=edges.tolist(), density=density, unit=unit, title=title, ax=ax)
    return figure


def _draw_density(ax: Axes, times: FloatArray, edges: FloatArray) -> None:
    widths = np.diff(edges)
    if not np.allclose(widths, widths[0], rtol=1e-9):
        raise ParameterError("bins must be equally wide if density is drawn, but are not.", argument="bins")
    inside = times[(times >= edges[0]) & (times <= edges[-1])]
    # One value, or the same one throughout, has no bandwidth.
    if inside.size < 2 or np.ptp(inside) == 0:
        return
    from scipy.stats import gaussian_kde

    estimate = gaussian_kde(inside)
    grid = np.linspace(edges[0], edges[-1], _GRID)
    reflected = estimate(grid) + estimate(2 * edges[0] - grid)
    ax.plot(grid, inside.size * widths[0] * reflected, color=COLOURS[1], linewidth=1.6, label="density estimate")


def _edges(times: ArrayLike, bins: int) -> FloatArray:
    return np.linspace(0.0, float(np.max(np.asarray(times), initial=0.0)) or 1.0, bins + 1)
