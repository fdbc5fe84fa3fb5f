"""A hook of mkdocs: formulas between dollars become MathML, in a font that the site brings along.

Nothing runs in the reader's browser and nothing is fetched from another host, so formulas also show from a folder. What
latex2mathml does not know stays in its output as a backslash or an ampersand, and stops the build.
"""

from __future__ import annotations

import html
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fontTools import subset
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
# What the converter leaves behind where it does not know a command or an environment.
_LEFT_BEHIND = re.compile(r'\\|&(?!#?\w+;)|linebreak="newline"')
_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
# Browsers show other letters for a variant, but not other digits.
_FIRST_BOLD_DIGIT = 0x1D7CE
# Of a function and its argument, if that has no brackets, and of a factor before it.
_THIN_SPACE = "0.167em"
_ROWS = ("math", "mrow", "mtd", "mstyle", "msqrt")
# Of the package only its font is used: it is not imported.
_SPEC = find_spec("ziamath")
_FONT = Path((_SPEC and _SPEC.origin) or "").parent / "fonts" / "STIXTwoMath-Regular.ttf"
_SERVED = Path("assets", "stix-two-math.woff2")
# Latin, Greek, punctuation, letterlike, arrows, operators, technical, shapes, brackets, mathematical letters.
_RANGES = (
    (0x20, 0x17F), (0x2C6, 0x2DC), (0x300, 0x338), (0x370, 0x3FF), (0x2000, 0x206F), (0x20D0, 0x20F0), (0x2100, 0x22FF),
    (0x2308, 0x23FF), (0x25A0, 0x25FF), (0x27C0, 0x27FF), (0x2980, 0x2AFF), (0x1D400, 0x1D7FF),
)  # fmt: skip

ElementTree.register_namespace("", _NAMESPACE)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Replace the formulas of a page."""
    return _FORMULA.sub(lambda match: mathml(html.unescape(match[3]), match[2] == "[", page.file.src_uri), content)


def mathml(latex: str, is_block: bool, place: str) -> str:
    """A formula as MathML; an error names the page that has it."""
    result = convert(latex.strip(), display="block" if is_block else "inline")
    if _LEFT_BEHIND.search(result):
        raise ValueError(f"{place}: latex2mathml cannot read all of the formula {latex!r}")
    result = _with_names(result)
    # A block scrolls by itself where the page is narrow, and is then reached by the keyboard.
    return f'<div class="formula" tabindex="0">{result}</div>' if is_block else result


def _with_names(result: str) -> str:
    """Names of functions as identifiers, with a thin space beside them, and digits that are bold."""
    root = ElementTree.fromstring(result)  # noqa: S314
    for element in root.iter():
        name = _name(element)
        if name == "mo" and _is_function(element):
            element.tag = f"{{{_NAMESPACE}}}mi"
        elif name == "mn" and element.attrib.pop("mathvariant", "") == "bold":
            digits = element.text or ""
            element.text = "".join(chr(_FIRST_BOLD_DIGIT + int(digit)) for digit in digits)
    for row in [element for element in root.iter() if _name(element) in _ROWS]:
        for place in range(len(row) - 1, 0, -1):
            left, right = row[place - 1], row[place]
            if (_ends_in_function(left) and _name(right) != "mo") or (_is_function(right) and _name(left) != "mo"):
                row.insert(place, ElementTree.Element(f"{{{_NAMESPACE}}}mspace", width=_THIN_SPACE))
    return ElementTree.tostring(root, encoding="unicode")


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _is_function(element: ElementTree.Element) -> bool:
    text = element.text or ""
    return _name(element) in ("mi", "mo") and len(text) > 1 and text.isascii() and text.isalpha()


def _ends_in_function(element: ElementTree.Element) -> bool:
    """A name, or one with a subscript or an exponent."""
    return _is_function(element) or (_name(element) in ("msub", "msup", "munder") and _is_function(element[0]))


def on_post_build(config: Any, **_: Any) -> None:
    """Put the part of the font that formulas use into the site."""
    target = Path(config.site_dir) / _SERVED
    target.parent.mkdir(parents=True, exist_ok=True)
    font = TTFont(_FONT)
    options = subset.Options(flavor="woff2", layout_features=["*"], notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in _RANGES for code in range(first, last + 1)])
    subsetter.subset(font)
    font.flavor = "woff2"
    font.save(target)
