"""The normal distribution, on the whole real line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, final

from aldsurv.distributions.families.parametric import POSITIVE, REAL, Parametric
from aldsurv.distributions.numerics.backend import Array, is_numpy, namespace, special

__all__ = ["Normal"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Normal(Parametric):
    """Normal distribution of the event time.

    Parameters
    ----------
    mu
        Mean.
    sigma
        Standard deviation.

    Examples
    --------
    >>> Normal(mu=10.0, sigma=2.0).quantile([0.1, 0.5, 0.9]).round(2)
    array([[ 7.44, 10.  , 12.56]])
    """

    events_at_zero: ClassVar[bool] = True

    mu: Array = field(metadata=REAL)
    sigma: Array = field(metadata=POSITIVE)

    def _z(self, t: Array) -> Array:
        return (t - self.mu) / self.sigma

    def _log_density(self, t: Array) -> Array:
        return _log_phi(self._z(t)) - namespace(self.sigma).log(self.sigma)

    def _log_survival(self, t: Array) -> Array:
        return special(namespace(self.mu)).log_ndtr(-self._z(t))

    def _log_cdf(self, t: Array) -> Array:
        return special(namespace(self.mu)).log_ndtr(self._z(t))

    def _survival(self, t: Array) -> Array:
        return _ndtr(-self._z(t))

    def _cdf(self, t: Array) -> Array:
        return _ndtr(self._z(t))

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        return self.mu - self.sigma * _inverse_log_ndtr(log_survival)

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(self.mu)
        log_ndtr = special(xp).log_ndtr
        since = log_ndtr(-self._z(start))

        def beyond(t: Array) -> Array:
            """``∫ S`` from t on, over σ·S(start)."""
            z = self._z(xp.where(t < math.inf, t, xp.zeros_like(t)))
            value = xp.exp(_log_phi(z) - since) - z * xp.exp(log_ndtr(-z) - since)
            return xp.where(t == math.inf, xp.zeros_like(value), value)

        first = beyond(start)
        value = first - beyond(stop)
        return self._or_by_quadrature(self.sigma * value, value < 1e-3 * first, start, stop)

    def _mean(self) -> Array:
        return self.mu

    def _variance(self) -> Array:
        return self.sigma**2

    def _mode(self) -> Array:
        return self.mu

    def _crps(self, lower: Array, upper: Array) -> Array:
        return self.sigma * (_squared_cdf(self._z(lower)) + _squared_cdf(-self._z(upper)))

    def _scaled(self, factor: Array) -> Normal:
        return self.from_checked(mu=factor * self.mu, sigma=factor * self.sigma)

    def _shifted(self, offset: Array) -> Normal:
        return self.from_checked(mu=self.mu + offset, sigma=self.sigma + 0 * offset)


def _log_phi(z: Array) -> Array:
    return -(z**2) / 2 - _LOG_SQRT_2PI


def _ndtr(z: Array) -> Array:
    # torch.special.ndtr goes through erf and loses the lower tail; erfc keeps it.
    return special(namespace(z)).erfc(-z / math.sqrt(2)) / 2


def _squared_cdf(z: Array) -> Array:
    """``∫ Φ² `` up to z, by parts: ``zΦ² + 2φΦ - Φ(√2z)/√π``."""
    xp = namespace(z)
    safe = xp.where(xp.isfinite(z), z, xp.zeros_like(z))
    phi, cdf = xp.exp(_log_phi(safe)), _ndtr(safe)
    value = safe * cdf**2 + 2 * phi * cdf - _ndtr(math.sqrt(2) * safe) / math.sqrt(math.pi)
    return xp.where(z == -math.inf, xp.zeros_like(value), value)


def _inverse_log_ndtr(log_p: Array) -> Array:
    """Z with ``log Φ(z) = log_p``."""
    xp = namespace(log_p)
    if is_numpy(xp):
        return special(xp).ndtri_exp(log_p)
    # torch has ndtri only: start from the side it can see (or the leading asymptotic term), then Newton.
    ndtri, log_ndtr = special(xp).ndtri, special(xp).log_ndtr
    held = log_p.detach()
    upper = held > math.log(0.5)
    deep = held < -600.0
    near = xp.where(upper, -ndtri(-xp.expm1(held)), ndtri(xp.exp(xp.where(deep, -xp.ones_like(held), held))))
    z = xp.where(deep, -xp.sqrt(xp.clip(-2 * held, 1.0, None)), near)
    usable = xp.isfinite(z) & xp.isfinite(held)
    z = xp.where(usable, z, xp.zeros_like(z))
    target = xp.where(usable, log_p, log_ndtr(z))
    for _ in range(4):
        value = log_ndtr(z)
        z = z.detach() - (value.detach() - target) * xp.exp(value - _log_phi(z)).detach()
    infinite = xp.where(held < -1.0, xp.full_like(z, -math.inf), xp.full_like(z, math.inf))
    return xp.where(usable, z, infinite)
