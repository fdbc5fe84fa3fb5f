"""Competing causes of proportional hazards: incidences that rise at the times of a grid, computed when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.competing.cause_names import checked_causes
from aldsurv.distributions.wrappers.cause_curves import CauseIncidence, CurvesByCause, SummedHazards, SummedIncidences
from aldsurv.distributions.wrappers.cured import Cured
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CauseSpecificHazards", "SubdistributionHazards"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class _GridIncidences(CompetingDistribution):
    """Incidences that rise with the survival of `curves`, at the times of its grid."""

    curves: CurvesByCause
    causes: tuple[str, ...]

    def __repr__(self) -> str:
        grid = self.curves.times.shape[0]
        return f"{type(self).__name__}(n={len(self)}, causes={list(self.causes)}, times={grid})"

    @property
    def _column(self) -> FloatArray:
        return np.asarray(self.curves._column)

    def _map_rows(self, change: Callable[[Any], Any]) -> Self:
        return self.from_checked(curves=self.curves._map_rows(change), causes=self.causes)

    def _join(self, others: Sequence[Self]) -> Self:
        return self.from_checked(curves=self.curves._join([other.curves for other in others]), causes=self.causes)

    def _scaled(self, factor: FloatArray) -> CompetingDistribution:
        if not bool((factor == factor[0]).all()):
            raise ParameterError("factor must be the same for all rows: they share a grid of times.")
        return self.from_checked(curves=self.curves._scaled(factor[:1]), causes=self.causes)

    def overall(self) -> SurvivalDistribution:
        """The distribution of the time to the first event, whatever its cause."""
        return self.curves

    def _incidences(self, t: FloatArray) -> FloatArray:
        return self._incidences_after(self._for_rows(self.curves._count(t, inclusive=True)))

    def _log_densities(self, t: FloatArray) -> FloatArray:
        # As of the time to the first event: that of the linear interpolation.
        count, width = map(self._for_rows, self.curves._stretch(t))
        mass = self._incidences_after(count) - self._incidences_after(count - 1)
        inside = width > 0
        return np.asarray(np.log(np.where(inside, np.maximum(mass, 0.0), 0.0) / np.where(inside, width, 1.0)))

    def _incidences_after(self, count: IntArray) -> FloatArray:
        """Incidence (causes, n, q) after so many times (n, q) of each row's grid."""
        return np.moveaxis(np.asarray(self.curves.incidences_after(count)), -1, 0)

    def _for_rows(self, values: Any) -> Any:
        return np.broadcast_to(values, (len(self), values.shape[1]))


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class CauseSpecificHazards(_GridIncidences):
    """Each cause has a hazard, ``H_k(t)·exp(log risk_k)``, that rises at the times of a grid.

    Survival is ``exp(-Λ(t))``, Λ the sum of the cumulative hazards. What it loses at a time of the grid goes to the
    causes in the proportion of their rises there, so that incidences and survival add up to one by construction. This
    is the product integral of the matrix of hazards, as of R's ``survfit`` for multi-state Cox models.

    Incidences are sums over the grid, made for a few rows at a time; no table of rows × times is kept.

    Parameters
    ----------
    times, log_cumulative, log_risk, sizes, strata
        Grids, cumulative hazards (m, causes) and log risks (n, causes) as in `SummedHazards`.
    causes
        Names of the causes; None: "1", "2", …

    Examples
    --------
    >>> found = CauseSpecificHazards([1.0, 2.0], np.log([[0.1, 0.2], [0.3, 0.2]]), [[0.0, 0.0]], ["death", "relapse"])
    >>> found.incidence([1.0, 2.0]).round(4)[:, 0], found.survival([1.0, 2.0]).round(4)
    (array([[0.0864, 0.2207],
           [0.1728, 0.1728]]), array([[0.7408, 0.6065]]))
    """

    curves: SummedHazards

    def __init__(
        self,
        times: object,
        log_cumulative: Any,
        log_risk: Any,
        causes: Sequence[str] | None = None,
        *,
        sizes: Any = None,
        strata: Any = None,
    ) -> None:
        curves = SummedHazards(times, log_cumulative, log_risk, sizes=sizes, strata=strata)
        object.__setattr__(self, "curves", curves)
        object.__setattr__(self, "causes", checked_causes(causes, curves.log_risk.shape[1]))

    def subdistribution(self, cause: int | str) -> CauseIncidence:
        """The time to an event of one cause, infinite for those who never have it: its cdf is the incidence."""
        return CauseIncidence.from_checked(**vars(self.curves), cause=self._number(cause) - 1)


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class SubdistributionHazards(_GridIncidences):
    """The incidence of each cause is ``share_k·(1 - exp(-H_k(t)·exp(log risk_k)))``, as of Fine & Gray's regression.

    Parameters
    ----------
    times, log_cumulative, log_risk, share, sizes, strata
        Grids, cumulative hazards (m, causes), log risks and shares (n, causes) as in `SummedIncidences`. Without
        shares the incidences of a row must not add up to more than one.
    causes
        Names of the causes; None: "1", "2", …

    Examples
    --------
    >>> found = SubdistributionHazards([1.0, 2.0], np.log([[0.1, 0.2], [0.3, 0.2]]), [[0.0, 0.0]])
    >>> found.incidence([1.0, 2.0]).round(4)[:, 0], found.survival([1.0, 2.0]).round(4)
    (array([[0.0952, 0.2592],
           [0.1813, 0.1813]]), array([[0.7236, 0.5595]]))
    """

    curves: SummedIncidences

    def __init__(
        self,
        times: object,
        log_cumulative: Any,
        log_risk: Any,
        causes: Sequence[str] | None = None,
        *,
        share: Any = None,
        sizes: Any = None,
        strata: Any = None,
    ) -> None:
        curves = SummedIncidences(times, log_cumulative, log_risk, share, sizes=sizes, strata=strata)
        ends = np.broadcast_to(curves._own_size, (len(curves), 1))
        if (curves.incidences_after(ends).sum(axis=-1) > 1 + 1e-9).any():
            raise ParameterError("the incidences of a row must not add up to more than one.", argument="share")
        object.__setattr__(self, "curves", curves)
        object.__setattr__(self, "causes", checked_causes(causes, curves.log_risk.shape[1]))

    def subdistribution(self, cause: int | str) -> SurvivalDistribution:
        """The time to an event of one cause, infinite for those who never have it: its cdf is the incidence."""
        own = slice(self._number(cause) - 1, self._number(cause))
        curves = self.curves
        fields = {name: getattr(curves, name) for name in ("times", "first", "size", "stratum", "level_maps")}
        hazards = ProportionalHazards.from_checked(
            **fields, log_cumulative=curves.log_cumulative[:, own], log_risk=curves.log_risk[:, own]
        )
        share = curves.share[:, own]
        return hazards if bool((share == 1).all()) else Cured(hazards, 1 - share)
