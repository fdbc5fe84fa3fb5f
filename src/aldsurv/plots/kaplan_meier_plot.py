"""The Kaplan-Meier curve with its confidence band, its censored subjects and the number at risk below."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from aldsurv.nonparametric import KaplanMeier
from aldsurv.plots.drawing.appearance import extend_limits, line_look, new_axes, show_legend, tidy_axes
from aldsurv.plots.drawing.at_risk_table import add_at_risk_row

__all__ = ["plot_kaplan_meier"]

# More ticks of censoring run into each other and hide the curve.
_MOST_TICKS = 300


def plot_kaplan_meier(
    estimate: KaplanMeier,
    *,
    label: str | None = None,
    unit: str | None = None,
    band: float | None = 0.95,
    at_risk: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a Kaplan-Meier curve as steps, with a tick at each time of censoring unless these are too many.

    Parameters
    ----------
    estimate
        The curve, from `kaplan_meier`.
    label
        Its name, when there are several.
    unit
        Unit of time, named at the axis.
    band
        Level of the shaded pointwise confidence limits (log-log); None for none.
    at_risk
        Whether to write the number at risk under the axis; each further curve adds a line to that table.
    ax
        Where to draw; what is there stays. None: in a new figure, the ``figure`` of the axes given back.

    Examples
    --------
    >>> from aldsurv import SurvivalData
    >>> from aldsurv.nonparametric import kaplan_meier
    >>> ax = plot_kaplan_meier(kaplan_meier(SurvivalData.right([1, 2, 2, 4, 5], [1, 1, 0, 1, 0])), unit="years")
    >>> ax.lines[0].get_ydata()
    array([1. , 0.8, 0.6, 0.3, 0.3])
    """
    limits = None if band is None else estimate.band(band)
    ax = new_axes() if ax is None else ax
    fresh = not ax.has_data()
    look = line_look(ax)
    times = np.append(0.0, estimate.times)
    if limits is not None:
        lower, upper = (np.append(1.0, limit) for limit in limits)
        ax.fill_between(times, lower, upper, step="post", color=look["color"], alpha=0.18, linewidth=0)
    ax.plot(times, np.append(1.0, estimate.survival), drawstyle="steps-post", label=label, **look)
    censored = estimate.censored > 0
    notes = [] if band is None else [f"shaded: {100 * band:g} % confidence"]
    if 0 < censored.sum() <= _MOST_TICKS:
        # A collection, not a line: lines are counted to give each curve a colour of its own.
        ticks = estimate.times[censored], estimate.survival[censored]
        ax.scatter(*ticks, marker="|", s=45, color=look["color"], linewidths=1, zorder=2)
        notes.append("ticks: censored")
    extend_limits(ax, (0.0, 1.02 * float(times[-1]) or 1.0), 1.02, fresh=fresh)
    tidy_axes(ax, "survival probability", unit)
    _explain(ax, notes)
    if at_risk:
        add_at_risk_row(ax, estimate, label, look["color"])
    return show_legend(ax)


def _explain(ax: Axes, notes: list[str]) -> None:
    """Say what band and ticks mean, beside what was said of curves drawn before."""
    earlier = [note for note in ax.get_title(loc="right").split(", ") if note]
    ax.set_title(", ".join(dict.fromkeys([*earlier, *notes])), loc="right", fontsize="small", color="0.4")
