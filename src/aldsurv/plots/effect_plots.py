"""What the predictions depend on: importance of the columns, and partial dependence on one column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aldsurv.inspection import Importance, PartialDependence
from aldsurv.models.rows.training_rows import thinned
from aldsurv.plain_numbers import plain_number
from aldsurv.plots.drawing.appearance import COLOURS, draw_grid, plain_label
from aldsurv.plots.drawing.new_figures import new_axes, returned_figure

__all__ = ["parameter_figure", "plot_importance", "plot_partial_dependence"]

_MOST_BARS = 20
_MOST_TICKS = 200


def plot_importance(
    importance: Importance, *, most: int = _MOST_BARS, label: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the loss of score when each column is permuted, the most important on top, with bars of one sd.

    Parameters
    ----------
    importance
        From `permutation_importance`.
    most
        Number of columns shown.
    label
        Label of the axis; None: the name of the score.
    ax
        Where to draw; None: in a new figure.
    """
    places = importance.order[:most][::-1]
    if ax is None:
        ax = new_axes(6.4, 1.1 + 0.32 * max(len(places), 1))
    mean, sd = importance.mean[places], importance.sd[places]
    look = {"ecolor": "0.35", "elinewidth": 1.0, "capsize": 2}
    bars = None if np.isnan(sd).any() else sd
    ax.barh(range(len(places)), mean, xerr=bars, color=COLOURS[0], height=0.66, error_kw=look)
    ax.axvline(0.0, color="0.4", linewidth=1.0)
    ax.set_yticks(range(len(places)), [plain_label(importance.names[place]) for place in places])
    ax.set_xlabel(f"fall of {plain_label(importance.metric)} when the column is shuffled" if label is None else label)
    draw_grid(ax, "x")
    return ax


def plot_partial_dependence(
    effect: PartialDependence, *, label: str | None = None, colour: str = COLOURS[0], ax: Axes | None = None
) -> Axes:
    """Draw the mean prediction along a column with the range of the single rows.

    A numeric column gives a line in a band, with ticks at the bottom for the values in the rows; a categorical one
    gives points with bars.

    Parameters
    ----------
    effect
        From `partial_dependence`.
    label
        Name of the predicted quantity; None: that of its summary.
    colour
        Of line, band and points.
    ax
        Where to draw; None: in a new figure.
    """
    ax = new_axes() if ax is None else ax
    (_draw_numbers if effect.numeric else _draw_levels)(ax, effect, colour)
    ax.set_xlabel(plain_label(effect.name))
    ax.set_ylabel(plain_label(effect.summary) if label is None else label)
    draw_grid(ax, "y")
    return ax


def parameter_figure(effects: Sequence[PartialDependence], labels: Sequence[str]) -> Figure:
    """New figure with the effects of one column on several quantities side by side.

    Parameters
    ----------
    effects
        From `partial_dependence`, one per panel.
    labels
        Name of each quantity.
    """
    figure = returned_figure(3.6 * len(effects), 2.9)
    panels = figure.subplots(1, len(effects), squeeze=False)[0]
    for place, (effect, label, ax) in enumerate(zip(effects, labels, panels, strict=True)):
        plot_partial_dependence(effect, label=label, colour=COLOURS[place % len(COLOURS)], ax=ax)
    return figure


def _draw_numbers(ax: Axes, effect: PartialDependence, colour: str) -> None:
    values = np.asarray(effect.values, np.float64)
    ax.fill_between(values, effect.lower, effect.upper, color=colour, alpha=0.18, linewidth=0)
    ax.plot(values, effect.mean, color=colour, linewidth=1.8, marker="o" if values.size <= 12 else "", markersize=3.5)
    # Evenly by rank, so that few ticks have the density of all of them.
    shown = thinned(np.sort(np.asarray(effect.observed, np.float64)), _MOST_TICKS)
    low, high = float(values.min()), float(values.max())
    shown = shown[(shown >= low) & (shown <= high)]
    ticks = np.full(shown.shape, 0.02)
    foot = ax.get_xaxis_transform()
    ax.scatter(shown, ticks, marker="|", s=45, color="0.3", linewidths=0.6, alpha=0.6, transform=foot)


def _draw_levels(ax: Axes, effect: PartialDependence, colour: str) -> None:
    places, mean = np.arange(len(effect.values)), effect.mean
    spread = np.stack([np.maximum(mean - effect.lower, 0.0), np.maximum(effect.upper - mean, 0.0)])
    ax.errorbar(places, mean, yerr=spread, fmt="o", color=colour, ecolor=colour, elinewidth=1.4, capsize=4)
    ax.set_xlim(-0.6, len(places) - 0.4)
    names = [plain_label(_level(value)) for value in effect.values.tolist()]
    crowded = sum(map(len, names)) > 40
    ax.set_xticks(places, names, rotation=30 if crowded else 0, ha="right" if crowded else "center")


def _level(value: object) -> str:
    return plain_number(value) if isinstance(value, float) else str(value)
