"""A model over calendar periods: its quality with limits, the evidence against it, and drift of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from aldsurv.checks import Choice, WholeNumber, check
from aldsurv.monitoring import Monitoring
from aldsurv.monitoring.monitoring_result import DRIFT, RATIO, SLOPE
from aldsurv.plots.drawing.appearance import COLOURS, draw_grid, plain_label, show_legend, write_remark
from aldsurv.plots.drawing.axes_text import write_message
from aldsurv.plots.drawing.new_figures import new_axes

__all__ = ["plot_column_drift", "plot_evidence", "plot_quality_by_period"]

Quantity = Literal["ratio", "slope", "concordance"]
# By quantity: name of the axis, ideal value or that of chance, and the test whose alarm is marked.
_QUANTITIES: dict[str, tuple[str, float, str | None]] = {
    "ratio": ("observed/expected events", 1.0, RATIO),
    "slope": ("calibration slope", 1.0, SLOPE),
    "concordance": ("C", 0.5, None),
}
_MOST_TICKS = 9
_MOST_NUMBERS = 9
# Stability indices from here on have the darkest colour; 0.25 is usually called a large shift.
_DARKEST = 0.3
# Evidence may grow beyond all bounds; what is above is as clear as it can be.
_CLEAREST = 1e6
_ALARM = COLOURS[1]


def plot_quality_by_period(monitoring: Monitoring, quantity: Quantity = "ratio", *, ax: Axes | None = None) -> Axes:
    """Draw observed/expected, calibration slope or C of each period with its limits; a line marks an alarm.

    Parameters
    ----------
    monitoring
        What `monitoring.monitor_model` gives.
    quantity
        ``"ratio"``, ``"slope"`` or ``"concordance"``.
    ax
        Where to draw. None: in a new figure.
    """
    check("quantity", quantity, Choice(tuple(_QUANTITIES)))
    title, ideal, test = _QUANTITIES[quantity]
    ax = new_axes() if ax is None else ax
    ax.set_ylabel(title)
    draw_grid(ax)
    value, lower, upper = (
        np.array([getattr(period, f"{quantity}{side}") for period in monitoring.periods], np.float64)
        for side in ("", "_lower", "_upper")
    )
    known = np.isfinite(value)
    _name_periods(ax, monitoring)
    if not known.any():
        notes = [note for period in monitoring.periods for note in period.notes]
        return write_message(ax, notes[0] if notes else "no period has a value.")
    place = np.arange(value.size)
    ax.axhline(ideal, color="0.5", linestyle="--", linewidth=1.0, zorder=1)
    ax.vlines(place[known], lower[known], upper[known], color=COLOURS[0], linewidth=1.4, alpha=0.6)
    ax.plot(place[known], value[known], color=COLOURS[0], marker="o", markersize=4, linewidth=0)
    _limit_heights(ax, value[known], upper[known], ideal)
    write_remark(ax, f"lines: {100 * monitoring.confidence:g} % confidence")
    if test is not None:
        _mark_alarms(ax, monitoring, (test,))
    return ax


def plot_evidence(monitoring: Monitoring, *, ax: Axes | None = None) -> Axes:
    """Draw the evidence against the model after each period, and the limits at which there is an alarm.

    Parameters
    ----------
    monitoring, ax
        As in `plot_quality_by_period`.
    """
    ax = new_axes() if ax is None else ax
    ax.set_ylabel("evidence")
    draw_grid(ax)
    _name_periods(ax, monitoring)
    place = np.arange(len(monitoring.periods))
    series = ((RATIO, "ratio_evidence", COLOURS[0], "o"), (SLOPE, "slope_evidence", COLOURS[2], "s"))
    highest = 1.0
    for test, name, colour, marker in series:
        values = np.array([getattr(period, name) for period in monitoring.periods])
        limit = 1 / monitoring.alphas[test]
        ax.plot(
            place, np.minimum(values, _CLEAREST), color=colour, linewidth=1.8, marker=marker, markersize=3.5, label=test
        )
        ax.axhline(limit, color=colour, linestyle="--", linewidth=1.2, label=f"its limit, {limit:.4g}")
        highest = max(highest, limit, float(values.max()))
    ax.set_yscale("log")
    ax.set_ylim(0.03, 3 * min(max(highest, 100.0), _CLEAREST))
    if highest > _CLEAREST:
        write_remark(ax, "cut off at a million")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_minor_locator(NullLocator())
    _mark_alarms(ax, monitoring, (RATIO, SLOPE))
    return show_legend(ax)


def plot_column_drift(monitoring: Monitoring, *, columns: int = 25, ax: Axes | None = None) -> Axes:
    """Draw the population stability index of each column and period as a map; a cross marks an alarm.

    Parameters
    ----------
    monitoring
        As in `plot_quality_by_period`.
    columns
        How many columns are shown at most: those that have drifted furthest.
    ax
        Where to draw. None: in a new figure, as high as the columns need.
    """
    check("columns", columns, WholeNumber(1))
    names = list(dict.fromkeys(each.column for each in monitoring.drift))
    periods = [period.period for period in monitoring.periods]
    index = np.full((len(names), len(periods)), np.nan)
    drifted = np.zeros(index.shape, np.bool_)
    rows, places = ({name: k for k, name in enumerate(each)} for each in (names, periods))
    for each in monitoring.drift:
        index[rows[each.column], places[each.period]] = each.psi
        drifted[rows[each.column], places[each.period]] = each.drifted
    farthest = np.where(np.isnan(index), -1.0, index).max(1, initial=-1.0)
    shown = np.sort(np.argsort(-farthest, kind="stable")[:columns])
    ax = new_axes(6.4, max(2.0, 1.2 + 0.28 * len(shown))) if ax is None else ax
    if not len(shown) or not np.isfinite(index).any():
        return write_message(ax, "no column can be compared with a reference.")
    mesh = ax.pcolormesh(
        np.arange(len(periods) + 1) - 0.5,
        np.arange(len(shown) + 1) - 0.5,
        np.ma.masked_invalid(index[shown]),
        cmap="Blues",
        vmin=0.0,
        vmax=_DARKEST,
        edgecolors="white",
        linewidth=0.6,
    )
    y, x = np.nonzero(drifted[shown])
    ax.plot(x, y, color=_ALARM, marker="x", linestyle="none", markersize=6, markeredgewidth=1.8, label="alarm")
    ax.set_yticks(np.arange(len(shown)), [plain_label(names[k]) for k in shown])
    ax.invert_yaxis()
    _name_periods(ax, monitoring)
    ax.spines[["top", "right", "bottom", "left"]].set_visible(False)
    ax.tick_params(length=0)
    bar = ax.figure.colorbar(mesh, ax=ax, extend="max", fraction=0.05, pad=0.02)
    bar.set_label("stability index")
    if y.size:
        write_remark(ax, f"×: {DRIFT}")
    return ax


def _name_periods(ax: Axes, monitoring: Monitoring) -> None:
    """Name some of the periods at the horizontal axis."""
    names = [period.period for period in monitoring.periods]
    step = -(-len(names) // _MOST_TICKS)
    places = np.arange(0, len(names), step)
    wide = max(map(len, names)) * places.size > 40
    ax.set_xticks(
        places, _shortened([names[k] for k in places]), rotation=40 if wide else 0, ha="right" if wide else "center"
    )
    ax.set_xlim(-0.6, len(names) - 0.4)


def _shortened(names: Sequence[str]) -> list[str]:
    return [plain_label(name if len(name) <= _MOST_NUMBERS else f"{name[: _MOST_NUMBERS - 1]}…") for name in names]


def _limit_heights(ax: Axes, value: np.ndarray, upper: np.ndarray, ideal: float) -> None:
    """Do not let the limits of a period with few events press all others together."""
    low, high = ax.get_ylim()
    usual = (
        float(np.nanquantile(np.where(np.isfinite(upper), upper, np.nan), 0.9)) if np.isfinite(upper).any() else high
    )
    top = max(1.25 * usual, 1.1 * float(value.max()), 1.3 * ideal)
    ax.set_ylim(low if ideal < 1 or low < 0 else 0.0, min(high, top))


def _mark_alarms(ax: Axes, monitoring: Monitoring, tests: Sequence[str]) -> None:
    """A line at the alarm of each of some tests."""
    places = {period.period: place for place, period in enumerate(monitoring.periods)}
    for alarm in monitoring.alarms:
        if alarm.test in tests:
            ax.axvline(places[alarm.period], color=_ALARM, linewidth=1.4, linestyle=":", zorder=0, gid="alarm")
            ax.annotate(
                "alarm", (places[alarm.period], 1.0), xycoords=("data", "axes fraction"), xytext=(3, -3),
                textcoords="offset points", ha="left", va="top", fontsize="small", color=_ALARM,
            )  # fmt: skip
