"""The Kaplan-Meier curve with its confidence band, censoring ticks and the number at risk below."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from aldsurv.nonparametric import KaplanMeier
from aldsurv.plots.drawing.appearance import extend_limits, line_look, show_legend, tidy_axes, write_remark
from aldsurv.plots.drawing.at_risk_table import add_at_risk_row
from aldsurv.plots.drawing.new_figures import new_axes

__all__ = ["plot_kaplan_meier"]

# More censoring ticks would overlap and hide the curve.
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
    """Draw a Kaplan-Meier curve as steps, with a tick at each censoring time unless there are too many.

    Parameters
    ----------
    estimate
        The curve, from `kaplan_meier`.
    label
        Name of the curve, if there are several.
    unit
        Unit of time, named at the axis.
    band
        Level of the shaded pointwise confidence limits (log-log); None for none.
    at_risk
        Whether to write the number at risk under the axis; each further curve adds a row to that table.
    ax
        Where to draw, beside what is there. None: in a new figure, the ``figure`` of the returned axes.

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
        # A collection, not a line: the number of lines gives each curve its colour.
        ticks = estimate.times[censored], estimate.survival[censored]
        ax.scatter(*ticks, marker="|", s=45, color=look["color"], linewidths=1, zorder=2)
        notes.append("ticks: censored")
    extend_limits(ax, (0.0, 1.02 * float(times[-1]) or 1.0), 1.02, fresh=fresh)
    tidy_axes(ax, "survival probability", unit)
    _add_remarks(ax, notes)
    if at_risk:
        add_at_risk_row(ax, estimate, label, look["color"])
    return show_legend(ax)


def _add_remarks(ax: Axes, notes: list[str]) -> None:
    """Write what band and ticks mean, after the remarks of earlier curves, each once."""
    earlier = [note for note in ax.get_title(loc="right").split(", ") if note]
    write_remark(ax, ", ".join(dict.fromkeys([*earlier, *notes])))
