"""The common look of all plots: colours, markers, limits, grid, names of the axes."""

from __future__ import annotations

from typing import Literal, TypedDict

from matplotlib.axes import Axes

__all__ = [
    "COLOURS",
    "LineLook",
    "MarkerLook",
    "draw_grid",
    "extend_limits",
    "line_look",
    "marker_look",
    "plain_label",
    "show_legend",
    "tidy_axes",
    "time_label",
    "write_remark",
]

# Okabe and Ito's colours, which colour-blind readers can distinguish; their yellow is too faint for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LONGEST_LABEL = 28


class LineLook(TypedDict):
    """Keywords of a line."""

    color: str
    linestyle: str
    linewidth: float


class MarkerLook(TypedDict):
    """Keywords of a marker."""

    color: str
    marker: str


def line_look(ax: Axes) -> LineLook:
    """Colour, dashes and width of the next line in ``ax``, different from those of the lines before it."""
    lap, place = divmod(len(ax.lines), len(COLOURS))
    return {"color": COLOURS[place], "linestyle": _DASHES[lap % len(_DASHES)], "linewidth": 1.8}


def marker_look(place: int) -> MarkerLook:
    """Colour and marker of the model or row at this place; markers distinguish them without colour."""
    lap, colour = divmod(place, len(COLOURS))
    return {"color": COLOURS[colour], "marker": _MARKERS[(colour + lap) % len(_MARKERS)]}


def time_label(unit: str | None, quantity: str = "time") -> str:
    """Name of an axis of times, with their unit if it is known."""
    return quantity if unit is None else f"{quantity} ({unit})"


def plain_label(text: str) -> str:
    """A user's text as a label: not read as a formula, and not too long for an axis."""
    short = text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"
    return short.replace("$", r"\$")


def tidy_axes(ax: Axes, quantity: str, unit: str | None, *, rate: bool = False) -> None:
    """Name the axes of a curve over time, and draw the grid.

    Parameters
    ----------
    ax
        Axes to change.
    quantity
        What the vertical axis shows.
    unit
        Unit of time, such as ``"months"``; None if it is unknown, or was named before.
    rate
        Whether the quantity is one per time, so that its unit is the inverse of that of time.
    """
    # A second curve in the same axes need not name the unit again.
    if unit is not None or not ax.get_xlabel():
        ax.set_xlabel(time_label(unit))
        ax.set_ylabel(f"{quantity} (1/{unit})" if rate and unit is not None else quantity)
    draw_grid(ax)


def draw_grid(ax: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Remove the upper and right frame, and draw a faint grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis=axis, color="0.9", linewidth=0.7)
    ax.set_axisbelow(True)


def write_remark(ax: Axes, text: str) -> None:
    """Write a remark in grey above the upper right corner."""
    ax.set_title(text, loc="right", fontsize="small", color="0.4")


def extend_limits(ax: Axes, x: tuple[float, float], top: float, *, fresh: bool) -> None:
    """Show the times ``x`` and the heights from 0 to ``top``, and what was shown before unless ``fresh``."""
    if not fresh:
        low, high = ax.get_xlim()
        x = (min(low, x[0]), max(high, x[1]))
        top = max(top, ax.get_ylim()[1])
    ax.set_xlim(*x)
    ax.set_ylim(0.0, top)


def show_legend(ax: Axes) -> Axes:
    """Name the labelled lines where there is room for it; returns the axes."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small", handlelength=1.8)
    return ax
