"""Diagrams of networks: every layer is drawn, arrows join boxes, texts fit, and nothing lies on anything else."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Annotation

from aldsurv.errors import ParameterError
from aldsurv.networks import Architecture
from aldsurv.plots import plot_architecture, save_figure
from aldsurv.plots.drawing.network_diagram import network_diagram

PAPER = Architecture(9, 3, hidden=(32,), head_hidden=(32,), dropout=0.1)
NAMES = ["theta", "sigma", "kappa"]


def drawn_texts(ax) -> list[str]:
    return [text.get_text().replace("\n", ", ") for text in ax.texts if not isinstance(text, Annotation)]


def drawn_arrows(ax) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return [(text.xyann, text.xy) for text in ax.texts if isinstance(text, Annotation)]


def drawn_boxes(ax) -> dict[tuple[float, float, float, float], str]:
    """Sides of each box, left, right, bottom and top, with the text at its middle."""
    found = {}
    for patch in ax.patches:
        assert isinstance(patch, FancyBboxPatch)
        left, bottom = patch.get_x(), patch.get_y()
        right, top = left + patch.get_width(), bottom + patch.get_height()
        middle = ((left + right) / 2, (bottom + top) / 2)
        (text,) = [one.get_text() for one in ax.texts if np.allclose(one.get_position(), middle, atol=1e-9)]
        found[left, right, bottom, top] = text.replace("\n", ", ")
    return found


def joined(ax) -> Counter[tuple[str, str]]:
    """Texts of the boxes at both ends of each arrow."""
    boxes = drawn_boxes(ax)

    def box_at(x: float, y: float, side: int) -> str:
        (name,) = [
            text
            for sides, text in boxes.items()
            if math.isclose(sides[side], x, abs_tol=1e-9) and sides[2] - 1e-9 <= y <= sides[3] + 1e-9
        ]
        return name

    return Counter((box_at(*start, 1), box_at(*stop, 0)) for start, stop in drawn_arrows(ax))


def test_the_network_of_the_paper():
    ax = plot_architecture(PAPER, outputs=NAMES, links=["exp"] * 3, title="ALD")
    head = "linear 32, relu, dropout 0.1"
    assert joined(ax) == Counter(
        {
            ("9 inputs", "linear 32, relu"): 1,
            ("9 inputs", "linear 32, no bias"): 1,
            ("linear 32, relu", "+"): 1,
            ("linear 32, no bias", "+"): 1,
            # Units are dropped after the sum.
            ("+", "dropout 0.1"): 1,
            ("dropout 0.1", head): 3,
            (head, "linear 1"): 3,
            ("linear 1", "exp"): 3,
            ("exp", "θ"): 1,
            ("exp", "σ"): 1,
            ("exp", "κ"): 1,
        }
    )
    # By hand: layer and projection, three heads of a layer and a unit.
    weights = (9 * 32 + 32) + 9 * 32 + 3 * ((32 * 32 + 32) + (32 + 1))
    assert {"ALD", f"{weights:,} weights"} <= set(drawn_texts(ax))


def test_layers_without_residual_or_heads():
    network = Architecture(4, 1, hidden=(32, 16), head_hidden=(), residual=False, batch_norm=True, activation="gelu")
    ax = plot_architecture(network, outputs=["log risk"], links=["identity"])
    assert joined(ax) == Counter(
        {
            ("4 inputs", "linear 32, batch norm, gelu"): 1,
            ("linear 32, batch norm, gelu", "linear 16, batch norm, gelu"): 1,
            ("linear 16, batch norm, gelu", "linear 1"): 1,
            ("linear 1", "identity"): 1,
            ("identity", "log risk"): 1,
        }
    )


def test_softmax_is_one_function_of_all_outputs_and_many_are_left_out():
    network = Architecture(1, 100, hidden=(8,), head_hidden=(), residual=False)
    ax = plot_architecture(network, outputs=[f"bin {k + 1}" for k in range(100)], links=["softmax"] * 100)
    ends = joined(ax)
    assert ends["linear 100", "softmax"] == 1
    assert sorted(name for start, name in ends if start == "softmax") == ["bin 1", "bin 100", "bin 2"]
    assert "⋮" in drawn_texts(ax)
    assert "1 input" in drawn_texts(ax)


def test_constants_depend_on_no_input():
    network = Architecture(3, 5, hidden=(8,), head_hidden=(), constants=3)
    ax = plot_architecture(network, outputs=["location", "scale", "kappa_1", "kappa_2", "kappa_3"])
    ends = joined(ax)
    assert {start for start, name in ends if name.startswith("κ")} == {"3 learned, constants"}
    assert {start for start, name in ends if name in ("location", "scale")} == {"linear 2"}
    assert not [start for start, name in ends if name == "3 learned, constants"]


def test_a_level_is_embedded_and_seen_by_heads_and_outputs():
    network = Architecture(3, 2, hidden=(8,), head_hidden=(6, 5), level_units=(7, 4))
    ends = joined(plot_architecture(network))
    assert ends["level", "linear 7, relu"] == ends["linear 7, relu", "linear 4, exp"] == 1
    assert ends["linear 4, exp", "units and level:, linear 6, relu"] == 2
    assert ends["units and level:, linear 6, relu", "linear 5, relu"] == 2
    assert ends["linear 5, relu", "units and level:, linear 1"] == 2
    straight = Architecture(3, 2, hidden=(8,), head_hidden=(), level_units=(4,))
    assert joined(plot_architecture(straight))["linear 4, exp", "units and level:, linear 2"] == 1


sizes = st.lists(st.sampled_from([1, 32, 1000]), max_size=3).map(tuple)


@settings(deadline=None)
@given(
    hidden=sizes, head_hidden=sizes, level_units=sizes, outputs=st.integers(1, 12), share=st.floats(0, 1),
    residual=st.booleans(), batch_norm=st.booleans(), dropout=st.sampled_from([0.0, 0.1, 0.333]),
    link=st.sampled_from([None, "exp", "identity", "softmax"]),
)  # fmt: skip
def test_boxes_do_not_overlap_and_every_layer_is_there(
    hidden, head_hidden, level_units, outputs, share, residual, batch_norm, dropout, link
):
    network = Architecture(
        9, outputs, hidden, head_hidden, residual=residual, batch_norm=batch_norm, dropout=dropout,
        constants=int(share * (outputs - 1)), level_units=level_units,
    )  # fmt: skip
    diagram = network_diagram(network, [f"n{k}" for k in range(outputs)], None if link is None else [link] * outputs)
    sides = [(b.x - b.width / 2, b.x + b.width / 2, b.y - b.height / 2, b.y + b.height / 2) for b in diagram.boxes]
    for k, (left, right, bottom, top) in enumerate(sides):
        for other in sides[:k]:
            apart = left >= other[1] or right <= other[0] or bottom >= other[3] or top <= other[2]
            assert apart, (diagram.boxes[k], other)
    rows = sum(box.role != "dots" and box.lines[-1] == "linear 1" for box in diagram.boxes)
    roles = Counter(box.role for box in diagram.boxes)
    assert roles["projection"] == roles["sum"] == residual * len(hidden)
    shown = network.heads if network.heads <= 5 else 3
    if head_hidden:
        assert rows >= shown
    own = len(head_hidden) * shown + shown if head_hidden else 1
    assert roles["layer"] == len(hidden) + len(level_units) + own + bool(network.constants)
    for start, stop in diagram.arrows:
        assert stop[0] > start[0]


@pytest.mark.parametrize(
    ("network", "links"),
    [
        (PAPER, ["exp", "softplus", "identity"]),
        (
            Architecture(10_000_000, 3, (65_536,), (65_536,), batch_norm=True, dropout=0.333, level_units=(4,)),
            ["exp"] * 3,
        ),
        (Architecture(9, 30, (32, 32), (), residual=False), ["softmax"] * 30),
    ],
)
def test_texts_lie_in_their_boxes(network, links):
    names = NAMES if network.outputs == 3 else [f"distance to {k / 100:.2f}" for k in range(network.outputs)]
    ax = plot_architecture(network, outputs=names, links=links)
    FigureCanvasAgg(ax.figure).draw()
    placed = {text.get_text().replace("\n", ", "): text for text in ax.texts if text.get_text()}
    for (left, right, bottom, top), name in drawn_boxes(ax).items():
        low, high = ax.transData.transform([(left, bottom), (right, top)])
        room = placed[name].get_window_extent()
        assert room.width < high[0] - low[0], name
        assert room.height < high[1] - low[1], name
    inside = ax.figure.bbox
    for text in placed.values():
        box = text.get_window_extent()
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1
        assert inside.y0 <= box.y0 < box.y1 <= inside.y1


def test_given_axes_are_used_and_texts_shrink_with_them(tmp_path):
    figure = Figure(figsize=(4, 3))
    ax = figure.add_axes((0.1, 0.1, 0.4, 0.4))
    assert plot_architecture(PAPER, outputs=NAMES, ax=ax) is ax
    free = plot_architecture(PAPER, outputs=NAMES)
    sizes = [{text.get_fontsize() for text in one.texts if text.get_text()} for one in (ax, free)]
    assert max(sizes[0]) < min(sizes[1])
    assert joined(ax) == joined(free)
    assert save_figure(figure, tmp_path / "network.svg").stat().st_size > 1000


def test_names_and_links_must_be_those_of_the_outputs():
    with pytest.raises(ParameterError, match="outputs must be 3, one per output of the network, but are 2"):
        plot_architecture(PAPER, outputs=["a", "b"])
    with pytest.raises(ParameterError, match="links must be 3"):
        plot_architecture(PAPER, links=["exp"])
