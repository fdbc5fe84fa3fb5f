"""Hazards that rise at the times of a grid which rows share: proportional hazards, of one or of several causes."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.export.onnx.curves.base import Curve
from aldsurv.export.onnx.functions import count_below, expm1
from aldsurv.export.onnx.graph import Graph, Tensor, joined

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["GridCurve", "HazardGrid", "MemberHazards", "SummedHazardCurves", "SummedIncidenceCurves", "reached_level"]

FloatArray = NDArray[np.float64]
_EPSILON = float(np.finfo(np.float64).eps)


def reached_level(log_survival: Tensor) -> Tensor:
    """Survival at or below which a level counts as reached: also if it equals the level up to rounding."""
    level = log_survival.exp()
    return level + (level * 8.0 + (1.0 - level) * 4.0) * _EPSILON


@final
@dataclass(frozen=True, eq=False)
class HazardGrid:
    """Times and logarithms of cumulative hazards of each stratum, all of one length.

    Attributes
    ----------
    times
        (strata, m), infinite after the last time of a stratum.
    log_cumulative
        (hazards, strata, m): of members or causes; after the last time of a stratum as at it.
    sizes
        How many times each stratum has.
    stratum
        Number of each row's stratum (rows,), int64; None for one. A row of number -1 has a stratum that training did
        not have: its survival is not a number.
    """

    graph: Graph
    times: FloatArray
    log_cumulative: FloatArray
    sizes: tuple[int, ...]
    stratum: Tensor | None

    @classmethod
    def of(
        cls, graph: Graph, times: FloatArray, log_cumulative: FloatArray, sizes: tuple[int, ...], stratum: Tensor | None
    ) -> HazardGrid:
        """From grids one after the other (m,), and (m, hazards) with them."""
        most, starts = max(sizes), np.cumsum([0, *sizes])
        grid = np.full((len(sizes), most), np.inf)
        heights = np.empty((log_cumulative.shape[1], len(sizes), most))
        for k, size in enumerate(sizes):
            own = slice(starts[k], starts[k] + size)
            grid[k, :size] = times[own]
            heights[:, k, :size] = log_cumulative[own].T
            heights[:, k, size:] = log_cumulative[own].T[:, -1:]
        return cls(graph, grid, heights, sizes, stratum)

    def scaled(self, factor: float) -> HazardGrid:
        """With times in another unit."""
        return replace(self, times=self.times * factor)

    @property
    def most(self) -> int:
        """Times of the stratum that has most."""
        return max(self.sizes)

    def _known(self) -> Tensor:
        """The stratum (1, rows), of one that is not known the first."""
        return self.graph.constant([[0]], "int64") if self.stratum is None else self.stratum.maximum(0).unsqueeze(0)

    def count(self, times: Tensor) -> Tensor:
        """How many times of its grid each row has passed, (m, 1) or (m, rows)."""
        if self.stratum is None:
            return count_below(self.graph.constant(self.times[0][:, None]), self.most, times, inclusive=True)
        places, step = (times + self.missing() * 0.0 > math.inf).cast("int64"), 1 << (self.most.bit_length() - 1)
        while step:
            ahead = places + step
            passed = (ahead <= self.most) & (self.time(ahead.minimum(self.most)) <= times)
            places, step = passed.where(ahead, places), step >> 1
        return places

    def missing(self) -> Tensor:
        """0 (1, rows), or no number where the stratum is not known."""
        if self.stratum is None:
            return self.graph.constant([[0.0]])
        return (self.stratum < 0).where(math.nan, 0.0).unsqueeze(0)

    def time(self, count: Tensor) -> Tensor:
        """The time of that number, counted from 1, in each row's grid."""
        flat = self.graph.constant(self.times.ravel())
        return flat.gather(self._place(count - 1, self.most))

    def _place(self, position: Tensor, length: int) -> Tensor:
        return position if self.stratum is None else position + self._known() * length

    def size(self) -> Tensor:
        """How many times each row's grid has, (1, 1) or (1, rows)."""
        sizes = self.graph.constant(self.sizes, "int64")
        return sizes.reshape([1, 1]) if self.stratum is None else sizes.gather(self._known())

    def heights(self, count: Tensor, hazard: int) -> Tensor:
        """Log cumulative hazard after so many times of the grid; before the first there is none."""
        table = self.log_cumulative[hazard]
        padded = np.concatenate([np.full((len(table), 1), -np.inf), table], axis=1)
        return self.graph.constant(padded.ravel()).gather(self._place(count, self.most + 1))

    def table(self, values: FloatArray) -> Tensor:
        """Of values (strata, m) those of each row's stratum, (m, 1) or (m, rows)."""
        table = self.graph.constant(values.T)
        if self.stratum is None:
            return table
        return table.gather(self.stratum.maximum(0), axis=1)


@dataclass(frozen=True, eq=False)
class GridCurve(Curve):
    """Survival that falls at the times of a grid, after the last of which it is held.

    Parameters
    ----------
    grid
        Times and cumulative hazards.
    log_risk
        Log risk of each row for each hazard (hazards, rows).
    """

    grid: HazardGrid
    log_risk: Tensor

    @property
    def graph(self) -> Graph:
        """That of the risks."""
        return self.log_risk.graph

    @abstractmethod
    def after(self, count: Tensor) -> Tensor:
        """Survival after so many times of the grid."""

    def _hazards(self) -> int:
        return int(self.grid.log_cumulative.shape[0])

    def log_survivals(self, count: Tensor) -> list[Tensor]:
        """Log survival under each hazard after so many times of the grid."""
        return [-(self.grid.heights(count, k) + self.log_risk.slice(k, k + 1)).exp() for k in range(self._hazards())]

    def survival(self, times: Tensor) -> Tensor:
        """After the times of the grid that have passed."""
        return self.after(self.grid.count(times)) + self.grid.missing()

    def cdf(self, times: Tensor) -> Tensor:
        """What the survival leaves."""
        return 1.0 - self.survival(times)

    def quantile(self, log_survival: Tensor) -> Tensor:
        """The first time of the grid from which survival is at the level or below it, by halving."""
        reached, size = reached_level(log_survival), self.grid.size()
        # Rows may differ in how far they go, also where their levels do not.
        zero = (log_survival + self.log_risk.slice(0, 1) * 0.0 > math.inf).cast("int64")
        places, step = zero, 1 << (self.grid.most.bit_length() - 1)
        while step:
            ahead = places + step
            passed = (ahead <= size) & (self.after(ahead.minimum(size)) > reached)
            places, step = passed.where(ahead, places), step >> 1
        never = places >= size
        time = self.grid.time((places + 1).minimum(size))
        return never.where(math.inf, time) + self.grid.missing()

    def scaled(self, factor: float) -> Self:
        """The same in another unit of time."""
        return replace(self, grid=self.grid.scaled(factor))


@final
@dataclass(frozen=True, eq=False)
class MemberHazards(GridCurve):
    """``exp(-H0(t)·exp(log risk))``, the mean over members with baselines of their own."""

    def after(self, count: Tensor) -> Tensor:
        """The mean of the members'."""
        return _mean([each.exp() for each in self.log_survivals(count)])

    def cdf(self, times: Tensor) -> Tensor:
        """The mean of the members', with its digits."""
        count = self.grid.count(times)
        return _mean([-expm1(each) for each in self.log_survivals(count)]) + self.grid.missing()


@final
@dataclass(frozen=True, eq=False)
class SummedHazardCurves(GridCurve):
    """``exp(-Σ H_k(t)·exp(log risk_k))``: hazards of causes that add up."""

    def _log_after(self, count: Tensor) -> Tensor:
        return _total(self.log_survivals(count))

    def after(self, count: Tensor) -> Tensor:
        """The product of the causes'."""
        return self._log_after(count).exp()

    def cdf(self, times: Tensor) -> Tensor:
        """What the survival leaves, with its digits."""
        return -expm1(self._log_after(self.grid.count(times))) + self.grid.missing()

    def incidences(self, times: Tensor) -> list[Tensor]:
        """What survival loses at each time of the grid, to the causes in the proportion of their rises there."""
        count, risks = self.grid.count(times), [self.log_risk.slice(k, k + 1).exp() for k in range(self._hazards())]
        levels = np.exp(self.grid.log_cumulative)
        rises = [np.diff(level, axis=1, prepend=0.0) for level in levels]
        whole = _total([self.grid.table(level) * risk for level, risk in zip(levels, risks, strict=True)])
        survival = (-whole).exp()
        before = joined([survival.slice(0, 1) * 0.0 + 1.0, survival.slice(0, self.grid.most - 1)])
        lost = before - survival
        joint = [self.grid.table(rise) * risk for rise, risk in zip(rises, risks, strict=True)]
        total = _total(joint)
        some = total > 0.0
        sums = []
        for each in joint:
            # Rounding may let survival fall where no hazard rises.
            share = some.where(each, 0.0) / some.where(total, 1.0)
            grown = (lost * share).cumulative_sum(0)
            table = joined([grown.slice(0, 1) * 0.0, grown])
            sums.append(table.gather_rows(count + (self.log_risk.slice(0, 1) > math.inf).cast("int64")))
        # Sums of many small numbers lose digits: together they are what the survival has lost.
        every, gone = _total(sums), self.cdf(times)
        safe = (every > 0.0).where(every, 1.0)
        return [(every > 0.0).where(each * (gone / safe), each) + self.grid.missing() for each in sums]


@final
@dataclass(frozen=True, eq=False)
class SummedIncidenceCurves(GridCurve):
    """``1 - Σ share_k·(1 - exp(-H_k(t)·exp(log risk_k)))``, with shares (causes, rows)."""

    shares: Tensor

    def _incidences_after(self, count: Tensor) -> list[Tensor]:
        every = self.log_survivals(count)
        return [-expm1(each) * self.shares.slice(k, k + 1) for k, each in enumerate(every)]

    def after(self, count: Tensor) -> Tensor:
        """What the incidences leave."""
        return (1.0 - _total(self._incidences_after(count))).clip(0.0, 1.0)

    def incidences(self, times: Tensor) -> list[Tensor]:
        """Of each cause."""
        return [each + self.grid.missing() for each in self._incidences_after(self.grid.count(times))]


def _total(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _mean(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else _total(parts) / float(len(parts))
