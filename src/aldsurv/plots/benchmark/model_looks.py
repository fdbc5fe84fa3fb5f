"""Colours and markers by which models are known in all figures of a benchmark."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from aldsurv.plots.drawing.appearance import COLOURS

__all__ = ["bare_axes", "model_look"]

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def model_look(place: int) -> dict[str, Any]:
    """Colour and marker of the model at this place of a mapping; shapes tell models apart without colour."""
    lap, colour = divmod(place, len(COLOURS))
    return {"color": COLOURS[colour], "marker": _MARKERS[(colour + lap) % len(_MARKERS)]}


def bare_axes(ax: Axes, *, grid: str = "both") -> None:
    """Take away what carries no information."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis=grid, color="0.9", linewidth=0.7)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
