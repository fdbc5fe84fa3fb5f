"""Predictions and what was observed, row by row, and the estimates and evidence that they give by period."""

from __future__ import annotations

import math
import warnings
from typing import cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import AldsurvWarning, DataError, ParameterError
from aldsurv.metrics.calibration.expected_events import cumulative_hazard, finite_hazard, rows_overall
from aldsurv.metrics.calibration_summary import LimitedValue
from aldsurv.metrics.cause_of_interest import Cause, event_of_interest
from aldsurv.metrics.checked_arguments import PredictedDistribution
from aldsurv.metrics.point_estimates import RankingPoint, ranking_time
from aldsurv.models.base import SurvivalEstimator
from aldsurv.monitoring.evidence import Evidence, SlopeSums, rate_evidence, slope_evidence, slope_sums
from aldsurv.monitoring.period_quality import (
    LEAST_EVENTS,
    PeriodQuality,
    concordance_with_limits,
    poisson_limits,
    slope_with_limits,
)
from aldsurv.monitoring.periods import Periods
from aldsurv.quoting import quoted

__all__ = ["WatchedRows", "bounded_exponential", "read_outcome", "row_notes"]

FloatArray = NDArray[np.float64]

# A linear predictor counts at most so much: a row that differs from the others by a factor of 150 or more.
_FARTHEST = 5.0
_NO_VALUE = LimitedValue(math.nan, math.nan, math.nan)


@final
class WatchedRows:
    """A prediction and what was observed, row by row."""

    def __init__(
        self,
        model: SurvivalEstimator,
        predicted: PredictedDistribution,
        data: SurvivalData,
        periods: Periods,
        cause: str | None,
    ) -> None:
        self.predicted, self.data, self.periods, self.cause = predicted, data, periods, cause
        self.event, self.expected, *_ = rows_overall(predicted, data, cause)
        self.counted = data.weights > 0
        self.predictor = self._linear_predictor(model)
        part = event_of_interest(predicted, data, cause)[0]
        point = cast(RankingPoint, model.ranking_point_)
        # Ranked within the follow-up of training, as model.predict does.
        end = None if point != "follow_up" else SurvivalData.right([model.follow_up_], [True])
        self.times = ranking_time(part, data.without_causes(), point=point, train=end)

    def _linear_predictor(self, model: SurvivalEstimator) -> FloatArray:
        """Log cumulative hazard at the middle of the training times, less its mean over the events of the period.

        The mean is over those that are predicted until then, so that a change of the slope leaves the number of
        expected events about as it was. All of this is known before the outcomes.
        """
        positive = model.unique_times_[model.unique_times_ > 0]
        time = float(np.median(positive)) if positive.size else 1.0
        hazard = finite_hazard(
            cumulative_hazard(self.predicted, np.full(len(self.data), time), self.cause), self.counted
        )
        log_hazard, centred = np.log(hazard), np.zeros(len(hazard))
        for k in range(len(self.periods.names)):
            rows = self.rows_of(k)
            if rows.size:
                centred[rows] = log_hazard[rows] - np.average(log_hazard[rows], weights=-np.expm1(-hazard[rows]))
        return np.clip(centred, -_FARTHEST, _FARTHEST)

    def rows_of(self, first: int, last: int | None = None) -> NDArray[np.intp]:
        """Rows of positive weight from one period to another."""
        place = self.periods.place
        return np.flatnonzero(self.counted & (place >= first) & (place <= (first if last is None else last)))

    def rate_evidence(self) -> Evidence:
        """Of more or fewer events."""
        rows, place = self.counted, self.periods.place
        count = len(self.periods.names)
        return rate_evidence(
            np.bincount(place[rows], self.event[rows], minlength=count),
            np.bincount(place[rows], self.expected[rows], minlength=count),
        )

    def slope_evidence(self) -> Evidence:
        """Of smaller or larger differences between people."""
        parts = []
        for k in range(len(self.periods.names)):
            rows = self.rows_of(k)
            parts.append(slope_sums(self.event[rows], self.expected[rows], self.predictor[rows]))
        return slope_evidence(SlopeSums(*(np.stack(column) for column in zip(*parts, strict=True))))

    def ratio(self, rows: NDArray[np.intp], confidence: float) -> LimitedValue:
        """Observed/expected of some rows."""
        weights = self.data.weights[rows]
        observed, expected = float(weights @ self.event[rows]), float(weights @ self.expected[rows])
        if not expected > 0:
            return _NO_VALUE._replace(reason="no row has a positive weight")
        return LimitedValue(observed / expected, *poisson_limits(observed, expected, confidence))

    def slope(self, rows: NDArray[np.intp], confidence: float, seed: int) -> LimitedValue:
        """Calibration slope of some rows."""
        if np.count_nonzero(self.event[rows]) < LEAST_EVENTS:
            return _NO_VALUE._replace(reason=f"fewer than {LEAST_EVENTS} events")
        return slope_with_limits(self.predicted[rows], self.data[rows], self.cause, confidence, seed)

    def quality(
        self, k: int, rate: Evidence, slope: Evidence, confidence: float, samples: int, seed: int
    ) -> PeriodQuality:
        """All about one period."""
        rows = self.rows_of(k)
        weights = self.data.weights[rows]
        ratio, own_slope = self.ratio(rows, confidence), self.slope(rows, confidence, seed)
        if np.count_nonzero(self.event[rows]) < LEAST_EVENTS:
            concordance = _NO_VALUE._replace(reason=f"fewer than {LEAST_EVENTS} events")
        else:
            concordance = concordance_with_limits(
                self.times[rows], self.data[rows], self.cause, confidence, samples, seed
            )
        reasons = dict.fromkeys(each.reason for each in (ratio, own_slope, concordance) if each.reason)
        return PeriodQuality(
            self.periods.names[k],
            int(rows.size),
            float(weights @ self.event[rows]),
            float(weights @ self.expected[rows]),
            *ratio[:3],
            *own_slope[:3],
            *concordance[:3],
            bounded_exponential(rate.log[k]),
            bounded_exponential(slope.log[k]),
            tuple(reasons),
        )


def bounded_exponential(log: float) -> float:
    """The number, the largest there is for one that is larger."""
    return math.exp(min(log, 700.0))


def read_outcome(model: SurvivalEstimator, y: object, cause: Cause) -> tuple[SurvivalData, str | None]:
    """The rows, episodes each as one with delayed entry, and the name of the cause."""
    given = SurvivalData.of(y)
    by_bounds = ~(given.exact | given.right_censored)
    if by_bounds.any():
        raise DataError(
            f"monitoring needs exact or right-censored rows, but {by_bounds.sum()} of {len(given)} are left- or "
            "interval-censored: what was expected of them until their event is not known",
            argument="y",
            row=int(np.argmax(by_bounds)),
            advice="Leave these out.",
        )
    columns = given.columns
    if given.person is not None:
        # Each episode has a hazard of its own, and may be in another period.
        given = SurvivalData.from_checked(*columns._replace(group=columns.person, person=None))
    if cause is None:
        return given.without_causes(), None
    if model.causes_ is None:
        raise ParameterError(
            f"cause={quoted(cause)} needs a model that tells causes apart, but this {type(model).__name__} does not",
            argument="cause",
            advice="Leave it out.",
        )
    if given.causes is None:
        raise ParameterError(
            "a cause needs rows with causes, but y has events of one kind only",
            argument="cause",
            advice="Make them by SurvivalData.competing.",
        )
    return given, model.causes_[cause_number(cause, model.causes_) - 1]


def row_notes(model: SurvivalEstimator, data: SurvivalData, cause: Cause) -> tuple[str, ...]:
    """What a reader should know of the rows."""
    notes = []
    if cause is None and model.causes_ is not None:
        notes.append("Events are the first of any cause.")
    if data.weight is not None:
        notes.append("Weights count in the estimates; the tests count each row once.")
    twice = _overlapping(data)
    if twice:
        message = (
            f"{twice} persons have rows whose times overlap: events and time of these count more than once, and the "
            "rate of false alarms is not known. Give each row its delayed entry."
        )
        warnings.warn(message, AldsurvWarning, stacklevel=3)
        notes.append(message)
    return tuple(notes)


def _overlapping(data: SurvivalData) -> int:
    """How many persons have two rows at the same time."""
    if data.group is None:
        return 0
    entry = np.zeros(len(data)) if data.entry is None else np.maximum(data.entry, 0.0)
    order = np.lexsort((entry, data.group))
    group, start, stop = data.group[order], entry[order], data.time[order]
    overlap = (group[1:] == group[:-1]) & (group[1:] >= 0) & (start[1:] < stop[:-1])
    return int(np.unique(group[1:][overlap]).size)
