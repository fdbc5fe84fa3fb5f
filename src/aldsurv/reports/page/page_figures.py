"""Figures of a page: matplotlib figures as compact SVG inside the page, optionally also as files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, final
from urllib.parse import quote

from aldsurv.errors import ParameterError
from aldsurv.plots import save_figure
from aldsurv.plots.drawing.axes_text import reword_axes
from aldsurv.plots.drawing.figure_files import AnyFigure, whole_figure
from aldsurv.reports.page.page import Block

__all__ = ["HEIGHT", "WIDTH", "Gallery", "Picture", "embedded_picture", "picture_of", "reworded_figures"]

# Size in inches at which text is readable on a phone.
WIDTH, HEIGHT = 5.0, 3.4

_DPI = 110
# Characters that need no escape in an attribute or an address, unlike < > & " # %.
_SAFE = " '/:;=,()+*!?@$.-_~"
# Parts of an SVG that are not drawn.
_NOT_DRAWN = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->|(?<=>)\s+(?=<)|\s+$", re.DOTALL)
_PATH = re.compile(r'(?<= d=")[^"]*')
_AROUND_COMMAND = re.compile(r"\s*([MLHVCSQTAZmlhvcsqtaz])\s*")
_STYLE = re.compile(r'(?<= style=")[^"]*')
# Coordinates, but not scales, which multiply: rounded to a hundredth of a point.
_COORDINATES = re.compile(r' (?:d|x|y)="[^"]*"|translate\([^)]*\)')
_FURTHER_DIGITS = re.compile(r"(\.\d\d)\d+")
# A glyph that is only translated: x and y take a third of the bytes.
_TRANSLATED = re.compile(r'(<use href="[^"]*") transform="translate\(([^ )]*) ([^ )]*)\)"/>')
_NAMED = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(?:href="|url\()#([^")]*)')
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
# What is written at axes and in legends in place of other words, while a page is made.
_WORDS: ContextVar[Mapping[str, str]] = ContextVar("words of figures", default={})  # noqa: B039


@contextmanager
def reworded_figures(words: Mapping[str, str]) -> Iterator[None]:
    """Within the block the figures of pages have other words at axes and in legends.

    Parameters
    ----------
    words
        What stands for each of some phrases.
    """
    token = _WORDS.set(dict(words))
    try:
        yield
    finally:
        _WORDS.reset(token)


@final
@dataclass(frozen=True)
class Picture:
    """A figure in the page.

    Parameters
    ----------
    name
        Unique in the page.
    caption
        Text below the picture.
    alt
        Description for readers who cannot see it.
    source
        The picture as a data address, escaped for an attribute.
    width, height
        In points.
    """

    name: str
    caption: str
    alt: str
    source: str
    width: int
    height: int

    def __post_init__(self) -> None:
        if unescaped := sorted(set('<>"&') & set(self.source)):
            raise ParameterError(
                f"source of figure {self.name!r} must have no {unescaped[0]!r}",
                argument="source",
                advice="Escape it as in addresses.",
            )


@final
@dataclass(frozen=True)
class Gallery(Block):
    """Pictures side by side, or each over the full width."""

    template: ClassVar[str] = "gallery.html"
    pictures: tuple[Picture, ...]
    wide: bool = False


def picture_of(figure: AnyFigure, folder: Path, name: str, *, caption: str, alt: str) -> Picture:
    """A figure for a page, also written to ``folder`` as ``name.svg`` and ``name.png``.

    Parameters
    ----------
    figure, folder, name
        The figure, and the existing folder and name of its files.
    caption, alt
        As in `Picture`.
    """
    whole = whole_figure(figure)
    save_figure(whole, folder / f"{name}.png", dpi=_DPI)
    return _picture(save_figure(whole, folder / f"{name}.svg"), name, caption, alt)


def embedded_picture(
    figure: AnyFigure, name: str, *, caption: str, alt: str, width: float | None = None, height: float | None = None
) -> Picture:
    """A figure for a page, without files.

    Parameters
    ----------
    figure, name, caption, alt
        As in `picture_of`.
    width, height
        Size in inches; None: that of the figure.
    """
    whole = whole_figure(figure)
    reword_axes(whole, _WORDS.get())
    now = whole.get_size_inches()
    whole.set_size_inches(now[0] if width is None else width, now[1] if height is None else height)
    with TemporaryDirectory() as folder:
        return _picture(save_figure(whole, Path(folder) / "figure.svg"), name, caption, alt)


def _picture(path: Path, name: str, caption: str, alt: str) -> Picture:
    drawing = _smaller(path.read_text(encoding="utf-8"))
    size = _SIZE.search(drawing)
    width, height = (float(size[1]), float(size[2])) if size else (640.0, 400.0)
    # As an image, not inline: the ids of one drawing cannot clash with those of another.
    return Picture(name, caption, alt, _address(drawing), round(width), round(height))


def _address(drawing: str) -> str:
    """A drawing as a data address for an attribute."""
    # An SVG has many quotation marks, and apostrophes need no escape.
    if "'" not in drawing:
        drawing = drawing.replace('"', "'")
    return f"data:image/svg+xml,{quote(drawing, safe=_SAFE)}"


def _smaller(drawing: str) -> str:
    """The same drawing in fewer bytes."""
    drawing = _COORDINATES.sub(lambda match: _FURTHER_DIGITS.sub(r"\1", match[0]), _NOT_DRAWN.sub("", drawing))
    drawing = _PATH.sub(lambda match: _AROUND_COMMAND.sub(r"\1", match[0]), drawing)
    drawing = _STYLE.sub(lambda match: match[0].replace(": ", ":").replace("; ", ";"), drawing)
    drawing = drawing.replace("xlink:href", "href").replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    drawing = _TRANSLATED.sub(r'\1 x="\2" y="\3"/>', drawing).replace(' y="0"/>', "/>")
    used = set(_REFERENCE.findall(drawing))
    short = {name: f"{place:x}" for place, name in enumerate(dict.fromkeys(_NAMED.findall(drawing))) if name in used}
    drawing = _NAMED.sub(lambda match: f' id="{short[match[1]]}"' if match[1] in short else "", drawing)
    return _REFERENCE.sub(lambda match: match[0].removesuffix(match[1]) + short.get(match[1], match[1]), drawing)
