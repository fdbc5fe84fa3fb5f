"""How much CQRNN depends on y*, on the grid of quantiles and on the algorithm: test rows, mean over seeds.

``python -m bench.cqrnn_sensitivity [dataset ...]``. Real datasets need the files: ``aldsurv datasets fetch``.
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

SEEDS = range(3)
DATASETS = ["norm_linear", "lognorm_heavy", "metabric", "gbsg"]


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
    start = time.perf_counter()
    fit_together(models, [(train.x, train.y) for train, _ in pairs])
    seconds = (time.perf_counter() - start) / len(models)
    found: dict[str, list[float]] = {"C": [], "CensDcal": [], "IBS": [], "MAE": []}
    for model, (train, test) in zip(models, pairs, strict=True):
        predicted = model.predict_distribution(test.x)
        found["C"].append(metrics.concordance_harrell(predicted, test.y, point="median"))
        found["CensDcal"].append(metrics.censored_d_calibration(predicted, test.y))
        found["IBS"].append(metrics.integrated_brier_score(predicted, test.y, train=train.y, ties="scikit-survival"))
        truth = None if test.truth is None else test.truth.mean()
        unit = 1.0 if truth is not None else float(np.std(np.concatenate([train.y.time, test.y.time])))
        found["MAE"].append(metrics.mean_absolute_error(predicted, test.y, point="median", truth=truth, unit=unit))
    return {**{key: float(np.mean(values)) for key, values in found.items()}, "seconds": seconds}


def table(recipe: str, names: list[str]) -> None:
    """One line a change of the recipe."""
    print(f"| {recipe} | " + " | ".join(f"{name}: C | CensDcal | IBS | MAE" for name in names) + " | seconds |")
    print("| --- |" + " --- |" * (4 * len(names) + 1))
    usual = asdict(CQRNN(recipe).settings())
    for change, settings in CHANGES.items():
        if settings and all(usual[name] == value for name, value in settings.items()):
            continue
        cells, seconds = [], 0.0
        for name in names:
            own = paper_settings("cqrnn", name) if recipe == "paper" else {}
            found = results(name, {"recipe": recipe, **own, **settings})
            seconds += found.pop("seconds")
            cells += [f"{value:.3f}" for value in found.values()]
        print(f"| {change} | " + " | ".join(cells) + f" | {seconds:.1f} |", flush=True)
    print()


if __name__ == "__main__":
    chosen = sys.argv[1:] or DATASETS
    unknown = set(chosen) - set(datasets.names())
    if unknown:
        sys.exit(f"unknown datasets: {', '.join(sorted(unknown))}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("paper", "default"):
            table(name, chosen)
