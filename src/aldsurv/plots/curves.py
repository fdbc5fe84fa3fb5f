"""Survival, density and hazard of a few individuals, one line each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from aldsurv.distributions import SurvivalDistribution
from aldsurv.plots.drawing.appearance import extend_limits, line_look, show_legend, tidy_axes
from aldsurv.plots.drawing.new_figures import new_axes, returned_figure
from aldsurv.plots.drawing.row_choice import RowChoice, choose_row_numbers, choose_rows
from aldsurv.plots.drawing.time_grid import FloatArray, as_numpy, curve_times

__all__ = ["BandAt", "distribution_figure", "plot_density", "plot_hazard", "plot_survival"]

# Lower and upper limits (n, m) at times (m,).
BandAt: TypeAlias = Callable[[FloatArray], tuple[ArrayLike, ArrayLike]]

# Density and hazard may have poles, and a hazard may grow without bound in the tail. The height of the picture is
# that of the values between the quantiles of this level and of one minus it.
_TAIL = 0.05


class _Curve(NamedTuple):
    """A quantity to draw: its name, its values for one row, and whether it is one per time."""

    name: str
    values: Callable[[SurvivalDistribution, FloatArray], Any]
    rate: bool


_SURVIVAL = _Curve("survival probability", lambda row, times: row.survival(times), rate=False)
_DENSITY = _Curve("density", lambda row, times: row.density(times), rate=True)
_HAZARD = _Curve("hazard", lambda row, times: row.hazard(times), rate=True)


def plot_survival(
    distribution: SurvivalDistribution,
    times: ArrayLike | None = None,
    *,
    rows: RowChoice = None,
    labels: Sequence[str] | None = None,
    band: BandAt | None = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability of being event-free over time; jumps are drawn as steps.

    Parameters
    ----------
    distribution
        Individuals to draw, at most ten.
    times
        Times at which the curves are computed, beside their corners and jumps. None: from 0 until nearly all events
        have happened.
    rows
        Which individuals to draw, as in ``distribution[rows]``; None for all.
    labels
        A name for each line. None: the numbers of the rows, when there is more than one.
    band
        Limits to shade around each line: a function of times (m,) that returns lower and upper limits ``(n, m)`` for
        all n rows of `distribution`, such as ``lambda times: model.predict_survival_band(X, times)``. Where a limit
        rises, which no survival curve does, the tighter one of an earlier or later time is drawn.
    unit
        Unit of time, named at the axes.
    ax
        Where to draw, beside what is there. None: in a new figure, the ``figure`` of the returned axes.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> ax = plot_survival(Exponential([5.0, 20.0]), labels=["fast", "slow"], unit="years")
    >>> ax.get_xlabel(), [line.get_label() for line in ax.lines]
    ('time (years)', ['fast', 'slow'])
    """
    chosen, names = choose_rows(distribution, rows, labels)
    grid = curve_times(chosen, times)
    ax = _draw(_SURVIVAL, chosen, grid, names, unit, ax)
    if band is not None:
        _shade(ax, band, grid, choose_row_numbers(len(distribution), rows))
    return show_legend(ax)


def plot_density(
    distribution: SurvivalDistribution,
    times: ArrayLike | None = None,
    *,
    rows: RowChoice = None,
    labels: Sequence[str] | None = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability density over time; the parameters are those of `plot_survival`."""
    chosen, names = choose_rows(distribution, rows, labels)
    return show_legend(_draw(_DENSITY, chosen, curve_times(chosen, times), names, unit, ax))


def plot_hazard(
    distribution: SurvivalDistribution,
    times: ArrayLike | None = None,
    *,
    rows: RowChoice = None,
    labels: Sequence[str] | None = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the event rate among those still event-free; the parameters are those of `plot_survival`.

    The height of the picture fits the times at which an individual is likely to have the event; a hazard that grows
    without bound leaves it at the top.
    """
    chosen, names = choose_rows(distribution, rows, labels)
    return show_legend(_draw(_HAZARD, chosen, curve_times(chosen, times), names, unit, ax))


def distribution_figure(
    distribution: SurvivalDistribution,
    times: ArrayLike | None = None,
    *,
    rows: RowChoice = None,
    labels: Sequence[str] | None = None,
    unit: str | None = None,
) -> Figure:
    """New figure with survival, density and hazard side by side; the parameters are those of `plot_survival`."""
    chosen, names = choose_rows(distribution, rows, labels)
    grid = curve_times(chosen, times)
    figure = returned_figure(11.0, 3.6)
    panels = figure.subplots(1, 3)
    for curve, ax in zip((_SURVIVAL, _DENSITY, _HAZARD), panels, strict=True):
        _draw(curve, chosen, grid, names, unit, ax)
    handles, shown = panels[0].get_legend_handles_labels()
    if shown:
        figure.legend(handles, shown, loc="outside upper center", ncols=min(len(shown), 5), frameon=False)
    return figure


def _draw(
    curve: _Curve,
    chosen: SurvivalDistribution,
    times: Sequence[FloatArray],
    names: Sequence[str | None],
    unit: str | None,
    ax: Axes | None,
) -> Axes:
    ax = new_axes() if ax is None else ax
    fresh = not ax.has_data()
    top = 0.0
    for row, x, name in zip(chosen, times, names, strict=True):
        values = as_numpy(curve.values(row, x))[0]
        values = np.where(np.isfinite(values), values, np.nan)
        ax.plot(x, values, label=name, **line_look(ax))
        top = max(top, 1.05 * _central_height(row, x, values)) if curve.rate else 1.02
    extend_limits(ax, (float(times[0][0]), float(times[0][-1])), top or 1.0, fresh=fresh)
    tidy_axes(ax, curve.name, unit, rate=curve.rate)
    return ax


def _shade(ax: Axes, band: BandAt, times: Sequence[FloatArray], numbers: NDArray[np.intp]) -> None:
    """Shade the limits around the lines that were drawn last."""
    for line, x, number in zip(list(ax.lines)[-len(times) :], times, numbers, strict=True):
        lower, upper = (as_numpy(limit)[number] for limit in band(x))
        # A survival curve cannot rise: an upper limit also holds for all later times, a lower one for all earlier.
        lower, upper = np.maximum.accumulate(lower[::-1])[::-1], np.minimum.accumulate(upper)
        ax.fill_between(x, lower, upper, color=line.get_color(), alpha=0.15, linewidth=0)


def _central_height(row: SurvivalDistribution, times: FloatArray, values: FloatArray) -> float:
    survival = as_numpy(row.survival(times))[0]
    finite = np.isfinite(values)
    central = finite & (survival >= _TAIL) & (survival <= 1 - _TAIL)
    return float(np.max(values[central if central.any() else finite], initial=0.0))
