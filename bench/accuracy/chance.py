"""What the default would score if its own predictions were the truth: what no model can take away.

For every test row a time is drawn from the distribution that was predicted for it, and a censoring time from the
Kaplan-Meier curve of the censoring among the rows learned from, at the latest their end. The predictions are then
perfect, so what they still score is chance and what covariates do not tell.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import SurvivalDistribution
from aldsurv.nonparametric import censoring_distribution
from bench.accuracy.data import REAL, SEEDS, parts
from bench.accuracy.models import COMPARED
from bench.accuracy.tables import markdown
from bench.study_runs import keep

__all__ = ["chance", "redrawn"]

_HEADER = ["default", "CensDcal", "by chance", "IBS", "by chance"]


def redrawn(predicted: SurvivalDistribution, learn: SurvivalData, generator: np.random.Generator) -> SurvivalData:
    """Times and events as they would be if the predictions were true."""
    times = predicted.sample(1, random_state=generator)[:, 0]
    lost = censoring_distribution(learn).distribution.sample(len(times), random_state=generator)[0]
    lost = np.minimum(lost, learn.time.max())
    return SurvivalData.right(np.minimum(times, lost), times <= lost)


def chance(folder: Path, seeds: int = len(SEEDS["test"]), draws: int = 20) -> str:
    """A table of the default's scores on the real sets, observed and expected of perfect predictions.

    It is kept in the folder, for the report.
    """
    import torch

    torch.set_num_threads(1)
    rows, means = [], []
    for name in REAL:
        found = np.mean([_one(name, seed, draws) for seed in range(seeds)], axis=0)
        means.append(found)
        rows.append([name, *_told(found)])
    rows.append(["mean", *_told(np.mean(means, axis=0))])
    table = markdown([f"{_HEADER[0]}, {seeds} seeds", *_HEADER[1:]], rows)
    keep(folder, "chance", {"table": table})
    return table


def _one(name: str, seed: int, draws: int) -> list[float]:
    learn, held = parts("test", name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = COMPARED["default"](seed).fit(learn.x, learn.y).predict_distribution(held.x)
        generator = np.random.default_rng([seed, 7])
        drawn = [_scores(predicted, learn.y, redrawn(predicted, learn.y, generator)) for _ in range(draws)]
        (dcal, ibs), (dcal_by_chance, ibs_by_chance) = _scores(predicted, learn.y, held.y), np.mean(drawn, axis=0)
    return [dcal, dcal_by_chance, ibs, ibs_by_chance]


def _scores(predicted: SurvivalDistribution, learn: SurvivalData, held: SurvivalData) -> list[float]:
    return [
        float(metrics.censored_d_calibration(predicted, held)),
        float(metrics.integrated_brier_score(predicted, held, train=learn, ties="scikit-survival")),
    ]


def _told(values: Any) -> list[str]:
    return [f"{value:.3f}" for value in values[:2]] + [f"{value:.4f}" for value in values[2:]]
