"""Predicted against observed times, one point per row."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import SurvivalDistribution
from aldsurv.metrics import mean_absolute_error, point_estimate
from aldsurv.metrics.point_estimates import Point
from aldsurv.plain_numbers import plain_number
from aldsurv.plots.drawing.appearance import COLOURS, draw_grid, time_label
from aldsurv.plots.drawing.axes_text import collected_warnings, write_message, write_note
from aldsurv.plots.drawing.new_figures import new_axes
from aldsurv.plots.drawing.time_grid import FloatArray

__all__ = ["plot_predicted_against_observed"]

# With a larger ratio of times most points would be in a corner of linear axes.
_LOG_FROM = 50.0
# More points are drawn as an image even in SVG and PDF files, which would be slow to show otherwise.
_MOST_SHAPES = 2000


def plot_predicted_against_observed(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    point: Point = "median",
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the predicted time of each row against the observed one; on the dashed line they agree.

    Censored rows are hollow triangles that point to the right, where their unknown event time is. Single times scatter
    widely even around a correct prediction. Axes are logarithmic where times differ by a factor of 50 or more.

    Parameters
    ----------
    predicted, data
        Predictions and observed outcomes of the same rows, exact or right-censored.
    point
        The predicted time: ``"mean"``, ``"median"``, ``"mode"`` or ``"restricted_mean"``. Times
        that are infinite, or below 0, are drawn at the edge and counted in a note.
    unit, ax
        As in `plot_survival`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 4, 2], [True, False, True])
    >>> ax = plot_predicted_against_observed(Exponential([2.0, 3.0, 4.0]), data, point="mean")
    >>> ax.collections[0].get_offsets().tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    estimate = point_estimate(predicted, data, point=point)
    time, event = data.time, data.event
    ax = new_axes(4.6, 4.6) if ax is None else ax
    ax.set_xlabel(time_label(unit, "observed time"))
    ax.set_ylabel(time_label(unit, f"predicted {point.replace('_', ' ')}"))
    draw_grid(ax)
    if len(data) == 0:
        return write_message(ax, "there are no rows.")
    low, high, log = _limits(time, estimate)
    if log:
        ax.set_xscale("log")
        ax.set_yscale("log")
    ax.plot([low, high], [low, high], color="0.5", linestyle="--", linewidth=1.0, zorder=1)
    shown = np.clip(estimate, low, high)
    size = 16 if len(data) <= 500 else 7
    common: dict[str, Any] = {"s": size, "alpha": 0.75, "linewidths": 0.7, "rasterized": len(data) > _MOST_SHAPES}
    ax.scatter(time[event], shown[event], color=COLOURS[0], marker="o", label="event", **common)
    ax.scatter(
        time[~event], shown[~event], facecolors="none", edgecolors=COLOURS[1], marker=">", label="censored",
        **common,
    )  # fmt: skip
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    _write_errors(ax, estimate, data)
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2)
    return ax


def _limits(time: FloatArray, estimate: FloatArray) -> tuple[float, float, bool]:
    """Limits of both axes, and whether they are logarithmic."""
    values = np.concatenate([time, estimate[np.isfinite(estimate)]])
    positive = values[values > 0]
    if positive.size == values.size and positive.max() > _LOG_FROM * positive.min():
        return float(positive.min() / 1.3), float(positive.max() * 1.3), True
    return 0.0, float(1.05 * positive.max(initial=0.0)) or 1.0, False


def _write_errors(ax: Axes, estimate: FloatArray, data: SurvivalData) -> None:
    notes = []
    finite = np.isfinite(estimate)
    if finite.all():
        with collected_warnings() as reasons:
            error = mean_absolute_error(estimate, data)
        if not reasons:
            notes.append(f"mean absolute error of events {plain_number(error, 3)}")
    for count, which in ((np.count_nonzero(~finite), "infinite"), (np.count_nonzero(estimate < 0), "below 0")):
        if count:
            notes.append(f"{count} predicted {which}: at the edge")
    if notes:
        write_note(ax, notes)
