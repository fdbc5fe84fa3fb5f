"""The evaluation of predictions for rows with delayed entry, or whose event times are known only within bounds."""

from __future__ import annotations

import warnings

import numpy as np

from aldsurv import metrics
from aldsurv.metrics.calibration_summary import (
    CALIBRATION_AT_TIME,
    CALIBRATION_OVERALL,
    LimitedValue,
    calibration_summary,
)
from aldsurv.metrics.checked_arguments import as_numbers
from aldsurv.metrics.evaluation import DEFAULT_METRICS
from aldsurv.nonparametric import kaplan_meier
from aldsurv.registry import METRICS
from aldsurv.reports.model.at_times.expected_curve import expected_survival
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.findings import (
    INTERVAL_LEVEL,
    RESAMPLES,
    Findings,
    is_training_table,
    outside_training,
    require_known_events,
)
from aldsurv.reports.model.report_times import median_time

__all__ = ["compute_partial_findings"]

_NAN = float("nan")


def compute_partial_findings(evaluated: EvaluatedModel, horizon: float | None = None) -> Findings:
    """Evaluate what is defined; every other metric has the reason why it is not.

    Parameters
    ----------
    evaluated
        The model and the rows.
    horizon
        The time at which the expected is compared with the Kaplan-Meier curve; None: the median observed time.
    """
    predicted, data, kind = evaluated.predicted, evaluated.data, evaluated.kind
    require_known_events(evaluated)
    names = (*DEFAULT_METRICS, *CALIBRATION_OVERALL, *CALIBRATION_AT_TIME)
    scores = {
        name: LimitedValue(_NAN, _NAN, _NAN, kind.short_reason) for name in names if not kind.defines(METRICS[name])
    }
    with warnings.catch_warnings():
        # The page itself explains metrics without a finite value.
        warnings.filterwarnings("ignore", message="log_likelihood is -inf", category=UserWarning)
        results = metrics.evaluate(
            predicted,
            data,
            train=data,
            metrics=[name for name in DEFAULT_METRICS if kind.defines(METRICS[name])],
            bootstrap=RESAMPLES,
            random_state=evaluated.seed,
        )
    scores |= {name: LimitedValue.of(result) for name, result in results.items()}
    mean = observed = _NAN
    limits = (_NAN, _NAN)
    if kind.has_times:
        horizon = median_time(data) if horizon is None else horizon
        scores |= calibration_summary(predicted, data, None, samples=RESAMPLES, random_state=evaluated.seed)
        mean = float(expected_survival(predicted, data, np.array([horizon]))[0])
        curve = kaplan_meier(data)
        place = int(np.searchsorted(curve.times, horizon, side="right")) - 1
        observed = float(curve.survival_at(horizon))
        limits = tuple(float(limit[place]) for limit in curve.band(0.95)) if place >= 0 else (1.0, 1.0)  # type: ignore[assignment]
    with np.errstate(invalid="ignore"):
        coverage = metrics.interval_coverage(predicted, data, level=INTERVAL_LEVEL)
    return Findings(
        scores,
        metrics.d_calibration(predicted, data),
        coverage,
        _NAN,
        _NAN,
        (_NAN, _NAN),
        mean,
        observed,
        limits,
        _NAN if horizon is None else horizon,
        as_numbers(predicted.median()),
        _NAN,
        "median",
        as_numbers(predicted.probability_negative()).reshape(-1),
        outside_training(evaluated),
        is_training_table(evaluated),
    )
