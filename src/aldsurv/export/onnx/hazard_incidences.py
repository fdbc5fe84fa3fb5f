"""Incidences of causes with hazards of their own, by a quadrature inside of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import final

import numpy as np

from aldsurv.export.onnx.curves.base import Curve, SmoothCurve
from aldsurv.export.onnx.curves.mixed import EarliestCurve, mixed
from aldsurv.export.onnx.graph import Tensor, joined
from aldsurv.export.onnx.incidences import Incidences

__all__ = ["HazardIncidences"]

# Of Gauss's rule on a panel: exponentials of several causes, each changing by e^20 at most, are integrated to 1e-12.
_NODES = 20


@final
@dataclass(frozen=True, eq=False)
class HazardIncidences(Incidences):
    """Each cause has a hazard, given by a distribution with that hazard, of members whose predictions are averaged.

    The incidence of a cause is the integral of its density times the survival of the others. Panels end at the marks of
    all causes, so that no kink and no narrow peak lies within one: none need be halved, unlike in Python, where any
    distribution may have a hazard.
    """

    members: tuple[tuple[SmoothCurve, ...], ...]

    def overall(self) -> Curve:
        """The mean of the members' first events."""
        firsts = [_first(parts) for parts in self.members]
        return mixed(firsts, [1.0 / len(firsts)] * len(firsts))

    def at(self, times: Tensor) -> list[Tensor]:
        """The mean of the members' integrals."""
        every = [_member_incidences(parts, times) for parts in self.members]
        return [reduce(lambda a, b: a + b, of_cause) / float(len(every)) for of_cause in zip(*every, strict=True)]

    def scaled(self, factor: float) -> HazardIncidences:
        """The same in another unit of time."""
        return HazardIncidences(tuple(tuple(part.scaled(factor) for part in parts) for parts in self.members))


def _first(parts: tuple[SmoothCurve, ...]) -> Curve:
    return EarliestCurve(parts) if len(parts) > 1 else parts[0]


def _member_incidences(parts: tuple[SmoothCurve, ...], times: Tensor) -> list[Tensor]:
    """Incidence (m, rows) of each cause by one member."""
    graph, cdf = times.graph, _first(parts).cdf(times)
    marks = joined([part.marks() for part in parts])
    rows = graph.node("Shape", [marks], "int64", start=-1)
    count = graph.node("Shape", [marks], "int64", start=0, end=1)
    ends = graph.node("TopK", [marks, count], "float64", unused=1, axis=0, largest=0)
    until = parts[0].inside(times)
    places, weights = (numbers / 2 for numbers in np.polynomial.legendre.leggauss(_NODES))
    shares, weight = graph.constant(places[:, None, None] + 0.5), graph.constant(weights[:, None, None])
    flat = joined([graph.constant([-1], "int64"), rows])
    apart = joined([graph.constant([_NODES, -1], "int64"), rows])

    def step(state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        panel, *sums = state
        start, stop = ends.gather(panel).minimum(until), ends.gather(panel + 1).minimum(until)
        width = stop - start
        inside = graph.node("Reshape", [start.unsqueeze(0) + width.unsqueeze(0) * shares, flat], "float64")
        outside = parts[0].outside(inside)
        survivals = [part.survival(outside) for part in parts]
        grown = []
        for k, (part, total) in enumerate(zip(parts, sums, strict=True)):
            others = [survival for j, survival in enumerate(survivals) if j != k]
            density = reduce(lambda a, b: a * b, others, part.density_inside(inside))
            values = graph.node("Reshape", [density, apart], "float64")
            grown.append(total + (values * weight).sum(0) * width)
        # The last end begins no panel.
        return ((panel + 2) < count).squeeze(0), [panel + 1, *grown]

    nothing = cdf * 0.0
    found = graph.loop(1_000_000, [graph.constant([0], "int64"), *(nothing for _ in parts)], step)[1:]
    # Together they are what the survival has lost, beyond the last mark, too.
    whole = reduce(lambda a, b: a + b, found)
    some = whole > 0.0
    return [some.where(each / some.where(whole, 1.0), 1.0 / len(parts)) * cdf for each in found]
