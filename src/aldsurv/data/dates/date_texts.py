"""Dates that are text: how a column of them is written is inferred from all of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from aldsurv.checks import listed
from aldsurv.data.frame_columns import Column
from aldsurv.errors import DataError, ParameterError
from aldsurv.quoting import quoted

__all__ = ["check_date_format", "looks_like_date", "read_date_texts"]

Reader = Callable[[str], datetime | None]

_CLOCK = (
    r"(?:,?(?:T|\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,6})\d*)?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
_ISO = re.compile(r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})" + _CLOCK)
_COMPACT = re.compile(r"(?P<year>(?:18|19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})")
_NUMERIC = re.compile(
    r"(?P<first>\d{1,2})\s?(?P<mark>[./-])\s?(?P<second_>\d{1,2})\s?(?P=mark)\s?(?P<year>\d{4})" + _CLOCK
)
_SHORT_YEAR = re.compile(r"\d{1,2}\s?(?P<mark>[./-])\s?(\d{1,2}|[A-Za-z]{3,9})\s?(?P=mark)\s?'?\d{2}" + _CLOCK)
_NAMED = re.compile(
    r"(?P<day>\d{1,2})(?:st|nd|rd|th)?[\s./-]*(?P<name>[A-Za-z]{3,9})[\s.,/-]*(?P<year>\d{4})" + _CLOCK, re.IGNORECASE
)
_NAME_FIRST = re.compile(
    r"(?P<name>[A-Za-z]{3,9})\.?[\s-]*(?P<day>\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(?P<year>\d{4})" + _CLOCK, re.IGNORECASE
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ORDERS = ("day-first", "month-first")
_DIRECTIVE = re.compile(r"%(.?)")
_DIRECTIVES = set("aAbBdjmyYHIMSpfzZ%")


def check_date_format(date_format: object) -> None:
    """Raise `ParameterError` for what is not a way to write dates."""
    if date_format is None or date_format in _ORDERS:
        return
    directives = set(_DIRECTIVE.findall(date_format)) if isinstance(date_format, str) else set()
    has_day = "j" in directives or ("d" in directives and directives & {"m", "b", "B"})
    if not directives <= _DIRECTIVES or not directives & {"y", "Y"} or not has_day:
        raise ParameterError(
            "date_format must be 'day-first', 'month-first' or a format with day, month and year such as '%d.%m.%Y', "
            f"but is {quoted(date_format)}.",
            argument="date_format",
        )


def read_date_texts(texts: Mapping[str, int], column: Column, date_format: str | None) -> dict[str, datetime]:
    """The date of each text.

    Parameters
    ----------
    texts
        Different texts of a column, without gaps, each with the first row that holds it.
    column
        The column, for errors.
    date_format
        ``"day-first"`` or ``"month-first"`` for dates such as 03/04/2020, a format of `datetime.strptime` for all, or
        None: inferred, and an error if both orders are possible.
    """
    check_date_format(date_format)
    if date_format is not None and date_format not in _ORDERS:
        return _read_all(texts, column, date_format, lambda text: _strptime(text, date_format))
    _require_long_years(texts, column)
    if date_format is not None:
        readers = [_iso, _compact, _named, _READERS[date_format]]
        return _read_all(
            texts, column, date_format, lambda text: next(filter(None, (read(text) for read in readers)), None)
        )
    readings = {name: _readings(texts, read) for name, read in _READERS.items()}
    whole = {name: dates for name, dates in readings.items() if len(dates) == len(texts)}
    if not whole:
        best = max(readings, key=lambda name: len(readings[name]))
        raise _other_way_error(texts, column, best, readings[best])
    if set(_ORDERS) <= set(whole):
        _require_one_reading(texts, column, whole)
    return next(iter(whole.values()))


def looks_like_date(texts: Collection[str]) -> bool:
    """Whether all texts are dates, however they are written."""
    if not texts:
        return False
    readers = _READERS.values()
    return all(_SHORT_YEAR.fullmatch(text.strip()) for text in texts) or any(
        all(read(text) is not None for text in texts) for read in readers
    )


def _readings(texts: Collection[str], read: Reader) -> dict[str, datetime]:
    return {text: date for text in texts if (date := read(text)) is not None}


def _read_all(texts: Mapping[str, int], column: Column, way: str, read: Reader) -> dict[str, datetime]:
    dates = _readings(texts, read)
    if len(dates) < len(texts):
        text = next(text for text in texts if text not in dates)
        raise column.error(
            f"must be dates written as {quoted(way)}, but this is {quoted(text)}",
            row=texts[text],
            advice="Correct it, leave it empty if it is not known, or name another format.",
        )
    return dates


def _require_long_years(texts: Mapping[str, int], column: Column) -> None:
    short = next((text for text in texts if _SHORT_YEAR.fullmatch(text.strip())), None)
    if short is not None:
        raise DataError(
            f"{column.argument} has years of two digits, such as {quoted(short)}, which do not say the century",
            argument="date_format",
            column=column.name,
            row=texts[short],
            advice="Say how the dates are written, such as date_format='%d.%m.%y'; 69 to 99 are then 1969 to 1999.",
        )


def _require_one_reading(texts: Mapping[str, int], column: Column, whole: Mapping[str, Mapping[str, datetime]]) -> None:
    day_first, month_first = (whole[order] for order in _ORDERS)
    unclear = next((text for text in texts if day_first[text] != month_first[text]), None)
    if unclear is not None:
        raise DataError(
            f"{column.argument} can be read in two ways: {quoted(unclear)} is {day_first[unclear].date()} if the day "
            f"comes first, and {month_first[unclear].date()} if the month does; every date of the column allows both",
            argument="date_format",
            column=column.name,
            row=texts[unclear],
            advice="Say date_format='day-first' or date_format='month-first'.",
        )


def _other_way_error(texts: Mapping[str, int], column: Column, way: str, dates: Mapping[str, datetime]) -> DataError:
    text = next(text for text in texts if text not in dates)
    if not dates:
        return column.error(
            f"must be dates such as 2020-12-31 or 31.12.2020, but this is {quoted(text)}",
            row=texts[text],
            advice="Give dates, or numbers of time in one column by time.",
        )
    return column.error(
        f"must be dates that are all written in one way, but {quoted(text)} is not a date like "
        f"{listed(list(dates)[:1])} ({way})",
        row=texts[text],
        advice="Correct it, or leave it empty if it is not known.",
    )


def _strptime(text: str, date_format: str) -> datetime | None:
    try:
        date = datetime.strptime(text.strip(), date_format)
        return _without_zone(date)
    except (ValueError, OverflowError):
        return None


def _without_zone(date: datetime) -> datetime:
    offset = date.utcoffset()
    return date if offset is None else date.replace(tzinfo=None) - offset


def _iso(text: str) -> datetime | None:
    return _dated(_ISO.fullmatch(text.strip()), "year", "month", "day")


def _compact(text: str) -> datetime | None:
    return _dated(_COMPACT.fullmatch(text.strip()), "year", "month", "day")


def _day_first(text: str) -> datetime | None:
    return _dated(_NUMERIC.fullmatch(text.strip()), "year", "second_", "first")


def _month_first(text: str) -> datetime | None:
    return _dated(_NUMERIC.fullmatch(text.strip()), "year", "first", "second_")


def _named(text: str) -> datetime | None:
    match = _NAMED.fullmatch(text.strip()) or _NAME_FIRST.fullmatch(text.strip())
    if match is None:
        return None
    name = match["name"].lower()
    months = [k for k, month in enumerate(_MONTHS, start=1) if name in (month, month[:3], month[:4])]
    return _date(int(match["year"]), months[0], int(match["day"]), match) if months else None


_READERS: Mapping[str, Reader] = MappingProxyType(
    {"ISO": _iso, "YYYYMMDD": _compact, "day-first": _day_first, "month-first": _month_first, "month by name": _named}
)


def _dated(match: re.Match[str] | None, year: str, month: str, day: str) -> datetime | None:
    return None if match is None else _date(int(match[year]), int(match[month]), int(match[day]), match)


def _date(year: int, month: int, day: int, match: re.Match[str]) -> datetime | None:
    """The date with its clock and zone; None if there is no such day."""
    parts = {name: value for name, value in match.groupdict().items() if value is not None}
    hour = int(parts.get("hour", 0))
    if "half" in parts:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (parts["half"][0] in "pP")
    fraction = int(parts.get("fraction", "0").ljust(6, "0"))
    try:
        date = datetime(year, month, day, hour, int(parts.get("minute", 0)), int(parts.get("second", 0)), fraction)
        zone = parts.get("zone", "Z").replace(":", "")
        if zone != "Z":
            sign = -1 if zone[0] == "-" else 1
            date -= sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[3:]))
    except (ValueError, OverflowError):
        return None
    return date
