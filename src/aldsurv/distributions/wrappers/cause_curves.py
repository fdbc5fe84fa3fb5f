"""The time to the first event of any cause, or of one, where each cause has proportional hazards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.step import Step
from aldsurv.distributions.numerics.backend import Array, as_like, namespace
from aldsurv.distributions.numerics.log_space import log1mexp
from aldsurv.distributions.wrappers.hazard_checks import checked_hazards
from aldsurv.distributions.wrappers.hazard_curves import TABLE_VALUES, HazardCurves, log_fall
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CauseIncidence", "CurvesByCause", "SummedHazards", "SummedIncidences"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Above it a cumulative hazard leaves a survival of 0; its exponential is still a number.
_MOST_LOG_HAZARD = 600.0


class CurvesByCause(HazardCurves):
    """Curves whose hazards are of causes, each with an incidence."""

    HAZARD_NAME: ClassVar[str] = "causes"

    @abstractmethod
    def incidences_after(self, count: Array) -> Array:
        """Incidence (n, q, causes) after so many times (n, q) of the grid."""


class CauseHazardCurves(CurvesByCause):
    """Curves by a hazard of each cause: survival is ``exp(-Σ H_k(t)·exp(log risk_k))``."""

    def hazard_factors(self) -> list[tuple[Array, Array]]:
        """For each cause a cumulative hazard (m,) and a risk (n, 1), whose product is that of the rows.

        Cause by cause, and without an exponential for each row and time: half of what a survival takes.
        """
        xp, factors = namespace(self.times), []
        for k in range(self.log_risk.shape[1]):
            heights = self.log_cumulative[:, k]
            finite = xp.isfinite(heights)
            top = xp.max(xp.where(finite, heights, xp.full_like(heights, -_MOST_LOG_HAZARD)))
            risk = xp.exp(xp.clip(self.log_risk[:, k : k + 1] + top, None, _MOST_LOG_HAZARD))
            factors.append((xp.exp(heights - top), risk))
        return factors

    def incidences_after(self, count: Array) -> Array:
        """As in the base: sums over the grid, for a few rows at a time."""
        factors = self.hazard_factors()
        answer = np.empty((*count.shape, len(factors)))
        for rows, low, high in self._row_blocks(len(factors) + 1):
            answer[rows] = _incidences(factors, rows, low, high, count[rows])
        return answer

    def _row_blocks(self, tables: int) -> Iterator[tuple[IntArray, int, int]]:
        """Rows of one stratum, as many as small tables hold, and where its grid begins and ends."""
        for stratum, rows in self._rows_by_stratum():
            low = int(self.first[stratum])
            high = low + int(self.size[stratum])
            step = max(1, TABLE_VALUES // ((high - low) * tables))
            for start in range(0, rows.size, step):
                yield rows[start : start + step], low, high


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class SummedHazards(CauseHazardCurves):
    """``S(t) = exp(-Σ H_k(t)·exp(log risk_k))``: cumulative hazards of causes that add up.

    Parameters
    ----------
    times, sizes, strata
        Grids and strata as in `ProportionalHazards`; causes share the grid of a stratum.
    log_cumulative
        Logarithm of each cause's cumulative hazard from each time on (m, causes).
    log_risk
        Of each row and cause (n, causes).

    Examples
    --------
    >>> import numpy as np
    >>> d = SummedHazards([1.0, 2.0], np.log([[0.1, 0.2], [0.3, 0.2]]), [[0.0, 0.0]])
    >>> np.log(d.survival([1.0, 2.0]))
    array([[-0.3, -0.5]])
    """

    def __init__(
        self, times: object, log_cumulative: Any, log_risk: Any, *, sizes: Any = None, strata: Any = None
    ) -> None:
        for name, value in checked_hazards(times, log_cumulative, log_risk, sizes, strata).items():
            object.__setattr__(self, name, value)

    def _log_after(self, count: Array) -> Array:
        """Log survival (n, q) after so many times of the grid."""
        xp, some = namespace(self.times), count > 0
        place = self._own_first + xp.where(some, count - 1, xp.zeros_like(count))
        total: Array = None
        for baseline, risk in self.hazard_factors():
            part = xp.where(some, baseline[place], xp.zeros_like(baseline[:1])) * risk
            total = part if total is None else total + part
        return -total

    def _curve_after(self, count: Array) -> Array:
        return namespace(self.times).exp(self._log_after(count))

    def _hazard_shares(self) -> Array | None:
        # Survivals of several causes are multiplied.
        return namespace(self.times).ones_like(self.log_risk) if self.log_risk.shape[1] == 1 else None

    def _cdf(self, t: Array) -> Array:
        if self._is_changed:
            return super()._cdf(t)
        return -namespace(t).expm1(self._log_after(self._count(t, inclusive=True)))

    def _log_survival(self, t: Array) -> Array:
        return super()._log_survival(t) if self._is_changed else self._log_after(self._count(t, inclusive=True))

    def _log_cdf(self, t: Array) -> Array:
        return super()._log_cdf(t) if self._is_changed else log1mexp(self._log_after(self._count(t, inclusive=True)))

    def _with_scaled_hazard(self, factor: Array) -> SurvivalDistribution:
        if self._is_changed:
            return super()._with_scaled_hazard(factor)
        return self._with(log_risk=self.log_risk + namespace(factor).log(factor))

    def _log_mass(self, count: Array) -> Array:
        if self._is_changed:
            return super()._log_mass(count)
        return log_fall(self._log_after(count - 1), self._log_after(count))


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class CauseIncidence(CauseHazardCurves):
    """``S(t) = 1 - F_k(t)``: the time to an event of one cause, infinite for those who never have it.

    Parameters
    ----------
    cause
        Number of the cause, from 0; all else is as in `SummedHazards`.
    """

    cause: int

    def _join(self, others: Sequence[Self]) -> Self:
        if any(other.cause != self.cause for other in others):
            raise ParameterError("distributions of different causes cannot be joined.")
        return cast("Self", HazardCurves._join(self, others))

    def _curve_after(self, count: Array) -> Array:
        return np.clip(1 - self._incidence_after(count), 0.0, 1.0)

    def _incidence_after(self, count: Array) -> Array:
        return self.incidences_after(np.broadcast_to(count, (len(self), count.shape[1])))[..., self.cause]

    def _cdf(self, t: Array) -> Array:
        return super()._cdf(t) if self._is_changed else self._incidence_after(self._count(t, inclusive=True))

    def _log_cdf(self, t: Array) -> Array:
        return np.log(self._cdf(t))

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        # Each value is a sum over the grid: a search would take many of them.
        return self._by_table(Step._inverse_log_survival, log_survival)


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class SummedIncidences(CurvesByCause):
    """``S(t) = 1 - Σ share_k·(1 - exp(-H_k(t)·exp(log risk_k)))``: incidences of causes that add up.

    Parameters
    ----------
    times, log_cumulative, log_risk, sizes, strata
        As in `SummedHazards`, of the subdistributions of the causes.
    share
        What each row's incidence of each cause is multiplied by (n, causes), from 0 to 1; None: one.

    Examples
    --------
    >>> import numpy as np
    >>> d = SummedIncidences([1.0, 2.0], np.log([[0.1, 0.2], [0.3, 0.2]]), [[0.0, 0.0]])
    >>> d.survival([1.0, 2.0]).round(4)
    array([[0.7236, 0.5595]])
    """

    share: Array

    ROW_FIELDS: ClassVar[tuple[str, ...]] = ("log_risk", "stratum", "share")

    def __init__(
        self,
        times: object,
        log_cumulative: Any,
        log_risk: Any,
        share: Any = None,
        *,
        sizes: Any = None,
        strata: Any = None,
    ) -> None:
        fields = checked_hazards(times, log_cumulative, log_risk, sizes, strata)
        risk, xp = fields["log_risk"], namespace(fields["log_risk"])
        shares = xp.ones_like(risk) if share is None else as_like(share, risk)
        if shares.shape != risk.shape or not bool(xp.all((shares >= 0) & (shares <= 1))):
            raise ParameterError(f"share must be numbers from 0 to 1 of shape {tuple(risk.shape)}.", argument="share")
        for name, value in {**fields, "share": shares}.items():
            object.__setattr__(self, name, value)

    def incidences_after(self, count: Array) -> Array:
        """As in the base."""
        return -self.share[:, None, :] * namespace(self.times).expm1(self._log_survivals(count))

    def _hazard_shares(self) -> Array | None:
        return self.share

    def _curve_after(self, count: Array) -> Array:
        xp = namespace(self.times)
        # Shares were chosen so that no more than one is lost: what rounding takes beyond is none.
        return xp.clip(1 - xp.sum(self.incidences_after(count), axis=-1), 0.0, 1.0)


def _incidences(
    factors: Sequence[tuple[FloatArray, FloatArray]], rows: IntArray, low: int, high: int, count: IntArray
) -> FloatArray:
    """Incidence (rows, q, causes) of rows of one stratum after so many times (rows, q) of its grid.

    What survival loses at a time goes to the causes in the proportion of their rises there.
    """
    factors = [(baseline[low:high], risk[rows]) for baseline, risk in factors]
    survival = np.zeros((rows.size, high - low + 1))
    for baseline, risk in factors:
        survival[:, 1:] -= risk * baseline
    np.exp(survival, out=survival)
    lost = survival[:, :-1] - survival[:, 1:]
    rises = [np.diff(baseline, prepend=0.0) for baseline, _ in factors]
    tied = np.flatnonzero(np.sum([rise > 0 for rise in rises], axis=0) > 1)
    # Where hazards of several causes rise at once, each has its share of what is lost.
    joint = [risk * rise[tied] for rise, (_, risk) in zip(rises, factors, strict=True)]
    total = np.sum(joint, axis=0)
    # Sums end where they are asked for.
    ends = np.unique(count)
    answer = np.empty((*count.shape, len(factors)))
    for k, rise in enumerate(rises):
        own = lost[:, rise > 0]
        at_tie = np.searchsorted(np.flatnonzero(rise > 0), tied)
        shared = rise[tied] > 0
        share = np.divide(joint[k], total, out=np.full_like(total, 1 / len(rises)), where=total > 0)
        own[:, at_tie[shared]] *= share[:, shared]
        sums = _sums_to(own, np.append(0, np.cumsum(rise > 0))[ends])
        answer[..., k] = np.take_along_axis(sums, np.searchsorted(ends, count), axis=1)
    # Sums of many small numbers lose digits: together they are what the survival has lost.
    whole = answer.sum(axis=-1)
    gone = 1 - np.take_along_axis(survival, count, axis=1)
    return np.asarray(answer * np.divide(gone, whole, out=np.ones_like(whole), where=whole > 0)[..., None])


def _sums_to(values: FloatArray, ends: IntArray) -> FloatArray:
    """Sums (n, q) of the first so many values (n, m), for ascending ends (q,)."""
    sums = np.zeros((len(values), ends.size))
    starts = np.append(0, ends[:-1])
    # An empty stretch would be taken as its first value.
    some = np.flatnonzero(ends > starts)
    if some.size:
        sums[:, some] = np.add.reduceat(values[:, : ends[-1]], starts[some], axis=1)
    return np.cumsum(sums, axis=1, out=sums)
