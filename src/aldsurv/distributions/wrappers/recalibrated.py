"""Predicted distributions whose levels were put right: F*(t|x) = G(F(t|x)) with one monotone G for all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, as_like, namespace
from aldsurv.distributions.numerics.early_nodes import restricted_mean_at_nodes
from aldsurv.distributions.wrappers.level_map import LevelMap, log_odds, same_maps, softplus
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Recalibrated", "recalibrated"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Recalibrated(SurvivalDistribution):
    """Any continuous distribution after a monotone map of its levels.

    Survival, cdf, density and quantiles are exact; moments, restricted means and CRPS come from quadrature. At any one
    time, rows are in the same order as before.

    Parameters
    ----------
    base
        The distribution as it was predicted.
    level_map
        What its levels become, the same for all rows.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> d = Recalibrated(Exponential([1.0, 4.0]), LevelMap.through([0.25, 0.5, 0.75], [0.5, 0.75, 0.9]))
    >>> d.cdf(d.base.median()[:, None]).round(4)
    array([[0.75],
           [0.75]])
    """

    base: SurvivalDistribution
    level_map: LevelMap

    def __init__(self, base: SurvivalDistribution, level_map: LevelMap) -> None:
        if not isinstance(level_map, LevelMap):
            raise ParameterError(f"level_map must be a LevelMap, but is of type {type(level_map).__name__}.")
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "level_map", level_map)

    @property
    def _column(self) -> Array:
        return self.base._column

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(base=self.base._map_rows(change), level_map=self.level_map)

    def _join(self, others: Sequence[Self]) -> Self:
        if not all(same_maps([other.level_map], [self.level_map]) for other in others):
            raise ParameterError("distributions that were recalibrated by different maps cannot be joined.")
        joined = SurvivalDistribution.concatenate([self.base, *(other.base for other in others)])
        return self.from_checked(base=joined, level_map=self.level_map)

    def _odds(self, t: Array) -> Array:
        """Log odds of the level of the base, infinite outside of its support."""
        if isinstance(self.base, Recalibrated):
            # Once for each map, not twice, which maps of maps would multiply.
            return self.base._moved(t)
        return self.base._log_cdf(t) - self.base._log_survival(t)

    def _moved(self, t: Array) -> Array:
        odds = self._odds(t)
        return odds + self.level_map.shift(odds)

    def _log_survival(self, t: Array) -> Array:
        return -softplus(self._moved(t))

    def _log_cdf(self, t: Array) -> Array:
        return -softplus(-self._moved(t))

    def _log_density(self, t: Array) -> Array:
        # With z the log odds, f = F·S·dz/dt: the product F·S is exchanged for that after the map.
        xp = namespace(t)
        odds = self._odds(t)
        shift = self.level_map.shift(odds)
        moved = odds + shift
        # |z| - |z + shift|, also where both are infinite.
        apart = xp.where((odds >= 0) & (moved >= 0), -shift, xp.where((odds <= 0) & (moved <= 0), shift, 0 * shift))
        turned = odds * moved < 0
        safe, safe_moved = (xp.where(turned, value, xp.zeros_like(value)) for value in (odds, moved))
        apart = xp.where(turned, xp.abs(safe) - xp.abs(safe_moved), apart)
        closeness = xp.log1p(xp.exp(-xp.abs(odds))) - xp.log1p(xp.exp(-xp.abs(moved)))
        return self.base._log_density(t) + self.level_map.log_slope(odds) + apart + 2 * closeness

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        return self.base._inverse_log_survival(self._base_log_survival(log_survival))

    def _around(self, log_survival: Array) -> tuple[Array, Array]:
        return self.base._around(self._base_log_survival(log_survival))

    def _base_log_survival(self, log_survival: Array) -> Array:
        """Log survival of the base where that of this distribution is as given."""
        odds = log_odds(log_survival)
        return -softplus(odds + self.level_map.inverse_shift(odds))

    def approximate_restricted_mean(self, horizon: float) -> Array:
        """Survival times Gauss's weights at times that lie closer together the earlier they are."""
        return restricted_mean_at_nodes(self, horizon)

    def _lower(self) -> Array:
        return self.base._lower()

    def _kinks(self) -> Array:
        xp, column = namespace(self._column), self._column[:, :1]
        levels = -softplus(as_like(self.level_map.knots[None, :], column)) + xp.zeros_like(column)
        times = self.base._inverse_log_survival(levels)
        times = xp.where(xp.isfinite(times), times, xp.zeros_like(times))
        return xp.concat([self.base._kinks(), times], axis=1)

    def _places(self) -> Array:
        return namespace(self._column).concat([self.base._places(), self._kinks()], axis=-1)

    def _quadrature_cost(self) -> int:
        return self.base._quadrature_cost()

    def _scaled(self, factor: Array) -> Recalibrated:
        return Recalibrated(self.base._scaled(factor), self.level_map)

    def _shifted(self, offset: Array) -> Recalibrated:
        return Recalibrated(self.base._shifted(offset), self.level_map)


def recalibrated(distribution: SurvivalDistribution, level_map: LevelMap) -> SurvivalDistribution:
    """The distribution after a map of its levels; of a step function the step function of the mapped survivals."""
    return distribution._recalibrated(level_map)
