"""The mixture of what several members predict with causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.wrappers.mixture import Mixture
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AveragedIncidence"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class AveragedIncidence(CompetingDistribution):
    """The mean of incidences, weighted equally or as given: any of the members may be right.

    Parameters
    ----------
    members
        Predictions for the same individuals and causes.
    weights
        One per member, not negative, divided by their sum; None: equal.
    """

    members: tuple[CompetingDistribution, ...]
    weights: FloatArray

    def __init__(self, members: Sequence[CompetingDistribution], weights: Sequence[float] | None = None) -> None:
        if not members or {(len(one), one.causes) for one in members} != {(len(members[0]), members[0].causes)}:
            raise ParameterError("members must be predictions for the same rows and causes.")
        shares = np.ones(len(members)) if weights is None else np.array(weights, np.float64)
        if shares.shape != (len(members),) or not bool((shares >= 0).all() and 0 < shares.sum() < np.inf):
            raise ParameterError("weights must be one number per member, not negative and not all zero.")
        object.__setattr__(self, "members", tuple(members))
        object.__setattr__(self, "weights", shares / shares.sum())

    @property
    def causes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the causes."""
        return self.members[0].causes

    @property
    def _column(self) -> FloatArray:
        return np.asarray(self.members[0]._column)

    @property
    def _block_cost(self) -> int:
        return max(member._block_cost for member in self.members)

    def _map_rows(self, change: Callable[[FloatArray], FloatArray]) -> Self:
        return self.from_checked(members=tuple(one._map_rows(change) for one in self.members), weights=self.weights)

    def _join(self, others: Sequence[Self]) -> Self:
        if any(not np.array_equal(other.weights, self.weights) for other in others):
            raise ParameterError("means of members with different weights cannot be joined.")
        every = zip(self.members, *(other.members for other in others), strict=True)
        joined = tuple(CompetingDistribution.concatenate(parts) for parts in every)
        return self.from_checked(members=joined, weights=self.weights)

    def overall(self) -> Mixture:
        """The mixture of the members' first events."""
        return Mixture([member.overall() for member in self.members], self.weights)

    def _incidences(self, t: FloatArray) -> FloatArray:
        return np.asarray(sum(w * one._incidences(t) for w, one in zip(self.weights, self.members, strict=True)))

    def _log_densities(self, t: FloatArray) -> FloatArray:
        slopes = [w * np.exp(one._log_densities(t)) for w, one in zip(self.weights, self.members, strict=True)]
        return np.asarray(np.log(np.sum(slopes, axis=0)))

    def _scaled(self, factor: FloatArray) -> AveragedIncidence:
        return self.from_checked(members=tuple(one._scaled(factor) for one in self.members), weights=self.weights)
