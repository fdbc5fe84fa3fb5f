"""A table as a value: what it says, before it is known where it will be read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias, final

from aldsurv.errors import ParameterError

__all__ = ["NOT_THERE", "Cell", "Number", "Table", "cell_text"]

NOT_THERE = "–"


@final
@dataclass(frozen=True)
class Number:
    """A number in a table.

    Parameters
    ----------
    value
        NaN where there is none.
    sd
        Standard deviation over runs; None if it has none, NaN if there are too few runs.
    digits
        Decimals shown to readers; CSV has all of them.
    best
        Whether it is the best of those it is compared with.
    powers
        Whether a value that would be shown as 0 is shown with a power of ten.
    """

    value: float
    sd: float | None = None
    digits: int = 3
    best: bool = False
    powers: bool = False


Cell: TypeAlias = str | Number


@final
@dataclass(frozen=True)
class Table:
    """Rows of texts and numbers.

    Parameters
    ----------
    name
        For files: a word.
    title
        For readers.
    columns
        Names of the columns.
    rows
        As many cells each as there are columns.
    note
        What readers should know, in full sentences; ``""`` for nothing.
    groups
        Number of leading columns whose repetition from row to row may be left out where people read.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    groups: int = 0

    def __post_init__(self) -> None:
        for place, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ParameterError(
                    f"rows must have {len(self.columns)} cells, one a column, but row {place} of {self.name} has "
                    f"{len(row)}."
                )

    @property
    def align(self) -> str:
        """``"l"`` or ``"r"`` for each column: numbers are set flush right."""
        texts = (all(isinstance(row[k], str) for row in self.rows) for k in range(len(self.columns)))
        return "".join("l" if text else "r" for text in texts)

    @property
    def has_sd(self) -> tuple[bool, ...]:
        """Whether any number of a column has a standard deviation."""
        columns = [[row[k] for row in self.rows] for k in range(len(self.columns))]
        return tuple(any(isinstance(cell, Number) and cell.sd is not None for cell in column) for column in columns)

    def shown_rows(self) -> list[tuple[Cell, ...]]:
        """Rows in which the leading cells that repeat those above are empty."""
        shown: list[tuple[Cell, ...]] = []
        above: tuple[Cell, ...] = ()
        for row in self.rows:
            same = 0
            while same < self.groups and above and row[same] == above[same]:
                same += 1
            shown.append(("",) * same + row[same:])
            above = row
        return shown


def cell_text(cell: Cell) -> str:
    """A cell as readers see it.

    Examples
    --------
    >>> cell_text(Number(0.65312, 0.01449)), cell_text(Number(float("nan"))), cell_text("ALD")
    ('0.653 ± 0.014', '–', 'ALD')
    """
    if isinstance(cell, str):
        return cell
    if math.isnan(cell.value):
        return NOT_THERE
    text = _rounded(cell.value, cell)
    return text if cell.sd is None or math.isnan(cell.sd) else f"{text} ± {_rounded(cell.sd, cell)}"


def _rounded(value: float, cell: Number) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{cell.digits}f}"
    # A long row of digits hides the size.
    if abs(value) >= 1e6 or (cell.powers and value and not float(text)):
        text = f"{value:.1e}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")
