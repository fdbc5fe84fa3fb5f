"""Competing causes by a hazard for each cause: incidences by quadrature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.competing.cause_names import checked_causes
from aldsurv.distributions.numerics.sorted_rows import count_below, pick
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
        return 2 * len(_NODES)

    def _map_rows(self, change: Callable[[FloatArray], FloatArray]) -> Self:
        return self.from_checked(parts=tuple(part._map_rows(change) for part in self.parts), causes=self.causes)

    def _join(self, others: Sequence[Self]) -> Self:
        joined = Earliest(self.parts)._join([Earliest(other.parts) for other in others])
        return self.from_checked(parts=joined.parts, causes=self.causes)

    def overall(self) -> Earliest:
        """The earliest of the parts."""
        return Earliest.from_checked(parts=self.parts)

    def _incidences(self, t: FloatArray) -> FloatArray:
        t = np.broadcast_to(t, (len(self), t.shape[1]))
        edges, grown = self._panels
        inside = np.clip(t, edges[:, :1], np.where(np.isfinite(t), t, edges[:, -1:]))
        panel = np.asarray(count_below(edges, inside, inclusive=True)) - 1
        start = np.take_along_axis(edges, panel, axis=1)
        value = np.stack([pick(own, panel) for own in grown]) + self._gains(start, inside)
        # Together they are what the survival has lost: rounding, and what lies beyond the last panel, is shared out.
        whole, cdf = value.sum(axis=0), np.asarray(self.overall()._cdf(t))
        even = 1.0 / len(self.parts)
        return np.asarray(np.where(whole > 0, value / np.where(whole > 0, whole, 1.0), even) * cdf)

    @cached_property
    def _panels(self) -> tuple[FloatArray, FloatArray]:
        """Ends of panels (n, panels + 1), ascending, and incidences (causes, n, panels + 1) there."""
        first = self.overall()
        levels = np.broadcast_to(_LEVELS, (len(self), len(_LEVELS)))
        marks = np.concatenate([first._inverse_log_survival(levels), first._kinks()], axis=1)
        lower = np.asarray(first._lower()) + np.zeros((len(self), 1))
        start = np.where(np.isfinite(lower), lower, marks.min(axis=1, keepdims=True))
        last = np.max(np.where(np.isfinite(marks), marks, start), axis=1, keepdims=True)
        marks = np.clip(np.where(np.isfinite(marks), marks, last), start, last)
        edges = np.sort(np.concatenate([start, marks], axis=1), axis=1)
        gains = self._gains(edges[:, :-1], edges[:, 1:])
        none = np.zeros((len(self.parts), len(self), 1))
        return edges, np.concatenate([none, np.cumsum(gains, axis=2)], axis=2)

    def _gains(self, start: FloatArray, stop: FloatArray) -> FloatArray:
        """Incidence (causes, n, m) of each cause from start to stop, both (n, m): shares of what survival loses."""
        first, width = self.overall(), stop - start
        nodes = start[..., None] + width[..., None] * _NODES
        slopes = np.exp(first.log_part_densities(nodes.reshape(len(self), -1)))
        slopes = slopes.reshape(len(self.parts), *nodes.shape)
        mass = np.where(np.isfinite(slopes), slopes, 0.0) @ _WEIGHTS
        total = mass.sum(axis=0)
        share = np.where(total > 0, mass / np.where(total > 0, total, 1.0), 1.0 / len(self.parts))
        both = np.asarray(first._survival(np.concatenate([start, stop], axis=1)))
        return np.asarray(share * np.maximum(both[:, : start.shape[1]] - both[:, start.shape[1] :], 0.0))

    def _log_densities(self, t: FloatArray) -> FloatArray:
        return np.asarray(self.overall().log_part_densities(t))

    def _scaled(self, factor: FloatArray) -> CauseHazards:
        return self.from_checked(parts=tuple(part._scaled(factor) for part in self.parts), causes=self.causes)
