"""What every distribution offers inside of a graph."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv.export.onnx.functions import log1p
from aldsurv.export.onnx.graph import Graph, Tensor

__all__ = ["Curve", "Rescaled", "SmoothCurve", "search_quantile"]

# Where a search without a starting value begins, and how many steps it takes at most.
_FARTHEST, _MOST_STEPS, _NEAR_ENOUGH = 1e300, 120, 1e-15


class Curve(ABC):
    """The distribution of the time to the event of each row.

    Times and log survivals are (m, 1), the same for all rows, or (m, rows); the results broadcast with (1, rows).
    Survival and cdf both keep their digits where they are small, so that their logarithms do.
    """

    @property
    @abstractmethod
    def graph(self) -> Graph:
        """The graph that it is part of."""

    @abstractmethod
    def survival(self, times: Tensor) -> Tensor:
        """``P(T > t)``."""

    @abstractmethod
    def cdf(self, times: Tensor) -> Tensor:
        """``P(T ≤ t)``."""

    def quantile(self, log_survival: Tensor) -> Tensor:
        """The time at which the logarithm of the survival is as given; infinite where it never is."""
        return search_quantile(self, log_survival, *self.around(log_survival))

    def around(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        """Times between which the quantile lies; twice itself where it is cheap."""
        time = self.quantile(log_survival)
        return time, time

    def log_survival(self, times: Tensor) -> Tensor:
        """``log P(T > t)``, with all its digits where survival is near 1."""
        cdf = self.cdf(times)
        return (cdf < 0.5).where(log1p(-cdf.minimum(0.5)), self.survival(times).log())

    def scaled(self, factor: float) -> Curve:
        """The distribution of ``factor · T``."""
        return self if factor == 1.0 else Rescaled(self, factor)


class SmoothCurve(Curve):
    """A distribution with a density, which can be integrated over a time inside: the time itself or its logarithm."""

    @abstractmethod
    def inside(self, times: Tensor) -> Tensor:
        """The time inside."""

    @abstractmethod
    def outside(self, inside: Tensor) -> Tensor:
        """The time of a time inside."""

    @abstractmethod
    def density_inside(self, inside: Tensor) -> Tensor:
        """Density (m, rows) of the time inside."""

    @abstractmethod
    def marks(self) -> Tensor:
        """Times inside (k, rows), in any order, from where survival is 1 to where it is 0, up to rounding.

        Between two that follow each other, density and survival are sums of exponentials, or nearly so, that change by
        factors of at most e^20.
        """

    @abstractmethod
    def scaled(self, factor: float) -> SmoothCurve:
        """The distribution of ``factor · T``."""


@final
@dataclass(frozen=True, eq=False)
class Rescaled(Curve):
    """A distribution in another unit of time."""

    base: Curve
    factor: float

    @property
    def graph(self) -> Graph:
        """That of the distribution."""
        return self.base.graph

    def survival(self, times: Tensor) -> Tensor:
        """That of the times in the unit inside."""
        return self.base.survival(times / self.factor)

    def cdf(self, times: Tensor) -> Tensor:
        """That of the times in the unit inside."""
        return self.base.cdf(times / self.factor)

    def quantile(self, log_survival: Tensor) -> Tensor:
        """In the unit outside."""
        return self.base.quantile(log_survival) * self.factor

    def around(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        """In the unit outside."""
        low, high = self.base.around(log_survival)
        return low * self.factor, high * self.factor


def search_quantile(curve: Curve, log_survival: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """The time within a bracket at which log survival falls to a level, by halving until the ends agree.

    The half is the geometric mean where the ends differ much: quantiles may be orders of magnitude apart.
    """
    graph = curve.graph
    level = log_survival.exp()
    late = level < 0.5
    other = 1.0 - level if log_survival.value is None else graph.constant(-np.expm1(log_survival.value))

    def still_before(times: Tensor) -> Tensor:
        # Of the two probabilities the one that is small, and has its digits.
        by_survival, by_cdf = curve.survival(times) > level, curve.cdf(times) < other
        return (late & by_survival) | (~late & by_cdf)

    def step(state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        first, last = state
        far = (first > 0.0) & (last > first * 4.0)
        wide = far.where(first, 1.0).sqrt() * far.where(last, 1.0).sqrt()
        middle = far.where(wide, first * 0.5 + last * 0.5)
        before = still_before(middle)
        following = [before.where(middle, first), before.where(last, middle)]
        width, size = following[1] - following[0], following[1].abs().maximum(following[0].abs())
        return (width > size * _NEAR_ENOUGH).any(), following

    start, end = low.minimum(_FARTHEST), high.minimum(_FARTHEST)
    shape = (start + end) * 0.0 + curve.survival(start) * 0.0
    found = graph.loop(_MOST_STEPS, [start + shape, end + shape], step)[1]
    never = curve.survival(end) > level
    return (never & (high >= _FARTHEST)).where(math.inf, found)
