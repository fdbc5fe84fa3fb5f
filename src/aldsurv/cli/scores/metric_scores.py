"""Metrics of predictions, with their limits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from aldsurv.cli.scores.metric_settings import MetricSettings
from aldsurv.cli.shared.number_text import format_count
from aldsurv.errors import CensoringError, ImpossibleRowsWarning, SkippedResamplesWarning, UndefinedMetricWarning
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import SurvivalDistribution
    from aldsurv.metrics import BootstrapResult
    from aldsurv.metrics.checked_arguments import PredictedDistribution
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table import Table

__all__ = [
    "FEW_EVENTS",
    "Score",
    "few_events_note",
    "impossible_rows_note",
    "infinite_times_note",
    "metric_warnings",
    "score_all",
    "score_calibration",
    "score_metric",
]


# Below so many events the limits of a bootstrap are too narrow.
FEW_EVENTS = 50


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
        odd = int((rows.left_censored | rows.interval_censored).sum())
        reason = f"{odd} of {len(rows)} are left- or interval-censored" if odd else error.problem
        warnings.warn(
            f"only calibration and log-likelihood are defined for these rows: {reason.removesuffix('.')}.", stacklevel=2
        )
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


def score_calibration(
    predicted: PredictedDistribution,
    rows: SurvivalData,
    settings: MetricSettings,
    *,
    time: float | None = None,
    cause: str | None = None,
) -> dict[str, Score]:
    """``calibration_slope`` and ``observed_expected_ratio``, at a time or over all follow-up, with limits.

    Empty where the censoring leaves them undefined; those that have no value for other reasons are NaN, with a warning.
    """
    from aldsurv.metrics.calibration_summary import calibration_summary

    try:
        results = calibration_summary(
            predicted,
            rows,
            time,
            cause=cause,
            confidence=settings.confidence,
            samples=settings.bootstrap or 2,
            random_state=settings.seed,
        )
    except CensoringError:
        return {}
    at = "" if time is None else f" at {time:g}"
    scores = {}
    for name in ("calibration_slope", "observed_expected_ratio"):
        result = results[name if time is None else f"{name}_at"]
        if result.reason:
            warnings.warn(f"{METRICS[name].title}{at} has no value: {result.reason}.", stacklevel=2)
        limits = (result.lower, result.upper) if settings.bootstrap else (math.nan, math.nan)
        scores[name] = Score(result.value, *limits)
    return scores


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
        if isinstance(message, SkippedResamplesWarning):
            # In the same words for all metrics, so that it is noted once.
            if message.skipped < message.samples:
                warnings.warn(_skipped_note(message), stacklevel=3)
            continue
        if isinstance(message, UndefinedMetricWarning):
            title = titles.get(message.metric, message.metric)
            where = f" {message.where}" if message.where else ""
            warnings.warn(f"{title} has no value{where}: {message.reason}.", stacklevel=3)
        else:
            warnings.warn(message, stacklevel=3)


def few_events_note(events: int) -> str:
    """What to know of scores that few events stand behind."""
    return f"only {format_count(events, 'event')}: the scores are uncertain, and their intervals too narrow."


def _skipped_note(skipped: SkippedResamplesWarning) -> str:
    verb = "has" if skipped.skipped == 1 else "have"
    return (
        f"{skipped.skipped} of {skipped.samples} resamples {verb} no comparable pair or no event: limits of scores "
        "that have no value there leave these out."
    )


def infinite_times_note(point: str, infinite: int, rows: int) -> str:
    """Why the mean absolute error is not finite."""
    return (
        f"the {point.replace('_', ' ')} of {infinite} of {rows} rows is infinite, and with it the mean absolute error: "
        "their survival curves do not fall far enough."
    )


def impossible_rows_note(predicted: SurvivalDistribution, rows: SurvivalData, table: Table) -> str:
    """Which rows make the log-likelihood infinite, why, and which number is finite.

    Parameters
    ----------
    predicted, rows
        The predictions, and the rows as observed; of episodes one per person.
    table
        Where the rows stand; a person goes by the row of the last episode.
    """
    from aldsurv.data.persons import episode_order
    from aldsurv.metrics.error.impossible_rows import find_impossible_rows

    numbers = table.row_numbers
    if table.y is not None and table.y.person is not None:
        order = episode_order(table.y)
        numbers = numbers[order.rows[order.last]]
    return (
        f"the log-likelihood is not finite: {find_impossible_rows(predicted, rows).text(numbers.tolist())}. Rows are "
        "counted from 1, without the header. The bounded log-likelihood, with 1 % of an exponential distribution mixed "
        "into each prediction, is finite."
    )
