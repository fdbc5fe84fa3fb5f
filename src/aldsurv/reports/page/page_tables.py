"""Tables of a page: complete without a script; with it they can be sorted and filtered."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from aldsurv.errors import ParameterError
from aldsurv.reports.page.page import Block

__all__ = ["PageCell", "PageColumn", "PageTable", "csv_text"]


@final
@dataclass(frozen=True)
class PageColumn:
    """A column.

    Parameters
    ----------
    key
        Its name in the address of the page and in CSV.
    title
        Its heading.
    numeric
        Whether it is sorted by the values of its cells instead of their text.
    filtered
        Whether readers can filter by its texts.
    meaning
        Explanation of the heading.
    """

    key: str
    title: str
    numeric: bool = False
    filtered: bool = False
    meaning: str = ""


@final
@dataclass(frozen=True)
class PageCell:
    """A cell.

    Parameters
    ----------
    text
        The text shown.
    value
        The number that a numeric column is sorted by; None or NaN where there is none: these come last.
    tone
        ``"good"``, ``"bad"``, ``"best"``, ``"wraps"`` (long text), or several with spaces between; never the only
        sign of what the cell means.
    name
        Its name in the address of the page and in CSV, if that is not the text.
    link
        Anchor of the section that the text leads to; empty for none.
    """

    text: str
    value: float | None = None
    tone: str = ""
    name: str = ""
    link: str = ""

    @property
    def number(self) -> str:
        """The value as JavaScript reads it; empty if there is none."""
        # Nine digits keep long tables small; the CSV files have all.
        return "" if self.value is None or math.isnan(self.value) else f"{self.value:.9g}".replace("inf", "Infinity")


@final
@dataclass(frozen=True)
class PageTable(Block):
    """A table.

    Parameters
    ----------
    name
        Unique in the page; letters, digits, hyphens and underscores.
    caption
        Its title.
    columns, cells
        Its columns, and rows of one cell per column.
    about
        How to read it.
    files
        Files with the same table, relative to the page.
    main
        Whether settings in the address of the page that name no table are for this one.
    """

    template: ClassVar[str] = "table.html"
    name: str
    caption: str
    columns: tuple[PageColumn, ...]
    cells: tuple[tuple[PageCell, ...], ...]
    about: str = ""
    files: tuple[str, ...] = ()
    main: bool = False

    def __post_init__(self) -> None:
        for place, row in enumerate(self.cells):
            if len(row) != len(self.columns):
                needed = f"cells of table {self.name!r} must be {len(self.columns)} per row"
                raise ParameterError(f"{needed}, but row {place} has {len(row)}.", argument="cells")

    @property
    def rows(self) -> Sequence[Sequence[tuple[PageColumn, PageCell]]]:
        """Rows of columns with their cells."""
        return [list(zip(self.columns, row, strict=True)) for row in self.cells]


def csv_text(table: PageTable) -> str:
    """A table as CSV: names instead of titles, numbers with all digits, empty fields for missing ones."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([column.key for column in table.columns])
    for row in table.rows:
        writer.writerow([_all_digits(cell) if column.numeric else cell.name or cell.text for column, cell in row])
    return file.getvalue()


def _all_digits(cell: PageCell) -> str:
    return "" if cell.value is None or math.isnan(cell.value) else repr(cell.value)
