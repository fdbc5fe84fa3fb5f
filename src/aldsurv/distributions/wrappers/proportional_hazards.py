"""Proportional hazards: a baseline for all rows and a log risk for each, computed at the times asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.step import Step, reached_level
from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace
from aldsurv.distributions.numerics.log_space import log1mexp, log_sum_exp, or_complement
from aldsurv.distributions.wrappers.level_map import LevelMap, mapped_survival, same_maps
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.distributions.families.quantile_knots import QuantileKnots

__all__ = ["ProportionalHazards"]

# Values of a table of rows and times that is made for an integral and thrown away: 4 MB, a dozen of which are in work.
_TABLE_VALUES = 1 << 19
# Arrays of one value for each time that a quadrature holds for one value of its result.
_QUADRATURE_ARRAYS = 16


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class ProportionalHazards(SurvivalDistribution):
    """``S(t) = exp(-H0(t)·exp(log risk))`` with a cumulative hazard H0 that rises at the times of a grid.

    The same distribution as a `Step` of these curves, without the table of rows × times: a value is computed when it is
    asked for. Survival, cdf, density and quantiles take a search in the grid for each value; means, modes, restricted
    means and CRPS go through the grid for each row, a few rows at a time. After the last time survival is held.
    As a `Step` has none, ``density`` is that of the linear interpolation.

    Parameters
    ----------
    times
        Grid (m,), strictly increasing; with strata, their grids one after the other.
    log_cumulative
        Logarithm of H0 from each time on: ``(m,)``, or ``(m, members)``; must not fall. It may be -inf, before any
        event, and inf, where survival is 0.
    log_risk
        Of each row: ``(n,)``, or ``(n, members)``. Survival is then the mean of the members'.
    sizes
        How many times each stratum has; None for one stratum.
    strata
        Number of each row's stratum (n,); None for one stratum.

    Examples
    --------
    >>> d = ProportionalHazards([1.0, 2.0, 5.0], np.log([0.1, 0.3, 0.9]), [0.0, np.log(2)])
    >>> d.survival([0.5, 2.0, 9.0]).round(4)
    array([[1.    , 0.7408, 0.4066],
           [1.    , 0.5488, 0.1653]])
    >>> d.median(), d
    (array([5., 5.]), ProportionalHazards(n=2, times=3))
    """

    times: Array
    log_cumulative: Array
    first: Array
    size: Array
    log_risk: Array
    stratum: Array
    level_maps: tuple[LevelMap, ...]

    def __init__(
        self, times: object, log_cumulative: Any, log_risk: Any, *, sizes: Any = None, strata: Any = None
    ) -> None:
        risk = _floats(log_risk, "log_risk")
        xp = namespace(risk)
        risk = risk[:, None] if risk.ndim == 1 else risk
        hazard = as_like(_floats(log_cumulative, "log_cumulative"), risk)
        hazard = hazard[:, None] if hazard.ndim == 1 else hazard
        grid = as_like(_floats(times, "times"), risk)
        _check_shapes(grid, hazard, risk)
        counts = np.array([grid.shape[0]] if sizes is None else sizes, np.int64)
        codes = np.zeros(risk.shape[0], np.int64) if strata is None else np.array(strata, np.int64)
        _check_strata(counts, codes, grid.shape[0], risk.shape[0])
        first = np.cumsum(counts) - counts
        _check_baseline(grid, hazard, first)
        if not bool(xp.all(xp.isfinite(risk))):
            raise ParameterError("log_risk must be finite, but some of it is not.")
        fields = {"times": grid, "log_cumulative": hazard, "log_risk": risk, "level_maps": ()}
        numbers = {"first": first, "size": counts, "stratum": codes[:, None]}
        for name, value in {**fields, **{key: xp.asarray(array) for key, array in numbers.items()}}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parts = [f"n={len(self)}", f"times={self.times.shape[0]}"]
        for name, count in (("strata", self.size.shape[0]), ("members", self.log_risk.shape[1])):
            parts += [f"{name}={count}"] if count > 1 else []
        return f"ProportionalHazards({', '.join(parts)})"

    @property
    def _column(self) -> Array:
        return self.log_risk

    def _with(self, **fields: Any) -> Self:
        return self.from_checked(**{**vars(self), **fields})

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self._with(log_risk=change(self.log_risk), stratum=change(self.stratum))

    def _join(self, others: Sequence[Self]) -> Self:
        parts: list[Self] = [self, *others]
        xp = namespace(self.times)
        if len({part.log_risk.shape[1] for part in parts}) > 1:
            raise ParameterError("proportional hazards of different numbers of members cannot be joined.")
        if not all(same_maps(part.level_maps, self.level_maps) for part in others):
            raise ParameterError("distributions that were recalibrated by different maps cannot be joined.")
        # Another baseline is as good as a further stratum.
        baselines: list[Self] = []
        strata = []
        for part in parts:
            place = next((k for k, one in enumerate(baselines) if _same_baseline(one, part)), len(baselines))
            if place == len(baselines):
                baselines.append(part)
            strata.append(part.stratum + sum(one.size.shape[0] for one in baselines[:place]))
        starts = np.cumsum([0, *(one.times.shape[0] for one in baselines)]).tolist()
        return self._with(
            times=_joined(xp, [one.times for one in baselines]),
            log_cumulative=_joined(xp, [one.log_cumulative for one in baselines]),
            first=_joined(xp, [one.first + start for one, start in zip(baselines, starts, strict=False)]),
            size=_joined(xp, [one.size for one in baselines]),
            log_risk=xp.concat([part.log_risk for part in parts], axis=0),
            stratum=xp.concat(strata, axis=0),
        )

    def _recalibrated(self, level_map: LevelMap) -> Self:
        return self._with(level_maps=(*self.level_maps, level_map))

    # ---- the grid of each row, and its survival after so many times of it

    @property
    def _own_first(self) -> Array:
        """Where each row's grid begins (1 or n, 1)."""
        return self.first[None, :] if self.first.shape[0] == 1 else self.first[self.stratum]

    @property
    def _own_size(self) -> Array:
        return self.size[None, :] if self.size.shape[0] == 1 else self.size[self.stratum]

    def _count(self, t: Array, *, inclusive: bool) -> Array:
        """How many times of its grid lie before each row's t; `inclusive` counts equal ones too."""
        xp = namespace(self.times)
        if self.size.shape[0] == 1:
            side = "right" if inclusive else "left"
            return xp.reshape(xp.searchsorted(self.times, xp.reshape(t, (-1,)), side=side), t.shape)
        first = self._own_first

        def passed(position: Array) -> Array:
            time = self.times[first + position - 1]
            return time > t if inclusive else time >= t

        return _first_true(passed, xp.broadcast_to(self._own_size, (len(self), t.shape[1]))) - 1

    def _time(self, count: Array) -> Array:
        """The time of that number, counted from 1, in each row's grid."""
        return self.times[self._own_first + count - 1]

    def _log_survivals(self, count: Array) -> Array:
        """Log survival (n, q, members) after so many times (1 or n, q) of the grid."""
        xp = namespace(self.times)
        some = count > 0
        place = self._own_first + xp.where(some, count - 1, xp.zeros_like(count))
        before = xp.full_like(self.log_cumulative[:1, :], -math.inf)
        # No time has passed: no hazard yet.
        height = xp.where(some[..., None], self.log_cumulative[place], before)
        return -xp.exp(height + self.log_risk[:, None, :])

    def _after(self, count: Array) -> Array:
        """Survival (n, q) after so many times of the grid."""
        xp = namespace(self.times)
        survival = _mean(xp.exp(self._log_survivals(count)))
        for level_map in self.level_maps:
            survival = mapped_survival(survival, level_map)
        return survival

    @property
    def _edge(self) -> Array:
        """Where the stretch before the first time begins (1 or n, 1): as in `Step`."""
        xp, size = namespace(self.times), self._own_size
        first = self._time(xp.ones_like(size))
        width = self._time(xp.clip(size, None, 2)) - first
        width = xp.where(size > 1, width, xp.ones_like(width))
        return xp.where(first > 0, 0 * first, first - width)

    # ---- values at times

    def _survival(self, t: Array) -> Array:
        return self._after(self._count(t, inclusive=True))

    def _cdf(self, t: Array) -> Array:
        if self.level_maps:
            return 1 - self._survival(t)
        xp = namespace(t)
        return _mean(-xp.expm1(self._log_survivals(self._count(t, inclusive=True))))

    def _log_survival(self, t: Array) -> Array:
        if self.level_maps:
            return namespace(t).log(self._survival(t))
        return self._log_tails(t)[0]

    def _log_cdf(self, t: Array) -> Array:
        if self.level_maps:
            return namespace(t).log1p(-self._survival(t))
        return self._log_tails(t)[1]

    def _log_tails(self, t: Array) -> tuple[Array, Array]:
        parts = self._log_survivals(self._count(t, inclusive=True))
        below = log1mexp(parts)
        members = parts.shape[-1]
        if members == 1:
            return parts[..., 0], below[..., 0]
        survival, cdf = (log_sum_exp(tail) - math.log(members) for tail in (parts, below))
        return or_complement(survival, cdf), or_complement(cdf, survival)

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        size, edge = self._own_size, self._edge
        count = xp.clip(self._count(t, inclusive=False) + 1, None, size)
        start = xp.where(count > 1, self._time(xp.clip(count - 1, 1, None)), edge)
        density = self._log_mass(count) - xp.log(self._time(count) - start)
        inside = (t > edge) & (t <= self._time(size))
        return xp.where(inside, density, xp.full_like(density, -math.inf))

    def _log_mass(self, count: Array) -> Array:
        """Logarithm of the probability at the time of that number, counted from 1."""
        xp = namespace(self.times)
        if self.level_maps:
            return xp.log(self._after(count - 1) - self._after(count))
        before, after = self._log_survivals(count - 1), self._log_survivals(count)
        some = before > -math.inf
        fall = xp.where(some, after, -xp.ones_like(after)) - xp.where(some, before, xp.zeros_like(before))
        mass = xp.where(some, before + log1mexp(fall), before)
        return mass[..., 0] if mass.shape[-1] == 1 else log_sum_exp(mass) - math.log(mass.shape[-1])

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(self.times)
        reached = reached_level(log_survival)
        size = xp.broadcast_to(self._own_size, (len(self), log_survival.shape[1]))
        count = _first_true(lambda position: self._after(position) <= reached, size)
        never = count > size
        found = self._time(xp.where(never, xp.ones_like(count), count))
        return xp.where(never, xp.full_like(found, math.inf), found)

    def _kinks(self) -> Array:
        xp, grid = namespace(self.times), self._shared_grid()
        return xp.broadcast_to(grid[None, :], (len(self), grid.shape[0]))

    # ---- tables: on request, and of a few rows for integrals

    def _shared_grid(self) -> Array:
        """Times of the grids of all rows."""
        xp = namespace(self.times)
        if self.size.shape[0] == 1:
            return self.times
        places = [self.times[int(self.first[k]) :][: int(self.size[k])] for k in self._present()]
        return places[0] if len(places) == 1 else xp.unique_values(xp.concat(places))

    def _present(self) -> list[int]:
        """Strata that have a row, or the first if there are no rows."""
        return sorted(set(namespace(self.stratum).reshape(self.stratum, (-1,)).tolist())) or [0]

    def to_step(self) -> Step:
        """The same as a table of rows × times: those of all grids, if there are several."""
        grid = self._shared_grid()[None, :]
        return Step.from_checked(times=grid, values=self._survival(grid), tail="hold")

    def smoothed(self) -> QuantileKnots:
        """Linear interpolation of the cdf between the times, as a table; after the last, an exponential tail."""
        return self.to_step().smoothed()

    def _by_table(self, formula: Callable[..., Array], *arguments: Array) -> Array:
        """A formula of `Step`, for as many rows at once as a small table holds, stratum by stratum."""
        if not is_numpy(namespace(self.times)) or not len(self):
            return formula(self.to_step(), *arguments)
        strata = self._present()
        groups = (
            [np.flatnonzero(self.stratum[:, 0] == k) for k in strata] if len(strata) > 1 else [np.arange(len(self))]
        )
        answer: Array = None
        for stratum, rows in zip(strata, groups, strict=True):
            step = max(1, _TABLE_VALUES // int(self.size[stratum]))
            for start in range(0, rows.size, step):
                some = rows[start : start + step]
                parts = (part if part.shape[0] == 1 else part[some] for part in arguments)
                found = formula(self[some].to_step(), *parts)
                if answer is None:
                    answer = np.empty((len(self), found.shape[1]), found.dtype)
                answer[some] = found
        return answer

    def _residual(self, start: Array, stop: Array) -> Array:
        if len(self) > 1 and bool((start == start[:1, :]).all()) and bool((stop == stop[:1, :]).all()):
            return self._by_table(_shared_residual, start[:1, :], stop[:1, :])
        return self._by_table(Step._residual, start, stop)

    def _endless(self) -> Array:
        """Whether some never have the event: the mean is then infinite."""
        return self._after(self._own_size) > 0

    def _mean(self) -> Array:
        return self._where_it_ends(Step._mean)

    def _variance(self) -> Array:
        return self._where_it_ends(Step._variance)

    def _where_it_ends(self, formula: Callable[[Step], Array]) -> Array:
        endless, xp = self._endless(), namespace(self.times)
        if bool(xp.all(endless)):
            return xp.full_like(self.log_risk[:, :1], math.inf)
        return self._by_table(formula)

    def _mode(self) -> Array:
        return self._by_table(Step._mode)

    def _crps(self, lower: Array, upper: Array) -> Array:
        xp = namespace(self.times)
        lower, upper, endless = xp.broadcast_arrays(lower, upper, self._endless())
        # Survival that never ends is infinitely far from an event that came.
        infinite = endless & (upper < math.inf)
        if bool(xp.all(infinite)):
            return xp.full_like(lower, math.inf)
        if not is_numpy(xp):
            return self._by_table(Step._crps, lower, upper)
        score = np.full(lower.shape, math.inf, self.log_risk.dtype)
        rows = np.flatnonzero(~infinite.all(axis=1))
        score[rows] = self[rows]._by_table(Step._crps, lower[rows], upper[rows])
        return score

    def _quadrature_cost(self) -> int:
        return max(super()._quadrature_cost(), _QUADRATURE_ARRAYS * int(self.times.shape[0]))

    def _block_cost(self) -> int:
        # Nothing here is a quadrature, and tables are made of few rows.
        return super()._quadrature_cost()

    def _scaled(self, factor: Array) -> SurvivalDistribution:
        if factor.shape[0] > 1:
            return self.to_step()._scaled(factor)
        return self._with(times=factor[0, 0] * self.times)

    def _shifted(self, offset: Array) -> SurvivalDistribution:
        if offset.shape[0] > 1:
            return super()._shifted(offset)
        return self._with(times=self.times + offset[0, 0])


def _mean(members: Array) -> Array:
    """Over the members, on the last axis; numpy is slow at means of one."""
    return members[..., 0] if members.shape[-1] == 1 else namespace(members).mean(members, axis=-1)


def _shared_residual(step: Step, start: Array, stop: Array) -> Array:
    """``∫ S(t)/S(start) dt`` between times (1, q) that are the same for all rows: a product of two matrices."""
    xp = namespace(step.values)
    grid = step.times[0, :, None]
    far = xp.full_like(grid[:1, :], math.inf)
    # How much of each stretch, from minus infinity by the grid to infinity, lies between the two times.
    low, high = xp.concat([-far, grid], axis=0), xp.concat([grid, far], axis=0)
    widths = xp.clip(xp.minimum(stop, high) - xp.maximum(start, low), 0.0, None)
    last = step.values[:, -1:]
    beyond = xp.where(last > 0, last * widths[-1:, :], xp.zeros_like(last))
    area = widths[:1, :] + step.values[:, :-1] @ widths[1:-1, :] + beyond
    at_start = step._survival(start)
    some = at_start > 0
    return xp.where(some, area / xp.where(some, at_start, xp.ones_like(at_start)), xp.zeros_like(area))


def _first_true(holds: Callable[[Array], Array], size: Array) -> Array:
    """The smallest number from 1 to `size` (n, q) from which on a condition holds; `size` + 1 if it never does."""
    xp = namespace(size)
    low, high = xp.ones_like(size), size + 1
    for _ in range(int(xp.max(size)).bit_length() if math.prod(size.shape) else 0):
        middle = (low + high) // 2
        # Where the search has ended there is nothing to look at: any place will do.
        there = holds(xp.minimum(middle, size)) & (middle <= size)
        open_ = low < high
        high = xp.where(open_ & there, middle, high)
        low = xp.where(open_ & ~there, middle + 1, low)
    return low


def _same_baseline(one: ProportionalHazards, other: ProportionalHazards) -> bool:
    names = ("times", "log_cumulative", "first", "size")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(a is b or (a.shape == b.shape and bool((a == b).all())) for a, b in pairs)


def _joined(xp: Any, arrays: list[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else xp.concat(arrays, axis=0)


def _floats(values: Any, name: str) -> Array:
    if not is_numpy(namespace(values)):
        return values
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be numbers, but is {values!r:.60}.") from None
    return array


def _check_shapes(times: Array, hazard: Array, risk: Array) -> None:
    if times.ndim != 1 or times.shape[0] == 0:
        raise ParameterError(f"times must have shape (m,) with m ≥ 1, but has {tuple(times.shape)}.")
    if hazard.ndim != 2 or hazard.shape[0] != times.shape[0] or hazard.shape[1] == 0:
        m = times.shape[0]
        raise ParameterError(f"log_cumulative must have shape ({m},) or ({m}, members), but has {tuple(hazard.shape)}.")
    if risk.ndim != 2 or risk.shape[1] != hazard.shape[1]:
        raise ParameterError(
            f"log_risk must have a number for each row and each of {hazard.shape[1]} members, but has shape "
            f"{tuple(risk.shape)}."
        )


def _check_strata(sizes: Any, strata: Any, times: int, rows: int) -> None:
    if sizes.ndim != 1 or (sizes < 1).any() or sizes.sum() != times:
        raise ParameterError(f"sizes must be positive and add up to the {times} times, but are {sizes!r:.60}.")
    if strata.shape != (rows,) or ((strata < 0) | (strata >= sizes.size)).any():
        raise ParameterError(f"strata must be one number below {sizes.size} for each of {rows} rows.")


def _check_baseline(times: Array, hazard: Array, first: Any) -> None:
    xp = namespace(times)
    if not bool(xp.all(xp.isfinite(times))):
        raise ParameterError("times must be finite, but some are not.")
    inner = np.ones(times.shape[0], np.bool_)
    inner[first] = False
    within = xp.asarray(inner[1:])
    if bool(xp.any(within & (times[1:] <= times[:-1]))):
        raise ParameterError("times must be strictly increasing, in each stratum.")
    if bool(xp.any(xp.isnan(hazard))) or bool(xp.any(within[:, None] & (hazard[1:, :] < hazard[:-1, :]))):
        raise ParameterError("log_cumulative must be numbers that do not fall, in each stratum.")
