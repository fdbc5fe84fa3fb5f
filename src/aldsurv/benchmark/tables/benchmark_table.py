"""A table of a benchmark as a value, independent of the format it is written in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias, final

from aldsurv.errors import ParameterError

__all__ = ["NO_VALUE", "BenchmarkTable", "NumberCell", "TableCell", "format_cell"]

# Shown in place of a missing number.
NO_VALUE = "–"


@final
@dataclass(frozen=True)
class NumberCell:
    """A number in a table.

    Parameters
    ----------
    value
        NaN for a missing number.
    sd
        Standard deviation over runs; None if the number has none, NaN if there are too few runs.
    digits
        Decimals shown in Markdown, LaTeX and HTML; CSV has all of them.
    best
        Whether it is the best of the numbers it is compared with.
    powers
        Whether a value that would be shown as 0 is shown with a power of ten.
    """

    value: float
    sd: float | None = None
    digits: int = 3
    best: bool = False
    powers: bool = False


TableCell: TypeAlias = str | NumberCell


@final
@dataclass(frozen=True)
class BenchmarkTable:
    """Rows of texts and numbers.

    Parameters
    ----------
    name
        Name of its files, without ending.
    title
        Its caption.
    columns
        Names of the columns.
    rows
        One cell per column in each.
    note
        Remarks for readers, in full sentences; ``""`` for none.
    groups
        Number of leading columns whose repeated values are left blank in LaTeX.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    note: str = ""
    groups: int = 0

    def __post_init__(self) -> None:
        for place, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ParameterError(
                    f"rows must have {len(self.columns)} cells, one per column, but row {place} of {self.name} has "
                    f"{len(row)}.",
                    argument="rows",
                )

    @property
    def align(self) -> str:
        """``"l"`` or ``"r"`` for each column: numbers are right-aligned."""
        texts = (all(isinstance(row[k], str) for row in self.rows) for k in range(len(self.columns)))
        return "".join("l" if text else "r" for text in texts)

    @property
    def has_sd(self) -> tuple[bool, ...]:
        """Whether any number of a column has a standard deviation."""
        columns = [[row[k] for row in self.rows] for k in range(len(self.columns))]
        return tuple(any(isinstance(cell, NumberCell) and cell.sd is not None for cell in column) for column in columns)

    def shown_rows(self) -> list[tuple[TableCell, ...]]:
        """Rows whose leading cells are blank where they repeat the row above."""
        shown: list[tuple[TableCell, ...]] = []
        above: tuple[TableCell, ...] = ()
        for row in self.rows:
            same = 0
            while same < self.groups and above and row[same] == above[same]:
                same += 1
            shown.append(("",) * same + row[same:])
            above = row
        return shown


def format_cell(cell: TableCell) -> str:
    """The text of a cell in Markdown, LaTeX and HTML.

    Examples
    --------
    >>> format_cell(NumberCell(0.65312, 0.01449)), format_cell(NumberCell(float("nan"))), format_cell("ALD")
    ('0.653 ± 0.014', '–', 'ALD')
    """
    if isinstance(cell, str):
        return cell
    if math.isnan(cell.value):
        return NO_VALUE
    text = _rounded(cell.value, cell)
    return text if cell.sd is None or math.isnan(cell.sd) else f"{text} ± {_rounded(cell.sd, cell)}"


def _rounded(value: float, cell: NumberCell) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{cell.digits}f}"
    # Beyond six digits the size is easier to read as a power of ten.
    if abs(value) >= 1e6 or (cell.powers and value and not float(text)):
        text = f"{value:.1e}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")
