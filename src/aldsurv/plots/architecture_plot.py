"""Diagrams of networks: boxes and arrows from an `Architecture`, whatever its layers, heads and outputs are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from aldsurv.errors import ParameterError
from aldsurv.networks.architecture import Architecture
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.plots.drawing.network_diagram import LINE_HEIGHT, Box, Diagram, Role, network_diagram
from aldsurv.plots.drawing.new_figures import new_figure

__all__ = ["plot_architecture"]

# In inches.
_MARGIN = 0.12
_FILLS: dict[Role, str] = {
    "values": "#ffffff", "layer": "#dcebf7", "projection": "#fdebd8", "sum": "#ffffff", "dropout": "#eeeeee",
    "link": "#dff2e6",
}  # fmt: skip
_POINTS = 8.5
_SYMBOLS = {"theta": "θ", "sigma": "σ", "kappa": "κ", "mu": "μ"}


def plot_architecture(
    architecture: Architecture,
    *,
    outputs: Sequence[str] | None = None,
    links: Sequence[str] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a network from left to right: inputs, shared layers, heads, links, outputs.

    Parameters
    ----------
    architecture
        The network.
    outputs
        Names of the outputs; None: numbers. Of more than five the first two and the last are drawn.
    links
        For each output the function that turns it into what it is called, such as ``"exp"``; ``"softmax"`` is one
        function of the neighbouring outputs that have it. None: none are drawn.
    title
        Above the diagram.
    ax
        Where to draw; None: in a new figure of the size that the diagram needs.

    Examples
    --------
    >>> from aldsurv.networks import Architecture
    >>> ax = plot_architecture(Architecture(9, 2, hidden=(32,), dropout=0.1), outputs=["mu", "sigma"])
    >>> [text.get_text() for text in ax.texts if "weights" in text.get_text()]
    ['2,786 weights']
    """
    for name, given in (("outputs", outputs), ("links", links)):
        if given is not None and len(given) != architecture.outputs:
            problem = f"{name} must be {architecture.outputs}, one per output of the network, but are {len(given)}."
            raise ParameterError(problem, argument=name)
    names = [f"output {k + 1}" for k in range(architecture.outputs)] if outputs is None else list(outputs)
    diagram = network_diagram(architecture, [_symbol(name) for name in names], links)
    return _draw(diagram, f"{_count_weights(architecture):,} weights", title, ax)


def _draw(diagram: Diagram, remark: str, title: str, ax: Axes | None) -> Axes:
    left, right, low, high = diagram.extent
    below, above = LINE_HEIGHT + _MARGIN, (LINE_HEIGHT + _MARGIN) * bool(title)
    width, height = right - left + 2 * _MARGIN, high - low + below + above + 2 * _MARGIN
    if ax is None:
        ax = new_figure(width, height, layout=None).add_axes((0.0, 0.0, 1.0, 1.0))
    place, whole = ax.get_position(), ax.get_figure(root=True)
    inches = whole.get_size_inches() if whole is not None else (width, height)
    # Smaller in axes with less room, never larger.
    scale = min(1.0, place.width * inches[0] / width, place.height * inches[1] / height)
    ax.set_xlim(left - _MARGIN, right + _MARGIN)
    ax.set_ylim(low - below - _MARGIN, high + above + _MARGIN)
    ax.set_aspect("equal")
    ax.set_axis_off()
    for start, stop in diagram.arrows:
        look = {"arrowstyle": "-|>", "color": "0.35", "linewidth": 0.8 * scale, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=stop, xytext=start, arrowprops={**look, "mutation_scale": 7 * scale})
    for box in diagram.boxes:
        _draw_box(ax, box, scale)
    ax.text(left, low - below, remark, fontsize=_POINTS * scale, color="0.4", va="bottom", ha="left", gid="weights")
    if title:
        ax.text((left + right) / 2, high + above, title, fontsize=1.2 * _POINTS * scale, va="top", ha="center")
    return ax


def _draw_box(ax: Axes, box: Box, scale: float) -> None:
    if box.role != "dots":
        rounding = box.height / 2 if box.role == "sum" else 0.06
        ax.add_patch(
            FancyBboxPatch(
                (box.left[0], box.y - box.height / 2), box.width, box.height, facecolor=_FILLS[box.role],
                edgecolor="0.35", linewidth=0.8 * scale, boxstyle=f"round,pad=0,rounding_size={rounding}", gid=box.role,
            )
        )  # fmt: skip
    ax.text(box.x, box.y, "\n".join(box.lines), fontsize=_POINTS * scale, ha="center", va="center", linespacing=1.3)


def _symbol(name: str) -> str:
    """The paper's letter for a parameter; `theta_2` is the second of several."""
    base, _, number = name.partition("_")
    return plain_label(f"{_SYMBOLS.get(base, base)} {number}".strip() if number.isdecimal() or not number else name)


def _count_weights(network: Architecture) -> int:
    return sum(math.prod(slot.shape) for slot in network.slots())
