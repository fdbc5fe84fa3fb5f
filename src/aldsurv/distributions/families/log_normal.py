"""The log-normal distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

from aldsurv.distributions.families.log_time import LogTime
from aldsurv.distributions.families.normal import Normal
from aldsurv.distributions.families.parametric import POSITIVE, REAL
from aldsurv.distributions.numerics.backend import Array, namespace, special

__all__ = ["LogNormal"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class LogNormal(LogTime):
    """The logarithm of the time is normal.

    Parameters
    ----------
    mu
        Mean of the logarithm of the time; ``exp(mu)`` is the median.
    sigma
        Standard deviation of the logarithm of the time.

    Examples
    --------
    >>> LogNormal(mu=0.0, sigma=1.0).mean().round(4)
    array([1.6487])
    """

    mu: Array = field(metadata=REAL)
    sigma: Array = field(metadata={**POSITIVE, "link": "softplus"})

    @property
    def _log_family(self) -> Normal:
        return Normal.from_checked(mu=self.mu, sigma=self.sigma)

    def _residual(self, start: Array, stop: Array) -> Array:
        # By parts: the difference of t·S(t), plus the difference of E[T; T > t].
        xp = namespace(self.mu)
        log_ndtr = special(xp).log_ndtr
        since = self._log_survival(start)

        def parts(t: Array) -> tuple[Array, Array]:
            y, positive = self._log_times(xp.where(xp.isfinite(t), t, xp.ones_like(t)))
            z = (y - self.mu) / self.sigma
            log_moment = self.mu + self.sigma**2 / 2 + xp.where(positive, log_ndtr(self.sigma - z), xp.zeros_like(z))
            moment = xp.exp(log_moment - since)
            finite = xp.where(t < math.inf, t, xp.zeros_like(t))
            product = finite * xp.exp(xp.where(positive, log_ndtr(-z), xp.zeros_like(z)) - since)
            infinite, nothing = t == math.inf, xp.zeros_like(moment)
            return xp.where(infinite, nothing, moment), xp.where(infinite, nothing, product)

        moment_from, product_from = parts(start)
        moment_to, product_to = parts(stop)
        value = (moment_from - moment_to) + (product_to - product_from)
        return self._or_by_quadrature(value, value < 1e-3 * (moment_from + product_from), start, stop)

    def _mean(self) -> Array:
        return namespace(self.mu).exp(self.mu + self.sigma**2 / 2)

    def _variance(self) -> Array:
        xp = namespace(self.mu)
        return xp.expm1(self.sigma**2) * xp.exp(2 * self.mu + self.sigma**2)

    def _mode(self) -> Array:
        return namespace(self.mu).exp(self.mu - self.sigma**2)

    def _scaled(self, factor: Array) -> LogNormal:
        return self.from_checked(mu=self.mu + namespace(factor).log(factor), sigma=self.sigma + 0 * factor)
