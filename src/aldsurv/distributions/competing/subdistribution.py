"""The time to an event of one cause, in the presence of the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Subdistribution"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Subdistribution(SurvivalDistribution):
    """A distribution whose cdf is the incidence of one cause; what is missing to one lies at infinity.

    Parameters
    ----------
    competing
        The prediction with all causes.
    cause
        Number of the cause, from 1.
    """

    competing: CompetingDistribution
    cause: int

    @property
    def _column(self) -> FloatArray:
        return np.asarray(self.competing._column)

    def _map_rows(self, change: Callable[[FloatArray], FloatArray]) -> Self:
        return self.from_checked(competing=self.competing._map_rows(change), cause=self.cause)

    def _join(self, others: Sequence[Self]) -> Self:
        if any(other.cause != self.cause for other in others):
            raise ParameterError("distributions of different causes cannot be joined.")
        parts = [self.competing, *(other.competing for other in others)]
        return self.from_checked(competing=CompetingDistribution.concatenate(parts), cause=self.cause)

    def _incidence(self, t: FloatArray) -> FloatArray:
        return np.asarray(self.competing._incidences(t)[self.cause - 1])

    def _cdf(self, t: FloatArray) -> FloatArray:
        return self._incidence(t)

    def _survival(self, t: FloatArray) -> FloatArray:
        return np.asarray(1 - self._incidence(t))

    def _log_survival(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.log1p(-self._incidence(t)))

    def _log_cdf(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.log(self._incidence(t)))

    def _log_density(self, t: FloatArray) -> FloatArray:
        return np.asarray(self.competing._log_densities(t)[self.cause - 1])

    def _mean(self) -> FloatArray:
        ever = self._incidence(np.full((len(self), 1), math.inf))
        return np.asarray(np.where(ever < 1, np.inf, super()._mean()))

    def _variance(self) -> FloatArray:
        ever = self._incidence(np.full((len(self), 1), math.inf))
        return np.asarray(np.where(ever < 1, np.inf, super()._variance()))

    def _lower(self) -> FloatArray:
        return np.asarray(self.competing.overall()._lower())

    def _kinks(self) -> FloatArray:
        return np.asarray(self.competing.overall()._kinks())

    def _scaled(self, factor: FloatArray) -> Subdistribution:
        return Subdistribution(self.competing._scaled(factor), self.cause)
