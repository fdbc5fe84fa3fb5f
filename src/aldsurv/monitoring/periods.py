"""Calendar periods of rows: values of a column in order, or dates cut into months, quarters or years."""

from __future__ import annotations

import datetime
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, check
from aldsurv.data.dates.date_columns import date_column
from aldsurv.data.dates.date_texts import looks_like_date
from aldsurv.data.frame_columns import Column, column_array, is_missing, is_numeric_text
from aldsurv.data.rows.row_checks import require_rows
from aldsurv.errors import DataError
from aldsurv.quoting import quoted

__all__ = ["PERIODS", "Periods", "read_periods"]

PERIODS = ("month", "quarter", "year")
_MOST_PERIODS = 500
# Text that says by itself what kind of period it is.
_WRITTEN = {
    "month": re.compile(r"(19|20)\d\d-(0[1-9]|1[0-2])"),
    "quarter": re.compile(r"(19|20)\d\d-?Q[1-4]"),
    "year": re.compile(r"(19|20)\d\d"),
}


class Periods(NamedTuple):
    """Names of periods in order, the place of each row's period among them (n,), and what one is called."""

    names: tuple[str, ...]
    place: NDArray[np.intp]
    kind: str = "period"


def read_periods(
    by: object, *, period: str | None = None, date_format: str | None = None, name: str | None = None
) -> Periods:
    """The period of each row, in order of time; periods between two without a row are not there.

    Parameters
    ----------
    by
        One value per row: text such as ``"2024-03"``, whose order is that of its characters, numbers, or dates.
    period
        ``"month"``, ``"quarter"`` or ``"year"``, for dates; None: dates are cut into months.
    date_format
        How dates are written, as in `SurvivalData.from_dates`.
    name
        Of the column, for errors.

    Examples
    --------
    >>> read_periods(["2024-03-05", "2023-12-24", "2024-01-31"], period="quarter").names
    ('2023-Q4', '2024-Q1')
    """
    check("period", period, Choice(PERIODS), none=True)
    column = Column(by, "by", name)
    raw = column_array(column)
    items = raw.tolist()
    present = np.array([not is_missing(item) for item in items], np.bool_)
    require_rows(present, column, "known in every row", {"": raw}, "Drop those rows, or give their period.")
    if _are_dates(raw, items):
        dates = date_column(column, date_format)
        periods = _named(_cut(dates, period or "month"))._replace(kind=period or "month")
    elif period is not None:
        raise column.error(
            f"must be dates such as 2024-03-31 to be cut into {period}s, but is {quoted(items[0])} in the first row",
            row=0,
            advice="Give dates, or no period.",
        )
    else:
        periods = _named(_sortable(items, column))
        kinds = (kind for kind, pattern in _WRITTEN.items() if all(map(pattern.fullmatch, periods.names)))
        periods = periods._replace(kind=next(kinds, "period"))
    if len(periods.names) < 2:
        only = f"only {quoted(periods.names[0])}" if periods.names else "no row"
        raise column.error(f"must have two periods or more, but has {only}", advice="Name a column of several periods.")
    if len(periods.names) > _MOST_PERIODS:
        raise column.error(
            f"has {len(periods.names)} different values, but at most {_MOST_PERIODS} periods are allowed",
            advice="Name a column of periods, or one of dates, which are cut into months, quarters or years.",
        )
    return periods


def _are_dates(raw: NDArray[Any], items: list[Any]) -> bool:
    if raw.dtype.kind == "M":
        return True
    distinct = set(items)
    if all(isinstance(item, datetime.date) for item in distinct):
        return bool(distinct)
    return all(isinstance(item, str) for item in distinct) and looks_like_date(distinct)


def _cut(dates: NDArray[np.datetime64], period: str) -> list[str]:
    """Names of periods whose order is that of time."""
    months = dates.astype("datetime64[M]").astype(np.int64)
    years, month = 1970 + months // 12, months % 12
    if period == "year":
        return [f"{year}" for year in years.tolist()]
    if period == "quarter":
        return [f"{year}-Q{1 + place // 3}" for year, place in zip(years.tolist(), month.tolist(), strict=True)]
    return [f"{year}-{1 + place:02d}" for year, place in zip(years.tolist(), month.tolist(), strict=True)]


def _sortable(items: list[Any], column: Column) -> list[Any]:
    """Numbers as numbers, also where they are text, and all else as text."""
    if all(isinstance(item, (int, float)) or (isinstance(item, str) and is_numeric_text(item)) for item in items):
        return [float(item) for item in items]
    kinds = {isinstance(item, str) for item in items}
    if kinds == {True}:
        return [item.strip() for item in items]
    row = next(row for row, item in enumerate(items) if not isinstance(item, str))
    raise DataError(
        f"by must be text, numbers or dates, all of one kind, but this is {quoted(items[row])}",
        argument="by",
        column=column.name,
        row=row,
        advice="Write all periods in one way, such as 2024-03.",
    )


def _named(values: list[Any]) -> Periods:
    distinct, place = np.unique(np.array(values), return_inverse=True)
    names = tuple(f"{value:g}" if isinstance(value, float) else str(value) for value in distinct.tolist())
    return Periods(names, place.reshape(-1).astype(np.intp))
