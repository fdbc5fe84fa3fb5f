"""The Weibull distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

from aldsurv.distributions.families.parametric import POSITIVE, Parametric
from aldsurv.distributions.numerics import fallbacks as numeric
from aldsurv.distributions.numerics.backend import Array, is_numpy, namespace, special
from aldsurv.distributions.numerics.log_space import log1mexp

__all__ = ["Weibull"]

# Beyond this cumulative hazard the incomplete gamma functions near the end of float64.
_FAR = 300.0


@final
@dataclass(frozen=True, eq=False, repr=False)
class Weibull(Parametric):
    """Weibull distribution: ``S(t) = exp(-(t/scale)^shape)``.

    Parameters
    ----------
    scale
        Time by which the event has come with probability 63 %.
    shape
        Below 1 the hazard falls, above 1 it rises, 1 is the exponential distribution.

    Examples
    --------
    >>> Weibull(scale=10.0, shape=2.0).mean().round(4)
    array([8.8623])
    """

    scale: Array = field(metadata=POSITIVE)
    shape: Array = field(metadata=POSITIVE)

    def _log_hazard_integral(self, t: Array) -> tuple[Array, Array]:
        """``log((t/scale)^shape)`` for the positive times (0 for the others), and which those are."""
        xp = namespace(t)
        positive = t > 0
        log_t = xp.log(xp.where(positive, t, xp.ones_like(t)))
        value = self.shape * (log_t - xp.log(self.scale))
        return xp.where(positive, value, xp.zeros_like(value)), positive

    def _log_survival(self, t: Array) -> Array:
        xp = namespace(t)
        log_h, positive = self._log_hazard_integral(t)
        return xp.where(positive, -xp.exp(log_h), xp.zeros_like(log_h))

    def _log_cdf(self, t: Array) -> Array:
        xp = namespace(t)
        log_h, positive = self._log_hazard_integral(t)
        # 1 - exp(-H) is H where H is tiny, also where H itself underflows.
        tiny = log_h < -40
        value = xp.where(tiny, log_h, log1mexp(-xp.exp(xp.where(tiny, xp.zeros_like(log_h), log_h))))
        return xp.where(positive, value, xp.full_like(value, -math.inf))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        log_h, positive = self._log_hazard_integral(t)
        slope = xp.log(self.shape) - xp.log(self.scale)
        value = slope + (1 - 1 / self.shape) * log_h - xp.exp(log_h)
        value = xp.where(t == math.inf, xp.full_like(value, -math.inf), value)
        at_zero = xp.where(self.shape < 1, xp.full_like(slope, math.inf), xp.full_like(slope, -math.inf))
        at_zero = xp.where(self.shape == 1, slope, at_zero)
        outside = xp.where(t == 0, at_zero, xp.full_like(value, -math.inf))
        return xp.where(positive, value, outside)

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(log_survival)
        return self.scale * xp.exp(xp.log(-log_survival) / self.shape)

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(self.scale)
        if not is_numpy(xp):
            # torch has no derivative of the incomplete gamma function by its order.
            return super()._residual(start, stop)
        order = 1 / self.shape
        h, h_stop = -self._log_survival(start), -self._log_survival(stop)
        near = xp.where(h < _FAR, h, xp.zeros_like(h))
        gammainc, gammaincc = special(xp).gammainc, special(xp).gammaincc
        early = gammainc(order, h_stop) - gammainc(order, near)
        late = gammaincc(order, near) - gammaincc(order, h_stop)
        between = xp.where(gammainc(order, near) < 0.5, early, late)
        value = self._mean() * between * xp.exp(near)
        # So early that the cumulative hazard is lost in rounding, survival is 1.
        value = xp.where(self._log_hazard_integral(stop)[0] < -40.0, stop - start, value)
        return self._or_by_quadrature(value, ~((h < _FAR) & xp.isfinite(value)), start, stop)

    def _mean(self) -> Array:
        xp = namespace(self.scale)
        return self.scale * xp.exp(special(xp).gammaln(1 + 1 / self.shape))

    def _variance(self) -> Array:
        xp = namespace(self.scale)
        gammaln = special(xp).gammaln
        relative = xp.expm1(gammaln(1 + 2 / self.shape) - 2 * gammaln(1 + 1 / self.shape))
        return self._mean() ** 2 * relative

    def _mode(self) -> Array:
        xp = namespace(self.scale)
        rising = self.shape > 1
        safe = xp.where(rising, self.shape, xp.full_like(self.shape, 2.0))
        return xp.where(rising, self.scale * xp.exp(xp.log1p(-1 / safe) / safe), 0 * self.scale)

    def _crps(self, lower: Array, upper: Array) -> Array:
        xp = namespace(self.scale)
        if not is_numpy(xp):
            return super()._crps(lower, upper)
        gammainc, gammaincc = special(xp).gammainc, special(xp).gammaincc
        order = 1 / self.shape
        # S² is the survival of a Weibull whose scale is smaller by 2^(1/shape).
        mean, squared = self._mean(), self._mean() * xp.exp(-math.log(2) * order)
        early = xp.clip(lower, 0.0, None)
        h = -self._log_survival(early)
        before = early - 2 * mean * gammainc(order, h) + squared * gammainc(order, 2 * h)
        # Where survival is near 1 the three parts cancel.
        few = h < 0.1
        if bool(few.any()):
            before = xp.where(few, numeric.lower_integral(self, lambda _, f: f**2, self._cdf, early), before)
        return before + squared * gammaincc(order, -2 * self._log_survival(upper))

    def _lower(self) -> Array:
        return 0 * self.scale

    def _scaled(self, factor: Array) -> Weibull:
        return self.from_checked(scale=factor * self.scale, shape=self.shape + 0 * factor)
