"""Tables of a page: whole without a script, sorted and filtered with one."""

from __future__ import annotations

import csv
import io
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
        Its name in the address of the page.
    title
        Its heading.
    numeric
        Whether it is sorted by the values of its cells, and not by their text.
    filtered
        Whether readers may choose among its texts.
    meaning
        What the heading stands for, if that needs more words.
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
        What is shown.
    value
        What a numeric column is sorted by; None or NaN where there is no number: these come last.
    tone
        ``"good"``, ``"bad"``, ``"best"``, ``"wraps"`` (long text), or several with spaces between; never the only
        sign of what the cell says.
    name
        What the address of the page and saved rows call it, if that is not the text.
    """

    text: str
    value: float | None = None
    tone: str = ""
    name: str = ""

    @property
    def number(self) -> str:
        """The value as JavaScript reads it; empty if there is none."""
        # Further digits would make a long table longer still, and files have them.
        return "" if self.value is None or self.value != self.value else f"{self.value:.9g}".replace("inf", "Infinity")


@final
@dataclass(frozen=True)
class PageTable(Block):
    """A table.

    Parameters
    ----------
    name
        Unique in the page; letters, digits, hyphens and underscores.
    caption
        What it shows.
    columns, rows
        Its cells; every row has one for each column.
    about
        How to read it.
    files
        Where the same table is as a file, relative to the page.
    main
        Whether the address of the page speaks of this table where it names none.
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
                raise ParameterError(
                    f"cells of table {self.name!r} must have {len(self.columns)} a row, but row {place} has {len(row)}."
                )

    @property
    def rows(self) -> Sequence[Sequence[tuple[PageColumn, PageCell]]]:
        """Each row's cells with their columns."""
        return [list(zip(self.columns, row, strict=True)) for row in self.cells]


def csv_text(table: PageTable) -> str:
    """A table for a file: names instead of titles, numbers with all their digits, nothing where there is none."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([column.key for column in table.columns])
    for row in table.rows:
        writer.writerow([_plain(cell) if column.numeric else cell.name or cell.text for column, cell in row])
    return file.getvalue()


def _plain(cell: PageCell) -> str:
    return "" if cell.value is None or cell.value != cell.value else repr(cell.value)
