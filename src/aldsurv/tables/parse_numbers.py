"""Text that was meant as numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError

__all__ = ["settled_numbers"]

_PLAIN = re.compile(
    r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)\s*"
)
# Thousands set apart by a point, a comma, an apostrophe or a space, and numbers with either decimal mark.
_MARKED = re.compile(
    r"\s*[+-]?([0-9]{1,3}([.,' \u00a0\u202f\u2019][0-9]{3})+([.,][0-9]+)?|[0-9]*[.,][0-9]+([eE][+-]?[0-9]+)?)\s*"
)


def settled_numbers(
    values: NDArray[Any], label: str, decimal: str, *, mixed: bool, place: Callable[[int], str]
) -> NDArray[Any]:
    """A column of text as it is, or as numbers if all of it is.

    Parameters
    ----------
    values
        Text or bools, and None for gaps.
    label
        What messages call the column.
    decimal
        The decimal mark of the file.
    mixed
        Make numbers of those that are some, and leave the others as they are.
    place
        How messages call a row.

    Raises
    ------
    DataError
        All of it is numbers, but some with marks that have no meaning here.
    """
    known: dict[Any, Any] = {None: np.nan}
    marked = None
    for text in values.tolist():
        if text in known:
            continue
        if not isinstance(text, str):
            return values
        written = text if decimal == "." else text.replace(".", "_").replace(decimal, ".")
        if _PLAIN.fullmatch(written):
            known[text] = float(written)
        elif _MARKED.fullmatch(text):
            marked, known[text] = marked or text, text
        elif mixed:
            known[text] = text
        else:
            return values
    if marked is not None and not (mixed and any(_is_word(value) for value in known.values())):
        row = int(np.flatnonzero(values == marked)[0])
        raise DataError(
            f"{label} has numbers with marks that decimal={decimal!r} does not explain (first: {place(row)}, "
            f"{marked[:60]!r}). Remove marks of thousands, say by decimal which mark is for decimals, or list the "
            "column in categorical if these are codes."
        )
    if any(isinstance(value, str) for value in known.values()):
        known[None] = None
        return np.array([known[text] for text in values.tolist()], object)
    return np.array([known[text] for text in values.tolist()], np.float64)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and not _MARKED.fullmatch(value)
