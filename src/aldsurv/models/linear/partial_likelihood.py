"""Cox's partial log-likelihood with its derivatives, in O(n d²): ties, weights, delayed entry, strata."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.linear.newton import Evaluation

__all__ = ["PartialLikelihood", "RiskSets", "RiskSlopes"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


# Strata are taken together while there are no more of them, nor of rows, than this: their sums are differences of
# running sums, which must not grow so long that the differences lose digits.
_MOST_STRATA, _MOST_ROWS = 64, 4096


@final
@dataclass(frozen=True)
class _Strata:
    """Rows of some strata, each from the last time to the first, and their groups of tied events in that order."""

    # Number of each row in the data.
    number: IntArray
    weight: FloatArray
    # Row of each event, its group, the mean weight in it, and which share of the group's risk is gone before it.
    event: IntArray
    group: IntArray
    group_weight: FloatArray
    gone: FloatArray
    # Of each group: its first event, the first row of its stratum, and how many rows from the very first on have their
    # time, and how many by entry have their entry, then or later.
    first_event: IntArray
    start: IntArray
    lasting: IntArray
    late: IntArray | None
    by_entry: IntArray | None
    # Groups in which each row is at risk: from its own time on, until before its entry.
    begin: IntArray
    end: IntArray
    # First row and number of rows of each stratum.
    first_row: IntArray
    sizes: IntArray


class _Risks(NamedTuple):
    """Of some strata: the value, each row's observed less expected events, the expected ones, risks and their sums."""

    value: float
    residual: FloatArray
    expected: FloatArray
    risk: FloatArray
    left: FloatArray


@final
class RiskSlopes:
    """The partial log-likelihood at a log risk of each row: its value, and derivatives by the log risks.

    Attributes
    ----------
    value
        The partial log-likelihood.
    by_row
        Its derivative by each row's log risk (n,): observed less expected events, 0 for rows of weight 0.
    """

    def __init__(self, parts: list[_Strata], eta: FloatArray) -> None:
        self._parts = parts
        self.by_row = np.zeros(len(eta))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._risks = [_risks(strata, eta[strata.number]) for strata in parts]
        self.value = float(sum(risks.value for risks in self._risks))
        for strata, risks in zip(parts, self._risks, strict=True):
            self.by_row[strata.number] = risks.residual

    def information(self, x: FloatArray) -> FloatArray:
        """Negative matrix of second derivatives (d, d) by coefficients of columns (n, d)."""
        total = np.zeros((x.shape[1], x.shape[1]))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for strata, risks in zip(self._parts, self._risks, strict=True):
                total += _information(strata, risks, x[strata.number])
        return total


@final
class RiskSets:
    """Who is at risk at each event, as far as the times show: all of the partial likelihood except the columns.

    At a time with m tied events of total weight W the sum of the risks R of those at risk, and D of those with the
    event, the partial log-likelihood falls by ``W·log R`` (Breslow), or by ``W/m · Σ log(R - k/m·D)``, k from 0 to m-1
    (Efron).

    Parameters
    ----------
    data
        Exact and right-censored rows; those of weight 0 count as absent.
    ties
        ``"efron"`` or ``"breslow"``.
    strata
        Number of each row's stratum (n,): risk sets are those of a stratum.
    """

    def __init__(self, data: SurvivalData, *, ties: str, strata: NDArray[np.int64] | None = None) -> None:
        present = np.flatnonzero(data.weights > 0)
        codes = np.zeros(present.size, np.int64) if strata is None else strata[present]
        order = np.argsort(codes, kind="stable")
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        parts = [present[part] for part in np.split(order, cuts)]
        exact = data.exact
        self.parts = _joined([_stratum(rows, data[rows], ties) for rows in parts if exact[rows].any()])

    def at(self, eta: FloatArray) -> RiskSlopes:
        """The partial log-likelihood at the rows' log risks (n,)."""
        return RiskSlopes(self.parts, eta)


@final
class PartialLikelihood:
    """The partial log-likelihood as a function of the coefficients of columns (n, d), on scales of about one.

    Other parameters are those of `RiskSets`.
    """

    def __init__(
        self, x: FloatArray, data: SurvivalData, *, ties: str, strata: NDArray[np.int64] | None = None
    ) -> None:
        self._rows, self._columns = x.shape
        parts = RiskSets(data, ties=ties, strata=strata).parts
        self._parts = [(part, x[part.number]) for part in parts]

    def __call__(self, beta: FloatArray) -> Evaluation:
        """Value, gradient and information at `beta`."""
        value, d = 0.0, self._columns
        gradient, information = np.zeros(d), np.zeros((d, d))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for strata, x in self._parts:
                risks = _risks(strata, x @ beta)
                value += risks.value
                gradient += x.T @ risks.residual
                information += _information(strata, risks, x)
        return Evaluation(value, gradient, information)

    def scores(self, beta: FloatArray) -> FloatArray:
        """What each row adds to the gradient (n, d) as a martingale residual: with its weight, 0 for rows without."""
        scores = np.zeros((self._rows, self._columns))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for strata, x in self._parts:
                scores[strata.number] = _scores(strata, _risks(strata, x @ beta), x)
        return scores


def _stratum(rows: IntArray, data: SurvivalData, ties: str) -> _Strata:
    order = np.argsort(-data.time, kind="stable")
    data = data[order]
    # Negative times ascend, as searching wants them.
    minus = -data.time
    event = np.flatnonzero(data.exact)
    minus_times, first_event, group, tied = np.unique(
        minus[event], return_index=True, return_inverse=True, return_counts=True
    )
    gone = np.zeros(event.size)
    if ties == "efron":
        gone = (np.arange(event.size) - first_event[group]) / tied[group]
    late = by_entry = None
    begin, end = np.searchsorted(minus_times, minus, side="left"), np.full(len(data), minus_times.size, np.intp)
    if data.entry is not None:
        by_entry = np.argsort(-data.entry, kind="stable")
        late = np.searchsorted(-data.entry[by_entry], minus_times, side="right")
        end = np.searchsorted(minus_times, -data.entry, side="left")
    return _Strata(
        number=rows[order],
        weight=data.weights,
        event=event,
        group=group,
        group_weight=(np.bincount(group, data.weights[event]) / tied)[group],
        gone=gone,
        first_event=first_event,
        start=np.zeros(minus_times.size, np.intp),
        lasting=np.searchsorted(minus, minus_times, side="right"),
        late=late,
        by_entry=by_entry,
        begin=begin,
        end=end,
        first_row=np.zeros(1, np.intp),
        sizes=np.array([len(data)], np.intp),
    )


def _joined(strata: list[_Strata]) -> list[_Strata]:
    """Small strata put together: thousands of them one by one would be slow."""
    found: list[list[_Strata]] = []
    rows = 0
    for stratum in strata:
        size = stratum.number.size
        if not found or len(found[-1]) == _MOST_STRATA or rows + size > _MOST_ROWS:
            found.append([])
            rows = 0
        found[-1].append(stratum)
        rows += size
    return [part[0] if len(part) == 1 else _concatenated(part) for part in found]


def _concatenated(parts: list[_Strata]) -> _Strata:
    """One after the other, with all numbers of rows, events and groups counted on."""

    def counts(sizes: list[int]) -> list[int]:
        return [0, *np.cumsum(sizes)[:-1].tolist()]

    offsets = {
        "row": counts([part.number.size for part in parts]),
        "event": counts([part.event.size for part in parts]),
        "group": counts([part.first_event.size for part in parts]),
        "none": [0] * len(parts),
    }
    counted = {
        "event": "row", "group": "group", "first_event": "event", "start": "row", "lasting": "row", "late": "row",
        "by_entry": "row", "begin": "group", "end": "group", "first_row": "row",
    }  # fmt: skip
    joined: dict[str, Any] = {}
    for field in fields(_Strata):
        values = [getattr(part, field.name) for part in parts]
        by = offsets[counted.get(field.name, "none")]
        joined[field.name] = (
            None
            if values[0] is None
            else np.concatenate([value + more if more else value for value, more in zip(values, by, strict=True)])
        )
    return _Strata(**joined)


def _risks(rows: _Strata, eta: FloatArray) -> _Risks:
    event, group, gone = rows.event, rows.group, rows.gone
    top = np.maximum.reduceat(eta, rows.first_row)
    risk = rows.weight * np.exp(eta - np.repeat(top, rows.sizes))
    at_risk = _at_risk(rows, risk)
    tied = np.bincount(group, risk[event])
    # Those with the event are at risk: what rounding leaves of a difference is no less.
    at_risk = np.maximum(at_risk, tied)
    left = at_risk[group] - gone * tied[group]
    offset = np.repeat(top, rows.sizes)[event]
    value = float(rows.weight[event] @ eta[event] - rows.group_weight @ (np.log(left) + offset))

    # What each row is expected to have of events: over the groups in which it is at risk.
    share = rows.group_weight / left
    since = _before(np.bincount(group, share)[::-1])[::-1]
    expected = since[rows.begin] - since[rows.end]
    expected[event] -= np.bincount(group, gone * share)[group]
    expected *= risk
    observed = np.zeros(len(eta))
    observed[event] = rows.weight[event]
    return _Risks(value, observed - expected, expected, risk, left)


def _information(rows: _Strata, risks: _Risks, x: FloatArray) -> FloatArray:
    """Negative second derivatives by coefficients of columns (n, d): the variance within risk sets, over events."""
    means = _means(rows, risks, x)
    return np.asarray(x.T @ (risks.expected[:, None] * x) - means.T @ (rows.group_weight[:, None] * means))


def _means(rows: _Strata, risks: _Risks, x: FloatArray) -> FloatArray:
    """The mean columns (events, d) of those at risk at each event, weighted by their risks."""
    risk_x = risks.risk[:, None] * x
    at_risk_x = _at_risk(rows, risk_x)
    tied_x = np.add.reduceat(risk_x[rows.event], rows.first_event)
    return np.asarray((at_risk_x[rows.group] - rows.gone[:, None] * tied_x[rows.group]) / risks.left[:, None])


def _scores(rows: _Strata, risks: _Risks, x: FloatArray) -> FloatArray:
    """Of each row (n, d) ``∫(x - mean(t))·dM(t)``, M its observed less its expected events."""
    means, event, group = _means(rows, risks, x), rows.event, rows.group
    shared = (rows.group_weight / risks.left)[:, None] * means
    since = _before(np.add.reduceat(shared, rows.first_event)[::-1])[::-1]
    expected = since[rows.begin] - since[rows.end]
    expected[event] -= np.add.reduceat(rows.gone[:, None] * shared, rows.first_event)[group]
    scores = risks.residual[:, None] * x + risks.risk[:, None] * expected
    # Tied events have the mean over the steps in which Efron's rule takes them.
    tied = np.bincount(group)[:, None]
    scores[event] -= rows.weight[event, None] * (np.add.reduceat(means, rows.first_event) / tied)[group]
    return np.asarray(scores)


def _at_risk(rows: _Strata, values: FloatArray) -> FloatArray:
    """Sums of values (n, …) over those at risk at each group of tied events."""
    # Summed from the last time on, so that the late, small sums are exact.
    sums = _before(values)
    at_risk = sums[rows.lasting]
    if rows.sizes.size > 1:
        at_risk = at_risk - sums[rows.start]
    if rows.by_entry is not None and rows.late is not None:
        sums = _before(values[rows.by_entry])
        at_risk = at_risk - (sums[rows.late] - sums[rows.start])
    return at_risk


def _before(values: NDArray[Any]) -> FloatArray:
    """Sums of the first 0, 1, …, n values."""
    sums = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=sums[1:])
    return sums
