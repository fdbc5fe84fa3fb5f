from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from aldsurv.display.html import (
    fields_html,
    html_block,
    html_curves,
    html_details,
    html_facts,
    html_note,
    html_table,
    short_number,
)

BAD = '<script>alert("x")</script>&'


def parsed(text):
    """As XML, in which unclosed tags and unescaped signs are errors."""
    return ElementTree.fromstring(text)  # noqa: S314 - our own text


def words(text):
    return [piece for piece in parsed(text).itertext() if piece]


@pytest.mark.parametrize(
    "text",
    [
        html_block(BAD, html_note(BAD)),
        f"<div>{html_note(BAD)}</div>",
        html_details(BAD, html_facts({BAD: BAD})),
        html_table([BAD, "b"], [[BAD, 1.0]]),
        html_curves(np.array([0.0, 1.0]), np.array([[1.0, 0.5]]), label=BAD, names=[BAD]),
        fields_html(BAD, {"a": BAD}),
    ],
)
def test_every_text_is_escaped(text):
    assert "<script" not in text
    assert any("<script" in piece for piece in words(text))
    assert "script" not in {element.tag for element in parsed(text).iter()}


def test_no_colours_but_those_of_curves():
    # Text and lines must be seen on light and dark pages.
    text = html_block("a", html_table(["a", "b"], [["x", 1]]), html_facts({"a": 1}), html_note("n"))
    styles = " ".join(element.get("style", "") for element in parsed(text).iter())
    assert "background" not in styles
    assert {part.split(":")[1] for part in styles.split(";") if part.strip().startswith("color")} <= {"inherit"}
    drawing = parsed(html_curves(np.arange(3.0), np.ones((2, 3)), label="l", names=["a", "b"]))
    assert {element.get("stroke") for element in drawing.iter("path")} == {"currentColor"}
    assert drawing.get("fill") == "currentColor"
    assert drawing.get("aria-label") == "l"


def test_a_long_table_is_cut_and_says_so():
    text = f"<div>{html_table(['k', 'v'], [[f'{k}', k] for k in range(50)], most=30)}</div>"
    assert len(list(parsed(text).iter("tr"))) == 31
    assert words(text)[-1] == "30 of 50 rows"


def test_curves_are_where_their_values_are():
    times, curves = np.array([0.0, 5.0, 10.0]), np.array([[1.0, 0.5, 0.0], [1.0, 1.0, np.nan]])
    lines = [
        np.array([point.split(",") for point in line.get("points").split()], float)
        for line in parsed(html_curves(times, curves, label="l")).iter("polyline")
    ]
    x, y = lines[0].T
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.11)
    assert y[1] == pytest.approx((y[0] + y[2]) / 2)
    np.testing.assert_array_equal(lines[1][:2, 1], y[0])
    steps = parsed(html_curves(times, curves[:1], label="l", steps=True)).find("polyline").get("points").split()
    heights = [float(point.split(",")[1]) for point in steps]
    # A step holds its height up to the next time and then falls.
    assert heights == [y[0], y[0], y[1], y[1], y[2]]


def test_many_times_make_no_large_drawing():
    times = np.linspace(0, 1, 200_000)
    assert len(html_curves(times, (1 - times)[None, :], label="l", steps=True)) < 20_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.1235"), (12345.6, "12346"), (1e-9, "1e-09"), (3, "3"), (np.float32(2.5), "2.5"), (True, "True"),
        (None, ""), (-np.inf, "−∞"), (np.nan, "–"), (2021.0, "2021"), (1e9, "1e+09"),
    ],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert short_number(value) == text


def test_fields_with_arrays_are_columns():
    text = fields_html("Comparison", {"first": np.array([1.0, 2.0]), "samples": 20})
    assert words(text) == ["Comparison", "first", "samples", "1", "20", "2", "20"]
