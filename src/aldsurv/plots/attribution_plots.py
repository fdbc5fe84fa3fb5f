"""Why predictions are what they are: Shapley values over time, as bars and as a swarm."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from aldsurv.checks import WholeNumber, check
from aldsurv.errors import ParameterError
from aldsurv.inspection import Attributions
from aldsurv.plots.drawing.appearance import (
    COLOURS,
    draw_grid,
    line_look,
    plain_label,
    show_legend,
    time_label,
    write_remark,
)
from aldsurv.plots.drawing.new_figures import new_axes, returned_figure

__all__ = [
    "attribution_figure",
    "plot_attribution_swarm",
    "plot_attributions",
    "plot_attributions_over_time",
    "plot_mean_attributions",
]

FloatArray = NDArray[np.float64]

_UP, _DOWN = COLOURS[0], COLOURS[1]
# Points of a swarm that stand side by side in one line.
_LAYERS, _BINS = 12, 60


def plot_attributions_over_time(
    explained: Attributions, row: int = 0, *, most: int = 6, unit: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how much each column moves the prediction of one row, over time.

    Parameters
    ----------
    explained
        From `shapley_values` with several times.
    row
        Which of its rows.
    most
        Columns shown by a line of their own; the others are one line together.
    unit
        Of time.
    ax
        Where to draw; None: in a new figure.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv.inspection import shapley_values
    >>> from aldsurv.models import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> x = {"age": rng.normal(size=80), "dose": rng.normal(size=80)}
    >>> model = WeibullAFT().fit(x, (np.exp(x["age"]) * rng.weibull(2.0, 80), np.ones(80, bool)))
    >>> ax = plot_attributions_over_time(shapley_values(model, x), row=3, unit="years")
    >>> [line.get_label() for line in ax.lines[1:]], ax.get_xlabel()
    (['age', 'dose'], 'time (years)')
    """
    check("most", most, WholeNumber(1))
    one = _one(explained, row)
    if one.times is None or one.times.size < 2:
        raise ParameterError("explained must be of two times or more: draw one by plot_attributions.")
    ax = new_axes() if ax is None else ax
    ax.axhline(0.0, color="0.4", linewidth=1.0, label="_zero")
    order = np.argsort(one.times)
    for name, values in _lines(one, most):
        ax.plot(one.times[order], values[order], label=plain_label(name), **line_look(ax))
    ax.set_xlabel(time_label(unit))
    ax.set_ylabel(f"change of {plain_label(one.target)}")
    draw_grid(ax)
    return show_legend(ax)


def plot_attributions(
    explained: Attributions,
    row: int = 0,
    *,
    time: float | None = None,
    most: int = 12,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the values of one row at one time as bars, the largest on top, each with the value of its column.

    Parameters
    ----------
    explained
        From `shapley_values`.
    row
        Which of its rows.
    time
        One of its times; None: the last, or the summary that was explained.
    most
        Columns shown; the others are one bar together.
    unit
        Of time.
    ax
        Where to draw; None: in a new figure.
    """
    check("most", most, WholeNumber(1))
    one, place = _one(explained, row), _place(explained, time)
    values, errors = one.values[0, :, place], one.errors[0, :, place]
    order = np.argsort(-np.abs(values), kind="stable")
    kept, rest = order[:most], order[most:]
    labels = [f"{plain_label(one.names[k])} = {_text(one.columns[k][0])}" for k in kept]
    heights, bars = values[kept], errors[kept]
    if rest.size:
        labels.append(f"{rest.size} other column{'s' * (rest.size > 1)}")
        heights, bars = np.append(heights, values[rest].sum()), np.append(bars, np.nan)
    if ax is None:
        ax = new_axes(6.4, 1.3 + 0.34 * len(labels))
    places = np.arange(len(labels))[::-1]
    colours = [_UP if height >= 0 else _DOWN for height in heights]
    look: dict[str, Any] = {"ecolor": "0.35", "elinewidth": 1.0, "capsize": 2}
    ax.barh(places, heights, xerr=bars if errors.any() else None, color=colours, height=0.66, error_kw=look)
    ax.axvline(0.0, color="0.4", linewidth=1.0)
    ax.set_yticks(places, labels)
    ax.set_xlabel(f"change of {_named(one, place, unit)}")
    limits = "; bars: standard errors" if errors.any() else ""
    write_remark(ax, f"mean {one.base[place]:.3g}, this row {one.predicted[0, place]:.3g}{limits}")
    draw_grid(ax, "x")
    return ax


def plot_mean_attributions(
    explained: Attributions,
    *,
    time: float | None = None,
    most: int = 20,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean absolute value of each column over the rows, the largest on top.

    Parameters
    ----------
    explained
        From `shapley_values`.
    time
        One of its times; None: the mean over all.
    most
        Columns shown.
    unit
        Of time.
    ax
        Where to draw; None: in a new figure.
    """
    check("most", most, WholeNumber(1))
    means = explained.importance.mean(axis=1) if time is None else explained.importance[:, _place(explained, time)]
    order = np.argsort(-means, kind="stable")[:most][::-1]
    if ax is None:
        ax = new_axes(6.4, 1.1 + 0.32 * len(order))
    ax.barh(range(len(order)), means[order], color=COLOURS[0], height=0.66)
    ax.set_yticks(range(len(order)), [plain_label(explained.names[k]) for k in order])
    count = explained.base.size
    if time is None and count > 1:
        ax.set_xlabel(f"mean absolute change of {plain_label(explained.target)}, over {count} times")
    else:
        ax.set_xlabel(f"mean absolute change of {_named(explained, _place(explained, time), unit)}")
    if len(order) < len(means):
        write_remark(ax, f"{len(order)} of {len(means)} columns")
    draw_grid(ax, "x")
    return ax


def plot_attribution_swarm(
    explained: Attributions,
    *,
    time: float | None = None,
    most: int = 12,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one point per row and column: how much the column moves the row, coloured by the column's value.

    Columns of numbers are coloured from low to high by rank; text and gaps are grey.

    Parameters
    ----------
    explained
        From `shapley_values`, of many rows.
    time
        One of its times; None: the last, or the summary that was explained.
    most
        Columns shown.
    unit
        Of time.
    ax
        Where to draw; None: in a new figure.
    """
    check("most", most, WholeNumber(1))
    place = _place(explained, time)
    values = explained.values[:, :, place]
    order = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:most][::-1]
    if ax is None:
        ax = new_axes(6.8, 1.3 + 0.42 * len(order))
    ax.axvline(0.0, color="0.4", linewidth=1.0)
    low, high = float(values.min()), float(values.max())
    mapped, any_grey = None, False
    for height, column in enumerate(order):
        rank = _ranks(explained.columns[column])
        points = height + _offsets(values[:, column], low, high)
        grey = np.isnan(rank)
        any_grey |= bool(grey.any())
        ax.scatter(values[grey, column], points[grey], s=10, color="0.6", linewidths=0)
        if not grey.all():
            mapped = ax.scatter(
                values[~grey, column], points[~grey], s=10, c=rank[~grey], cmap="viridis", vmin=0, vmax=1, linewidths=0
            )
    ax.set_yticks(range(len(order)), [plain_label(explained.names[k]) for k in order])
    ax.set_ylim(-0.6, len(order) - 0.4)
    ax.set_xlabel(f"change of {_named(explained, place, unit)}")
    remarks = [f"{len(order)} of {len(explained.names)} columns"] if len(order) < len(explained.names) else []
    remarks += ["grey: text or missing"] if any_grey else []
    if remarks:
        write_remark(ax, "; ".join(remarks))
    if mapped is not None:
        bar = ax.figure.colorbar(mapped, ax=ax, ticks=[0, 1], aspect=30)
        bar.set_ticklabels(["low", "high"])
        bar.set_label("value of the column")
    draw_grid(ax, "x")
    return ax


def attribution_figure(explained: Attributions, *, unit: str | None = None) -> Figure:
    """New figure: of one row the values over time and as bars, of several the mean values and a swarm.

    Parameters
    ----------
    explained
        From `shapley_values`.
    unit
        Of time.
    """
    several = len(explained) > 1
    curve = explained.times is not None and explained.times.size > 1
    panels = 2 if several or curve else 1
    height = max(3.6, 1.6 + 0.36 * min(len(explained.names), 12))
    figure = returned_figure(6.8 * panels, height)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    if several:
        plot_mean_attributions(explained, unit=unit, ax=axes[0])
        plot_attribution_swarm(explained, unit=unit, ax=axes[-1])
        return figure
    plot_attributions(explained, unit=unit, ax=axes[-1])
    if curve:
        plot_attributions_over_time(explained, unit=unit, ax=axes[0])
    return figure


def _one(explained: Attributions, row: int) -> Attributions:
    if isinstance(row, bool) or not isinstance(row, (int, np.integer)) or not -len(explained) <= row < len(explained):
        raise ParameterError(f"row must be one of the {len(explained)} rows, but is {row!r:.60}.", argument="row")
    return explained[int(row)]


def _place(explained: Attributions, time: float | None) -> int:
    if explained.times is None:
        if time is not None:
            raise ParameterError(f"time cannot be given: the {explained.target} is explained.", argument="time")
        return 0
    if time is None:
        return int(np.argmax(explained.times))
    equal = np.flatnonzero(explained.times == time)
    if not equal.size:
        times = ", ".join(f"{each:g}" for each in explained.times[:12])
        raise ParameterError(f"time must be one of the times explained ({times}), but is {time!r:.60}.")
    return int(equal[0])


def _named(explained: Attributions, place: int, unit: str | None) -> str:
    """What is explained: a probability at a time, or a time, each with the unit if it is known."""
    target = plain_label(explained.target)
    if explained.times is None:
        return time_label(unit, target)
    return f"{target} at {explained.times[place]:.4g}{'' if unit is None else f' {unit}'}"


def _lines(one: Attributions, most: int) -> list[tuple[str, FloatArray]]:
    """Names and values over time of the columns that matter most, and the sum of the others."""
    order = one.order
    lines = [(one.names[k], one.values[0, k]) for k in order[:most]]
    if len(order) > most:
        lines.append((f"{len(order) - most} other columns", one.values[0, order[most:]].sum(axis=0)))
    return lines


def _text(value: object) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else plain_label(str(value))


def _ranks(column: NDArray[Any]) -> FloatArray:
    """Rank of each value between 0 and 1 (n,); NaN for gaps and text."""
    if column.dtype.kind not in "biuf":
        return np.full(len(column), np.nan)
    numbers = column.astype(np.float64)
    ranks = np.full(len(numbers), np.nan)
    there = ~np.isnan(numbers)
    levels, places = np.unique(numbers[there], return_inverse=True)
    ranks[there] = 0.5 if levels.size < 2 else places / (levels.size - 1)
    return ranks


def _offsets(values: FloatArray, low: float, high: float) -> FloatArray:
    """Height of each point: points of nearly equal value stand above and below each other."""
    width = (high - low) or 1.0
    bins = np.minimum(((values - low) / width * _BINS).astype(int), _BINS - 1)
    offsets = np.zeros(len(values))
    counts = np.bincount(bins, minlength=_BINS)
    tallest = max(int(counts.max()), _LAYERS)
    for each in np.flatnonzero(counts):
        rows = np.flatnonzero(bins == each)
        steps = np.arange(len(rows))
        # 0, 1, -1, 2, -2 … from the line outwards.
        offsets[rows] = np.where(steps % 2 == 1, (steps + 1) // 2, -(steps // 2)) * (0.8 / tallest)
    return offsets
