"""Formulas of pages become MathML: all of them can be read, and what cannot be read names its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("latex2mathml")
pytest.importorskip("fontTools")

from docs_hooks.formulas import mathml

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
_CODE = re.compile(r"^```.*?^```$|(?<!`)`[^`\n]+`(?!`)", re.MULTILINE | re.DOTALL)
_BLOCK, _INLINE = re.compile(r"\$\$(.+?)\$\$", re.DOTALL), re.compile(r"\$([^$]+)\$")


def formulas(text: str) -> list[tuple[str, bool]]:
    """The formulas of a page, and whether each stands on lines of its own."""
    text = _CODE.sub("", text)
    blocks = [(latex, True) for latex in _BLOCK.findall(text)]
    return blocks + [(latex, False) for latex in _INLINE.findall(_BLOCK.sub("", text))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_formulas_of_a_page_can_be_read(page):
    for latex, is_block in formulas(page.read_text(encoding="utf-8")):
        assert "\n\n" not in latex, f"{page.name} has a single dollar sign before {latex[:40]!r}"
        assert mathml(latex, is_block, page.name).count("<math") == 1


def test_what_cannot_be_read_names_its_page():
    with pytest.raises(ValueError, match=r"odd\.md: latex2mathml cannot read all of the formula"):
        mathml(r"\nosuchcommand{x}", False, "odd.md")


def test_bold_digits_are_letters_of_their_own():
    assert "<mn>𝟏</mn>" in mathml(r"\mathbf{1}(x)", False, "page.md")


@pytest.mark.parametrize(
    ("latex", "spaces"),
    [
        (r"-w \log f(y)", 2),
        (r"\log(x)", 0),
        (r"q \max(x, 0)", 1),
        (r"-\log\sigma", 1),
        (r"\log_2 x", 1),
        (r"R^2_{\max}", 0),
    ],
)
def test_functions_are_apart_from_what_is_beside_them(latex, spaces):
    result = mathml(latex, False, "page.md")
    assert result.count("mspace") == spaces
    assert "<mo>max" not in result


def test_formulas_are_found():
    assert formulas("A `$` and $x$:\n\n$$\ny\n$$\n\n```\n$z$\n```\n") == [("\ny\n", True), ("x", False)]
