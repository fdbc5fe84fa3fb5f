"""Decision curves: what treating those at high predicted risk is worth, under censoring and with causes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Number, check
from aldsurv.data.group_column import group_numbers
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.cause_of_interest import Cause, event_of_interest
from aldsurv.metrics.checked_arguments import (
    FloatArray,
    Prediction,
    as_numbers,
    matched_data,
    number_column,
    person_rows,
    undefined,
    without_delayed_entry,
)
from aldsurv.metrics.decision.incidence_influence import CENSORED, OF_INTEREST, OF_OTHER, incidence_influence
from aldsurv.metrics.evaluation_times import checked_time
from aldsurv.quoting import quoted

__all__ = ["DecisionCurve", "NetBenefit", "decision_curve", "net_benefit"]


class NetBenefit(NamedTuple):
    """A quantity at each threshold (m,) with its confidence limits (m,) each."""

    value: FloatArray
    lower: FloatArray
    upper: FloatArray


@final
@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve:
    """Net benefit of a prediction over thresholds, beside that of treating all and of treating none.

    Attributes
    ----------
    time
        By when the event comes.
    thresholds
        Predicted probabilities (m,) from which on a person is treated, ascending.
    model, treat_all
        Net benefit of treating those at or above each threshold, and of treating all.
    gain
        Net benefit of the model less that of treating all, with limits of the difference.
    treated
        Share of the rows at or above each threshold (m,).
    observed
        Estimated probability of the event by `time` among them (m,); NaN where no one is treated.
    level
        Confidence of the limits.
    """

    time: float
    thresholds: FloatArray
    model: NetBenefit
    treat_all: NetBenefit
    gain: NetBenefit
    treated: FloatArray
    observed: FloatArray
    level: float

    @property
    def treat_none(self) -> FloatArray:
        """Net benefit of treating no one (m,): 0."""
        return np.zeros(self.thresholds.shape)

    @property
    def interventions_avoided(self) -> NetBenefit:
        """Treatments fewer per person than if all were treated, with no person with an event left untreated.

        The gain over treating all, counted in untreated persons without the event: divided by the odds of the
        threshold. NaN at the threshold 0.
        """
        odds = self.thresholds / (1 - self.thresholds)
        odds = np.where(odds > 0, odds, np.nan)
        return NetBenefit(*(part / odds for part in self.gain))

    @property
    def is_best(self) -> NDArray[np.bool_]:
        """At which thresholds (m,) the prediction is worth more than both treating all and treating none."""
        return np.asarray((self.gain.value > 0) & (self.model.value > 0))

    def table(self) -> dict[str, FloatArray]:
        """Columns, one row per threshold."""
        avoided = self.interventions_avoided
        return {
            "threshold": self.thresholds,
            "treated": self.treated,
            "observed": self.observed,
            "net_benefit": self.model.value,
            "lower": self.model.lower,
            "upper": self.model.upper,
            "treat_all": self.treat_all.value,
            "treat_all_lower": self.treat_all.lower,
            "treat_all_upper": self.treat_all.upper,
            "gain": self.gain.value,
            "gain_lower": self.gain.lower,
            "gain_upper": self.gain.upper,
            "interventions_avoided": avoided.value,
            "interventions_avoided_lower": avoided.lower,
            "interventions_avoided_upper": avoided.upper,
        }

    def __repr__(self) -> str:
        ends = f"{self.thresholds[0]:g} to {self.thresholds[-1]:g}"
        return f"DecisionCurve(time={self.time:g}, {self.thresholds.size} thresholds from {ends})"


def net_benefit(
    predicted: Prediction, data: SurvivalData, time: float, *, threshold: float, cause: Cause = None
) -> float:
    """Net benefit of treating those whose predicted probability of the event by `time` is at least `threshold`.

    True positives less false positives, per row, the latter weighed by the odds of the threshold (Vickers & Elkin
    2006); see `decision_curve`. As a function it goes into `bootstrap`.

    Parameters
    ----------
    predicted, data, time, cause
        As in `decision_curve`.
    threshold
        Probability from 0 to below 1.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> net_benefit(Exponential([1.0, 9.0, 2.0, 2.0]), data, 3.0, threshold=0.5)
    0.25
    """
    check("threshold", threshold, Number(0, 1, below=True))
    rows = _TimedRows.of(predicted, data, time, cause, "net_benefit")
    if rows is None:
        return undefined("net_benefit", "no row has a positive weight")
    result = rows.treated(float(threshold))
    if np.isnan(result.net_benefit):
        return undefined("net_benefit", _short_follow_up(rows.until))
    return result.net_benefit


def decision_curve(
    predicted: Prediction,
    data: SurvivalData,
    time: float,
    *,
    thresholds: ArrayLike | None = None,
    cause: Cause = None,
    level: float = 0.95,
) -> DecisionCurve:
    """Net benefit over thresholds of the predicted probability of an event by `time`, with confidence limits.

    Treating from a threshold p on values one true positive at ``(1 - p)/p`` false positives. The net
    benefit ``P·F - P·(1 - F)·p/(1 - p)`` counts both on the scale of true positives, with P the share of rows at or
    above p and F their probability of the event by `time`: Kaplan-Meier's among them (Vickers et al. 2008), that of a
    cause Aalen-Johansen's. Censoring need be independent only among rows on the same side of the threshold.

    Limits are normal, by the derivative of the net benefit by the weight of each row; without censoring the standard
    error is that of a mean of independent rows. Rows of one group count as one unit. Limits say how the net benefit of
    *this* prediction would vary over other rows. ``bootstrap(net_benefit, …)`` gives limits of one threshold by
    resampling.

    Parameters
    ----------
    predicted
        Distribution of each row, with causes if `cause` is given; or probabilities (n,) of the event by `time`.
    data
        The same rows as observed, exact or right-censored. Weights count as numbers of rows.
    time
        By when the event is to come, not after the last row.
    thresholds
        Probabilities from 0 to below 1. None: 0.01, 0.02, …, 0.99.
    cause
        Number or name of the cause, where prediction and data have causes; None: they are of one event.
    level
        Confidence of the limits.

    Returns
    -------
    DecisionCurve
        NaN, with a warning, at thresholds above which the last row is censored before `time`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> truth = Exponential(np.random.default_rng(0).uniform(1, 20, 500))
    >>> data = SurvivalData.right(truth.sample(random_state=1), np.ones(500, bool))
    >>> curve = decision_curve(truth, data, 4.0, thresholds=[0.2, 0.4])
    >>> curve.model.value.round(3), curve.treat_all.value.round(3)
    (array([0.21 , 0.126]), array([ 0.213, -0.05 ]))
    """
    check("level", level, Number(0, 1, above=True, below=True))
    places = _checked_thresholds(thresholds)
    rows = _TimedRows.of(predicted, data, time, cause, "decision_curve")
    if rows is None:
        nothing = np.full(places.shape, undefined("decision_curve", "no row has a positive weight"))
        empty = NetBenefit(nothing, nothing, nothing)
        return DecisionCurve(checked_time(time), places, empty, empty, empty, nothing, nothing, level)
    of_model = [rows.treated(float(p)) for p in places]
    of_all = [rows.treated(float(p), everyone=True) for p in places]
    missing = np.isnan([one.net_benefit for one in of_model])
    if missing.any():
        where = "" if missing.all() else f"at {missing.sum()} of {missing.size} thresholds"
        where += f" (first: {places[np.argmax(missing)]:g})" if where else ""
        undefined("decision_curve", _short_follow_up(rows.until), where=where)
    width = NormalDist().inv_cdf((1 + level) / 2)
    gains = [
        _Treated(one.share, one.observed, one.net_benefit - all_.net_benefit, one.influence - all_.influence)
        for one, all_ in zip(of_model, of_all, strict=True)
    ]
    return DecisionCurve(
        rows.until,
        places,
        _with_limits(of_model, rows, width),
        _with_limits(of_all, rows, width),
        _with_limits(gains, rows, width),
        treated=np.array([one.share for one in of_model]),
        observed=np.array([one.observed for one in of_model]),
        level=float(level),
    )


class _Treated(NamedTuple):
    """Who is treated from a threshold on: their share, observed risk, net benefit and its derivatives (n,)."""

    share: float
    observed: float
    net_benefit: float
    influence: FloatArray


class _TimedRows(NamedTuple):
    """Rows of positive weight in the order of their times, with their predicted probability by a time."""

    until: float
    risk: FloatArray
    time: FloatArray
    ended_by: NDArray[np.int64]
    weights: FloatArray
    unit: NDArray[np.int64] | None
    """The group of each row; None: every row is a unit of its own."""

    @classmethod
    def of(cls, predicted: Prediction, data: SurvivalData, time: float, cause: Cause, metric: str) -> _TimedRows | None:
        until = checked_time(time)
        rows = person_rows(data)
        prediction, other = event_of_interest(predicted, rows, cause)
        without_delayed_entry(rows, metric)
        if isinstance(prediction, SurvivalDistribution):
            matched_data(prediction, rows)
            risk = as_numbers(prediction.cdf(until))
        else:
            risk = _probabilities(prediction, len(rows))
        counted = np.flatnonzero(rows.weights > 0)
        if counted.size == 0:
            return None
        order = counted[np.argsort(rows.time[counted], kind="stable")]
        ended_by = np.where(rows.event, np.where(other, OF_OTHER, OF_INTEREST), CENSORED)
        unit = None if rows.group is None else group_numbers(rows.group)[order]
        return cls(until, risk[order], rows.time[order], ended_by[order], rows.weights[order], unit)

    def treated(self, threshold: float, *, everyone: bool = False) -> _Treated:
        """What happens if those at or above a threshold are treated, or everyone is."""
        high = np.ones(self.risk.shape, np.bool_) if everyone else self.risk >= threshold
        influence, total = np.zeros(self.risk.shape), float(self.weights.sum())
        if not high.any():
            return _Treated(0.0, float("nan"), 0.0, influence)
        estimate = incidence_influence(self.time[high], self.ended_by[high], self.weights[high], self.until)
        share = 1.0 if high.all() else float(self.weights[high].sum()) / total
        if estimate is None:
            return _Treated(share, float("nan"), float("nan"), influence + np.nan)
        odds = threshold / (1 - threshold)
        each = estimate.incidence * (1 + odds) - odds
        influence[high] = each / total + share * (1 + odds) * estimate.influence
        return _Treated(share, estimate.incidence, share * each, influence - share * each / total)

    def standard_error(self, influence: FloatArray) -> float:
        """Of an estimate with these derivatives by the weights."""
        if self.unit is None:
            return float(np.sqrt((self.weights * influence**2).sum()))
        return float(np.sqrt((np.bincount(self.unit, self.weights * influence) ** 2).sum()))


def _with_limits(results: list[_Treated], rows: _TimedRows, width: float) -> NetBenefit:
    value = np.array([one.net_benefit for one in results])
    reach = width * np.array([rows.standard_error(one.influence) for one in results])
    return NetBenefit(value, value - reach, value + reach)


def _probabilities(values: object, length: int) -> FloatArray:
    risk = number_column(values, "predicted", length)
    outside = (risk < 0) | (risk > 1)
    if outside.any():
        raise ParameterError(
            f"predicted must be probabilities from 0 to 1, but {outside.sum()} of {length} are not",
            argument="predicted",
            row=int(np.argmax(outside)),
            advice="Give what the model predicts for the time, such as predicted.cdf(time).",
        )
    return risk


def _checked_thresholds(thresholds: ArrayLike | None) -> FloatArray:
    if thresholds is None:
        return np.arange(1, 100) / 100
    try:
        places = np.unique(np.asarray(thresholds, dtype=np.float64))
        valid = np.ndim(thresholds) == 1 and places.size > 0 and bool(((places >= 0) & (places < 1)).all())
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise ParameterError(
            f"thresholds must be one or more probabilities from 0 to below 1, but {quoted(thresholds, 60)} was given.",
            argument="thresholds",
        )
    return places


def _short_follow_up(until: float) -> str:
    return f"the last of the treated rows is censored before the time {until:g}"
