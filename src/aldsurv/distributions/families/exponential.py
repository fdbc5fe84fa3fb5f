"""The exponential distribution: a constant hazard."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

from aldsurv.distributions.families.parametric import POSITIVE, Parametric
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.distributions.numerics.log_space import log1mexp, saturation, squared_remainder

__all__ = ["Exponential"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Parametric):
    """Exponential distribution of the event time.

    Parameters
    ----------
    scale
        Mean; the hazard is its reciprocal.

    Examples
    --------
    >>> Exponential(scale=4.0).hazard([1.0, 10.0])
    array([[0.25, 0.25]])
    """

    events_at_zero: ClassVar[bool] = True

    scale: Array = field(metadata=POSITIVE)

    def _log_survival(self, t: Array) -> Array:
        return -namespace(t).clip(t, 0.0, None) / self.scale

    def _log_cdf(self, t: Array) -> Array:
        return log1mexp(self._log_survival(t))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        value = self._log_survival(t) - xp.log(self.scale)
        return xp.where(t >= 0, value, -xp.full_like(value, xp.inf))

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        xp = namespace(t)
        return -(xp.clip(t, 0.0, None) - xp.clip(since, 0.0, None)) / self.scale

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        return -self.scale * log_survival

    def _residual(self, start: Array, stop: Array) -> Array:
        return self.scale * saturation(stop - start, self.scale)

    def _mean(self) -> Array:
        return self.scale

    def _variance(self) -> Array:
        return self.scale**2

    def _mode(self) -> Array:
        return 0 * self.scale

    def _crps(self, lower: Array, upper: Array) -> Array:
        xp = namespace(lower)
        before = squared_remainder(xp.clip(lower, 0.0, None) / self.scale)
        return self.scale * (before + xp.exp(-2 * upper / self.scale) / 2)

    def _lower(self) -> Array:
        return 0 * self.scale

    def _scaled(self, factor: Array) -> Exponential:
        return self.from_checked(scale=factor * self.scale)
