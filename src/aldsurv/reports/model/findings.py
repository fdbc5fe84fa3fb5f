"""What the predictions of a model are worth: all numbers that verdicts and warnings rest on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv import metrics
from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Step, SurvivalDistribution
from aldsurv.errors import DataError
from aldsurv.metrics.checked_arguments import as_numbers
from aldsurv.metrics.error.brier import default_times
from aldsurv.metrics.evaluation_times import mean_survival
from aldsurv.metrics.point_estimates import Point
from aldsurv.models import SurvivalEstimator
from aldsurv.models.linear.design import Design
from aldsurv.nonparametric import kaplan_meier
from aldsurv.reports.model.subject import Subject

__all__ = ["INTERVAL", "Findings", "examined"]

FloatArray = NDArray[np.float64]

_RESAMPLES = 200
INTERVAL = 0.8


@final
@dataclass(frozen=True, eq=False)
class Findings:
    """What the predictions of a subject are worth.

    Attributes
    ----------
    scores
        The metrics of `evaluate` with 95 % limits.
    d_calibration, coverage, auc
        As the metrics of these names give them; the last is the mean over times.
    skill, skill_limits
        Brier skill score, and its 95 % limits, the error of the one curve for all being taken as it is.
    mean_survival, km_survival, km_limits, horizon
        Mean predicted survival, and the Kaplan-Meier estimate with its 95 % limits, at the median observed time.
    median
        Predicted median of each row (n,).
    error, error_point
        Mean absolute error of the rows with an event, and of which summary of the prediction.
    negative
        Predicted probability of a time below 0 for each row (n,).
    outside
        Whether a value lies beyond those of training (n, d); None if the model does not know.
    trained_here
        Whether the rows seem to be those of training.
    """

    scores: dict[str, metrics.BootstrapResult]
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
        return float(self.scores[metric].value)

    def limits(self, metric: str) -> tuple[float, float]:
        """Its 95 % limits."""
        return float(self.scores[metric].lower), float(self.scores[metric].upper)


def examined(subject: Subject) -> Findings:
    """All numbers that the verdicts rest on."""
    predicted, data, train = subject.predicted, subject.data, subject.train
    if not data.n_events:
        raise DataError(
            f"none of the {len(data)} rows has an event: nothing can be said about the predictions. "
            "Check which value of the event column means an event."
        )
    with warnings.catch_warnings():
        # The page itself says of which figures no finite value is known.
        warnings.filterwarnings("ignore", message="log_likelihood is -inf", category=UserWarning)
        scores = metrics.evaluate(predicted, data, train=train, bootstrap=_RESAMPLES, random_state=subject.seed)
    median = as_numbers(predicted.median())
    point: Point = "median" if np.isfinite(scores["mae"].value) else "restricted_mean"
    quartiles = np.quantile(data.time[data.event], [0.25, 0.5, 0.75])
    horizon, mean, observed, limits = _at_half(predicted, data)
    # Of a curve that hardly falls both ends of the interval are infinite, and its width is none.
    with np.errstate(invalid="ignore"):
        coverage = metrics.interval_coverage(predicted, data, level=INTERVAL)
    return Findings(
        scores,
        metrics.d_calibration(predicted, data),
        coverage,
        metrics.cumulative_dynamic_auc(predicted, data, np.unique(quartiles), train=train).mean,
        *_skill(subject),
        mean,
        observed,
        limits,
        horizon,
        median,
        metrics.mean_absolute_error(predicted, data, point=point),
        point,
        as_numbers(predicted.probability_negative()).reshape(-1),
        _outside(subject),
        _trained_here(subject),
    )


def _skill(subject: Subject) -> tuple[float, tuple[float, float]]:
    """Brier skill score with limits, from the same draws of rows for the model and the Kaplan-Meier curve of all."""
    train, n = subject.train, len(subject.data)
    grid = default_times(train)
    if not grid[0] < grid[-1]:
        return float("nan"), (float("nan"), float("nan"))
    same = Step(grid, np.broadcast_to(kaplan_meier(train).survival_at(grid), (n, grid.size)))
    found = metrics.compare(
        subject.predicted, same, subject.data, metric="ibs", train=train, samples=_RESAMPLES, random_state=subject.seed
    )
    error = float(found.second)
    if not error > 0:
        return float("nan"), (float("nan"), float("nan"))
    return 1 - float(found.first) / error, (-float(found.upper) / error, -float(found.lower) / error)


def _at_half(predicted: SurvivalDistribution, data: SurvivalData) -> tuple[float, float, float, tuple[float, float]]:
    """The median of the observed times, mean predicted and observed survival at it, and the limits of the latter."""
    horizon = np.quantile(data.time, [0.5], weights=data.weights, method="inverted_cdf")
    mean = mean_survival(predicted, data.weights, horizon)
    curve = kaplan_meier(data)
    place = int(np.searchsorted(curve.times, horizon[0], side="right")) - 1
    lower, upper = (float(limit[place]) for limit in curve.band(0.95))
    return float(horizon[0]), float(mean[0]), float(curve.survival[place]), (lower, upper)


def _outside(subject: Subject) -> NDArray[np.bool_] | None:
    model = subject.model
    while isinstance(inner := vars(model).get("estimator_"), SurvivalEstimator):
        model = inner
    learned, design = (vars(model).get(name) for name in ("features_", "design_"))
    features = design.features if isinstance(design, Design) else learned
    return features.outside(subject.table.given) if isinstance(features, Features) else None


def _trained_here(subject: Subject) -> bool:
    """As many rows and events, the same weight, the same first and last time: no other table has all five."""
    facts, data = subject.facts, subject.data
    known = np.concatenate([data.lower, data.upper])
    known = known[np.isfinite(known)]
    found = {
        "rows": len(data),
        "events": data.n_events,
        "first_time": float(known.min()),
        "last_time": float(known.max()),
        "total_weight": data.total_weight,
    }
    return len(subject.rows) == len(subject.everything) and all(facts.get(name) == here for name, here in found.items())
