"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["amount", "counted", "interval", "number", "of_hundred", "p_value", "percent", "signed"]

_MINUS = "−"


def number(value: float, digits: int = 3) -> str:
    """Three digits that count, or all of those before the point; a dash where there is no number."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    rounded = float(f"{value:.{digits}g}")
    whole = abs(value) >= 10**digits
    text = f"{value:,.0f}" if whole else f"{rounded:.12g}"
    return (f"{value:.2g}" if "e" in text else text).replace("-", _MINUS)


def signed(value: float, decimals: int = 2) -> str:
    """A number with its sign."""
    return "–" if math.isnan(value) else f"{value:+.{decimals}f}".replace("-", _MINUS)


def percent(share: float) -> str:
    """A share of the whole: without decimals where these say nothing."""
    if math.isnan(share):
        return "–"
    value = 100 * share
    if 0 < value < 0.1:
        return "below 0.1 %"
    return (
        f"{value:.0f} %" if value >= 10 or value in (0, 100) or float(f"{value:.1f}").is_integer() else f"{value:.1f} %"
    )


def of_hundred(share: float) -> str:
    """A share as a count of a hundred."""
    return "–" if math.isnan(share) else f"{100 * share:.0f}"


def amount(value: float, unit: str | None) -> str:
    """A time with its unit."""
    return number(value) if unit is None else f"{number(value)} {unit}"


def interval(lower: float, upper: float, decimals: int = 2) -> str:
    """Two limits."""
    if math.isnan(lower) or math.isnan(upper):
        return "–"
    texts = [number(limit) if math.isinf(limit) else f"{limit:.{decimals}f}" for limit in (lower, upper)]
    return " to ".join(texts).replace("-", _MINUS)


def p_value(value: float) -> str:
    """A p-value behind its letter."""
    if math.isnan(value):
        return "p is not defined"
    return "p below 0.001" if value < 0.001 else f"p = {value:.3f}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A count and its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names, and how many more there are."""
    told = ", ".join(names[:most])
    return f"{told} and {len(names) - most} more" if len(names) > most else told
