"""Numbers as text in a report: rounded for reading, with a proper minus sign and a dash for missing values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aldsurv.plain_numbers import percent, plain_number

__all__ = [
    "counted",
    "either_of",
    "fixed",
    "interval",
    "name_list",
    "number",
    "p_value",
    "per_hundred",
    "percent",
    "signed",
    "time_with_unit",
    "value_text",
]

_MINUS = "−"
_MISSING = "–"
_GROUPED_FROM = 5


def number(value: float, digits: int = 3) -> str:
    """Three significant digits, or all digits before the point; a dash for NaN.

    Marks of thousands begin at five digits: 1995 may be a year.
    """
    if math.isnan(value):
        return _MISSING
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    text = plain_number(value, digits)
    if text.lstrip("-").isdigit() and len(text.lstrip("-")) >= _GROUPED_FROM:
        text = f"{int(text):,}"
    return text.replace("-", _MINUS)


def fixed(value: float, decimals: int = 3) -> str:
    """A fixed number of decimals; a dash for NaN and infinities."""
    return f"{_rounded(value, decimals):.{decimals}f}".replace("-", _MINUS) if math.isfinite(value) else _MISSING


def signed(value: float, decimals: int = 2) -> str:
    """A number with its sign."""
    return _MISSING if math.isnan(value) else f"{_rounded(value, decimals):+.{decimals}f}".replace("-", _MINUS)


def _rounded(value: float, decimals: int) -> float:
    """Rounded, and never a negative zero, which is not written."""
    return round(value, decimals) + 0.0


def per_hundred(share: float) -> str:
    """A share as a count out of a hundred."""
    return _MISSING if math.isnan(share) else f"{100 * share:.0f}"


def time_with_unit(value: float, unit: str | None) -> str:
    """A time, with its unit if that is known."""
    return number(value) if unit is None else f"{number(value)} {unit}"


def value_text(value: object, digits: int = 6) -> str:
    """A value of a user's column, without marks of thousands; a dash if it is missing."""
    if value is None or value != value:
        return _MISSING
    if isinstance(value, (float, np.floating)):
        return plain_number(float(value), digits).replace("-", _MINUS).replace("inf", "∞")
    return str(value)


def interval(lower: float, upper: float, decimals: int = 2) -> str:
    """Two limits."""
    if math.isnan(lower) or math.isnan(upper):
        return _MISSING
    return " to ".join(number(limit) if math.isinf(limit) else fixed(limit, decimals) for limit in (lower, upper))


def p_value(value: float) -> str:
    """A p-value after its letter."""
    if math.isnan(value):
        return "p is not defined"
    return "p below 0.001" if value < 0.001 else f"p = {value:.3f}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A count and its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def name_list(names: Sequence[str], most: int = 5) -> str:
    """The first names, and how many more there are."""
    text = ", ".join(names[:most])
    return f"{text} and {len(names) - most} more" if len(names) > most else text


def either_of(names: Sequence[str]) -> str:
    """Names in a sentence, of which one applies: "a, b or c"."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
