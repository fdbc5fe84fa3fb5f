"""Models ranked over datasets: Friedman's test and Nemenyi's critical difference (Demšar 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.benchmark.results import Results
from aldsurv.benchmark.statistics import as_loss, spread
from aldsurv.benchmark.view import View, sorted_datasets, sorted_models

__all__ = ["Ranking", "friedman", "nemenyi_critical_difference", "rank_models"]


@final
@dataclass(frozen=True)
class Ranking:
    """Mean ranks of models over datasets, 1 being the best.

    Attributes
    ----------
    metric
        By which they are ranked.
    models, mean_ranks
        The best first.
    n_datasets
        Datasets on which every model has a finite value; others are left out.
    statistic, p_value
        Friedman's chi-squared, and the chance of one as large if all models were alike.
    critical_difference
        Mean ranks nearer than this do not differ significantly.
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
        What is ranked. Slopes and intercepts by their distance from 1 and 0.
    view
        Which series; None for the paper's.
    level
        Of the test behind the critical difference.
    """
    found = (view or View()).series(results)
    models = sorted_models(model for _, model in found)
    losses = {key: spread(as_loss(metric, results.by_seed(series, metric)))[0] for key, series in found.items()}
    datasets = sorted_datasets(dataset for dataset, _ in found)
    scores = np.array([[losses.get((dataset, model), np.nan) for model in models] for dataset in datasets])
    scores = scores.reshape(len(datasets), len(models))
    # An infinite loss is no place in an order: it neither wins nor loses.
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
        Losses (datasets, models). NaN for fewer than two of either, and if all are tied.
    """
    from scipy.special import chdtrc

    table = np.asarray(scores, np.float64)
    n, k = table.shape
    if n < 2 or k < 2 or np.isnan(table).any():
        return np.nan, np.nan
    ranks = _ranks(table)
    # Of the ranks within a dataset: without ties k(k + 1)/12.
    variance = ((ranks - (k + 1) / 2) ** 2).sum() / (n * (k - 1))
    if variance == 0:
        return np.nan, np.nan
    statistic = n * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum() / variance
    return float(statistic), float(chdtrc(k - 1, statistic))


def nemenyi_critical_difference(k: int, n: int, *, level: float = 0.05) -> float:
    """Difference of mean ranks from which on two of `k` models differ significantly over `n` datasets.

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


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks within each row, ties sharing their mean."""
    less = (scores[:, None, :] < scores[:, :, None]).sum(axis=2)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
    return np.asarray(less + (equal + 1) / 2)


def _groups(models: tuple[str, ...], ranks: NDArray[np.float64], distance: float) -> tuple[tuple[str, ...], ...]:
    if np.isnan(distance):
        return ()
    ends = [int(np.sum(ranks < rank + distance)) for rank in ranks]
    # A run of neighbours that lies within another says nothing new.
    spans = [(start, end) for start, end in enumerate(ends) if start == 0 or end > ends[start - 1]]
    return tuple(models[start:end] for start, end in spans if end - start > 1)
