"""Text between markers: tables and other blocks, and single values inside a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["MarkerError", "filled", "marked_names", "without_marked"]

# A comment on a line of its own: <!-- name --> or <!-- end name -->.
_LINE = re.compile(r"^<!-- (?!= |/ )(?P<end>end )?(?P<name>(?:(?!-->)[^\n])+?) -->[ \t]*$", re.MULTILINE)
_INLINE = re.compile(r"<!-- = (?P<name>(?:(?!-->)[^\n])+?) -->(?P<value>(?:(?!<!--)[^\n])*)<!-- / -->")
_LOOSE = re.compile(r"<!-- (= [^\n]*?|/) ?-->")
# Markdown takes a line that begins with a comment for the end of the paragraph.
_FIRST = re.compile(r"^ {0,3}<!-- = (?P<name>[^\n]+?) -->", re.MULTILINE)


class MarkerError(ValueError):
    """A marker without its other half, in the wrong place, or without a value."""


def filled(text: str, values: Mapping[str, str]) -> str:
    """The page with the value of each name between its markers.

    Parameters
    ----------
    text
        Of the page.
    values
        Text by name: of a block whole lines, in a sentence a part of a line.

    Raises
    ------
    MarkerError
        If a name has no value, a marker has no other half, or a value does not fit where it stands.
    """
    pieces, position = [], 0
    for name, start, end in _blocks(text):
        pieces += [_filled_inline(text[position:start], values), f"\n\n{_value(values, name).strip()}\n\n"]
        position = end
    return "".join([*pieces, _filled_inline(text[position:], values)])


def marked_names(text: str) -> set[str]:
    """Names of all markers of a page."""
    outside = without_marked(text, keep_inline=True)
    return {name for name, _, _ in _blocks(text)} | {match["name"] for match in _INLINE.finditer(outside)}


def without_marked(text: str, *, keep_inline: bool = False) -> str:
    """The page without what stands between markers, which is what a person has typed."""
    pieces, position = [], 0
    for _, start, end in _blocks(text):
        pieces.append(text[position:start])
        position = end
    outside = "".join([*pieces, text[position:]])
    return outside if keep_inline else _INLINE.sub("", outside)


def _blocks(text: str) -> list[tuple[str, int, int]]:
    """Name of each block, and where its content begins and ends."""
    blocks: list[tuple[str, int, int]] = []
    opened: re.Match[str] | None = None
    for match in _LINE.finditer(text):
        name = match["name"]
        if opened is None and not match["end"]:
            opened = match
        elif opened is not None and match["end"] and name == opened["name"]:
            blocks.append((name, opened.end(), match.start()))
            opened = None
        elif opened is not None:
            raise MarkerError(f"<!-- {opened['name']} --> is not closed before {match[0].strip()}.")
        else:
            raise MarkerError(f"<!-- end {name} --> has no <!-- {name} --> before it.")
    if opened is not None:
        raise MarkerError(f"<!-- {opened['name']} --> has no <!-- end {opened['name']} -->.")
    return blocks


def _filled_inline(text: str, values: Mapping[str, str]) -> str:
    first = _FIRST.search(text)
    if first is not None:
        raise MarkerError(f"<!-- = {first['name']} --> begins a line: put a word of the sentence before it.")
    loose = _LOOSE.search(_INLINE.sub("", text))
    if loose is not None:
        raise MarkerError(f"{loose[0]} is one half of a pair: a value stands between <!-- = name --> and <!-- / -->.")
    return _INLINE.sub(lambda match: f"<!-- = {match['name']} -->{_part(values, match['name'])}<!-- / -->", text)


def _part(values: Mapping[str, str], name: str) -> str:
    value = _value(values, name)
    if "\n" in value:
        raise MarkerError(f"the value of {name!r} has several lines: mark a block for it.")
    return value


def _value(values: Mapping[str, str], name: str) -> str:
    if name not in values:
        raise MarkerError(f"no value has the name {name!r}, which a marker of the page asks for.")
    return values[name]
