"""Text that was meant as numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError

__all__ = ["is_plain_number", "parse_numbers"]

_PLAIN = re.compile(
    r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)\s*"
)
# Thousands set apart by a point, a comma, an apostrophe or a space, and numbers with either decimal mark.
_MARKED = re.compile(
    r"\s*[+-]?([0-9]{1,3}([.,' \u00a0\u202f\u2019][0-9]{3})+([.,][0-9]+)?|[0-9]*[.,][0-9]+([eE][+-]?[0-9]+)?)\s*"
)


def parse_numbers(values: NDArray[Any], column: str, decimal: str, *, mixed: bool) -> NDArray[Any]:
    """A column of text as it is, or as numbers if all of it is.

    Parameters
    ----------
    values
        Text or bools, and None for gaps.
    column
        The name of the column.
    decimal
        The decimal mark of the file.
    mixed
        Make numbers of those that are some, and leave the others as they are.

    Raises
    ------
    DataError
        All of it is numbers, but some with marks that have no meaning here.
    """
    readings: dict[Any, Any] = {None: np.nan}
    marked = None
    for text in values.tolist():
        if text in readings:
            continue
        if not isinstance(text, str):
            return values
        if is_plain_number(text, decimal):
            readings[text] = float(text.replace(decimal, "."))
        elif _MARKED.fullmatch(text):
            marked, readings[text] = marked or text, text
        elif mixed:
            readings[text] = text
        else:
            return values
    if marked is not None and not (mixed and any(_is_word(value) for value in readings.values())):
        row = int(np.flatnonzero(values == marked)[0])
        raise DataError(
            f"numbers must have {'a point' if decimal == '.' else 'a comma'} before decimals and no other mark, but "
            f"this is {marked[:60]!r}",
            argument="decimal",
            column=column,
            row=row,
            advice="Remove marks of thousands, say by decimal which mark is for decimals, or list the column in "
            "categorical if these are codes.",
        )
    if any(isinstance(value, str) for value in readings.values()):
        readings[None] = None
        return np.array([readings[text] for text in values.tolist()], object)
    return np.array([readings[text] for text in values.tolist()], np.float64)


def is_plain_number(text: str, decimal: str) -> bool:
    """Whether a text is a number with this decimal mark, and no mark of thousands."""
    written = text if decimal == "." else text.replace(".", "_").replace(decimal, ".")
    return _PLAIN.fullmatch(written) is not None


def _is_word(value: object) -> bool:
    return isinstance(value, str) and not _MARKED.fullmatch(value)
