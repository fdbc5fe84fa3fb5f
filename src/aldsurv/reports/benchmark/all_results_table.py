"""The table of all results: mean and standard deviation of every metric, and the published ones beside them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.paper.published import Published, published_results
from aldsurv.benchmark.plan import Plan
from aldsurv.benchmark.results import PAPER_METRICS, Results, Series
from aldsurv.benchmark.statistics import RunSummary, as_loss
from aldsurv.benchmark.tables.benchmark_table import NumberCell, format_cell
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["results_table"]

_METRICS = (*PAPER_METRICS, "log_likelihood")
_COLUMNS = (
    PageColumn("dataset", "Dataset", filtered=True),
    PageColumn("metric", "Metric", filtered=True),
    PageColumn("model", "Model", filtered=True),
    PageColumn("mean", "Ours", numeric=True, meaning="mean over the runs"),
    PageColumn("sd", "± sd", numeric=True, meaning="standard deviation over the runs"),
    PageColumn("published", "Published", numeric=True, meaning="mean as printed in the paper"),
    PageColumn("published_sd", "± sd", numeric=True, meaning="standard deviation as printed in the paper"),
    PageColumn("difference", "Difference", numeric=True, meaning="ours minus published, in published sds"),
    PageColumn("recipe", "Recipe", filtered=True),
    PageColumn("definition", "Definition", filtered=True, meaning="of a synthetic dataset"),
    PageColumn("variant", "Split by", filtered=True),
    PageColumn("runs", "Runs", numeric=True),
)
_CAPTION = "Mean and standard deviation of every metric, ours and published"
_ABOUT = (
    "For each dataset and metric the best mean is bold (slopes nearest to 1, intercepts nearest to 0). MAE and "
    "both C use the predicted mean of ALD and LogNorm and the predicted median of the other models, as published. "
    "Difference: ours minus published, in published standard deviations, where both are of the same data; the "
    "ledger says which agree. A click on a heading sorts ascending, descending, or restores the order."
)


def results_table(plan: Plan, results: Results) -> PageTable:
    """All results of a plan, cell by cell, with a dash for missing ones.

    Parameters
    ----------
    plan, results
        The plan of the benchmark, and its results.
    """
    published = published_results()
    series = [cell.series for cell in plan.cells()]
    summaries = {(one, metric): results.summary(one, metric) for one in series for metric in _METRICS}
    best = _best(summaries)
    groups: dict[tuple[str, ...], list[Series]] = {}
    for one in series:
        groups.setdefault((one.dataset, one.definition, one.variant), []).append(one)
    rows = tuple(
        _row(one, metric, summaries[one, metric], _beside(published, one, metric), (one, metric) in best)
        for group in groups.values()
        for metric in _METRICS
        for one in group
    )
    return PageTable(
        "all_results", _CAPTION, _COLUMNS, rows, about=_ABOUT, files=("tables/all_results.csv",), main=True
    )


def _beside(published: Mapping[tuple[str, str, str], Published], series: Series, metric: str) -> Published | None:
    """The published number, if it is of the same data."""
    same = series.definition in ("released", "real") and series.variant == "row"
    return published.get((series.dataset, series.model, metric)) if same else None


def _best(summaries: Mapping[tuple[Series, str], RunSummary]) -> set[tuple[Series, str]]:
    """The series whose mean has the lowest loss, for each dataset, definition, split and metric."""
    lowest: dict[tuple[str, ...], tuple[float, tuple[Series, str]]] = {}
    for (one, metric), (mean, _, _) in summaries.items():
        place = (one.dataset, one.definition, one.variant, metric)
        loss = float(as_loss(metric, mean))
        if np.isfinite(loss) and (place not in lowest or loss < lowest[place][0]):
            lowest[place] = (loss, (one, metric))
    return {winner for _, winner in lowest.values()}


def _row(series: Series, metric: str, ours: RunSummary, printed: Published | None, best: bool) -> tuple[PageCell, ...]:
    mean, sd, runs = ours
    difference = np.nan if printed is None else (mean - printed.mean) / printed.sd
    return (
        PageCell(dataset_title(series.dataset), name=series.dataset),
        PageCell(metric_title(metric), name=metric),
        PageCell(model_title(series.model), name=series.model),
        _number(mean, tone="best" if best else ""),
        _number(sd),
        _number(np.nan if printed is None else printed.mean),
        _number(np.nan if printed is None else printed.sd),
        _number(difference, digits=1),
        PageCell(series.recipe),
        PageCell(series.definition),
        PageCell(series.variant),
        PageCell(str(runs), runs),
    )


def _number(value: float, *, digits: int = 3, tone: str = "") -> PageCell:
    return PageCell(format_cell(NumberCell(value, digits=digits)), float(value), tone)
