"""Competing causes for those who are known to be without any event at some time."""

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

__all__ = ["ConditionalIncidence"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConditionalIncidence(CompetingDistribution):
    """``(F_k(t) - F_k(since))/S(since)`` for each cause.

    Parameters
    ----------
    base
        The prediction before anything was known.
    since
        Column (n, 1) of the times at which the individuals are without an event.
    """

    base: CompetingDistribution
    since: FloatArray

    @classmethod
    def of(cls, base: CompetingDistribution, since: FloatArray) -> ConditionalIncidence:
        """The prediction given no event by `since`, which must be possible."""
        with np.errstate(all="ignore"):
            gone = np.asarray(base.overall()._survival(since)) <= 0
        if gone.any():
            row = int(np.argmax(gone[:, 0]))
            raise ParameterError(
                f"a row cannot be event-free until {float(since[row, 0]):g}: its survival is 0 there",
                argument="since",
                row=row,
                advice="Give earlier times.",
            )
        return cls.from_checked(base=base, since=since)

    @property
    def causes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the causes."""
        return self.base.causes

    @property
    def _column(self) -> FloatArray:
        return self.since

    @property
    def _block_cost(self) -> int:
        return 2 * self.base._block_cost

    def _map_rows(self, change: Callable[[FloatArray], FloatArray]) -> Self:
        return self.from_checked(base=self.base._map_rows(change), since=change(self.since))

    def _join(self, others: Sequence[Self]) -> Self:
        base = CompetingDistribution.concatenate([self.base, *(other.base for other in others)])
        return self.from_checked(base=base, since=np.concatenate([self.since, *(other.since for other in others)]))

    def overall(self) -> SurvivalDistribution:
        """The distribution of the time to the first event, given that it comes after `since`."""
        return self.base.overall().conditional(self.since)

    def _incidences(self, t: FloatArray) -> FloatArray:
        after = np.maximum(t, self.since)
        gain = np.maximum(self.base._incidences(after) - self.base._incidences(self.since), 0.0)
        # Differences of small numbers have lost digits: together they are what the survival has lost.
        whole = gain.sum(axis=0)
        overall = self.overall()
        some = whole > 0
        return np.asarray(gain / np.where(some, whole, 1.0) * overall._cdf(after))

    def _log_densities(self, t: FloatArray) -> FloatArray:
        slopes = self.base._log_densities(np.maximum(t, self.since)) - self.base.overall()._log_survival(self.since)
        return np.asarray(np.where(t >= self.since, slopes, -math.inf))

    def _conditional(self, since: FloatArray) -> CompetingDistribution:
        return self.base._conditional(np.maximum(since, self.since))

    def _scaled(self, factor: FloatArray) -> ConditionalIncidence:
        return self.from_checked(base=self.base._scaled(factor), since=factor * self.since)
