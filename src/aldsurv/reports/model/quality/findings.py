"""The evaluation of a model: all numbers that verdicts and cautions rest on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Step, SurvivalDistribution
from aldsurv.errors import DataError
from aldsurv.metrics.calibration_summary import CALIBRATION_AT_TIME, LimitedValue, calibration_summary
from aldsurv.metrics.checked_arguments import as_numbers
from aldsurv.metrics.error.brier import default_times
from aldsurv.metrics.evaluation_times import mean_survival
from aldsurv.metrics.point_estimates import Point, RankingPoint
from aldsurv.models.rows.training_rows import distinct_times
from aldsurv.nonparametric import kaplan_meier
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.report_times import median_time

__all__ = [
    "INTERVAL_LEVEL",
    "RESAMPLES",
    "Findings",
    "compute_findings",
    "is_training_table",
    "outside_training",
    "require_known_events",
]

FloatArray = NDArray[np.float64]

# Bootstrap resamples of the rows.
RESAMPLES = 200
# Of the prediction intervals.
INTERVAL_LEVEL = 0.8


@final
@dataclass(frozen=True, eq=False)
class Findings:
    """The numbers of a report.

    Attributes
    ----------
    scores
        The metrics of `evaluate` with 95 % limits; calibration slope, observed/expected and calibration in the large
        over all follow-up and, with ``_at`` in their names, at the horizon.
    d_calibration, coverage, auc
        Results of the metrics of these names; the AUC is the mean over times.
    skill, skill_limits
        Brier skill score, and its 95 % limits given the error of the Kaplan-Meier curve.
    mean_survival, km_survival, km_limits, horizon
        Mean predicted survival, and the Kaplan-Meier estimate with its 95 % limits, at the horizon: the median observed
        time, or the given one nearest to it.
    median
        Predicted median of each row (n,).
    error, error_point
        Mean absolute error of the rows with an event, and the summary that is the predicted time.
    negative
        Predicted probability of a time below 0 for each row (n,).
    outside
        Whether a value lies outside those of training (n, d); None if the model did not record them.
    trained_here
        Whether the rows seem to be the training rows.
    """

    scores: dict[str, LimitedValue]
    d_calibration: metrics.DCalibration
    coverage: metrics.IntervalCoverage
    auc: float
    skill: float
    skill_limits: tuple[float, float]
    mean_survival: float
    km_survival: float
    km_limits: tuple[float, float]
    horizon: float
    median: FloatArray
    error: float
    error_point: Point
    negative: FloatArray
    outside: NDArray[np.bool_] | None
    trained_here: bool

    def value(self, metric: str) -> float:
        """A metric by name."""
        return self.scores[metric].value

    def limits(self, metric: str) -> tuple[float, float]:
        """Its 95 % limits."""
        return self.scores[metric].lower, self.scores[metric].upper


def require_known_events(evaluated: EvaluatedModel) -> None:
    """Raise `DataError` if no event is known to have come."""
    if not evaluated.events:
        raise DataError(
            f"none of the {len(evaluated.data)} rows has an event: the predictions cannot be evaluated",
            argument="data",
            advice="Check which value of the event column means an event.",
        )


def compute_findings(evaluated: EvaluatedModel, horizon: float | None = None) -> Findings:
    """Evaluate the predictions of rows observed from time 0 on.

    Parameters
    ----------
    evaluated
        The model and the rows.
    horizon
        The time at which calibration is judged; None: the median observed time.
    """
    predicted, data, train = evaluated.predicted, evaluated.data, evaluated.train
    require_known_events(evaluated)
    with warnings.catch_warnings():
        # The page itself explains metrics without a finite value.
        warnings.filterwarnings("ignore", message="log_likelihood is -inf", category=UserWarning)
        results = metrics.evaluate(
            predicted,
            data,
            train=train,
            point="median",
            ranking_point=cast("RankingPoint", evaluated.model.ranking_point_),
            bootstrap=RESAMPLES,
            random_state=evaluated.seed,
        )
    scores = {name: LimitedValue.of(result) for name, result in results.items()}
    median = as_numbers(predicted.median())
    point: Point = "median" if np.isfinite(scores["mae"].value) else "restricted_mean"
    quartiles = np.quantile(data.time[data.event], [0.25, 0.5, 0.75])
    horizon = median_time(data) if horizon is None else horizon
    mean, observed, limits = _at_horizon(predicted, data, horizon)
    scores |= _calibration(evaluated, None) | _calibration(evaluated, horizon)
    # If both ends of an interval are infinite, its width is NaN.
    with np.errstate(invalid="ignore"):
        coverage = metrics.interval_coverage(predicted, data, level=INTERVAL_LEVEL)
    return Findings(
        scores,
        metrics.d_calibration(predicted, data),
        coverage,
        metrics.cumulative_dynamic_auc(predicted, data, np.unique(quartiles), train=train).mean,
        *_skill(evaluated),
        mean,
        observed,
        limits,
        horizon,
        median,
        metrics.mean_absolute_error(predicted, data, point=point),
        point,
        as_numbers(predicted.probability_negative()).reshape(-1),
        outside_training(evaluated),
        is_training_table(evaluated),
    )


def _calibration(evaluated: EvaluatedModel, time: float | None) -> dict[str, LimitedValue]:
    """Calibration slope and in the large, at a time or over all follow-up."""
    if time is not None and time <= 0:
        none = LimitedValue(np.nan, np.nan, np.nan, "half of the rows end at time 0")
        return dict.fromkeys(CALIBRATION_AT_TIME, none)
    return calibration_summary(
        evaluated.predicted, evaluated.data, time, samples=RESAMPLES, random_state=evaluated.seed
    )


def _skill(evaluated: EvaluatedModel) -> tuple[float, tuple[float, float]]:
    """Brier skill score with limits, from the same resamples for the model and the Kaplan-Meier curve."""
    train, n = evaluated.train, len(evaluated.data)
    grid = default_times(train)
    if not grid[0] < grid[-1]:
        return float("nan"), (float("nan"), float("nan"))
    marginal = Step(grid, np.broadcast_to(kaplan_meier(train).survival_at(grid), (n, grid.size)))
    comparison = metrics.compare(
        evaluated.predicted,
        marginal,
        evaluated.data,
        metric="ibs",
        train=train,
        samples=RESAMPLES,
        random_state=evaluated.seed,
    )
    error = float(comparison.second)
    if not error > 0:
        return float("nan"), (float("nan"), float("nan"))
    return 1 - float(comparison.first) / error, (-float(comparison.upper) / error, -float(comparison.lower) / error)


def _at_horizon(
    predicted: SurvivalDistribution, data: SurvivalData, horizon: float
) -> tuple[float, float, tuple[float, float]]:
    """Mean predicted and observed survival at a time, and the limits of the latter."""
    mean = float(mean_survival(predicted, data.weights, np.array([horizon]))[0])
    curve = kaplan_meier(data)
    place = int(np.searchsorted(curve.times, horizon, side="right")) - 1
    if place < 0:
        return mean, 1.0, (1.0, 1.0)
    lower, upper = (float(limit[place]) for limit in curve.band(0.95))
    return mean, float(curve.survival[place]), (lower, upper)


def outside_training(evaluated: EvaluatedModel) -> NDArray[np.bool_] | None:
    """Whether a value lies outside those of training (n, d); None if the model did not record them."""
    features = evaluated.model.innermost.features_
    return None if features is None else features.outside(evaluated.table.given)


def is_training_table(evaluated: EvaluatedModel) -> bool:
    """Whether the rows seem to be the training rows.

    Number of rows and events, total weight, first and last time: other tables hardly agree in all five.
    """
    trained_on, data = evaluated.model.trained_on_, evaluated.data
    if trained_on is None or len(evaluated.rows) < len(evaluated.everything):
        return False
    times = distinct_times(data)
    return (trained_on.rows, trained_on.events, trained_on.total_weight) == (
        len(data),
        data.n_events,
        data.total_weight,
    ) and (trained_on.first_time, trained_on.last_time) == (float(times[0]), float(times[-1]))
