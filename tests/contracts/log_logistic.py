"""A family as somebody would add it who has read only the docstring of `Parametric`: one file, and one record."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

from aldsurv.distributions.families.parametric import POSITIVE, Parametric
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.registry import FamilyRecord

RECORD = FamilyRecord(
    "log_logistic", "contracts.log_logistic:LogLogistic", "log-logistic", "log time is logistic: a hazard with a peak"
)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LogLogistic(Parametric):
    """Log-logistic distribution: ``S(t) = 1/(1 + (t/scale)^shape)``.

    Parameters
    ----------
    scale
        Median.
    shape
        The tail falls as the power ``-shape`` of time.
    """

    scale: Array = field(metadata=POSITIVE)
    shape: Array = field(metadata=POSITIVE)

    def _log_odds(self, t: Array) -> tuple[Array, Array]:
        """Logarithm of the odds F/S at the positive times (0 for the others), and which those are."""
        xp = namespace(t)
        positive = t > 0
        log_odds = self.shape * (xp.log(xp.where(positive, t, xp.ones_like(t))) - xp.log(self.scale))
        return xp.where(positive, log_odds, xp.zeros_like(log_odds)), positive

    def _log_survival(self, t: Array) -> Array:
        xp = namespace(t)
        log_odds, positive = self._log_odds(t)
        return xp.where(positive, -xp.logaddexp(log_odds, xp.zeros_like(log_odds)), xp.zeros_like(log_odds))

    def _log_cdf(self, t: Array) -> Array:
        xp = namespace(t)
        log_odds, positive = self._log_odds(t)
        value = -xp.logaddexp(-log_odds, xp.zeros_like(log_odds))
        return xp.where(positive, value, xp.full_like(value, -math.inf))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        log_odds, positive = self._log_odds(t)
        log_t = log_odds / self.shape + xp.log(self.scale)
        zero = xp.zeros_like(log_odds)
        value = xp.log(self.shape) - log_t - xp.logaddexp(log_odds, zero) - xp.logaddexp(-log_odds, zero)
        value = xp.where(t == math.inf, xp.full_like(value, -math.inf), value)
        at_zero = xp.where(self.shape < 1, xp.full_like(self.shape, math.inf), xp.full_like(self.shape, -math.inf))
        at_zero = xp.where(self.shape == 1, -xp.log(self.scale), at_zero)
        outside = xp.where(t == 0, at_zero, xp.full_like(value, -math.inf))
        return xp.where(positive, value, outside)

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(log_survival)
        return self.scale * xp.exp((xp.log(-xp.expm1(log_survival)) - log_survival) / self.shape)

    def _mean(self) -> Array:
        xp = namespace(self.shape)
        exists = self.shape > 1
        angle = math.pi / xp.where(exists, self.shape, xp.full_like(self.shape, 2.0))
        return xp.where(exists, self.scale * angle / xp.sin(angle), xp.full_like(angle, math.inf))

    def _lower(self) -> Array:
        return 0 * self.scale

    def _scaled(self, factor: Array) -> LogLogistic:
        return self.from_checked(scale=factor * self.scale, shape=self.shape + 0 * factor)
