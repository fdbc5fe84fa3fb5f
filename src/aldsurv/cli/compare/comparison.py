"""Scores of models side by side, their differences, and whether these are more than chance."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from aldsurv.cli.causes.cause_scores import score_cause
from aldsurv.cli.evaluate.table_predictions import TablePredictions
from aldsurv.cli.scores.metric_scores import Score, score_all
from aldsurv.cli.scores.metric_settings import MetricSettings
from aldsurv.cli.scores.metric_table import shown_metrics
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.metrics.checked_arguments import Prediction
    from aldsurv.registry import MetricRecord

__all__ = [
    "ComparedModel",
    "Comparison",
    "Difference",
    "best_places",
    "compare_models",
    "infinite_times",
    "log_likelihoods",
    "not_compared",
]


@final
@dataclass(frozen=True)
class ComparedModel:
    """A model under the name by which it is shown, and its scores."""

    name: str
    predictions: TablePredictions
    metrics: Mapping[str, Score]

    @classmethod
    def score(
        cls,
        name: str,
        predictions: TablePredictions,
        train: SurvivalData,
        settings: MetricSettings,
        cause: str | None = None,
    ) -> ComparedModel:
        """Score the predictions, without limits: those of the differences count, and `evaluate` has the others.

        Parameters
        ----------
        name, predictions
            Of the model.
        train, settings
            Rows that the censoring is estimated from, and how metrics are computed.
        cause
            The cause whose incidence is scored; None: the first event of any cause.
        """
        without_limits = replace(settings, bootstrap=None)
        if cause is not None and predictions.incidence is not None:
            by_cause = score_cause(
                predictions.model, predictions.incidence, predictions.rows, train, without_limits, cause
            )
            return cls(name, predictions, by_cause.metrics)
        scores = score_all(predictions.model, predictions.predicted, predictions.rows, train, without_limits)
        return cls(name, predictions, {key: scores[key] for key in METRICS if key in scores})


@final
@dataclass(frozen=True)
class Difference:
    """By how much a metric of a model exceeds that of the first.

    Attributes
    ----------
    metric
        Its name.
    difference, lower, upper
        The difference and its limits.
    p_value, p_corrected
        Of the hypothesis that there is none, and corrected for the number of models.
    """

    metric: str
    difference: float
    lower: float
    upper: float
    p_value: float
    p_corrected: float

    def side(self, confidence: float) -> str:
        """``"better"`` or ``"worse"`` than the first if that is clear, else empty."""
        if math.isnan(self.p_corrected) or self.p_corrected >= 1 - confidence:
            return ""
        if math.isnan(self.difference) or self.difference == 0:
            return ""
        return "better" if METRICS[self.metric].score(self.difference) > 0 else "worse"


@final
@dataclass(frozen=True)
class Comparison:
    """Models on the same rows, the first being the reference.

    Attributes
    ----------
    models, settings
        The models and how they were scored.
    differences
        By name of each model but the first; empty without resamples.
    cause
        The cause whose incidence is compared; None: the first event of any cause.
    """

    models: Sequence[ComparedModel]
    settings: MetricSettings
    differences: Mapping[str, Sequence[Difference]]
    cause: str | None = None


def compare_models(
    models: Sequence[ComparedModel], train: SurvivalData, settings: MetricSettings, cause: str | None = None
) -> Comparison:
    """Differences of all models from the first, by `metrics.compare`.

    Parameters
    ----------
    models
        Of the same rows.
    train
        Rows that the censoring is estimated from.
    settings
        Without resamples there are no differences.
    cause
        As in `ComparedModel.score`.
    """
    if settings.bootstrap is None:
        return Comparison(models, settings, {}, cause)
    differences: dict[str, list[Difference]] = {model.name: [] for model in models[1:]}
    for key in shown_metrics((key for key in METRICS if _is_finite(models[0], key)), log_likelihoods(models)):
        # A value that is not finite, as of left-censored rows or an impossible event, neither wins nor loses. A slope
        # may miss its ideal on either side: its difference is neither better nor worse.
        compared = [model for model in models[1:] if _is_finite(model, key)]
        if not compared or METRICS[key].direction == "nearest":
            continue
        results = _differences(key, [models[0], *compared], train, settings, cause)
        for model, one in zip(compared, results, strict=True):
            differences[model.name].append(one)
    smallest = 2 * (len(models) - 1) / (settings.bootstrap + 1)
    if smallest >= 1 - settings.confidence:
        warnings.warn(
            f"with {settings.bootstrap} resamples no p-value is below {smallest:.3g}, and no difference clear: "
            "give a larger --bootstrap.",
            stacklevel=2,
        )
    return Comparison(models, settings, differences, cause)


def log_likelihoods(models: Sequence[ComparedModel]) -> list[float]:
    """The log-likelihood of each model that has one."""
    return [model.metrics["log_likelihood"].value for model in models if "log_likelihood" in model.metrics]


def not_compared(models: Sequence[ComparedModel]) -> dict[str, list[str]]:
    """Names of the models for which a metric is infinite, by metric: there it is not compared."""
    infinite = {
        key: [model.name for model in models if key in model.metrics and math.isinf(model.metrics[key].value)]
        for key in METRICS
    }
    return {key: names for key, names in infinite.items() if names}


def infinite_times(predictions: TablePredictions, settings: MetricSettings) -> int:
    """Number of rows with an event whose predicted time is infinite, and with it the mean absolute error."""
    import numpy as np

    from aldsurv.metrics.point_estimates import point_estimate

    rows = predictions.rows
    if not (rows.exact | rows.right_censored).all():
        return 0
    times = point_estimate(predictions.predicted, rows, point=settings.error_point(predictions.model))
    return int(np.count_nonzero(np.isinf(times) & rows.exact & (rows.weights > 0)))


def best_places(key: str, values: Sequence[float]) -> list[int]:
    """Places of the best values of a metric, of ties all; none unless two values or more are finite.

    A value that is not finite neither wins nor loses: the only other one is not the best.
    """
    scores = [METRICS[key].score(value) for value in values]
    finite = [score for score in scores if math.isfinite(score)]
    return [place for place, score in enumerate(scores) if len(finite) > 1 and score == max(finite)]


def _is_finite(model: ComparedModel, key: str) -> bool:
    return key in model.metrics and math.isfinite(model.metrics[key].value)


def _differences(
    key: str, models: Sequence[ComparedModel], train: SurvivalData, settings: MetricSettings, cause: str | None
) -> list[Difference]:
    """Of one metric, each model but the first minus the first."""
    from aldsurv import metrics

    rows = models[0].predictions.rows
    compared = [_compared(METRICS[key], model.predictions, train, settings, cause) for model in models]
    options: dict[str, Any] = {} if cause is None else {"cause": cause}
    results = [
        metrics.compare(
            other,
            compared[0],
            rows,
            metric=key,
            train=train,
            samples=settings.bootstrap or 2,
            level=settings.confidence,
            random_state=settings.seed,
            **options,
        )
        for other in compared[1:]
    ]
    corrected = _holm_correction([float(result.p_value) for result in results])
    return [
        Difference(
            key, float(result.difference), float(result.lower), float(result.upper), float(result.p_value), p_corrected
        )
        for result, p_corrected in zip(results, corrected, strict=True)
    ]


def _compared(
    metric: MetricRecord,
    predictions: TablePredictions,
    train: SurvivalData,
    settings: MetricSettings,
    cause: str | None,
) -> Prediction:
    """What a metric is computed of: the predictions, or one time per row where that is enough."""
    from aldsurv.metrics.point_estimates import point_estimate, ranking_time

    model, predicted, rows = predictions.model, predictions.predicted, predictions.rows
    if cause is not None and predictions.incidence is not None:
        if not metric.uses_point:
            return predictions.incidence
        predicted = predictions.incidence.subdistribution(cause)
    if metric.ranks_rows:
        return ranking_time(predicted, rows, point=settings.ranking_point(model), train=train)
    return point_estimate(predicted, rows, point=settings.error_point(model)) if metric.uses_point else predicted


def _holm_correction(values: Sequence[float]) -> list[float]:
    """Holm's correction: of many p-values the smallest is small by chance."""
    order = sorted((value, place) for place, value in enumerate(values) if not math.isnan(value))
    corrected, largest = [math.nan] * len(values), 0.0
    for rank, (value, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * value))
        corrected[place] = largest
    return corrected
