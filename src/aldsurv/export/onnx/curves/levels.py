"""Distributions whose levels or hazards were changed, or of whom some never have the event."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.export.onnx.curves.base import Curve, search_quantile
from aldsurv.export.onnx.functions import count_below, expm1, log1p
from aldsurv.export.onnx.graph import Graph, Tensor

__all__ = ["CuredCurve", "HazardTimes", "Remapped"]

_EPSILON = float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True, eq=False)
class Remapped(Curve):
    """A distribution after a monotone map of its levels."""

    base: Curve
    level_map: LevelMap

    @property
    def graph(self) -> Graph:
        """That of the distribution."""
        return self.base.graph

    def _moved(self, times: Tensor) -> Tensor:
        """Log odds of the cdf after the map."""
        odds = self.base.cdf(times).log() - self.base.survival(times).log()
        return odds + _shift(self.level_map, odds)

    def survival(self, times: Tensor) -> Tensor:
        """From the log odds after the map."""
        return 1.0 / (1.0 + self._moved(times).exp())

    def cdf(self, times: Tensor) -> Tensor:
        """From the log odds after the map."""
        return 1.0 / (1.0 + (-self._moved(times)).exp())

    def quantile(self, log_survival: Tensor) -> Tensor:
        """That of the distribution at the level before the map."""
        before = self._before(log_survival)
        if before is None:
            return search_quantile(self, log_survival, log_survival * 0.0, log_survival * 0.0 + math.inf)
        return self.base.quantile(before)

    def around(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        """Those of the distribution at the level before the map."""
        before = self._before(log_survival)
        return super().around(log_survival) if before is None else self.base.around(before)

    def _before(self, log_survival: Tensor) -> Tensor | None:
        """Log survival before the map, of levels that are the same for all rows."""
        if log_survival.value is None:
            return None
        with np.errstate(divide="ignore"):
            odds = np.log(-np.expm1(log_survival.value)) - log_survival.value
        moved = odds + self.level_map.inverse_shift(odds)
        return self.graph.constant(-np.logaddexp(0.0, moved))


def _shift(level_map: LevelMap, odds: Tensor) -> Tensor:
    """What a map adds to log odds, which may be infinite."""
    graph, knots, values = odds.graph, level_map.knots, level_map.values
    if knots.size < 2:
        return graph.constant(float(values[0] - knots[0]) if knots.size else 0.0)
    first, last = float(knots[0]), float(knots[-1])
    inside = odds.clip(first, last)
    place = count_below(graph.constant(knots[:, None]), knots.size, inside, inclusive=True) - 1
    place = place.maximum(0).minimum(knots.size - 2)
    slopes = level_map.slopes
    start, width, low, height, left, right = (
        graph.constant(column).gather(place)
        for column in (knots[:-1], np.diff(knots), values[:-1], np.diff(values), slopes[:-1], slopes[1:])
    )
    share, secant = (inside - start) / width, height / width
    product = share * (1.0 - share)
    risen = height * (secant * share * share + left * product) / (secant + (left + right - secant * 2.0) * product)
    moved = (odds > last).where(float(values[-1]) - last, low + risen - inside)
    return (odds < first).where(float(values[0]) - first, moved)


@final
@dataclass(frozen=True, eq=False)
class HazardTimes(Curve):
    """A distribution whose hazard is multiplied by a factor (1, rows)."""

    base: Curve
    factor: Tensor

    @property
    def graph(self) -> Graph:
        """That of the distribution."""
        return self.base.graph

    def log_survival(self, times: Tensor) -> Tensor:
        """That of the distribution times the factor."""
        return self.base.log_survival(times) * self.factor

    def survival(self, times: Tensor) -> Tensor:
        """A power of that of the distribution."""
        return self.log_survival(times).exp()

    def cdf(self, times: Tensor) -> Tensor:
        """What the survival leaves."""
        return -expm1(self.log_survival(times))

    def quantile(self, log_survival: Tensor) -> Tensor:
        """That of the distribution at another level."""
        return self.base.quantile(log_survival / self.factor)

    def around(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        """Those of the distribution at another level."""
        return self.base.around(log_survival / self.factor)


@final
@dataclass(frozen=True, eq=False)
class CuredCurve(Curve):
    """A share (1, rows) of each row's like never has the event."""

    base: Curve
    cure: Tensor

    @property
    def graph(self) -> Graph:
        """That of the distribution."""
        return self.base.graph

    def survival(self, times: Tensor) -> Tensor:
        """The share, and the others' survival."""
        return self.cure + (1.0 - self.cure) * self.base.survival(times)

    def cdf(self, times: Tensor) -> Tensor:
        """That of the others, times their share."""
        return (1.0 - self.cure) * self.base.cdf(times)

    def quantile(self, log_survival: Tensor) -> Tensor:
        """That of the others at their level; infinite where the survival of all never falls so far."""
        level, never = self._level(log_survival)
        return never.where(math.inf, self.base.quantile(level))

    def around(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        """Those of the others at their level."""
        level, never = self._level(log_survival)
        low, high = self.base.around(level)
        return never.where(math.inf, low), never.where(math.inf, high)

    def _level(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        survival, gone = log_survival.exp(), -expm1(log_survival)
        rest = 1.0 - self.cure
        curable = rest > 0.0
        share = gone / curable.where(rest, 1.0)
        left = (survival - self.cure).maximum(1e-300) / curable.where(rest, 1.0)
        early = share < 0.5
        level = early.where(log1p(-share.minimum(0.5)), left.minimum(1.0).log())
        # Where the level is that of the share itself rounding decides, and the last events are counted as reached.
        return level, ~curable | (survival < self.cure * (1.0 - 4 * _EPSILON))
