"""Cumulative incidence: the probability to have had the event by a time, cause by cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.competing.cause_names import checked_causes
from aldsurv.distributions.families.quantile_knots import QuantileKnots
from aldsurv.distributions.families.step import Step
from aldsurv.distributions.numerics.backend import without_gradient
from aldsurv.distributions.numerics.sorted_rows import count_below, pick
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CumulativeIncidence", "linear_survival"]

FloatArray = NDArray[np.float64]
# Incidence computed by sums may fall, or exceed 1, by rounding; more than this is a mistake.
_ROUNDING = 1e-9


def linear_survival(ends: FloatArray, survival: FloatArray) -> QuantileKnots:
    """Survival that falls in straight lines from 1 at time 0 through its values at `ends`.

    After the last time the hazard is the mean hazard up to it: a row that is likely to survive the grid is taken to be
    likely to survive long after it, whatever the density of the last, perhaps empty, stretch.

    Parameters
    ----------
    ends
        Times (m,), positive and ascending.
    survival
        Survival at each (n, m).
    """
    curve = Step.from_checked(times=ends[None, :], values=survival, tail="hold").smoothed()
    last = np.clip(survival[:, -1:], 0.0, 1 - 1e-12)
    with np.errstate(divide="ignore"):
        scale = np.maximum(ends[-1] / -np.log(last), np.finfo(np.float64).eps * (1 + ends[-1]))
    return QuantileKnots.from_checked(
        values=curve.values, cdf_values=curve.cdf_values, tail_scale=scale, crossed=curve.crossed
    )


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class CumulativeIncidence(CompetingDistribution):
    """Probability of the event of each cause by any time, for n individuals; only the first event counts.

    The incidences of all causes add up to one minus the survival of ``overall()``. After the last time they stay as
    they are, or, interpolated, share what ``overall()`` has left in the proportion they have there.

    Parameters
    ----------
    times
        Grid (m,), positive and strictly increasing.
    incidence
        Incidence from each time on: (causes, n, m), or (causes, m) for one individual; must not fall.
    causes
        Names of the causes; None: "1", "2", …
    interpolate
        Whether incidence rises in straight lines between the times; otherwise it rises at them.

    Examples
    --------
    >>> found = CumulativeIncidence([1.0, 2.0], [[0.1, 0.2], [0.3, 0.3]], ["death", "relapse"])
    >>> found.incidence([0.5, 1.0, 3.0], cause="death")
    array([[0. , 0.1, 0.2]])
    >>> found.incidence(2.0), found.overall().survival(2.0)
    (array([[0.2],
           [0.3]]), array([0.5]))
    """

    times: FloatArray
    values: FloatArray
    causes: tuple[str, ...]
    interpolate: bool

    def __init__(
        self, times: object, incidence: Any, causes: Sequence[str] | None = None, *, interpolate: bool = False
    ) -> None:
        grid, table = (np.array(without_gradient(given), np.float64) for given in (times, incidence))
        table = table[:, None, :] if table.ndim == 2 else table
        if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all() or (np.diff(grid, prepend=0.0) <= 0).any():
            raise ParameterError("times must be a vector of finite numbers above 0, strictly increasing.")
        if table.ndim != 3 or not table.shape[0] or table.shape[2] != grid.size:
            raise ParameterError(
                f"incidence must have shape (causes, n, {grid.size}), one column per time, not {np.shape(incidence)}."
            )
        names = checked_causes(causes, len(table))
        good = (np.diff(table, axis=2, prepend=0.0) >= -_ROUNDING).all() and (table.sum(0) <= 1 + _ROUNDING).all()
        if not good:
            raise ParameterError(
                "incidence must not fall with time, and that of all causes together must not exceed 1."
            )
        self._set(grid, np.maximum.accumulate(np.maximum(table, 0.0), axis=2).transpose(1, 0, 2), names, interpolate)

    def _set(self, times: FloatArray, values: FloatArray, causes: tuple[str, ...], interpolate: bool) -> None:
        for name, value in {"times": times, "values": values, "causes": causes, "interpolate": interpolate}.items():
            object.__setattr__(self, name, value)

    @property
    def _column(self) -> FloatArray:
        return self.values[:, 0, :1]

    def _map_rows(self, change: Callable[[Any], Any]) -> CumulativeIncidence:
        return self.from_checked(
            times=self.times, values=change(self.values), causes=self.causes, interpolate=self.interpolate
        )

    def __repr__(self) -> str:
        return f"CumulativeIncidence(n={len(self)}, causes={list(self.causes)}, times={self.times.size})"

    def overall(self) -> Step | QuantileKnots:
        """The distribution of the time to the first event, whatever its cause."""
        survival = np.clip(1 - self.values.sum(axis=1), 0.0, 1.0)
        if self.interpolate:
            return linear_survival(self.times, survival)
        return Step.from_checked(times=self.times[None, :], values=survival, tail="hold")

    def subdistribution(self, cause: int | str) -> SurvivalDistribution:
        """The time to an event of one cause, infinite for those who never have it: its cdf is the incidence."""
        if self.interpolate:
            return super().subdistribution(cause)
        values = 1 - self.values[:, self._number(cause) - 1, :]
        return Step.from_checked(times=self.times[None, :], values=values, tail="hold")

    def _incidences(self, t: FloatArray) -> FloatArray:
        t = np.broadcast_to(t, (len(self), t.shape[1]))
        passed = count_below(self.times[None, :], t, inclusive=True)
        padded = [np.concatenate([np.zeros((len(self), 1)), own], axis=1) for own in self.values.transpose(1, 0, 2)]
        before = np.stack([pick(own, passed) for own in padded])
        if not self.interpolate:
            return before
        edges = np.concatenate([[0.0], self.times, [np.inf]])
        inside = passed < self.times.size
        following = np.minimum(passed + 1, self.times.size)
        width = np.where(inside, edges[following] - edges[passed], 1.0)
        share = np.where(inside, np.clip((t - edges[passed]) / width, 0.0, 1.0), 0.0)
        between = before + (np.stack([pick(own, following) for own in padded]) - before) * share
        last = self.values[:, :, -1].T[:, :, None]
        later = last + self._later_shares() * (self.overall()._cdf(np.maximum(t, self.times[-1])) - last.sum(axis=0))
        return np.asarray(np.where(inside, between, later))

    def _later_shares(self) -> FloatArray:
        """Shares (causes, n, 1) of what is left after the grid: in the proportion that the causes have there."""
        last = self.values[:, :, -1].T[:, :, None]
        total = last.sum(axis=0)
        return np.asarray(np.where(total > 0, last / np.where(total > 0, total, 1.0), 1 / len(self.causes)))

    def _log_densities(self, t: FloatArray) -> FloatArray:
        if not self.interpolate:
            raise ParameterError("incidence that rises in steps has no density; that of a smooth prediction has one.")
        t = np.broadcast_to(t, (len(self), t.shape[1]))
        edges = np.concatenate([[0.0], self.times])
        slopes = np.diff(self.values, axis=2, prepend=0.0) / np.diff(edges)
        # As of the overall distribution, the end of a stretch belongs to it.
        stretch = np.minimum(count_below(self.times[None, :], t, inclusive=False), self.times.size - 1)
        within = np.stack([pick(own, stretch) for own in slopes.transpose(1, 0, 2)])
        later = self._later_shares() * self.overall()._density(t)
        return np.asarray(np.log(np.where(t < 0, 0.0, np.where(t <= self.times[-1], within, later))))

    def _scaled(self, factor: FloatArray) -> CumulativeIncidence:
        if not bool((factor == factor[0]).all()):
            raise ParameterError("factor must be the same for all rows: they share a grid of times.")
        return self.from_checked(
            times=self.times * float(factor[0, 0]), values=self.values, causes=self.causes, interpolate=self.interpolate
        )

    def _join(self, others: Sequence[Self]) -> Self:
        if any(not np.array_equal(one.times, self.times) or one.interpolate != self.interpolate for one in others):
            raise ParameterError("incidences on different grids of times cannot be joined.")
        values = np.concatenate([self.values, *(other.values for other in others)])
        return self.from_checked(times=self.times, values=values, causes=self.causes, interpolate=self.interpolate)
