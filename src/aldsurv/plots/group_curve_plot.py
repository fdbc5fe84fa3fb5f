"""Observed curves of groups of rows, each with its band, over the curves that were predicted for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from aldsurv.nonparametric import KaplanMeier
from aldsurv.plots.drawing.appearance import COLOURS, plain_label, tidy_axes, write_remark
from aldsurv.plots.drawing.at_risk_table import add_at_risk_row
from aldsurv.plots.drawing.new_figures import new_axes
from aldsurv.plots.drawing.time_grid import FloatArray

__all__ = ["GroupCurve", "plot_group_curves"]

_DASHED = (0, (4, 2))


@final
@dataclass(frozen=True, eq=False)
class GroupCurve:
    """The curve of a group.

    Attributes
    ----------
    label
        Name of the group.
    times, observed, lower, upper
        Steps of the observed curve (m,) and of its limits.
    at_risk
        Kaplan-Meier estimate of the rows, which has the number at risk.
    grid, expected
        Times (k,), and the curve that was predicted at them.
    """

    label: str
    times: FloatArray
    observed: FloatArray
    lower: FloatArray
    upper: FloatArray
    at_risk: KaplanMeier
    grid: FloatArray
    expected: FloatArray


def plot_group_curves(
    curves: Sequence[GroupCurve],
    *,
    quantity: str = "survival probability",
    start: Literal[0, 1] = 1,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the observed curve of each group as steps with its band, and the predicted one dashed.

    Parameters
    ----------
    curves
        The groups.
    quantity
        What the vertical axis shows.
    start
        Value of the curves at 0: 1 of survival, 0 of incidence.
    unit, ax
        As in `plot_kaplan_meier`.
    """
    ax = new_axes() if ax is None else ax
    handles, top = [], 1.02
    for place, curve in enumerate(curves):
        colour = COLOURS[place % len(COLOURS)]
        times = np.append(0.0, curve.times)
        lower, upper = (np.append(float(start), limit) for limit in (curve.lower, curve.upper))
        ax.fill_between(times, lower, upper, step="post", color=colour, alpha=0.16, linewidth=0)
        ax.plot(times, np.append(float(start), curve.observed), drawstyle="steps-post", color=colour, linewidth=1.8)
        ax.plot(curve.grid, curve.expected, color=colour, linewidth=1.5, linestyle=_DASHED)
        handles.append(Line2D([], [], color=colour, linewidth=1.8, label=plain_label(curve.label)))
        add_at_risk_row(ax, curve.at_risk, plain_label(curve.label), colour)
    if not start:
        top = min(1.02, 1.08 * max(float(np.max(curve.upper, initial=0.0)) for curve in curves))
        top = max(top, 1.08 * max(float(curve.expected.max()) for curve in curves))
    handles.append(Line2D([], [], color="0.4", linewidth=1.5, linestyle=_DASHED, label="predicted"))
    ax.set_xlim(0.0, 1.02 * max(float(curve.times[-1]) for curve in curves) or 1.0)
    ax.set_ylim(0.0, top or 1.0)
    tidy_axes(ax, quantity, unit)
    write_remark(ax, "steps: observed, shaded: 95 % confidence")
    ax.legend(handles=handles, frameon=False, fontsize="small", handlelength=1.8)
    return ax
