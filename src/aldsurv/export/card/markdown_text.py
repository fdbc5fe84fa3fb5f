"""Text of users in Markdown: it stays text, whatever characters it has."""

from __future__ import annotations

import re

from aldsurv.quoting import printable

__all__ = ["code_block", "markdown_cell", "markdown_text"]

# Entities, where a backslash is not understood by every reader of Markdown.
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "~": "&#126;", "$": "&#36;"}
# Underscores within a word are not emphasis, and names of settings are full of them.
_SPECIAL = re.compile(r"[\\`*\[\]]|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_])")
# What makes a line a heading, an item of a list or a rule.
_START = re.compile(r"^(#|[-+=](?=[-+=\s]|$)|\d+(?=[.)](?:\s|$)))")


def markdown_text(text: object) -> str:
    """A text in one line, with every character as it is."""
    line = " ".join(printable(" ".join(str(text).split())).split())
    line = re.sub("[&<>~$]", lambda match: _ENTITIES[match[0]], _escaped(line))
    start = _START.match(line)
    if start is None:
        return line
    at = start.end() if start[0].isdigit() else 0
    # A backslash before the equals sign would be shown.
    return f"&#61;{line[1:]}" if line[at] == "=" else f"{line[:at]}\\{line[at:]}"


def markdown_cell(text: object) -> str:
    """The same in a table, where a pipe would end the cell."""
    return markdown_text(text).replace("|", "\\|")


def code_block(text: str) -> str:
    """Lines as they are, between fences that they do not hold."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = [printable(line) for line in text.splitlines()]
    return "\n".join([fence, *lines, fence])


def _escaped(line: str) -> str:
    return _SPECIAL.sub(lambda match: "".join(f"\\{letter}" for letter in match[0]), line)
