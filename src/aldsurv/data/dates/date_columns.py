"""Columns of dates, and the time from one to another."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.dates.date_texts import check_date_format, read_date_texts
from aldsurv.data.frame_columns import Column, FloatArray, column_array, is_missing
from aldsurv.data.rows.row_checks import require_equal_length
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

__all__ = ["DAYS_PER_UNIT", "check_unit", "date_column", "time_between"]

# A month is a twelfth of a year, and a year has a quarter of a leap day.
DAYS_PER_UNIT = {"days": 1.0, "weeks": 7.0, "months": 30.4375, "years": 365.25}

_MICROSECONDS = 86_400e6


def check_unit(unit: object) -> None:
    """Raise `ParameterError` for what is not a unit of time between dates."""
    if not isinstance(unit, str) or unit not in DAYS_PER_UNIT:
        problem = f"unit must be one of {', '.join(DAYS_PER_UNIT)} for times between dates, but is {quoted(unit)}."
        raise ParameterError(problem, argument="unit")


def date_column(column: Column, date_format: str | None = None) -> NDArray[np.datetime64]:
    """Dates (n,) to the microsecond, NaT for gaps: from dates of numpy, pandas, polars or Python, or from text.

    Parameters
    ----------
    column
        The values.
    date_format
        How text is written, as in `SurvivalData.from_dates`.
    """
    raw = column_array(column)
    if raw.dtype.kind == "M":
        return raw.astype("datetime64[us]")
    items = [None if is_missing(item) else item for item in raw.tolist()]
    if all(item is None or isinstance(item, datetime.date) for item in items):
        return np.array([None if item is None else _moment(item) for item in items], "datetime64[us]")
    # Dates among text count as text that is written as ISO says.
    texts = [None if item is None else _date_text(item, column, row) for row, item in enumerate(items)]
    first_rows: dict[str, int] = {}
    for row, text in enumerate(texts):
        if text is not None:
            first_rows.setdefault(text, row)
    dates = read_date_texts(first_rows, column, date_format)
    return np.array([None if text is None else dates[text] for text in texts], "datetime64[us]")


def time_between(start: Column, end: Column, unit: str, date_format: str | None = None) -> FloatArray:
    """Time from one date to another (n,), not negative.

    Parameters
    ----------
    start, end
        Columns of dates without gaps.
    unit
        One of `DAYS_PER_UNIT`.
    date_format
        As in `date_column`.
    """
    check_unit(unit)
    check_date_format(date_format)
    starts, ends = date_column(start, date_format), date_column(end, date_format)
    require_equal_length(start, starts, end, ends)
    for column, dates, advice in (
        (start, starts, "Drop those rows: without a start there is no time."),
        (end, ends, "Give the date of the event, or the last at which the row was known to be event-free."),
    ):
        gaps = np.isnat(dates)
        if gaps.any():
            count = int(gaps.sum())
            problem = f"must be a date in every row, but {count} of {gaps.size} {'is' if count == 1 else 'are'} missing"
            raise column.error(problem, row=int(np.argmax(gaps)), advice=advice)
    early = ends < starts
    if early.any():
        row, count = int(np.argmax(early)), int(early.sum())
        raise end.error(
            f"must not be before {start.argument}, but is in {count} of {early.size} rows, first {_shown(ends[row])} "
            f"before {_shown(starts[row])}",
            row=row,
            advice="Correct or drop those rows, or exchange the two columns.",
        )
    days: FloatArray = (ends - starts).astype(np.int64) / _MICROSECONDS
    return days / DAYS_PER_UNIT[unit]


def _moment(item: datetime.date) -> datetime.datetime:
    if not isinstance(item, datetime.datetime):
        return datetime.datetime(item.year, item.month, item.day)
    offset = item.utcoffset()
    return item if offset is None else item.replace(tzinfo=None) - offset


def _date_text(item: Any, column: Column, row: int) -> str:
    """A date as text; numbers may be such as 20201231."""
    if isinstance(item, str):
        return item
    if isinstance(item, datetime.date):
        return _moment(item).isoformat(" ")
    if isinstance(item, (int, float)) and not isinstance(item, bool) and float(item).is_integer():
        return str(int(item))
    kind = "number" if isinstance(item, (int, float)) else type(item).__name__
    raise column.error(
        f"must be dates such as 2020-12-31 or 31.12.2020, but this is the {kind} {quoted(item)}",
        row=row,
        advice="Give dates, or numbers of time in one column by time.",
    )


def _shown(date: np.datetime64) -> str:
    text = str(date.astype("datetime64[s]"))
    return text.removesuffix("T00:00:00")
