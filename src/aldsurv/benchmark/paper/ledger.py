"""A ledger of all published numbers: ours by the definition, ours the published way, and whether they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from aldsurv.benchmark.paper.published import Published, published_results
from aldsurv.benchmark.paper.published_evaluation import SWITCHES, switches_of
from aldsurv.benchmark.paper.published_values import by_seed_as_published, comparable
from aldsurv.benchmark.paper.reasons import reason_for
from aldsurv.benchmark.results import PAPER_METRICS, Results, Series
from aldsurv.benchmark.statistics import RunSummary, run_summary
from aldsurv.benchmark.view import sorted_datasets, sorted_models

__all__ = ["AGREES_WITHIN", "LedgerRow", "Status", "count_agreeing", "ledger", "published_distance", "switch_effects"]

Status = Literal["definition", "published way", "unexplained"]
# Means at most this many published standard deviations apart agree.
AGREES_WITHIN = 2.0


class LedgerRow(NamedTuple):
    """One published number.

    Attributes
    ----------
    dataset, model, metric
        Which number, as the full table of the paper labels it.
    published
        As printed.
    definition, published_way
        Ours by the definition, and with the switches of the published evaluation on.
    definition_distance, published_way_distance
        Distance of our mean from the published one, in published standard deviations.
    status
        ``"definition"``: our mean agrees by the definition. ``"published way"``: it does with the switches on.
        ``"unexplained"``: it does not.
    because
        The fewest switches with which our mean agrees, where it does not by the definition.
    reason
        A sentence, where the published way does not agree.
    """

    dataset: str
    model: str
    metric: str
    published: Published
    definition: RunSummary
    published_way: RunSummary
    definition_distance: float
    published_way_distance: float
    status: Status
    because: tuple[str, ...]
    reason: str

    @property
    def agrees(self) -> bool:
        """Whether our mean agrees the published way."""
        return self.published_way_distance <= AGREES_WITHIN


def ledger(results: Results, switches: Collection[str] = SWITCHES) -> list[LedgerRow]:
    """A row per published number that the results have, by dataset, model and metric; 945 in all.

    Parameters
    ----------
    results
        Of a benchmark with the paper's recipe; series of other recipes, definitions and splits are ignored.
    switches
        Deviations that the published way has.
    """
    printed = published_results()
    return [_row(results, series, metric, printed, switches) for series, metric in _cells(results, printed)]


def count_agreeing(rows: Iterable[LedgerRow]) -> Counter[str]:
    """Rows by status, and as ``"agrees"`` those that agree the published way."""
    given = list(rows)
    counts: Counter[str] = Counter(row.status for row in given)
    counts["agrees"] = sum(row.agrees for row in given)
    return counts


def switch_effects(results: Results) -> dict[tuple[str, ...], dict[str, int]]:
    """How many published numbers agree by metric, for every combination of the switches."""
    printed = published_results()
    # A combination changes a cell only by the switches that concern it, so each cell has few distinct values.
    agreeing: dict[tuple[Series, str], dict[tuple[str, ...], bool]] = {}
    for series, metric in _cells(results, printed):
        names = switches_of(series.model, metric)
        published = printed[series.dataset, series.model, metric]
        agreeing[series, metric] = {
            on: published_distance(_summary(results, series, metric, on).mean, published) <= AGREES_WITHIN
            for count in range(len(names) + 1)
            for on in combinations(names, count)
        }
    effects: dict[tuple[str, ...], dict[str, int]] = {}
    for count in range(len(SWITCHES) + 1):
        for on in combinations(SWITCHES, count):
            counts = dict.fromkeys(PAPER_METRICS, 0)
            for (series, metric), by_switches in agreeing.items():
                counts[metric] += by_switches[tuple(name for name in switches_of(series.model, metric) if name in on)]
            effects[on] = counts
    return effects


def published_distance(mean: float, published: Published) -> float:
    """Distance of a mean from a published one, in published standard deviations.

    Examples
    --------
    >>> round(published_distance(0.62, Published(0.6, 0.01)), 6)
    2.0
    """
    return abs(mean - published.mean) / published.sd


def _cells(results: Results, printed: Mapping[tuple[str, str, str], Published]) -> list[tuple[Series, str]]:
    """Series and metrics that have published numbers and all of our values, in the order of the paper."""
    chosen = {(one.dataset, one.model): one for one in results.series if comparable(one)}
    datasets, models = sorted_datasets(name for name, _ in chosen), sorted_models(name for _, name in chosen)
    return [
        (chosen[dataset, model], metric)
        for dataset in datasets
        for model in models
        for metric in PAPER_METRICS
        if (dataset, model) in chosen
        and (dataset, model, metric) in printed
        and by_seed_as_published(results, chosen[dataset, model], metric).size
    ]


def _row(
    results: Results,
    series: Series,
    metric: str,
    printed: Mapping[tuple[str, str, str], Published],
    switches: Collection[str],
) -> LedgerRow:
    published = printed[series.dataset, series.model, metric]
    definition = _summary(results, series, metric, ())
    as_published = _summary(results, series, metric, switches)
    distances = (published_distance(definition.mean, published), published_distance(as_published.mean, published))
    status: Status = "unexplained"
    because: tuple[str, ...] = ()
    if distances[0] <= AGREES_WITHIN:
        status = "definition"
    elif distances[1] <= AGREES_WITHIN:
        status, because = "published way", _fewest(results, series, metric, published, switches)
    reason = ""
    if not distances[1] <= AGREES_WITHIN:
        key = series.dataset, series.model, metric
        reason = reason_for(*key, distances[1], agrees_by_definition=status == "definition")
    return LedgerRow(
        series.dataset, series.model, metric, published, definition, as_published, *distances, status, because, reason
    )


def _fewest(
    results: Results, series: Series, metric: str, published: Published, switches: Collection[str]
) -> tuple[str, ...]:
    """The fewest of the switches with which our mean agrees."""
    names = [name for name in switches_of(series.model, metric) if name in switches]
    return next(
        on
        for count in range(1, len(names) + 1)
        for on in combinations(names, count)
        if published_distance(_summary(results, series, metric, on).mean, published) <= AGREES_WITHIN
    )


def _summary(results: Results, series: Series, metric: str, switches: Collection[str]) -> RunSummary:
    values = by_seed_as_published(results, series, metric, switches)
    return run_summary(values) if values.size else RunSummary(np.nan, np.nan, 0)
