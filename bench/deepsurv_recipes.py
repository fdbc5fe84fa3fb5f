"""Settings of DeepSurv compared on rows held out of the training part of the real datasets, never on test rows.

Needs the publishers' files: ``python -m bench.deepsurv_recipes FILE [first seed] [last seed] [recipe ...]``. Results
are appended to the file, from which an interrupted study goes on; the means of the recipes that docs/deepsurv.md shows
are stored in docs/results/models.json, those of the paper's recipe and the others apart.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import ProportionalHazards
from aldsurv.distributions.time_zero import with_log_times
from aldsurv.models import fit_together
from aldsurv.models.neural.deepsurv import DeepSurv
from bench.journal import complete_journal
from bench.pages.results import MODELS, store_section, today
from bench.paper_data import REAL, Table, available
from bench.recipes import parts

KEYS = ("log_loss", "ibs", "c", "cens_dcal")
A: dict[str, Any] = {"recipe": "default", "dropout": 0.1}
RECIPES: dict[str, dict[str, Any]] = {
    "paper": {"recipe": "paper"},
    "paper, Efron's ties": {"recipe": "paper", "ties": "efron"},
    "paper, 5 members": {"recipe": "paper", "members": 5},
    "A": A,
    "A, 1 member": {**A, "members": 1},
    "A, random start": {**A, "start": "random"},
    "A, batch 64": {**A, "batch_size": 64},
    "A, batch 256": {**A, "batch_size": 256},
    "A, batch 512": {**A, "batch_size": 512},
    "A, learning rate 0.001": {**A, "learning_rate": 1e-3},
    "A, learning rate 0.01": {**A, "learning_rate": 1e-2},
    "A, weight decay 0.01": {**A, "weight_decay": 0.01},
    "A, weight decay 1": {**A, "weight_decay": 1.0},
    "A, residual": {**A, "residual": True},
    "A, one layer of 32": {**A, "hidden": (32,)},
    "A, two layers of 64": {**A, "hidden": (64, 64)},
    "A, no layers": {**A, "hidden": (), "dropout": 0.0},
    "A, relu": {**A, "activation": "relu"},
    "A, batch norm": {**A, "batch_norm": True},
    "A, dropout 0.3": {**A, "dropout": 0.3},
    "A, dropout 0.4": {**A, "dropout": 0.4},
    "A, dropout 0.4, residual": {**A, "dropout": 0.4, "residual": True},
    "A, dropout 0.4, two layers of 64": {**A, "dropout": 0.4, "hidden": (64, 64)},
    "default: A, dropout 0.2": {"recipe": "default"},
}
# What the page shows: all on the first splits, some a second time on others.
SHOWN: dict[range, tuple[str, ...]] = {
    range(3): tuple(RECIPES),
    range(3, 6): (
        "paper", "paper, 5 members", "A", "A, dropout 0.4", "A, dropout 0.4, residual", "default: A, dropout 0.2",
    ),
}  # fmt: skip


def measured(predicted: ProportionalHazards, risk: Any, learn: Table, held: Table) -> dict[str, float]:
    """Scores on the held-out rows; the likelihood is that of the curves with straight lines between their steps."""
    data, train = SurvivalData.right(held.time, held.event), SurvivalData.right(learn.time, learn.event)
    rows = with_log_times(data)
    log_loss = -metrics.log_likelihood(predicted.smoothed(), rows) - rows.exact.mean() * np.log(np.std(learn.time))
    found = (
        log_loss,
        metrics.integrated_brier_score(predicted, data, train=train, ties="scikit-survival"),
        metrics.concordance_harrell(-risk, data),
        metrics.censored_d_calibration(predicted, data),
    )
    return dict(zip(KEYS, map(float, found), strict=True))


def results(recipe: str, name: str, seeds: range) -> list[dict[str, Any]]:
    pairs = [parts(name, seed) for seed in seeds]
    models = [DeepSurv(**RECIPES[recipe], random_state=seed, progress=False) for seed in seeds]
    start = time.perf_counter()
    fit_together(models, [(learn.x, (learn.time, learn.event)) for learn, _ in pairs])
    seconds = (time.perf_counter() - start) / len(models)
    found = []
    for seed, model, (learn, held) in zip(seeds, models, pairs, strict=True):
        scores = measured(model.predict_distribution(held.x), model.predict(held.x), learn, held)
        found.append({"recipe": recipe, "dataset": name, "seed": seed, "seconds": seconds, **scores})
    return found


def means(lines: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Over datasets, by recipe and metric, of each recipe that has all of them."""
    found = {}
    for recipe in RECIPES:
        own = [line for line in lines if line["recipe"] == recipe]
        if {line["dataset"] for line in own} == set(REAL):
            found[recipe] = {
                key: float(np.mean([np.mean([o[key] for o in own if o["dataset"] == n]) for n in REAL])) for key in KEYS
            }
    return found


def store(scores: dict[str, dict[str, float]], seeds: range) -> None:
    """Put the recipes that the page shows into docs/results, if all are there."""
    for recipe in ("paper", "default"):
        shown = [name for name in SHOWN.get(seeds, ()) if name.startswith("paper") == (recipe == "paper")]
        if shown and set(shown) <= set(scores):
            command = f"python -m bench.deepsurv_recipes FILE {seeds[0]} {seeds[-1]}"
            section = f"deepsurv recipes, seeds {seeds[0]} to {seeds[-1]}, {recipe}"
            values = {name: scores[name] for name in shown}
            store_section(MODELS, section, values, today(command, [f"deepsurv/{recipe}"]))


def main(file: Path, seeds: range, chosen: list[str]) -> None:
    cells = [(recipe, name) for recipe in chosen or RECIPES for name in REAL]
    lines = complete_journal(file, ("recipe", "dataset"), cells, lambda recipe, name: results(recipe, name, seeds))
    scores = means(lines)
    for recipe, values in scores.items():
        print(recipe, values)
    store(scores, seeds)


if __name__ == "__main__":
    if not available():
        sys.exit("the real datasets are not in the data folder: aldsurv datasets fetch --all")
    given = sys.argv[2:4]
    main(Path(sys.argv[1]), range(int(given[0]), int(given[1]) + 1) if given else range(3), sys.argv[4:])
