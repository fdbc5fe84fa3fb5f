"""Which recipe of DeepHit is best: compared on rows held out of the training part, never on test rows.

Needs the publishers' files of METABRIC, WHAS and SUPPORT (``aldsurv datasets fetch --all``). Each result is appended
to a file, from which an interrupted study goes on: ``python -m bench.deephit_recipes FILE [recipe ...]``. The means are
stored in docs/results/models.json, those of the paper's recipe and the others apart, each when all of them are there.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import SurvivalData, metrics
from aldsurv.models import fit_together
from aldsurv.models.neural.deephit import DeepHit
from bench.journal import complete_journal
from bench.pages.results import MODELS, store_section, today
from bench.paper_data import available
from bench.recipes import parts

SEEDS = range(3)
NAMES = ("metabric", "whas", "support", "gbsg")
KEYS = ("log_loss", "ibs", "c", "c_area", "cens_dcal")
A: dict[str, Any] = {
    "recipe": "paper", "durations": 30, "scheme": "quantile", "censoring": "interpolated", "activation": "silu",
    "batch_norm": False, "members": 5, "optimizer": "adamw", "learning_rate": 3e-3, "batch_size": "auto",
    "patience": 15, "weight_decay": 0.1, "clip_norm": 1.0, "start": "marginal",
}  # fmt: skip
B: dict[str, Any] = {**A, "alpha": 0.8, "sigma": 0.3}
C: dict[str, Any] = {**B, "durations": 10}
RECIPES: dict[str, dict[str, Any]] = {
    "paper": {"recipe": "paper"},
    "paper, 5 members": {"recipe": "paper", "members": 5},
    "A": A,
    "A, random start": {**A, "start": "random"},
    "A, rounded": {**A, "censoring": "rounded"},
    "A, equidistant": {**A, "scheme": "equidistant"},
    "A, 10 bins": {**A, "durations": 10},
    "A, alpha 0.5": {**A, "alpha": 0.5},
    "A, alpha 0.8": {**A, "alpha": 0.8},
    "A, alpha 1": {**A, "alpha": 1.0},
    "B": B,
    "B, sigma 0.5": {**B, "sigma": 0.5},
    "B, alpha 0.5, sigma 0.5": {**B, "alpha": 0.5, "sigma": 0.5},
    "B, 15 bins": {**B, "durations": 15},
    "B, 7 bins": {**B, "durations": 7},
    "C": C,
    "C, alpha 0.5, sigma 0.5": {**C, "alpha": 0.5, "sigma": 0.5},
    "C, alpha 1": {**C, "alpha": 1.0},
    "C, rounded": {**C, "censoring": "rounded"},
    "C, equidistant": {**C, "scheme": "equidistant"},
    "C, random start": {**C, "start": "random"},
    "C, learning rate 0.001": {**C, "learning_rate": 1e-3},
    "C, learning rate 0.01": {**C, "learning_rate": 1e-2},
    "C, residual": {**C, "residual": True},
    "C, one layer, residual": {**C, "residual": True, "hidden": (32,)},
    "C, batch norm": {**C, "batch_norm": True},
    "C, relu": {**C, "activation": "relu"},
    "C, dropout 0.3": {**C, "dropout": 0.3},
    "C, weight decay 1": {**C, "weight_decay": 1.0},
    "C, 1 member": {**C, "members": 1},
}


def results(recipe: str, name: str) -> list[dict[str, Any]]:
    pairs = [parts(name, seed) for seed in SEEDS]
    models = [DeepHit(**RECIPES[recipe], random_state=seed, progress=False) for seed in SEEDS]
    start = time.perf_counter()
    fit_together(models, [(learn.x, (learn.time, learn.event)) for learn, _ in pairs])
    seconds = (time.perf_counter() - start) / len(models)
    found = []
    for seed, model, (learn, held) in zip(SEEDS, models, pairs, strict=True):
        predicted = model.predict_distribution(held.x)
        data, train = SurvivalData.right(held.time, held.event), SurvivalData.right(learn.time, learn.event)
        scaled = float(np.std(learn.time))
        until = float(learn.time.max())
        found.append(
            {
                "recipe": recipe,
                "dataset": name,
                "seed": seed,
                "log_loss": float(-metrics.log_likelihood(predicted.scaled(1 / scaled), data.scaled(1 / scaled))),
                "ibs": float(metrics.integrated_brier_score(predicted, data, train=train, ties="scikit-survival")),
                "c": float(metrics.concordance_harrell(predicted, data, point="median")),
                "c_area": float(metrics.concordance_harrell(predicted.restricted_mean(until), data)),
                "cens_dcal": float(metrics.censored_d_calibration(predicted, data)),
                "seconds": seconds,
                "epochs": model.history_.epochs,
            }
        )
    return found


def means(lines: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Over the datasets, by recipe and metric, of each recipe that has all of them."""
    found = {}
    for recipe in RECIPES:
        own = [line for line in lines if line["recipe"] == recipe]
        if len({line["dataset"] for line in own}) == len(NAMES):
            found[recipe] = {key: float(np.mean([line[key] for line in own])) for key in KEYS}
    return found


def store(scores: dict[str, dict[str, float]]) -> None:
    """Put them into docs/results, if all are there."""
    for recipe in ("paper", "default"):
        shown = [name for name in RECIPES if name.startswith("paper") == (recipe == "paper")]
        if set(shown) <= set(scores):
            values = {name: scores[name] for name in shown}
            origin = today("python -m bench.deephit_recipes FILE", [f"deephit/{recipe}"])
            store_section(MODELS, f"deephit recipes, {recipe}", values, origin)


def main(file: Path, chosen: list[str]) -> None:
    cells = [(recipe, name) for recipe in chosen or RECIPES for name in NAMES]
    scores = means(complete_journal(file, ("recipe", "dataset"), cells, results))
    for recipe, values in scores.items():
        print(recipe, values)
    store(scores)


if __name__ == "__main__":
    if not available():
        sys.exit("the real datasets are not in the data folder: aldsurv datasets fetch --all")
    main(Path(sys.argv[1]), sys.argv[2:])
