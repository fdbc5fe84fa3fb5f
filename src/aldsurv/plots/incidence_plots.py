"""Incidence of competing causes: of one individual, of several, and of all beside Aalen-Johansen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CompetingDistribution
from aldsurv.errors import ParameterError
from aldsurv.nonparametric import AalenJohansen, aalen_johansen
from aldsurv.plots.drawing.appearance import (
    COLOURS,
    extend_limits,
    line_look,
    plain_label,
    show_legend,
    tidy_axes,
    write_remark,
)
from aldsurv.plots.drawing.new_figures import new_axes, returned_figure
from aldsurv.plots.drawing.row_choice import RowChoice, choose_row_numbers, row_labels
from aldsurv.plots.drawing.time_grid import FloatArray, curve_times

__all__ = [
    "incidence_figure",
    "plot_aalen_johansen",
    "plot_incidence",
    "plot_mean_incidence",
    "plot_stacked_incidence",
]

_GRID = 201
_BLOCK = 10_000
# Of those without an event.
_NO_EVENT, _NO_EVENT_COLOUR = "no event", "#E8EAED"
# Least distance between labels beside the axes, as a share of the height.
_LABEL_PITCH = 0.07
_QUANTITY = "probability of the event"


def plot_stacked_incidence(
    predicted: CompetingDistribution,
    times: ArrayLike | None = None,
    *,
    row: int = 0,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what may have happened to one individual by each time: the probabilities of all causes, and of no event.

    The areas add up to 1. Beside the axes stand their names, with the probabilities at the last time.

    Parameters
    ----------
    predicted
        Predictions with causes.
    times
        Times at which the curves are computed, beside their corners and jumps. None: from 0 until nearly all events
        have happened.
    row
        Which individual.
    unit
        Unit of time, named at the axis.
    ax
        Where to draw. None: in a new figure, the ``figure`` of the returned axes.

    Examples
    --------
    >>> from aldsurv.distributions import CumulativeIncidence
    >>> predicted = CumulativeIncidence([1.0, 2.0, 3.0], [[0.1, 0.3, 0.4], [0.0, 0.1, 0.2]], ["relapse", "death"])
    >>> ax = plot_stacked_incidence(predicted, unit="years")
    >>> [text.get_text() for text in ax.texts]
    ['relapse 40 %', 'death 20 %', 'no event 40 %']
    """
    (number,) = choose_row_numbers(len(predicted), [row]).tolist()
    one = predicted[number]
    (grid,) = curve_times(one.overall(), times)
    tops = np.cumsum(one.incidence(grid)[:, 0, :], axis=0)
    ax = new_axes() if ax is None else ax
    edges = np.vstack([np.zeros(grid.size), tops, np.ones(grid.size)])
    names = [*one.causes, _NO_EVENT]
    for place in range(len(names)):
        colour = _colour(place) if place < len(one.causes) else _NO_EVENT_COLOUR
        # A white edge separates areas for readers who do not see the colours.
        ax.fill_between(
            grid, edges[place], edges[place + 1], facecolor=colour, edgecolor="white", linewidth=0.8, alpha=0.85
        )
    ax.set_xlim(float(grid[0]), float(grid[-1]))
    ax.set_ylim(0.0, 1.0)
    tidy_axes(ax, "probability", unit)
    ax.grid(visible=False)
    _label_areas(ax, names, edges[:, -1])
    return ax


def plot_incidence(
    predicted: CompetingDistribution,
    times: ArrayLike | None = None,
    *,
    cause: int | str,
    rows: RowChoice = None,
    labels: Sequence[str] | None = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability of the event of one cause over time, a line per individual.

    Parameters
    ----------
    predicted, times
        As in `plot_stacked_incidence`; at most ten individuals.
    cause
        Number of the cause, from 1, or its name.
    rows
        Which individuals to draw, as in ``predicted[rows]``; None for all.
    labels
        A name for each line. None: the numbers of the rows, when there is more than one.
    unit
        Unit of time, named at the axis.
    ax
        Where to draw, beside what is there. None: in a new figure.

    Examples
    --------
    >>> from aldsurv.distributions import CumulativeIncidence
    >>> table = [[[0.1, 0.3], [0.2, 0.5]], [[0.0, 0.1], [0.1, 0.2]]]
    >>> predicted = CumulativeIncidence([1.0, 2.0], table, ["relapse", "death"])
    >>> ax = plot_incidence(predicted, cause="relapse", labels=["low", "high"])
    >>> [line.get_label() for line in ax.lines], ax.get_ylabel()
    (['low', 'high'], 'probability of relapse')
    """
    numbers = choose_row_numbers(len(predicted), rows)
    names = row_labels(numbers, len(predicted), labels)
    ax = new_axes() if ax is None else ax
    _draw_lines(predicted[numbers], times, cause_number(cause, predicted.causes), names, unit, ax)
    return show_legend(ax)


def incidence_figure(
    predicted: CompetingDistribution,
    times: ArrayLike | None = None,
    *,
    rows: RowChoice = None,
    labels: Sequence[str] | None = None,
    unit: str | None = None,
) -> Figure:
    """New figure with the incidence of each cause side by side; the parameters are those of `plot_incidence`."""
    numbers = choose_row_numbers(len(predicted), rows)
    names = row_labels(numbers, len(predicted), labels)
    count = len(predicted.causes)
    figure = returned_figure(max(6.4, 4.0 * count), 3.8)
    panels = np.atleast_1d(figure.subplots(1, count, sharey=True))
    for place, ax in enumerate(panels):
        _draw_lines(predicted[numbers], times, place + 1, names, unit, ax)
        ax.set_title(plain_label(predicted.causes[place]), loc="left", fontsize="medium")
        ax.set_ylabel(_QUANTITY if place == 0 else "")
    handles, shown = panels[0].get_legend_handles_labels()
    if shown:
        figure.legend(handles, shown, loc="outside upper center", ncols=min(len(shown), 5), frameon=False)
    return figure


def plot_aalen_johansen(
    estimate: AalenJohansen,
    *,
    band: float | None = 0.95,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the Aalen-Johansen estimate of the incidence of each cause as steps.

    Parameters
    ----------
    estimate
        The curves, from `aalen_johansen`.
    band
        Level of the shaded pointwise confidence limits; None for none.
    unit
        Unit of time, named at the axis.
    ax
        Where to draw. None: in a new figure, the ``figure`` of the returned axes.

    Examples
    --------
    >>> data = SurvivalData.competing([1, 2, 3, 4], [1, 2, 0, 1], names=["relapse", "death"])
    >>> ax = plot_aalen_johansen(aalen_johansen(data), unit="years")
    >>> [line.get_label() for line in ax.lines], ax.lines[0].get_ydata()
    (['relapse', 'death'], array([0.  , 0.25, 0.25, 0.25, 0.75]))
    """
    ax = new_axes() if ax is None else ax
    fresh, times, top = not ax.has_data(), np.append(0.0, estimate.times), 0.0
    limits = None if band is None else estimate.band(band)
    for place, cause in enumerate(estimate.causes):
        values = np.append(0.0, estimate.incidence[place])
        ax.plot(times, values, color=_colour(place), linewidth=1.8, drawstyle="steps-post", label=plain_label(cause))
        top = max(top, float(values[-1]))
        if limits is not None:
            lower, upper = (np.append(0.0, limit[place]) for limit in limits)
            ax.fill_between(times, lower, upper, step="post", color=_colour(place), alpha=0.18, linewidth=0)
            top = max(top, float(upper.max()))
    extend_limits(ax, (0.0, 1.02 * float(times[-1]) or 1.0), min(1.08 * top, 1.02) or 1.0, fresh=fresh)
    tidy_axes(ax, _QUANTITY, unit)
    if band is not None:
        write_remark(ax, f"shaded: {100 * band:g} % confidence")
    return show_legend(ax)


def plot_mean_incidence(
    predicted: CompetingDistribution, data: SurvivalData, *, unit: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the mean of the predicted incidences over the Aalen-Johansen curves of the same rows, cause by cause.

    If a model is right on average, the two agree within the confidence bands.

    Parameters
    ----------
    predicted, data
        Predictions and observed outcomes of the same rows, with the same causes.
    unit, ax
        As in `plot_aalen_johansen`.

    Examples
    --------
    >>> from aldsurv.distributions import CumulativeIncidence
    >>> predicted = CumulativeIncidence([1.0, 4.0], np.full((2, 4, 2), [0.1, 0.4]), ["relapse", "death"])
    >>> data = SurvivalData.competing([1, 2, 3, 4], [1, 2, 0, 1], names=["relapse", "death"])
    >>> ax = plot_mean_incidence(predicted, data)
    >>> [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]
    ['relapse', 'death']
    """
    if len(predicted) != len(data):
        raise ParameterError(f"predicted has {len(predicted)} rows, but data has {len(data)}.", argument="predicted")
    if data.causes != predicted.causes:
        raise ParameterError(
            f"predicted has the causes {predicted.causes!r:.80}, but data {data.causes!r:.80}.", argument="data"
        )
    estimate = aalen_johansen(data)
    ax = plot_aalen_johansen(estimate, unit=unit, ax=ax)
    times = np.linspace(0.0, float(estimate.times[-1]), _GRID)
    means = mean_incidence(predicted, data.weights, times)
    for place, mean in enumerate(means):
        ax.plot(times, mean, color=_colour(place), linewidth=1.8, linestyle=(0, (4, 2)))
    ax.set_ylim(0.0, max(ax.get_ylim()[1], min(1.08 * float(means.max()), 1.02)))
    write_remark(ax, "steps: Aalen-Johansen with 95 % confidence, dashed: mean prediction")
    return show_legend(ax)


def mean_incidence(predicted: CompetingDistribution, weights: FloatArray, times: FloatArray) -> NDArray[np.float64]:
    """Mean over the rows of the incidence of each cause (causes, m).

    Parameters
    ----------
    predicted
        The rows.
    weights
        Weight of each (n,).
    times
        When (m,).
    """
    total = np.zeros((len(predicted.causes), times.size))
    for start in range(0, len(predicted), _BLOCK):
        block = slice(start, start + _BLOCK)
        total += np.einsum("n,knm->km", weights[block], predicted[block].incidence(times))
    return np.asarray(total / weights.sum())


def _draw_lines(
    chosen: CompetingDistribution,
    times: ArrayLike | None,
    cause: int,
    names: Sequence[str | None],
    unit: str | None,
    ax: Axes,
) -> None:
    fresh, grids = not ax.has_data(), curve_times(chosen.overall(), times)
    for place, (grid, name) in enumerate(zip(grids, names, strict=True)):
        values = chosen[place].incidence(grid, cause)[0]
        ax.plot(grid, values, label=None if name is None else plain_label(name), **line_look(ax))
    extend_limits(ax, (float(grids[0][0]), float(grids[0][-1])), 1.02, fresh=fresh)
    tidy_axes(ax, f"probability of {plain_label(chosen.causes[cause - 1])}", unit)


def _label_areas(ax: Axes, names: Sequence[str], edges: FloatArray) -> None:
    """Write the name and the height of each area beside the last time, apart from each other."""
    heights = np.diff(edges)
    places = (edges[:-1] + edges[1:]) / 2
    for place in range(1, places.size):
        places[place] = max(places[place], places[place - 1] + _LABEL_PITCH)
    # From the top down again, so that none stands above the axes.
    places[-1] = min(places[-1], 1.0 - _LABEL_PITCH / 3)
    for place in range(places.size - 2, -1, -1):
        places[place] = min(places[place], places[place + 1] - _LABEL_PITCH)
    for place, (name, share) in enumerate(zip(names, heights.tolist(), strict=True)):
        ax.annotate(
            f"{plain_label(name)} {100 * share:.0f} %",
            xy=(1.0, float(places[place])),
            xycoords=ax.get_yaxis_transform(),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color="0.35" if place == len(names) - 1 else _colour(place),
            annotation_clip=False,
        )


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]
