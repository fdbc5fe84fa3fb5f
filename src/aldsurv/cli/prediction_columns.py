"""What a prediction says of each row: the columns that were asked for, their names and their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aldsurv.distributions import SurvivalDistribution

__all__ = ["SUMMARIES", "Asked", "numbers_of", "repeated", "told_number"]

SUMMARIES = ("mean", "median", "mode", "std", "restricted_mean")


@final
@dataclass(frozen=True)
class Asked:
    """The columns that are wanted, in the order in which they are written.

    Attributes
    ----------
    summaries
        Names of methods of a distribution, out of `SUMMARIES`.
    quantiles, interval
        Probabilities, and the probability within a central interval.
    times
        Times at which survival is wanted.
    horizons
        Times up to which the restricted mean counts.
    """

    summaries: tuple[str, ...]
    quantiles: tuple[float, ...]
    interval: float | None
    times: tuple[float, ...]
    horizons: tuple[float, ...]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        found: list[str] = []
        for summary in self.summaries:
            found += self._horizon_names if summary == "restricted_mean" else [summary]
        found += [f"q{told_number(100 * level)}" for level in self.quantiles]
        if self.interval is not None:
            share = told_number(100 * self.interval)
            found += [f"lower_{share}", f"upper_{share}"]
        return found + [f"survival_{told_number(time)}" for time in self.times]

    @property
    def _horizon_names(self) -> list[str]:
        return [f"restricted_mean_{told_number(horizon)}" for horizon in self.horizons]

    @property
    def _levels(self) -> dict[str, float]:
        """Columns that are quantiles, and their probabilities."""
        levels = {"median": 0.5} if "median" in self.summaries else {}
        levels |= {f"q{told_number(100 * level)}": level for level in self.quantiles}
        if self.interval is not None:
            share = told_number(100 * self.interval)
            levels |= {f"lower_{share}": (1 - self.interval) / 2, f"upper_{share}": (1 + self.interval) / 2}
        return levels

    def values(self, distribution: SurvivalDistribution) -> dict[str, NDArray[np.float64]]:
        """The columns (n,) by name."""
        found: dict[str, NDArray[np.float64]] = {}
        levels = self._levels
        if levels:
            # All at once, each probability once: for mixtures quantiles are searched for.
            distinct = list(dict.fromkeys(levels.values()))
            table = distribution.quantile(distinct)
            found |= {name: table[:, distinct.index(level)] for name, level in levels.items()}
        for summary in self.summaries:
            if summary == "restricted_mean":
                table = distribution.restricted_mean(list(self.horizons))
                found |= {name: table[:, k] for k, name in enumerate(self._horizon_names)}
            elif summary not in found:
                found[summary] = getattr(distribution, summary)()
        if self.times:
            table = distribution.survival(list(self.times))
            found |= {f"survival_{told_number(time)}": table[:, k] for k, time in enumerate(self.times)}
        return {name: found[name] for name in self.names}


def numbers_of(text: str | None, option: str, *, low: float, high: float, example: str) -> tuple[float, ...]:
    """Numbers with commas between them, each once.

    Parameters
    ----------
    text
        What was typed; None for none.
    option
        What messages call it.
    low, high
        Between which they must lie: from `low` on, and below `high`.
    example
        One that is right.
    """
    found: list[float] = []
    for word in (text or "").split(","):
        if not word.strip():
            continue
        try:
            value = float(word)
        except ValueError:
            raise ParameterError(
                f"{option} must be numbers with commas between them, but holds {word.strip()!r}. Give {example}."
            ) from None
        if not low <= value < high or not math.isfinite(value):
            allowed = f"from {low:g} on" if high == math.inf else f"from {low:g} to below {high:g}"
            raise ParameterError(f"{option} must be {allowed}, but holds {word.strip()}. Give {example}.")
        found.append(value)
    if text is not None and not found:
        raise ParameterError(f"{option} holds no number. Give {example}.")
    return tuple(dict.fromkeys(found))


def told_number(value: float) -> str:
    """A number in the name of a column: short, and without the last digit's rounding."""
    return f"{value:.12g}"


def repeated(names: Sequence[str]) -> str | None:
    """The first name that occurs twice."""
    return next((name for position, name in enumerate(names) if name in names[:position]), None)
