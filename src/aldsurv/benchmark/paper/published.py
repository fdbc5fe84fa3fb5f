"""The numbers that the paper prints, and its test recomputed from them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

import numpy as np

from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import PAPER_METRICS, REFERENCE_MODEL
from aldsurv.benchmark.statistics import (
    FloatArray,
    adjusted_p_values,
    as_loss,
    distance_from,
    student_t_from_summary,
)
from aldsurv.benchmark.verdicts import Counts, Verdict, judge
from aldsurv.checks import Choice, check
from aldsurv.datasets import names

__all__ = [
    "RUNS",
    "Agreement",
    "Published",
    "count_agreement",
    "published_at_zero",
    "published_by_summary",
    "published_counts",
    "published_results",
    "recomputed_verdicts",
]

# Number of runs behind each published mean.
RUNS = 10
_OUR_NAMES = {"lognorm": "lognormal"}


class Published(NamedTuple):
    """A printed mean and standard deviation (the paper calls it a standard error in captions, not in the text)."""

    mean: float
    sd: float


class Agreement(NamedTuple):
    """How well two tables of counts agree.

    Attributes
    ----------
    rows, rows_equal
        Metrics × models that both have, and those with all three counts equal.
    counts, counts_equal
        Single counts.
    verdicts, different_at_least
        Verdicts behind the counts, and how many of them must differ for the counts to differ as they do.
    """

    rows: int
    rows_equal: int
    counts: int
    counts_equal: int
    verdicts: int
    different_at_least: int


@cache
def published_results() -> Mapping[tuple[str, str, str], Published]:
    """The full table by dataset, model and metric, as printed: 945 means and standard deviations."""
    return {
        (row["dataset"], _OUR_NAMES.get(row["method"], row["method"]), row["metric"]): _published(row)
        for row in _rows("results")
    }


@cache
def published_by_summary() -> Mapping[tuple[str, str, str], Published]:
    """ALD by dataset, summary and metric, as printed: its Cal[S] is the Cal[f] of the full table, and vice versa."""
    return {(row["dataset"], row["summary"], row["metric"]): _published(row) for row in _rows("results_by_summary")}


@cache
def published_at_zero() -> Mapping[tuple[str, str], float]:
    """Percentiles of F(0|x) of ALD by dataset and ``"f0_p50"``, ``"f0_p75"`` or ``"f0_p95"``."""
    rows = _rows("cdf_at_zero")
    return {(row["dataset"], f"f0_{name}"): float(row[name]) for row in rows for name in ("p50", "p75", "p95")}


@cache
def published_counts() -> Mapping[tuple[str, str], Counts]:
    """On how many of the 21 datasets ALD is better, worse, the same, by metric and other model."""
    return {
        (row["metric"], _OUR_NAMES.get(row["versus"], row["versus"])): Counts(
            int(row["better"]), int(row["worse"]), int(row["same"])
        )
        for row in _rows("comparison_counts")
    }


def recomputed_verdicts(
    *, distances: Literal["of_means", "folded_normal"] = "of_means", level: float = 0.05
) -> list[Verdict]:
    """The paper's test recomputed from the means and standard deviations that the paper prints.

    Parameters
    ----------
    distances
        The paper compares ``|1 - slope|`` and ``|intercept|`` but prints slopes and intercepts, which do not determine
        the mean distance. ``"of_means"``: the distance of the mean, with the standard deviation as printed, which is
        closest to the paper's counts. ``"folded_normal"``: mean and standard deviation of the distance if the runs are
        normally distributed. The other five metrics need no assumption.
    level
        False discovery rate, over all 756 comparisons.
    """
    check("distances", distances, Choice(("of_means", "folded_normal")))
    printed = published_results()
    others = [model for model in PAPER_MODELS if model != REFERENCE_MODEL]
    keys = [(dataset, metric, other) for metric in PAPER_METRICS for other in others for dataset in names(paper=True)]
    folded = distances == "folded_normal"
    first = _losses([(*printed[d, REFERENCE_MODEL, m], m) for d, m, _ in keys], folded=folded)
    second = _losses([(*printed[d, o, m], m) for d, m, o in keys], folded=folded)
    test = student_t_from_summary(*first, RUNS, *second, RUNS)
    adjusted = adjusted_p_values(test.p_value)
    return [
        Verdict(*key, float(difference), float(p), float(q), judge(difference, q, level))
        for key, difference, p, q in zip(keys, test.difference, test.p_value, adjusted, strict=True)
    ]


def count_agreement(
    counts: Mapping[tuple[str, str], Counts], others: Mapping[tuple[str, str], Counts] | None = None
) -> Agreement:
    """Compare two tables of counts where both have the metric and model; None for the published table."""
    printed = published_counts() if others is None else others
    both = [key for key in printed if key in counts]
    first = np.array([counts[key] for key in both], np.int64).reshape(-1, 3)
    second = np.array([printed[key] for key in both], np.int64).reshape(-1, 3)
    equal = first == second
    # A different verdict lowers one count and raises another.
    more, fewer = (np.maximum(gap, 0).sum(axis=1) for gap in (first - second, second - first))
    return Agreement(
        rows=len(both),
        rows_equal=int(equal.all(axis=1).sum()),
        counts=equal.size,
        counts_equal=int(equal.sum()),
        verdicts=int(second.sum()),
        different_at_least=int(np.maximum(more, fewer).sum()),
    )


def _losses(printed: list[tuple[float, float, str]], *, folded: bool) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of losses."""
    mean = np.array([float(as_loss(metric, value)) for value, _, metric in printed])
    sd = np.array([value for _, value, _ in printed])
    if folded:
        distance = np.array([distance_from(metric) is not None for *_, metric in printed])
        mean[distance], sd[distance] = _folded_normal(mean[distance], sd[distance])
    return mean, sd


def _folded_normal(distance: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of |Z| for a normal Z with this distance of its mean from 0."""
    from scipy.special import erf

    scaled = distance / (sd * np.sqrt(2))
    mean = sd * np.sqrt(2 / np.pi) * np.exp(-(scaled**2)) + distance * erf(scaled)
    return mean, np.sqrt(np.maximum(distance**2 + sd**2 - mean**2, 0.0))


def _published(row: Mapping[str, str]) -> Published:
    return Published(float(row["mean"]), float(row["sd"]))


def _rows(name: str) -> list[dict[str, str]]:
    text = (resources.files("aldsurv") / "benchmark" / "paper" / "numbers" / f"{name}.csv").read_text(encoding="ascii")
    return list(csv.DictReader(text.splitlines()))
