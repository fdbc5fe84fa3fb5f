"""A distribution moved along the time axis, for families that are not closed under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, namespace

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Shifted"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Shifted(SurvivalDistribution):
    """Distribution of ``T + offset`` where T follows ``base``.

    Parameters
    ----------
    base
        Any distribution.
    offset
        A number, or one per row.
    """

    base: SurvivalDistribution
    offset: Array

    def __init__(self, base: SurvivalDistribution, offset: Any) -> None:
        column = base._as_column(offset, "offset")
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "offset", column + 0 * base._column[:, :1])

    @property
    def _column(self) -> Array:
        return self.offset

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(base=self.base._map_rows(change), offset=change(self.offset))

    def _join(self, others: Sequence[Self]) -> Self:
        return self.from_checked(
            base=SurvivalDistribution.concatenate([self.base, *(other.base for other in others)]),
            offset=namespace(self.offset).concat([self.offset, *(other.offset for other in others)], axis=0),
        )

    def _log_survival(self, t: Array) -> Array:
        return self.base._log_survival(t - self.offset)

    def _log_cdf(self, t: Array) -> Array:
        return self.base._log_cdf(t - self.offset)

    def _log_density(self, t: Array) -> Array:
        return self.base._log_density(t - self.offset)

    def _survival(self, t: Array) -> Array:
        return self.base._survival(t - self.offset)

    def _cdf(self, t: Array) -> Array:
        return self.base._cdf(t - self.offset)

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        return self.base._log_survival_ratio(t - self.offset, since - self.offset)

    def _log_probability(self, lower: Array, upper: Array) -> Array:
        return self.base._log_probability(lower - self.offset, upper - self.offset)

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        return self.base._inverse_log_survival(log_survival) + self.offset

    def _residual(self, start: Array, stop: Array) -> Array:
        return self.base._residual(start - self.offset, stop - self.offset)

    def _mean(self) -> Array:
        return self.base._mean() + self.offset

    def _variance(self) -> Array:
        return self.base._variance()

    def _mode(self) -> Array:
        return self.base._mode() + self.offset

    def _crps(self, lower: Array, upper: Array) -> Array:
        return self.base._crps(lower - self.offset, upper - self.offset)

    def _lower(self) -> Array:
        return self.base._lower() + self.offset

    def _quadrature_cost(self) -> int:
        return self.base._quadrature_cost()

    def _kinks(self) -> Array:
        return self.base._kinks() + self.offset

    def _conditional(self, since: Array) -> SurvivalDistribution:
        return self.base._conditional(since - self.offset)._shifted(self.offset)

    def _scaled(self, factor: Array) -> SurvivalDistribution:
        return Shifted(self.base._scaled(factor), factor * self.offset)

    def _shifted(self, offset: Array) -> SurvivalDistribution:
        return Shifted(self.base, self.offset + offset)
