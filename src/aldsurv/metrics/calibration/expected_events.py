"""What a prediction expects: the probability of the event by a time, and events until the time of each row."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.metrics.cause_of_interest import Cause, event_of_interest
from aldsurv.metrics.checked_arguments import (
    FloatArray,
    PredictedDistribution,
    as_numbers,
    matched_data,
    without_delayed_entry,
)
from aldsurv.metrics.evaluation_times import checked_time
from aldsurv.plain_numbers import plain_number

__all__ = [
    "FollowUp",
    "RowsAtTime",
    "RowsOverall",
    "cumulative_hazard",
    "cut_follow_up",
    "finite_hazard",
    "no_estimate",
    "risks_at",
    "rows_overall",
]

# A predicted survival probability of exactly 0 or 1 counts as this far from it: then log(-log S) is finite.
_LEAST = 1e-10
# Shares of the events at whose times follow-up is cut.
_DECILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
# Parts of the time of a row within which causes share the hazard evenly.
_STRETCHES = 32


class RowsAtTime(NamedTuple):
    """A time, and of the rows of positive weight the predicted probability (n,), data, and who had another event."""

    time: float
    risk: FloatArray
    rows: SurvivalData
    other: NDArray[np.bool_]


class RowsOverall(NamedTuple):
    """Of all rows: whether the event of interest was seen (n,), and how many events were expected until their end."""

    event: NDArray[np.bool_]
    expected: FloatArray
    rows: SurvivalData
    end: FloatArray


class FollowUp(NamedTuple):
    """Rows cut at some times: of each part its row, whether its event was seen, expected events, and log hazard (m,).

    The logarithm is that of the cumulative hazard from one of the times to the next, less its mean over all rows.
    """

    row: NDArray[np.intp]
    event: NDArray[np.bool_]
    expected: FloatArray
    log_hazard: FloatArray


def risks_at(
    predicted: PredictedDistribution, data: SurvivalData, time: float, cause: Cause, metric: str
) -> RowsAtTime:
    """Predictions and rows of positive weight at one time, checked."""
    until = checked_time(time)
    prediction, other = event_of_interest(predicted, SurvivalData.of(data), cause)
    rows = without_delayed_entry(matched_data(prediction, data), metric)
    _ = rows.time
    counted = rows.weights > 0
    return RowsAtTime(until, as_numbers(prediction[counted].cdf(until)), rows[counted], other[counted])


def rows_overall(predicted: PredictedDistribution, data: SurvivalData, cause: Cause) -> RowsOverall:
    """Seen and expected events of each row from its entry to its end, checked.

    The expected number is the cumulative hazard: events less this have mean 0 if the prediction is right, however rows
    are censored, and other causes are censorings. An event at 0 was observed until the smallest time above 0.
    """
    given = SurvivalData.of(data)
    prediction, other = event_of_interest(predicted, given, cause)
    rows = matched_data(prediction, given)
    time = rows.time
    later = time[time > 0]
    end = np.where((time <= 0) & rows.event, later.min() if later.size else time, time)
    counted = rows.weights > 0
    expected = finite_hazard(cumulative_hazard(predicted, end, cause), counted)
    if rows.entry is not None and (rows.entry > 0).any():
        before = np.where(rows.entry > 0, cumulative_hazard(predicted, rows.entry, cause), 0.0)
        expected = finite_hazard(expected - np.minimum(before, expected), counted)
    return RowsOverall(rows.event & ~other, expected, rows, end)


def cut_follow_up(predicted: PredictedDistribution, overall: RowsOverall, cause: Cause) -> FollowUp:
    """The rows cut at the deciles of their event times; at least one event must have been seen.

    Within a part hazards are about proportional, whatever the family of the predicted distributions.
    """
    event, _, rows, end = overall
    weights, entry = rows.weights, np.zeros(len(rows)) if rows.entry is None else rows.entry
    counted = weights > 0
    seen = counted & event
    deciles = np.quantile(end[seen], _DECILES, weights=weights[seen], method="inverted_cdf")
    last = float(end[counted].max())
    bounds = np.concatenate([[0.0], np.unique(deciles[(deciles > 0) & (deciles < last)]), [last]])

    def hazard_at(times: FloatArray) -> FloatArray:
        hazard = finite_hazard(cumulative_hazard(predicted, times, cause), counted)
        # What is predicted to come before 0 is expected of a row that is observed from 0 on.
        return np.where(times > 0, hazard, 0.0)

    parts, start = [], hazard_at(np.zeros(len(rows)))
    at_end, at_entry = hazard_at(end), hazard_at(entry)
    for low, high in pairwise(bounds.tolist()):
        stop = hazard_at(np.full(len(rows), high))
        here = (end > low) & (entry < high)
        until, since = np.where(end < high, at_end, stop), np.where(entry > low, at_entry, start)
        log_hazard = np.log(np.maximum(stop - start, _LEAST))
        parts.append(
            FollowUp(
                np.flatnonzero(here),
                (event & (end <= high))[here],
                np.maximum(until - since, _LEAST)[here],
                (log_hazard - np.average(log_hazard, weights=weights))[here],
            )
        )
        start = stop
    return FollowUp(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def finite_hazard(hazard: FloatArray, counted: NDArray[np.bool_]) -> FloatArray:
    """Cumulative hazards (n,) with 0 and infinity, of a survival of exactly 1 and 0, replaced by numbers near to them.

    They are those of a survival of 1e-10 and of 1 less that, or the least and largest of the other rows in `counted`
    if these are still less or larger: the order of the rows stays.
    """
    others = hazard[counted & (hazard > 0) & np.isfinite(hazard)]
    low, high = min(others, default=_LEAST), max(others, default=-np.log(_LEAST))
    return np.asarray(np.clip(hazard, min(low, _LEAST), max(high, -np.log(_LEAST))))


def no_estimate(rows: SurvivalData, other: NDArray[np.bool_] | None, time: float) -> str:
    """Why there is no estimate at `time`; empty if there is one. Without `other` events are not needed."""
    if len(rows) == 0:
        return "no row has a positive weight"
    if other is not None and not (rows.event & ~other).any():
        return "no row has an event" + (" of the cause" if other.any() else "")
    last = float(rows.time.max())
    return f"the rows end at {plain_number(last)}, before the time {plain_number(time)}" if time > last else ""


def cumulative_hazard(predicted: PredictedDistribution, time: FloatArray, cause: Cause) -> FloatArray:
    """Cumulative hazard of the event of interest at one time per row (n,).

    With causes, it is that of the cause among those without any event: the hazard of all in a short stretch of time is
    shared as their incidence there is.
    """
    if isinstance(predicted, SurvivalDistribution):
        return -as_numbers(predicted.log_survival(time[:, None]))[:, 0]
    places = time[:, None] * np.linspace(0.0, 1.0, _STRETCHES + 1)
    rise = np.diff(predicted.incidence(places), axis=2)
    total = rise.sum(axis=0)
    own = rise[cause_number(cause, predicted.causes) - 1]
    with np.errstate(invalid="ignore"):
        hazard = np.diff(-as_numbers(predicted.overall().log_survival(places)), axis=1)
    return np.asarray(np.divide(hazard * own, total, out=np.zeros(total.shape), where=total > 0).sum(axis=1))
