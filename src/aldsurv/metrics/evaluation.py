"""Metrics of one prediction by name, each with confidence limits on request."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Choice, Number, WholeNumber, check, listed
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.errors import ImpossibleRowsWarning, ParameterError
from aldsurv.metrics.catalogue import Metric, find_metric
from aldsurv.metrics.cause_of_interest import Cause, cause_of_rows, event_of_interest
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution, matched_data
from aldsurv.metrics.error.impossible_rows import find_impossible_rows
from aldsurv.metrics.error.log_likelihood import bounded_log_likelihood, log_likelihood_rows
from aldsurv.metrics.evaluation_table import CauseEvaluations, Evaluation
from aldsurv.metrics.point_estimates import RANKING_POINTS, RankingPoint, error_point, point_estimate, ranking_time
from aldsurv.metrics.resampling.bootstrap import BootstrapResult, RandomState, all_replicates, summary, warn_of_skipped
from aldsurv.metrics.resampling.row_counts import by_counts, numbers
from aldsurv.nonparametric.censoring_weights import Ties
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted
from aldsurv.registry import METRICS, MetricRecord

__all__ = ["DEFAULT_METRICS", "evaluate", "evaluate_causes"]

# The nine of the paper in the order of its tables, and the log-likelihood.
DEFAULT_METRICS = (
    "mae",
    "ibs",
    "harrell_c",
    "uno_c",
    "cens_dcal",
    "cal_s_slope",
    "cal_s_intercept",
    "cal_f_slope",
    "cal_f_intercept",
    "log_likelihood",
    "bounded_log_likelihood",
)


@overload
def evaluate(
    predicted: PredictedDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    metrics: Sequence[str] | None = ...,
    cause: Cause = ...,
    point: RankingPoint = ...,
    ranking_point: RankingPoint | None = ...,
    truth: ArrayLike | None = ...,
    unit: float | None = ...,
    ties: Ties = ...,
    bootstrap: None = ...,
    confidence: float = ...,
    random_state: RandomState = ...,
) -> Evaluation[float]: ...


@overload
def evaluate(
    predicted: PredictedDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    metrics: Sequence[str] | None = ...,
    cause: Cause = ...,
    point: RankingPoint = ...,
    ranking_point: RankingPoint | None = ...,
    truth: ArrayLike | None = ...,
    unit: float | None = ...,
    ties: Ties = ...,
    bootstrap: int,
    confidence: float = ...,
    random_state: RandomState = ...,
) -> Evaluation[BootstrapResult]: ...


def evaluate(
    predicted: PredictedDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    metrics: Sequence[str] | None = None,
    cause: Cause = None,
    point: RankingPoint = "follow_up",
    ranking_point: RankingPoint | None = None,
    truth: ArrayLike | None = None,
    unit: float | None = None,
    ties: Ties = "events_first",
    bootstrap: int | None = None,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Evaluation[float] | Evaluation[BootstrapResult]:
    """Metrics of one prediction by name: by default the nine of the paper and the log-likelihood.

    A prediction may give a row no probability, as a curve that ends with the last event of training does to a later
    event: then ``log_likelihood`` is -inf, a warning says of which rows and why, and ``bounded_log_likelihood`` is the
    number to compare by.

    Of a prediction with causes the metrics are those of one `cause`; `evaluate_causes` gives them for all.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed: exact or right-censored, without delayed entry.
    train
        Rows that the censoring is estimated from, for ``ibs``, ``uno_c`` and others weighted by it.
    metrics
        Names of metrics, of `aldsurv.registry.METRICS`. Those that look at given times look at the quartiles, or the
        median, of the event times of the training rows, of any cause. None: the default ones; with a cause, those of
        them that are defined for it, and the log-likelihoods, which are of time and cause together, only if the
        prediction has a density.
    cause
        Number or name of the cause, where prediction, data and training rows have causes; None: they are of one event.
    point
        Time that represents a distribution in the errors, ``harrell_c`` and ``uno_c``, as in `point_estimate`; with
        ``"follow_up"`` the median in the errors, and ranks by the mean up to the end of follow-up, the time by which
        80 % of the training rows have left.
    ranking_point
        Of ``harrell_c`` and ``uno_c``, if not that of `point`.
    truth, unit
        As in `mean_absolute_error`; a unit of None is that of the data.
    ties
        Of ``ibs`` and other scores weighted by the censoring, as in `brier_score`; ``uno_c`` keeps its default.
    bootstrap
        Number of resamples for confidence limits of every metric, all from the same draws; the limits are those of
        `metrics.bootstrap`, which draws rows of one group together. None: no limits.
    confidence
        Confidence of the limits.
    random_state
        Seed or generator of the draws.

    Returns
    -------
    Evaluation
        A dict of the value of each metric, by name, as its function gives it; with `bootstrap` as a `BootstrapResult`.
        A notebook shows it as a table, and ``to_frame`` makes a pandas frame of it.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> predicted = Exponential([1.0, 2.0, 3.0, 6.0])
    >>> scores = evaluate(predicted, data, train=data)
    >>> round(scores["ibs"], 4), scores["harrell_c"]
    (0.138, 1.0)
    >>> evaluate(predicted, data, train=data, metrics=["harrell_c", "brier_skill"])
    {'harrell_c': 1.0, 'brier_skill': 0.3383}
    """
    rows = SurvivalData.of(data)
    distribution, _ = event_of_interest(predicted, rows, cause)
    matched_data(distribution, rows)
    if isinstance(predicted, CompetingDistribution) and cause is not None:
        number, seen = cause_of_rows(predicted, rows, cause)
        cause, rows = predicted.causes[number - 1], _with_causes(rows, seen, predicted.causes)
    if metrics is None:
        metrics = DEFAULT_METRICS if cause is None else _cause_metrics(predicted, rows)
    if isinstance(metrics, str) or not metrics:
        raise ParameterError(f"metrics must be a list of names, but is {metrics!r:.60}.", argument="metrics")
    check("point", point, Choice(RANKING_POINTS))
    check("ranking_point", ranking_point, Choice(RANKING_POINTS), none=True)
    if bootstrap is not None:
        check("bootstrap", bootstrap, WholeNumber(2), none=True)
        check("confidence", confidence, Number(0, 1, above=True, below=True))
    shared = {"truth": truth, "unit": 1.0 if unit is None else unit, "ties": ties, "cause": cause}
    times = _RowTimes(distribution, rows, train, point, point if ranking_point is None else ranking_point)
    calls = _calls(metrics, predicted, times, rows, train, shared)
    results = [numbers(call.metric(call.predicted, rows, **call.options)) for call in calls]
    places = [name for call in calls for name in call.names]
    values = dict(zip(places, np.concatenate(results).tolist(), strict=True))
    if values.get("log_likelihood") == -np.inf:
        _warn_of_impossible_rows(predicted, rows, train)
    if bootstrap is None:
        return Evaluation({name: values[name] for name in metrics})
    forms = [by_counts(call.metric, call.predicted, rows, call.options) for call in calls]
    drawn = all_replicates(
        lambda counts: np.concatenate([form(counts) for form in forms], axis=1), rows, bootstrap, random_state
    )
    columns = dict(zip(places, drawn.T, strict=True))
    for name in metrics:
        skipped = int(np.count_nonzero(np.isnan(columns[name])))
        if skipped:
            warn_of_skipped(name, skipped, bootstrap)
    results_by_name = {
        name: summary(
            values[name], columns[name][~np.isnan(columns[name]), None], confidence, bounds=METRICS[name].bounds
        )
        for name in metrics
    }
    return Evaluation(results_by_name)


@overload
def evaluate_causes(
    predicted: CompetingDistribution, data: SurvivalData, *, train: SurvivalData, bootstrap: None = ..., **options: Any
) -> CauseEvaluations[float]: ...
@overload
def evaluate_causes(
    predicted: CompetingDistribution, data: SurvivalData, *, train: SurvivalData, bootstrap: int, **options: Any
) -> CauseEvaluations[BootstrapResult]: ...
def evaluate_causes(
    predicted: CompetingDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    bootstrap: int | None = None,
    **options: Any,
) -> CauseEvaluations[Any]:
    """`evaluate` for each cause of a prediction, by the name of the cause.

    Parameters
    ----------
    predicted, data, train, bootstrap, **options
        As in `evaluate`. Resamples are the same for all causes, unless `random_state` is a generator.

    Examples
    --------
    >>> from aldsurv.distributions import CauseMixture, Exponential
    >>> data = SurvivalData.competing([1, 2, 3, 4, 5, 6], [1, 2, 0, 1, 2, 0], names=["relapse", "death"])
    >>> time = Exponential([2.0, 5.0, 4.0, 5.0, 6.0, 9.0])
    >>> predicted = CauseMixture([time, time], [0.5, 0.5], ["relapse", "death"])
    >>> evaluate_causes(predicted, data, train=data, metrics=["ibs", "harrell_c"])
    {'relapse': {'ibs': 0.1368, 'harrell_c': 0.9375}, 'death': {'ibs': 0.1519, 'harrell_c': 0.4375}}
    """
    if not isinstance(predicted, CompetingDistribution):
        raise ParameterError(
            f"predicted must be a CompetingDistribution, but is {type(predicted).__name__}",
            argument="predicted",
            advice="Give what predict_incidence predicts, or use evaluate.",
        )
    return CauseEvaluations(
        {
            name: evaluate(predicted, data, train=train, cause=name, bootstrap=bootstrap, **options)
            for name in predicted.causes
        }
    )


def _with_causes(rows: SurvivalData, cause: NDArray[np.int64], names: tuple[str, ...]) -> SurvivalData:
    """The rows with their causes numbered as in a prediction."""
    return SurvivalData.from_checked(rows.lower, rows.upper, rows.entry, rows.weight, cause, names, rows.group)


def _cause_metrics(predicted: PredictedDistribution, rows: SurvivalData) -> list[str]:
    """Those of the default metrics that a prediction with causes has."""
    events = np.flatnonzero(rows.exact)[:1]
    defined = ["each", "joint"]
    try:
        log_likelihood_rows(predicted[events], rows[events])
    except ParameterError:
        # Incidence that rises in steps has no density.
        defined.remove("joint")
    return [name for name in DEFAULT_METRICS if METRICS[name].causes in defined]


@final
@dataclass(frozen=True)
class _RowTimes:
    """One time per row for metrics that need no more, computed once for each use."""

    predicted: SurvivalDistribution
    rows: SurvivalData
    train: SurvivalData
    point: RankingPoint
    ranking_point: RankingPoint

    def of(self, record: MetricRecord) -> FloatArray:
        return self.ranking if record.ranks_rows else self.error

    @cached_property
    def error(self) -> FloatArray:
        return point_estimate(self.predicted, self.rows, point=error_point(self.point))

    @cached_property
    def ranking(self) -> FloatArray:
        if self.ranking_point == self.point != "follow_up":
            return self.error
        return ranking_time(self.predicted, self.rows, point=self.ranking_point, train=self.train)


@final
@dataclass(frozen=True)
class _Call:
    """A call of one function, and the names of the metrics that it gives."""

    metric: Metric
    predicted: PredictedDistribution | FloatArray
    options: Mapping[str, object]
    names: list[str]


def _calls(
    names: Sequence[str],
    predicted: PredictedDistribution,
    times: _RowTimes,
    rows: SurvivalData,
    train: SurvivalData,
    shared: Mapping[str, object],
) -> list[_Call]:
    """The calls that give the metrics; the parts of one function, such as slope and intercept, come from one call."""
    records = [METRICS[name] for name in dict.fromkeys(names)]
    if shared["cause"] is not None:
        _require_causes(records)
    by_function: dict[tuple[str, str | None], list[MetricRecord]] = {}
    for record in records:
        function = record.name if record.part is None else record.location
        # The same function at a time and over all follow-up are two calls.
        by_function.setdefault((function, record.time_argument), []).append(record)
    calls = []
    for group in by_function.values():
        metric = find_metric(group[0].name)
        if len(group) > 1:
            metric = replace(metric, part=tuple(record.part for record in group if record.part is not None))
        options = {name: value for name, value in shared.items() if name in metric.option_names}
        if group[0].name == "uno_c":
            # Its published definition has the weights of scikit-survival.
            del options["ties"]
        given = times.of(group[0]) if group[0].uses_point else predicted
        calls.append(_Call(metric, given, metric.options_with(train, options, rows), [record.name for record in group]))
    return calls


def _require_causes(records: Sequence[MetricRecord]) -> None:
    for record in records:
        if record.causes == "none":
            known = [other.name for other in METRICS.records() if other.causes != "none"]
            raise ParameterError(
                f"metric {quoted(record.name)} is not defined by cause; those that are: {listed(known, len(known))}.",
                argument="metrics",
            )


def _warn_of_impossible_rows(predicted: PredictedDistribution, rows: SurvivalData, train: SurvivalData) -> None:
    impossible = find_impossible_rows(predicted, rows)
    bounded = bounded_log_likelihood(predicted, rows, train=train)
    warnings.warn(
        ImpossibleRowsWarning(
            f"log_likelihood is -inf: {impossible.text()}. bounded_log_likelihood, with 1 % of an exponential "
            f"distribution mixed in, is {plain_number(bounded, 4)}.",
            rows=tuple(impossible.rows.tolist()),
        ),
        stacklevel=3,
    )
