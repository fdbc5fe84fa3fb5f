"""A metric of several models on many datasets as error bars, and differences as a coloured table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from aldsurv.plots.drawing.appearance import draw_grid, marker_look
from aldsurv.plots.drawing.new_figures import new_axes
from aldsurv.plots.drawing.time_grid import FloatArray

__all__ = ["Spread", "plot_metric"]

# Means and standard deviations, one of each per dataset; NaN where there is none.
Spread = tuple[Sequence[float], Sequence[float]]

# Share of the width of a dataset that its models take.
_SLOT = 0.76
# Up to this, one decimal is shown.
_SMALL = 10.0
# Means this many times above the 90 % quantile are written at the upper edge instead of drawn.
_FAR = 100.0


def plot_metric(
    datasets: Sequence[str],
    models: Mapping[str, Spread],
    *,
    label: str,
    published: Mapping[str, Spread] | None = None,
    log: bool = False,
    least: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw mean ± standard deviation of each model on each dataset, models side by side.

    Parameters
    ----------
    datasets
        Names along the horizontal axis.
    models
        By name, which the legend shows; the place in the mapping gives colour and marker.
    label
        What the values are.
    published
        Published numbers beside them, as hollow markers with thin bars; models that are not in `models` are left out.
    log
        Whether the axis is logarithmic. Values of 0 and below are then not shown, and bars end at the lower edge.
    least
        Lower bound of the values, such as 0 for distances: bars end there.
    ax
        Where to draw; None: in a new figure as wide as a page.

    Examples
    --------
    >>> ax = plot_metric(["a", "b"], {"ALD": ([0.5, 0.6], [0.1, 0.2])}, label="MAE")
    >>> ax.get_ylabel(), [text.get_text() for text in ax.get_xticklabels()]
    ('MAE', ['a', 'b'])
    """
    ax = new_axes(10.0, 3.6) if ax is None else ax
    beside = {name: spread for name, spread in (published or {}).items() if name in models}
    # A slot for each model, of two halves if there are published numbers.
    step = _SLOT / max(len(models), 1)
    half = step / 4 if beside else 0.0
    if log:
        ax.set_yscale("log")
    for band in range(1, len(datasets), 2):
        ax.axvspan(band - 0.5, band + 0.5, color="0.96", zorder=0, linewidth=0)
    everything = [*models.values(), *beside.values()]
    floor = _floor(everything) if log else least
    for place, (name, spread) in enumerate(models.items()):
        middle = np.arange(len(datasets), dtype=np.float64) + (place + 0.5) * step - _SLOT / 2
        size = 3.4 if beside else 4.2
        _bars(ax, middle - half, spread, {**marker_look(place), "label": name, "markersize": size}, log, floor)
        if name in beside:
            hollow = {"markerfacecolor": "white", "elinewidth": 0.7, "markersize": size}
            _bars(ax, middle + half, beside[name], {**marker_look(place), **hollow}, log, floor)
    ax.set_xlim(-0.5, len(datasets) - 0.5)
    if floor is not None:
        ax.set_ylim(bottom=floor)
    ceiling = _ceiling(everything) if log else None
    if ceiling is not None:
        ax.set_ylim(top=ceiling)
        for place, (means, _) in enumerate(models.values()):
            middle = np.arange(len(datasets), dtype=np.float64) + (place + 0.5) * step - _SLOT / 2 - half
            _write_values_beyond(ax, middle, np.asarray(means, np.float64), ceiling, marker_look(place)["color"])
    ax.set_xticks(range(len(datasets)), datasets, rotation=40, ha="right", rotation_mode="anchor", fontsize="small")
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel(label)
    draw_grid(ax, "y")
    _name_models(ax, hollow=bool(beside))
    return ax


def _ceiling(spreads: Iterable[Spread]) -> float | None:
    """Upper end of the axis if a few means are so large that the others could not be read; None without such means."""
    means = np.array([mean for means, _ in spreads for mean in means], np.float64)
    means = means[np.isfinite(means) & (means > 0)]
    if not means.size or means.max() <= _FAR * np.quantile(means, 0.9):
        return None
    return float(means[means <= _FAR * np.quantile(means, 0.9)].max() * 10)


def _write_values_beyond(ax: Axes, places: FloatArray, means: FloatArray, ceiling: float, colour: str) -> None:
    """Write values above the end of the axis at its upper edge."""
    for place, mean in zip(places, means, strict=True):
        if mean > ceiling:
            text = f"{mean:.0e}".replace("e+", "e") + " ↑"
            ax.text(place, ceiling, text, color=colour, rotation=90, ha="right", va="top", fontsize="x-small")


def _bars(ax: Axes, x: FloatArray, spread: Spread, look: Mapping[str, Any], log: bool, floor: float | None) -> None:
    """Markers with bars of one standard deviation that do not go below the floor."""
    means, sds = (np.asarray(values, np.float64) for values in spread)
    drawn = np.isfinite(means) & (means > 0 if log else True)
    x, means, sds = x[drawn], means[drawn], np.nan_to_num(sds[drawn], posinf=0.0)
    down = sds if floor is None else np.clip(means - floor, 0.0, sds)
    usual = {"linestyle": "none", "markeredgewidth": 1.0, "elinewidth": 1.3}
    ax.errorbar(x, means, yerr=np.stack([down, sds]), **{**usual, **look})


def _floor(spreads: Sequence[Spread]) -> float | None:
    """Lower end of a logarithmic axis: below all means, and below the bars unless they are very long."""
    none = np.empty(0)
    means, sds = (np.concatenate([none, *(np.asarray(spread[k], np.float64) for spread in spreads)]) for k in (0, 1))
    usable = np.isfinite(means) & (means > 0)
    if not usable.any():
        return None
    lower = means[usable] - np.nan_to_num(sds[usable], posinf=0.0)
    return float(max(means[usable].min() / 3, min(means[usable].min() / 1.3, lower.min())))


def _name_models(ax: Axes, *, hollow: bool) -> None:
    handles, names = ax.get_legend_handles_labels()
    if hollow:
        grey: dict[str, Any] = {"color": "0.4", "linestyle": "none", "marker": "o", "markersize": 4.2}
        handles += [Line2D([], [], **grey), Line2D([], [], markerfacecolor="white", **grey)]
        names += ["ours", "published"]
    if names:
        look = {"frameon": False, "fontsize": "small", "handletextpad": 0.4, "columnspacing": 1.4}
        ax.legend(handles, names, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(names), **look)
