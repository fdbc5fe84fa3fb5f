"""Plans of columns read back from plain data that may be anything: every field is checked.

No message shows more than a short piece of what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from aldsurv.columns.column_entries import Level, quoted, told
from aldsurv.columns.column_plans import MOST_BINS, ColumnPlan, LeftOut, Levels, Number
from aldsurv.errors import DataError

__all__ = ["plan_from_plain", "require_bool", "require_keys", "require_number"]

_DAMAGED = "The file is damaged or was not written by aldsurv."


def plan_from_plain(plain: object, where: str) -> ColumnPlan:
    """Read a plan back from plain data that may be anything; `where` is what messages call it."""
    kinds = {"number": _number_from_plain, "levels": _levels_from_plain, "left out": _left_out_from_plain}
    if not isinstance(plain, Mapping) or not isinstance(plain.get("kind"), str) or plain["kind"] not in kinds:
        raise DataError(f"{where} must be an object whose kind is one of {', '.join(map(repr, kinds))}. {_DAMAGED}")
    return kinds[plain["kind"]](plain, where)


def _number_from_plain(plain: Mapping[str, Any], where: str) -> Number:
    numbers = ("mean", "scale", "median", "low", "high")
    optional = {"knots"} & set(plain)
    require_keys(plain, {"kind", "name", *numbers, "gaps", *optional}, where)
    read = {key: require_number(plain[key], f"{where}: {key}") for key in numbers}
    name, gaps = require_text(plain["name"], f"{where}: name"), require_bool(plain["gaps"], f"{where}: gaps")
    knots = _knots_from_plain(plain["knots"], f"{where}: knots") if optional else ()
    plan = Number(name, read["mean"], read["scale"], read["median"], read["low"], read["high"], gaps, knots)
    if not plan.scale > 0:
        raise DataError(f"{where}: scale must be positive, but is {plan.scale:g}. {_DAMAGED}")
    if not (plan.low < plan.high and plan.low <= plan.median <= plan.high):
        raise DataError(
            f"{where}: low < high with the median between them is required, but low is {plan.low:g}, "
            f"high {plan.high:g} and median {plan.median:g}. {_DAMAGED}"
        )
    return plan


def _knots_from_plain(plain: object, where: str) -> tuple[float, ...]:
    if not isinstance(plain, list) or not 3 <= len(plain) <= MOST_BINS + 1:
        raise DataError(f"{where} must be a list of 3 to {MOST_BINS + 1} numbers. {_DAMAGED}")
    knots = tuple(require_number(knot, where) for knot in plain)
    if not all(end / 2 - start / 2 > 0 for start, end in pairwise(knots)):
        raise DataError(f"{where} must increase. {_DAMAGED}")
    return knots


def _levels_from_plain(plain: Mapping[str, Any], where: str) -> Levels:
    require_keys(plain, {"kind", "name", "levels", "gaps", "other"}, where)
    pairs = plain["levels"]
    if not isinstance(pairs, list) or not pairs:
        raise DataError(f"{where}: levels must be a list that is not empty. {_DAMAGED}")
    levels = [_level_from_plain(pair, f"{where}: level {number}") for number, pair in enumerate(pairs)]
    if len(set(levels)) < len(levels):
        raise DataError(f"{where}: levels must differ. {_DAMAGED}")
    gaps, other = (require_bool(plain[key], f"{where}: {key}") for key in ("gaps", "other"))
    return Levels(require_text(plain["name"], f"{where}: name"), tuple(levels), gaps=gaps, other=other)


def _level_from_plain(pair: object, where: str) -> Level:
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
        raise DataError(f"{where} must be a pair of a type and a value. {_DAMAGED}")
    readers: dict[str, Callable[[object, str], Level]] = {
        "text": require_text,
        "bool": require_bool,
        "integer": _require_integer,
        "number": require_number,
    }
    if pair[0] not in readers:
        raise DataError(f"{where} must have a type out of {', '.join(map(repr, readers))}. {_DAMAGED}")
    return readers[pair[0]](pair[1], where)


def _left_out_from_plain(plain: Mapping[str, Any], where: str) -> LeftOut:
    require_keys(plain, {"kind", "name", "reason"}, where)
    reason = require_text(plain["reason"], f"{where}: reason")
    if reason not in LeftOut.REASONS:
        raise DataError(f"{where}: reason must be one of {', '.join(map(repr, LeftOut.REASONS))}. {_DAMAGED}")
    return LeftOut(require_text(plain["name"], f"{where}: name"), reason)


def require_keys(plain: Mapping[Any, Any], keys: set[str], where: str) -> None:
    """Raise `DataError` unless these are the keys, all of them and no others."""
    missing, unknown = sorted(keys - set(plain)), [key for key in plain if key not in keys]
    if missing or unknown:
        told = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
        told += [f"has the unknown key {quoted(unknown[0])}"] if unknown else []
        raise DataError(f"{where} {' and '.join(told)}. {_DAMAGED}")


def require_text(value: object, where: str) -> str:
    """The value if it is text."""
    if not isinstance(value, str):
        raise DataError(f"{where} must be text, but is of type {type(value).__name__}. {_DAMAGED}")
    return value


def require_bool(value: object, where: str) -> bool:
    """The value if it is a bool."""
    if not isinstance(value, bool):
        raise DataError(f"{where} must be true or false, but is of type {type(value).__name__}. {_DAMAGED}")
    return value


def require_number(value: object, where: str) -> float:
    """The value as a float if it is a finite number; writers of JSON may drop the point of a whole one."""
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53:
        return float(value)
    raise DataError(f"{where} must be a finite number, but is {_told_plain(value)}. {_DAMAGED}")


def _require_integer(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**64:
        raise DataError(f"{where} must be an integer of 64 bits, but is {_told_plain(value)}. {_DAMAGED}")
    return value


def _told_plain(value: object) -> str:
    return told(value) if isinstance(value, float) else f"of type {type(value).__name__}"
