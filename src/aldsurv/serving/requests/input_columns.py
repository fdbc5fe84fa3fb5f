"""Columns that a model takes, and how a value of JSON or of CSV becomes one of theirs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import format_value
from aldsurv.columns.column_plans import ColumnPlan, LeftOut, Levels, Number
from aldsurv.errors import DataError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["BadValue", "InputColumn", "KnownStrata", "input_columns", "time_column"]

_NONE = type(None)
_NUMERIC = {int, float, _NONE}
_TRUTH = {"true": True, "false": False}
_LARGEST_INTEGER = 2**64


class BadValue(NamedTuple):
    """Place in a list of values, and what is wrong there."""

    place: int
    problem: str


@final
@dataclass(frozen=True)
class InputColumn:
    """One column of a model.

    Attributes
    ----------
    name
        Its name in requests.
    key
        Its name or position for the model.
    plan
        What was learned of it; None for strata beside the covariates, and for times.
    levels
        The levels of training, of a column that has some; () for numbers.
    used
        Whether the model uses it: others need not be given.
    strata
        Whether it says to which stratum a row belongs: other levels are refused.
    least
        The smallest number, where there is one; gaps are then refused, too.
    """

    name: str
    key: str | int
    plan: ColumnPlan | None
    levels: tuple[Any, ...] = ()
    used: bool = True
    strata: bool = False
    least: float | None = None

    @property
    def takes_text(self) -> bool:
        """Whether values may be text."""
        return any(isinstance(level, str) for level in self.levels)

    @property
    def takes_numbers(self) -> bool:
        """Whether values may be numbers."""
        return not self.levels or any(not isinstance(level, str) for level in self.levels)

    @property
    def takes_truth(self) -> bool:
        """Whether true and false may stand for 1 and 0."""
        if self.levels:
            return any(isinstance(level, bool) or level in (0, 1) for level in self.levels if level is not None)
        return isinstance(self.plan, Number) and (self.plan.low, self.plan.high) == (0.0, 1.0)

    def read(self, values: list[Any]) -> tuple[NDArray[Any], list[BadValue]]:
        """Values of JSON as the model takes them, and what is wrong with some of them."""
        kinds = set(map(type, values))
        if self.levels:
            # Text of any length is a level, if an unknown one.
            if (kinds <= {str, _NONE} and self.takes_text) or not (bad := self._bad(values)):
                return _objects(values), []
            return _objects(values), bad
        if kinds <= _NUMERIC and self.least is None:
            try:
                array = np.array(values, np.float64)
            except OverflowError:
                return np.empty(0), self._bad(values)
            # Of what is not finite only gaps are allowed, which are None.
            if int(np.count_nonzero(~np.isfinite(array))) == values.count(None):
                return array, []
        bad = self._bad(values)
        return (np.empty(0) if bad else np.array(values, np.float64)), bad

    def from_text(self, text: str, markers: frozenset[str]) -> Any:
        """What a field of CSV stands for; text that is no number stays text."""
        text = text.strip()
        if text in markers:
            return None
        if self.takes_text and (text in self.levels or not self.takes_numbers):
            return text
        if self.takes_truth and text.lower() in _TRUTH:
            return _TRUTH[text.lower()]
        if not text.isascii() or "_" in text:
            return text
        try:
            return float(text)
        except ValueError:
            return text

    def _bad(self, values: Sequence[Any]) -> list[BadValue]:
        problems = ((place, self._problem(value)) for place, value in enumerate(values))
        return [BadValue(place, problem) for place, problem in problems if problem]

    def _problem(self, value: Any) -> str:
        if value is None:
            return "a time must be given here" if self.least is not None else ""
        if isinstance(value, bool):
            return "" if self.takes_truth else f"must be {self.expected}, but is {str(value).lower()}"
        if isinstance(value, str):
            return "" if self.takes_text else f"must be {self.expected}, but is the text {quoted(value, 40)}"
        if not isinstance(value, (int, float)):
            kind = "an object" if isinstance(value, dict) else "a list"
            return f"must be {self.expected}, but is {kind}"
        if not self.takes_numbers:
            return f"must be {self.expected}, but is the number {format_value(value)}"
        if isinstance(value, float) and not math.isfinite(value):
            return f"must be finite, but is {value}; give null where a value is not known"
        if isinstance(value, int) and abs(value) >= _LARGEST_INTEGER and not _fits(value, bool(self.levels)):
            return "must be a number that a float can hold"
        if self.least is not None and value < self.least:
            return f"must be a time from {self.least:g} on, but is {format_value(value)}"
        return ""

    @property
    def expected(self) -> str:
        """What values are, in words."""
        kinds = [*(["a number"] if self.takes_numbers else []), *(["text"] if self.takes_text else [])]
        return " or ".join([*kinds, *(["true or false"] if self.takes_truth else [])])


@final
@dataclass(frozen=True)
class KnownStrata:
    """The combinations of levels that have a baseline, and the columns that they are of."""

    names: tuple[str, ...]
    known: frozenset[tuple[Any, ...]]

    def unknown(self, columns: dict[str, NDArray[Any]]) -> list[BadValue]:
        """Rows of other combinations."""
        if not self.names:
            return []
        rows = zip(*(_gaps_as_none(columns[name]) for name in self.names), strict=True)
        problem = f"is a stratum that training had not shown ({', '.join(map(quoted, self.names))}), without a baseline"
        return [BadValue(place, problem) for place, row in enumerate(rows) if row not in self.known]


def input_columns(model: SurvivalEstimator) -> tuple[tuple[InputColumn, ...], KnownStrata]:
    """The columns of a model in its order, and its strata; raises `DataError` for a model that takes no table."""
    inner = model.innermost
    if inner.features_ is None:
        raise DataError("the model was trained with an encoder and not on a table: predict with it in Python.")
    plans, strata = inner.columns_, inner.strata_columns_
    if inner.features_.named and any(isinstance(key, int) for key in plans):
        raise DataError("the model has strata by number beside columns with names: predict with it in Python.")
    columns = []
    for key, plan in plans.items():
        levels: tuple[Any, ...] = plan.levels if isinstance(plan, Levels) else ()
        if key in strata:
            place = strata.index(key)
            levels = tuple(dict.fromkeys(stratum[place] for stratum in inner.strata_))
        used = key in strata or not isinstance(plan, LeftOut)
        name = key if isinstance(key, str) else f"x{key}"
        columns.append(InputColumn(name, key, plan, levels, used, strata=key in strata))
    names = tuple(column if isinstance(column, str) else f"x{column}" for column in strata)
    return tuple(columns), KnownStrata(names, frozenset(inner.strata_))


def time_column(name: str) -> InputColumn:
    """A column of times from 0 on, without gaps."""
    return InputColumn(name, name, None, least=0.0)


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _gaps_as_none(column: NDArray[Any]) -> list[Any]:
    return [None if value != value else value for value in column.tolist()]


def _fits(value: int, as_level: bool) -> bool:
    if as_level:
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True
