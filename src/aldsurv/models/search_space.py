"""What a search over the settings of a model may try; a model declares it as ``SEARCH_SPACE``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

__all__ = ["Entry", "OneOf", "Range", "Score", "SearchSpace"]

Score: TypeAlias = Literal["log_likelihood", "ibs"]


@final
@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, equally likely on the scale of logarithms if `log`."""

    low: float
    high: float
    log: bool = False

    def value(self, drawn: Any) -> float:
        """The argument that a drawn number stands for; a search cannot distinguish more than four digits."""
        return min(max(float(f"{drawn:.4g}"), self.low), self.high)


@final
@dataclass(frozen=True)
class OneOf:
    """One of a few values, which the record of a search holds as text."""

    values: tuple[Any, ...]

    @property
    def names(self) -> list[str]:
        """Their texts: sizes of layers with a cross between them, as in ``64x64``."""
        return ["x".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in self.values]

    def value(self, drawn: Any) -> Any:
        """The argument that a text stands for."""
        return self.values[self.names.index(drawn)]


Entry: TypeAlias = "Range | OneOf"


@final
@dataclass(frozen=True)
class SearchSpace:
    """What may be tried, by the constructor's names, and the score by which trials are compared.

    The score is the held-out log-likelihood where predictions have a density at every time; the search bounds what a
    single row can lose, as `metrics.bounded_log_likelihood` does. A step function has none, and DeepHit's ends with
    its last bin: one event in the wrong place would be minus infinity. Their score is the integrated
    Brier score, which needs survival probabilities only.
    """

    entries: Mapping[str, Entry]
    score: Score

    def without(self, fixed: Mapping[str, Any]) -> SearchSpace:
        """The space of what is not set already."""
        entries = {name: entry for name, entry in self.entries.items() if fixed.get(name) is None}
        return SearchSpace(entries, self.score)
