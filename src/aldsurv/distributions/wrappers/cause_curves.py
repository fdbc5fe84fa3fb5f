"""The time to the first event of any cause, where each cause has proportional hazards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, as_like, namespace
from aldsurv.distributions.numerics.log_space import log1mexp
from aldsurv.distributions.wrappers.hazard_checks import checked_hazards
from aldsurv.distributions.wrappers.hazard_curves import HazardCurves, log_fall
from aldsurv.errors import ParameterError

__all__ = ["SummedHazards", "SummedIncidences"]

# Above it a cumulative hazard leaves a survival of 0; its exponential is still a number.
_MOST_LOG_HAZARD = 600.0


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class SummedHazards(HazardCurves):
    """``S(t) = exp(-Σ H_k(t)·exp(log risk_k))``: cumulative hazards of causes that add up.

    Parameters
    ----------
    times, sizes, strata
        Grids and strata as in `ProportionalHazards`; causes share the grid of a stratum.
    log_cumulative
        Logarithm of each cause's cumulative hazard from each time on (m, causes).
    log_risk
        Of each row and cause (n, causes).

    Examples
    --------
    >>> import numpy as np
    >>> d = SummedHazards([1.0, 2.0], np.log([[0.1, 0.2], [0.3, 0.2]]), [[0.0, 0.0]])
    >>> np.log(d.survival([1.0, 2.0]))
    array([[-0.3, -0.5]])
    """

    HAZARD_NAME: ClassVar[str] = "causes"

    def __init__(
        self, times: object, log_cumulative: Any, log_risk: Any, *, sizes: Any = None, strata: Any = None
    ) -> None:
        for name, value in checked_hazards(times, log_cumulative, log_risk, sizes, strata).items():
            object.__setattr__(self, name, value)

    def _log_after(self, count: Array) -> Array:
        """Log survival (n, q) after so many times of the grid."""
        xp, some = namespace(self.times), count > 0
        place = self._own_first + xp.where(some, count - 1, xp.zeros_like(count))
        total: Array = None
        for baseline, risk in self.hazard_factors():
            part = xp.where(some, baseline[place], xp.zeros_like(baseline[:1])) * risk
            total = part if total is None else total + part
        return -total

    def hazard_factors(self) -> list[tuple[Array, Array]]:
        """For each cause a cumulative hazard (m,) and a risk (n, 1), whose product is that of the rows.

        Cause by cause, and without an exponential for each row and time: half of what a survival takes.
        """
        xp, factors = namespace(self.times), []
        for k in range(self.log_risk.shape[1]):
            heights = self.log_cumulative[:, k]
            finite = xp.isfinite(heights)
            top = xp.max(xp.where(finite, heights, xp.full_like(heights, -_MOST_LOG_HAZARD)))
            risk = xp.exp(xp.clip(self.log_risk[:, k : k + 1] + top, None, _MOST_LOG_HAZARD))
            factors.append((xp.exp(heights - top), risk))
        return factors

    def _curve_after(self, count: Array) -> Array:
        return namespace(self.times).exp(self._log_after(count))

    def _hazard_shares(self) -> Array | None:
        # Survivals of several causes are multiplied.
        return namespace(self.times).ones_like(self.log_risk) if self.log_risk.shape[1] == 1 else None

    def _cdf(self, t: Array) -> Array:
        if self.level_maps:
            return super()._cdf(t)
        return -namespace(t).expm1(self._log_after(self._count(t, inclusive=True)))

    def _log_survival(self, t: Array) -> Array:
        return super()._log_survival(t) if self.level_maps else self._log_after(self._count(t, inclusive=True))

    def _log_cdf(self, t: Array) -> Array:
        return super()._log_cdf(t) if self.level_maps else log1mexp(self._log_after(self._count(t, inclusive=True)))

    def _with_scaled_hazard(self, factor: Array) -> SurvivalDistribution:
        if self.level_maps:
            return super()._with_scaled_hazard(factor)
        return self._with(log_risk=self.log_risk + namespace(factor).log(factor))

    def _log_mass(self, count: Array) -> Array:
        if self.level_maps:
            return super()._log_mass(count)
        return log_fall(self._log_after(count - 1), self._log_after(count))


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class SummedIncidences(HazardCurves):
    """``S(t) = 1 - Σ share_k·(1 - exp(-H_k(t)·exp(log risk_k)))``: incidences of causes that add up.

    Parameters
    ----------
    times, log_cumulative, log_risk, sizes, strata
        As in `SummedHazards`, of the subdistributions of the causes.
    share
        What each row's incidence of each cause is multiplied by (n, causes), from 0 to 1; None: one.

    Examples
    --------
    >>> import numpy as np
    >>> d = SummedIncidences([1.0, 2.0], np.log([[0.1, 0.2], [0.3, 0.2]]), [[0.0, 0.0]])
    >>> d.survival([1.0, 2.0]).round(4)
    array([[0.7236, 0.5595]])
    """

    share: Array

    ROW_FIELDS: ClassVar[tuple[str, ...]] = ("log_risk", "stratum", "share")
    HAZARD_NAME: ClassVar[str] = "causes"

    def __init__(
        self,
        times: object,
        log_cumulative: Any,
        log_risk: Any,
        share: Any = None,
        *,
        sizes: Any = None,
        strata: Any = None,
    ) -> None:
        fields = checked_hazards(times, log_cumulative, log_risk, sizes, strata)
        risk, xp = fields["log_risk"], namespace(fields["log_risk"])
        shares = xp.ones_like(risk) if share is None else as_like(share, risk)
        if shares.shape != risk.shape or not bool(xp.all((shares >= 0) & (shares <= 1))):
            raise ParameterError(f"share must be numbers from 0 to 1 of shape {tuple(risk.shape)}.", argument="share")
        for name, value in {**fields, "share": shares}.items():
            object.__setattr__(self, name, value)

    def incidences_after(self, count: Array) -> Array:
        """Incidence (n, q, causes) after so many times (1 or n, q) of the grid."""
        return -self.share[:, None, :] * namespace(self.times).expm1(self._log_survivals(count))

    def _hazard_shares(self) -> Array | None:
        return self.share

    def _curve_after(self, count: Array) -> Array:
        xp = namespace(self.times)
        # Shares were chosen so that no more than one is lost: what rounding takes beyond is none.
        return xp.clip(1 - xp.sum(self.incidences_after(count), axis=-1), 0.0, 1.0)
