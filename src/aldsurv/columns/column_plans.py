"""One column of covariates: what was learned of it in training, and how it becomes numbers.

A plan is plain data; `feature_plain` reads it back.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import (
    Level,
    distinct_levels,
    entry_kinds,
    level_order,
    quoted,
    read_numbers,
    told,
)
from aldsurv.data.outcome_columns import is_numeric_text
from aldsurv.errors import DataError

__all__ = [
    "LEVEL_KINDS",
    "MOST_BINS",
    "ColumnPlan",
    "Learned",
    "LeftOut",
    "Levels",
    "Number",
    "Surprise",
    "learn_column",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Float32Array = NDArray[np.float32]

_LARGEST = float(np.finfo(np.float32).max)
_SMALLEST = float(np.finfo(np.float64).tiny)
# Numbers from here on have all digits in float32, which must be enough for their distances: the largest number is at
# most so many times their range.
_LEAST_SINGLE, _MOST_DISTANT = 1e-30, 1024.0
# With fewer rows, values that all differ are no sign of an identifier.
_IDENTIFIER_ROWS = 20
_IDENTIFIER_WORDS = {"id", "ids", "pid", "uid", "uuid", "guid", "mrn", "identifier"}
_IDENTIFIER_NAMES = {"index", "row", "rownames", "patient", "subject", "unnamed: 0"}
# More pieces than this no table has rows for.
MOST_BINS = 1000
# What plain data call the type of a level.
LEVEL_KINDS: dict[type, str] = {str: "text", bool: "bool", int: "integer", float: "number"}
# What is in the codes of a level column where no level is.
_GAP, _UNKNOWN = -1, -2


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
    """A column of numbers: (value - mean) / scale, gaps filled with the median.

    With knots, which are some of its quantiles, there is a further column for each piece between two of them: how far
    the value has come through the piece, from 0 at its lower end to 1 at its upper one. A layer of such columns is a
    broken line, which a network otherwise has to learn to bend.
    """

    kind: ClassVar[str] = "number"
    name: str
    mean: float
    scale: float
    median: float
    low: float
    high: float
    gaps: bool
    knots: tuple[float, ...] = ()

    @property
    def names_out(self) -> list[str]:
        """The name, one for the indicator of gaps, and one for each piece."""
        pieces = [f"{self.name} piece {k}" for k in range(1, len(self.knots))]
        return [self.name, *([f"{self.name} missing"] if self.gaps else []), *pieces]

    @property
    def use(self) -> str:
        """Whether it is scaled, and in pieces."""
        pieces = f", {len(self.knots) - 1} pieces" if self.knots else ""
        return ("number" if (self.mean, self.scale) == (0.0, 1.0) else "number, scaled") + pieces

    @property
    def gap_rule(self) -> str:
        """What gaps are filled with."""
        return f"filled with {self.median:g}" + (", with an indicator" if self.gaps else "")

    def fill(self, raw: NDArray[Any], label: str, out: Float32Array, clip: float | None) -> Surprise:
        """Write the scaled values and, if training had gaps, whether there is one."""
        values = read_numbers(raw, label)
        if out.dtype == np.float32:
            values = _in_single(values, self.low, self.high)
        gaps = np.isnan(values)
        n_gaps = int(gaps.sum())
        if n_gaps:
            values[gaps] = self.median
        for k, (start, end) in enumerate(pairwise(self.knots), start=1 + self.gaps):
            with np.errstate(over="ignore"):
                # Halves, for the difference of two far ends may be beyond what a float can hold.
                out[:, k] = np.clip((values / 2 - start / 2) / (end / 2 - start / 2), 0.0, 1.0)
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
        values = read_numbers(raw, label)
        return np.asarray((values < self.low) | (values > self.high))

    def to_plain(self) -> dict[str, Any]:
        """The plan as what JSON can hold; knots only if there are any, as in files from before there were."""
        plain = super().to_plain()
        knots = list(plain.pop("knots"))
        return {**plain, "knots": knots} if knots else plain


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
        names = [f"{self.name}={told(level)}" for level in self.levels]
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
        levels, inverse = distinct_levels(raw, label)
        codes = self._codes(levels, inverse, label)
        code = codes[inverse]
        rows = np.flatnonzero(code >= 0)
        out[rows, code[rows]] = 1.0
        unknown = [quoted(levels[position]) for position in np.flatnonzero(codes == _UNKNOWN)[:4]]
        examples = ", ".join(unknown[:3]) + ", …" * (len(unknown) > 3)
        return Surprise(int((code == _GAP).sum()), int((code == _UNKNOWN).sum()), examples)

    def outside(self, raw: NDArray[Any], label: str) -> BoolArray:
        """Rows with a level that training had not shown; where the rest is one level, none is."""
        levels, inverse = distinct_levels(raw, label)
        return np.asarray(self._codes(levels, inverse, label)[inverse] == _UNKNOWN)

    def to_plain(self) -> dict[str, Any]:
        """The plan as what JSON can hold; each level with its type, which JSON blurs."""
        levels = [[LEVEL_KINDS[type(level)], level] for level in self.levels]
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
                    f"{label} held {before} in training, but row {row} holds the {now} {quoted(level)}. "
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
    raw: NDArray[Any],
    name: str,
    label: str,
    *,
    listed: bool,
    categorical: bool,
    scale: bool,
    max_levels: int,
    bins: int,
    exact: bool = False,
) -> Learned:
    """Learn one column; `listed` says that the user called it categorical, `categorical` that its type does.

    Unless `exact`, what is learned of numbers is the same from a column in float32 and from one in float64.
    """
    kinds = entry_kinds(raw, label)
    if not kinds - {"gap"}:
        return Learned(LeftOut(name, "no values"))
    if listed or categorical or "text" in kinds:
        return Learned(_learn_levels(raw, name, label, listed, categorical, max_levels))
    values = read_numbers(raw, label)
    gaps = np.isnan(values)
    has_gaps = bool(gaps.any())
    known = values[~gaps] if has_gaps else values
    if known.size == 0:
        return Learned(LeftOut(name, "no values"))
    low, high = float(known.min()), float(known.max())
    if low == high:
        # One value or none, as in a box that was ticked or left blank: the gaps are what tells.
        return Learned(Levels(name, (low,), gaps=True, other=False) if has_gaps else LeftOut(name, "constant"))
    identifier = _looks_like_identifier(known, name, low, high)
    if not exact:
        known = _in_single(known, low, high)
    with np.errstate(over="ignore"):
        median = min(max(float(np.median(known)), low), high)
    # 0/1 columns are scaled like all others: the weights of a network start at one size for all columns, so that
    # every column should vary as much.
    knots = _knots(known, bins) if bins else ()
    mean, deviation = (0.0, 1.0)
    if scale:
        mean, deviation = _mean_and_deviation(known, float(known.min()), float(known.max()))
    return Learned(Number(name, mean, deviation, median, low, high, has_gaps, knots), identifier)


def _in_single(values: FloatArray, low: float, high: float) -> FloatArray:
    """Values as float32 holds them, unless what is between the lowest and the highest needs more digits.

    A network takes float32 in any case. Rounded before they are scaled, the same numbers come out of a column of
    either type; its training would make much of the difference.
    """
    largest = max(abs(low), abs(high))
    if not _LEAST_SINGLE < largest < _LARGEST or largest / 2 > _MOST_DISTANT * (high / 2 - low / 2):
        return values
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64)


def _knots(values: FloatArray, bins: int) -> tuple[float, ...]:
    """Quantiles that divide the values into pieces of about as many rows; none if a single piece would be all.

    They are values that occur: between two of a column's few values there is nothing to bend at.
    """
    found = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1), method="closest_observation"))
    # Ends so near to each other that no number lies between their halves make no piece.
    kept = [float(found[0])]
    for value in found[1:].tolist():
        if value / 2 - kept[-1] / 2 > 0:
            kept.append(value)
    return tuple(kept) if len(kept) > 2 else ()


def _learn_levels(
    raw: NDArray[Any], name: str, label: str, listed: bool, categorical: bool, max_levels: int
) -> ColumnPlan:
    levels, inverse = distinct_levels(raw, label)
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
    kept = sorted(counts, key=level_order)
    if len(kept) > max_levels:
        # The sort is stable: of equally frequent levels the first in order stay.
        kept = sorted(sorted(kept, key=lambda level: -counts[level])[:max_levels], key=level_order)
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
        f"{label} holds {found} (first: row {row}, {quoted(shown)}). {remedy}, "
        "or list the column in categorical if its numbers are codes."
    )
