"""Columns of any kind as numbers whose order or equality can be compared with an outcome."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.frame_columns import is_missing

__all__ = ["ColumnValues", "column_values"]

FloatArray = NDArray[np.float64]

_ISO_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}([ T].*)?\s*")


class ColumnValues(NamedTuple):
    """Numbers (n,), NaN for gaps: the values, dates as days, or the codes of levels that have no order."""

    numbers: FloatArray
    ordered: bool


def column_values(raw: NDArray[Any]) -> ColumnValues:
    """Numbers, bools, dates, spans and text that is numbers or ISO dates in order; anything else as codes."""
    if raw.dtype.kind in "biuf":
        return ColumnValues(_without_infinities(raw.astype(np.float64)), ordered=True)
    if raw.dtype.kind in "Mm":
        return ColumnValues(_days(raw), ordered=True)
    items = [None if is_missing(item) else item for item in raw.tolist()]
    known = [item for item in items if item is not None]
    numbers = _as_numbers(items, known)
    if numbers is not None:
        return ColumnValues(_without_infinities(numbers), ordered=True)
    codes: dict[str, int] = {}
    places = [np.nan if item is None else codes.setdefault(str(item).strip(), len(codes)) for item in items]
    return ColumnValues(np.array(places, np.float64), ordered=False)


def _as_numbers(items: list[Any], known: list[Any]) -> FloatArray | None:
    if not known:
        return np.full(len(items), np.nan)
    first = known[0]
    dates = not isinstance(first, str) or _ISO_DATE.fullmatch(first) is not None
    try:
        return np.array(items, object).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        if not dates:
            return None
    try:
        return _days(np.array([str(item).strip() if isinstance(item, str) else item for item in items], "M8[us]"))
    except (TypeError, ValueError, OverflowError):
        return None


def _days(values: NDArray[Any]) -> FloatArray:
    gaps = np.isnat(values)
    unit = np.timedelta64(1, "D")
    since = values - np.datetime64(0, "D") if values.dtype.kind == "M" else values
    days = np.asarray(since / unit, np.float64)
    days[gaps] = np.nan
    return days


def _without_infinities(values: FloatArray) -> FloatArray:
    """Infinite values stand for unknown ones in many tables, and no model takes them."""
    values[np.isinf(values)] = np.nan
    return values
