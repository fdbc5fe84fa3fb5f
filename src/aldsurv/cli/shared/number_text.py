"""Numbers as people and as programs read them."""

from __future__ import annotations

import math

from aldsurv.files.plain_json import json_text
from aldsurv.plain_numbers import plain_number

__all__ = ["format_clock", "format_count", "format_limits", "format_number", "format_p_value", "json_text"]

_NO_VALUE = "–"


def format_number(value: float, *, more: int = 0) -> str:
    """A number in about four digits, and as many `more`; a dash for one that is not finite."""
    if not math.isfinite(value):
        return _NO_VALUE
    size = abs(value)
    if size >= 1e6:
        return plain_number(value, 4 + more)
    digits = more + (3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0)
    # What would be rounded to 0 is shown with one digit more, and as 0 where that is 0, too.
    if 0.5 * 10 ** -(digits + 1) <= size < 0.5 * 10**-digits:
        return f"{value:.{digits + 1}f}"
    return f"{value:.{digits}f}" if size >= 0.5 * 10**-digits else f"{0:.{digits}f}"


def format_limits(lower: float, upper: float, *, more: int = 0) -> str:
    """Two limits; empty where they are not finite."""
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return ""
    return f"{format_number(lower, more=more)} to {format_number(upper, more=more)}"


def format_p_value(value: float) -> str:
    """A p-value; a tiny one by what it is below."""
    if math.isnan(value):
        return _NO_VALUE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def format_count(number: int, noun: str) -> str:
    """A number and what is counted, such as "3 rows"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def format_clock(seconds: float) -> str:
    """Seconds, or minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes else f"{rest} s"
