"""What ``evaluate`` and ``compare`` share: predictions of a table, their metrics, and what to be warned of."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from aldsurv.cli.shared.metric_settings import MetricSettings
from aldsurv.cli.shared.outcome import OutcomeColumns, load_model, outcome_of, read_model_table, read_outcome_table
from aldsurv.errors import (
    AldsurvError,
    CensoringError,
    DataError,
    ImpossibleRowsWarning,
    ParameterError,
    SkippedResamplesWarning,
    UndefinedMetricWarning,
)
from aldsurv.quoting import quoted
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import SurvivalDistribution
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table import Table

__all__ = [
    "Evaluated",
    "Measured",
    "as_measured",
    "evaluated_rows",
    "measure",
    "measure_one",
    "told_in_figures",
    "training_rows",
]

# Of the metrics of `evaluate` those that heed every kind of censoring, and delayed entry.
_ANY_CENSORING = (
    "cens_dcal", "cal_s_slope", "cal_s_intercept", "cal_f_slope", "cal_f_intercept",
    "log_likelihood", "bounded_log_likelihood",
)  # fmt: skip


class Measured(NamedTuple):
    """A metric and its limits; NaN where there are none."""

    value: float
    lower: float
    upper: float


@final
@dataclass(frozen=True)
class Evaluated:
    """A model and what it predicts for the rows of a table."""

    path: str
    model: SurvivalEstimator
    table: Table
    rows: SurvivalData
    predicted: SurvivalDistribution


def evaluated_rows(model_path: str, table_path: str, given: OutcomeColumns) -> Evaluated:
    """Load a model, read a table with its outcome, and predict; errors name the model's file where it matters."""
    model = load_model(model_path)
    columns = _of_model(model_path, outcome_of, model, given)
    table = _of_model(model_path, read_model_table, table_path, model, columns)
    if table.y.right_censored.all():
        advice = f"Check which value of {quoted(columns.event)} is the event, and name it by --event-value."
        raise DataError(
            f"{str(table_path)!r} has no event in {len(table.y)} rows: there is nothing to hold predictions against. "
            f"{advice if columns.event else 'Check the columns of the bounds.'}"
        )
    return Evaluated(model_path, model, table, table.y, _of_model(model_path, model.predict_distribution, table.x))


def training_rows(path: str | None, evaluated: Evaluated, given: OutcomeColumns) -> SurvivalData:
    """Rows that the censoring is estimated from: those of `path`, or without one those evaluated."""
    if path is None:
        return evaluated.rows
    rows = read_outcome_table(path, outcome_of(evaluated.model, given)).y
    if rows is None:
        raise ParameterError(f"--train {path!r} has no outcome.")
    return rows


def measure(
    predicted: SurvivalDistribution, rows: SurvivalData, train: SurvivalData, settings: MetricSettings
) -> dict[str, Measured]:
    """The metrics of `metrics.evaluate` by name; those that the censoring leaves undefined are NaN, with a warning."""
    from aldsurv import metrics

    options: dict[str, Any] = {"confidence": settings.confidence, "random_state": settings.seed}
    found: dict[str, Any]
    try:
        with told_in_figures():
            found = metrics.evaluate(  # type: ignore[call-overload]
                predicted, rows, train=train, point=settings.point, bootstrap=settings.bootstrap, **options
            )
    except CensoringError as error:
        warnings.warn(f"only calibration and log-likelihood are defined for these rows: {error}", stacklevel=2)
        found = dict.fromkeys(("mae", "ibs", "harrell_c", "uno_c"), math.nan)
        for name in _ANY_CENSORING:
            found[name] = measure_one(name, predicted, rows, None, settings)
    return {name: as_measured(value) for name, value in found.items()}


def measure_one(
    name: str, predicted: SurvivalDistribution, rows: SurvivalData, train: SurvivalData | None,
    settings: MetricSettings, **options: Any,
) -> Measured:  # fmt: skip
    """One metric by name."""
    from aldsurv import metrics
    from aldsurv.metrics.catalogue import find_metric

    with told_in_figures():
        if settings.bootstrap is None:
            named = find_metric(name)
            return as_measured(named(predicted, rows, **named.options_with(train, options, rows)))
        return as_measured(
            metrics.bootstrap(
                name, predicted, rows, train=train, samples=settings.bootstrap, level=settings.confidence,
                random_state=settings.seed, **options,
            )
        )  # fmt: skip


def as_measured(found: Any) -> Measured:
    """A number, or one with limits, as the latter."""
    if isinstance(found, Measured):
        return found
    if isinstance(found, (int, float)):
        return Measured(float(found), math.nan, math.nan)
    return Measured(float(found.value), float(found.lower), float(found.upper))


def _of_model(path: str, action: Callable[..., Any], *arguments: Any) -> Any:
    """What the action gives; its errors name the model, of which there may be several."""
    try:
        return action(*arguments)
    except AldsurvError as error:
        told = str(error)
        raise type(error)(told if path in told else f"{Path(path).name}: {told}") from None


@contextmanager
def told_in_figures() -> Iterator[None]:
    """Warnings of metrics by the names that are printed, and not once more for each resample.

    Of impossible rows `notes_on_figures` tells, for every kind of censoring.
    """
    titles = {record.function_name: record.title for record in reversed(METRICS.records())} | {
        "brier_score": "Brier score"
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        message = warning.message
        if isinstance(message, ImpossibleRowsWarning):
            continue
        if isinstance(message, SkippedResamplesWarning) and message.skipped == message.samples:
            continue
        text = str(message)
        if isinstance(message, UndefinedMetricWarning) and message.metric in titles:
            where = f" {message.where}" if message.where else ""
            text = f"{titles[message.metric]} has no value{where}: {message.reason}."
        warnings.warn(text, warning.category, stacklevel=3)
