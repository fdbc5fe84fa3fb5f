"""Families of positive times whose logarithm has a known distribution."""

from __future__ import annotations

import math
from abc import abstractmethod

from aldsurv.distributions.families.parametric import Parametric
from aldsurv.distributions.numerics.backend import Array, is_numpy, namespace

__all__ = ["LogTime"]


class LogTime(Parametric):
    """``T = exp(Y)``: survival, cdf, density and quantiles from those of Y; moments are each family's own."""

    @property
    @abstractmethod
    def _log_family(self) -> Parametric:
        """Distribution of the logarithm of the time."""

    def _log_times(self, t: Array) -> tuple[Array, Array]:
        """Logarithm of the positive times (0 for the others), and which those are."""
        xp = namespace(t)
        positive = t > 0
        return xp.log(xp.where(positive, t, xp.ones_like(t))), positive

    def _log_survival(self, t: Array) -> Array:
        y, positive = self._log_times(t)
        value = self._log_family._log_survival(y)
        return namespace(t).where(positive, value, namespace(t).zeros_like(value))

    def _log_cdf(self, t: Array) -> Array:
        y, positive = self._log_times(t)
        value = self._log_family._log_cdf(y)
        return namespace(t).where(positive, value, namespace(t).full_like(value, -math.inf))

    def _survival(self, t: Array) -> Array:
        y, positive = self._log_times(t)
        value = self._log_family._survival(y)
        if is_numpy(namespace(t)) and bool(positive.all()):
            return value
        return namespace(t).where(positive, value, namespace(t).ones_like(value))

    def _cdf(self, t: Array) -> Array:
        y, positive = self._log_times(t)
        value = self._log_family._cdf(y)
        return namespace(t).where(positive, value, namespace(t).zeros_like(value))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        y, positive = self._log_times(t)
        value = self._log_family._log_density(y) - y
        outside = xp.where(t == 0, self._log_density_at_zero(), xp.full_like(value, -math.inf))
        finite = xp.where(t == math.inf, xp.full_like(value, -math.inf), value)
        return xp.where(positive, finite, outside)

    def _log_density_at_zero(self) -> Array:
        return namespace(self._column).full_like(self._column, -math.inf)

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        y, positive = self._log_times(t)
        y_since, since_positive = self._log_times(since)
        xp = namespace(t)
        both = positive & since_positive
        ratio = self._log_family._log_survival_ratio(
            xp.where(both, y, namespace(t).zeros_like(y)),
            xp.where(both, y_since, namespace(t).zeros_like(y_since)),
        )
        return xp.where(both, ratio, self._log_survival(t))

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        return namespace(log_survival).exp(self._log_family._inverse_log_survival(log_survival))

    def _lower(self) -> Array:
        return 0 * self._column
