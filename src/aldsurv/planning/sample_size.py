"""How many people a study needs: one number per criterion, and the largest of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

from aldsurv.errors import ParameterError

__all__ = ["NORMAL_QUANTILE", "Criterion", "SampleSize", "whole_rows"]

# The published criteria have 1.96, not the quantile to more digits; sizes are to equal theirs to the person.
NORMAL_QUANTILE = 1.96
# More than there are people.
_MOST_ROWS = 1e12


class Criterion(NamedTuple):
    """What a study is to be large enough for.

    Attributes
    ----------
    name
        Short, such as ``"shrinkage"``.
    purpose
        What is to be reached, in words.
    rows
        How many people it needs.
    events
        How many events are expected among them.
    """

    name: str
    purpose: str
    rows: int
    events: float


@final
@dataclass(frozen=True)
class SampleSize:
    """The number of people that meets all criteria.

    Attributes
    ----------
    criteria
        Each of them.
    facts
        What was assumed and what follows from it, by name.
    """

    criteria: tuple[Criterion, ...]
    facts: Mapping[str, float]

    @property
    def deciding(self) -> Criterion:
        """The criterion that needs most people; of equal ones the first."""
        return max(self.criteria, key=lambda criterion: criterion.rows)

    @property
    def rows(self) -> int:
        """People needed."""
        return self.deciding.rows

    @property
    def events(self) -> float:
        """Events expected among them."""
        return self.deciding.events

    def criterion(self, name: str) -> Criterion:
        """The criterion of that name."""
        return next(criterion for criterion in self.criteria if criterion.name == name)


def whole_rows(rows: float) -> int:
    """The smallest whole number of people that is enough, at least 1."""
    if not rows <= _MOST_ROWS:
        raise ParameterError(
            f"more than {_MOST_ROWS:.0e} people would be needed", advice="Expect a better model, or ask for less."
        )
    return max(1, math.ceil(rows))
