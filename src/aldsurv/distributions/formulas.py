"""The formulas of a family: three that each must provide, and the numerical answers to everything else."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from aldsurv.distributions.numerics import fallbacks as numeric
from aldsurv.distributions.numerics.backend import Array, as_like, namespace
from aldsurv.distributions.numerics.log_space import log1mexp
from aldsurv.distributions.shapes import Rows

__all__ = ["Formulas", "residual_anywhere"]

# Evaluations that a numerical fallback spends on one value; it only sets the size of blocks.
_NUMERIC_COST = 512
# Log survivals at which a search for the highest density looks first.
_SPREAD = np.log1p(-np.linspace(0.0, 1.0, 130)[None, 1:-1])


class Formulas(Rows):
    """What a family overrides: arguments broadcast against columns ``(n, 1)``, on numpy and on torch.

    ``_log_survival``, ``_log_cdf`` and ``_log_density`` are abstract, and so are ``_scaled`` and ``_join`` of
    `SurvivalDistribution`; a family of parameters (`Parametric`) has its ``_join`` already. The rest is computed
    from those, and a closed form overrides it. ``_lower`` says where the support begins.
    """

    @abstractmethod
    def _log_survival(self, t: Array) -> Array:
        """``log S(t)`` at any time: 0 below the support, -inf at infinity unless some never have the event."""

    @abstractmethod
    def _log_cdf(self, t: Array) -> Array:
        """``log F(t)``, not from the survival where that is near 1: -inf below the support."""

    @abstractmethod
    def _log_density(self, t: Array) -> Array:
        """``log f(t)``: -inf below the support and at infinity; at 0 the limit from above, which may be infinite."""

    def _survival(self, t: Array) -> Array:
        return namespace(t).exp(self._log_survival(t))

    def _cdf(self, t: Array) -> Array:
        return namespace(t).exp(self._log_cdf(t))

    def _density(self, t: Array) -> Array:
        return namespace(t).exp(self._log_density(t))

    def _log_hazard(self, t: Array) -> Array:
        return self._log_density(t) - self._log_survival(t)

    def _hazard(self, t: Array) -> Array:
        return namespace(t).exp(self._log_hazard(t))

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        """``log S(t) - log S(since)``; a family may know it without the cancellation."""
        return self._log_survival(t) - self._log_survival(since)

    def _log_probability(self, lower: Array, upper: Array) -> Array:
        """``log P(lower < T ≤ upper)``: a difference of survivals or of cdfs, whichever cancels less."""
        xp = namespace(lower)
        log_survival, log_cdf = self._log_survival(lower), self._log_cdf(upper)
        from_above = log_survival < log_cdf
        outer = xp.where(from_above, log_survival, log_cdf)
        inner = xp.where(from_above, self._log_survival(upper), self._log_cdf(lower))
        possible = outer > -math.inf
        gap = xp.where(possible, inner, -xp.ones_like(inner)) - xp.where(possible, outer, xp.zeros_like(outer))
        return xp.where(possible, outer + log1mexp(xp.clip(gap, None, 0.0)), outer)

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        return numeric.inverse_log_survival(self, log_survival)

    def _bracket(self, log_survival: Array) -> tuple[Array, Array]:
        """Times between which the survival passes through ``exp(log_survival)``."""
        xp = namespace(log_survival)
        low, _ = xp.broadcast_arrays(self._lower(), log_survival)
        return low, xp.full_like(low, math.inf)

    def _first_guess(self, log_survival: Array, low: Array, high: Array) -> Array:
        """Where between the ends of its bracket the search for a quantile begins; need not be accurate."""
        return numeric.middle(low, high)

    def _around(self, log_survival: Array) -> tuple[Array, Array]:
        """Times close before and after the quantile, or twice the quantile itself where that is cheap."""
        time = self._inverse_log_survival(log_survival)
        return time, time

    def _places(self) -> Array:
        """Times ``(n, k)`` spread over the distribution, near one of which its density is highest."""
        xp, column = namespace(self._column), self._column[:, :1]
        grid = as_like(_SPREAD, column) + xp.zeros_like(column)
        within, lower = self._inverse_log_survival(grid), self._lower()
        lower = xp.where(xp.isfinite(lower), lower, within[:, :1])
        return xp.concat([lower, within, self._kinks()], axis=-1)

    def _lower(self) -> Array:
        """Lower end of the support, as a column."""
        return namespace(self._column).full_like(self._column[:, :1], -math.inf)

    def _kinks(self) -> Array:
        """Times ``(n, k)`` that integrals must not step across: where the density is not smooth."""
        return self._column[:, :0]

    def _residual(self, start: Array, stop: Array) -> Array:
        """``∫ S(t)/S(start) dt`` from start to stop ≥ start, start inside the support; stop may be infinite."""
        xp = namespace(start)
        start, stop, _ = xp.broadcast_arrays(start, stop, self._column[:, :1])
        log_start = self._log_survival(start)[..., None, None]
        stops = None if bool(xp.all(stop == math.inf)) else stop
        return numeric.upper_integral(
            self, lambda _, log_s: xp.exp(log_s - log_start), self._log_survival, start, stops
        )

    def _or_by_quadrature(self, value: Array, doubtful: Array, start: Array, stop: Array) -> Array:
        """``_residual`` by a closed form, but where that subtracts nearly equal numbers by quadrature."""
        xp = namespace(value)
        if not bool(xp.any(doubtful)):
            return value
        return xp.where(doubtful, Formulas._residual(self, start, stop), value)

    def _mean(self) -> Array:
        xp = namespace(self._column)
        middle = self._inverse_log_survival(xp.full_like(self._column[:, :1], math.log(0.5)))
        above = numeric.upper_integral(self, lambda _, s: s, self._survival, middle)
        return middle + (above - numeric.lower_integral(self, lambda _, f: f, self._cdf, middle))

    def _variance(self) -> Array:
        # Around the mean both integrals are positive: nothing cancels.
        xp = namespace(self._column)
        mean = self._mean()
        finite = xp.where(xp.isfinite(mean), mean, xp.zeros_like(mean))
        distance = finite[..., None, None]
        above = numeric.upper_integral(self, lambda t, s: (t - distance) * s, self._survival, finite)
        below = numeric.lower_integral(self, lambda t, f: (distance - t) * f, self._cdf, finite)
        return xp.where(xp.isfinite(mean), 2 * (above + below), xp.full_like(mean, math.inf))

    def _mode(self) -> Array:
        return numeric.mode(self)

    def _crps(self, lower: Array, upper: Array) -> Array:
        """``∫ F² dt`` up to lower plus ``∫ S² dt`` from upper."""
        below = numeric.lower_integral(self, lambda _, f: f**2, self._cdf, lower)
        return below + numeric.upper_integral(self, lambda _, s: s**2, self._survival, upper)

    def _quadrature_cost(self) -> int:
        """How many values a quadrature has in work for each one of its results; it only sets the size of blocks."""
        return _NUMERIC_COST

    def _block_cost(self) -> int:
        """The same for means, modes and restricted means, which a family may know without quadrature.

        0: its formulas take all rows at once, and divide them themselves.
        """
        return self._quadrature_cost()

    def _crps_cost(self) -> int:
        """The same for the CRPS."""
        return self._block_cost()


def residual_anywhere(distribution: Formulas, start: Array, stop: Array) -> Array:
    """``_residual`` from a start that may lie below the support, where survival is one."""
    xp = namespace(start)
    lower = distribution._lower()
    forever = start == -math.inf
    start = xp.where(forever, xp.zeros_like(start), start)
    inside = xp.maximum(start, lower)
    waiting = xp.minimum(inside, stop) - start
    residual = distribution._residual(inside, xp.maximum(stop, inside))
    # Probability may sit at the very start of the support: then not all who wait get past it.
    residual = waiting + xp.where(start < lower, distribution._survival(inside), xp.ones_like(residual)) * residual
    return xp.where(forever, xp.full_like(residual, math.inf), residual)
