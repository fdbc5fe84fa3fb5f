"""Plans of columns read back from dicts of an untrusted file: every field is checked.

No message shows more than a short piece of what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise

from aldsurv.checks import listed
from aldsurv.columns.column_entries import Level, format_value, quoted_value
from aldsurv.columns.column_plans import MOST_BINS, ColumnPlan, LeftOut, Levels, Number
from aldsurv.errors import DataError

__all__ = ["plan_from_dict", "require_bool", "require_keys", "require_number"]

_DAMAGED = "The file is damaged or was not written by aldsurv."


def plan_from_dict(data: object, where: str) -> ColumnPlan:
    """Read a plan back from untrusted data; `where` is what messages call it."""
    kinds = {"number": _read_number, "levels": _read_levels, "left out": _read_left_out}
    if not isinstance(data, Mapping) or not isinstance(data.get("kind"), str) or data["kind"] not in kinds:
        raise DataError(f"{where} must be an object whose kind is one of {listed(kinds)}", advice=_DAMAGED)
    return kinds[data["kind"]](data, where)


def _read_number(data: Mapping[str, object], where: str) -> Number:
    numbers = ("mean", "scale", "median", "low", "high")
    optional = {"knots"} & set(data)
    require_keys(data, {"kind", "name", *numbers, "gaps", *optional}, where)
    read = {key: require_number(data[key], f"{where}: {key}") for key in numbers}
    name, gaps = require_text(data["name"], f"{where}: name"), require_bool(data["gaps"], f"{where}: gaps")
    knots = _read_knots(data["knots"], f"{where}: knots") if optional else ()
    plan = Number(name, read["mean"], read["scale"], read["median"], read["low"], read["high"], gaps, knots)
    if not plan.scale > 0:
        raise DataError(f"{where}: scale must be positive, but is {plan.scale:g}", advice=_DAMAGED)
    if not (plan.low < plan.high and plan.low <= plan.median <= plan.high):
        raise DataError(
            f"{where}: low < high with the median between them is required, but low is {plan.low:g}, "
            f"high {plan.high:g} and median {plan.median:g}",
            advice=_DAMAGED,
        )
    return plan


def _read_knots(data: object, where: str) -> tuple[float, ...]:
    if not isinstance(data, list) or not 3 <= len(data) <= MOST_BINS + 1:
        raise DataError(f"{where} must be a list of 3 to {MOST_BINS + 1} numbers", advice=_DAMAGED)
    knots = tuple(require_number(knot, where) for knot in data)
    if not all(end / 2 - start / 2 > 0 for start, end in pairwise(knots)):
        raise DataError(f"{where} must increase", advice=_DAMAGED)
    return knots


def _read_levels(data: Mapping[str, object], where: str) -> Levels:
    require_keys(data, {"kind", "name", "levels", "gaps", "other"}, where)
    pairs = data["levels"]
    if not isinstance(pairs, list) or not pairs:
        raise DataError(f"{where}: levels must be a list that is not empty", advice=_DAMAGED)
    levels = [_read_level(pair, f"{where}: level {number}") for number, pair in enumerate(pairs)]
    if len(set(levels)) < len(levels):
        raise DataError(f"{where}: levels must differ", advice=_DAMAGED)
    gaps, other = (require_bool(data[key], f"{where}: {key}") for key in ("gaps", "other"))
    return Levels(require_text(data["name"], f"{where}: name"), tuple(levels), gaps=gaps, other=other)


def _read_level(pair: object, where: str) -> Level:
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
        raise DataError(f"{where} must be a pair of a type and a value", advice=_DAMAGED)
    readers: dict[str, Callable[[object, str], Level]] = {
        "text": require_text,
        "bool": require_bool,
        "integer": _require_integer,
        "number": require_number,
    }
    if pair[0] not in readers:
        raise DataError(f"{where} must have a type out of {listed(readers)}", advice=_DAMAGED)
    return readers[pair[0]](pair[1], where)


def _read_left_out(data: Mapping[str, object], where: str) -> LeftOut:
    require_keys(data, {"kind", "name", "reason"}, where)
    reason = require_text(data["reason"], f"{where}: reason")
    if reason not in LeftOut.REASONS:
        raise DataError(f"{where}: reason must be one of {listed(LeftOut.REASONS)}", advice=_DAMAGED)
    return LeftOut(require_text(data["name"], f"{where}: name"), reason)


def require_keys(data: Mapping[str, object], keys: set[str], where: str) -> None:
    """Raise `DataError` unless these are the keys, all of them and no others."""
    missing, unknown = sorted(keys - set(data)), [key for key in data if key not in keys]
    if missing or unknown:
        faults = [f"lacks {listed(missing)}"] if missing else []
        faults += [f"has the unknown key {quoted_value(unknown[0])}"] if unknown else []
        raise DataError(f"{where} {' and '.join(faults)}", advice=_DAMAGED)


def require_text(value: object, where: str) -> str:
    """The value if it is text."""
    if not isinstance(value, str):
        raise DataError(f"{where} must be text, but is of type {type(value).__name__}", advice=_DAMAGED)
    return value


def require_bool(value: object, where: str) -> bool:
    """The value if it is a bool."""
    if not isinstance(value, bool):
        raise DataError(f"{where} must be true or false, but is of type {type(value).__name__}", advice=_DAMAGED)
    return value


def require_number(value: object, where: str) -> float:
    """The value as a float if it is a finite number; writers of JSON may drop the point of a whole one."""
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53:
        return float(value)
    raise DataError(f"{where} must be a finite number, but is {_described(value)}", advice=_DAMAGED)


def _require_integer(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**64:
        raise DataError(f"{where} must be an integer of 64 bits, but is {_described(value)}", advice=_DAMAGED)
    return value


def _described(value: object) -> str:
    return format_value(value) if isinstance(value, float) else f"of type {type(value).__name__}"
