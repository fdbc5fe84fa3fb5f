"""Competing causes by a hazard for each cause: incidences by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.competing.cause_names import checked_causes
from aldsurv.distributions.numerics.sorted_rows import count_below
from aldsurv.distributions.wrappers.earliest import Earliest

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.distributions.base import SurvivalDistribution

__all__ = ["CauseHazards"]

FloatArray = NDArray[np.float64]
# Gauss's nodes and weights on a panel (0, 1).
_NODES, _WEIGHTS = ((x + 1) / 2 if k == 0 else x / 2 for k, x in enumerate(np.polynomial.legendre.leggauss(6)))
# Log survivals of the first event at which panels end: dense where probability is, and far into both tails.
_EARLY, _LATE = [1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3], [0.995, 0.999, 1 - 1e-5, 1 - 1e-8]
_LEVELS = np.log1p(-np.concatenate([_EARLY, np.arange(0.01, 1.0, 0.03), _LATE]))


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class CauseHazards(CompetingDistribution):
    """Each cause has a hazard of its own, and the first event is that of the earliest: ``dF_k = h_k·S dt``.

    The hazard of cause k is given by a distribution with that hazard: that of the time to an event of the cause, were
    the others censoring that tells nothing. Survival is exact; incidences come from Gauss's quadrature, whose panels
    end at quantiles of the first event, and are made to add up with it to one.

    Parameters
    ----------
    parts
        For each cause a distribution with its hazard.
    causes
        Names of the causes; None: "1", "2", …

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> d = CauseHazards([Exponential([2.0]), Exponential([6.0])], ["relapse", "death"])
    >>> d.cause_probability().round(6)[:, 0]
    array([0.75, 0.25])
    """

    parts: tuple[SurvivalDistribution, ...]
    causes: tuple[str, ...]

    def __init__(self, parts: Sequence[SurvivalDistribution], causes: Sequence[str] | None = None) -> None:
        object.__setattr__(self, "parts", Earliest(parts).parts)
        object.__setattr__(self, "causes", checked_causes(causes, len(self.parts)))

    @property
    def _column(self) -> FloatArray:
        return np.asarray(self.parts[0]._column)

    @property
    def _block_cost(self) -> int:
        return 4 * len(_LEVELS) * len(_NODES)

    def _map_rows(self, change: Callable[[FloatArray], FloatArray]) -> Self:
        return self.from_checked(parts=tuple(part._map_rows(change) for part in self.parts), causes=self.causes)

    def _join(self, others: Sequence[Self]) -> Self:
        joined = Earliest(self.parts)._join([Earliest(other.parts) for other in others])
        return self.from_checked(parts=joined.parts, causes=self.causes)

    def overall(self) -> Earliest:
        """The earliest of the parts."""
        return Earliest.from_checked(parts=self.parts)

    def _incidences(self, t: FloatArray) -> FloatArray:
        first = self.overall()
        t = np.broadcast_to(t, (len(self), t.shape[1]))
        edges, place = self._panel_edges(first, t)
        width = np.diff(edges, axis=1)
        nodes = edges[:, :-1, None] + width[..., None] * _NODES
        flat = nodes.reshape(len(self), -1)
        slopes = np.exp(first.log_part_densities(flat)).reshape(len(self.parts), *nodes.shape)
        mass = np.where(np.isfinite(slopes), slopes, 0.0) @ _WEIGHTS * width
        # The parts of each panel are shares of what the survival loses over it, which is known exactly.
        lost = np.maximum(-np.diff(np.asarray(first._survival(edges)), axis=1), 0.0)
        total = mass.sum(axis=0)
        even = 1.0 / len(self.parts)
        share = np.where(total > 0, mass / np.where(total > 0, total, 1.0), even)
        grown = np.cumsum(share * lost, axis=2)
        grown = np.concatenate([np.zeros((*grown.shape[:2], 1)), grown], axis=2)
        value = np.take_along_axis(grown, np.broadcast_to(place, (len(self.parts), *place.shape)), axis=2)
        # What the cumulated differences lose by rounding goes to the causes in proportion.
        whole, cdf = value.sum(axis=0), np.asarray(first._cdf(t))
        return np.asarray(np.where(whole > 0, value / np.where(whole > 0, whole, 1.0), even) * cdf)

    def _panel_edges(self, first: Earliest, t: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
        """Ends of panels (n, panels + 1), ascending, and which of them is each time (n, m)."""
        levels = np.broadcast_to(_LEVELS, (len(self), len(_LEVELS)))
        quantiles = np.asarray(first._inverse_log_survival(levels))
        marks = np.concatenate([quantiles, np.asarray(first._kinks())], axis=1)
        lower = np.asarray(first._lower()) + np.zeros((len(self), 1))
        start = np.where(np.isfinite(lower), lower, marks.min(axis=1, keepdims=True))
        # Beyond the last quantile so little is left that the shares of the last panel may be those of all that follows.
        furthest = np.max(np.where(np.isfinite(marks), marks, -math.inf), axis=1, keepdims=True)
        furthest = np.maximum(furthest, start)
        marks = np.clip(np.where(np.isfinite(marks), marks, furthest), start, furthest)
        inside = np.clip(t, start, np.maximum(furthest, np.where(np.isfinite(t), t, furthest)))
        edges = np.sort(np.concatenate([start, marks, inside], axis=1), axis=1)
        return edges, np.asarray(count_below(edges, inside, inclusive=True)) - 1

    def _log_densities(self, t: FloatArray) -> FloatArray:
        return np.asarray(self.overall().log_part_densities(t))

    def _scaled(self, factor: FloatArray) -> CauseHazards:
        return self.from_checked(parts=tuple(part._scaled(factor) for part in self.parts), causes=self.causes)
