"""What a prediction says of each row: the columns that were asked for, their names and their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

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
    band
        Level of the limits between the members of an ensemble; None for no such columns.
    """

    summaries: tuple[str, ...]
    quantiles: tuple[float, ...]
    interval: float | None
    times: tuple[float, ...]
    horizons: tuple[float, ...]
    band: float | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns; limits stand behind what they are limits of."""
        limited = [] if self.band is None else [*self._times_of_event, *self._survival_names]
        return [each for name in self._plain_names for each in (name, *(_limits(name) if name in limited else ()))]

    @property
    def _plain_names(self) -> list[str]:
        found: list[str] = []
        for summary in self.summaries:
            found += self._horizon_names if summary == "restricted_mean" else [summary]
        found += [f"q{told_number(100 * level)}" for level in self.quantiles]
        if self.interval is not None:
            share = told_number(100 * self.interval)
            found += [f"lower_{share}", f"upper_{share}"]
        return found + self._survival_names

    @property
    def _times_of_event(self) -> list[str]:
        """Columns that are times of an event, but for the ends of the interval."""
        found = [name for name in self.summaries if name not in ("restricted_mean", "std")]
        found += self._horizon_names if "restricted_mean" in self.summaries else []
        return found + [f"q{told_number(100 * level)}" for level in self.quantiles]

    @property
    def _survival_names(self) -> list[str]:
        return [f"survival_{told_number(time)}" for time in self.times]

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
            found |= {name: table[:, k] for k, name in enumerate(self._survival_names)}
        return {name: found[name] for name in self._plain_names}

    def limits(
        self,
        distribution: SurvivalDistribution,
        members: Sequence[SurvivalDistribution],
        *,
        stretch: float,
        since: NDArray[np.float64] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """The columns (n,) of the limits between the members of an ensemble, by name.

        Parameters
        ----------
        distribution, members
            What all members predict together, and each of them.
        stretch
            As in `aldsurv.models.member_spread.time_band`.
        since
            Until when each row (n,) is known to be event-free.
        """
        import numpy as np

        from aldsurv.models.member_spread import survival_band, time_band

        found: dict[str, NDArray[np.float64]] = {}
        if self.band is None:
            return found
        own, others = self.values(distribution), [self.values(one) for one in members]
        ends = dict(zip(self._horizon_names, self.horizons, strict=True))
        for name in self._times_of_event:
            values = np.stack([other[name] for other in others])
            most = ends.get(name, np.inf)
            least = -np.inf if since is None else np.minimum(since, most)
            limits = time_band(values, own[name], level=self.band, stretch=stretch, least=least, most=most)
            found |= dict(zip(_limits(name), limits, strict=True))
        if self.times:
            lower, upper = survival_band(members, distribution, np.array(self.times), level=self.band, stretch=stretch)
            for k, name in enumerate(self._survival_names):
                found |= dict(zip(_limits(name), (lower[:, k], upper[:, k]), strict=True))
        return found


def _limits(name: str) -> tuple[str, str]:
    return f"{name}_lower", f"{name}_upper"


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
                f"{option} must be numbers with commas between them, but holds {quoted(word.strip())}. Give {example}."
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
