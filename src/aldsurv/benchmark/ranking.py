"""Models ranked over datasets: Friedman's test and Nemenyi's critical difference (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.benchmark.results import Results
from aldsurv.benchmark.statistics import FloatArray, as_loss, run_summary
from aldsurv.benchmark.view import View, sorted_datasets, sorted_models

__all__ = ["Ranking", "friedman", "nemenyi_critical_difference", "rank_models", "rank_scores"]


@final
@dataclass(frozen=True)
class Ranking:
    """Mean ranks of models over datasets, 1 being the best.

    Attributes
    ----------
    metric
        The metric that they are ranked by.
    models, mean_ranks
        The best first.
    n_datasets
        Datasets on which every model has a finite value; others are left out.
    statistic, p_value
        Friedman's chi-squared, and its p-value.
    critical_difference
        Mean ranks closer than this do not differ significantly.
    groups
        Largest sets of models no two of which differ, each with the best first.
    """

    metric: str
    models: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_datasets: int
    statistic: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]


def rank_models(results: Results, metric: str, *, view: View | None = None, level: float = 0.05) -> Ranking:
    """Rank the models of a view by the mean of a metric over the runs of each dataset.

    Parameters
    ----------
    results, metric
        The results, and the metric to rank by; slopes and intercepts by their distance from 1 and 0.
    view
        Which series; None for the paper's.
    level
        Of the test behind the critical difference.
    """
    chosen = (view or View()).series(results)
    models = sorted_models(model for _, model in chosen)
    losses = {key: run_summary(as_loss(metric, results.by_seed(one, metric))).mean for key, one in chosen.items()}
    datasets = sorted_datasets(dataset for dataset, _ in chosen)
    scores = np.array([[losses.get((dataset, model), np.nan) for model in models] for dataset in datasets])
    return rank_scores(models, scores.reshape(len(datasets), len(models)), metric, level=level)


def rank_scores(models: Sequence[str], losses: ArrayLike, metric: str, *, level: float = 0.05) -> Ranking:
    """Rank models by their losses on datasets.

    Parameters
    ----------
    models, losses
        Names, and losses (datasets, models): lower is better.
    metric, level
        As in `rank_models`.

    Examples
    --------
    >>> rank_scores(["a", "b"], [[0.2, 0.1], [0.3, 0.2], [0.5, 0.1]], "ibs").mean_ranks
    (1.0, 2.0)
    """
    scores = np.asarray(losses, np.float64)
    # A dataset with an infinite or missing loss is left out.
    scores = scores[np.isfinite(scores).all(axis=1)]
    statistic, p_value = friedman(scores)
    n, k = scores.shape
    means = _ranks(scores).mean(axis=0) if n else np.full(k, np.nan)
    order = np.argsort(means, kind="stable")
    ordered = tuple(models[place] for place in order)
    distance = nemenyi_critical_difference(k, n, level=level)
    groups = _groups(ordered, means[order], distance)
    ranks = tuple(float(rank) for rank in means[order])
    return Ranking(metric, ordered, ranks, n, statistic, p_value, distance, groups)


def friedman(scores: ArrayLike) -> tuple[float, float]:
    """Friedman's chi-squared, corrected for ties, and its p-value.

    Parameters
    ----------
    scores
        Losses (datasets, models). The result is NaN for fewer than two of either, and if all are tied.
    """
    from scipy.special import chdtrc

    table = np.asarray(scores, np.float64)
    n, k = table.shape
    if n < 2 or k < 2 or np.isnan(table).any():
        return np.nan, np.nan
    ranks = _ranks(table)
    # Variance of the ranks within a dataset: k(k + 1)/12 without ties.
    variance = ((ranks - (k + 1) / 2) ** 2).sum() / (n * (k - 1))
    if variance == 0:
        return np.nan, np.nan
    statistic = n * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum() / variance
    return float(statistic), float(chdtrc(k - 1, statistic))


def nemenyi_critical_difference(k: int, n: int, *, level: float = 0.05) -> float:
    """Least difference of mean ranks at which two of `k` models differ significantly over `n` datasets.

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    if k < 2 or n < 1:
        return np.nan
    return _studentized_range(k, level) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))


@cache
def _studentized_range(k: int, level: float) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - level, k, np.inf))


def _ranks(scores: FloatArray) -> FloatArray:
    """Ranks within each row, ties sharing their mean."""
    less = (scores[:, None, :] < scores[:, :, None]).sum(axis=2)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
    return np.asarray(less + (equal + 1) / 2)


def _groups(models: tuple[str, ...], ranks: FloatArray, distance: float) -> tuple[tuple[str, ...], ...]:
    if np.isnan(distance):
        return ()
    ends = [int(np.sum(ranks < rank + distance)) for rank in ranks]
    # A run of neighbours within another one is not a group of its own.
    spans = [(start, end) for start, end in enumerate(ends) if start == 0 or end > ends[start - 1]]
    return tuple(models[start:end] for start, end in spans if end - start > 1)
