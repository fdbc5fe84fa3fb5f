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
from aldsurv.distributions.competing.panels import NODES, Panels, integrate_panels
from aldsurv.distributions.wrappers.earliest import Earliest

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.distributions.base import SurvivalDistribution

__all__ = ["CauseHazards"]

FloatArray = NDArray[np.float64]
# Log survivals of the first event around which the first panels end: where probability is, and far into both tails.
_EARLY, _LATE = [1e-12, 1e-9, 1e-6, 1e-4, 1e-3], [0.98, 0.999, 1 - 1e-5, 1 - 1e-8, 1 - 1e-12]
_LEVELS = np.log1p(-np.array([*_EARLY, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, *_LATE]))


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class CauseHazards(CompetingDistribution):
    """Each cause has a hazard of its own, and the first event is that of the earliest: ``dF_k = h_k·S dt``.

    The hazard of cause k is given by a distribution with that hazard: that of the time to an event of the cause, were
    the others noninformative censoring. Survival is exact; incidences are integrals of polynomials through
    the densities, on panels that are halved until they agree with it to about 1e-9, and add up with it to one.

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
        return NODES // 2

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
        edges = self._panels.edges
        value = self._panels.incidence(np.clip(t, edges[:, :1], edges[:, -1:]))
        # Together they are what the survival has lost: rounding, and what lies beyond the last panel, is shared out.
        whole, cdf = value.sum(axis=0), np.asarray(self.overall()._cdf(t))
        even = 1.0 / len(self.parts)
        return np.asarray(np.where(whole > 0, value / np.where(whole > 0, whole, 1.0), even) * cdf)

    @cached_property
    def _panels(self) -> Panels:
        first = self.overall()
        levels = np.broadcast_to(_LEVELS, (len(self), len(_LEVELS)))
        low, high = (np.asarray(times) for times in first._around(levels))
        marks = np.concatenate([low[:, :1], high, np.asarray(first._kinks())], axis=1)
        lower = np.asarray(first._lower()) + np.zeros((len(self), 1))
        finite = np.isfinite(marks)
        earliest = np.min(np.where(finite, marks, np.inf), axis=1, keepdims=True)
        start = np.where(np.isfinite(lower), lower, np.where(np.isfinite(earliest), earliest, 0.0))
        last = np.max(np.where(finite, marks, start), axis=1, keepdims=True)
        marks = np.clip(np.where(finite, marks, last), start, last)
        return integrate_panels(self.parts, np.sort(np.concatenate([start, marks], axis=1), axis=1), lower)

    def _log_densities(self, t: FloatArray) -> FloatArray:
        return np.asarray(self.overall().log_part_densities(t))

    def _scaled(self, factor: FloatArray) -> CauseHazards:
        return self.from_checked(parts=tuple(part._scaled(factor) for part in self.parts), causes=self.causes)
