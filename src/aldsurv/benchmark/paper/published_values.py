"""Results with any deviations of the published evaluation switched on, as a benchmark stores them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations

from aldsurv.benchmark.paper.published_evaluation import (
    SWITCHES,
    PublishedEvaluation,
    exchanged_metric,
    switches_of,
)
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import PAPER_METRICS, POINT_METRICS, Result, Results, Series, published_point
from aldsurv.benchmark.statistics import FloatArray
from aldsurv.checks import Choice, check

__all__ = [
    "all_switches",
    "as_published",
    "by_seed_as_published",
    "checked_switches",
    "comparable",
    "has_published_values",
    "stored_values",
]

# It exchanges two columns of what is stored anyway.
_NOT_STORED = "exchanged_columns"


def comparable(series: Series) -> bool:
    """Whether a series is of the paper's models, recipe, data and split."""
    return (
        series.model in PAPER_MODELS
        and series.recipe == "paper"
        and series.definition in ("released", "real")
        and series.variant == "row"
    )


def all_switches(model: str, metric: str) -> list[tuple[str, ...]]:
    """Every combination of the switches that change a metric of a model, those with the fewest first."""
    names = switches_of(model, metric)
    return [on for count in range(len(names) + 1) for on in combinations(names, count)]


def checked_switches(names: Iterable[str]) -> tuple[str, ...]:
    """The switches of these names, in their order; an unknown name is an error."""
    wanted = list(names)
    for name in wanted:
        check("without", name, Choice(SWITCHES))
    return tuple(name for name in SWITCHES if name in wanted)


def stored_values(evaluation: PublishedEvaluation) -> dict[str, float]:
    """Values to store beside those by the definition, by the name of the metric and its switches."""
    return {
        _stored_name(metric, on): evaluation.value(metric, on)
        for metric in PAPER_METRICS
        for on in all_switches(evaluation.model, metric)
        if on and _NOT_STORED not in on
    }


def by_seed_as_published(
    results: Results, series: Series, metric: str, switches: Collection[str] = SWITCHES
) -> FloatArray:
    """Values with these switches on, in the order of the seeds; empty if the benchmark has not stored them."""
    on = set(switches) & set(switches_of(series.model, metric))
    if _NOT_STORED in on:
        metric = exchanged_metric(metric)
    on.discard(_NOT_STORED)
    return results.by_seed(series, _stored_name(metric, on) if on else metric)


def has_published_values(results: Results) -> bool:
    """Whether the benchmark has stored values of the published evaluation, which only the paper's recipe has."""
    return any(comparable(one) and by_seed_as_published(results, one, "ibs").size > 0 for one in results.series)


def as_published(results: Results, switches: Collection[str] = SWITCHES) -> Results:
    """The results with the nine metrics of the paper's models computed with these switches on.

    Metrics that a switch does not change, other models, recipes and splits are as they were.
    """
    replaced: dict[tuple[Series, str, str], dict[int, float]] = {}
    for series in results.series:
        for metric in PAPER_METRICS if comparable(series) else ():
            point = published_point(series.model) if metric in POINT_METRICS else ""
            values = by_seed_as_published(results, series, metric, switches)
            if values.size:
                replaced[series, metric, point] = dict(zip(results.seeds, values, strict=True))
    rows = [
        Result(*row[:4], replaced.get((row.series, row.metric, row.point), {}).get(row.seed, row.value))
        for row in results
    ]
    return Results(rows, results.curves)


def _stored_name(metric: str, on: Collection[str]) -> str:
    return f"{metric}@{'+'.join(name for name in SWITCHES if name in on)}"
