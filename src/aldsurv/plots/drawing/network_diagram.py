"""Where the boxes and arrows of a diagram of a network are, from its architecture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

from aldsurv.networks.architecture import Architecture

__all__ = ["LINE_HEIGHT", "Box", "Diagram", "Role", "network_diagram"]

Role = Literal["values", "layer", "projection", "sum", "dropout", "link", "dots"]

# In inches.
LINE_HEIGHT, _PADDING, _GAP = 0.165, 0.09, 0.28
# Of an average character, and on both sides of a line.
_CHARACTER, _SIDES = 0.064, 0.2
# The least widths, for boxes whose lines are shorter.
_WIDTHS: dict[Role, float] = {
    "values": 0.6, "layer": 0.92, "projection": 0.92, "sum": 0.345, "dropout": 0.6, "link": 0.6, "dots": 0.2,
}  # fmt: skip
# With more outputs the first two and the last are shown.
_MOST_ROWS = 5
# Links of all outputs at once.
_JOINT = ("softmax",)


@final
@dataclass(frozen=True)
class Box:
    """A box around its centre, in inches."""

    x: float
    y: float
    lines: tuple[str, ...]
    role: Role
    width: float
    least_height: float = 0.0

    @property
    def height(self) -> float:
        """Room for its lines."""
        return max(LINE_HEIGHT * len(self.lines) + 2 * _PADDING, self.least_height)

    @property
    def left(self) -> tuple[float, float]:
        """Middle of the left side."""
        return self.x - self.width / 2, self.y

    @property
    def right(self) -> tuple[float, float]:
        """Middle of the right side."""
        return self.x + self.width / 2, self.y


@final
class Diagram:
    """Boxes from left to right, and arrows between them."""

    def __init__(self) -> None:
        self.boxes: list[Box] = []
        self.arrows: list[tuple[tuple[float, float], tuple[float, float]]] = []

    def add(
        self,
        lines: Sequence[str],
        role: Role,
        *,
        start: float,
        y: float = 0.0,
        after: Sequence[Box] = (),
        width: float | None = None,
        least_height: float = 0.0,
    ) -> Box:
        """A box whose left side is at `start`, with arrows from the boxes before it."""
        width = _width(role, lines) if width is None else width
        box = Box(start + width / 2, y, tuple(lines), role, width, least_height)
        self.boxes.append(box)
        # Into a tall box an arrow goes straight.
        inside = box.height / 2 - _PADDING
        for one in after:
            level = one.y if least_height and abs(one.y - y) < inside else y
            self.arrows.append((one.right, (box.left[0], level)))
        return box

    def add_dots(self, x: float, y: float) -> None:
        """What stands for rows that are left out, around a place."""
        self.add(["⋮"], "dots", start=x - _WIDTHS["dots"] / 2, y=y)

    @property
    def end(self) -> float:
        """The right side of the last box."""
        return max(box.right[0] for box in self.boxes)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """First and last place from left to right, and from bottom to top."""
        lows = min(box.y - box.height / 2 for box in self.boxes)
        highs = max(box.y + box.height / 2 for box in self.boxes)
        return min(box.left[0] for box in self.boxes), self.end, lows, highs


def network_diagram(network: Architecture, names: Sequence[str], links: Sequence[str] | None) -> Diagram:
    """The diagram of a network, with its inputs at (0, 0).

    Parameters
    ----------
    network
        What to draw.
    names, links
        For each output its name, and its link if links are drawn.
    """
    diagram = Diagram()
    trunk = diagram.add([f"{network.inputs} input{'s' * (network.inputs != 1)}"], "values", start=0.0)
    for size in network.hidden:
        trunk = _add_shared_layer(diagram, network, size, trunk)
    depends, fixed = _shown(0, network.heads), _shown(network.heads, network.outputs)
    pitch = _pitch(network)
    places = _places(len(depends), len(fixed), pitch)
    start = diagram.end + _GAP
    level = None
    if network.level_units:
        level = _add_level(diagram, network, start, min(diagram.extent[2], min(places) - pitch / 2))
        start = max(start, diagram.end + _GAP)
    sources = _add_heads(diagram, network, trunk, level, list(zip(depends, places, strict=False)), start)
    if fixed:
        heights = places[len(depends) :]
        middle = (heights[0] + heights[-1]) / 2
        # In the column of the last layer: the outputs that follow are drawn beside those of the heads.
        column = max(box.left[0] for box in sources if box is not None)
        constants = diagram.add([f"{network.constants} learned", "constants"], "layer", start=column, y=middle)
        sources += [None if output is None else constants for output in fixed]
    _add_outputs(diagram, list(zip([*depends, *fixed], places, sources, strict=True)), names, links)
    return diagram


def _add_shared_layer(diagram: Diagram, network: Architecture, size: int, before: Box) -> Box:
    start = diagram.end + _GAP
    layer = [f"linear {size}", *_after_linear(network, dropout=not network.residual)]
    if not network.residual:
        return diagram.add(layer, "layer", start=start, after=[before])
    apart = (LINE_HEIGHT * (len(layer) + 2) + 4 * _PADDING) / 4 + _GAP / 4
    upper = diagram.add(layer, "layer", start=start, y=apart, after=[before])
    lower = diagram.add([f"linear {size}", "no bias"], "projection", start=start, y=-apart, after=[before])
    total = diagram.add(["+"], "sum", start=diagram.end + _GAP, after=[upper, lower])
    # Units are dropped after the sum.
    if network.dropout:
        return diagram.add([_dropout(network)], "dropout", start=diagram.end + _GAP, after=[total])
    return total


def _add_level(diagram: Diagram, network: Architecture, end: float, low: float) -> Box:
    """The layers that embed a level, below everything else, which reaches down to `low`."""
    sizes, y = network.level_units, low - _GAP / 2 - LINE_HEIGHT - _PADDING
    width = _WIDTHS["values"] + sum(_width("layer", [f"linear {size}"]) + _GAP for size in sizes)
    box = diagram.add(["level"], "values", start=max(0.0, end - _GAP - width), y=y)
    for i, size in enumerate(sizes):
        function = "relu" if i < len(sizes) - 1 else "exp"
        box = diagram.add([f"linear {size}", function], "layer", start=box.right[0] + _GAP, y=y, after=[box])
    return box


def _add_heads(
    diagram: Diagram,
    network: Architecture,
    trunk: Box,
    level: Box | None,
    rows: Sequence[tuple[int | None, float]],
    start: float,
) -> list[Box | None]:
    """The layers of each output; returns the last box of each row, None for the rows that are left out."""
    before = [trunk] if level is None else [trunk, level]
    seen = [] if level is None else ["units and level:"]
    if not network.head_hidden:
        box = diagram.add([*seen, f"linear {network.heads}"], "layer", start=start, after=before)
        return [None if output is None else box for output, _ in rows]
    last: list[Box | None] = []
    columns: set[float] = set()
    for output, y in rows:
        if output is None:
            for x in columns:
                diagram.add_dots(x, y)
            last.append(None)
            continue
        boxes, x = before, start
        for i, size in enumerate(network.head_hidden):
            lines = [*(seen if i == 0 else []), f"linear {size}", *_after_linear(network, dropout=True)]
            boxes = [diagram.add(lines, "layer", start=x, y=y, after=boxes)]
            columns.add(boxes[0].x)
            x = boxes[0].right[0] + _GAP
        end = diagram.add([*seen, "linear 1"], "layer", start=x, y=y, after=boxes)
        columns.add(end.x)
        last.append(end)
    return last


def _add_outputs(
    diagram: Diagram,
    rows: Sequence[tuple[int | None, float, Box | None]],
    names: Sequence[str],
    links: Sequence[str] | None,
) -> None:
    start = diagram.end + _GAP
    shown = [output for output, *_ in rows if output is not None]
    link_width = 0.0 if links is None else _width("link", [links[output] for output in shown])
    name_width = _width("values", [names[output] for output in shown])
    beyond = start + (link_width + _GAP) * (links is not None)
    joint = {} if links is None else _add_joint_links(diagram, rows, links, start, link_width)
    for output, y, source in rows:
        if output is None or source is None:
            diagram.add_dots(beyond + name_width / 2, y)
            if links is not None and not any(abs(y - box.y) < box.height / 2 for box in joint.values()):
                diagram.add_dots(start + link_width / 2, y)
            continue
        link = None if links is None else links[output]
        if link is not None and link in joint:
            box = diagram.add([names[output]], "values", start=beyond, y=y, width=name_width)
            diagram.arrows.append(((start + link_width, y), box.left))
            continue
        if link is not None:
            source = diagram.add([link], "link", start=start, y=y, after=[source], width=link_width)
        diagram.add([names[output]], "values", start=beyond, y=y, after=[source], width=name_width)


def _add_joint_links(
    diagram: Diagram,
    rows: Sequence[tuple[int | None, float, Box | None]],
    links: Sequence[str],
    start: float,
    width: float,
) -> dict[str, Box]:
    """One tall box per function of several outputs."""
    joint: dict[str, Box] = {}
    for link in _JOINT:
        members = [(y, box) for output, y, box in rows if output is not None and box and links[output] == link]
        if members:
            low, high = members[-1][0], members[0][0]
            sources = list(dict.fromkeys(box for _, box in members))
            height = high - low + LINE_HEIGHT + 2 * _PADDING
            joint[link] = diagram.add(
                [link], "link", start=start, y=(low + high) / 2, after=sources, width=width, least_height=height
            )
    return joint


def _width(role: Role, lines: Sequence[str]) -> float:
    """Room for the longest line; a sum is a circle."""
    needed = _CHARACTER * max(map(len, lines), default=0) + _SIDES
    return _WIDTHS[role] if role == "sum" else max(_WIDTHS[role], needed)


def _after_linear(network: Architecture, *, dropout: bool) -> list[str]:
    """What happens to the units of a layer after the linear part."""
    steps = ["batch norm"] if network.batch_norm else []
    return [*steps, network.activation, *([_dropout(network)] if dropout and network.dropout else [])]


def _dropout(network: Architecture) -> str:
    return f"dropout {network.dropout:.3g}"


def _pitch(network: Architecture) -> float:
    """Distance of the rows of neighbouring outputs."""
    lines = 1
    if network.head_hidden:
        lines = 1 + len(_after_linear(network, dropout=True)) + bool(network.level_units)
    return LINE_HEIGHT * lines + 2 * _PADDING + 0.14


def _shown(first: int, stop: int) -> list[int | None]:
    """Numbers of the outputs that have a row; None stands for those left out."""
    if stop - first <= _MOST_ROWS:
        return list(range(first, stop))
    return [first, first + 1, None, stop - 1]


def _places(depends: int, fixed: int, pitch: float) -> list[float]:
    """Heights of the rows from top to bottom: those that depend on the inputs are centred at 0, the others below."""
    top = (depends - 1) / 2
    return [(top - k) * pitch for k in range(depends)] + [(top - depends - k) * pitch - _GAP for k in range(fixed)]
