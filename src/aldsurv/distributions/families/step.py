"""Survival as a step function on a grid: Kaplan-Meier, Cox, discrete time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.distributions.numerics.sorted_rows import count_below, pick, shared_or_mapped, stacked
from aldsurv.distributions.numerics.table_checks import checked_curves, checked_grid
from aldsurv.distributions.wrappers.level_map import LevelMap, mapped_survival
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.distributions.families.quantile_knots import QuantileKnots

__all__ = ["Step", "reached_level"]

Tail = Literal["hold", "drop"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Step(SurvivalDistribution):
    """All probability sits at the times of a grid: survival is 1 before the first and falls at each.

    A discrete distribution has no density; ``density`` (and with it ``hazard`` and the likelihood of exact times) is
    that of its linear interpolation, each jump spread evenly over the stretch before it. ``smoothed()`` gives that
    interpolation as a distribution.

    Parameters
    ----------
    times
        Grid, strictly increasing: ``(m,)``, or ``(n, m)`` with one for each row.
    survival
        Survival from each time on: ``(m,)`` for one individual, or ``(n, m)``; must not rise.
    tail
        What is assumed after the last time: ``"hold"`` keeps survival at its last value for ever (the mean
        is infinite unless that is 0); ``"drop"``: all events have come by the last time.

    Examples
    --------
    >>> d = Step([1.0, 2.0, 5.0], [[0.8, 0.4, 0.1]])
    >>> d.survival([0.5, 2.0, 3.0, 9.0])
    array([[1. , 0.4, 0.4, 0.1]])
    >>> d.median(), d.restricted_mean(5.0).round(6), d.mean()
    (array([2.]), array([3.]), array([inf]))
    """

    times: Array
    values: Array
    tail: Tail

    def __init__(self, times: object, survival: Any, *, tail: Tail = "hold") -> None:
        if tail not in ("hold", "drop"):
            raise ParameterError(f"tail must be 'hold' or 'drop', but is {tail!r}.")
        values = checked_curves(survival, "survival")
        grid = checked_grid(times, values)
        if tail == "drop":
            xp = namespace(values)
            values = xp.concat([values[:, :-1], 0 * values[:, -1:]], axis=1)
        object.__setattr__(self, "times", grid)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "tail", tail)

    def __repr__(self) -> str:
        return f"Step(n={len(self)}, times={self.times.shape[1]}, tail={self.tail!r})"

    @property
    def _column(self) -> Array:
        return self.values

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        times = shared_or_mapped(self.times, change)
        return self.from_checked(times=times, values=change(self.values), tail=self.tail)

    def _join(self, others: Sequence[Self]) -> Self:
        parts: list[Self] = [self, *others]
        if len({part.tail for part in parts}) > 1:
            raise ParameterError("step distributions with different tails ('hold', 'drop') cannot be joined.")
        xp = namespace(self.values)
        if len({part.times.shape[1] for part in parts}) == 1 and not _differ([part.times for part in parts]):
            times = stacked([part.times for part in parts], [len(part) for part in parts])
        elif any(part.times.shape[0] > 1 for part in parts):
            raise ParameterError(
                "step distributions with a grid of times for each row and of different lengths cannot be joined."
            )
        else:
            times = xp.unique_values(xp.concat([part.times[0, :] for part in parts]))[None, :]
            parts = [part.from_checked(values=part._survival(times), times=times, tail=part.tail) for part in parts]
        return self.from_checked(times=times, values=xp.concat([p.values for p in parts], axis=0), tail=self.tail)

    # ---- the grid with its edge: what holds before the first time

    @property
    def _edge(self) -> Array:
        """Where the stretch before the first time begins: at zero, or a grid step earlier if that is not positive."""
        xp = namespace(self.times)
        first = self.times[:, :1]
        width = self.times[:, 1:2] - first if self.times.shape[1] > 1 else xp.ones_like(first)
        return xp.where(first > 0, 0 * first, first - width)

    def _with_edge(self) -> tuple[Array, Array]:
        xp = namespace(self.values)
        times = xp.concat([self._edge, self.times], axis=1)
        return times, xp.concat([xp.ones_like(self.values[:, :1]), self.values], axis=1)

    def smoothed(self) -> QuantileKnots:
        """Linear interpolation of the cdf between the times; after the last, an exponential tail."""
        from aldsurv.distributions.families.quantile_knots import QuantileKnots

        times, survival = self._with_edge()
        return QuantileKnots._from_cdf(times, 1 - survival)

    def _survival(self, t: Array) -> Array:
        times, survival = self._with_edge()
        return pick(survival, count_below(times[:, 1:], t, inclusive=True))

    def _cdf(self, t: Array) -> Array:
        return 1 - self._survival(t)

    def _log_survival(self, t: Array) -> Array:
        return namespace(t).log(self._survival(t))

    def _log_cdf(self, t: Array) -> Array:
        return namespace(t).log1p(-self._survival(t))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        times, survival = self._with_edge()
        last = times.shape[1] - 1
        index = xp.clip(count_below(times, t, inclusive=False), 1, last)
        width = pick(times, index) - pick(times, index - 1)
        density = (pick(survival, index - 1) - pick(survival, index)) / width
        inside = (t > times[:, :1]) & (t <= times[:, -1:])
        return xp.log(xp.where(inside, density, xp.zeros_like(density)))

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(self.values)
        reached = reached_level(log_survival)
        index = count_below(-self.values, -reached + 0 * self.values[:, :1], inclusive=False)
        never = index >= self.values.shape[1]
        found = pick(self.times, xp.where(never, xp.zeros_like(index), index))
        return xp.where(never, xp.full_like(found, math.inf), found)

    def _areas(self, heights: Array) -> Array:
        """Integral of a step function with these heights from the edge to each time of the grid."""
        times, _ = self._with_edge()
        xp = namespace(times)
        areas = xp.cumulative_sum((times[:, 1:] - times[:, :-1]) * heights[:, :-1], axis=1)
        return xp.concat([0 * areas[:, :1], areas], axis=1)

    def _area_to(self, t: Array, heights: Array) -> Array:
        """The same up to any time; the first height holds before the edge, the last after the end."""
        xp = namespace(heights)
        times, _ = self._with_edge()
        index = xp.clip(count_below(times, t, inclusive=True) - 1, 0, None)
        height = pick(heights, index)
        rest = xp.where(height > 0, (t - pick(times, index)) * height, xp.zeros_like(height))
        return pick(self._areas(heights), index) + rest

    def _area_from(self, t: Array, heights: Array) -> Array:
        """The same from any time to the last of the grid, negative beyond it.

        Summed from the end, so that small heights late in time are not lost among large early ones.
        """
        xp = namespace(heights)
        times, _ = self._with_edge()
        areas = (times[:, 1:] - times[:, :-1]) * heights[:, :-1]
        areas = xp.flip(xp.cumulative_sum(xp.flip(areas, axis=1), axis=1), axis=1)
        areas = xp.concat([areas, xp.zeros_like(areas[:, :1])], axis=1)
        last = times.shape[1] - 1
        index = xp.clip(count_below(times, t, inclusive=True) - 1, 0, None)
        following = xp.clip(index + 1, None, last)
        height = pick(heights, index)
        rest = xp.where(height > 0, (pick(times, following) - t) * height, xp.zeros_like(height))
        return pick(areas, following) + rest

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(self.values)
        _, survival = self._with_edge()
        at_start = self._survival(start)
        # Either difference is as exact as what it is taken from: the smaller one, early or late in time.
        front, back = self._area_to(stop, survival), self._area_from(start, survival)
        early, late = front - self._area_to(start, survival), back - self._area_from(stop, survival)
        area = xp.where(xp.abs(front) < xp.abs(back), early, late)
        some = at_start > 0
        return xp.where(some, area / xp.where(some, at_start, xp.ones_like(at_start)), xp.zeros_like(area))

    def _masses(self) -> Array:
        _, survival = self._with_edge()
        return survival[:, :-1] - survival[:, 1:]

    def _mean(self) -> Array:
        xp = namespace(self.values)
        mean = xp.sum(self._masses() * self.times, axis=1, keepdims=True)
        return xp.where(self.values[:, -1:] > 0, xp.full_like(mean, math.inf), mean)

    def _variance(self) -> Array:
        xp = namespace(self.values)
        mean = self._mean()
        endless = mean == math.inf
        distance = self.times - xp.where(endless, xp.zeros_like(mean), mean)
        variance = xp.sum(self._masses() * distance**2, axis=1, keepdims=True)
        return xp.where(endless, mean, variance)

    def _mode(self) -> Array:
        return pick(self.times, namespace(self.values).argmax(self._masses(), axis=1)[:, None])

    def _crps(self, lower: Array, upper: Array) -> Array:
        xp = namespace(self.values)
        _, survival = self._with_edge()
        before = self._area_to(lower, (1 - survival) ** 2)
        never = upper == math.inf
        after = self._area_from(xp.where(never, self.times[:, -1:], upper), survival**2)
        after = xp.where(self.values[:, -1:] > 0, xp.full_like(after, math.inf), after)
        return before + xp.where(never, xp.zeros_like(after), after)

    def _kinks(self) -> Array:
        xp = namespace(self.values)
        return xp.broadcast_to(self.times, self.values.shape)

    def _recalibrated(self, level_map: LevelMap) -> Step:
        return Step(self.times, mapped_survival(self.values, level_map), tail=self.tail)

    def _with_scaled_hazard(self, factor: Array) -> Step:
        return self.from_checked(times=self.times, values=self.values**factor, tail=self.tail)

    def _block_cost(self) -> int:
        # Sums over the grid of each row, no quadrature.
        return int(self.times.shape[1])

    def _scaled(self, factor: Array) -> Step:
        return self.from_checked(times=factor * self.times, values=self._repeated(factor), tail=self.tail)

    def _shifted(self, offset: Array) -> Step:
        return self.from_checked(times=self.times + offset, values=self._repeated(offset), tail=self.tail)

    def _repeated(self, column: Array) -> Array:
        return self.values + 0 * column


def reached_level(log_survival: Array) -> Array:
    """Survival at or below which a level counts as reached: also if it equals the level up to rounding."""
    xp = namespace(log_survival)
    level, rounding = xp.exp(log_survival), float(xp.finfo(log_survival.dtype).eps)
    return level + rounding * (8 * level + 4 * (1 - level))


def _differ(grids: Sequence[Array]) -> bool:
    """Whether grids that stand for all rows are not the same; grids by row may be what they like."""
    xp = namespace(grids[0])
    shared = [grid for grid in grids if grid.shape[0] == 1]
    return len(shared) == len(grids) and any(bool(xp.any(grid != shared[0])) for grid in shared[1:])
