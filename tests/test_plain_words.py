"""The text of the project is in the words of the field: docs/style.md has the glossary, this file what is not written.

Comments, docstrings and messages of the package, its scripts, and all pages are read; names in code are not.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
SOURCES = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".js", ".html"))
_RATE = "row|member|person|fit|model|subject|batch|column"
# Each with what is written instead, which the failure shows. "tell apart" and "tell from" are plain English.
BANNED = {
    r"\btold\b(?! apart)": "given, said",
    r"\btell(s|ing)?\b(?=( the| us| you| it)? (little|less|more|how|when|of|nothing|enough|in which|what|whether)\b)": (
        "shows, gives, determines"
    ),
    r"\bhabits?\b": "conventions",
    r"\banew\b": "again",
    r"\bwhoever\b": "the reader, the caller",
    r"\bstrangers?\b": "untrusted",
    r"\bc(omes|ame) to (?!an? |its |be |the end)": "equals, amounts to",
    r"\bwhat (came|stands) of\b|\bof it holds\b": "results, which results reproduce",
    r"\bbut for\b": "except for",
    r"\bno use with\b": "cannot be combined with",
    r"\bhas begun\b": "was started",
    r"\bby lot\b": "at random",
    r"\breckon(s|ed)?\b": "compute, count",
    r"\bflatters?\b": "is optimistic",
    rf"\b(one|two|\d+|seconds?|bytes?|numbers?|seeds?) a ({_RATE})\b": "per row, per member, per fit",
    r"\b(rows?|people|persons?) held out\b(?! (of|by|for)\b)": "held-out people, held-out rows",
    r"\bheads? of (their|its) own\b": "separate heads",
    r"\bknow(s|ing)? nothing\b": "no skill, no information",
    r"\b(model|command|function|library|page)s? (believe|want|think|like)s\b": "what it does, without a person",
}
PATTERN = re.compile("|".join(BANNED).replace(" ", r"\s"), re.IGNORECASE)
# An idiom may be broken by the end of a line, and of a comment's line.
_LINE_BREAK = re.compile(r"[ \t]*\n[ \t]*(?:#|//|\*)?[ \t]*")
# The glossary names the words themselves.
_QUOTED = re.compile(r"<!-- old words -->.*?<!-- end old words -->", re.DOTALL)
_CODE = re.compile(r"^```.*?^```$|``?[^`\n]+``?", re.MULTILINE | re.DOTALL)


def page_text(text: str) -> str:
    """A page without code and without the lists of words not to write, in lines that stay where they were."""
    for pattern in (_QUOTED, _CODE):
        text = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    return text


def python_text(source: str) -> Iterator[tuple[int, str]]:
    """Comments and strings of a module, with their first lines."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE"):
            yield token.start[0], token.string


def idioms(path: Path, text: str) -> list[str]:
    """Banned words of a file, each with its line and what to write."""
    parts: list[tuple[int, str]] = [(1, page_text(text) if path.suffix == ".md" else text)]
    # Most modules have none, not even in code: those need not be taken apart.
    if path.suffix == ".py" and PATTERN.search(_LINE_BREAK.sub("\n", text)):
        parts = list(python_text(text))
    return [
        f"{path.name}:{first + lines.count(chr(10), 0, match.start())} {match[0]!r}: write {instead(match[0])}"
        for first, part in parts
        for lines in [_LINE_BREAK.sub("\n", part)]
        for match in PATTERN.finditer(lines)
    ]


def instead(words: str) -> str:
    """What to write in place of some words."""
    texts = (text for pattern, text in BANNED.items() if re.match(pattern.replace(" ", r"\s"), words, re.IGNORECASE))
    return next(texts, "what docs/style.md has")


def test_pages_are_in_plain_english():
    assert [hit for path in PAGES for hit in idioms(path, path.read_text(encoding="utf-8"))] == []


def test_comments_docstrings_and_messages_are_in_plain_english():
    assert [hit for path in SOURCES for hit in idioms(path, path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.md", "It was told\nto.", 1),
        ("a.md", "`told` and\n```\ntold\n```\n<!-- old words -->told<!-- end old words -->", 0),
        ("a.py", 'def told():\n    """Numbers a\n    row, by lot."""\n    # anew\n    return "a stranger"', 4),
        ("a.py", "position = file.tell()  # where a column tells causes apart", 0),
        ("a.py", "# on rows held out, not on rows held out by hash", 1),
        ("a.js", "// it comes\n// to 3", 1),
        ("a.js", "/* it comes to an end */", 0),
    ],
)
def test_words_are_found_where_they_are_text(name, text, count):
    assert len(idioms(Path(name), text)) == count
