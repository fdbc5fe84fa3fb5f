"""Proportional hazards: a baseline for all rows and a log risk for each, computed at the times asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.distributions.numerics.log_space import log1mexp, log_sum_exp, or_complement
from aldsurv.distributions.wrappers.hazard_checks import checked_hazards
from aldsurv.distributions.wrappers.hazard_curves import HazardCurves, log_fall

__all__ = ["ProportionalHazards"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class ProportionalHazards(HazardCurves):
    """``S(t) = exp(-H0(t)·exp(log risk))`` with a cumulative hazard H0 that rises at the times of a grid.

    A value is computed when it is asked for, without a table of rows × times, as `HazardCurves` says.

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
    >>> import numpy as np
    >>> d = ProportionalHazards([1.0, 2.0, 5.0], np.log([0.1, 0.3, 0.9]), [0.0, np.log(2)])
    >>> d.survival([0.5, 2.0, 9.0]).round(4)
    array([[1.    , 0.7408, 0.4066],
           [1.    , 0.5488, 0.1653]])
    >>> d.median(), d
    (array([5., 5.]), ProportionalHazards(n=2, times=3))
    """

    def __init__(
        self, times: object, log_cumulative: Any, log_risk: Any, *, sizes: Any = None, strata: Any = None
    ) -> None:
        for name, value in checked_hazards(times, log_cumulative, log_risk, sizes, strata).items():
            object.__setattr__(self, name, value)

    def _curve_after(self, count: Array) -> Array:
        return _mean(namespace(self.times).exp(self._log_survivals(count)))

    def _hazard_shares(self) -> Array | None:
        return namespace(self.times).full_like(self.log_risk, 1 / self.log_risk.shape[1])

    def _cdf(self, t: Array) -> Array:
        if self._is_changed:
            return super()._cdf(t)
        return _mean(-namespace(t).expm1(self._log_survivals(self._count(t, inclusive=True))))

    def _log_survival(self, t: Array) -> Array:
        return super()._log_survival(t) if self._is_changed else self._log_tails(t)[0]

    def _log_cdf(self, t: Array) -> Array:
        return super()._log_cdf(t) if self._is_changed else self._log_tails(t)[1]

    def _with_scaled_hazard(self, factor: Array) -> SurvivalDistribution:
        if self._is_changed or self.log_risk.shape[1] > 1:
            return super()._with_scaled_hazard(factor)
        return self._with(log_risk=self.log_risk + namespace(factor).log(factor))

    def _log_tails(self, t: Array) -> tuple[Array, Array]:
        parts = self._log_survivals(self._count(t, inclusive=True))
        below = log1mexp(parts)
        members = parts.shape[-1]
        if members == 1:
            return parts[..., 0], below[..., 0]
        survival, cdf = (log_sum_exp(tail) - math.log(members) for tail in (parts, below))
        return or_complement(survival, cdf), or_complement(cdf, survival)

    def _log_mass(self, count: Array) -> Array:
        if self._is_changed:
            return super()._log_mass(count)
        mass = log_fall(self._log_survivals(count - 1), self._log_survivals(count))
        return mass[..., 0] if mass.shape[-1] == 1 else log_sum_exp(mass) - math.log(mass.shape[-1])


def _mean(members: Array) -> Array:
    """Over the members, on the last axis; numpy is slow at means of one."""
    return members[..., 0] if members.shape[-1] == 1 else namespace(members).mean(members, axis=-1)
