"""Cells of an Excel file as text, and columns of them in the type that they have in common."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any

from aldsurv.tables.arrow_columns import import_arrow
from aldsurv.tables.parse_numbers import is_plain_number
from aldsurv.tables.text_file import MISSING

__all__ = ["GAPS", "cell_text", "is_gap", "typed_column"]

# What Excel shows in place of a value that it cannot compute.
GAPS = frozenset(
    (*MISSING, "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#GETTING_DATA")
)
# A number such as 007 is written as text on purpose.
_LEADING_ZERO = re.compile(r"\s*[+-]?0[0-9]")
_MOST_DIGITS = 1e15
_LARGEST_INTEGER = 1 << 62


def is_gap(cell: object) -> bool:
    """Whether a cell holds nothing, an error, or text that stands for a gap in text files, too."""
    return cell is None or (isinstance(cell, str) and cell.strip() in GAPS)


def cell_text(cell: object, decimal: str) -> str | None:
    """A cell as Excel would show it in a text file; None if it holds nothing."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        whole = cell.is_integer() and abs(cell) < _MOST_DIGITS
        return str(int(cell)) if whole else repr(cell).replace(".", decimal)
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, (datetime.date, datetime.time)) else str(cell)


def typed_column(cells: Sequence[object], decimal: str, *, as_text: bool) -> Any:
    """An Arrow array of numbers, bools, dates or time spans where all cells are such, else of text.

    Numbers that are stored as text are numbers, unless some have leading zeros, as codes have: these are categories.

    Parameters
    ----------
    cells
        What openpyxl gives.
    decimal
        The decimal mark of numbers that are stored as text.
    as_text
        Give text whatever the cells are.
    """
    arrow = import_arrow("pyarrow")
    present: list[Any] = [None if is_gap(cell) else cell for cell in cells]
    types = {type(cell) for cell in present} - {type(None)}
    if not as_text:
        texts = {cell for cell in present if isinstance(cell, str)}
        if texts and types <= {str, int, float} and all(is_plain_number(text, decimal) for text in texts):
            if any(map(_LEADING_ZERO.match, texts)):
                codes = [cell_text(cell, decimal) for cell in present]
                return arrow.array(codes, arrow.string()).dictionary_encode()
            present = [float(cell.replace(decimal, ".")) if isinstance(cell, str) else cell for cell in present]
            types = {int, float}
        if not types:
            return arrow.nulls(len(present), arrow.float64())
        if types == {int} and all(cell is None or abs(cell) < _LARGEST_INTEGER for cell in present):
            return arrow.array(present, arrow.int64())
        if types <= {int, float}:
            return arrow.array([None if cell is None else float(cell) for cell in present], arrow.float64())
        if types == {bool}:
            return arrow.array(present, arrow.bool_())
        if types <= {datetime.datetime, datetime.date}:
            return arrow.array(present, arrow.timestamp("us"))
        if types == {datetime.timedelta}:
            return arrow.array(present, arrow.duration("us"))
    return arrow.array([cell_text(cell, decimal) for cell in present], arrow.string())
