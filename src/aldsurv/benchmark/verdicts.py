"""Whether a model is better, worse or the same as each other one, on each dataset and metric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from aldsurv.benchmark.results import PAPER_METRICS, POINT_METRICS, REFERENCE_MODEL, Results, Series, published_point
from aldsurv.benchmark.statistics import (
    adjusted_p_values,
    as_loss,
    corrected_resampled_t,
    run_summary,
    student_t_from_summary,
)
from aldsurv.benchmark.view import View
from aldsurv.datasets import describe

__all__ = ["Counts", "Outcome", "Verdict", "count_verdicts", "judge", "verdicts"]

Outcome = Literal["better", "worse", "same"]


class Verdict(NamedTuple):
    """A comparison of two models on one dataset by one metric.

    Attributes
    ----------
    dataset, metric, versus
        The dataset, the metric, and the other model.
    difference
        Mean loss (`as_loss`) less that of the other model: negative is better.
    p_value, adjusted, verdict
        The p-value of Student's t test over the runs, adjusted by Benjamini and Hochberg over all comparisons, and the
        verdict; None where there is no test.
    corrected_p, corrected_adjusted, corrected_verdict
        The same by the corrected resampled t test, which takes into account that runs share rows.
    """

    dataset: str
    metric: str
    versus: str
    difference: float
    p_value: float
    adjusted: float
    verdict: Outcome | None
    corrected_p: float = np.nan
    corrected_adjusted: float = np.nan
    corrected_verdict: Outcome | None = None


class Counts(NamedTuple):
    """On how many datasets a model is better, worse, the same."""

    better: int
    worse: int
    same: int


def verdicts(
    results: Results, *, view: View | None = None, model: str = REFERENCE_MODEL, level: float = 0.05
) -> list[Verdict]:
    """Compare a model with every other one on each dataset and metric.

    Parameters
    ----------
    results
        Of the benchmark. Models and datasets without results have no verdicts.
    view
        Which series; None for the paper's.
    model
        The model that is called better, worse or the same.
    level
        False discovery rate, over all comparisons that can be made.
    """
    chosen = (view or View()).series(results)
    pairs = [
        (metric, chosen[dataset, model], series)
        for metric in PAPER_METRICS
        for (dataset, other), series in chosen.items()
        if other != model and (dataset, model) in chosen
    ]
    losses = _losses(results, {series for _, *both in pairs for series in both})
    empty: dict[int, float] = {}
    runs = [[losses.get((series, metric), empty) for series in both] for metric, *both in pairs]
    summaries = [(*run_summary(list(first.values())), *run_summary(list(second.values()))) for first, second in runs]
    student = student_t_from_summary(*np.array(summaries).reshape(-1, 6).T)
    corrected = np.array(
        [_corrected_p(first, second, series) for (first, second), (_, series, _) in zip(runs, pairs, strict=True)]
    )
    q, corrected_q = adjusted_p_values(student.p_value), adjusted_p_values(corrected)
    return [
        Verdict(
            series.dataset, metric, other.model,
            float(difference),
            float(p), float(adjusted), judge(difference, adjusted, level),
            float(c), float(c_adjusted), judge(difference, c_adjusted, level),
        )
        for (metric, series, other), difference, p, adjusted, c, c_adjusted in zip(
            pairs, student.difference, student.p_value, q, corrected, corrected_q, strict=True
        )
    ]  # fmt: skip


def judge(difference: float, adjusted: float, level: float) -> Outcome | None:
    """The verdict from a difference of losses and its adjusted p-value; None without a p-value."""
    if np.isnan(adjusted):
        return None
    if adjusted >= level:
        return "same"
    return "better" if difference < 0 else "worse"


def count_verdicts(given: Iterable[Verdict], *, corrected: bool = False) -> dict[tuple[str, str], Counts]:
    """Verdicts counted over datasets, by metric and model; those without a test are not counted.

    Parameters
    ----------
    given
        From `verdicts`.
    corrected
        Whether to count those of the corrected test.
    """
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for one in given:
        by_outcome = counts.setdefault((one.metric, one.versus), {"better": 0, "worse": 0, "same": 0})
        outcome = one.corrected_verdict if corrected else one.verdict
        if outcome is not None:
            by_outcome[outcome] += 1
    return {key: Counts(**by_outcome) for key, by_outcome in counts.items()}


def _losses(results: Results, wanted: set[Series]) -> dict[tuple[Series, str], dict[int, float]]:
    """Losses by seed, which pairs the runs, of the summary that the paper takes."""
    losses: dict[tuple[Series, str], dict[int, float]] = {}
    for row in results:
        point = published_point(row.series.model) if row.metric in POINT_METRICS else ""
        if row.series in wanted and row.metric in PAPER_METRICS and row.point == point:
            losses.setdefault((row.series, row.metric), {})[row.seed] = float(as_loss(row.metric, row.value))
    return losses


def _corrected_p(first: dict[int, float], second: dict[int, float], series: Series) -> float:
    info = describe(series.dataset)
    # Each run of a synthetic dataset has new rows.
    share = 0.0 if info.kind == "synthetic" else info.n_test / info.n_train
    seeds = sorted(first.keys() & second.keys())
    runs = ([losses[seed] for seed in seeds] for losses in (first, second))
    return corrected_resampled_t(*runs, test_share=share).p_value
