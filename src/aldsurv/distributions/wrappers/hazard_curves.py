"""Curves of hazards that rise at the times of a grid which rows share, computed at the times asked for."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.step import Step, reached_level
from aldsurv.distributions.numerics.backend import Array, is_numpy, namespace
from aldsurv.distributions.numerics.log_space import log1mexp
from aldsurv.distributions.numerics.risk_areas import areas_by_risk
from aldsurv.distributions.wrappers.level_map import LevelMap, mapped_survival, same_maps
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.distributions.families.quantile_knots import QuantileKnots

__all__ = ["TABLE_VALUES", "HazardCurves", "log_fall"]

# Values of a table of rows and times that is made for an integral and thrown away: 4 MB, a dozen of which are in work.
TABLE_VALUES = 1 << 19
# Arrays of one value for each time that a quadrature holds for one value of its result.
_QUADRATURE_ARRAYS = 16
# Survival at the start of an area below which it is computed row by row.
_LEAST_AT_START = 0.5


class HazardCurves(SurvivalDistribution):
    """Survival that falls at the times of a grid, and is computed when it is asked for; after the last time it is held.

    The same distribution as a `Step` of these curves, without the table of rows × times. Survival, cdf, density and
    quantiles take a search in the grid for each value. Restricted means of many rows take the grid once for each unit
    of log risk (`areas_by_risk`), wherever survival is a sum over hazards; otherwise, as modes and CRPS, they go
    through the grid for each row, a few rows at a time. As a `Step` has none, ``density`` is that of the linear
    interpolation.

    Attributes
    ----------
    times
        Grids of all strata, one after the other, each strictly increasing.
    first, size
        Where the grid of each stratum begins, and how many times it has.
    log_cumulative
        Logarithms of cumulative hazards from each time on (m, c): of members of an ensemble, or of causes.
    log_risk
        Log risk of each row for each of them (n, c).
    stratum
        Number of each row's stratum (n, 1).
    level_maps
        Maps by which survival was recalibrated, one after the other.
    powers
        What hazards of rows (n, 1) are multiplied by, by the number of maps before that.
    """

    times: Array
    first: Array
    size: Array
    log_cumulative: Array
    log_risk: Array
    stratum: Array
    level_maps: tuple[LevelMap, ...]
    powers: Mapping[int, Array] = MappingProxyType({})

    # Fields with one row per individual.
    ROW_FIELDS: ClassVar[tuple[str, ...]] = ("log_risk", "stratum")
    # What each of the cumulative hazards is of.
    HAZARD_NAME: ClassVar[str] = "members"

    @abstractmethod
    def _curve_after(self, count: Array) -> Array:
        """Survival (n, q) after so many times (1 or n, q) of each row's grid, before any recalibration."""

    def __repr__(self) -> str:
        parts = [f"n={len(self)}", f"times={self.times.shape[0]}"]
        for name, count in (("strata", self.size.shape[0]), (self.HAZARD_NAME, self.log_risk.shape[1])):
            parts += [f"{name}={count}"] if count > 1 else []
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def _column(self) -> Array:
        return self.log_risk

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        powers = {maps: change(power) for maps, power in self.powers.items()}
        return self._with(**{name: change(getattr(self, name)) for name in self.ROW_FIELDS}, powers=powers)

    def _join(self, others: Sequence[Self]) -> Self:
        parts: list[Self] = [self, *others]
        xp = namespace(self.times)
        if len({part.log_risk.shape[1] for part in parts}) > 1:
            raise ParameterError(f"proportional hazards of different numbers of {self.HAZARD_NAME} cannot be joined.")
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
        rows = {name: xp.concat([getattr(part, name) for part in parts], axis=0) for name in self.ROW_FIELDS}
        powers: dict[int, Array] = {}
        for maps in sorted({maps for part in parts for maps in part.powers}):
            each = [part.powers.get(maps, xp.ones_like(part.log_risk[:, :1])) for part in parts]
            powers[maps] = xp.concat(each, axis=0)
        return self._with(
            times=_joined(xp, [one.times for one in baselines]),
            log_cumulative=_joined(xp, [one.log_cumulative for one in baselines]),
            first=_joined(xp, [one.first + start for one, start in zip(baselines, starts, strict=False)]),
            size=_joined(xp, [one.size for one in baselines]),
            **{**rows, "stratum": xp.concat(strata, axis=0), "powers": powers},
        )

    def _with(self, **fields: Any) -> Self:
        return self.from_checked(**{**vars(self), **fields})

    def _recalibrated(self, level_map: LevelMap) -> Self:
        return self._with(level_maps=(*self.level_maps, level_map))

    def _with_scaled_hazard(self, factor: Array) -> SurvivalDistribution:
        maps = len(self.level_maps)
        return self._with(powers={**self.powers, maps: self.powers.get(maps, 1.0) * factor})

    @property
    def _is_changed(self) -> bool:
        """Whether survival is another than that of the hazards."""
        return bool(self.level_maps or self.powers)

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
        """Log survival under each hazard (n, q, c) after so many times (1 or n, q) of the grid."""
        xp = namespace(self.times)
        some = count > 0
        place = self._own_first + xp.where(some, count - 1, xp.zeros_like(count))
        before = xp.full_like(self.log_cumulative[:1, :], -math.inf)
        # No time has passed: no hazard yet.
        height = xp.where(some[..., None], self.log_cumulative[place], before)
        return -xp.exp(height + self.log_risk[:, None, :])

    def _after(self, count: Array) -> Array:
        """Survival (n, q) after so many times of the grid."""
        return self._mapped(self._curve_after(count), self.powers)

    def _mapped(self, survival: Array, powers: Mapping[int, Array] = MappingProxyType({})) -> Array:
        """What survival becomes by all maps, and by powers between them."""
        survival = survival ** powers[0] if 0 in powers else survival
        for maps, level_map in enumerate(self.level_maps, start=1):
            survival = mapped_survival(survival, level_map)
            survival = survival ** powers[maps] if maps in powers else survival
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
        return 1 - self._survival(t)

    def _log_survival(self, t: Array) -> Array:
        return namespace(t).log(self._survival(t))

    def _log_cdf(self, t: Array) -> Array:
        return namespace(t).log1p(-self._survival(t))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        count, width = self._stretch(t)
        inside = width > 0
        density = self._log_mass(count) - xp.log(xp.where(inside, width, xp.ones_like(width)))
        return xp.where(inside, density, xp.full_like(density, -math.inf))

    def _stretch(self, t: Array) -> tuple[Array, Array]:
        """In which stretch between times of its grid each t lies, counted from 1, and its width; 0 outside all."""
        xp, size, edge = namespace(t), self._own_size, self._edge
        count = xp.clip(self._count(t, inclusive=False) + 1, None, size)
        start = xp.where(count > 1, self._time(xp.clip(count - 1, 1, None)), edge)
        inside = (t > edge) & (t <= self._time(size))
        width = self._time(count) - start
        return count, xp.where(inside, width, xp.zeros_like(width))

    def _log_mass(self, count: Array) -> Array:
        """Logarithm of the probability at the time of that number, counted from 1."""
        return namespace(self.times).log(self._after(count - 1) - self._after(count))

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
        answer: Array = None
        for stratum, rows in self._rows_by_stratum():
            step = max(1, TABLE_VALUES // int(self.size[stratum]))
            for start in range(0, rows.size, step):
                some = rows[start : start + step]
                parts = (part if part.shape[0] == 1 else part[some] for part in arguments)
                found = formula(self[some].to_step(), *parts)
                if answer is None:
                    answer = np.empty((len(self), found.shape[1]), found.dtype)
                answer[some] = found
        return answer

    def _rows_by_stratum(self) -> list[tuple[int, Array]]:
        """Each stratum that has rows, and their numbers."""
        strata = self._present()
        if len(strata) == 1:
            return [(strata[0], np.arange(len(self)))]
        return [(stratum, np.flatnonzero(self.stratum[:, 0] == stratum)) for stratum in strata]

    def _hazard_shares(self) -> Array | None:
        """Shares (n, c) of each hazard's survival in that before any recalibration; None where it is no such sum."""
        return None

    def _residual(self, start: Array, stop: Array) -> Array:
        areas = self._areas_by_risk(start, stop)
        if areas is not None:
            return areas
        if len(self) > 1 and bool((start == start[:1, :]).all()) and bool((stop == stop[:1, :]).all()):
            return self._by_table(_shared_residual, start[:1, :], stop[:1, :])
        return self._by_table(Step._residual, start, stop)

    def approximate_restricted_mean(self, horizon: float) -> Array:
        """`restricted_mean`; of mapped levels of one hazard to about 1e-6 of the horizon."""
        is_mapped = bool(self.level_maps) and not self.powers
        shares = self._hazard_shares() if is_mapped and is_numpy(namespace(self.times)) else None
        if shares is None or shares.shape[1] > 1 or (shares < 1).any():
            return self.restricted_mean(horizon)
        if not np.isfinite(horizon) or bool((self.times[self.first] <= 0).any()):
            return self.restricted_mean(horizon)
        answer, zero, end = np.empty(len(self)), np.zeros((1, 1)), np.full((1, 1), float(horizon))
        for rows, heights, widths in self._areas(zero, end):
            answer[rows] = areas_by_risk(heights[:, 0], widths, self.log_risk[rows, 0], mapped=self._mapped)[:, 0]
        return answer

    def _areas(self, start: Array, stop: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Rows of each stratum, its heights (m + 1, c), and how long each lasts between times (1, q)."""
        for stratum, rows in self._rows_by_stratum():
            place = slice(int(self.first[stratum]), int(self.first[stratum] + self.size[stratum]))
            heights = np.concatenate([np.full_like(self.log_cumulative[:1], -math.inf), self.log_cumulative[place]])
            yield rows, heights, _widths_between(start, stop, self.times[place, None])

    def _areas_by_risk(self, start: Array, stop: Array) -> Array | None:
        """``_residual`` between times that all rows share; None where it has to go through the grid of each row.

        That is where survival is no sum over hazards, or where so little of it is left at the start that the areas,
        exact to rounding of the whole, would lose digits when they are divided by it.
        """
        shares = self._hazard_shares() if is_numpy(namespace(self.times)) and not self._is_changed else None
        if shares is None or not all(bool((each == each[:1, :]).all()) for each in (start, stop)):
            return None
        start, stop = np.broadcast_arrays(start[:1, :], stop[:1, :])
        at_start = self._survival(start)
        if not np.isfinite(stop).all() or (at_start < _LEAST_AT_START).any():
            return None
        # Shares of causes may add up to more than one, for each has a curve that does not fall to 0.
        answer = (1 - shares.sum(axis=1, keepdims=True)) * (stop - start)
        for rows, heights, widths in self._areas(start, stop):
            for k in range(shares.shape[1]):
                area = areas_by_risk(heights[:, k], widths, self.log_risk[rows, k])
                answer[rows] += shares[rows, k : k + 1] * area
        return answer / at_start

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
            return xp.full_like(self._column[:, :1], math.inf)
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
        score = np.full(lower.shape, math.inf, self._column.dtype)
        rows = np.flatnonzero(~infinite.all(axis=1))
        score[rows] = self[rows]._by_table(Step._crps, lower[rows], upper[rows])
        return score

    def _quadrature_cost(self) -> int:
        return max(super()._quadrature_cost(), _QUADRATURE_ARRAYS * int(self.times.shape[0]))

    def _block_cost(self) -> int:
        # All rows at once: what is shared between them is computed once, and tables are made of few rows.
        return 0

    def _scaled(self, factor: Array) -> SurvivalDistribution:
        if factor.shape[0] > 1:
            return self.to_step()._scaled(factor)
        return self._with(times=factor[0, 0] * self.times)

    def _shifted(self, offset: Array) -> SurvivalDistribution:
        if offset.shape[0] > 1:
            return super()._shifted(offset)
        return self._with(times=self.times + offset[0, 0])


def log_fall(before: Array, after: Array) -> Array:
    """Logarithm of ``exp(before) - exp(after)``, of two log survivals."""
    xp = namespace(before)
    some = before > -math.inf
    fall = xp.where(some, after, -xp.ones_like(after)) - xp.where(some, before, xp.zeros_like(before))
    return xp.where(some, before + log1mexp(fall), before)


def _shared_residual(step: Step, start: Array, stop: Array) -> Array:
    """``∫ S(t)/S(start) dt`` between times (1, q) that are the same for all rows: a product of two matrices."""
    xp = namespace(step.values)
    widths = _widths_between(start, stop, step.times[0, :, None])
    last = step.values[:, -1:]
    beyond = xp.where(last > 0, last * widths[-1:, :], xp.zeros_like(last))
    area = widths[:1, :] + step.values[:, :-1] @ widths[1:-1, :] + beyond
    at_start = step._survival(start)
    some = at_start > 0
    return xp.where(some, area / xp.where(some, at_start, xp.ones_like(at_start)), xp.zeros_like(area))


def _widths_between(start: Array, stop: Array, grid: Array) -> Array:
    """How much of each stretch (m + 1, q), from minus infinity by the grid (m, 1) to infinity, lies between times."""
    xp = namespace(grid)
    far = xp.full_like(grid[:1, :], math.inf)
    low, high = xp.concat([-far, grid], axis=0), xp.concat([grid, far], axis=0)
    return xp.clip(xp.minimum(stop, high) - xp.maximum(start, low), 0.0, None)


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


def _same_baseline(one: HazardCurves, other: HazardCurves) -> bool:
    names = ("times", "log_cumulative", "first", "size")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(a is b or (a.shape == b.shape and bool((a == b).all())) for a, b in pairs)


def _joined(xp: Any, arrays: list[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else xp.concat(arrays, axis=0)
