"""Entries of a column as people have them: which kinds there are, and their numbers or levels.

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

from aldsurv import quoting
from aldsurv.data.outcome_columns import is_numeric_text
from aldsurv.errors import DataError

__all__ = ["Level", "NotPlainError", "distinct_levels", "entry_kinds", "level_order", "quoted", "read_numbers", "told"]

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


def entry_kinds(raw: NDArray[Any], label: str) -> set[str]:
    """What a column holds, out of "number", "text" and "gap"; everything else is refused."""
    if raw.dtype.kind in "biuf":
        return {"number"}
    if raw.dtype.kind in "UT":
        return {"text"}
    if raw.dtype.kind == "c":
        raise _complex_refusal(label)
    if raw.dtype.kind in _REFUSED_DTYPES:
        raise _refusal(label, _REFUSED_DTYPES[raw.dtype.kind], 0, raw[0])
    items = raw.tolist()
    kinds = _kinds_of_types(items)
    allowed = {"number", "text", "gap"}
    if not set(kinds.values()) <= allowed:
        row = next(row for row, item in enumerate(items) if kinds[type(item)] not in allowed)
        raise _refusal(label, kinds[type(items[row])], row, items[row])
    return set(kinds.values())


def _kinds_of_types(items: list[Any]) -> dict[type, str]:
    """What each type among the entries is, from one entry of it: a look at every entry would be slow."""
    samples = dict(zip(map(type, items), items, strict=True))
    return {found: _kind(sample) for found, sample in samples.items()}


def _kind(item: Any) -> str:
    """What an entry is; the same for all entries of its type, but for NaN, which counts as a number here."""
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


def _differs_from_itself(item: Any) -> bool:
    """True for NaT, and for pandas' NA, which refuses to be compared."""
    try:
        return bool(item != item)
    except TypeError:
        return True


def _refusal(label: str, kind: str, row: int, item: Any) -> DataError:
    if kind == "complex":
        return _complex_refusal(label)
    if kind in _REFUSED:
        what, remedy = _REFUSED[kind]
        return DataError(f"{label} must hold numbers or text, but row {row} holds {what} {told(item)}. {remedy}")
    return NotPlainError(
        f"{label} must hold numbers or text, but row {row} holds {told(item)} of type {type(item).__name__} "
        "(an argument must be a string or a number). Give one plain value a row, such as its text."
    )


def _complex_refusal(label: str) -> DataError:
    return DataError(f"Complex data not supported: {label} holds complex numbers. Give real numbers.")


def read_numbers(raw: NDArray[Any], label: str) -> FloatArray:
    """A fresh float64 column, NaN where there is a gap; text and infinite values are refused."""
    kinds = entry_kinds(raw, label)
    if "text" in kinds:
        items = raw.tolist()
        texts = [row for row, item in enumerate(items) if isinstance(item, str)]
        # One bad value turns the numbers beside it into text, too, where a table was read: it is the one to name.
        row = next((row for row in texts if not is_numeric_text(items[row])), texts[0])
        remedy = (
            "Convert the column to numbers first." if is_numeric_text(items[row]) else "Put a gap (NaN) in its place."
        )
        raise DataError(
            f"{label} held numbers in training, but row {row} holds the text {quoted(items[row])}. {remedy}"
        )
    if raw.dtype.kind == "O":
        raw = _float_objects(raw.tolist(), label)
    values = np.array(raw, np.float64)
    if not (np.isfinite(values.min()) and np.isfinite(values.max())) and np.isinf(values).any():
        raise _infinite_refusal(label, np.isinf(values), values)
    return values


def _float_objects(items: list[Any], label: str) -> FloatArray:
    kinds = _kinds_of_types(items)
    # numpy reads None as NaN.
    items = [None if kinds[type(item)] == "gap" else item for item in items]
    try:
        return np.array(items, np.float64)
    except (OverflowError, ValueError):
        row = next(row for row, item in enumerate(items) if item is not None and math.isinf(_float(item)))
    raise DataError(
        f"{label} must be finite, but row {row} holds {told(items[row])}, which no float can hold. "
        "Rescale the column or put a gap (NaN) there."
    )


def _float(item: Any) -> float:
    """A number as a float, infinite where no float can hold it."""
    try:
        return float(item)
    except (OverflowError, ValueError):
        return math.inf


def _infinite_refusal(label: str, infinite: BoolArray, values: NDArray[Any]) -> DataError:
    row, count = int(np.argmax(infinite)), int(infinite.sum())
    return DataError(
        f"{label} must be finite, but {count} of {infinite.size} values {'is' if count == 1 else 'are'} not "
        f"(first: row {row}, {float(values[row])}). Put NaN where a value is not known, or correct those rows."
    )


def distinct_levels(raw: NDArray[Any], label: str) -> tuple[list[Level | None], NDArray[np.intp]]:
    """Distinct values, None for a gap, and which of them is in each row."""
    entry_kinds(raw, label)
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
        raise DataError(
            f"{label} must be finite, but row {row} holds {told(items[inverse[row]])}. "
            "Put a gap (NaN) where a value is not known, or correct that row."
        )
    return levels, inverse


def _level(item: Any) -> Level | None:
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


def told(value: Any) -> str:
    """A value as messages and names show it: short, and whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, str):
        return value if len(value) <= 60 else value[:59] + "…"
    try:
        return told(str(value))
    except (RecursionError, ValueError):  # too deep, or an integer of more digits than Python writes
        return "a value"


def quoted(value: Any) -> str:
    """A value as `told` shows it, text in quotation marks."""
    return quoting.quoted(value, 62) if isinstance(value, str) else told(value)
