"""The baseline of proportional hazards: Breslow's and Efron's estimates, with delayed entry, weights and strata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Choice, check, listed
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.errors import DataError, ParameterError
from aldsurv.quoting import quoted

__all__ = ["BaselineHazard", "StratifiedBaseline", "Ties", "baseline_hazard"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Ties = Literal["efron", "breslow"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class BaselineHazard:
    """Cumulative hazard ``H0`` of a subject whose log risk is 0: that of any other is ``H0(t)·exp(log risk)``.

    It is kept as a logarithm, since the risks of a network may have any size: only the sum with a log risk counts.
    The arrays are read-only.

    Parameters
    ----------
    times
        Distinct times of events (m,), ascending. Data without events have their last time alone, and no hazard.
    log_cumulative
        Logarithm of ``H0`` from each time on (m,).

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 2, 4, 5], [1, 1, 0, 1, 0])
    >>> baseline = baseline_hazard(data, np.zeros(5))
    >>> baseline.times, baseline.cumulative
    (array([1., 2., 4.]), array([0.2 , 0.45, 0.95]))
    >>> baseline.distribution([0.0, np.log(2)]).survival([2.0]).round(3)
    array([[0.638],
           [0.407]])
    """

    times: FloatArray
    log_cumulative: FloatArray

    def __post_init__(self) -> None:
        for array in vars(self).values():
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"BaselineHazard({self.times.size} times)"

    @property
    def cumulative(self) -> FloatArray:
        """``H0`` from each time on (m,)."""
        return _exp(self.log_cumulative)

    def log_cumulative_at(self, times: ArrayLike) -> FloatArray:
        """Logarithm of ``H0`` at any times, of their shape: -inf before the first event, held after the last."""
        index = np.searchsorted(self.times, np.asarray(times, np.float64), side="right")
        return np.concatenate([[-np.inf], self.log_cumulative])[index]

    def distribution(self, log_risk: ArrayLike) -> ProportionalHazards:
        """For each log risk (n,) the distribution ``S(t) = exp(-H0(t)·exp(log risk))``; its last value is held."""
        return ProportionalHazards(self.times, self.log_cumulative, _checked_risks(log_risk, None))


@final
@dataclass(frozen=True, eq=False, repr=False)
class StratifiedBaseline:
    """A separate baseline for each stratum.

    Parameters
    ----------
    levels
        Values (k,) that name the strata, ascending.
    baselines
        One baseline per level.
    """

    levels: NDArray[Any]
    baselines: tuple[BaselineHazard, ...]

    def __repr__(self) -> str:
        return f"StratifiedBaseline({self.levels.size} strata)"

    @property
    def times(self) -> FloatArray:
        """Distinct times of events in any stratum, ascending."""
        return np.unique(np.concatenate([baseline.times for baseline in self.baselines]))

    def log_cumulative_at(self, times: ArrayLike) -> FloatArray:
        """Logarithm of each stratum's ``H0`` at a grid of times (k, m)."""
        return np.stack([baseline.log_cumulative_at(times) for baseline in self.baselines])

    def distribution(self, log_risk: ArrayLike, strata: ArrayLike) -> ProportionalHazards:
        """As that of `BaselineHazard`, each row (n,) by the baseline of its stratum."""
        risks = _checked_risks(log_risk, None)
        codes = self.codes(strata)
        if codes.shape != risks.shape:
            raise ParameterError(
                f"strata must be one value per row ({risks.size},), but have shape {codes.shape}.", argument="strata"
            )
        return ProportionalHazards(
            np.concatenate([baseline.times for baseline in self.baselines]),
            np.concatenate([baseline.log_cumulative for baseline in self.baselines]),
            risks,
            sizes=[baseline.times.size for baseline in self.baselines],
            strata=codes,
        )

    def codes(self, strata: ArrayLike) -> IntArray:
        """Number of each value's level (n,); an unknown one is an error."""
        number = {level: k for k, level in enumerate(self.levels.tolist())}
        values = np.asarray(strata)
        codes = np.array([number.get(value, -1) for value in values.ravel().tolist()], np.intp).reshape(values.shape)
        if (codes < 0).any():
            raise DataError(
                f"stratum {quoted(values[codes < 0].tolist()[0])} was not in the training data, so it has no baseline "
                f"hazard. Known are: {listed(self.levels.tolist(), 20)}.",
                argument="strata",
            )
        return codes


@overload
def baseline_hazard(
    data: SurvivalData, log_risk: ArrayLike, *, ties: Ties = "efron", strata: None = None
) -> BaselineHazard: ...
@overload
def baseline_hazard(
    data: SurvivalData, log_risk: ArrayLike, *, ties: Ties = "efron", strata: ArrayLike
) -> StratifiedBaseline: ...
def baseline_hazard(
    data: SurvivalData, log_risk: ArrayLike, *, ties: Ties = "efron", strata: ArrayLike | None = None
) -> BaselineHazard | StratifiedBaseline:
    """Cumulative baseline hazard from exact and right-censored rows, given the logarithm of each row's risk.

    At a time with events of the total weight ``d`` Breslow's estimate rises by ``d/R``, R the sum of weight times risk
    of those at risk. Efron's takes the tied events as one after the other: of the k-th of m only the share
    ``1 - k/m`` of the risk of the tied is still there.

    Parameters
    ----------
    data
        Delayed entry and weights count: a subject is at risk in ``(entry, time]``; a row of weight 0 counts as
        absent.
    log_risk
        Log risk of each row (n,), finite, of any size.
    ties
        ``"efron"`` or ``"breslow"``; the same where no two events share a time.
    strata
        Stratum of each row (n,): numbers or text. Risk sets are then those of a stratum, and each has its baseline.
    """
    rows = SurvivalData.of(data)
    risks = _checked_risks(log_risk, len(rows))
    check("ties", ties, Choice(("efron", "breslow")))
    present = np.flatnonzero(rows.weights > 0)
    if present.size == 0:
        raise DataError(
            "a baseline hazard needs at least one row of positive weight, but the data have none.", argument="data"
        )
    _ = rows.time  # raises for rows that are neither exact nor right-censored
    if strata is None:
        return _baseline(rows[present], risks[present], ties)
    values = np.asarray(strata)
    if values.shape != risks.shape:
        raise ParameterError(
            f"strata must be one value per row ({risks.size},), but have shape {values.shape}.", argument="strata"
        )
    try:
        levels, codes = np.unique(values[present], return_inverse=True)
    except TypeError:
        raise ParameterError(
            "strata must be all numbers or all text, but both are among them.", argument="strata"
        ) from None
    if levels.dtype.kind == "f" and np.isnan(levels[-1]):
        raise ParameterError(
            "strata must not be NaN.", argument="strata", advice="Give rows without a stratum a separate level."
        )
    by_level = np.argsort(codes, kind="stable")
    parts = np.split(present[by_level], np.cumsum(np.bincount(codes))[:-1])
    return StratifiedBaseline(levels, tuple(_baseline(rows[part], risks[part], ties) for part in parts))


def _baseline(data: SurvivalData, log_risk: FloatArray, ties: Ties) -> BaselineHazard:
    """The estimate from rows of one stratum, all of positive weight."""
    deaths = np.flatnonzero(data.event)
    if deaths.size == 0:
        return BaselineHazard(data.time.max(keepdims=True), np.array([-np.inf]))
    weighted = log_risk + np.log(data.weights)
    times, group, tied = np.unique(data.time[deaths], return_inverse=True, return_counts=True)
    at_risk = _log_at_risk(data, weighted, times)
    rise = np.asarray(np.bincount(group, data.weights[deaths]), np.float64)
    if ties == "efron" and deaths.size > times.size:
        share = np.bincount(group, np.exp(weighted[deaths] - at_risk[group]))
        # Each group's events in any order: the k-th of m stands before 1 - k/m of the group's risk.
        first = np.cumsum(tied) - tied
        of_group = np.repeat(np.arange(times.size), tied)
        gone = (np.arange(deaths.size) - first[of_group]) / tied[of_group]
        rise = rise * np.bincount(of_group, 1 / (1 - gone * share[of_group])) / tied
    return BaselineHazard(times, np.logaddexp.accumulate(np.log(rise) - at_risk))


def _log_at_risk(data: SurvivalData, weighted: FloatArray, times: FloatArray) -> FloatArray:
    """Logarithm of the sum of exp(weighted) over those at risk at each time."""
    if data.entry is None:
        order = np.argsort(data.time)
        # From the last on, so that the late, small sums are exact.
        sums = np.logaddexp.accumulate(weighted[order][::-1])[::-1]
        return np.asarray(sums[np.searchsorted(data.time[order], times, side="left")])
    first = np.searchsorted(times, data.entry, side="right")
    last = np.searchsorted(times, data.time, side="right")
    return _log_sums_over(first, last, weighted, times.size)


def _log_sums_over(first: IntArray, last: IntArray, values: FloatArray, points: int) -> FloatArray:
    """Logarithm of the sum of exp(values) over the ranges ``first <= k < last`` that hold each point k.

    With delayed entry a risk set is the rows that have entered less those that have left. That difference would drown
    in rounding where the risks differ much; a tree of ranges, each cut into the few nodes that cover it, needs only
    sums.
    """
    leaves = 1 << (points - 1).bit_length()
    tree = np.full(2 * leaves, -np.inf)
    low, high = first + leaves, last + leaves
    while low.size:
        inside = low < high
        low, high, values = low[inside], high[inside], values[inside]
        odd = low & 1 == 1
        np.logaddexp.at(tree, low[odd], values[odd])
        low = (low + 1) >> 1
        odd = high & 1 == 1
        np.logaddexp.at(tree, high[odd] - 1, values[odd])
        high = high >> 1
    width = 1
    while width < leaves:
        below = tree[2 * width : 4 * width]
        np.logaddexp(below, np.repeat(tree[width : 2 * width], 2), out=below)
        width *= 2
    return tree[leaves : leaves + points]


def _checked_risks(log_risk: ArrayLike, n: int | None) -> FloatArray:
    try:
        risks = np.asarray(log_risk, np.float64)
    except (TypeError, ValueError):
        problem = f"log_risk must be numbers, but {quoted(log_risk, 60)} was given."
        raise ParameterError(problem, argument="log_risk") from None
    if risks.ndim != 1 or (n is not None and risks.size != n):
        rows = "n" if n is None else str(n)
        problem = f"log_risk must be one number per row ({rows},), but has shape {risks.shape}."
        raise ParameterError(problem, argument="log_risk")
    if not np.isfinite(risks).all():
        row = int(np.flatnonzero(~np.isfinite(risks))[0])
        raise ParameterError(f"log_risk must be finite, but is {risks[row]}", argument="log_risk", row=row)
    return risks


def _exp(values: FloatArray) -> FloatArray:
    """Exponential that overflows to infinity without a warning: survival is then 0, as it should be."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))
