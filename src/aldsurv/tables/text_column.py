"""A column of text that must be numbers, as numbers: fast where all is plain, value by value where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.outcome_columns import is_numeric_text
from aldsurv.errors import DataError
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow
from aldsurv.tables.parse_numbers import settled_numbers

__all__ = ["text_numbers"]

FloatArray = NDArray[np.float64]

_BOOLS = {"true": "1", "True": "1", "TRUE": "1", "false": "0", "False": "0", "FALSE": "0"}


def text_numbers(piece: Any, label: str, decimal: str, gaps: Sequence[str]) -> FloatArray:
    """Numbers (n,), NaN for gaps; yes/no written as true and false is 1 and 0.

    Parameters
    ----------
    piece
        An Arrow array of text.
    label
        What messages call the column.
    decimal
        The decimal mark.
    gaps
        What stands for a gap.

    Raises
    ------
    DataError
        Something is no number; the message has its row in the array.
    """
    # A number may stand for a gap, too.
    plain = decimal == "." and not any(is_numeric_text(gap) for gap in gaps if gap.lower() != "nan")
    found = _cast(piece) if plain else None
    if found is not None:
        return found
    arrow, compute = import_arrow("pyarrow"), import_arrow("pyarrow.compute")
    trimmed = compute.utf8_trim_whitespace(piece)
    missing = compute.is_in(trimmed, value_set=arrow.array(list(gaps)))
    known = compute.if_else(missing, arrow.scalar(None, piece.type), trimmed)
    if decimal == ".":
        found = _cast(known)
    elif not compute.any(compute.match_substring(known, ".")).as_py():
        found = _cast(compute.replace_substring(known, decimal, "."))
    return _one_by_one(known, label, decimal) if found is None else found


def _cast(piece: Any) -> FloatArray | None:
    """Numbers if all of it is; None otherwise."""
    arrow, compute = import_arrow("pyarrow"), import_arrow("pyarrow.compute")
    try:
        values: FloatArray = compute.cast(piece, arrow.float64()).to_numpy(zero_copy_only=False)
    except arrow.ArrowInvalid:
        return None
    return values


def _one_by_one(known: Any, label: str, decimal: str) -> FloatArray:
    builder = ColumnBuilder(known.type, label)
    builder.add(known)
    texts = builder.finish()
    values = np.array([_BOOLS.get(text, text) for text in texts.tolist()], object)
    numbers = settled_numbers(values, label, decimal, mixed=True, place=lambda row: f"row {row}")
    if numbers.dtype != object:
        return numbers
    row = next(row for row, value in enumerate(numbers.tolist()) if isinstance(value, str))
    remedy = (
        "Write it as a plain number."
        if is_numeric_text(str(texts[row]))
        else "Correct it, or leave the field empty if the value is not known."
    )
    raise DataError(f"{label} must be numbers, but row {row} holds the text {str(texts[row])[:60]!r}. {remedy}")
