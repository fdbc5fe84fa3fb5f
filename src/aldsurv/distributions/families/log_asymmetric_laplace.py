"""The asymmetric Laplace distribution of log time: positive times with power-law tails."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

from aldsurv.distributions.families.asymmetric_laplace import AsymmetricLaplace
from aldsurv.distributions.families.log_time import LogTime
from aldsurv.distributions.families.parametric import POSITIVE, REAL
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.distributions.numerics.log_space import power_integral

__all__ = ["LogAsymmetricLaplace"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class LogAsymmetricLaplace(LogTime):
    """The logarithm of the time is asymmetric Laplace; no probability below zero.

    Beyond ``exp(theta)`` survival falls as the power ``-1/right`` of time (``right = σ/(κ√2)``): the mean exists only
    for right < 1, the variance only for right < ½; they are infinite otherwise. The restricted mean always exists.

    Parameters
    ----------
    theta
        Location of the logarithm of the time.
    sigma
        Scale of the logarithm of the time.
    kappa
        Asymmetry.

    Examples
    --------
    >>> d = LogAsymmetricLaplace(theta=2.0, sigma=0.5, kappa=1.0)
    >>> d.median().round(4), d.cdf(0.0)
    (array([7.3891]), array([0.]))
    """

    theta: Array = field(metadata=REAL)
    sigma: Array = field(metadata=POSITIVE)
    kappa: Array = field(metadata=POSITIVE)

    @property
    def _log_family(self) -> AsymmetricLaplace:
        return AsymmetricLaplace.from_checked(theta=self.theta, sigma=self.sigma, kappa=self.kappa)

    def _log_density_at_zero(self) -> Array:
        # f(t) ~ t^(1/left - 1): zero, finite or infinite at 0.
        xp, left = namespace(self.theta), self._log_family._left
        value = xp.where(left > 1, xp.full_like(left, math.inf), xp.full_like(left, -math.inf))
        return xp.where(left == 1, self._log_family._log_density(self.theta) - self.theta, value)

    def _moment(self, order: int) -> Array:
        """``E[T^order]``, the moment generating function of the logarithm."""
        xp, log_family = namespace(self.theta), self._log_family
        left, right = order * log_family._left, order * log_family._right
        exists = right < 1
        safe = xp.where(exists, right, xp.zeros_like(right))
        value = xp.exp(order * self.theta) / ((1 + left) * (1 - safe))
        return xp.where(exists, value, xp.full_like(value, math.inf))

    def _mean(self) -> Array:
        return self._moment(1)

    def _variance(self) -> Array:
        # E[T²]/E[T]² - 1, multiplied out, so that a small spread keeps its digits.
        xp, log_family = namespace(self.theta), self._log_family
        left, right = log_family._left, log_family._right
        exists = right < 0.5
        safe = xp.where(exists, right, xp.zeros_like(right))
        relative = (left**2 * (1 - safe) ** 2 + safe**2 * (1 + 2 * left)) / ((1 + 2 * left) * (1 - 2 * safe))
        mean = xp.exp(self.theta) / ((1 + left) * (1 - safe))
        return xp.where(exists, relative * mean**2, xp.full_like(mean, math.inf))

    def _mode(self) -> Array:
        # Below exp(θ) the density rises unless left > 1, when it is infinite at zero.
        xp = namespace(self.theta)
        return xp.where(self._log_family._left > 1, 0 * self.theta, xp.exp(self.theta))

    def _residual(self, start: Array, stop: Array) -> Array:
        xp, log_family = namespace(self.theta), self._log_family
        left, right = log_family._left, log_family._right
        kink = xp.exp(self.theta)
        early, late = xp.minimum(start, kink), xp.minimum(stop, kink)
        # ∫ S below the kink is the difference of t·(S(t) + F(t)/(1 + 1/left)/left), a sum of positive terms.
        below = self._below(late, left) - self._below(early, left)
        first, _ = self._log_times(xp.maximum(start, kink))
        endless = stop == math.inf
        last, _ = self._log_times(xp.where(endless, xp.ones_like(stop), xp.maximum(stop, kink)))
        power = 1 - 1 / right
        within = power_integral(power, xp.where(endless, xp.zeros_like(last - first), last - first))
        exists = power < 0
        forever = -1 / xp.where(exists, power, -xp.ones_like(power))
        tail = xp.exp(first) * xp.where(endless, forever, within)
        at_tail = xp.exp(self._log_survival(xp.maximum(start, kink)) - self._log_survival(start))
        value = below * xp.exp(-self._log_survival(early)) + tail * at_tail
        # Infinite only now: a zero gradient times an infinite factor would not be zero.
        return xp.where(endless & ~exists, xp.full_like(value, math.inf), value)

    def _below(self, t: Array, left: Array) -> Array:
        """``∫ S`` from 0 to t, for t up to exp(θ)."""
        return t * (self._survival(t) + self._cdf(t) / (1 + left))

    def _crps(self, lower: Array, upper: Array) -> Array:
        # F² and S² are sums of powers of time on either side of the kink.
        xp, log_family = namespace(self.theta), self._log_family
        left, right = log_family._left, log_family._right
        below, above = log_family._mass_left, log_family._mass_right
        kink = xp.exp(self.theta)

        early = xp.clip(lower, 0.0, None)
        first = xp.minimum(early, kink)
        ratio = self._log_ratio(early)
        rise = power_integral(xp.ones_like(ratio), ratio) - 2 * above * power_integral(1 - 1 / right, ratio)
        rise = kink * (rise + above**2 * power_integral(1 - 2 / right, ratio))
        before = first * self._cdf(first) ** 2 / (1 + 2 / left) + xp.where(early > kink, rise, xp.zeros_like(rise))

        exists = right < 2
        power = 2 / xp.where(exists, right, xp.ones_like(right)) - 1
        last = xp.maximum(upper, kink)
        log_last = xp.where(last < math.inf, self._log_times(last)[0], xp.zeros_like(last))
        tail = xp.exp(2 * self._log_survival(last) + log_last) / power
        tail = xp.where(last < math.inf, xp.where(exists, tail, xp.full_like(tail, math.inf)), xp.zeros_like(tail))
        late = xp.minimum(upper, kink)
        shrink = self._cdf(late) / below
        fall = (kink - late) - 2 * below * (kink - late * shrink) / (1 + 1 / left)
        fall = fall + below**2 * (kink - late * shrink**2) / (1 + 2 / left)
        return before + tail + fall

    def _log_ratio(self, t: Array) -> Array:
        """``log t - θ``, not below 0."""
        xp = namespace(t)
        y, positive = self._log_times(t)
        return xp.clip(xp.where(positive, y - self.theta, xp.zeros_like(y)), 0.0, None)

    def _kinks(self) -> Array:
        return namespace(self.theta).exp(self.theta)

    def _scaled(self, factor: Array) -> LogAsymmetricLaplace:
        shift = namespace(factor).log(factor)
        return self.from_checked(theta=self.theta + shift, sigma=self.sigma + 0 * shift, kappa=self.kappa + 0 * shift)
