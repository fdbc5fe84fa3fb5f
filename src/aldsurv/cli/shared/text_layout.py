"""Lines of text that fit the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

from aldsurv.quoting import printable

__all__ = ["join_names", "paragraph", "printable", "screen_width", "two_columns", "wrapped"]

_WIDEST, _NARROWEST = 80, 20


def screen_width() -> int:
    """Columns to write in: those of the terminal, at most 80."""
    return max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))


def wrapped(text: str, width: int, *, indent: int = 0) -> list[str]:
    """A text in lines of at most that width, those after the first indented."""
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent=" " * indent, break_on_hyphens=False) or [""]


def paragraph(text: str, *, indent: str = "") -> str:
    """A text in lines that fit the terminal, all of them indented."""
    return textwrap.fill(text, screen_width(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def join_names(names: Sequence[str]) -> str:
    """Names as in a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def two_columns(rows: Sequence[tuple[str, str]], width: int, *, indent: int = 2) -> list[str]:
    """Names and a text about each, side by side.

    Parameters
    ----------
    rows
        Name and text.
    width
        Of the screen. Names take at most two fifths of it; longer ones are cut.
    indent
        Spaces before each name.
    """
    most = max(8, 2 * (width - indent) // 5)
    names = [name if len(name) <= most else f"{name[: most - 1]}…" for name, _ in rows]
    start = indent + max(map(len, names), default=0) + 2
    lines = []
    for name, (_, text) in zip(names, rows, strict=True):
        first, *more = textwrap.wrap(text, max(width - start, 8), break_on_hyphens=False) or [""]
        lines.append(f"{' ' * indent}{name:<{start - indent}}{first}".rstrip())
        lines += [f"{' ' * start}{line}" for line in more]
    return lines
