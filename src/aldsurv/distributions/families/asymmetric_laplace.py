"""The asymmetric Laplace distribution: every formula in closed form, every exponent at most zero."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.parametric import POSITIVE, REAL, Parametric, parameter_columns
from aldsurv.distributions.numerics.backend import Array, is_numpy, namespace
from aldsurv.distributions.numerics.log_space import exponential_remainder, saturation, squared_remainder

__all__ = ["AsymmetricLaplace"]

_SQRT2 = math.sqrt(2.0)
# 1 - p·exp(u) rounds at 1e-16; where survival can be this small or smaller, -expm1 keeps the digits.
_NEEDS_EXPM1 = 1e-3


@final
@dataclass(frozen=True, eq=False, repr=False)
class AsymmetricLaplace(Parametric):
    """Two exponentials back to back at ``theta``: the distribution of the paper, on the whole real line.

    With ``left = σκ/√2`` and ``right = σ/(κ√2)``, the density is ``exp(-|y-θ|/right)/(left+right)`` above θ and the
    same with left below. A fraction ``κ²/(1+κ²)`` of the probability lies below θ.

    Parameters
    ----------
    theta
        Location: the mode, and the κ²/(1+κ²)-quantile.
    sigma
        Scale, in the unit of time.
    kappa
        Asymmetry: 1 is symmetric, smaller has its long tail to the right.

    Examples
    --------
    >>> d = AsymmetricLaplace(theta=[10.0, 20.0], sigma=2.0, kappa=0.5)
    >>> d.mean()
    array([12.12132034, 22.12132034])
    >>> d.survival([5.0, 15.0, 25.0]).round(3)
    array([[1.   , 0.137, 0.004],
           [1.   , 1.   , 0.137]])

    The same distribution by its quantile form, see `from_quantile`:

    >>> AsymmetricLaplace.from_quantile(theta=10.0, scale=0.5656854, q=0.2)
    AsymmetricLaplace(n=1, theta=10, sigma=2, kappa=0.5)
    """

    events_at_zero: ClassVar[bool] = True

    theta: Array = field(metadata=REAL)
    sigma: Array = field(metadata=POSITIVE)
    kappa: Array = field(metadata=POSITIVE)

    @classmethod
    def from_quantile(cls, theta: Any, scale: Any, q: Any) -> AsymmetricLaplace:
        """The form of quantile regression, in which θ is the q-quantile.

        Its density is ``q(1-q)/scale·exp(-ρ(y-θ)/scale)`` with the check loss ``ρ(z) = z·(q - 1[z < 0])``, so that
        maximum likelihood with a fixed q is quantile regression at level q. The paper writes both forms with one
        letter σ, but their scales differ: ``σ = scale·√(2/(q(1-q)))``, and ``κ = √(q/(1-q))``.

        Parameters
        ----------
        theta
            Location: the mode, and the q-quantile.
        scale
            Scale of the check loss, in the unit of time; `quantile_scale` of the result.
        q
            Probability below θ, between 0 and 1. θ is the q-quantile to rounding for q from 1e-300 up to the largest
            float64 below 1; what promises its digits for κ from 1e-4 to 1e4 has them for q from 1e-8 to 1 - 1e-8.

        Examples
        --------
        >>> d = AsymmetricLaplace.from_quantile(theta=12.0, scale=3.0, q=[0.1, 0.5, 0.9])
        >>> d.cdf(12.0).round(3)
        array([0.1, 0.5, 0.9])
        """
        given = {"theta": theta, "scale": scale, "q": q}
        columns = parameter_columns(given, {"theta": "real", "scale": "positive", "q": "share"})
        # 1 - q is exact for q above one half, where its digits matter.
        below, above = columns["q"], 1 - columns["q"]
        xp = namespace(below)
        sigma = columns["scale"] * (_SQRT2 / xp.sqrt(below)) / xp.sqrt(above)
        return cls(theta=columns["theta"], sigma=sigma, kappa=xp.sqrt(below / above))

    @property
    def q(self) -> Array:
        """The level of which θ is the quantile, ``F(θ) = κ²/(1+κ²)``, as a column ``(n, 1)``.

        Close to 1 it cannot hold all digits of κ: of ``κ → q → κ`` a share of about κ²·1e-16 is lost.
        """
        return self._mass_left

    @property
    def quantile_scale(self) -> Array:
        """The scale of the quantile form, ``σκ/(√2(1+κ²)) = σ·√(q(1-q)/2)``, as a column ``(n, 1)``."""
        return self._left * self._mass_right

    @property
    def _left(self) -> Array:
        return self.sigma * self.kappa / _SQRT2

    @property
    def _right(self) -> Array:
        return self.sigma / (self.kappa * _SQRT2)

    @property
    def _mass_left(self) -> Array:
        """F(θ) = κ²/(1+κ²), without κ² overflowing or the sum losing the 1."""
        return 1 / (1 + (1 / self.kappa) ** 2)

    @property
    def _mass_right(self) -> Array:
        return 1 / (1 + self.kappa**2)

    def _log_density(self, t: Array) -> Array:
        # min of the two exponents is the right one on either side; at θ torch gives the mean of both slopes.
        xp = namespace(self.theta)
        z = t - self.theta
        return xp.minimum(-z / self._right, z / self._left) - xp.log(self._left + self._right)

    def _log_survival(self, t: Array) -> Array:
        return _log_tail(t - self.theta, self._right, self._left, self._mass_right, self._mass_left, self.kappa**2)

    def _log_cdf(self, t: Array) -> Array:
        # -T is asymmetric Laplace with left and right exchanged.
        return _log_tail(self.theta - t, self._left, self._right, self._mass_left, self._mass_right, self.kappa**-2)

    def _survival(self, t: Array) -> Array:
        return _tail(t - self.theta, self._right, self._left, self._mass_right, self._mass_left)

    def _cdf(self, t: Array) -> Array:
        return _tail(self.theta - t, self._left, self._right, self._mass_left, self._mass_right)

    def _log_hazard(self, t: Array) -> Array:
        # Beyond θ a constant; as a difference of two logarithms it would lose digits with the distance.
        xp = namespace(self.theta)
        before = xp.minimum(t, self.theta)
        rising = self._log_density(before) - self._log_survival(before)
        return xp.where(t < self.theta, rising, -xp.log(self._right))

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        xp = namespace(self.theta)
        before = self._log_survival(xp.minimum(t, self.theta)) - self._log_survival(xp.minimum(since, self.theta))
        # Beyond θ the hazard is constant: the difference of times, not of large logarithms.
        start = xp.maximum(since, self.theta)
        return before - (xp.maximum(t, self.theta) - start) / self._right

    def _log_probability(self, lower: Array, upper: Array) -> Array:
        # Both sides of θ add up positive parts; nothing is subtracted but times.
        xp = namespace(self.theta)
        below = xp.minimum(upper, self.theta)
        above = xp.maximum(lower, self.theta)
        on_left = _log_slice(below - lower, self.theta - below, self._left)
        on_right = _log_slice(upper - above, above - self.theta, self._right)
        return xp.logaddexp(
            -xp.log1p(self.kappa**-2) + on_left,
            -xp.log1p(self.kappa**2) + on_right,
        )

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(self.theta)
        log_mass_right = -xp.log1p(self.kappa**2)
        beyond = log_survival <= log_mass_right
        above = xp.where(beyond, log_survival - log_mass_right, xp.zeros_like(log_mass_right))
        safe = xp.where(beyond, log_mass_right, log_survival)
        q = -xp.expm1(safe)
        # log(q/F(θ)): near θ from a difference of the smaller probabilities, far below from the logarithm of q.
        shortfall = xp.where(self.kappa < 1, q - self._mass_left, self._mass_right - xp.exp(safe))
        excess = shortfall / self._mass_left
        near = excess > -0.5
        by_difference = xp.log1p(xp.where(near, excess, xp.zeros_like(excess)))
        by_logarithm = xp.log(xp.where(near, xp.ones_like(q), q)) + xp.log1p(self.kappa**-2)
        below = xp.where(near, by_difference, by_logarithm)
        return self.theta - self._right * above + self._left * xp.where(beyond, xp.zeros_like(below), below)

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(self.theta)
        # Time spent on either side of θ; times are subtracted before anything else can round.
        on_left = xp.clip(xp.minimum(stop, self.theta) - start, 0.0, None)
        on_right = xp.clip(stop - xp.maximum(start, self.theta), 0.0, None)
        h = on_left / self._left
        rise = -xp.expm1(-h)
        short = xp.clip(stop - self.theta, None, 0.0) / self._left
        # ∫ S below θ as three positive parts: S itself is mass·eᵘ + (1 - eᵘ).
        below = self._left * (
            self._mass_right * xp.exp(short) * rise + exponential_remainder(h) - xp.expm1(short) * rise
        )
        above = self._right * saturation(on_right, self._right)
        at_start = self._survival(xp.minimum(start, self.theta))
        return (below + self._mass_right * above) / at_start

    def _mean(self) -> Array:
        return self.theta + self.sigma / _SQRT2 * (1 - self.kappa) * (1 + self.kappa) / self.kappa

    def _variance(self) -> Array:
        return self._left**2 + self._right**2

    def _mode(self) -> Array:
        return self.theta

    def skewness(self) -> Array:
        """Third standardised moment: positive for κ < 1."""
        # In terms of ratio = min(κ, 1/κ) the powers never overflow; the sign says which side is long.
        xp = namespace(self.kappa)
        ratio = xp.minimum(self.kappa, 1 / self.kappa)
        short = xp.where(self.kappa > 1, (self.kappa - 1) / self.kappa, 1 - self.kappa)
        size = 2 * short * (1 + ratio) * (1 + ratio**2 + ratio**4) / (1 + ratio**4) ** 1.5
        return xp.where(self.kappa > 1, -size, size)[:, 0]

    def entropy(self) -> Array:
        """Differential entropy in nats."""
        return 1 + namespace(self.sigma).log(self._left + self._right)[:, 0]

    def _crps(self, lower: Array, upper: Array) -> Array:
        before = _squared_tail(lower - self.theta, self._left, self._right, self._mass_left, self._mass_right)
        after = _squared_tail(self.theta - upper, self._right, self._left, self._mass_right, self._mass_left)
        return before + after

    def _kinks(self) -> Array:
        return self.theta

    def _conditional(self, since: Array) -> SurvivalDistribution:
        from aldsurv.distributions.families.positive_asymmetric_laplace import PositiveAsymmetricLaplace

        if not bool(namespace(since).all(since >= 0)):
            return super()._conditional(since)
        # Counted from `since`, what is left is the family of positive times, with all its closed forms.
        remaining = self._shifted(-since)
        return PositiveAsymmetricLaplace.from_checked(**remaining._columns())._shifted(since)

    def _scaled(self, factor: Array) -> AsymmetricLaplace:
        return self.from_checked(theta=factor * self.theta, sigma=factor * self.sigma, kappa=self.kappa + 0 * factor)

    def _shifted(self, offset: Array) -> AsymmetricLaplace:
        return self.from_checked(
            theta=self.theta + offset, sigma=self.sigma + 0 * offset, kappa=self.kappa + 0 * offset
        )


def _log_tail(z: Array, out: Array, back: Array, mass: Array, rest: Array, odds: Array) -> Array:
    """Log probability beyond z: ``mass·exp(-z/out)`` for z ≥ 0, ``1 - rest·exp(z/back)`` for z < 0.

    ``odds = rest/mass``. The cdf is the tail of the mirrored distribution.
    """
    xp = namespace(z)
    u = xp.minimum(z, xp.zeros_like(z)) / back
    missing = rest * xp.exp(u)
    little = missing < 0.5
    nearly_all = xp.log1p(-xp.where(little, missing, xp.zeros_like(missing)))
    # 1 - rest·eᵘ = mass·eᵘ + (1 - eᵘ): a sum of positive terms, exact when both are tiny.
    part = xp.log(mass * xp.exp(u) - xp.expm1(u))
    return xp.where(z < 0, xp.where(little, nearly_all, part), -xp.log1p(odds) - z / out)


def _tail(z: Array, out: Array, back: Array, mass: Array, rest: Array) -> Array:
    """Probability beyond z, as ``exp(_log_tail)`` at the cost of one exponential where that is exact enough."""
    xp = namespace(z)
    if is_numpy(xp) and bool((mass > _NEEDS_EXPM1).all()):
        # The hot path of every survival curve: in place, one exp, and the two sides of θ without a branch:
        # (mass - b)·E + b is mass·E for b = 0 and 1 - rest·E for b = 1.
        below = (z < 0).astype(z.dtype)
        exponent = z * (1 / back)
        z *= -1 / out
        xp.minimum(exponent, z, out=exponent)
        xp.exp(exponent, out=exponent)
        exponent *= xp.subtract(mass, below, out=z)
        exponent += below
        return exponent
    zero = xp.zeros_like(z)
    u, v = xp.minimum(z, zero) / back, xp.maximum(z, zero) / out
    return mass * xp.exp(u - v) - xp.expm1(u)


def _log_slice(width: Array, gap: Array, scale: Array) -> Array:
    """Log of ``exp(-gap/scale) - exp(-(gap+width)/scale)``; -inf where the width is not positive."""
    xp = namespace(width)
    some = width > 0
    safe = xp.where(some, width, xp.ones_like(width))
    near = xp.where(some, gap, xp.zeros_like(gap))
    return xp.where(some, xp.log(-xp.expm1(-safe / scale)) - near / scale, xp.full_like(width, -math.inf))


def _squared_tail(z: Array, near: Array, far: Array, mass: Array, rest: Array) -> Array:
    """``∫ F² dt`` up to z of the tail that is ``mass·exp(t/near)`` below 0 and ``1 - rest·exp(-t/far)`` above."""
    xp = namespace(z)
    u = xp.exp(xp.minimum(z, xp.zeros_like(z)) / near)
    v = xp.maximum(z, xp.zeros_like(z)) / far
    above = mass**2 * v + 2 * mass * rest * exponential_remainder(v) + rest**2 * squared_remainder(v)
    return near * (mass * u) ** 2 / 2 + far * above
