"""Mixtures of any distributions, and the earliest of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import final

from aldsurv.export.onnx.curves.base import Curve, search_quantile
from aldsurv.export.onnx.curves.laplace import LaplaceMixture
from aldsurv.export.onnx.functions import expm1
from aldsurv.export.onnx.graph import Graph, Tensor

__all__ = ["EarliestCurve", "MixedCurves", "mixed"]


def mixed(parts: Sequence[Curve], shares: Sequence[Tensor | float]) -> Curve:
    """The mixture of distributions with a share (1, rows) each; of Laplace components on one support one of those."""
    if len(parts) == 1:
        return parts[0]
    laplace = [part for part in parts if isinstance(part, LaplaceMixture)]
    if len(laplace) == len(parts) and len({part.support.name for part in laplace}) == 1:
        return LaplaceMixture.joined(laplace, shares)
    return MixedCurves(tuple(parts), tuple(shares))


@final
@dataclass(frozen=True, eq=False)
class MixedCurves(Curve):
    """The sum of the parts' survivals, each times its share."""

    parts: tuple[Curve, ...]
    shares: tuple[Tensor | float, ...]

    @property
    def graph(self) -> Graph:
        """That of the parts."""
        return self.parts[0].graph

    def survival(self, times: Tensor) -> Tensor:
        """A weighted sum."""
        terms = [part.survival(times) * share for part, share in zip(self.parts, self.shares, strict=True)]
        return reduce(lambda a, b: a + b, terms).minimum(1.0)

    def cdf(self, times: Tensor) -> Tensor:
        """A weighted sum."""
        terms = [part.cdf(times) * share for part, share in zip(self.parts, self.shares, strict=True)]
        return reduce(lambda a, b: a + b, terms).minimum(1.0)

    def quantile(self, log_survival: Tensor) -> Tensor:
        """By a search between those of the parts."""
        return search_quantile(self, log_survival, *self.around(log_survival))

    def around(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        """The first and the last quantile of the parts."""
        ends = [part.around(log_survival) for part in self.parts]
        low = reduce(lambda a, b: a.minimum(b), [end[0] for end in ends])
        return low, reduce(lambda a, b: a.maximum(b), [end[1] for end in ends])


@final
@dataclass(frozen=True, eq=False)
class EarliestCurve(Curve):
    """The earliest of independent times: hazards add up."""

    parts: tuple[Curve, ...]

    @property
    def graph(self) -> Graph:
        """That of the parts."""
        return self.parts[0].graph

    def log_survival(self, times: Tensor) -> Tensor:
        """The sum of the parts'."""
        return reduce(lambda a, b: a + b, [part.log_survival(times) for part in self.parts])

    def survival(self, times: Tensor) -> Tensor:
        """The product of the parts'."""
        return self.log_survival(times).exp()

    def cdf(self, times: Tensor) -> Tensor:
        """What the survival leaves."""
        return -expm1(self.log_survival(times))

    def quantile(self, log_survival: Tensor) -> Tensor:
        """By a search."""
        return search_quantile(self, log_survival, *self.around(log_survival))

    def around(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        """Not after the first of the parts' quantiles; and one part at least has fallen by its share of the fall."""
        count = float(len(self.parts))
        early = [part.around(log_survival / count)[0] for part in self.parts]
        late = [part.around(log_survival)[1] for part in self.parts]
        return reduce(lambda a, b: a.minimum(b), early), reduce(lambda a, b: a.minimum(b), late)
