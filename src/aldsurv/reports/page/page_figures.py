"""Figures of a page: written to files, and put into the page as they are there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, final
from urllib.parse import quote

from aldsurv.errors import ParameterError
from aldsurv.plots import save_figure
from aldsurv.reports.page.page import Block

__all__ = ["Gallery", "Picture", "embedded_picture", "picture_of"]

_DPI = 110
# What an attribute and an address both leave alone; all else, such as < > & " # %, is escaped.
_SAFE = " '/:;=,()+*!?@$.-_~"
# What nobody sees in a drawing.
_UNSEEN = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->|(?<=>)\s+(?=<)|\s+$", re.DOTALL)
_PATH = re.compile(r'(?<= d=")[^"]*')
_AROUND_COMMAND = re.compile(r"\s*([MLHVCSQTAZmlhvcsqtaz])\s*")
_STYLE = re.compile(r'(?<= style=")[^"]*')
# Places but not scales, which multiply: in these, digits beyond a hundredth of a point are of no use.
_PLACES = re.compile(r' (?:d|x|y)="[^"]*"|translate\([^)]*\)')
_BEYOND = re.compile(r"(\.\d\d)\d+")
# A letter that is only moved: the same in a third of the bytes.
_MOVED = re.compile(r'(<use href="[^"]*") transform="translate\(([^ )]*) ([^ )]*)\)"/>')
_NAMED = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(?:href="|url\()#([^")]*)')
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


@final
@dataclass(frozen=True)
class Picture:
    """A figure in the page.

    Parameters
    ----------
    name
        Unique in the page.
    caption
        What it shows; below the picture.
    alt
        What it says to those who cannot see it.
    source
        The picture itself, as a data address that can stand between quotation marks as it is.
    width, height
        In points; the page leaves room for them before the picture is drawn.
    """

    name: str
    caption: str
    alt: str
    source: str
    width: int
    height: int

    def __post_init__(self) -> None:
        if found := sorted(set('<>"&') & set(self.source)):
            raise ParameterError(
                f"source of figure {self.name!r} must have no {found[0]!r}. Escape it as in addresses."
            )


@final
@dataclass(frozen=True)
class Gallery(Block):
    """Pictures side by side, or each over the whole width."""

    template: ClassVar[str] = "gallery.html"
    pictures: tuple[Picture, ...]
    wide: bool = False


def picture_of(figure: Any, folder: Path, name: str, *, caption: str, alt: str) -> Picture:
    """A figure for a page, also written to ``folder`` as ``name.svg`` and ``name.png``.

    Parameters
    ----------
    figure, folder, name
        The figure of matplotlib to write, and where to; the folder must exist.
    caption, alt
        As in `Picture`.
    """
    save_figure(figure, folder / f"{name}.png", dpi=_DPI)
    return _picture(save_figure(figure, folder / f"{name}.svg"), name, caption, alt)


def embedded_picture(
    figure: Any, name: str, *, caption: str, alt: str, width: float | None = None, height: float | None = None
) -> Picture:
    """A figure that is in the page and nowhere else.

    Parameters
    ----------
    figure, name, caption, alt
        As in `picture_of`.
    width, height
        Size in inches; the smaller, the larger is the text on a phone. None: as it is.
    """
    now = figure.get_size_inches()
    figure.set_size_inches(now[0] if width is None else width, now[1] if height is None else height)
    with TemporaryDirectory() as folder:
        return _picture(save_figure(figure, Path(folder) / "figure.svg"), name, caption, alt)


def _picture(path: Path, name: str, caption: str, alt: str) -> Picture:
    drawing = _smaller(path.read_text(encoding="utf-8"))
    found = _SIZE.search(drawing)
    width, height = (float(found[1]), float(found[2])) if found else (640.0, 400.0)
    # As an image and not as part of the page: names inside one drawing cannot clash with those of another.
    return Picture(name, caption, alt, _address(drawing), round(width), round(height))


def _address(drawing: str) -> str:
    """A drawing as a data address that can stand in an attribute."""
    # Quotation marks are many, and apostrophes need no escape there.
    if "'" not in drawing:
        drawing = drawing.replace('"', "'")
    return f"data:image/svg+xml,{quote(drawing, safe=_SAFE)}"


def _smaller(drawing: str) -> str:
    """The same drawing in fewer bytes."""
    drawing = _PLACES.sub(lambda found: _BEYOND.sub(r"\1", found[0]), _UNSEEN.sub("", drawing))
    drawing = _PATH.sub(lambda found: _AROUND_COMMAND.sub(r"\1", found[0]), drawing)
    drawing = _STYLE.sub(lambda found: found[0].replace(": ", ":").replace("; ", ";"), drawing)
    drawing = drawing.replace("xlink:href", "href").replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    drawing = _MOVED.sub(r'\1 x="\2" y="\3"/>', drawing).replace(' y="0"/>', "/>")
    used = set(_REFERENCE.findall(drawing))
    short = {name: f"{place:x}" for place, name in enumerate(dict.fromkeys(_NAMED.findall(drawing))) if name in used}
    drawing = _NAMED.sub(lambda found: f' id="{short[found[1]]}"' if found[1] in short else "", drawing)
    return _REFERENCE.sub(lambda found: found[0].removesuffix(found[1]) + short.get(found[1], found[1]), drawing)
