"""Fine & Gray's weighted partial likelihood of the incidence of one cause, in O(n d²) after one sort.

Who has had an event of another cause at T stays at risk, at time t with the weight ``G(t-)/G(T-)``: the chance not to
be censored in between, by the Kaplan-Meier estimate G of the censoring times.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.linear.newton import Evaluation
from aldsurv.nonparametric.breslow import BaselineHazard
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["SubdistributionRows"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class _Risks(NamedTuple):
    """Of each row its risk, and of each event time the sum over those at risk, all divided by ``exp(top)``."""

    risk: FloatArray
    total: FloatArray
    top: float


@final
class SubdistributionRows:
    """Who counts how much at each event of a cause: all of the likelihood except the columns.

    With tied events all share one risk set (Breslow's rule).

    Parameters
    ----------
    data
        Exact and right-censored rows with causes, without delayed entry; those of weight 0 count as absent.
    number
        Number of the cause.
    """

    def __init__(self, data: SurvivalData, number: int) -> None:
        present = np.flatnonzero(data.weights > 0)
        order = present[np.argsort(data.time[present], kind="stable")]
        rows = data[order]
        cause = rows.exact.astype(np.int64) if rows.cause is None else rows.cause
        self.number, self.size = order, len(data)
        self._time, self._weight = rows.time, rows.weights
        self._event = np.flatnonzero(cause == number)
        self._other = np.flatnonzero((cause > 0) & (cause != number))
        self._lost = np.flatnonzero(cause == 0)
        self.times, self._group = np.unique(self._time[self._event], return_inverse=True)
        self._events = np.bincount(self._group, self._weight[self._event])
        # All who are still there at a time are at risk of censoring at it, those with an event at it, too.
        censoring = kaplan_meier(SurvivalData.right(self._time, cause == 0, weight=rows.weight))
        self._uncensored = censoring.survival_before(self.times)
        self._own = censoring.survival_before(self._time[self._other])
        # How many rows come before each event time, and how many event times up to each row.
        self._before = np.searchsorted(self._time, self.times, side="left")
        self._passed = np.searchsorted(self.times, self._time, side="right")

    @property
    def n_events(self) -> int:
        """Number of events of the cause."""
        return int(self._event.size)

    @property
    def total_events(self) -> float:
        """The sum of their weights."""
        return float(self._events.sum())

    def evaluate(self, x: FloatArray, beta: FloatArray) -> Evaluation:
        """Value, gradient and information for coefficients of columns (n, d) of the rows."""
        x = x[self.number]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            eta = x @ beta
            risks = self._risks(eta)
            share = self._events / risks.total
            value = self._weight[self._event] @ eta[self._event] - self._events @ (np.log(risks.total) + risks.top)
            expected = risks.risk * self._over_risk_sets(share)
            observed = np.zeros(len(eta))
            observed[self._event] = self._weight[self._event]
            means = self._means(x, risks)
            information = x.T @ (expected[:, None] * x) - means.T @ (self._events[:, None] * means)
            return Evaluation(float(value), x.T @ (observed - expected), np.asarray(information))

    def scores(self, x: FloatArray, beta: FloatArray) -> FloatArray:
        """What each row adds to the gradient (n, d), by its events and by its information on the censoring."""
        x = x[self.number]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            risks = self._risks(x @ beta)
            share, means = self._events / risks.total, self._means(x, risks)
            expected = self._over_risk_sets(share)[:, None] * x - self._over_risk_sets(share[:, None] * means)
            scores = -risks.risk[:, None] * expected
            scores[self._event] += self._weight[self._event, None] * (x[self._event] - means[self._group])
            scores += self._censoring_scores(x, risks, share, means)
        placed = np.zeros((self.size, x.shape[1]))
        placed[self.number] = scores
        return placed

    def baseline(self, eta: FloatArray) -> BaselineHazard:
        """Cumulative hazard of the subdistribution of a row of log risk 0, by those of all rows (n,)."""
        risks = self._risks(eta[self.number])
        return BaselineHazard(self.times, np.log(np.cumsum(self._events / risks.total)) - risks.top)

    def _risks(self, eta: FloatArray) -> _Risks:
        top = float(eta.max())
        risk = self._weight * np.exp(eta - top)
        return _Risks(risk, self._at_risk(risk), top)

    def _at_risk(self, values: FloatArray) -> FloatArray:
        """Sums of values (n, …), times the weights of rows, over those at risk at each event time."""
        still = _sums_before(values[::-1])[::-1][self._before]
        gone = np.zeros_like(values)
        gone[self._other] = (values[self._other].T / self._own).T
        return np.asarray(still + (_sums_before(gone)[self._before].T * self._uncensored).T)

    def _means(self, x: FloatArray, risks: _Risks) -> FloatArray:
        """The mean columns (events, d) of those at risk at each event time, by their risks."""
        return np.asarray(self._at_risk(risks.risk[:, None] * x) / risks.total[:, None])

    def _over_risk_sets(self, values: FloatArray) -> FloatArray:
        """Sums of values (events, …), times the weight of each row, over the event times at which it is at risk."""
        sums = _sums_before(values)[self._passed]
        later = self._later(values)
        sums[self._other] += (later[self._passed[self._other]].T / self._own).T
        return sums

    def _later(self, values: FloatArray) -> FloatArray:
        """Sums of G times values over the event times from each on, and 0."""
        return _sums_before((values.T * self._uncensored).T[::-1])[::-1]

    def _censoring_scores(self, x: FloatArray, risks: _Risks, share: FloatArray, means: FloatArray) -> FloatArray:
        """How each row moves the gradient by moving G: its own censoring less what was expected of it.

        At a censoring at u, G falls from u on, so that all who had another event before count less at events of the
        cause from then on; ties of the two are counted as Fine & Gray's paper and cmprsk do.
        """
        leaving, places = np.unique(self._time[self._lost], return_inverse=True)
        scores = np.zeros(x.shape)
        if not leaving.size or not self._other.size:
            return scores
        weighted = (risks.risk[self._other] / self._own)[:, None]
        columns = np.concatenate([np.ones((self._other.size, 1)), x[self._other]], axis=1)
        earlier = _sums_before(weighted * columns)[np.searchsorted(self._time[self._other], leaving, side="left")]
        after = np.searchsorted(self.times, leaving, side="left")
        rates, moments = self._later(share)[after], self._later(share[:, None] * means)[after]
        moved = earlier[:, 1:] * rates[:, None] - earlier[:, :1] * moments
        at_risk = _sums_before(self._weight[::-1])[::-1][np.searchsorted(self._time, leaving, side="left")]
        moved /= at_risk[:, None]
        hazard = np.bincount(places, self._weight[self._lost]) / at_risk
        expected = _sums_before(moved * hazard[:, None])[np.searchsorted(leaving, self._time, side="right")]
        scores -= expected
        scores[self._lost] += moved[places]
        return np.asarray(self._weight[:, None] * scores)


def _sums_before(values: FloatArray) -> FloatArray:
    """Sums of the first 0, 1, …, n values."""
    sums = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=sums[1:])
    return sums
