"""A distribution whose hazard is multiplied by a number for each row: ``S(t)**factor``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.distributions.numerics.early_nodes import restricted_mean_at_nodes
from aldsurv.distributions.numerics.log_space import log1mexp

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ScaledHazard", "scaled_hazard"]

# Closer to 1 than this, a survival is known by its cdf alone, which may have underflowed.
_LEAST_HAZARD = 1e-100


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class ScaledHazard(SurvivalDistribution):
    """Any continuous distribution with its hazard multiplied: ``S(t)**factor``.

    Survival, cdf, density and quantiles are exact; moments, restricted means and CRPS come from quadrature.

    Parameters
    ----------
    base
        The distribution as it was.
    factor
        What the hazard is multiplied by: a positive number, or one per row.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> ScaledHazard(Exponential([1.0, 4.0]), 2.0).median().round(4)
    array([0.3466, 1.3863])
    """

    base: SurvivalDistribution
    factor: Array

    def __init__(self, base: SurvivalDistribution, factor: Any) -> None:
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "factor", _checked_factor(base, factor))

    @property
    def _column(self) -> Array:
        return self.factor

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(base=self.base._map_rows(change), factor=change(self.factor))

    def _join(self, others: Sequence[Self]) -> Self:
        return self.from_checked(
            base=SurvivalDistribution.concatenate([self.base, *(other.base for other in others)]),
            factor=namespace(self.factor).concat([self.factor, *(other.factor for other in others)], axis=0),
        )

    def _log_survival(self, t: Array) -> Array:
        return self.factor * self.base._log_survival(t)

    def _log_cdf(self, t: Array) -> Array:
        xp, log_survival = namespace(t), self.base._log_survival(t)
        early = log_survival > -_LEAST_HAZARD
        safe = xp.where(early, -xp.ones_like(log_survival), log_survival)
        return xp.where(early, self.base._log_cdf(t) + xp.log(self.factor), log1mexp(self.factor * safe))

    def _log_density(self, t: Array) -> Array:
        xp, log_survival = namespace(t), self.base._log_survival(t)
        gone = log_survival == -math.inf
        safe = xp.where(gone, xp.zeros_like(log_survival), log_survival)
        density = self.base._log_density(t) + (self.factor - 1) * safe + xp.log(self.factor)
        return xp.where(gone, xp.full_like(density, -math.inf), density)

    def _log_hazard(self, t: Array) -> Array:
        return self.base._log_hazard(t) + namespace(t).log(self.factor)

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        return self.factor * self.base._log_survival_ratio(t, since)

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        return self.base._inverse_log_survival(log_survival / self.factor)

    def _around(self, log_survival: Array) -> tuple[Array, Array]:
        return self.base._around(log_survival / self.factor)

    def approximate_restricted_mean(self, horizon: float) -> Array:
        """Survival times Gauss's weights at times that lie closer together the earlier they are."""
        return restricted_mean_at_nodes(self, horizon)

    def _lower(self) -> Array:
        return self.base._lower()

    def _kinks(self) -> Array:
        return self.base._kinks()

    def _quadrature_cost(self) -> int:
        return self.base._quadrature_cost()

    def _conditional(self, since: Array) -> SurvivalDistribution:
        return self.base._conditional(since)._with_scaled_hazard(self.factor)

    def _with_scaled_hazard(self, factor: Array) -> SurvivalDistribution:
        return ScaledHazard(self.base, self.factor * factor)

    def _scaled(self, factor: Array) -> SurvivalDistribution:
        return ScaledHazard(self.base._scaled(factor), self.factor)

    def _shifted(self, offset: Array) -> SurvivalDistribution:
        return ScaledHazard(self.base._shifted(offset), self.factor)


def scaled_hazard(distribution: SurvivalDistribution, factor: Any) -> SurvivalDistribution:
    """The distribution with its hazard multiplied; of a step function the step function of the powers."""
    return distribution._with_scaled_hazard(_checked_factor(distribution, factor))


def _checked_factor(base: SurvivalDistribution, factor: Any) -> Array:
    """The factors as a column (n, 1)."""
    column = base._as_column(factor, "factor")
    base._refuse((column <= 0) | (column == math.inf), column, "factor must be positive and finite")
    return column + namespace(column).zeros_like(base._column[:, :1])
