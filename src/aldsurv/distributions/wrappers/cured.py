"""Distributions with a share of individuals who never have the event."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, namespace, without_gradient
from aldsurv.distributions.numerics.log_space import log_sum_exp, or_complement

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Cured"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Cured(SurvivalDistribution):
    """With probability ``cure`` the event never comes; otherwise its time follows ``base``.

    ``S(t) = cure + (1 - cure)·S₀(t)``. Where the share is positive, mean and variance are infinite, and so are
    quantiles beyond ``1 - cure``; those of individuals who are not cured are those of ``base``.

    Parameters
    ----------
    base
        The distribution of those who are not cured.
    cure
        Probability that the event never comes, from 0 to 1: a number, or one per row.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> d = Cured(Exponential([1.0, 1.0]), [0.2, 0.6])
    >>> d.survival([0.0, 1.0, 100.0]).round(3)
    array([[1.   , 0.494, 0.2  ],
           [1.   , 0.747, 0.6  ]])
    >>> d.median().round(3), d.base.median().round(3)
    (array([0.981,   inf]), array([0.693, 0.693]))
    """

    base: SurvivalDistribution
    cure: Array

    def __init__(self, base: SurvivalDistribution, cure: Any) -> None:
        column = base._as_column(cure, "cure")
        base._refuse(~((column >= 0) & (column <= 1)), column, "cure must lie between 0 and 1")
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "cure", column + namespace(column).zeros_like(base._column[:, :1]))

    @property
    def _column(self) -> Array:
        return self.cure

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(base=self.base._map_rows(change), cure=change(self.cure))

    def _join(self, others: Sequence[Self]) -> Self:
        return self.from_checked(
            base=SurvivalDistribution.concatenate([self.base, *(other.base for other in others)]),
            cure=namespace(self.cure).concat([self.cure, *(other.cure for other in others)], axis=0),
        )

    def _log_shares(self) -> tuple[Array, Array]:
        """Logarithms of the share that is cured and of the one that is not."""
        xp, cure = namespace(self.cure), self.cure
        some, rest = cure > 0, cure < 1
        log_cure = xp.log(xp.where(some, cure, xp.ones_like(cure)))
        log_rest = xp.log1p(-xp.where(rest, cure, xp.zeros_like(cure)))
        never = xp.full_like(cure, -math.inf)
        return xp.where(some, log_cure, never), xp.where(rest, log_rest, never)

    def _log_survival(self, t: Array) -> Array:
        xp = namespace(t)
        log_cure, log_rest = self._log_shares()
        terms = xp.broadcast_arrays(log_cure, log_rest + self.base._log_survival(t))
        return or_complement(log_sum_exp(xp.stack(terms, axis=-1)), self._log_cdf(t))

    def _log_cdf(self, t: Array) -> Array:
        return self._log_shares()[1] + self.base._log_cdf(t)

    def _log_density(self, t: Array) -> Array:
        return self._log_shares()[1] + self.base._log_density(t)

    def _log_probability(self, lower: Array, upper: Array) -> Array:
        return self._log_shares()[1] + self.base._log_probability(lower, upper)

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        return self._base_times(log_survival, lambda base, level: (base._inverse_log_survival(level),))[0]

    def _around(self, log_survival: Array) -> tuple[Array, Array]:
        low, high = self._base_times(log_survival, lambda base, level: base._around(level))
        return low, high

    def _base_times(
        self, log_survival: Array, times: Callable[[SurvivalDistribution, Array], tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Times of the base where the survival of all is as given; infinite where it never falls that far."""
        xp = namespace(log_survival)
        level, never = self._base_level(log_survival)
        last = level == -math.inf
        result = times(self.base, xp.where(last, -xp.ones_like(level), level))
        if bool(xp.any(last)):
            # Without gradient: at the end of an unbounded support there is none.
            ends = times(self.base._map_rows(without_gradient), xp.full_like(level, -math.inf))
            result = tuple(xp.where(last, end, time) for end, time in zip(ends, result, strict=True))
        return tuple(xp.where(never, xp.full_like(time, math.inf), time) for time in result)

    def _base_level(self, log_survival: Array) -> tuple[Array, Array]:
        """Log survival of the base where that of all is as given, and whether it never falls that far."""
        xp = namespace(log_survival)
        cure, log_cure, log_rest, log_survival = xp.broadcast_arrays(self.cure, *self._log_shares(), log_survival)
        curable, some = cure < 1, cure > 0
        share = -xp.expm1(log_survival) / xp.where(curable, 1 - cure, xp.ones_like(cure))
        early = curable & (share < 0.5)
        near = xp.log1p(-xp.where(early, share, xp.zeros_like(share)))
        # Later by what is left of the survival: without a cure that is the survival itself, however small.
        within = curable & (log_survival > -math.inf)
        log_survival = xp.where(within, log_survival, xp.zeros_like(log_survival))
        reference = xp.where(some & within, log_cure, xp.zeros_like(log_cure)) - log_survival
        left = xp.where(some, -xp.expm1(xp.clip(reference, None, 1.0)), xp.ones_like(cure))
        reached = within & (left > 0)
        far = log_survival + xp.log(xp.where(reached, left, xp.ones_like(left)))
        far = xp.clip(far - xp.where(curable, log_rest, xp.zeros_like(log_rest)), None, 0.0)
        level = xp.where(early, near, xp.where(reached, far, xp.full_like(far, -math.inf)))
        # Where the level is that of the share itself rounding decides, and the last events are counted as reached.
        beyond = (left < -4 * xp.finfo(cure.dtype).eps) | (some & ~within)
        return level, beyond & ~early

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(start)
        log_cure, log_rest = self._log_shares()
        log_survival = self._log_survival(start)
        gone = log_survival == -math.inf
        reference = xp.where(gone, xp.zeros_like(log_survival), log_survival)
        cured = xp.exp(log_cure - reference)
        others = xp.exp(log_rest + self.base._log_survival(start) - reference)
        waiting, residual = stop - start, self.base._residual(start, stop)
        waiting, residual, cured, others = xp.broadcast_arrays(waiting, residual, cured, others)
        endless = (waiting == math.inf) & (cured > 0)
        none = xp.zeros_like(residual)
        total = cured * xp.where(waiting == math.inf, none, waiting) + others * xp.where(others > 0, residual, none)
        return xp.where(endless, xp.full_like(total, math.inf), total)

    def _mean(self) -> Array:
        return self._endless(self.base._mean())

    def _variance(self) -> Array:
        return self._endless(self.base._variance())

    def _endless(self, value: Array) -> Array:
        xp = namespace(value)
        return xp.where(self.cure > 0, xp.full_like(value, math.inf), value)

    def _mode(self) -> Array:
        return self.base._mode()

    def _places(self) -> Array:
        return self.base._places()

    def _lower(self) -> Array:
        return self.base._lower()

    def _kinks(self) -> Array:
        return self.base._kinks()

    def _quadrature_cost(self) -> int:
        return self.base._quadrature_cost()

    def _block_cost(self) -> int:
        return self.base._block_cost()

    def _crps_cost(self) -> int:
        return self._quadrature_cost()

    def approximate_restricted_mean(self, horizon: float) -> Array:
        """The weighted mean of the whole horizon and of that of those who are not cured."""
        cure = self.cure[:, 0]
        return cure * horizon + (1 - cure) * self.base.approximate_restricted_mean(horizon)

    def _scaled(self, factor: Array) -> Cured:
        return self.from_checked(base=self.base._scaled(factor), cure=self.cure + 0 * factor)

    def _shifted(self, offset: Array) -> Cured:
        return self.from_checked(base=self.base._shifted(offset), cure=self.cure + 0 * offset)
