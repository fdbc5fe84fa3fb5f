"""Tables of our results: every metric, ranks, choices side by side, seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.ranking import rank_models
from aldsurv.benchmark.results import PAPER_METRICS, Results, Series
from aldsurv.benchmark.statistics import as_loss
from aldsurv.benchmark.tables.benchmark_table import BenchmarkTable, NumberCell, TableCell
from aldsurv.benchmark.view import View, in_order, sorted_datasets, sorted_models

__all__ = [
    "definitions_table",
    "full_table",
    "grouping_table",
    "infinite_time_table",
    "ranking_table",
    "recipes_table",
    "seconds_table",
]

_RUNS_NOTE = "Mean ± standard deviation over the runs."
_BOLD_NOTE = "Bold: nearest to the ideal, to the digits shown."

# Titles of a row, and the series its values are from.
LabelledSeries = tuple[tuple[str, ...], Series]


def full_table(results: Results, *, view: View | None = None) -> BenchmarkTable:
    """Every dataset, model and metric of a view; the best model of each dataset is bold.

    Parameters
    ----------
    results
        Of the benchmark; models without results have no row.
    view
        Which series; None for the paper's.
    """
    view = view or View()
    groups: dict[str, list[LabelledSeries]] = {}
    for (dataset, model), series in view.series(results).items():
        groups.setdefault(dataset, []).append(((dataset_title(dataset), model_title(model)), series))
    return BenchmarkTable(
        "results",
        f"All results (recipe {view.recipe}, synthetic datasets as {view.definition}, split by {view.variant})",
        ("Dataset", "Model", *(metric_title(metric) for metric in PAPER_METRICS), "Runs"),
        tuple(row for group in groups.values() for row in _metric_rows(results, group)),
        f"{_RUNS_NOTE} {_BOLD_NOTE}",
        groups=1,
    )


def ranking_table(results: Results, *, view: View | None = None) -> BenchmarkTable:
    """Mean ranks of the models over datasets by each metric, with Friedman's test and the critical difference."""
    models = sorted_models(model for _, model in (view or View()).series(results))
    rows: list[tuple[TableCell, ...]] = []
    for metric in PAPER_METRICS:
        ranking = rank_models(results, metric, view=view)
        ranks = dict(zip(ranking.models, ranking.mean_ranks, strict=True))
        best = min(ranking.mean_ranks, default=np.nan)
        rows.append(
            (
                metric_title(metric),
                *(NumberCell(ranks[model], digits=2, best=ranks[model] == best) for model in models),
                NumberCell(ranking.critical_difference, digits=2),
                NumberCell(ranking.statistic, digits=1),
                NumberCell(ranking.p_value, digits=4, powers=True),
                NumberCell(ranking.n_datasets, digits=0),
            )
        )
    columns = ("Metric", *(model_title(model) for model in models), "Critical difference", "χ²", "p", "Datasets")
    note = (
        "1 is the best rank. Two models differ significantly if their mean ranks are further apart than the critical "
        "difference (Nemenyi, 0.05); p is of Friedman's test that none differs."
    )
    return BenchmarkTable("ranks", "Mean ranks over datasets", columns, tuple(rows), note)


def recipes_table(results: Results, *, definition: str = "released") -> BenchmarkTable:
    """Each model under the paper's recipe and its best one; models with one recipe are left out."""
    chosen = results.where(definition=(definition, "real"), variant="row")
    rows = _choice_rows(chosen, "recipe", ("paper", "best"), bold=True)
    return _choice_table("recipes", "The paper's recipe and the best one", "Recipe", rows, _BOLD_NOTE)


def definitions_table(results: Results, *, recipe: str = "paper") -> BenchmarkTable:
    """Synthetic datasets as their code was released, and as the paper prints them: these are different data."""
    rows = _choice_rows(results.where(recipe=(recipe, "-"), variant="row"), "definition", ("released", "printed"))
    return _choice_table("definitions", "Synthetic datasets as released and as printed", "Definition", rows)


def grouping_table(results: Results, *, recipe: str = "paper") -> BenchmarkTable:
    """Datasets with several rows per patient, split by row and by patient."""
    rows = _choice_rows(results.where(recipe=(recipe, "-")), "variant", ("row", "group", "group, without case"))
    note = (
        "When the data are split by row, rows of one patient are in both the training and the test part, which favours "
        "models that memorise rows."
    )
    return _choice_table("grouping", "Split by row and by patient", "Split", rows, note)


def infinite_time_table(results: Results, *, view: View | None = None) -> BenchmarkTable:
    """Share of test rows whose predicted time is infinite, by dataset and model."""
    chosen = (view or View()).series(results)
    models = sorted_models(model for _, model in chosen)
    rows: list[tuple[TableCell, ...]] = []
    for dataset in sorted_datasets(dataset for dataset, _ in chosen):
        shares = [results.summary(chosen.get((dataset, model)), "beyond") for model in models]
        rows.append((dataset_title(dataset), *(NumberCell(share.mean, share.sd) for share in shares)))
    note = (
        "In MAE and C these rows count with the largest training time. Predicted time: the mean of ALD and LogNorm, "
        "the median of the other models."
    )
    columns = ("Dataset", *(model_title(model) for model in models))
    return BenchmarkTable("beyond", "Share of rows whose predicted time is infinite", columns, tuple(rows), note)


def seconds_table(seconds: Mapping[str, tuple[float, float]], *, view: View | None = None) -> BenchmarkTable:
    """Seconds to fit all seeds, and to predict and evaluate them, by dataset and model.

    Parameters
    ----------
    seconds
        By name of a cell, as `Store.seconds` gives them.
    view
        Which series; None for the paper's.
    """
    by_series = {Series(*name.split("/")): both for name, both in seconds.items()}
    chosen = (view or View()).series_among(by_series)
    models = sorted_models(model for _, model in chosen)
    datasets = sorted_datasets(dataset for dataset, _ in chosen)
    missing = (np.nan, np.nan)
    spent = np.array([[by_series[chosen[d, m]] if (d, m) in chosen else missing for m in models] for d in datasets])
    spent = spent.reshape(len(datasets), 2 * len(models))
    titles = [*(dataset_title(dataset) for dataset in datasets), "Total"]
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (title, *(NumberCell(float(value), digits=1) for value in row))
        for title, row in zip(titles, [*spent, np.nansum(spent, axis=0)], strict=True)
    )
    columns = [f"{model_title(model)}, {step}" for model in models for step in ("fit", "evaluate")]
    note = "Seconds for all seeds of a cell together; the seeds of a network are fitted in one loop."
    return BenchmarkTable("seconds", "Seconds by dataset and model", ("Dataset", *columns), rows, note)


def _metric_rows(
    results: Results, group: Sequence[LabelledSeries], *, bold: bool = True
) -> list[tuple[TableCell, ...]]:
    """Titles, the nine metrics and the number of runs; the best of several rows is bold."""
    summaries = [[results.summary(series, metric) for metric in PAPER_METRICS] for _, series in group]
    best = [_best_rows(metric, [row[k].mean for row in summaries]) for k, metric in enumerate(PAPER_METRICS)]
    return [
        (
            *titles,
            *(NumberCell(one.mean, one.sd, best=bold and place in best[k]) for k, one in enumerate(row)),
            NumberCell(max(one.runs for one in row), digits=0),
        )
        for place, ((titles, _), row) in enumerate(zip(group, summaries, strict=True))
    ]


def _best_rows(metric: str, means: Sequence[float]) -> set[int]:
    """Places of the rows that are best to the digits shown; none if fewer than two have a value."""
    losses = np.round(as_loss(metric, np.round(means, 3)), 3)
    finite = np.isfinite(losses)
    if finite.sum() < 2:
        return set()
    return set(np.flatnonzero(losses == losses[finite].min()).tolist())


def _choice_rows(
    results: Results, field: str, order: Sequence[str], *, bold: bool = False
) -> list[tuple[TableCell, ...]]:
    """Rows of series that differ in one field only, where there are at least two of them."""
    groups: dict[tuple[str, str], dict[str, Series]] = {}
    for series in results.series:
        groups.setdefault((series.dataset, series.model), {})[getattr(series, field)] = series
    rows: list[tuple[TableCell, ...]] = []
    for dataset in sorted_datasets(dataset for dataset, _ in groups):
        for model in sorted_models(model for other, model in groups if other == dataset):
            group = groups[dataset, model]
            if len(group) > 1:
                titles = (dataset_title(dataset), model_title(model))
                labelled = [((*titles, value), group[value]) for value in in_order(group, order)]
                rows += _metric_rows(results, labelled, bold=bold)
    return rows


def _choice_table(
    name: str, title: str, field: str, rows: Iterable[tuple[TableCell, ...]], note: str = ""
) -> BenchmarkTable:
    columns = ("Dataset", "Model", field, *(metric_title(metric) for metric in PAPER_METRICS), "Runs")
    return BenchmarkTable(name, title, columns, tuple(rows), f"{_RUNS_NOTE} {note}".strip(), groups=2)
