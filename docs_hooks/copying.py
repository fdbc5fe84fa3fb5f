"""A hook of mkdocs: what the copy button of a session copies is its input, without prompts and output."""

from __future__ import annotations

import html
import re
from typing import Any

_BLOCK = re.compile(r'<div class="([^"]*\bhighlight\b[^"]*)">(<pre>.*?</pre>)</div>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


def on_page_content(content: str, **_: Any) -> str:
    """Name what to copy in blocks that have prompts."""
    return _BLOCK.sub(_with_copy, content)


def _with_copy(match: re.Match[str]) -> str:
    lines = typed(html.unescape(_TAG.sub("", match[2])))
    if not lines:
        return match[0]
    text = html.escape("\n".join(lines), quote=True).replace("\n", "&#10;")
    return f'<div class="{match[1]}" data-copy="{text}">{match[2]}</div>'


def typed(session: str) -> list[str]:
    """The lines after the prompts of Python, or of a shell."""
    lines = session.splitlines()
    if any(line.startswith(">>> ") for line in lines):
        return [line[4:] for line in lines if re.match(r"(>>>|\.\.\.)( |$)", line)]
    return [line[2:] for line in lines if line.startswith("$ ")]
