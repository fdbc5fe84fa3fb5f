"""Tables of what the benchmark found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.paper.published import published_at_zero, published_by_summary
from aldsurv.benchmark.results import METRICS, POINT_METRICS, Results, Series
from aldsurv.benchmark.statistics import as_loss, spread
from aldsurv.benchmark.tables.table_value import Cell, Number, Table
from aldsurv.benchmark.view import View, in_order, sorted_datasets, sorted_models

__all__ = [
    "IBS_NOTE",
    "at_zero_table",
    "beyond_table",
    "definitions_table",
    "full_table",
    "grouping_table",
    "recipes_table",
    "seconds_table",
    "summary_table",
]

IBS_NOTE = (
    "The published IBS is an artefact: for LogNorm, DeepSurv and DeepHit it was computed with F in place of S, for "
    "CQRNN with the median alone, and with the Kaplan-Meier curve of events in place of that of censoring. Ours is "
    "Graf's, so that the two do not compare."
)
_SUMMARIES = ("mean", "median", "mode")
_BY_SUMMARY = tuple(metric for metric in METRICS if metric in POINT_METRICS)
_AT_ZERO = ("f0_p50", "f0_p75", "f0_p95")
_RUNS_NOTE = "Mean ± standard deviation over the runs."
_BOLD_NOTE = "Bold: nearest to the ideal, to the digits shown."

# Titles of a row, and where its values are.
Labelled = tuple[tuple[str, ...], Series]


def full_table(results: Results, *, view: View | None = None) -> Table:
    """Every dataset, model and metric of a view; the best model of each dataset is bold.

    Parameters
    ----------
    results
        Of the benchmark; models that are not there have no row.
    view
        Which series; None for the paper's.
    """
    chosen = view or View()
    found = chosen.series(results)
    groups: dict[str, list[Labelled]] = {}
    for (dataset, model), series in found.items():
        groups.setdefault(dataset, []).append(((dataset_title(dataset), model_title(model)), series))
    return Table(
        "results",
        f"All results (recipe {chosen.recipe}, synthetic datasets as {chosen.definition}, split by {chosen.variant})",
        ("Dataset", "Model", *(metric_title(metric) for metric in METRICS), "Runs"),
        tuple(row for group in groups.values() for row in _metric_rows(results, group)),
        f"{_RUNS_NOTE} {_BOLD_NOTE}",
        groups=1,
    )


def recipes_table(results: Results, *, definition: str = "released") -> Table:
    """Each model under the paper's recipe and its best one; models with one recipe are left out."""
    rows = _beside(
        results.where(definition=(definition, "real"), variant="row"), "recipe", ("paper", "best"), bold=True
    )
    return _beside_table("recipes", "The paper's recipe and the best one", "Recipe", rows, _BOLD_NOTE)


def definitions_table(results: Results, *, recipe: str = "paper") -> Table:
    """Synthetic datasets as their code was released, and as the paper prints them: not the same data."""
    rows = _beside(results.where(recipe=(recipe, "-"), variant="row"), "definition", ("released", "printed"))
    return _beside_table("definitions", "Synthetic datasets as released and as printed", "Definition", rows)


def grouping_table(results: Results, *, recipe: str = "paper") -> Table:
    """Datasets with several rows of one patient, split by row and by patient."""
    rows = _beside(results.where(recipe=(recipe, "-")), "variant", ("row", "group", "group, without case"))
    note = "Split by row, rows of one patient stand on both sides, which flatters whatever memorises."
    return _beside_table("grouping", "Split by row and by patient", "Split", rows, note)


def summary_table(results: Results, *, view: View | None = None) -> Table:
    """ALD by the summary that is taken as its predicted time, ours and published."""
    printed = published_by_summary()
    rows: list[tuple[Cell, ...]] = []
    for (dataset, model), series in (view or View()).series(results).items():
        if model != "ald":
            continue
        for summary in _SUMMARIES:
            cells: list[Cell] = [dataset_title(dataset), summary]
            for metric in _BY_SUMMARY:
                mean, sd, _ = spread(results.by_seed(series, metric, point=summary))
                there = printed.get((dataset, summary, metric), (np.nan, np.nan))
                cells += [Number(mean, sd), Number(*there)]
            rows.append(tuple(cells))
    both = [f"{metric_title(metric)}{side}" for metric in _BY_SUMMARY for side in ("", ", published")]
    note = (
        "The published Uno's C of median and mode does not go with the Harrell's C of the same rows. The published "
        "table by summary also has Cal[S] and Cal[f] exchanged against the full table."
    )
    return Table(
        "summaries", "ALD by mean, median and mode", ("Dataset", "Summary", *both), tuple(rows), note, groups=1
    )


def at_zero_table(results: Results, *, view: View | None = None) -> Table:
    """Percentiles over the test rows of the probability that ALD gives to times below 0, ours and published."""
    printed = published_at_zero()
    rows: list[tuple[Cell, ...]] = []
    for (dataset, model), series in (view or View()).series(results).items():
        if model == "ald":
            cells: list[Cell] = [dataset_title(dataset)]
            for metric in _AT_ZERO:
                mean, sd, _ = spread(results.by_seed(series, metric))
                cells.append(Number(mean, sd, digits=4, powers=True))
                cells.append(Number(printed.get((dataset, metric), np.nan), digits=4, powers=True))
            rows.append(tuple(cells))
    both = [f"{metric_title(metric)}{side}" for metric in _AT_ZERO for side in ("", ", published")]
    return Table("at_zero", "Percentiles of F(0|x) of ALD", ("Dataset", *both), tuple(rows))


def beyond_table(results: Results, *, view: View | None = None) -> Table:
    """Share of test rows whose predicted time is infinite, by dataset and model."""
    found = (view or View()).series(results)
    models = sorted_models(model for _, model in found)
    rows: list[tuple[Cell, ...]] = []
    for dataset in sorted_datasets(dataset for dataset, _ in found):
        series = [found.get((dataset, model)) for model in models]
        spreads = [spread([] if one is None else results.by_seed(one, "beyond")) for one in series]
        rows.append((dataset_title(dataset), *(Number(mean, sd) for mean, sd, _ in spreads)))
    note = (
        "In MAE and C these rows count with the largest training time. Mean of ALD and LogNorm, median of the others."
    )
    columns = ("Dataset", *(model_title(model) for model in models))
    return Table("beyond", "Share of rows whose predicted time is infinite", columns, tuple(rows), note)


def seconds_table(seconds: Mapping[str, tuple[float, float]], *, view: View | None = None) -> Table:
    """Seconds to fit all seeds, and to predict and evaluate them, by dataset and model.

    Parameters
    ----------
    seconds
        By name of a cell, as the store has them.
    view
        Which series; None for the paper's.
    """
    of = {Series(*name.split("/")): both for name, both in seconds.items()}
    found = (view or View()).series_among(of)
    models = sorted_models(model for _, model in found)
    nothing = (np.nan, np.nan)
    datasets = sorted_datasets(dataset for dataset, _ in found)
    spent = np.array([[of[found[d, m]] if (d, m) in found else nothing for m in models] for d in datasets])
    spent = spent.reshape(len(datasets), 2 * len(models))
    titles = [*(dataset_title(dataset) for dataset in datasets), "Total"]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (title, *(Number(float(value), digits=1) for value in row))
        for title, row in zip(titles, [*spent, np.nansum(spent, axis=0)], strict=True)
    )
    columns = [f"{model_title(model)}, {what}" for model in models for what in ("fit", "evaluate")]
    note = "Seconds for all seeds of a cell together, which are fitted in one loop where the model is a network."
    return Table("seconds", "Seconds by dataset and model", ("Dataset", *columns), rows, note)


def _metric_rows(results: Results, group: Sequence[Labelled], *, bold: bool = True) -> list[tuple[Cell, ...]]:
    """Titles, nine metrics and the number of runs; bold marks the best of the group if there are several."""
    spreads = [[spread(results.by_seed(series, metric)) for metric in METRICS] for _, series in group]
    best = [_best(metric, [row[k][0] for row in spreads]) for k, metric in enumerate(METRICS)]
    return [
        (
            *titles,
            *(Number(mean, sd, best=bold and place in best[k]) for k, (mean, sd, _) in enumerate(row)),
            Number(max(n for *_, n in row), digits=0),
        )
        for place, ((titles, _), row) in enumerate(zip(group, spreads, strict=True))
    ]


def _best(metric: str, means: Sequence[float]) -> set[int]:
    """Places of the best, as far as the digits shown tell; none where there is nothing to compare."""
    losses = np.round(as_loss(metric, np.round(means, 3)), 3)
    there = np.isfinite(losses)
    if there.sum() < 2:
        return set()
    return set(np.flatnonzero(losses == losses[there].min()).tolist())


def _beside(results: Results, field: str, order: Sequence[str], *, bold: bool = False) -> list[tuple[Cell, ...]]:
    """Rows of series that differ in one field only, each such group with more than one."""
    groups: dict[tuple[str, str], dict[str, Series]] = {}
    for series in results.series:
        groups.setdefault((series.dataset, series.model), {})[getattr(series, field)] = series
    rows: list[tuple[Cell, ...]] = []
    for dataset in sorted_datasets(dataset for dataset, _ in groups):
        for model in sorted_models(model for other, model in groups if other == dataset):
            group = groups[dataset, model]
            if len(group) > 1:
                titles = (dataset_title(dataset), model_title(model))
                labelled = [((*titles, value), group[value]) for value in in_order(group, order)]
                rows += _metric_rows(results, labelled, bold=bold)
    return rows


def _beside_table(name: str, title: str, field: str, rows: Iterable[tuple[Cell, ...]], note: str = "") -> Table:
    columns = ("Dataset", "Model", field, *(metric_title(metric) for metric in METRICS), "Runs")
    return Table(name, title, columns, tuple(rows), f"{_RUNS_NOTE} {note}".strip(), groups=2)
