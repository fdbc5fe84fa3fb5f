"""Predictions with competing causes as graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.export.onnx.curves.base import Curve
from aldsurv.export.onnx.curves.hazards import SummedHazardCurves, SummedIncidenceCurves
from aldsurv.export.onnx.curves.levels import CuredCurve
from aldsurv.export.onnx.curves.mixed import mixed
from aldsurv.export.onnx.curves.tables import StepCurve
from aldsurv.export.onnx.functions import count_below
from aldsurv.export.onnx.graph import Tensor, joined

__all__ = ["BinIncidences", "CauseMixtureIncidences", "GridIncidences", "Incidences"]

FloatArray = NDArray[np.float64]


class Incidences(ABC):
    """Which cause the first event has, and when it comes, for each row."""

    @abstractmethod
    def overall(self) -> Curve:
        """The time to the first event of any cause."""

    @abstractmethod
    def at(self, times: Tensor) -> list[Tensor]:
        """Incidence (m, rows) of each cause."""

    @abstractmethod
    def scaled(self, factor: float) -> Incidences:
        """The same in another unit of time."""


@final
@dataclass(frozen=True, eq=False)
class CauseMixtureIncidences(Incidences):
    """A probability for each cause, and the distribution of its time given that cause.

    Parameters
    ----------
    parts
        For each cause the distribution of its time.
    chances
        For each cause its probability (1, rows).
    cure
        The probability of no event (1, rows); None if there is no cure.
    """

    parts: tuple[Curve, ...]
    chances: tuple[Tensor, ...]
    cure: Tensor | None

    @staticmethod
    def mean_of(members: Sequence[CauseMixtureIncidences]) -> CauseMixtureIncidences:
        """The mixture of members in equal parts."""
        if len(members) == 1:
            return members[0]
        count, parts, chances = float(len(members)), [], []
        for k in range(len(members[0].parts)):
            shares = [member.chances[k] / count for member in members]
            total = reduce(lambda a, b: a + b, shares)
            some = total > 0.0
            weights = [some.where(share, 1.0) / some.where(total, count) for share in shares]
            parts.append(mixed([member.parts[k] for member in members], weights))
            chances.append(total)
        cures = [member.cure for member in members if member.cure is not None]
        cure = reduce(lambda a, b: a + b, cures) / count if cures else None
        return CauseMixtureIncidences(tuple(parts), tuple(chances), cure)

    def overall(self) -> Curve:
        """The mixture of the parts, and of those who never have an event."""
        total = reduce(lambda a, b: a + b, self.chances)
        some = total > 0.0
        shares = [some.where(chance, 1.0) / some.where(total, float(len(self.parts))) for chance in self.chances]
        first = mixed(self.parts, shares)
        return first if self.cure is None else CuredCurve(first, self.cure)

    def at(self, times: Tensor) -> list[Tensor]:
        """The cdf of each part times its probability."""
        return [chance * part.cdf(times) for chance, part in zip(self.chances, self.parts, strict=True)]

    def scaled(self, factor: float) -> CauseMixtureIncidences:
        """The same in another unit of time."""
        return CauseMixtureIncidences(tuple(part.scaled(factor) for part in self.parts), self.chances, self.cure)


@final
@dataclass(frozen=True, eq=False)
class GridIncidences(Incidences):
    """Incidences that rise at the times of a grid, by hazards of the causes or of their subdistributions."""

    curve: SummedHazardCurves | SummedIncidenceCurves

    def overall(self) -> Curve:
        """What the incidences leave."""
        return self.curve

    def at(self, times: Tensor) -> list[Tensor]:
        """Of each cause."""
        return self.curve.incidences(times)

    def scaled(self, factor: float) -> GridIncidences:
        """The same in another unit of time."""
        return GridIncidences(self.curve.scaled(factor))


@final
@dataclass(frozen=True, eq=False)
class BinIncidences(Incidences):
    """Incidence (bins, rows) of each cause at the ends of bins of time.

    Parameters
    ----------
    times
        Ends of the bins.
    values
        For each cause a table (bins, rows).
    interpolate
        Whether incidence rises in straight lines.
    """

    times: FloatArray
    values: tuple[Tensor, ...]
    interpolate: bool

    def overall(self) -> Curve:
        """The time to the first event."""
        total = reduce(lambda a, b: a + b, self.values)
        steps = StepCurve(self.times, (1.0 - total).clip(0.0, 1.0))
        return steps.with_mean_hazard() if self.interpolate else steps

    def at(self, times: Tensor) -> list[Tensor]:
        """Between the ends in straight lines, afterwards in the proportion that the causes have there."""
        graph, size = times.graph, len(self.times)
        by_row = times + self.values[0].slice(0, 1) * 0.0
        passed = count_below(graph.constant(self.times[:, None]), size, by_row, inclusive=True)
        tables = [joined([table.slice(0, 1) * 0.0, table]) for table in self.values]
        before = [table.gather_rows(passed) for table in tables]
        if not self.interpolate:
            return before
        edges = graph.constant(np.concatenate([[0.0], self.times]))
        following = (passed + 1).minimum(size)
        inside = passed < size
        start = edges.gather(passed)
        width = inside.where(edges.gather(following) - start, 1.0)
        share = inside.where(((by_row - start) / width).clip(0.0, 1.0), 0.0)
        lasts = [table.slice(size - 1, size) for table in self.values]
        total = reduce(lambda a, b: a + b, lasts)
        some = total > 0.0
        later = self.overall().cdf(times.maximum(float(self.times[-1]))) - total
        answer = []
        for table, low, last in zip(tables, before, lasts, strict=True):
            part = some.where(last / some.where(total, 1.0), 1.0 / len(lasts))
            between = low + (table.gather_rows(following) - low) * share
            answer.append(inside.where(between, last + part * later))
        return answer

    def scaled(self, factor: float) -> BinIncidences:
        """The same in another unit of time."""
        return BinIncidences(self.times * factor, self.values, self.interpolate)
