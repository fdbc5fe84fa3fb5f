"""Tables that set models, and our numbers and the published ones, against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.paper.calibration_bounds import calibration_bounds
from aldsurv.benchmark.paper.published import (
    Published,
    count_agreement,
    published_counts,
    published_results,
    recomputed_verdicts,
)
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.ranking import rank_models
from aldsurv.benchmark.results import METRICS, Results
from aldsurv.benchmark.statistics import FloatArray, spread
from aldsurv.benchmark.tables.result_tables import IBS_NOTE
from aldsurv.benchmark.tables.table_value import Cell, Number, Table
from aldsurv.benchmark.verdicts import Counts, count_verdicts, verdicts
from aldsurv.benchmark.view import View, sorted_models

__all__ = ["calibration_columns_table", "published_table", "ranking_table", "verdict_table"]

_SIDES = ("better", "worse", "same")
_EXCHANGED = {"cal_s": "cal_f", "cal_f": "cal_s"}


def verdict_table(
    results: Results, *, view: View | None = None, models: Sequence[str] = PAPER_MODELS, corrected: bool = False
) -> Table:
    """On how many datasets ALD is better, worse, the same: ours, as published, and recomputed from published means.

    Parameters
    ----------
    results, view
        As in `verdicts`.
    models
        Those compared, ALD among them. More of them mean more comparisons to correct for, and other verdicts.
    corrected
        Whether ours are by the corrected resampled t test instead of Student's.
    """
    recomputed = count_verdicts(recomputed_verdicts())
    ours = count_verdicts(verdicts(results.where(model=tuple(models)), view=view), corrected=corrected)
    sides = (ours, published_counts(), recomputed)
    others = sorted_models(model for model in models if model != "ald")
    rows = [
        _counts_row(metric_title(metric), other, [counts.get((metric, other)) for counts in sides])
        for metric in METRICS
        for other in others
    ]
    rows += [_counts_row("Total", other, [_total(counts, other) for counts in sides]) for other in others]
    agreement = count_agreement(recomputed)
    note = (
        f"Ours: {'the corrected resampled t test, paired by seed' if corrected else 'Student’s t test over the runs'}, "
        "Benjamini-Hochberg over all comparisons, 0.05. Recomputed: the paper's test with its printed means and "
        "standard deviations (|1 - slope| and |intercept| of the means); "
        f"{agreement.rows_equal} of {agreement.rows} rows come out as printed, and at least "
        f"{agreement.different_at_least} of {agreement.verdicts} verdicts differ. {IBS_NOTE}"
    )
    columns = [f"{side}, {who}" for who in ("ours", "published", "recomputed") for side in _SIDES]
    name = "verdicts_corrected" if corrected else "verdicts"
    return Table(name, "ALD against each other model", ("Metric", "Versus", *columns), tuple(rows), note, groups=1)


def published_table(results: Results, *, view: View | None = None) -> Table:
    """Each of the 945 published numbers beside ours."""
    found = (view or View()).series(results)
    rows: list[tuple[Cell, ...]] = []
    for (dataset, model, metric), printed in published_results().items():
        series = found.get((dataset, model))
        mean, sd, n = spread([] if series is None else results.by_seed(series, metric))
        gap = mean - printed.mean
        rows.append(
            (
                dataset_title(dataset),
                model_title(model),
                metric_title(metric),
                Number(*printed),
                Number(mean, sd),
                Number(n, digits=0),
                Number(gap),
                Number(gap / printed.sd if printed.sd > 0 else np.nan, digits=1),
            )
        )
    columns = ("Dataset", "Model", "Metric", "Published", "Ours", "Runs", "Difference", "Difference in published sds")
    note = (
        "Published numbers are over ten runs. Cal[S] and Cal[f] are compared as the full table of the paper has them. "
        f"{IBS_NOTE}"
    )
    return Table("published", "Each published number beside ours", columns, tuple(rows), note, groups=2)


def calibration_columns_table(results: Results, *, view: View | None = None) -> Table:
    """Whether our Cal[S] and Cal[f] are nearer to the published columns as printed, or exchanged."""
    found = (view or View()).series(results)
    printed = published_results()
    rows: list[tuple[Cell, ...]] = []
    for model in sorted_models(model for _, model in found):
        for column in ("cal_s", "cal_f"):
            for which in ("slope", "intercept"):
                metric, other = f"{column}_{which}", f"{_EXCHANGED[column]}_{which}"
                keys = [key for key in found if key[1] == model and (*key, metric) in printed]
                ours = np.array([spread(results.by_seed(found[key], metric))[0] for key in keys])
                straight = np.abs(ours - _means(printed, keys, metric))
                exchanged = np.abs(ours - _means(printed, keys, other))
                numbers = (*(_median(gap) for gap in (straight, exchanged)), int(np.sum(straight < exchanged)))
                cells = (Number(numbers[0], digits=4), Number(numbers[1], digits=4), Number(numbers[2], digits=0))
                rows.append((model_title(model), metric_title(metric), *cells, Number(len(keys), digits=0)))
    columns = ("Model", "Metric", "As printed", "Exchanged", "Nearer as printed", "Datasets")
    title = "Median distance of our calibration from the published, columns as printed and exchanged"
    return Table("calibration_columns", title, columns, tuple(rows), _bounds_note(), groups=1)


def ranking_table(results: Results, *, view: View | None = None) -> Table:
    """Mean ranks of the models over datasets by each metric, with Friedman's test and the critical difference."""
    models = sorted_models(model for _, model in (view or View()).series(results))
    rows: list[tuple[Cell, ...]] = []
    for metric in METRICS:
        found = rank_models(results, metric, view=view)
        ranks = dict(zip(found.models, found.mean_ranks, strict=True))
        best = min(found.mean_ranks, default=np.nan)
        rows.append(
            (
                metric_title(metric),
                *(Number(ranks[model], digits=2, best=ranks[model] == best) for model in models),
                Number(found.critical_difference, digits=2),
                Number(found.statistic, digits=1),
                Number(found.p_value, digits=4, powers=True),
                Number(found.n_datasets, digits=0),
            )
        )
    columns = ("Metric", *(model_title(model) for model in models), "Critical difference", "χ²", "p", "Datasets")
    note = (
        "1 is the best rank. Two models differ significantly if their mean ranks are further apart than the critical "
        "difference (Nemenyi, 0.05); p is of Friedman's test that none differs."
    )
    return Table("ranks", "Mean ranks over datasets", columns, tuple(rows), note)


def _counts_row(title: str, other: str, counts: Sequence[Counts | None]) -> tuple[Cell, ...]:
    numbers = [np.nan if one is None else float(one[k]) for one in counts for k in range(3)]
    return (title, model_title(other), *(Number(value, digits=0) for value in numbers))


def _total(counts: Mapping[tuple[str, str], Counts], other: str) -> Counts | None:
    mine = [found for (_, versus), found in counts.items() if versus == other]
    return Counts(*(sum(column) for column in zip(*mine, strict=True))) if mine else None


def _means(
    printed: Mapping[tuple[str, str, str], Published], keys: Sequence[tuple[str, str]], metric: str
) -> FloatArray:
    return np.array([printed[dataset, model, metric].mean for dataset, model in keys])


def _median(values: FloatArray) -> float:
    there = values[np.isfinite(values)]
    return float(np.median(there)) if there.size else np.nan


def _bounds_note() -> str:
    columns = [bound.column for bound in calibration_bounds() if bound.ratio > 1]
    return (
        "The paper's two large tables have these columns exchanged against each other. Slope and intercept of Cal[S] "
        "need a certain CensDcal: the pairs that the full table prints as Cal[S] need more than it prints beside them "
        f"in {columns.count('cal_s')} of 105 rows, those that it prints as Cal[f] in {columns.count('cal_f')}. So the "
        "labels of the full table are the wrong ones, as far as CensDcal was computed on the same ten bins."
    )
