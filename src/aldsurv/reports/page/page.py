"""One self-contained HTML page: sections of blocks, each block rendered by its own template."""

from __future__ import annotations

import base64
import hashlib
from abc import ABC
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, final

import aldsurv
from aldsurv.errors import MissingDependencyError

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = [
    "Block",
    "Facts",
    "OpenPlaces",
    "Page",
    "Quotation",
    "Remarks",
    "Section",
    "Text",
    "Tile",
    "Tiles",
    "Tone",
    "Verdict",
    "Verdicts",
    "page_templates",
    "render_page",
]

Tone: TypeAlias = Literal["good", "bad", ""]


class Block(ABC):
    """A part of a section. Its template gets it as ``block``; all text in it is escaped."""

    template: ClassVar[str]


@final
@dataclass(frozen=True)
class Text(Block):
    """A paragraph; a warning is highlighted."""

    template: ClassVar[str] = "text.html"
    text: str
    warning: bool = False


@final
@dataclass(frozen=True)
class Facts(Block):
    """Names and values, side by side."""

    template: ClassVar[str] = "facts.html"
    entries: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True)
class Tile:
    """One result: its label, its value, and an explanation."""

    label: str
    value: str
    detail: str = ""


@final
@dataclass(frozen=True)
class Tiles(Block):
    """The main results at a glance."""

    template: ClassVar[str] = "tiles.html"
    tiles: tuple[Tile, ...]


@final
@dataclass(frozen=True)
class Remarks(Block):
    """A list of remarks, each with a title."""

    template: ClassVar[str] = "remarks.html"
    entries: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True)
class OpenPlaces(Block):
    """What only the author of the page can fill in, marked as such."""

    template: ClassVar[str] = "open_places.html"
    entries: tuple[str, ...]


@final
@dataclass(frozen=True)
class Verdict:
    """A verdict: its topic, the verdict in a few words, the reason, and its tone."""

    about: str
    finding: str
    reason: str
    tone: Tone = ""


@final
@dataclass(frozen=True)
class Verdicts(Block):
    """Verdicts with their reasons; colour is never the only sign of a tone."""

    template: ClassVar[str] = "verdicts.html"
    verdicts: tuple[Verdict, ...]


@final
@dataclass(frozen=True)
class Quotation(Block):
    """Preformatted text to copy, with a name."""

    template: ClassVar[str] = "quotation.html"
    name: str
    text: str


@final
@dataclass(frozen=True)
class Section:
    """A section of a page, listed in its contents.

    Parameters
    ----------
    anchor
        Its id, part of the address; letters, digits and hyphens.
    title
        Its heading.
    blocks
        Its content, from top to bottom.
    """

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@final
@dataclass(frozen=True)
class Page:
    """A page: its title, a sentence on what it shows, its sections, and its last line."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    footer: str = ""


def render_page(page: Page) -> str:
    """The page as HTML that needs no other file and no network.

    Style and script are inline, and the content security policy allows only these two: even unescaped text could not
    run as a script.
    """
    style, script = _asset("page.css"), _asset("page.js")
    html: str = (
        page_templates()
        .get_template("page.html")
        .render(
            page=page,
            version=aldsurv.__version__,
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )
    # Lone surrogates, as in file names that are not UTF-8, cannot be encoded.
    return html.encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def page_templates() -> Environment:
    """The templates; call it before long work, so that a missing jinja2 is reported at once."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ModuleNotFoundError as error:
        if error.name != "jinja2":
            raise
        raise MissingDependencyError(
            "reports need jinja2, which is not installed", advice='Install it with: pip install "aldsurv[reports]"'
        ) from None
    return Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _asset(name: str) -> str:
    return (resources.files("aldsurv.reports") / "page" / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
