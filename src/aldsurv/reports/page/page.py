"""One self-contained HTML page: sections of blocks, each block drawn by a template of its own."""

from __future__ import annotations

import base64
import hashlib
from abc import ABC
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, ClassVar, final

import aldsurv
from aldsurv.errors import MissingDependencyError

__all__ = [
    "Block",
    "Facts",
    "Page",
    "Quotation",
    "Remarks",
    "Section",
    "Text",
    "Tile",
    "Tiles",
    "Verdict",
    "Verdicts",
    "page_templates",
    "render_page",
]


class Block(ABC):
    """A part of a section. Its template finds it under the name ``block``; all text in it is escaped."""

    template: ClassVar[str]


@final
@dataclass(frozen=True)
class Text(Block):
    """A paragraph; a warning stands out."""

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
    """One finding: what it is about, the finding in a few words or numbers, and what it rests on."""

    label: str
    value: str
    detail: str = ""


@final
@dataclass(frozen=True)
class Tiles(Block):
    """Findings to be seen at a glance."""

    template: ClassVar[str] = "tiles.html"
    tiles: tuple[Tile, ...]


@final
@dataclass(frozen=True)
class Remarks(Block):
    """A list of remarks, each with a few words that say what it is about."""

    template: ClassVar[str] = "remarks.html"
    entries: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True)
class Verdict:
    """A judgement: what about, in a few words, why, and its tone: ``"good"``, ``"bad"`` or none."""

    about: str
    finding: str
    reason: str
    tone: str = ""


@final
@dataclass(frozen=True)
class Verdicts(Block):
    """Judgements, each with its reason; colour is never the only sign of what they say."""

    template: ClassVar[str] = "verdicts.html"
    verdicts: tuple[Verdict, ...]


@final
@dataclass(frozen=True)
class Quotation(Block):
    """Text to be copied as it stands, line by line, with a name."""

    template: ClassVar[str] = "quotation.html"
    name: str
    text: str


@final
@dataclass(frozen=True)
class Section:
    """A part of a page that the contents lead to.

    Parameters
    ----------
    anchor
        Its place in the address; letters, digits and hyphens.
    title
        Its heading.
    blocks
        What is in it, from top to bottom.
    """

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@final
@dataclass(frozen=True)
class Page:
    """A page: what it is called, a sentence on what it shows, its sections, and its last line."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    footer: str = ""


def render_page(page: Page) -> str:
    """The page as HTML that needs no other file and no network.

    Style and script stand in the page, and its policy allows these two and nothing else: even text that came to be
    there unescaped could not run.
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
    # Half of a character, as in file names that are not UTF-8, has no place in a page.
    return html.encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def page_templates() -> Any:
    """What draws pages; asked for before long work, it tells at once if jinja2 is not there."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ModuleNotFoundError as error:
        if error.name != "jinja2":
            raise
        raise MissingDependencyError(
            'reports need jinja2, which is not installed. Install it with: pip install "aldsurv[reports]"'
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
