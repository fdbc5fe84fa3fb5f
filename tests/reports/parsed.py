"""A page as its reader meets it: tables, scripts, names and addresses, read by Python's own parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class ParsedCell:
    attributes: dict[str, str | None]
    text: str = ""

    @property
    def value(self) -> float | None:
        found = self.attributes.get("data-v")
        return None if found is None else float(found)

    @property
    def name(self) -> str:
        return self.attributes.get("data-k") or self.text


@dataclass
class ParsedTable:
    attributes: dict[str, str | None]
    caption: str = ""
    heads: list[ParsedCell] = field(default_factory=list)
    rows: list[list[ParsedCell]] = field(default_factory=list)
    hidden: list[bool] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        return [head.attributes["data-key"] or "" for head in self.heads]

    def records(self) -> list[dict[str, ParsedCell]]:
        """Rows that are shown, by key."""
        shown = (row for row, hidden in zip(self.rows, self.hidden, strict=True) if not hidden)
        return [dict(zip(self.keys, row, strict=True)) for row in shown]


class ParsedPage(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, ParsedTable] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._table: ParsedTable | None = None
        self._cell: ParsedCell | None = None
        self._inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag in ("script", "style", "caption"):
            self._inside = tag
            {"script": self.scripts, "style": self.styles}.get(tag, []).append("")
        elif tag == "table":
            self._table = self.tables[found["data-name"] or ""] = ParsedTable(found)
        elif self._table is not None and tag == "tr":
            self._table.rows.append([])
            self._table.hidden.append("hidden" in found)
        elif self._table is not None and tag in ("td", "th"):
            self._cell = ParsedCell(found)
            (self._table.heads if "data-key" in found else self._table.rows[-1]).append(self._cell)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = None
        elif tag == "thead" and self._table is not None:
            self._table.rows.pop()
            self._table.hidden.pop()
        elif tag == "table":
            self._table = None
        elif tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside == "style":
            self.styles[-1] += data
        elif self._inside == "caption" and self._table is not None:
            self._table.caption += data
        elif self._cell is not None:
            self._cell.text += data
        else:
            self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        """All values of an attribute."""
        return [found[attribute] or "" for _, found in self.tags if attribute in found]
