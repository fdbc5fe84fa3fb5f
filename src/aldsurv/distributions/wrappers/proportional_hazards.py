"""Proportional hazards: a baseline for all rows and a log risk for each, computed at the times asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace
from aldsurv.distributions.numerics.log_space import log1mexp, log_sum_exp, or_complement
from aldsurv.distributions.wrappers.grid_curves import GridCurves
from aldsurv.distributions.wrappers.level_map import LevelMap, same_maps
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ProportionalHazards"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class ProportionalHazards(GridCurves):
    """``S(t) = exp(-H0(t)·exp(log risk))`` with a cumulative hazard H0 that rises at the times of a grid.

    A value is computed when it is asked for, without a table of rows × times, as `GridCurves` says.

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

    def _log_survivals(self, count: Array) -> Array:
        """Log survival (n, q, members) after so many times (1 or n, q) of the grid."""
        xp = namespace(self.times)
        some = count > 0
        place = self._own_first + xp.where(some, count - 1, xp.zeros_like(count))
        before = xp.full_like(self.log_cumulative[:1, :], -math.inf)
        # No time has passed: no hazard yet.
        height = xp.where(some[..., None], self.log_cumulative[place], before)
        return -xp.exp(height + self.log_risk[:, None, :])

    def _curve_after(self, count: Array) -> Array:
        return _mean(namespace(self.times).exp(self._log_survivals(count)))

    # ---- values at times

    def _cdf(self, t: Array) -> Array:
        if self.level_maps:
            return super()._cdf(t)
        return _mean(-namespace(t).expm1(self._log_survivals(self._count(t, inclusive=True))))

    def _log_survival(self, t: Array) -> Array:
        return super()._log_survival(t) if self.level_maps else self._log_tails(t)[0]

    def _log_cdf(self, t: Array) -> Array:
        return super()._log_cdf(t) if self.level_maps else self._log_tails(t)[1]

    def _log_tails(self, t: Array) -> tuple[Array, Array]:
        parts = self._log_survivals(self._count(t, inclusive=True))
        below = log1mexp(parts)
        members = parts.shape[-1]
        if members == 1:
            return parts[..., 0], below[..., 0]
        survival, cdf = (log_sum_exp(tail) - math.log(members) for tail in (parts, below))
        return or_complement(survival, cdf), or_complement(cdf, survival)

    def _log_mass(self, count: Array) -> Array:
        if self.level_maps:
            return super()._log_mass(count)
        xp = namespace(self.times)
        before, after = self._log_survivals(count - 1), self._log_survivals(count)
        some = before > -math.inf
        fall = xp.where(some, after, -xp.ones_like(after)) - xp.where(some, before, xp.zeros_like(before))
        mass = xp.where(some, before + log1mexp(fall), before)
        return mass[..., 0] if mass.shape[-1] == 1 else log_sum_exp(mass) - math.log(mass.shape[-1])


def _mean(members: Array) -> Array:
    """Over the members, on the last axis; numpy is slow at means of one."""
    return members[..., 0] if members.shape[-1] == 1 else namespace(members).mean(members, axis=-1)


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
