"""Watching a model in use: its calibration, discrimination and covariates over calendar periods, with alarms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number, WholeNumber, check
from aldsurv.errors import DataError, ParameterError
from aldsurv.metrics.calibration_summary import LimitedValue
from aldsurv.metrics.cause_of_interest import Cause
from aldsurv.metrics.checked_arguments import PredictedDistribution
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.rows.training_rows import require_same_count
from aldsurv.monitoring.column_drift import ColumnDrift, column_drift
from aldsurv.monitoring.evidence import Evidence
from aldsurv.monitoring.monitoring_result import DRIFT, RATIO, SLOPE, Alarm, Monitoring
from aldsurv.monitoring.periods import Periods, read_periods
from aldsurv.monitoring.watched_rows import WatchedRows, bounded_exponential, read_outcome, row_notes

__all__ = ["ALPHA_SHARES", "monitor_model"]

# How the rate of false alarms is divided among the tests.
ALPHA_SHARES = {RATIO: 0.5, SLOPE: 0.25, DRIFT: 0.25}


def monitor_model(
    model: SurvivalEstimator,
    X: object,
    y: object,
    *,
    by: object,
    period: str | None = None,
    date_format: str | None = None,
    reference: object = None,
    reference_periods: int = 1,
    alpha: float = 0.05,
    cause: Cause = None,
    confidence: float = 0.95,
    samples: int = 200,
    random_state: int = 0,
) -> Monitoring:
    """Watch a fitted model over calendar periods.

    In each period, events are compared with those that the model expected: the sum of the predicted cumulative hazards
    of the rows from their entry to their time. Three tests look for changes, each after every period: for events that
    are more or fewer than expected, for differences between people that are smaller or larger than predicted, and for
    covariates that are not like those of the reference. While the model is right and nothing changes, the probability
    that any of them ever raises an alarm is at most `alpha`, half of which is for the first test and a quarter for each
    of the others. A falling C has no test of its own: where the model separates people less than it claims, the slope
    is below 1; where people have become more alike, the covariates show it.

    A row belongs to one period, with its whole follow-up, which is from its entry on. People who are followed over
    several periods have a row in each, with delayed entry (or are episodes): no time is counted twice.

    Parameters
    ----------
    model
        A fitted model of aldsurv.
    X, y
        Covariates and outcome so far, as for ``fit``; exact or right-censored, with delayed entry and weights if there
        are any. Weights count in the estimates; the tests count each row of positive weight once.
    by
        The period of each row (n,): text whose order is that of its characters (such as ``"2024-03"``), numbers, or
        dates.
    period
        Cut dates into a ``"month"`` (the default for dates), ``"quarter"`` or ``"year"``.
    date_format
        How dates are written, as in `SurvivalData.from_dates`.
    reference
        Covariates of the training rows; None: those of the first `reference_periods`.
    reference_periods
        How many periods are the reference for covariates.
    alpha
        Probability of any alarm while nothing has changed.
    cause
        Number or name of one of the model's causes, the others counting as censored; None: the event of a model with
        one, and else the first of any cause.
    confidence
        Of the limits.
    samples, random_state
        Number of resamples for the limits of C, and their seed.

    Examples
    --------
    >>> from aldsurv import WeibullAFT, datasets
    >>> train, later = datasets.load("gbsg").split(seed=4)
    >>> model = WeibullAFT().fit(train.x, train.y)
    >>> year = 2020 + np.arange(len(later.y)) % 4
    >>> result = monitor_model(model, later.x, later.y, by=year, reference=train.x)
    >>> result.verdict
    'No alarm in 4 years'
    """
    check("alpha", alpha, Number(0, 1, above=True, below=True))
    check("confidence", confidence, Number(0, 1, above=True, below=True))
    check("samples", samples, WholeNumber(2))
    check("random_state", random_state, WholeNumber(0))
    check("reference_periods", reference_periods, WholeNumber(1))
    if not isinstance(model, SurvivalEstimator) or not model.__sklearn_is_fitted__():
        raise ParameterError("model must be a fitted model of aldsurv. Call fit(X, y) first, or load it.")
    periods = read_periods(by, period=period, date_format=date_format)
    if reference is None and reference_periods >= len(periods.names):
        raise ParameterError(
            f"reference_periods must be fewer than the {len(periods.names)} periods, but is {reference_periods}",
            argument="reference_periods",
            advice="Take fewer periods as the reference, or give the training rows.",
        )
    data, name = read_outcome(model, y, cause)
    if len(periods.place) != len(data):
        raise DataError(
            f"by has {len(periods.place)} values, but y has {len(data)} rows", argument="by", advice="Give one per row."
        )
    notes = row_notes(model, data, cause)
    predicted: PredictedDistribution = model.predict_distribution(X) if cause is None else model.predict_incidence(X)
    require_same_count(len(predicted), data)
    watched = WatchedRows(model, predicted, data, periods, name)
    alphas = {test: share * alpha for test, share in ALPHA_SHARES.items()}
    rate, slope = watched.rate_evidence(), watched.slope_evidence()
    qualities = tuple(
        watched.quality(k, rate, slope, confidence, samples, random_state) for k in range(len(periods.names))
    )
    drift = column_drift(
        model,
        X,
        periods.place,
        periods.names,
        weights=data.weights,
        reference=reference,
        reference_periods=reference_periods,
        alpha=alphas[DRIFT],
    )
    alarms = [
        *_evidence_alarm(RATIO, rate, 1 / alphas[RATIO], periods, lambda rows: watched.ratio(rows, confidence)),
        *_evidence_alarm(
            SLOPE, slope, 1 / alphas[SLOPE], periods, lambda rows: watched.slope(rows, confidence, random_state)
        ),
        *_drift_alarms(drift),
    ]
    alarms.sort(key=lambda alarm: periods.names.index(alarm.period))
    first = periods.names[:reference_periods]
    named = f"the first period, {first[0]}" if len(first) == 1 else f"the first periods, {first[0]} to {first[-1]}"
    described = named if reference is None else "the training rows"
    return Monitoring(qualities, drift, tuple(alarms), alpha, alphas, confidence, described, periods.kind, name, notes)


def _evidence_alarm(
    test: str,
    evidence: Evidence,
    limit: float,
    periods: Periods,
    estimate: Callable[[NDArray[np.intp]], LimitedValue],
) -> list[Alarm]:
    reached = np.flatnonzero(evidence.log >= math.log(limit))
    if not reached.size:
        return []
    last = int(reached[0])
    first = int(evidence.start[last])
    rows = np.flatnonzero((periods.place >= first) & (periods.place <= last))
    value, lower, upper, _ = estimate(rows)
    name = periods.names
    return [Alarm(name[last], test, name[first], value, lower, upper, bounded_exponential(evidence.log[last]), limit)]


def _drift_alarms(drift: tuple[ColumnDrift, ...]) -> list[Alarm]:
    """The first alarm of each column."""
    first: dict[str, ColumnDrift] = {}
    for each in drift:
        if each.drifted:
            first.setdefault(each.column, each)
    return [
        Alarm(each.period, DRIFT, each.period, each.psi, math.nan, math.nan, each.p_value, each.limit, each.column)
        for each in first.values()
    ]
