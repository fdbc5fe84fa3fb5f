"""A column of text that must be numbers, as numbers: fast where all is plain, value by value where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.frame_columns import is_numeric_text
from aldsurv.errors import DataError
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow
from aldsurv.tables.parse_numbers import parse_numbers

__all__ = ["text_numbers"]

FloatArray = NDArray[np.float64]

_BOOLS = {"true": "1", "True": "1", "TRUE": "1", "false": "0", "False": "0", "FALSE": "0"}


def text_numbers(piece: Any, column: str, decimal: str, gaps: Sequence[str]) -> FloatArray:
    """Numbers (n,), NaN for gaps; yes/no written as true and false is 1 and 0.

    Parameters
    ----------
    piece
        An Arrow array of text.
    column
        The name of the column.
    decimal
        The decimal mark.
    gaps
        What stands for a gap.

    Raises
    ------
    DataError
        A value is not a number; the error has its row in the array.
    """
    # A number may stand for a gap, too.
    plain = decimal == "." and not any(is_numeric_text(gap) for gap in gaps if gap.lower() != "nan")
    numbers = _cast(piece) if plain else None
    if numbers is not None:
        return numbers
    arrow, compute = import_arrow("pyarrow"), import_arrow("pyarrow.compute")
    trimmed = compute.utf8_trim_whitespace(piece)
    missing = compute.is_in(trimmed, value_set=arrow.array(list(gaps)))
    present = compute.if_else(missing, arrow.scalar(None, piece.type), trimmed)
    if decimal == ".":
        numbers = _cast(present)
    elif not compute.any(compute.match_substring(present, ".")).as_py():
        numbers = _cast(compute.replace_substring(present, decimal, "."))
    return _one_by_one(present, column, decimal) if numbers is None else numbers


def _cast(piece: Any) -> FloatArray | None:
    """Numbers if all of it is; None otherwise."""
    arrow, compute = import_arrow("pyarrow"), import_arrow("pyarrow.compute")
    try:
        values: FloatArray = compute.cast(piece, arrow.float64()).to_numpy(zero_copy_only=False)
    except arrow.ArrowInvalid:
        return None
    return values


def _one_by_one(piece: Any, column: str, decimal: str) -> FloatArray:
    builder = ColumnBuilder(piece.type, column)
    builder.add(piece)
    texts = builder.finish()
    values = np.array([_BOOLS.get(text, text) for text in texts.tolist()], object)
    numbers = parse_numbers(values, column, decimal, mixed=True)
    if numbers.dtype != object:
        return numbers
    row = next(row for row, value in enumerate(numbers.tolist()) if isinstance(value, str))
    advice = (
        "Write it as a plain number."
        if is_numeric_text(str(texts[row]))
        else "Correct it, or leave the field empty if the value is not known."
    )
    problem = f"the column must hold numbers, but this is the text {str(texts[row])[:60]!r}"
    raise DataError(problem, column=column, row=row, advice=advice)
