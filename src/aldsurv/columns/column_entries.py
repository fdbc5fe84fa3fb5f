"""Entries of a column of covariates: which kinds there are, and their numbers or levels.

No message shows more than a short piece of an entry.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sized
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.frame_columns import is_numeric_text
from aldsurv.errors import DataError
from aldsurv.quoting import quoted

__all__ = [
    "ColumnKey",
    "Level",
    "NotPlainError",
    "covariate_error",
    "distinct_levels",
    "entry_kinds",
    "format_value",
    "level_order",
    "quoted_value",
    "read_numbers",
]

# The name of a column, or its position where columns have no names.
ColumnKey: TypeAlias = str | int
Level: TypeAlias = str | int | float | bool
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_REFUSED: dict[str, tuple[str, str]] = {
    "date": ("the date", "Subtract a start date and give the difference as a number in one unit, such as days."),
    "span": ("the time span", "Divide by one unit of time, such as one day, and give the number."),
    "bytes": ("the bytes", "Decode them to text first."),
}
_REFUSED_DTYPES = {"M": "date", "m": "span", "S": "bytes"}


class NotPlainError(DataError, TypeError):
    """An entry or a name of a type that has no meaning here; also a TypeError, as in scikit-learn."""


def covariate_error(problem: str, column: ColumnKey, row: int | None = None, advice: str = "") -> DataError:
    """An error about the values of a column of covariates."""
    return DataError(problem, argument="X", column=column, row=row, advice=advice)


def entry_kinds(raw: NDArray[Any], column: ColumnKey) -> set[str]:
    """What a column holds, out of "number", "text" and "gap"; everything else is refused."""
    if raw.dtype.kind in "biuf":
        return {"number"}
    if raw.dtype.kind in "UT":
        return {"text"}
    if raw.dtype.kind == "c":
        raise _complex_error(column)
    if raw.dtype.kind in _REFUSED_DTYPES:
        raise _kind_error(column, _REFUSED_DTYPES[raw.dtype.kind], 0, raw[0])
    items = raw.tolist()
    kinds = _kinds_of_types(items)
    allowed = {"number", "text", "gap"}
    if not set(kinds.values()) <= allowed:
        row = next(row for row, item in enumerate(items) if kinds[type(item)] not in allowed)
        raise _kind_error(column, kinds[type(items[row])], row, items[row])
    return set(kinds.values())


def _kinds_of_types(items: list[Any]) -> dict[type, str]:
    """What each type among the entries is, from one entry of it: a look at every entry would be slow."""
    samples = dict(zip(map(type, items), items, strict=True))
    return {entry_type: _kind(sample) for entry_type, sample in samples.items()}


def _kind(item: object) -> str:
    """What an entry is; the same for all entries of its type, except for NaN, which counts as a number here."""
    if isinstance(item, str):
        return "text"
    if isinstance(item, (datetime.timedelta, np.timedelta64)):  # numpy counts the latter among the integers
        return "span"
    if isinstance(item, (Real, Decimal, np.bool_)):
        return "number"
    if isinstance(item, Complex):
        return "complex"
    if isinstance(item, bytes):
        return "bytes"
    if isinstance(item, (datetime.time, np.datetime64)):
        return "date"
    if item is None or (not isinstance(item, Sized) and _differs_from_itself(item)):
        return "gap"
    return "date" if isinstance(item, datetime.date) else "other"


def _differs_from_itself(item: object) -> bool:
    """True for NaT, and for pandas' NA, which refuses to be compared."""
    try:
        return bool(item != item)
    except TypeError:
        return True


def _kind_error(column: ColumnKey, kind: str, row: int, item: object) -> DataError:
    if kind == "complex":
        return _complex_error(column)
    if kind in _REFUSED:
        what, advice = _REFUSED[kind]
        problem = f"covariates must be numbers or text, but this is {what} {format_value(item)}"
        return covariate_error(problem, column, row, advice)
    return NotPlainError(
        f"covariates must be numbers or text, but this is {format_value(item)} of type {type(item).__name__} "
        "(an argument must be a string or a number)",
        argument="X",
        column=column,
        row=row,
        advice="Give one plain value per row, such as its text.",
    )


def _complex_error(column: ColumnKey) -> DataError:
    return covariate_error(
        "Complex data not supported: covariates hold complex numbers", column, None, "Give real numbers."
    )


def read_numbers(raw: NDArray[Any], column: ColumnKey) -> FloatArray:
    """A fresh float64 column, NaN where there is a gap; text and infinite values are refused."""
    kinds = entry_kinds(raw, column)
    if "text" in kinds:
        items = raw.tolist()
        texts = [row for row, item in enumerate(items) if isinstance(item, str)]
        # One bad value turns the numbers beside it into text, too, where a table was read: it is the one to name.
        row = next((row for row in texts if not is_numeric_text(items[row])), texts[0])
        advice = (
            "Convert the column to numbers first." if is_numeric_text(items[row]) else "Put a gap (NaN) in its place."
        )
        problem = f"the column held numbers in training, but now holds the text {quoted_value(items[row])}"
        raise covariate_error(problem, column, row, advice)
    if raw.dtype.kind == "O":
        raw = _float_objects(raw.tolist(), column)
    values = np.array(raw, np.float64)
    if not (np.isfinite(values.min()) and np.isfinite(values.max())) and np.isinf(values).any():
        raise _infinite_error(column, np.isinf(values), values)
    return values


def _float_objects(items: list[Any], column: ColumnKey) -> FloatArray:
    kinds = _kinds_of_types(items)
    # numpy reads None as NaN.
    items = [None if kinds[type(item)] == "gap" else item for item in items]
    try:
        return np.array(items, np.float64)
    except (OverflowError, ValueError):
        row = next(row for row, item in enumerate(items) if item is not None and math.isinf(_float(item)))
    raise covariate_error(
        f"covariates must be finite, but no float can hold {format_value(items[row])}",
        column,
        row,
        "Rescale the column or put a gap (NaN) there.",
    )


def _float(item: Any) -> float:
    """A number as a float, infinite where no float can hold it."""
    try:
        return float(item)
    except (OverflowError, ValueError):
        return math.inf


def _infinite_error(column: ColumnKey, infinite: BoolArray, values: NDArray[Any]) -> DataError:
    row, count = int(np.argmax(infinite)), int(infinite.sum())
    are_not = f"{count} of {infinite.size} values {'is' if count == 1 else 'are'} not"
    return covariate_error(
        f"covariates must be finite, but {are_not}, first {float(values[row])}",
        column,
        row,
        "Put NaN where a value is not known, or correct those rows.",
    )


def distinct_levels(raw: NDArray[Any], column: ColumnKey) -> tuple[list[Level | None], NDArray[np.intp]]:
    """Distinct values, None for a gap, and which of them is in each row."""
    entry_kinds(raw, column)
    if raw.dtype.kind in "biuf":
        distinct, inverse = np.unique(raw, return_inverse=True)
        items = distinct.tolist()
    else:
        code: dict[Any, int] = {}
        codes = (code.setdefault(item, len(code)) for item in raw.tolist())
        inverse = np.fromiter(codes, np.intp, raw.size)
        items = list(code)
    levels = [_level(item) for item in items]
    infinite = [position for position, level in enumerate(levels) if isinstance(level, float) and math.isinf(level)]
    if infinite:
        row = int(np.argmax(np.isin(inverse, infinite)))
        raise covariate_error(
            f"covariates must be finite, but this is {format_value(items[inverse[row]])}",
            column,
            row,
            "Put a gap (NaN) where a value is not known, or correct that row.",
        )
    return levels, inverse


def _level(item: object) -> Level | None:
    """An entry as one of four plain types, None for a gap; what needs more than 64 bits counts as infinite."""
    if isinstance(item, str):
        return str(item)
    if isinstance(item, (bool, np.bool_)):
        return bool(item)
    if isinstance(item, (int, np.integer)):
        return int(item) if abs(int(item)) < 2**64 else math.inf
    number = math.nan if _kind(item) == "gap" else _float(item)
    return None if math.isnan(number) else number


def level_order(level: Level) -> tuple[bool, Any]:
    """Numbers before text, which do not compare."""
    return isinstance(level, str), level


def format_value(value: object) -> str:
    """A value as messages and names show it: short, and whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, np.datetime64):
        # Without the digits of a time of day that is midnight.
        value = str(np.datetime_as_string(value, unit="auto"))
    if isinstance(value, str):
        return value if len(value) <= 60 else value[:59] + "…"
    try:
        return format_value(str(value))
    except (RecursionError, ValueError):  # too deep, or an integer of more digits than Python writes
        return "a value"


def quoted_value(value: object) -> str:
    """A value as `format_value` shows it, text in quotation marks."""
    return quoted(value, 62) if isinstance(value, str) else format_value(value)
