"""How much CQRNN depends on y*, on the grid of quantiles and on the algorithm: test rows, mean over seeds.

``python -m bench.cqrnn_sensitivity [paper] [default]`` stores the scores in docs/results/models.json. METABRIC needs
its file: ``aldsurv datasets fetch``.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np

from aldsurv import datasets, metrics
from aldsurv.models import fit_together
from aldsurv.models.neural.cqrnn import CQRNN
from aldsurv.models.paper_settings import paper_settings
from bench.pages.results import MODELS, store_section, today

SEEDS = range(3)
DATASETS = ["norm_linear", "lognorm_heavy", "metabric", "gbsg"]
METRICS = ("C", "CensDcal", "IBS", "MAE")


def levels(count: int) -> tuple[float, ...]:
    """So many quantiles, evenly spaced."""
    return tuple(round((k + 1) / (count + 1), 6) for k in range(count))


CHANGES: dict[str, dict[str, Any]] = {
    "as it is": {},
    **{f"y* {factor:g}": {"y_star": factor} for factor in (1.05, 1.2, 1.5, 2.0, 5.0)},
    **{f"{count} quantiles": {"quantiles": levels(count)} for count in (5, 9, 19, 49)},
    "nearest level": {"censored_level": "nearest"},
    "interpolated level": {"censored_level": "interpolated"},
    "sequential": {"algorithm": "sequential", "quantiles": levels(9)},
}


def results(name: str, settings: dict[str, Any]) -> dict[str, float]:
    """Means over the seeds; MAE of the median, from the true mean or, in standard deviations, from times of events."""
    pairs = [datasets.load_split(name, seed=seed, definition="released") for seed in SEEDS]
    models = [CQRNN(**settings, random_state=seed, progress=False) for seed in SEEDS]
    start = time.process_time()
    fit_together(models, [(train.x, train.y) for train, _ in pairs])
    seconds = (time.process_time() - start) / len(models)
    scores: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for model, (train, test) in zip(models, pairs, strict=True):
        predicted = model.predict_distribution(test.x)
        scores["C"].append(metrics.concordance_harrell(predicted, test.y, point="median"))
        scores["CensDcal"].append(metrics.censored_d_calibration(predicted, test.y))
        scores["IBS"].append(metrics.integrated_brier_score(predicted, test.y, train=train.y, ties="scikit-survival"))
        truth = None if test.truth is None else test.truth.mean()
        unit = 1.0 if truth is not None else float(np.std(np.concatenate([train.y.time, test.y.time])))
        scores["MAE"].append(metrics.mean_absolute_error(predicted, test.y, point="median", truth=truth, unit=unit))
    return {**{metric: float(np.mean(values)) for metric, values in scores.items()}, "seconds": seconds}


def study(recipe: str) -> dict[str, dict[str, dict[str, float]]]:
    """Scores by change of the recipe, dataset and metric."""
    usual = asdict(CQRNN(recipe).settings())
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for change, settings in CHANGES.items():
        if settings and all(usual[name] == value for name, value in settings.items()):
            continue
        scores[change] = {}
        for name in DATASETS:
            by_dataset = paper_settings("cqrnn", name) if recipe == "paper" else {}
            scores[change][name] = results(name, {"recipe": recipe, **by_dataset, **settings})
        print(recipe, change, scores[change], flush=True)
    return scores


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["paper", "default"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for recipe in chosen:
            command = f"python -m bench.cqrnn_sensitivity {recipe}"
            store_section(MODELS, f"cqrnn sensitivity, {recipe}", study(recipe), today(command, [f"cqrnn/{recipe}"]))
