"""Markdown as a reader sees it: headings, tables, items and texts, by another library."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

markdown = pytest.importorskip("markdown")
KNOWN_TAGS = {"h1", "h2", "h3", "p", "ul", "li", "strong", "table", "thead", "tbody", "tr", "th", "td", "pre", "code"}


class ParsedMarkdown(HTMLParser):
    """The elements of a text of Markdown."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.headings: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.items: list[str] = []
        self.paragraphs: list[str] = []
        self._open: list[list[str]] = []
        self.feed(markdown.markdown(text, extensions=["tables", "fenced_code"]))

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("h1", "h2", "h3", "li", "td", "th", "p"):
            self._open.append([])

    def handle_data(self, data):
        for texts in self._open:
            texts.append(data)

    def handle_endtag(self, tag):
        if tag not in ("h1", "h2", "h3", "li", "td", "th", "p"):
            return
        text = "".join(self._open.pop()).strip()
        if tag in ("td", "th"):
            self.tables[-1][-1].append(text)
        else:
            {"li": self.items, "p": self.paragraphs}.get(tag, self.headings).append(text)

    def item(self, title: str) -> str:
        """The text of the item with that title."""
        (text,) = (each.removeprefix(title).strip() for each in self.items if each.startswith(title))
        return text

    def table(self, *heads: str) -> list[dict[str, str]]:
        """The rows of the only table whose first columns have these heads, by the head."""
        (table,) = (table for table in self.tables if tuple(table[0][: len(heads)]) == heads)
        return [dict(zip(table[0], row, strict=True)) for row in table[1:]]
