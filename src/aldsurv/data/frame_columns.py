"""Columns of any kind as arrays: values that a user gave, or columns of a frame.

Neither pandas nor polars is imported: `numpy.asarray` reads their columns.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from numbers import Real
from typing import Any, cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.errors import DataError, UnknownNameError
from aldsurv.quoting import quoted

__all__ = [
    "BoolArray",
    "Column",
    "FloatArray",
    "IntArray",
    "column_array",
    "column_names",
    "frame_column",
    "is_missing",
    "is_numeric_text",
    "number_column",
    "require_column",
    "table_names",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

# What is met in place of numbers, by type, and what to do about it. Bools and spans come before the numbers
# because Python and numpy count them among the integers.
_KINDS: tuple[tuple[tuple[type, ...], str, str], ...] = (
    ((bool, np.bool_), "the bool", "If this is the event column, pass it as event."),
    (
        (datetime.timedelta, np.timedelta64),
        "the time span",
        "Divide by one unit of time, such as one day, and give the number.",
    ),
    ((Real, Decimal), "", ""),
    ((str, bytes), "the text", "Give numbers in one unit."),
    (
        (datetime.date, np.datetime64),
        "the date",
        "Subtract the start date and give the difference as a number in one unit, such as days.",
    ),
)


@final
@dataclass(frozen=True, eq=False)
class Column:
    """Values as a user gave them, and what errors say of them.

    Attributes
    ----------
    values
        Anything that `numpy.asarray` reads.
    argument
        The argument they were given as.
    name
        The name or position of the column in a table, if they are one of its columns.
    """

    values: object
    argument: str
    name: str | int | None = None

    def error(self, problem: str, *, row: int | None = None, advice: str = "") -> DataError:
        """An error about these values; the name of the argument is put before the problem."""
        subject = "a column of X" if self.argument == "X" else self.argument
        return DataError(f"{subject} {problem}", argument=self.argument, column=self.name, row=row, advice=advice)


def table_names(table: Any) -> list[Any] | None:
    """Names of the columns of a mapping, a pandas or polars frame or a table of Arrow; None for what has none."""
    if isinstance(table, Mapping):
        return list(table)
    if isinstance(table, (np.ndarray, list, tuple)):
        return None
    if type(table).__module__.split(".")[0] == "pyarrow":
        # There, "columns" are their values.
        return list(getattr(table, "column_names", ())) or None
    names = getattr(table, "columns", None)
    return None if names is None else list(names)


def column_names(frame: object) -> list[Any]:
    """Names of the columns of a frame or a table of Arrow, a mapping of arrays or a structured array."""
    names: Iterable[Any] | None
    if isinstance(frame, np.ndarray):
        names = frame.dtype.names
    else:
        # A lazy frame has no length yet.
        names = table_names(frame) if isinstance(frame, Sized) else None
    if names is None:
        raise DataError(
            f"a frame must have named columns and rows, but {type(frame).__name__} has not",
            argument="frame",
            advice="Give a pandas or polars frame (a lazy one collected), a dict of arrays or a structured array.",
        )
    return list(names)


def frame_column(frame: object, name: object, argument: str) -> Column:
    """The column of a frame that an argument names."""
    require_column(name, column_names(frame), argument)
    values = cast("Mapping[object, object]", frame)[name]
    return Column(values, argument, name if isinstance(name, (str, int)) else str(name))


def require_column(name: object, names: list[Any], argument: str) -> None:
    """Raise `UnknownNameError`, with the names that there are, unless a name is one of them."""
    if name not in names:
        near = get_close_matches(str(name), [str(column) for column in names], n=1, cutoff=0.5)
        hint = f"Did you mean {quoted(near[0])}? " if near else ""
        raise UnknownNameError(
            f"there is no column {quoted(name)}",
            argument=argument,
            suggestion=near[0] if near else None,
            advice=f"{hint}Columns: {listed(names) or 'none'}.",
        )


def column_array(column: Column) -> NDArray[Any]:
    """The values as an array (n,) of whatever type they have; a mask becomes None, text keeps its gaps."""
    values = column.values
    if isinstance(values, np.ma.MaskedArray):
        # numpy.asarray would hand out what lies under the mask.
        mask, objects = np.ma.getmaskarray(values), values.data.astype(object)
        objects[mask] = None
        values = objects
    try:
        raw = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise column.error(f"cannot be read as a column ({error})", advice="Give one value per row.") from None
    if raw.dtype.kind in "US" and isinstance(values, (list, tuple)):
        # Among text numpy writes a missing value as the text "nan" or "None".
        raw = np.array(values, dtype=object)
    if raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if raw.ndim != 1:
        raise column.error(
            f"must be one column, but its shape is {raw.shape} (type {type(values).__name__})",
            advice="Give one value per row.",
        )
    return raw


def number_column(column: Column) -> FloatArray:
    """A fresh float64 column of shape (n,): missing values become NaN, anything else than a number is an error."""
    raw = column_array(column)
    if raw.dtype.kind not in "iuf":
        raw = _numbers_among_objects(raw, column)
    # Adding zero copies, so that nothing the caller does later reaches the data, and turns -0.0 into 0.0.
    fresh: FloatArray = np.add(raw, 0.0, dtype=np.float64)
    return fresh


def _numbers_among_objects(raw: NDArray[Any], column: Column) -> FloatArray:
    items = list(raw) if raw.dtype.kind in "Mm" else raw.tolist()
    missing = [is_missing(item) for item in items]
    kinds = [("", "") if gap else _kind_of(item) for item, gap in zip(items, missing, strict=True)]
    wrong = [row for row, (kind, _) in enumerate(kinds) if kind]
    if wrong:
        row = wrong[0]
        kind, advice = kinds[row]
        value = quoted(items[row] if isinstance(items[row], (bool, bytes, complex)) else str(items[row]))
        count = f"{len(wrong)} of {len(items)} values {'is' if len(wrong) == 1 else 'are'}"
        raise column.error(f"must be numbers, but {count} not, first {kind} {value}", row=row, advice=advice)
    pairs = zip(items, missing, strict=True)
    return np.array([np.nan if gap else float(item) for item, gap in pairs], np.float64)


def _kind_of(item: object) -> tuple[str, str]:
    """What an object is when it is no number, and what to do; both are empty for a number."""
    for types, kind, advice in _KINDS:
        if isinstance(item, types):
            if isinstance(item, str) and is_numeric_text(item):
                return kind, "It looks like a number: convert the column to float first."
            return kind, advice
    return f"the {type(item).__name__}", "Give plain real numbers."


def is_numeric_text(text: str) -> bool:
    """Whether Python would read the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_missing(item: object) -> bool:
    """None, any NaN or NaT, and pandas' NA, which refuses to be compared."""
    try:
        return item is None or bool(item != item)
    except (TypeError, ValueError):
        return True
