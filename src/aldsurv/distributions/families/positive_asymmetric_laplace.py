"""The asymmetric Laplace distribution of positive times: the part of it above 0."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, final

from aldsurv.distributions.families.asymmetric_laplace import AsymmetricLaplace
from aldsurv.distributions.families.parametric import POSITIVE, REAL, Parametric
from aldsurv.distributions.numerics.backend import Array, is_numpy, namespace
from aldsurv.distributions.numerics.log_space import (
    exponential_remainder,
    growth_remainder,
    log1mexp,
    or_complement,
    squared_remainder,
    truncated_exponential_moments,
)
from aldsurv.distributions.wrappers.truncated import Truncated

__all__ = ["PositiveAsymmetricLaplace"]

# Below this a survival is too near the end of float64 to divide by.
_UNDERFLOW = 1e-290


@final
@dataclass(frozen=True, eq=False, repr=False)
class PositiveAsymmetricLaplace(Truncated, Parametric):
    """The asymmetric Laplace distribution, given that the time is positive.

    Parameters
    ----------
    theta
        Location of the whole distribution; where it is negative, what is left is exponential.
    sigma
        Scale, in the unit of time.
    kappa
        Asymmetry.

    Examples
    --------
    >>> d = PositiveAsymmetricLaplace(theta=1.0, sigma=2.0, kappa=0.8)
    >>> d.cdf([0.0, 1.0]).round(3), d.probability_negative()
    (array([[0.   , 0.273]]), array([0.]))
    """

    events_at_zero: ClassVar[bool] = True

    theta: Array = field(metadata={**REAL, "link": "exp"})
    sigma: Array = field(metadata=POSITIVE)
    kappa: Array = field(metadata=POSITIVE)

    @property
    def _base(self) -> AsymmetricLaplace:
        return AsymmetricLaplace.from_checked(theta=self.theta, sigma=self.sigma, kappa=self.kappa)

    @property
    def _since(self) -> Array:
        return 0 * self.theta

    def _log_parts(self, t: Array) -> tuple[Array, Array, Array]:
        """Log cdf and log survival at t > 0, each from its own sum of positive parts, and which t those are."""
        xp = namespace(t)
        after = t > 0
        safe = xp.where(after, t, xp.ones_like(t))
        log_survival = self._base._log_survival_ratio(safe, self._since)
        log_cdf = self._base._log_probability(self._since, safe) - self._base._log_survival(self._since)
        # A peak below zero leaves an exponential distribution, whose cdf needs no difference of large logarithms.
        return xp.where(self.theta < 0, log1mexp(log_survival), log_cdf), log_survival, after

    def _log_cdf(self, t: Array) -> Array:
        log_cdf, log_survival, after = self._log_parts(t)
        value = or_complement(log_cdf, log_survival)
        return namespace(t).where(after, value, namespace(t).full_like(value, -math.inf))

    def _log_survival(self, t: Array) -> Array:
        log_cdf, log_survival, after = self._log_parts(t)
        value = or_complement(log_survival, log_cdf)
        return namespace(t).where(after, value, namespace(t).zeros_like(value))

    def _survival(self, t: Array) -> Array:
        xp, base = namespace(t), self._base
        positive = base._survival(self._since)
        if is_numpy(xp) and bool((positive > _UNDERFLOW).all()):
            return base._survival(xp.maximum(t, self._since)) / positive
        return super()._survival(t)

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp, base = namespace(self.theta), self._base
        peak = xp.clip(self.theta, 0.0, None)
        log_high = xp.log(self._shares()[1])
        beyond = log_survival <= log_high
        above = xp.where(beyond, log_survival - log_high, xp.zeros_like(log_survival * peak))
        # Below θ: S(0)·q is added to F(0), in logarithms relative to F(0).
        safe = xp.where(beyond, log_high - 1, log_survival)
        gain = log1mexp(safe) + base._log_survival(self._since) - base._log_cdf(self._since)
        below = base._left * xp.logaddexp(gain, xp.zeros_like(gain))
        return xp.where(beyond, peak - base._right * above, xp.minimum(below, peak))

    def _shares(self) -> tuple[Array, Array]:
        """Probability to be below and above θ (0 and 1 where θ is negative)."""
        xp, base = namespace(self.theta), self._base
        reach = xp.clip(self.theta, 0.0, None) / base._left
        below, above = base._mass_left * -xp.expm1(-reach), base._mass_right
        return below / (below + above), above / (below + above)

    def _variance(self) -> Array:
        # A mixture of two exponentials that start at θ and run apart; the left one is cut off at zero.
        xp, base = namespace(self.theta), self._base
        low, high = self._shares()
        peak = xp.clip(self.theta, 0.0, None)
        mean, variance = truncated_exponential_moments(peak / base._left)
        distance = base._right + base._left * mean
        return low * base._left**2 * variance + high * base._right**2 + low * high * distance**2

    def _crps(self, lower: Array, upper: Array) -> Array:
        xp, base = namespace(self.theta), self._base
        low, high = self._shares()
        peak = xp.clip(self.theta, 0.0, None)
        left, right = base._left, base._right

        # ∫ F² up to lower: below θ, F = F(θ)·(e^(s-h) - e^(-h))/(1 - e^(-h)); above, F(θ) and an exponential rise.
        early = xp.clip(lower, 0.0, None)
        first = xp.minimum(early, peak)
        slope = self._slope_share()
        h = first / left
        near = (slope * xp.exp((first - peak) / left)) ** 2 * left * growth_remainder(h)
        v = xp.clip(early - peak, 0.0, None) / right
        rise = low**2 * v + 2 * low * high * exponential_remainder(v) + high**2 * squared_remainder(v)

        # ∫ S² from upper: above θ an exponential; below, S(θ) plus what is lost on the way.
        w = xp.clip(upper - peak, 0.0, None) / right
        tail = right * (high * xp.exp(-w)) ** 2 / 2
        x = xp.clip(peak - upper, 0.0, None) / left
        fall = high**2 * x + 2 * high * slope * exponential_remainder(x) + slope**2 * squared_remainder(x)
        return near + right * rise + tail + left * fall

    def _slope_share(self) -> Array:
        """``P(T < θ)`` of the whole distribution over ``P(T > 0)`` of it."""
        xp, base = namespace(self.theta), self._base
        reach = xp.clip(self.theta, 0.0, None) / base._left
        return base._mass_left / (base._mass_left * -xp.expm1(-reach) + base._mass_right)

    def _scaled(self, factor: Array) -> PositiveAsymmetricLaplace:
        return self.from_checked(theta=factor * self.theta, sigma=factor * self.sigma, kappa=self.kappa + 0 * factor)
