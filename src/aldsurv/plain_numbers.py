"""Numbers as people write them, for messages, tables and pages alike."""

from __future__ import annotations

import math
from decimal import Decimal

__all__ = ["percent", "plain_number"]

_MISSING = "–"
# Outside of these sizes zeros would have to be counted, and a power of ten reads better.
_SMALLEST, _LARGEST = 1e-5, 1e12
# Shares are quotients of counts: closer than that to all of them only rounding errors come.
_ROUNDING = 1e-9


def plain_number(value: float, digits: int = 6) -> str:
    """A number without exponent and without marks of thousands: 1995 may be a year.

    Parameters
    ----------
    value
        Any number; one that is not finite is "inf", "-inf" or "NaN".
    digits
        Most significant digits; but those before the decimal point are all written.

    Examples
    --------
    >>> plain_number(1995.0), plain_number(257000.4, 3), plain_number(0.00012345, 3), plain_number(1e6)
    ('1995', '257000', '0.000123', '1000000')
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value:g}"
    size = abs(value)
    if size and not _SMALLEST <= size < _LARGEST:
        return f"{value:.{digits}g}"
    if size >= 10**digits:
        return f"{value:.0f}"
    return f"{Decimal(f'{value + 0.0:.{digits}g}'):f}"


def percent(share: float) -> str:
    """A share in percent: a decimal only below 10 and above 99; 0 % is none and 100 % all.

    Parameters
    ----------
    share
        Usually from 0 to 1; of NaN there is a dash.

    Examples
    --------
    >>> [percent(share) for share in (0, 0.0004, 0.034, 0.05, 0.614, 0.996, 0.9996, 1)]
    ['0 %', 'below 0.1 %', '3.4 %', '5 %', '61 %', '99.6 %', 'above 99.9 %', '100 %']
    """
    if math.isnan(share):
        return _MISSING
    value = 100 * share
    if 0 < value < 0.1:
        return "below 0.1 %"
    if abs(value - 100) < _ROUNDING:
        return "100 %"
    if 99.9 < value < 100:
        return "above 99.9 %"
    decimals = 1 if abs(value) < 9.95 or 99 < value < 100 else 0
    return f"{plain_number(round(value, decimals))} %"
