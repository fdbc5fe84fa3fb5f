"""The columns that a command or a request asks a model for: their names and their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aldsurv.distributions import CompetingDistribution, SurvivalDistribution
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["SUMMARIES", "PredictionRequest", "number_in_name"]

SUMMARIES = ("mean", "median", "mode", "std", "restricted_mean")


@final
@dataclass(frozen=True)
class PredictionRequest:
    """The columns to predict, in the order in which they are written.

    Attributes
    ----------
    summaries
        Names of methods of a distribution, out of `SUMMARIES`.
    quantiles, interval
        Probabilities, and the probability within a central interval.
    times
        Times at which survival is predicted.
    horizons
        Times up to which the restricted mean counts.
    band
        Level of the limits between the members of an ensemble; None for no such columns.
    causes
        Causes whose incidence is predicted at each of the times.
    with_survival
        Whether survival is predicted at each of the times, too.
    """

    summaries: tuple[str, ...]
    quantiles: tuple[float, ...]
    interval: float | None
    times: tuple[float, ...]
    horizons: tuple[float, ...]
    band: float | None = None
    causes: tuple[str, ...] = ()
    with_survival: bool = True

    @property
    def names(self) -> list[str]:
        """Names of the columns; limits stand behind what they are limits of."""
        limited = [] if self.band is None else [*self._times_of_event, *self._survival_names]
        return [each for name in self._value_names for each in (name, *(_limits(name) if name in limited else ()))]

    @property
    def asks_incidence(self) -> bool:
        """Whether some column is the incidence of a cause."""
        return bool(self.causes and self.times)

    @property
    def _value_names(self) -> list[str]:
        names: list[str] = []
        for summary in self.summaries:
            names += self._horizon_names if summary == "restricted_mean" else [summary]
        names += [f"q{number_in_name(100 * level)}" for level in self.quantiles]
        if self.interval is not None:
            share = number_in_name(100 * self.interval)
            names += [f"lower_{share}", f"upper_{share}"]
        return names + self._probability_names

    @property
    def _times_of_event(self) -> list[str]:
        """Columns that are times of an event, except the ends of the interval."""
        names = [name for name in self.summaries if name not in ("restricted_mean", "std")]
        names += self._horizon_names if "restricted_mean" in self.summaries else []
        return names + [f"q{number_in_name(100 * level)}" for level in self.quantiles]

    @property
    def _probability_names(self) -> list[str]:
        """Columns that add up to 1 at each time, if there is one for each cause and survival."""
        names: list[str] = []
        for place, time in enumerate(self.times):
            names += [incidence_name(cause, time) for cause in self.causes]
            names += self._survival_names[place : place + 1]
        return names

    @property
    def _survival_names(self) -> list[str]:
        return [f"survival_{number_in_name(time)}" for time in self.times] if self.with_survival else []

    @property
    def _horizon_names(self) -> list[str]:
        return [f"restricted_mean_{number_in_name(horizon)}" for horizon in self.horizons]

    @property
    def _levels(self) -> dict[str, float]:
        """Columns that are quantiles, and their probabilities."""
        levels = {"median": 0.5} if "median" in self.summaries else {}
        levels |= {f"q{number_in_name(100 * level)}": level for level in self.quantiles}
        if self.interval is not None:
            share = number_in_name(100 * self.interval)
            levels |= {f"lower_{share}": (1 - self.interval) / 2, f"upper_{share}": (1 + self.interval) / 2}
        return levels

    def predict(
        self,
        model: SurvivalEstimator,
        X: Any,
        *,
        since: NDArray[np.float64] | None = None,
        along: Callable[[SurvivalDistribution], SurvivalDistribution] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """The columns (n,) by name, with incidences and limits if they are asked for.

        Parameters
        ----------
        model
            A fitted model.
        X
            Covariates.
        since
            Until when each row (n,) is known to be event-free; None: nothing is known.
        along
            Makes of the prediction for episodes that for persons; None: one per row.
        """
        by_cause = model.predict_incidence(X) if self.asks_incidence and along is None else None
        members = [] if self.band is None else model.predict_members(X)
        # Incidences and survival of one prediction add up to 1.
        predicted = model.predict_distribution(X) if by_cause is None else by_cause.overall()
        if along is not None:
            predicted, members = along(predicted), [along(one) for one in members]
        if since is not None:
            predicted, members = predicted.conditional(since), [one.conditional(since) for one in members]
            by_cause = None if by_cause is None else by_cause.conditional(since)
        columns = self.values(predicted)
        if by_cause is not None:
            columns |= self.incidences(by_cause)
        if members:
            columns |= self.limits(predicted, members, stretch=model.band_stretch(), since=since)
        return columns

    def incidences(self, predicted: CompetingDistribution) -> dict[str, NDArray[np.float64]]:
        """The columns (n,) of the incidence of each cause, by name."""
        columns: dict[str, NDArray[np.float64]] = {}
        for cause in self.causes:
            table = predicted.incidence(list(self.times), cause)
            columns |= {incidence_name(cause, time): table[:, k] for k, time in enumerate(self.times)}
        return columns

    def values(self, distribution: SurvivalDistribution) -> dict[str, NDArray[np.float64]]:
        """The columns (n,) by name, without incidences."""
        columns: dict[str, NDArray[np.float64]] = {}
        levels = self._levels
        if levels:
            # All at once, each probability once: for mixtures quantiles are searched for.
            distinct = list(dict.fromkeys(levels.values()))
            table = distribution.quantile(distinct)
            columns |= {name: table[:, distinct.index(level)] for name, level in levels.items()}
        for summary in self.summaries:
            if summary == "restricted_mean":
                table = distribution.restricted_mean(list(self.horizons))
                columns |= {name: table[:, k] for k, name in enumerate(self._horizon_names)}
            elif summary not in columns:
                columns[summary] = getattr(distribution, summary)()
        if self._survival_names:
            table = distribution.survival(list(self.times))
            columns |= {name: table[:, k] for k, name in enumerate(self._survival_names)}
        return {name: columns[name] for name in self._value_names if name in columns}

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
            The prediction of all members, and that of each.
        stretch
            As in `aldsurv.models.prediction.member_spread.time_band`.
        since
            Until when each row (n,) is known to be event-free.
        """
        import numpy as np

        from aldsurv.models.prediction.member_spread import survival_band, time_band

        columns: dict[str, NDArray[np.float64]] = {}
        if self.band is None:
            return columns
        joint, by_member = self.values(distribution), [self.values(member) for member in members]
        ends = dict(zip(self._horizon_names, self.horizons, strict=True))
        for name in self._times_of_event:
            stacked = np.stack([values[name] for values in by_member])
            most = ends.get(name, np.inf)
            least = -np.inf if since is None else np.minimum(since, most)
            limits = time_band(stacked, joint[name], level=self.band, stretch=stretch, least=least, most=most)
            columns |= dict(zip(_limits(name), limits, strict=True))
        if self._survival_names:
            lower, upper = survival_band(members, distribution, np.array(self.times), level=self.band, stretch=stretch)
            for k, name in enumerate(self._survival_names):
                columns |= dict(zip(_limits(name), (lower[:, k], upper[:, k]), strict=True))
        return columns


def _limits(name: str) -> tuple[str, str]:
    return f"{name}_lower", f"{name}_upper"


def incidence_name(cause: str, time: float) -> str:
    """Name of the column of a cause's incidence by a time."""
    return f"incidence_{cause}_{number_in_name(time)}"


def number_in_name(value: float) -> str:
    """A number as it stands in the name of a column: short, without rounding errors in the last digits."""
    return f"{value:.12g}"
