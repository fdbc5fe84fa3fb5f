"""Distributions by table: quantiles joined by lines, and steps at the times of a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.export.onnx.curves.base import Curve
from aldsurv.export.onnx.curves.hazards import reached_level
from aldsurv.export.onnx.functions import count_below, expm1
from aldsurv.export.onnx.graph import Graph, Tensor, joined

__all__ = ["KnotCurve", "StepCurve", "quantile_knots"]

FloatArray = NDArray[np.float64]
_EPSILON = float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True, eq=False)
class KnotCurve(Curve):
    """The cdf is linear between knots and has an exponential tail.

    Parameters
    ----------
    values, levels
        Times of the knots and the cdf there, (m, 1) for all rows or (m, rows); one of them is by rows.
    tail
        Scale of the tail (1, rows).
    count
        m.
    """

    values: Tensor
    levels: Tensor
    tail: Tensor
    count: int

    @classmethod
    def through(cls, values: Tensor, levels: Tensor, count: int) -> KnotCurve:
        """With a tail that goes on with the density of the last stretch."""
        first, before, last = values.slice(0, 1), values.slice(count - 2, count - 1), values.slice(count - 1, count)
        reached = levels.slice(count - 1, count)
        rise = reached - levels.slice(count - 2, count - 1)
        # A flat last stretch says nothing about the tail: take the mean slope of the whole curve instead.
        flat = rise <= 0.0
        width = flat.where(last - first, last - before)
        rise = flat.where(reached.maximum(1e-12), rise)
        scale = ((1.0 - reached) * width / rise).maximum((last.abs() + 1.0) * _EPSILON)
        return cls(values, levels, scale, count)

    @property
    def graph(self) -> Graph:
        """That of the tail."""
        return self.tail.graph

    def _by_row(self, values: Tensor) -> Tensor:
        """For every row, whatever the knots are."""
        return values + self.tail * 0.0

    def _pick(self, table: Tensor, places: Tensor) -> Tensor:
        return table.reshape([-1]).gather(places) if table.value is not None else table.gather_rows(places)

    def _inner_cdf(self, times: Tensor) -> Tensor:
        times = self._by_row(times)
        place = count_below(self.values, self.count, times, inclusive=True) - 1
        place = place.maximum(0).minimum(self.count - 2)
        start, stop = self._pick(self.values, place), self._pick(self.values, place + 1)
        low, high = self._pick(self.levels, place), self._pick(self.levels, place + 1)
        width = stop - start
        some = width > 0.0
        inside = some.where((times - start) / some.where(width, 1.0), 1.0)
        share = (times < self.values.slice(0, 1)).where(0.0, inside)
        return low + (high - low) * share.clip(0.0, 1.0)

    def _ends(self) -> tuple[Tensor, Tensor]:
        last = self.values.slice(self.count - 1, self.count)
        return last, 1.0 - self.levels.slice(self.count - 1, self.count)

    def survival(self, times: Tensor) -> Tensor:
        """By lines, then exponential."""
        last, rest = self._ends()
        tail = rest * (-(times - last).maximum(0.0) / self.tail).exp()
        return (times >= last).where(tail, 1.0 - self._inner_cdf(times.minimum(last)))

    def cdf(self, times: Tensor) -> Tensor:
        """By lines, then exponential."""
        last, rest = self._ends()
        tail = 1.0 - rest * (-(times - last).maximum(0.0) / self.tail).exp()
        return (times >= last).where(tail, self._inner_cdf(times.minimum(last)))

    def quantile(self, log_survival: Tensor) -> Tensor:
        """By lines, then exponential."""
        last, rest = self._ends()
        log_rest = rest.log()
        wanted = self._by_row(log_survival)
        beyond = wanted < log_rest
        level = (-expm1(beyond.where(log_rest, wanted))).minimum(self.levels.slice(self.count - 1, self.count))
        place = count_below(self.levels, self.count, level, inclusive=False) - 1
        place = place.maximum(0).minimum(self.count - 2)
        low, high = self._pick(self.levels, place), self._pick(self.levels, place + 1)
        start, stop = self._pick(self.values, place), self._pick(self.values, place + 1)
        rise = high - low
        some = rise > 0.0
        inner = start + (stop - start) * some.where((level - low) / some.where(rise, 1.0), 0.0)
        left = rest > 0.0
        tail = left.where(last - self.tail * (wanted - left.where(log_rest, 0.0)), last)
        return beyond.where(tail, inner)

    def scaled(self, factor: float) -> KnotCurve:
        """The same in another unit of time."""
        return KnotCurve(self.values * factor, self.levels, self.tail * factor, self.count)


def quantile_knots(quantiles: Tensor, levels: FloatArray) -> KnotCurve:
    """Through quantiles (m, rows) at levels (m,): sorted, with an even stretch before the first."""
    graph, count = quantiles.graph, len(levels)
    table = _sorted(quantiles, count)
    first, second = table.slice(0, 1), table.slice(1, 2)
    thin = (second - first) / float(levels[1] - levels[0]) * float(levels[0])
    bottom = (first > 0.0).where(first * 0.0, first - thin)
    probabilities = graph.constant(np.concatenate([[0.0], levels])[:, None])
    return KnotCurve.through(joined([bottom, table]), probabilities, count + 1)


def _sorted(table: Tensor, count: int) -> Tensor:
    """The numbers of each row, ascending."""
    graph = table.graph
    wanted = graph.constant([count], "int64")
    return graph.node("TopK", [table, wanted], table.dtype, unused=1, axis=0, largest=0, sorted=1)


@final
@dataclass(frozen=True, eq=False)
class StepCurve(Curve):
    """Survival (m, rows) from each time (m,) of a grid on; after the last it is held."""

    times: FloatArray
    values: Tensor

    @property
    def graph(self) -> Graph:
        """That of the table."""
        return self.values.graph

    def smoothed(self) -> KnotCurve:
        """Linear interpolation of the cdf between the times, from 1 at time 0."""
        times = self.graph.constant(np.concatenate([[0.0], self.times])[:, None])
        levels = joined([self.values.slice(0, 1) * 0.0, 1.0 - self.values])
        return KnotCurve.through(times, levels, len(self.times) + 1)

    def with_mean_hazard(self) -> KnotCurve:
        """The same, with the mean hazard up to the last time as that after it."""
        curve, end = self.smoothed(), float(self.times[-1])
        last = self.values.slice(len(self.times) - 1, len(self.times)).clip(0.0, 1 - 1e-12)
        scale = (end / -last.log()).maximum(_EPSILON * (1 + end))
        return KnotCurve(curve.values, curve.levels, scale, curve.count)

    def survival(self, times: Tensor) -> Tensor:
        """From the last time of the grid that has passed."""
        grid = self.graph.constant(self.times[:, None])
        table = joined([self.values.slice(0, 1) * 0.0 + 1.0, self.values])
        return table.gather_rows(count_below(grid, len(self.times), self._by_row(times), inclusive=True))

    def _by_row(self, values: Tensor) -> Tensor:
        return values + self.values.slice(0, 1) * 0.0

    def cdf(self, times: Tensor) -> Tensor:
        """What the survival leaves."""
        return 1.0 - self.survival(times)

    def quantile(self, log_survival: Tensor) -> Tensor:
        """The first time of the grid from which survival is at the level or below it."""
        reached, size = self._by_row(reached_level(log_survival)), len(self.times)
        place = count_below(-self.values, size, -reached, inclusive=False)
        time = self.graph.constant(self.times).gather(place.minimum(size - 1))
        return (place >= size).where(math.inf, time)

    def scaled(self, factor: float) -> StepCurve:
        """The same in another unit of time."""
        return StepCurve(self.times * factor, self.values)
