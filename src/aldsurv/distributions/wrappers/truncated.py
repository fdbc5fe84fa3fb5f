"""Distributions of those known to be event-free at some time, and the ALD of positive times."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aldsurv.distributions.base import SurvivalDistribution, residual_anywhere
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
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LeftTruncated", "PositiveAsymmetricLaplace", "Truncated"]

# Below this a survival is too near the end of float64 to divide by.
_UNDERFLOW = 1e-290


class Truncated(SurvivalDistribution):
    """``P(T > t | T > since) = S(t)/S(since)``, all of it in log space: S(since) may underflow."""

    @property
    @abstractmethod
    def _base(self) -> SurvivalDistribution:
        """The distribution before anything was known."""

    @property
    @abstractmethod
    def _since(self) -> Array:
        """Column of the times at which the individuals are known to be event-free."""

    def _log_survival(self, t: Array) -> Array:
        xp = namespace(t)
        return self._base._log_survival_ratio(xp.maximum(t, self._since), self._since)

    def _log_cdf(self, t: Array) -> Array:
        xp = namespace(t)
        after = t > self._since
        safe = xp.where(after, t, self._since + 1)
        log_cdf = log1mexp(self._base._log_survival_ratio(safe, self._since))
        return xp.where(after, log_cdf, xp.full_like(log_cdf, -math.inf))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        inside = xp.maximum(t, self._since)
        # Hazard times survival since then: beyond what logarithms can hold, and where nobody is left, the plain ratio.
        gone = self._base._log_survival(inside) == -math.inf
        safe = xp.where(gone, self._since, inside)
        density = self._base._log_hazard(safe) + self._base._log_survival_ratio(safe, self._since)
        plain = self._base._log_density(inside) - self._base._log_survival(self._since)
        density = xp.where(gone, plain, density)
        return xp.where(t >= self._since, density, xp.full_like(density, -math.inf))

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        xp = namespace(t)
        return self._base._log_survival_ratio(xp.maximum(t, self._since), xp.maximum(since, self._since))

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(log_survival)
        times = self._base._inverse_log_survival(log_survival + self._base._log_survival(self._since))
        return xp.maximum(times, self._since)

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(start)
        lower = xp.maximum(self._since, self._base._lower())
        return self._base._residual(xp.maximum(start, lower), xp.maximum(stop, lower))

    def _mean(self) -> Array:
        xp, since = namespace(self._since), self._since
        mean = since + residual_anywhere(self._base, since, xp.full_like(since, math.inf))
        # Where nothing is cut off, it is the mean of the base, which need not be measured from far away.
        return xp.where(self._base._log_cdf(since) < -40.0, self._base._mean(), mean)

    def _mode(self) -> Array:
        return namespace(self._since).maximum(self._base._mode(), self._lower())

    def _lower(self) -> Array:
        return namespace(self._since).maximum(self._since, self._base._lower())

    def _quadrature_cost(self) -> int:
        return self._base._quadrature_cost()

    def _kinks(self) -> Array:
        xp = namespace(self._since)
        return xp.maximum(self._base._kinks(), self._lower())

    def _conditional(self, since: Array) -> SurvivalDistribution:
        return self._base._conditional(namespace(since).maximum(since, self._since))


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class LeftTruncated(Truncated):
    """Any distribution, given that the event has not happened by ``since``.

    Parameters
    ----------
    base
        The distribution before anything was known.
    since
        A number, or one a row.
    """

    base: SurvivalDistribution
    since: Array

    def __init__(self, base: SurvivalDistribution, since: Any) -> None:
        column = base._as_column(since, "since")
        xp = namespace(column)
        base._refuse(column == math.inf, column, "since must be a time before infinity")
        lowest = xp.full_like(column, -float(xp.finfo(column.dtype).max))
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "since", xp.maximum(column, lowest) + xp.zeros_like(base._column[:, :1]))
        with np.errstate(all="ignore"):
            gone = base._log_survival(self.since) == -math.inf
        if bool(xp.any(gone)):
            row = int(xp.argmax(xp.astype(gone, xp.int64)[:, 0]))
            problem = f"survival must be above 0 at since, but is 0 at {float(self.since[row, 0]):g}"
            raise ParameterError(problem, argument="since", row=row)

    @property
    def _base(self) -> SurvivalDistribution:
        return self.base

    @property
    def _since(self) -> Array:
        return self.since

    @property
    def _column(self) -> Array:
        return self.since

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self._trusted(base=self.base._map_rows(change), since=change(self.since))

    def _join(self, others: Sequence[Self]) -> Self:
        return self._trusted(
            base=SurvivalDistribution.concatenate([self.base, *(other.base for other in others)]),
            since=namespace(self.since).concat([self.since, *(other.since for other in others)], axis=0),
        )

    def _mode(self) -> Array:
        # The base may have a second peak after `since`: only the search sees it.
        return SurvivalDistribution._mode(self)

    def _scaled(self, factor: Array) -> LeftTruncated:
        return LeftTruncated(self.base._scaled(factor), factor * self.since)

    def _shifted(self, offset: Array) -> LeftTruncated:
        return LeftTruncated(self.base._shifted(offset), self.since + offset)


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

    theta: Array = field(metadata=REAL)
    sigma: Array = field(metadata=POSITIVE)
    kappa: Array = field(metadata=POSITIVE)

    @property
    def _base(self) -> AsymmetricLaplace:
        return AsymmetricLaplace._trusted(theta=self.theta, sigma=self.sigma, kappa=self.kappa)

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
        return self._trusted(theta=factor * self.theta, sigma=factor * self.sigma, kappa=self.kappa + 0 * factor)
