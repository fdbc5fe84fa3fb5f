"""Tables that set our numbers beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.paper.calibration_bounds import calibration_bounds
from aldsurv.benchmark.paper.published import (
    Published,
    count_agreement,
    published_at_zero,
    published_by_summary,
    published_counts,
    published_results,
    recomputed_verdicts,
)
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import MASS_BELOW_ZERO, PAPER_METRICS, POINT_METRICS, POINTS, REFERENCE_MODEL, Results
from aldsurv.benchmark.statistics import FloatArray
from aldsurv.benchmark.tables.benchmark_table import BenchmarkTable, NumberCell, TableCell
from aldsurv.benchmark.verdicts import Counts, count_verdicts, verdicts
from aldsurv.benchmark.view import View, sorted_models

__all__ = [
    "calibration_columns_table",
    "mass_below_zero_table",
    "summary_table",
    "verdict_table",
]

_IBS_NOTE = (
    "The published IBS is an artefact: for LogNorm, DeepSurv and DeepHit it was computed with F in place of S, for "
    "CQRNN from the nearest of nine quantiles, and with the Kaplan-Meier curve of events in place of that of censoring."
)
_COUNT_COLUMNS = ("better", "worse", "same")
_EXCHANGED = {"cal_s": "cal_f", "cal_f": "cal_s"}
_BY_SUMMARY = tuple(metric for metric in PAPER_METRICS if metric in POINT_METRICS)


def verdict_table(
    results: Results, *, view: View | None = None, models: Sequence[str] = PAPER_MODELS, corrected: bool = False
) -> BenchmarkTable:
    """On how many datasets ALD is better, worse, the same: ours, as published, and recomputed from published means.

    Parameters
    ----------
    results, view
        As in `verdicts`.
    models
        Models that are compared, ALD among them. More models mean more comparisons to correct for, and other verdicts.
    corrected
        Whether ours are by the corrected resampled t test instead of Student's.
    """
    recomputed = count_verdicts(recomputed_verdicts())
    ours = count_verdicts(verdicts(results.where(model=tuple(models)), view=view), corrected=corrected)
    sources = (ours, published_counts(), recomputed)
    others = sorted_models(model for model in models if model != REFERENCE_MODEL)
    rows = [
        _counts_row(metric_title(metric), other, [counts.get((metric, other)) for counts in sources])
        for metric in PAPER_METRICS
        for other in others
    ]
    totals = {other: [_total(counts, other) for counts in sources] for other in others}
    rows += [_counts_row("Total", other, total) for other, total in totals.items()]
    rows += [_proportion_row(other, total) for other, total in totals.items()]
    agreement = count_agreement(recomputed)
    note = (
        "Numbers of datasets; proportions are of all comparisons with a model. "
        f"Ours: {'the corrected resampled t test, paired by seed' if corrected else 'Student’s t test over the runs'}, "
        "Benjamini-Hochberg over all comparisons, 0.05. Recomputed: the paper's test with its printed means and "
        "standard deviations (|1 - slope| and |intercept| of the means); "
        f"{agreement.rows_equal} of {agreement.rows} rows equal the printed ones, and at least "
        f"{agreement.different_at_least} of {agreement.verdicts} verdicts differ. {_IBS_NOTE}"
    )
    columns = [f"{count}, {source}" for source in ("ours", "published", "recomputed") for count in _COUNT_COLUMNS]
    name = "verdicts_corrected" if corrected else "verdicts"
    title = "ALD against each other model"
    return BenchmarkTable(name, title, ("Metric", "Versus", *columns), tuple(rows), note, groups=1)


def summary_table(results: Results, *, view: View | None = None) -> BenchmarkTable:
    """ALD by the summary that is taken as its predicted time, ours and published."""
    printed = published_by_summary()
    rows: list[tuple[TableCell, ...]] = []
    for (dataset, model), series in (view or View()).series(results).items():
        if model != REFERENCE_MODEL:
            continue
        for point in POINTS:
            cells: list[TableCell] = [dataset_title(dataset), point]
            for metric in _BY_SUMMARY:
                ours = results.summary(series, metric, point=point)
                cells.append(NumberCell(ours.mean, ours.sd))
                cells.append(NumberCell(*printed.get((dataset, point, metric), (np.nan, np.nan))))
            rows.append(tuple(cells))
    note = (
        "The published Uno's C of median and mode is not consistent with the Harrell's C of the same rows. The "
        "published table by summary also has Cal[S] and Cal[f] exchanged with respect to the full table."
    )
    columns = ("Dataset", "Summary", *_ours_and_published(_BY_SUMMARY))
    return BenchmarkTable("summaries", "ALD by mean, median and mode", columns, tuple(rows), note, groups=1)


def mass_below_zero_table(results: Results, *, view: View | None = None) -> BenchmarkTable:
    """Percentiles over the test rows of the probability that ALD gives to times below 0, ours and published."""
    printed = published_at_zero()
    rows: list[tuple[TableCell, ...]] = []
    for (dataset, model), series in (view or View()).series(results).items():
        if model != REFERENCE_MODEL:
            continue
        cells: list[TableCell] = [dataset_title(dataset)]
        for metric in MASS_BELOW_ZERO:
            ours = results.summary(series, metric)
            cells.append(NumberCell(ours.mean, ours.sd, digits=4, powers=True))
            cells.append(NumberCell(printed.get((dataset, metric), np.nan), digits=4, powers=True))
        rows.append(tuple(cells))
    columns = ("Dataset", *_ours_and_published(MASS_BELOW_ZERO))
    return BenchmarkTable("at_zero", "Percentiles of F(0|x) of ALD", columns, tuple(rows))


def calibration_columns_table(results: Results, *, view: View | None = None) -> BenchmarkTable:
    """Whether our Cal[S] and Cal[f] are nearer to the published columns as printed, or exchanged."""
    chosen = (view or View()).series(results)
    printed = published_results()
    rows: list[tuple[TableCell, ...]] = []
    for model in sorted_models(model for _, model in chosen):
        for column in ("cal_s", "cal_f"):
            for which in ("slope", "intercept"):
                metric, other = f"{column}_{which}", f"{_EXCHANGED[column]}_{which}"
                keys = [key for key in chosen if key[1] == model and (*key, metric) in printed]
                ours = np.array([results.summary(chosen[key], metric).mean for key in keys])
                straight = np.abs(ours - _printed_means(printed, keys, metric))
                exchanged = np.abs(ours - _printed_means(printed, keys, other))
                rows.append(
                    (
                        model_title(model),
                        metric_title(metric),
                        NumberCell(_median(straight), digits=4),
                        NumberCell(_median(exchanged), digits=4),
                        NumberCell(int(np.sum(straight < exchanged)), digits=0),
                        NumberCell(len(keys), digits=0),
                    )
                )
    columns = ("Model", "Metric", "As printed", "Exchanged", "Nearer as printed", "Datasets")
    title = "Median distance of our calibration from the published, columns as printed and exchanged"
    return BenchmarkTable("calibration_columns", title, columns, tuple(rows), _bounds_note(), groups=1)


def _ours_and_published(metrics: Sequence[str]) -> list[str]:
    """Titles of two columns per metric."""
    return [f"{metric_title(metric)}{source}" for metric in metrics for source in ("", ", published")]


def _counts_row(title: str, other: str, counts: Sequence[Counts | None]) -> tuple[TableCell, ...]:
    numbers = [np.nan if one is None else float(one[k]) for one in counts for k in range(3)]
    return (title, model_title(other), *(NumberCell(value, digits=0) for value in numbers))


def _proportion_row(other: str, totals: Sequence[Counts | None]) -> tuple[TableCell, ...]:
    """Shares of the comparisons with a model that are better, worse, the same."""
    shares: list[float] = []
    for one in totals:
        compared = 0 if one is None else one.better + one.worse + one.same
        shares += [np.nan] * 3 if one is None or not compared else [count / compared for count in one]
    return ("Proportion", model_title(other), *(NumberCell(share) for share in shares))


def _total(counts: Mapping[tuple[str, str], Counts], other: str) -> Counts | None:
    by_metric = [one for (_, versus), one in counts.items() if versus == other]
    return Counts(*(sum(column) for column in zip(*by_metric, strict=True))) if by_metric else None


def _printed_means(
    printed: Mapping[tuple[str, str, str], Published], keys: Sequence[tuple[str, str]], metric: str
) -> FloatArray:
    return np.array([printed[dataset, model, metric].mean for dataset, model in keys])


def _median(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else np.nan


def _bounds_note() -> str:
    columns = [bound.column for bound in calibration_bounds() if bound.ratio > 1]
    return (
        "The paper's two large tables have these columns exchanged with respect to each other. Slope and intercept of "
        "Cal[S] imply a least CensDcal: the pairs that the full table prints as Cal[S] imply more than the CensDcal "
        f"printed beside them in {columns.count('cal_s')} of 105 rows, those that it prints as Cal[f] in "
        f"{columns.count('cal_f')}. So the labels of the full table are the wrong ones, provided that CensDcal was "
        "computed on the same ten bins."
    )
