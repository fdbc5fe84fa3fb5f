"""Tables of a benchmark: written to files, and as tables of the page."""

from __future__ import annotations

import re
from pathlib import Path

from aldsurv.benchmark.tables import BenchmarkTable, NumberCell, TableCell, format_cell, to_csv, to_latex, to_markdown
from aldsurv.files.writing import write_text
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["page_table", "write_table"]

_WRITERS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}
# Shorter tables need no filters.
_ROWS_TO_FILTER = 30
# Characters of a cell that breaks into lines.
_LONG_TEXT = 45


def write_table(table: BenchmarkTable, folder: Path) -> PageTable:
    """Write a table as CSV, Markdown and LaTeX into ``folder/tables``; returns it for the page in ``folder``.

    Parameters
    ----------
    table, folder
        The table, and an existing folder.
    """
    files = []
    for ending, text_of in _WRITERS.items():
        files.append(f"tables/{table.name}.{ending}")
        write_text(folder / files[-1], text_of(table))
    return page_table(table, files=tuple(files))


def page_table(table: BenchmarkTable, *, files: tuple[str, ...] = ()) -> PageTable:
    """A table of a benchmark as a table of a page."""
    long = len(table.rows) > _ROWS_TO_FILTER
    taken: set[str] = set()
    columns = []
    for title, align in zip(table.columns, table.align, strict=True):
        numeric = align == "r"
        columns.append(PageColumn(_key(title, taken), title, numeric=numeric, filtered=long and not numeric))
    rows = tuple(tuple(_cell(cell) for cell in row) for row in table.rows)
    return PageTable(table.name, table.title, tuple(columns), rows, about=table.note, files=files)


def _cell(cell: TableCell) -> PageCell:
    if isinstance(cell, NumberCell):
        return PageCell(format_cell(cell), cell.value, "best" if cell.best else "")
    return PageCell(cell, tone="wraps" if len(cell) > _LONG_TEXT else "")


def _key(title: str, taken: set[str]) -> str:
    """A key for the address, different from those of the columns before it."""
    base = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_") or "column"
    key, number = base, 1
    while key in taken:
        number += 1
        key = f"{base}_{number}"
    taken.add(key)
    return key
