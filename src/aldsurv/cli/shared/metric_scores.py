"""Metrics of predictions, with their limits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from aldsurv.cli.shared.metric_settings import MetricSettings
from aldsurv.errors import CensoringError, ImpossibleRowsWarning, SkippedResamplesWarning, UndefinedMetricWarning
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import SurvivalDistribution
    from aldsurv.metrics import BootstrapResult
    from aldsurv.metrics.checked_arguments import PredictedDistribution
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["Score", "impossible_rows_note", "infinite_times_note", "metric_warnings", "score_all", "score_metric"]


class Score(NamedTuple):
    """A metric and its limits; NaN where there are none."""

    value: float
    lower: float = math.nan
    upper: float = math.nan

    @classmethod
    def of(cls, result: float | BootstrapResult) -> Score:
        """A number, or one with limits."""
        if isinstance(result, (int, float)):
            return cls(float(result))
        return cls(float(result.value), float(result.lower), float(result.upper))


def score_all(
    model: SurvivalEstimator,
    predicted: SurvivalDistribution,
    rows: SurvivalData,
    train: SurvivalData,
    settings: MetricSettings,
) -> dict[str, Score]:
    """The metrics of `metrics.evaluate` by name, of what a model predicted, by the times that it predicts and ranks by.

    Those that the censoring leaves undefined are NaN, with a warning.
    """
    from aldsurv import metrics
    from aldsurv.metrics.evaluation import DEFAULT_METRICS

    if rows.group is not None and rows.n_groups < 2:
        # One person cannot be drawn again.
        settings = replace(settings, bootstrap=None)
    try:
        with metric_warnings():
            results = metrics.evaluate(
                predicted,
                rows,
                train=train,
                point=settings.error_point(model),
                ranking_point=settings.ranking_point(model),
                bootstrap=settings.bootstrap,
                confidence=settings.confidence,
                random_state=settings.seed,
            )
    except CensoringError as error:
        warnings.warn(f"only calibration and log-likelihood are defined for these rows: {error}", stacklevel=2)
        return {
            name: score_metric(name, predicted, rows, None, settings)
            if METRICS[name].any_censoring
            else Score(math.nan)
            for name in DEFAULT_METRICS
        }
    return {name: Score.of(result) for name, result in results.items()}


def score_metric(
    name: str,
    predicted: PredictedDistribution,
    rows: SurvivalData,
    train: SurvivalData | None,
    settings: MetricSettings,
    **options: Any,
) -> Score:
    """One metric by name."""
    from aldsurv import metrics
    from aldsurv.metrics.catalogue import find_metric

    with metric_warnings():
        if settings.bootstrap is None:
            metric = find_metric(name)
            return Score.of(metric(predicted, rows, **metric.options_with(train, options, rows)))
        result = metrics.bootstrap(
            name,
            predicted,
            rows,
            train=train,
            samples=settings.bootstrap,
            level=settings.confidence,
            random_state=settings.seed,
            **options,
        )
    return Score.of(result)


@contextmanager
def metric_warnings() -> Iterator[None]:
    """Warnings of metrics by the titles that are printed, and only once for all resamples.

    Rows without probability have a note of their own, `impossible_rows_note`, for every kind of censoring.
    """
    titles = {record.function_name: record.title for record in reversed(METRICS.records())}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        message = warning.message
        if isinstance(message, ImpossibleRowsWarning):
            continue
        if isinstance(message, SkippedResamplesWarning) and message.skipped == message.samples:
            continue
        if isinstance(message, UndefinedMetricWarning):
            title = titles.get(message.metric, message.metric)
            where = f" {message.where}" if message.where else ""
            warnings.warn(f"{title} has no value{where}: {message.reason}.", stacklevel=3)
        else:
            warnings.warn(message, stacklevel=3)


def infinite_times_note(point: str, infinite: int, rows: int) -> str:
    """Why the mean absolute error is not finite."""
    return (
        f"the {point.replace('_', ' ')} of {infinite} of {rows} rows is infinite, and with it the mean absolute error: "
        "their survival curves do not fall far enough."
    )


def impossible_rows_note(predicted: SurvivalDistribution, rows: SurvivalData) -> str:
    """Why the log-likelihood is not finite, and which number is."""
    import numpy as np

    from aldsurv.metrics.error.log_likelihood import log_likelihood_rows

    impossible = int(np.isneginf(log_likelihood_rows(predicted, rows)).sum())
    return (
        f"{impossible} of {len(rows)} rows have no probability under the prediction, as events after the last step of "
        "a curve, or between two steps: the log-likelihood is not finite. The bounded one mixes 1 % of an exponential "
        "distribution into each prediction."
    )
