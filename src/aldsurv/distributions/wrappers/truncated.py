"""Distributions of those known to be event-free at some time."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.formulas import residual_anywhere
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.distributions.numerics.log_space import log1mexp
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LeftTruncated", "Truncated"]


class Truncated(SurvivalDistribution):
    """``P(T > t | T > since) = S(t)/S(since)``, all of it in log space: S(since) may underflow."""

    @property
    @abstractmethod
    def _base(self) -> SurvivalDistribution:
        """The distribution before anything was known."""

    @property
    @abstractmethod
    def _since(self) -> Array:
        """Column of the times at which the individuals are known to be event-free."""

    def _log_survival(self, t: Array) -> Array:
        xp = namespace(t)
        return self._base._log_survival_ratio(xp.maximum(t, self._since), self._since)

    def _log_cdf(self, t: Array) -> Array:
        xp = namespace(t)
        after = t > self._since
        safe = xp.where(after, t, self._since + 1)
        log_cdf = log1mexp(self._base._log_survival_ratio(safe, self._since))
        return xp.where(after, log_cdf, xp.full_like(log_cdf, -math.inf))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        inside = xp.maximum(t, self._since)
        # Hazard times survival since then; where survival is 0 in float64, the ratio of density and survival.
        gone = self._base._log_survival(inside) == -math.inf
        safe = xp.where(gone, self._since, inside)
        density = self._base._log_hazard(safe) + self._base._log_survival_ratio(safe, self._since)
        plain = self._base._log_density(inside) - self._base._log_survival(self._since)
        density = xp.where(gone, plain, density)
        return xp.where(t >= self._since, density, xp.full_like(density, -math.inf))

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        xp = namespace(t)
        return self._base._log_survival_ratio(xp.maximum(t, self._since), xp.maximum(since, self._since))

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(log_survival)
        times = self._base._inverse_log_survival(log_survival + self._base._log_survival(self._since))
        return xp.maximum(times, self._since)

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(start)
        lower = xp.maximum(self._since, self._base._lower())
        return self._base._residual(xp.maximum(start, lower), xp.maximum(stop, lower))

    def _mean(self) -> Array:
        xp, since = namespace(self._since), self._since
        mean = since + residual_anywhere(self._base, since, xp.full_like(since, math.inf))
        # Where nothing is cut off, it is the mean of the base, which need not be measured from far away.
        return xp.where(self._base._log_cdf(since) < -40.0, self._base._mean(), mean)

    def _mode(self) -> Array:
        return namespace(self._since).maximum(self._base._mode(), self._lower())

    def _lower(self) -> Array:
        return namespace(self._since).maximum(self._since, self._base._lower())

    def _quadrature_cost(self) -> int:
        return self._base._quadrature_cost()

    def _kinks(self) -> Array:
        xp = namespace(self._since)
        return xp.maximum(self._base._kinks(), self._lower())

    def _conditional(self, since: Array) -> SurvivalDistribution:
        return self._base._conditional(namespace(since).maximum(since, self._since))


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class LeftTruncated(Truncated):
    """Any distribution, given that the event has not happened by ``since``.

    Parameters
    ----------
    base
        The distribution before anything was known.
    since
        A number, or one per row.
    """

    base: SurvivalDistribution
    since: Array

    def __init__(self, base: SurvivalDistribution, since: Any) -> None:
        column = base._as_column(since, "since")
        xp = namespace(column)
        base._refuse(column == math.inf, column, "since must be a time before infinity")
        lowest = xp.full_like(column, -float(xp.finfo(column.dtype).max))
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "since", xp.maximum(column, lowest) + xp.zeros_like(base._column[:, :1]))
        with np.errstate(all="ignore"):
            gone = base._log_survival(self.since) == -math.inf
        if bool(xp.any(gone)):
            row = int(xp.argmax(xp.astype(gone, xp.int64)[:, 0]))
            raise ParameterError(
                f"a row cannot be event-free until {float(self.since[row, 0]):g}: its survival is 0 there",
                argument="since",
                row=row,
                advice="Give earlier times.",
            )

    @property
    def _base(self) -> SurvivalDistribution:
        return self.base

    @property
    def _since(self) -> Array:
        return self.since

    @property
    def _column(self) -> Array:
        return self.since

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(base=self.base._map_rows(change), since=change(self.since))

    def _join(self, others: Sequence[Self]) -> Self:
        return self.from_checked(
            base=SurvivalDistribution.concatenate([self.base, *(other.base for other in others)]),
            since=namespace(self.since).concat([self.since, *(other.since for other in others)], axis=0),
        )

    def _mode(self) -> Array:
        # The base may have a second peak after `since`: only the search sees it.
        return SurvivalDistribution._mode(self)

    def _scaled(self, factor: Array) -> LeftTruncated:
        return LeftTruncated(self.base._scaled(factor), factor * self.since)

    def _shifted(self, offset: Array) -> LeftTruncated:
        return LeftTruncated(self.base._shifted(offset), self.since + offset)
