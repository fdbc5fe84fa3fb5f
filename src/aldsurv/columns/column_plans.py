"""One column of covariates: what was learned of it in training, and how it becomes numbers.

`aldsurv.columns.plan_reading` reads plans back from the dicts that they give.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import (
    ColumnKey,
    Level,
    covariate_error,
    distinct_levels,
    format_value,
    quoted_value,
    read_numbers,
)
from aldsurv.plain_numbers import plain_number

__all__ = [
    "LEVEL_KINDS",
    "MOST_BINS",
    "ColumnPlan",
    "LeftOut",
    "Levels",
    "Number",
    "RowFlags",
    "UnseenValues",
    "as_single",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Float32Array = NDArray[np.float32]

_LARGEST = float(np.finfo(np.float32).max)
# Numbers from here on have all digits in float32, which must be enough for their distances: the largest number is at
# most so many times their range.
_LEAST_SINGLE, _MOST_DISTANT = 1e-30, 1024.0
# Rows whose pieces are computed at once.
_ROWS_AT_ONCE = 1000
# More pieces than this no table has rows for.
MOST_BINS = 1000
# The name of a level's type in the dict of a plan.
LEVEL_KINDS: dict[type, str] = {str: "text", bool: "bool", int: "integer", float: "number"}
# What is in the codes of a level column where no level is.
_GAP, _UNKNOWN = -1, -2


class UnseenValues(NamedTuple):
    """What a column holds that training had not shown: rows with gaps, rows with unknown levels, some of those."""

    gaps: int = 0
    unknown: int = 0
    examples: str = ""


class RowFlags(NamedTuple):
    """What is to be said of each row (n,) of a column.

    Attributes
    ----------
    beyond
        A number below the smallest or above the largest of training.
    unknown
        A level that training had not shown; where rare levels share one, none is.
    gap
        No value: the plan's `gap_rule` says what is done about it.
    """

    beyond: BoolArray
    unknown: BoolArray
    gap: BoolArray


class ColumnPlan(ABC):
    """What was learned of one column: a frozen value of numbers, text and bools."""

    kind: ClassVar[str]
    name: str

    @property
    @abstractmethod
    def width(self) -> int:
        """How many columns of numbers it becomes."""

    @property
    @abstractmethod
    def names_out(self) -> list[str]:
        """Names of those columns."""

    @property
    def pieces(self) -> int:
        """How many of those columns, the last ones, are pieces of a column of numbers."""
        return 0

    @property
    @abstractmethod
    def use(self) -> str:
        """How the column is used, in words."""

    @property
    @abstractmethod
    def gap_rule(self) -> str:
        """What becomes of gaps, in words."""

    @abstractmethod
    def fill(self, raw: NDArray[Any], column: ColumnKey, out: Float32Array, clip: float | None) -> UnseenValues:
        """Write the column into `out`, zeros of shape (n, width)."""

    @abstractmethod
    def outside(self, raw: NDArray[Any], column: ColumnKey) -> BoolArray:
        """Rows beyond what was seen in training."""

    @abstractmethod
    def row_flags(self, raw: NDArray[Any], column: ColumnKey) -> RowFlags:
        """Which rows lie beyond training, have an unknown level, or a gap."""

    def to_dict(self) -> dict[str, object]:
        """The plan as JSON can hold it."""
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
    def width(self) -> int:
        """As many as `names_out`."""
        return 1 + self.gaps + self.pieces

    @property
    def names_out(self) -> list[str]:
        """The name, one for the indicator of gaps, and one for each piece."""
        pieces = [f"{self.name} piece {k + 1}" for k in range(self.pieces)]
        return [self.name, *([f"{self.name} missing"] if self.gaps else []), *pieces]

    @property
    def pieces(self) -> int:
        """One between two knots."""
        return max(len(self.knots) - 1, 0)

    @property
    def use(self) -> str:
        """Whether it is scaled, and in pieces."""
        pieces = f", {self.pieces} pieces" if self.knots else ""
        return ("number" if (self.mean, self.scale) == (0.0, 1.0) else "number, scaled") + pieces

    @property
    def gap_rule(self) -> str:
        """What gaps are filled with."""
        return f"filled with {plain_number(self.median)}" + (", with an indicator" if self.gaps else "")

    def fill(self, raw: NDArray[Any], column: ColumnKey, out: Float32Array, clip: float | None) -> UnseenValues:
        """Write the scaled values and, if training had gaps, whether there is one."""
        values = read_numbers(raw, column)
        if out.dtype == np.float32:
            values = as_single(values, self.low, self.high)
        gaps = np.isnan(values)
        n_gaps = int(gaps.sum())
        if n_gaps:
            values[gaps] = self.median
        if self.knots:
            self._fill_pieces(values, out[:, 1 + self.gaps :])
        # A value can be too far from those of training for float32, or even for the difference in float64.
        bound = _LARGEST if clip is None else min(clip, _LARGEST)
        with np.errstate(over="ignore"):
            values -= self.mean
            values /= self.scale
        np.clip(values, -bound, bound, out=values)
        out[:, 0] = values
        if self.gaps:
            out[:, 1] = gaps
        return UnseenValues() if self.gaps else UnseenValues(gaps=n_gaps)

    def _fill_pieces(self, values: FloatArray, out: Float32Array) -> None:
        """Write how far values have come through each piece, some rows at a time for all pieces at once."""
        # Halves, for the difference of two far ends may be beyond what a float can hold.
        ends = np.array(self.knots)[:, None] / 2
        first, length = ends[:-1], np.diff(ends, axis=0)
        for start in range(0, len(values), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            with np.errstate(over="ignore"):
                passed = values[rows] / 2 - first
                passed /= length
            out[rows] = np.clip(passed, 0.0, 1.0, out=passed).T

    def outside(self, raw: NDArray[Any], column: ColumnKey) -> BoolArray:
        """Rows below the smallest or above the largest value of training; a gap is not."""
        values = read_numbers(raw, column)
        return np.asarray((values < self.low) | (values > self.high))

    def row_flags(self, raw: NDArray[Any], column: ColumnKey) -> RowFlags:
        """Rows beyond the range, and gaps."""
        values = read_numbers(raw, column)
        beyond = np.asarray((values < self.low) | (values > self.high))
        return RowFlags(beyond, np.zeros(values.size, np.bool_), np.isnan(values))

    def to_dict(self) -> dict[str, object]:
        """The plan as JSON can hold it; knots only if there are any, as in files from before there were."""
        fields = super().to_dict()
        del fields["knots"]
        return {**fields, "knots": list(self.knots)} if self.knots else fields


@final
@dataclass(frozen=True)
class Levels(ColumnPlan):
    """A column of categories: one 0/1 column per level, for gaps seen in training, and for levels too rare to keep."""

    kind: ClassVar[str] = "levels"
    name: str
    levels: tuple[Level, ...]
    gaps: bool
    other: bool
    _code: dict[Level, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_code", {level: code for code, level in enumerate(self.levels)})

    @property
    def width(self) -> int:
        """As many as `names_out`."""
        return len(self.levels) + self.other + self.gaps

    @property
    def names_out(self) -> list[str]:
        """One name per level, then those for the rest and for gaps."""
        names = [f"{self.name}={format_value(level)}" for level in self.levels]
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

    def fill(self, raw: NDArray[Any], column: ColumnKey, out: Float32Array, clip: float | None) -> UnseenValues:
        """Write a 1 where the level is; rows with no known level stay all zeros."""
        levels, inverse = distinct_levels(raw, column)
        codes = self._codes(levels, inverse, column)
        code = codes[inverse]
        rows = np.flatnonzero(code >= 0)
        out[rows, code[rows]] = 1.0
        unknown = [quoted_value(levels[position]) for position in np.flatnonzero(codes == _UNKNOWN)[:4]]
        examples = ", ".join(unknown[:3]) + ", …" * (len(unknown) > 3)
        return UnseenValues(int((code == _GAP).sum()), int((code == _UNKNOWN).sum()), examples)

    def outside(self, raw: NDArray[Any], column: ColumnKey) -> BoolArray:
        """Rows with a level that training had not shown; where the rest is one level, none is."""
        levels, inverse = distinct_levels(raw, column)
        return np.asarray(self._codes(levels, inverse, column)[inverse] == _UNKNOWN)

    def row_flags(self, raw: NDArray[Any], column: ColumnKey) -> RowFlags:
        """Rows with unknown levels, and gaps."""
        levels, inverse = distinct_levels(raw, column)
        unknown = np.asarray(self._codes(levels, inverse, column)[inverse] == _UNKNOWN)
        gap = np.array([level is None for level in levels], np.bool_)[inverse]
        return RowFlags(np.zeros(unknown.size, np.bool_), unknown, gap)

    def to_dict(self) -> dict[str, object]:
        """The plan as JSON can hold it; each level with its type, which JSON blurs."""
        levels = [[LEVEL_KINDS[type(level)], level] for level in self.levels]
        return {"kind": self.kind, "name": self.name, "levels": levels, "gaps": self.gaps, "other": self.other}

    def _codes(self, levels: list[Level | None], inverse: NDArray[np.intp], column: ColumnKey) -> NDArray[np.intp]:
        """The output column of each distinct value."""
        n_levels = len(self.levels)
        gap_code = n_levels + self.other if self.gaps else _GAP
        unknown_code = n_levels if self.other else _UNKNOWN
        text = {isinstance(level, str) for level in self.levels}
        for position, level in enumerate(levels):
            if level is not None and len(text) == 1 and isinstance(level, str) not in text:
                row = int(np.argmax(inverse == position))
                before, now = ("text", "number") if True in text else ("numbers", "text")
                problem = f"the column held {before} in training, but now holds the {now} {quoted_value(level)}"
                raise covariate_error(problem, column, row, "Give the column as it was in training.")
        code = (gap_code if level is None else self._code.get(level, unknown_code) for level in levels)
        return np.fromiter(code, np.intp, len(levels))


@final
@dataclass(frozen=True)
class LeftOut(ColumnPlan):
    """A column that is not used, whatever it holds."""

    kind: ClassVar[str] = "left out"
    REASONS: ClassVar[tuple[str, ...]] = ("constant", "no values", "identifier", "nearly unique")
    name: str
    reason: str

    @property
    def width(self) -> int:
        """None."""
        return 0

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

    def fill(self, raw: NDArray[Any], column: ColumnKey, out: Float32Array, clip: float | None) -> UnseenValues:
        """Write nothing."""
        return UnseenValues()

    def outside(self, raw: NDArray[Any], column: ColumnKey) -> BoolArray:
        """No row."""
        return np.zeros(raw.size, np.bool_)

    def row_flags(self, raw: NDArray[Any], column: ColumnKey) -> RowFlags:
        """No row: whatever is there is not used."""
        none = np.zeros(raw.size, np.bool_)
        return RowFlags(none, none, none)


def as_single(values: FloatArray, low: float, high: float) -> FloatArray:
    """Values rounded to float32, unless what is between the lowest and the highest needs more digits.

    A network takes float32 in any case. Rounded before they are scaled, the same numbers come out of a column of
    either type; its training would make much of the difference.
    """
    largest = max(abs(low), abs(high))
    if not _LEAST_SINGLE < largest < _LARGEST or largest / 2 > _MOST_DISTANT * (high / 2 - low / 2):
        return values
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64)
