"""Numbers and choices that users give: one table of constraints per function or model, one wording of what is wrong."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import final

from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

__all__ = [
    "Choice",
    "Constraint",
    "Flag",
    "Number",
    "OrNone",
    "Satisfies",
    "Sizes",
    "Text",
    "WholeNumber",
    "check",
    "check_all",
    "declared_constraints",
    "is_number",
    "is_whole_number",
    "listed",
]


def is_number(value: object) -> bool:
    """Whether a value is a real number of Python or numpy; True and False are not numbers here."""
    return isinstance(value, Real) and not isinstance(value, (bool, str))


def is_whole_number(value: object) -> bool:
    """Whether a value is an integer of Python or numpy; True and False are not."""
    return isinstance(value, Integral) and is_number(value)


def listed(values: Iterable[object], most: int = 12) -> str:
    """Values of a list, quoted, with commas between them; of a long one the first and how many more there are."""
    items = list(values)
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(quoted(item) for item in items[:most]) + more


class Constraint(ABC):
    """What a value may be: whether one is allowed, and the allowed values in words."""

    @abstractmethod
    def allows(self, value: object) -> bool:
        """Whether the value is allowed."""

    @abstractmethod
    def describe(self) -> str:
        """The allowed values, to follow "must be"."""


@final
@dataclass(frozen=True)
class Number(Constraint):
    """A finite number within bounds.

    Parameters
    ----------
    low, high
        The bounds.
    above, below
        Whether the lower or upper bound itself is excluded.
    or_one_of
        Words that are allowed in place of a number, such as ``"auto"``.
    meaning
        What a special value means, such as ``"0: not used"``.
    """

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False
    or_one_of: tuple[str, ...] = ()
    meaning: str = ""

    def allows(self, value: object) -> bool:
        """Whether it is a finite number within the bounds, or one of the words."""
        if isinstance(value, str):
            return value in self.or_one_of
        if not isinstance(value, Real) or not is_number(value) or not math.isfinite(value):
            return False
        number = float(value)
        return (number > self.low if self.above else number >= self.low) and (
            number < self.high if self.below else number <= self.high
        )

    def describe(self) -> str:
        """Such as "a number above 0"."""
        return _describe_bounds("a number", self.low, self.high, self.above, self.below, self.or_one_of, self.meaning)


@final
@dataclass(frozen=True)
class WholeNumber(Constraint):
    """An integer within bounds, both allowed; or one of some words."""

    low: int | None = None
    high: int | None = None
    or_one_of: tuple[str, ...] = ()
    meaning: str = ""

    def allows(self, value: object) -> bool:
        """Whether it is an integer within the bounds, or one of the words."""
        if isinstance(value, str):
            return value in self.or_one_of
        if not isinstance(value, Integral) or not is_whole_number(value):
            return False
        return (self.low is None or int(value) >= self.low) and (self.high is None or int(value) <= self.high)

    def describe(self) -> str:
        """Such as "a whole number from 1 to 1000"."""
        low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        return _describe_bounds("a whole number", low, high, False, False, self.or_one_of, self.meaning)


@final
@dataclass(frozen=True)
class Choice(Constraint):
    """One of a few words."""

    values: tuple[str, ...]

    def allows(self, value: object) -> bool:
        """Whether it is one of them."""
        return isinstance(value, str) and value in self.values

    def describe(self) -> str:
        """Such as "'free' or 'tied'"."""
        return " or ".join(map(repr, self.values)) if len(self.values) <= 2 else f"one of {listed(self.values, 20)}"


@final
@dataclass(frozen=True)
class Flag(Constraint):
    """True or False."""

    def allows(self, value: object) -> bool:
        """Whether it is a truth value of Python or numpy."""
        return type(value).__name__ in ("bool", "bool_")

    def describe(self) -> str:
        """The two values."""
        return "True or False"


@final
@dataclass(frozen=True)
class Sizes(Constraint):
    """Sizes of layers: whole numbers from 1 on, perhaps none of them."""

    def allows(self, value: object) -> bool:
        """Whether each is a whole number from 1 on; one number is one layer."""
        sizes = value if isinstance(value, (tuple, list)) else (value,)
        return all(WholeNumber(1).allows(size) for size in sizes)

    def describe(self) -> str:
        """With an example."""
        return "sizes of layers, such as (32, 32) or ()"


@final
@dataclass(frozen=True)
class Text(Constraint):
    """A text."""

    example: str = ""

    def allows(self, value: object) -> bool:
        """Whether it is text."""
        return isinstance(value, str)

    def describe(self) -> str:
        """With the example."""
        return f"text, such as {self.example!r}" if self.example else "text"


@final
@dataclass(frozen=True)
class Satisfies(Constraint):
    """A value for which a function answers True."""

    function: Callable[[object], bool]
    description: str

    def allows(self, value: object) -> bool:
        """What the function answers."""
        return self.function(value)

    def describe(self) -> str:
        """The description."""
        return self.description


@final
@dataclass(frozen=True)
class OrNone(Constraint):
    """None, or what another constraint allows."""

    constraint: Constraint

    def allows(self, value: object) -> bool:
        """Whether it is None or allowed by the other."""
        return value is None or self.constraint.allows(value)

    def describe(self) -> str:
        """Such as "a number above 0 or None"."""
        return f"{self.constraint.describe()} or None"


def check(name: str, value: object, constraint: Constraint, *, none: bool = False) -> None:
    """Raise `ParameterError` unless a value is allowed.

    Parameters
    ----------
    name
        Of the argument.
    value
        What was given.
    constraint
        What is allowed.
    none
        Whether None is allowed, too.

    Examples
    --------
    >>> check("members", 0, WholeNumber(1, 1000))
    Traceback (most recent call last):
      ...
    aldsurv.errors.ParameterError: members must be a whole number from 1 to 1000, but is 0.
    """
    if (value is None and none) or constraint.allows(value):
        return
    allowed = f"{constraint.describe()}{' or None' * none}"
    raise ParameterError(f"{name} must be {allowed}, but is {quoted(value, 60)}.", argument=name)


def check_all(values: Mapping[str, object], constraints: Mapping[str, Constraint]) -> None:
    """Check every value that a table of constraints has an entry for, in the order of the table."""
    for name, constraint in constraints.items():
        if name in values:
            check(name, values[name], constraint)


def declared_constraints(kind: type) -> dict[str, Constraint]:
    """The tables ``CONSTRAINTS`` of a class and its bases as one; a class overrules its bases, name by name."""
    tables = [vars(base).get("CONSTRAINTS", {}) for base in reversed(kind.__mro__)]
    return {name: constraint for table in tables for name, constraint in table.items()}


def _describe_bounds(
    kind: str, low: float, high: float, above: bool, below: bool, words: tuple[str, ...], meaning: str
) -> str:
    has_low, has_high = math.isfinite(low), math.isfinite(high)
    if has_low and has_high and above:
        bounds = f" between {low:g} and {high:g}" if below else f" above {low:g} and at most {high:g}"
    else:
        bounds = f" {'above' if above else 'from'} {low:g}" if has_low else ""
        bounds += f" {'to below' if below else 'to' if has_low else 'up to'} {high:g}" if has_high else ""
        bounds += " on" if has_low and not has_high and not above else ""
    others = "".join(f" or {word!r}" for word in words)
    return f"{kind}{bounds}{others}{f' ({meaning})' if meaning else ''}"
