"""One column of covariates: what was learned of it in training, and how it becomes numbers.

A plan is plain data. It is read back from untrusted files, so reading checks every field, and no message shows more
of a wrong value than its first characters.
"""

from __future__ import annotations

import datetime
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, ClassVar, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.column_reading import is_numeric_text
from aldsurv.errors import DataError

__all__ = [
    "ColumnPlan",
    "Learned",
    "LeftOut",
    "Level",
    "Levels",
    "NotPlainError",
    "Number",
    "Surprise",
    "learn_column",
    "plan_from_plain",
    "require_bool",
    "require_keys",
    "require_number",
]

Level: TypeAlias = str | int | float | bool
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Float32Array = NDArray[np.float32]

_LARGEST = float(np.finfo(np.float32).max)
_SMALLEST = float(np.finfo(np.float64).tiny)
# With fewer rows, values that all differ are no sign of an identifier.
_IDENTIFIER_ROWS = 20
_IDENTIFIER_WORDS = {"id", "ids", "pid", "uid", "uuid", "guid", "mrn", "identifier"}
_IDENTIFIER_NAMES = {"index", "row", "rownames", "patient", "subject", "unnamed: 0"}
# What is in the codes of a level column where no level is.
_GAP, _UNKNOWN = -1, -2

_REFUSED: dict[str, tuple[str, str]] = {
    "date": ("the date", "Subtract a start date and give the difference as a number in one unit, such as days."),
    "span": ("the time span", "Divide by one unit of time, such as one day, and give the number."),
    "bytes": ("the bytes", "Decode them to text first."),
}
_REFUSED_DTYPES = {"M": "date", "m": "span", "S": "bytes"}


class NotPlainError(DataError, TypeError):
    """An entry or a name of a type that has no meaning here; also a TypeError, as in scikit-learn."""


class Surprise(NamedTuple):
    """What a column holds that training had not shown: rows with gaps, rows with unknown levels, some of those."""

    gaps: int = 0
    unknown: int = 0
    examples: str = ""


class ColumnPlan(ABC):
    """What was learned of one column: a frozen value of numbers, text and bools."""

    kind: ClassVar[str]
    name: str

    @property
    def width(self) -> int:
        """How many columns of numbers it becomes."""
        return len(self.names_out)

    @property
    @abstractmethod
    def names_out(self) -> list[str]:
        """Names of those columns."""

    @property
    @abstractmethod
    def use(self) -> str:
        """How the column is used, in words."""

    @property
    @abstractmethod
    def gap_rule(self) -> str:
        """What becomes of gaps, in words."""

    @abstractmethod
    def fill(self, raw: NDArray[Any], label: str, out: Float32Array, clip: float | None) -> Surprise:
        """Write the column into `out`, zeros of shape (n, width)."""

    @abstractmethod
    def outside(self, raw: NDArray[Any], label: str) -> BoolArray:
        """Rows beyond what was seen in training."""

    def to_plain(self) -> dict[str, Any]:
        """The plan as what JSON can hold."""
        return {"kind": self.kind, **vars(self)}


@final
@dataclass(frozen=True)
class Number(ColumnPlan):
    """A column of numbers: (value - mean) / scale, gaps filled with the median."""

    kind: ClassVar[str] = "number"
    name: str
    mean: float
    scale: float
    median: float
    low: float
    high: float
    gaps: bool

    @property
    def names_out(self) -> list[str]:
        """The name, and one for the indicator of gaps."""
        return [self.name, f"{self.name} missing"] if self.gaps else [self.name]

    @property
    def use(self) -> str:
        """Whether it is scaled."""
        return "number" if (self.mean, self.scale) == (0.0, 1.0) else "number, scaled"

    @property
    def gap_rule(self) -> str:
        """What gaps are filled with."""
        return f"filled with {self.median:g}" + (", with an indicator" if self.gaps else "")

    def fill(self, raw: NDArray[Any], label: str, out: Float32Array, clip: float | None) -> Surprise:
        """Write the scaled values and, if training had gaps, whether there is one."""
        values = _numbers(raw, label)
        gaps = np.isnan(values)
        n_gaps = int(gaps.sum())
        if n_gaps:
            values[gaps] = self.median
        # A value can be too far from those of training for float32, or even for the difference in float64.
        bound = _LARGEST if clip is None else min(clip, _LARGEST)
        with np.errstate(over="ignore"):
            values -= self.mean
            values /= self.scale
        np.clip(values, -bound, bound, out=values)
        out[:, 0] = values
        if self.gaps:
            out[:, 1] = gaps
        return Surprise() if self.gaps else Surprise(gaps=n_gaps)

    def outside(self, raw: NDArray[Any], label: str) -> BoolArray:
        """Rows below the smallest or above the largest value of training; a gap is not."""
        values = _numbers(raw, label)
        return np.asarray((values < self.low) | (values > self.high))


@final
@dataclass(frozen=True)
class Levels(ColumnPlan):
    """A column of categories: one 0/1 column a level, for gaps seen in training, and for levels too rare to keep."""

    kind: ClassVar[str] = "levels"
    name: str
    levels: tuple[Level, ...]
    gaps: bool
    other: bool
    _code: dict[Level, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_code", {level: code for code, level in enumerate(self.levels)})

    @property
    def names_out(self) -> list[str]:
        """One name a level, then those for the rest and for gaps."""
        names = [f"{self.name}={_told(level)}" for level in self.levels]
        if self.other:
            names.append(f"{self.name} other")
        if self.gaps:
            names.append(f"{self.name} missing")
        return names

    @property
    def use(self) -> str:
        """How many levels there are."""
        n_levels = len(self.levels)
        return f"{n_levels} level{'s' * (n_levels != 1)}" + (" and the rest as one" if self.other else "")

    @property
    def gap_rule(self) -> str:
        """Whether gaps are a level."""
        return "a level of their own" if self.gaps else "none of the levels"

    def fill(self, raw: NDArray[Any], label: str, out: Float32Array, clip: float | None) -> Surprise:
        """Write a 1 where the level is; rows with no known level stay all zeros."""
        levels, inverse = _distinct_levels(raw, label)
        codes = self._codes(levels, inverse, label)
        code = codes[inverse]
        rows = np.flatnonzero(code >= 0)
        out[rows, code[rows]] = 1.0
        unknown = [_quoted(levels[position]) for position in np.flatnonzero(codes == _UNKNOWN)[:4]]
        examples = ", ".join(unknown[:3]) + ", …" * (len(unknown) > 3)
        return Surprise(int((code == _GAP).sum()), int((code == _UNKNOWN).sum()), examples)

    def outside(self, raw: NDArray[Any], label: str) -> BoolArray:
        """Rows with a level that training had not shown; where the rest is one level, none is."""
        levels, inverse = _distinct_levels(raw, label)
        return np.asarray(self._codes(levels, inverse, label)[inverse] == _UNKNOWN)

    def to_plain(self) -> dict[str, Any]:
        """The plan as what JSON can hold; each level with its type, which JSON blurs."""
        levels = [[_LEVEL_KINDS[type(level)], level] for level in self.levels]
        return {"kind": self.kind, "name": self.name, "levels": levels, "gaps": self.gaps, "other": self.other}

    def _codes(self, levels: list[Level | None], inverse: NDArray[np.intp], label: str) -> NDArray[np.intp]:
        """The output column of each distinct value."""
        n_levels = len(self.levels)
        gap_code = n_levels + self.other if self.gaps else _GAP
        unknown_code = n_levels if self.other else _UNKNOWN
        text = {isinstance(level, str) for level in self.levels}
        for position, level in enumerate(levels):
            if level is not None and len(text) == 1 and isinstance(level, str) not in text:
                row = int(np.argmax(inverse == position))
                before, now = ("text", "number") if True in text else ("numbers", "text")
                raise DataError(
                    f"{label} held {before} in training, but row {row} holds the {now} {_quoted(level)}. "
                    "Give the column as it was in training."
                )
        code = (gap_code if level is None else self._code.get(level, unknown_code) for level in levels)
        return np.fromiter(code, np.intp, len(levels))


@final
@dataclass(frozen=True)
class LeftOut(ColumnPlan):
    """A column that is not used, whatever it holds."""

    kind: ClassVar[str] = "left out"
    REASONS: ClassVar[tuple[str, ...]] = ("constant", "no values", "identifier")
    name: str
    reason: str

    @property
    def names_out(self) -> list[str]:
        """None."""
        return []

    @property
    def use(self) -> str:
        """Why it is left out."""
        return f"left out: {self.reason}"

    @property
    def gap_rule(self) -> str:
        """Nothing to say."""
        return ""

    def fill(self, raw: NDArray[Any], label: str, out: Float32Array, clip: float | None) -> Surprise:
        """Write nothing."""
        return Surprise()

    def outside(self, raw: NDArray[Any], label: str) -> BoolArray:
        """No row."""
        return np.zeros(raw.size, np.bool_)


class Learned(NamedTuple):
    """A plan, and whether its numbers look like an identifier."""

    plan: ColumnPlan
    looks_like_identifier: bool = False


def learn_column(
    raw: NDArray[Any], name: str, label: str, *, listed: bool, categorical: bool, scale: bool, max_levels: int
) -> Learned:
    """Learn one column; `listed` says that the user called it categorical, `categorical` that its type does."""
    kinds = _kinds(raw, label)
    if not kinds - {"gap"}:
        return Learned(LeftOut(name, "no values"))
    if listed or categorical or "text" in kinds:
        return Learned(_learn_levels(raw, name, label, listed, categorical, max_levels))
    values = _numbers(raw, label)
    gaps = np.isnan(values)
    has_gaps = bool(gaps.any())
    known = values[~gaps] if has_gaps else values
    if known.size == 0:
        return Learned(LeftOut(name, "no values"))
    low, high = float(known.min()), float(known.max())
    if low == high:
        # One value or none, as in a box that was ticked or left blank: the gaps are what tells.
        return Learned(Levels(name, (low,), gaps=True, other=False) if has_gaps else LeftOut(name, "constant"))
    with np.errstate(over="ignore"):
        median = min(max(float(np.median(known)), low), high)
    identifier = _looks_like_identifier(known, name, low, high)
    # 0/1 columns are scaled like all others: the weights of a network start at one size for all columns, so that
    # every column should vary as much.
    mean, deviation = _mean_and_deviation(known, low, high) if scale else (0.0, 1.0)
    return Learned(Number(name, mean, deviation, median, low, high, has_gaps), identifier)


def plan_from_plain(plain: object, where: str) -> ColumnPlan:
    """Read a plan back from plain data that may be anything; `where` is what messages call it."""
    kinds = {"number": _number_from_plain, "levels": _levels_from_plain, "left out": _left_out_from_plain}
    if not isinstance(plain, Mapping) or not isinstance(plain.get("kind"), str) or plain["kind"] not in kinds:
        raise DataError(f"{where} must be an object whose kind is one of {', '.join(map(repr, kinds))}. {_DAMAGED}")
    return kinds[plain["kind"]](plain, where)


# ---- learning ----


def _learn_levels(
    raw: NDArray[Any], name: str, label: str, listed: bool, categorical: bool, max_levels: int
) -> ColumnPlan:
    levels, inverse = _distinct_levels(raw, label)
    counts: dict[Level, int] = {}
    for level, count in zip(levels, np.bincount(inverse, minlength=len(levels)).tolist(), strict=True):
        if level is not None:
            counts[level] = counts.get(level, 0) + count
    gaps = None in levels
    if not counts:
        return LeftOut(name, "no values")
    if not (listed or categorical):
        _refuse_numbers_as_text(levels, inverse, label)
    if len(counts) == 1 and not gaps:
        return LeftOut(name, "constant")
    if not listed and len(counts) >= _IDENTIFIER_ROWS and max(counts.values()) == 1 and str in map(type, counts):
        return LeftOut(name, "identifier")
    kept = sorted(counts, key=_level_order)
    if len(kept) > max_levels:
        # The sort is stable: of equally frequent levels the first in order stay.
        kept = sorted(sorted(kept, key=lambda level: -counts[level])[:max_levels], key=_level_order)
    return Levels(name, tuple(kept), gaps=gaps, other=len(kept) < len(counts))


def _mean_and_deviation(values: FloatArray, low: float, high: float) -> tuple[float, float]:
    """Mean and standard deviation, overwriting the values; in units of half the range nothing over- or underflows."""
    middle = low / 2 + high / 2
    half = max(high / 2 - low / 2, _SMALLEST)
    values -= middle
    values /= half
    mean = float(values.mean())
    values -= mean
    np.square(values, out=values)
    return middle + half * mean, max(half * math.sqrt(float(values.mean())), _SMALLEST)


def _looks_like_identifier(values: FloatArray, name: str, low: float, high: float) -> bool:
    if values.size < _IDENTIFIER_ROWS or not (values[:_IDENTIFIER_ROWS] % 1 == 0).all():
        return False
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    named = bool(words & _IDENTIFIER_WORDS) or name.strip().lower() in _IDENTIFIER_NAMES
    if not named and high - low != values.size - 1:
        return False
    ordered = np.sort(values)
    return bool((ordered[1:] > ordered[:-1]).all() if named else (np.diff(ordered) == 1).all())


def _refuse_numbers_as_text(levels: list[Level | None], inverse: NDArray[np.intp], label: str) -> None:
    known = [level for level in levels if level is not None]
    numeric = [level for level in known if not isinstance(level, str) or is_numeric_text(level)]
    if 2 * len(numeric) <= len(known):
        return
    text = [level for level in known if isinstance(level, str)]
    words = [level for level in text if not is_numeric_text(level)]
    shown = (words or text)[0]
    row = int(np.argmax(inverse == levels.index(shown)))
    found = "numbers mixed with text" if words else "numbers as text"
    remedy = "Put a gap (NaN) in place of such text" if words else "Convert the column to float"
    raise DataError(
        f"{label} holds {found} (first: row {row}, {_quoted(shown)}). {remedy}, "
        "or list the column in categorical if its numbers are codes."
    )


# ---- reading entries ----


def _kinds(raw: NDArray[Any], label: str) -> set[str]:
    """What a column holds, out of "number", "text" and "gap"; everything else is refused."""
    if raw.dtype.kind in "biuf":
        return {"number"}
    if raw.dtype.kind in "UT":
        return {"text"}
    if raw.dtype.kind == "c":
        raise _complex_refusal(label)
    if raw.dtype.kind in _REFUSED_DTYPES:
        raise _refusal(label, _REFUSED_DTYPES[raw.dtype.kind], 0, raw[0])
    items = raw.tolist()
    kinds = _kinds_of_types(items)
    allowed = {"number", "text", "gap"}
    if not set(kinds.values()) <= allowed:
        row = next(row for row, item in enumerate(items) if kinds[type(item)] not in allowed)
        raise _refusal(label, kinds[type(items[row])], row, items[row])
    return set(kinds.values())


def _kinds_of_types(items: list[Any]) -> dict[type, str]:
    """What each type among the entries is, from one entry of it: a look at every entry would be slow."""
    samples = dict(zip(map(type, items), items, strict=True))
    return {found: _kind(sample) for found, sample in samples.items()}


def _kind(item: Any) -> str:
    """What an entry is; the same for all entries of its type, but for NaN, which counts as a number here."""
    if isinstance(item, str):
        return "text"
    if isinstance(item, (datetime.timedelta, np.timedelta64)):  # numpy counts the latter among the integers
        return "span"
    if isinstance(item, (Real, Decimal, np.bool_)):
        return "number"
    if isinstance(item, Complex):
        return "complex"
    if isinstance(item, bytes):
        return "bytes"
    if isinstance(item, (datetime.time, np.datetime64)):
        return "date"
    if item is None or (not isinstance(item, Sized) and _differs_from_itself(item)):
        return "gap"
    return "date" if isinstance(item, datetime.date) else "other"


def _differs_from_itself(item: Any) -> bool:
    """True for NaT, and for pandas' NA, which refuses to be compared."""
    try:
        return bool(item != item)
    except TypeError:
        return True


def _refusal(label: str, kind: str, row: int, item: Any) -> DataError:
    if kind == "complex":
        return _complex_refusal(label)
    if kind in _REFUSED:
        what, remedy = _REFUSED[kind]
        return DataError(f"{label} must hold numbers or text, but row {row} holds {what} {_told(item)}. {remedy}")
    return NotPlainError(
        f"{label} must hold numbers or text, but row {row} holds {_told(item)} of type {type(item).__name__} "
        "(an argument must be a string or a number). Give one plain value a row, such as its text."
    )


def _complex_refusal(label: str) -> DataError:
    return DataError(f"Complex data not supported: {label} holds complex numbers. Give real numbers.")


def _numbers(raw: NDArray[Any], label: str) -> FloatArray:
    """A fresh float64 column, NaN where there is a gap; text and infinite values are refused."""
    kinds = _kinds(raw, label)
    if "text" in kinds:
        items = raw.tolist()
        row = next(row for row, item in enumerate(items) if isinstance(item, str))
        remedy = (
            "Convert the column to numbers first." if is_numeric_text(items[row]) else "Put a gap (NaN) in its place."
        )
        raise DataError(
            f"{label} held numbers in training, but row {row} holds the text {_quoted(items[row])}. {remedy}"
        )
    if raw.dtype.kind == "O":
        raw = _float_objects(raw.tolist(), label)
    values = np.array(raw, np.float64)
    if not (np.isfinite(values.min()) and np.isfinite(values.max())) and np.isinf(values).any():
        raise _infinite_refusal(label, np.isinf(values), values)
    return values


def _float_objects(items: list[Any], label: str) -> FloatArray:
    kinds = _kinds_of_types(items)
    # numpy reads None as NaN.
    items = [None if kinds[type(item)] == "gap" else item for item in items]
    try:
        return np.array(items, np.float64)
    except (OverflowError, ValueError):
        row = next(row for row, item in enumerate(items) if item is not None and math.isinf(_float(item)))
    raise DataError(
        f"{label} must be finite, but row {row} holds {_told(items[row])}, which no float can hold. "
        "Rescale the column or put a gap (NaN) there."
    )


def _float(item: Any) -> float:
    """A number as a float, infinite where no float can hold it."""
    try:
        return float(item)
    except (OverflowError, ValueError):
        return math.inf


def _infinite_refusal(label: str, infinite: BoolArray, values: NDArray[Any]) -> DataError:
    row, count = int(np.argmax(infinite)), int(infinite.sum())
    return DataError(
        f"{label} must be finite, but {count} of {infinite.size} values {'is' if count == 1 else 'are'} not "
        f"(first: row {row}, {float(values[row])}). Put NaN where a value is not known, or correct those rows."
    )


def _distinct_levels(raw: NDArray[Any], label: str) -> tuple[list[Level | None], NDArray[np.intp]]:
    """Distinct values, None for a gap, and which of them is in each row."""
    _kinds(raw, label)
    if raw.dtype.kind in "biuf":
        distinct, inverse = np.unique(raw, return_inverse=True)
        items = distinct.tolist()
    else:
        code: dict[Any, int] = {}
        codes = (code.setdefault(item, len(code)) for item in raw.tolist())
        inverse = np.fromiter(codes, np.intp, raw.size)
        items = list(code)
    levels = [_level(item) for item in items]
    infinite = [position for position, level in enumerate(levels) if isinstance(level, float) and math.isinf(level)]
    if infinite:
        row = int(np.argmax(np.isin(inverse, infinite)))
        raise DataError(
            f"{label} must be finite, but row {row} holds {_told(items[inverse[row]])}. "
            "Put a gap (NaN) where a value is not known, or correct that row."
        )
    return levels, inverse


def _level(item: Any) -> Level | None:
    """An entry as one of four plain types, None for a gap; what needs more than 64 bits counts as infinite."""
    if isinstance(item, str):
        return str(item)
    if isinstance(item, (bool, np.bool_)):
        return bool(item)
    if isinstance(item, (int, np.integer)):
        return int(item) if abs(int(item)) < 2**64 else math.inf
    number = math.nan if _kind(item) == "gap" else _float(item)
    return None if math.isnan(number) else number


def _level_order(level: Level) -> tuple[bool, Any]:
    """Numbers before text, which do not compare."""
    return isinstance(level, str), level


def _told(value: Any) -> str:
    """A value as messages and names show it: short, and whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, str):
        return value if len(value) <= 60 else value[:59] + "…"
    try:
        return _told(str(value))
    except (RecursionError, ValueError):  # too deep, or an integer of more digits than Python writes
        return "a value"


def _quoted(value: Any) -> str:
    return repr(_told(value)) if isinstance(value, str) else _told(value)


# ---- reading plans back ----

_DAMAGED = "The file is damaged or was not written by aldsurv."
_LEVEL_KINDS: dict[type, str] = {str: "text", bool: "bool", int: "integer", float: "number"}


def _number_from_plain(plain: Mapping[str, Any], where: str) -> Number:
    numbers = ("mean", "scale", "median", "low", "high")
    require_keys(plain, {"kind", "name", *numbers, "gaps"}, where)
    read = {key: require_number(plain[key], f"{where}: {key}") for key in numbers}
    name, gaps = require_text(plain["name"], f"{where}: name"), require_bool(plain["gaps"], f"{where}: gaps")
    plan = Number(name, read["mean"], read["scale"], read["median"], read["low"], read["high"], gaps)
    if not plan.scale > 0:
        raise DataError(f"{where}: scale must be positive, but is {plan.scale:g}. {_DAMAGED}")
    if not (plan.low < plan.high and plan.low <= plan.median <= plan.high):
        raise DataError(
            f"{where}: low < high with the median between them is required, but low is {plan.low:g}, "
            f"high {plan.high:g} and median {plan.median:g}. {_DAMAGED}"
        )
    return plan


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
        told += [f"has the unknown key {_quoted(unknown[0])}"] if unknown else []
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
    return _told(value) if isinstance(value, float) else f"of type {type(value).__name__}"
