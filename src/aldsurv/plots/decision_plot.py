"""Decision curves: net benefit against the threshold from which on people are treated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from aldsurv.checks import Choice, check
from aldsurv.errors import ParameterError
from aldsurv.metrics import DecisionCurve, NetBenefit
from aldsurv.plots.drawing.appearance import COLOURS, draw_grid, plain_label, show_legend, write_remark
from aldsurv.plots.drawing.axes_text import write_message
from aldsurv.plots.drawing.new_figures import new_axes

__all__ = ["plot_decision_curve"]

# Part of the height, below 0, in which the line of treating all leaves the picture.
_BELOW = 0.2
_NARROWEST = 0.1


def plot_decision_curve(
    curves: DecisionCurve | Mapping[str, DecisionCurve],
    *,
    quantity: str = "net_benefit",
    band: bool = True,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw net benefit, or the interventions avoided, over the thresholds.

    A prediction is worth using at thresholds at which its line is above both those of treating all and treating none.
    Thresholds are shown up to the last at which anyone is treated.

    Parameters
    ----------
    curves
        What `metrics.decision_curve` gives; of several models of the same rows by name.
    quantity
        ``"net_benefit"`` or ``"interventions_avoided"``, the latter per 100 persons.
    band
        Whether to shade the pointwise confidence limits.
    unit
        Unit of time, named at the axis.
    ax
        Where to draw. None: in a new figure.

    Examples
    --------
    >>> from aldsurv import SurvivalData, metrics
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> curve = metrics.decision_curve([0.9, 0.2, 0.6, 0.4], data, 3.0, thresholds=[0.1, 0.3, 0.5])
    >>> ax = plot_decision_curve(curve, unit="years")
    >>> ax.lines[-1].get_ydata().round(3), ax.get_xlabel()
    (array([0.583, 0.393, 0.5  ]), 'threshold probability of an event by 3 years')
    """
    check("quantity", quantity, Choice(("net_benefit", "interventions_avoided")))
    named = {"model": curves} if isinstance(curves, DecisionCurve) else dict(curves)
    if not named:
        raise ParameterError("curves must be one decision curve or more, but there is none.", argument="curves")
    ax = new_axes() if ax is None else ax
    first = next(iter(named.values()))
    by = f"{first.time:g}" if unit is None else f"{first.time:g} {unit}"
    ax.set_xlabel(f"threshold probability of an event by {by}")
    ax.set_ylabel("net benefit" if quantity == "net_benefit" else "interventions avoided per 100 persons")
    draw_grid(ax)
    if all(np.isnan(curve.model.value).all() for curve in named.values()):
        return write_message(ax, "no threshold has a net benefit at this time.")
    ax.axhline(
        0.0, color="0.3", linestyle=":", linewidth=1.2, label="treat none" if quantity == "net_benefit" else None
    )
    if quantity == "net_benefit":
        ax.plot(first.thresholds, first.treat_all.value, color="0.5", linestyle="--", linewidth=1.4, label="treat all")
    tops = [0.0]
    for place, (name, curve) in enumerate(named.items()):
        values = curve.model
        if quantity == "interventions_avoided":
            values = NetBenefit(*(100 * part for part in curve.interventions_avoided))
        colour = COLOURS[place % len(COLOURS)]
        if band:
            ax.fill_between(curve.thresholds, values.lower, values.upper, color=colour, alpha=0.18, linewidth=0)
        marker = "o" if curve.thresholds.size < 10 else None
        label = plain_label(name) if quantity == "net_benefit" or len(named) > 1 else None
        ax.plot(curve.thresholds, values.value, color=colour, linewidth=1.8, marker=marker, markersize=4, label=label)
        tops.append(float(np.nanmax(values.upper if band else values.value)))
    if band:
        write_remark(ax, f"shaded: {100 * first.level:g} % confidence")
    ax.set_xlim(0.0, max(_NARROWEST, *(_last_threshold(curve) for curve in named.values())))
    if quantity == "net_benefit":
        top = 1.05 * max(tops) or 1.0
        ax.set_ylim(-_BELOW * top, top)
    return show_legend(ax)


def _last_threshold(curve: DecisionCurve) -> float:
    """The last threshold at which anyone is treated, and for which there is an estimate."""
    treating = curve.thresholds[(curve.treated > 0) & np.isfinite(curve.model.value)]
    return float(treating[-1] if treating.size else curve.thresholds[-1])
