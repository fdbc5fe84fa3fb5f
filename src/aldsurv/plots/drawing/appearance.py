"""How all plots look: colours, limits, grid, names of the axes."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["extend_limits", "line_look", "new_axes", "show_legend", "tidy_axes"]

# Okabe and Ito's colours, which stay apart for colour-blind readers; their yellow is too faint for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", ":")


def new_axes() -> Axes:
    """Axes of a new figure that pyplot does not know of."""
    return Figure(figsize=(6.4, 4.0), layout="constrained").subplots()


def line_look(ax: Axes) -> dict[str, Any]:
    """Colour, dashes and width of the next line in ``ax``, unlike those of the lines before it."""
    lap, place = divmod(len(ax.lines), len(COLOURS))
    return {"color": COLOURS[place], "linestyle": _DASHES[lap % len(_DASHES)], "linewidth": 1.8}


def tidy_axes(ax: Axes, quantity: str, unit: str | None, *, rate: bool = False) -> None:
    """Name both axes and take away what carries no information.

    Parameters
    ----------
    ax
        Axes to change.
    quantity
        What the vertical axis shows.
    unit
        Unit of time, such as ``"months"``; None when unknown, or named before.
    rate
        Whether the quantity is one per time, so that its unit is the inverse of that of time.
    """
    # A second curve in the same axes need not say the unit again.
    if unit is not None or not ax.get_xlabel():
        ax.set_xlabel("time" if unit is None else f"time ({unit})")
        ax.set_ylabel(f"{quantity} (1/{unit})" if rate and unit is not None else quantity)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="0.9", linewidth=0.7)
    ax.set_axisbelow(True)


def extend_limits(ax: Axes, x: tuple[float, float], top: float, *, fresh: bool) -> None:
    """Show the times ``x`` and the heights from 0 to ``top``, and all that was shown before unless ``fresh``."""
    if not fresh:
        low, high = ax.get_xlim()
        x = (min(low, x[0]), max(high, x[1]))
        top = max(top, ax.get_ylim()[1])
    ax.set_xlim(*x)
    ax.set_ylim(0.0, top)


def show_legend(ax: Axes) -> Axes:
    """Name the labelled lines, where they leave room; gives the axes back."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small", handlelength=1.8)
    return ax
