"""Which recipe is best: settings of ALDSurvival compared on rows held out of the training part, never on test rows.

Needs the publishers' files of the real datasets (``aldsurv datasets fetch --all``). Each result is appended to a file,
from which an interrupted study goes on: ``python -m bench.recipes FILE [recipe ...]``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import SurvivalData, metrics
from aldsurv.distributions.time_zero import with_log_times
from aldsurv.models import ALDSurvival, fit_together
from bench.journal import complete_journal
from bench.paper_data import REAL, SYNTHETIC, Table, available, split

SEEDS = range(3)
LOG: dict[str, Any] = {
    "recipe": "paper", "support": "log", "theta_link": "identity", "start": "marginal", "point": "median",
}  # fmt: skip
CALM: dict[str, Any] = {
    **LOG, "members": 5, "optimizer": "adamw", "learning_rate": 3e-3, "dropout": 0.2, "weight_decay": 0.1,
    "patience": 15, "clip_norm": 1.0, "batch_size": "auto",
}  # fmt: skip
RECIPES: dict[str, dict[str, Any]] = {
    "paper": {"recipe": "paper"},
    "paper, marginal start": {"recipe": "paper", "start": "marginal"},
    "paper, 5 members": {"recipe": "paper", "members": 5},
    "positive": {**LOG, "support": "positive", "theta_link": "exp"},
    "log": LOG,
    "log, 5 members": {**LOG, "members": 5},
    "calm": CALM,
    "calm, real": {**CALM, "support": "real"},
    "calm, positive": {**CALM, "support": "positive", "theta_link": "exp"},
    "calm, lr 0.001": {**CALM, "learning_rate": 1e-3},
    "calm, lr 0.01": {**CALM, "learning_rate": 1e-2},
    "calm, decay 0.01": {**CALM, "weight_decay": 0.01},
    "calm, decay 1": {**CALM, "weight_decay": 1.0},
    "calm, dropout 0.1": {**CALM, "dropout": 0.1},
    "calm, dropout 0.4": {**CALM, "dropout": 0.4},
    "calm, no residual": {**CALM, "residual": False},
    "calm, wide": {**CALM, "hidden": (64,), "head_hidden": (64,)},
    "calm, deep": {**CALM, "hidden": (64, 64), "head_hidden": ()},
    "calm, silu": {**CALM, "activation": "silu"},
    "calm, silu, dropout 0.1": {**CALM, "activation": "silu", "dropout": 0.1},
    "calm, 10 members": {**CALM, "members": 10, "validation": 0.1},
    "calm, 1 member": {**CALM, "members": 1},
}


def parts(name: str, seed: int) -> tuple[Table, Table]:
    """Rows to learn from, and a fifth of the training part to compare on; the test part is not touched."""
    train, _ = split(name, seed, leak_free=True)
    order = np.random.default_rng([seed, 99]).permutation(len(train.time))
    n = round(0.8 * len(order))
    return train.rows(order[:n]), train.rows(order[n:])


def results(recipe: str, name: str) -> list[dict[str, Any]]:
    pairs = [parts(name, seed) for seed in SEEDS]
    models = [ALDSurvival(**RECIPES[recipe], random_state=seed, progress=False) for seed in SEEDS]
    start = time.perf_counter()
    fit_together(models, [(learn.x, (learn.time, learn.event)) for learn, _ in pairs])
    seconds = (time.perf_counter() - start) / len(models)
    return [
        {
            "recipe": recipe,
            "dataset": name,
            "seed": seed,
            **held_out_scores(model, learn, held),
            "seconds": seconds,
            "epochs": model.history_.epochs,
        }
        for seed, model, (learn, held) in zip(SEEDS, models, pairs, strict=True)
    ]


def held_out_scores(model: Any, learn: Table, held: Table) -> dict[str, float]:
    """Scores of a fitted network on the rows to compare on; the log-loss has time in standard deviations."""
    predicted = model.predict_distribution(held.x)
    data, train = SurvivalData.right(held.time, held.event), SurvivalData.right(learn.time, learn.event)
    # An event at time 0 is taken as one before the first later time, by every recipe alike.
    scaled = with_log_times(data)
    log_loss = -metrics.log_likelihood(predicted, scaled) - scaled.exact.mean() * np.log(np.std(learn.time))
    return {
        "log_loss": float(log_loss),
        "ibs": float(metrics.integrated_brier_score(predicted, data, train=train, ties="scikit-survival")),
        "c": float(metrics.concordance_harrell(predicted, data, point=model.error_point_)),
        "cens_dcal": float(metrics.censored_d_calibration(predicted, data)),
    }


def table(lines: list[dict[str, Any]]) -> str:
    """Means over datasets, real and synthetic apart."""
    text = []
    for title, names in (("real", REAL), ("synthetic", SYNTHETIC)):
        text += [f"| {title} | log-loss | IBS | C | CensDcal | seconds |", "| --- | --- | --- | --- | --- | --- |"]
        for recipe in RECIPES:
            own = [line for line in lines if line["recipe"] == recipe and line["dataset"] in names]
            if len({line["dataset"] for line in own}) < len(names):
                continue
            keys = ("log_loss", "ibs", "c", "cens_dcal", "seconds")
            means = [np.mean([np.mean([o[key] for o in own if o["dataset"] == n]) for n in names]) for key in keys]
            text.append(f"| {recipe} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
        text.append("")
    return "\n".join(text)


def main(file: Path, chosen: list[str]) -> None:
    cells = [(recipe, name) for recipe in chosen or RECIPES for name in [*REAL, *SYNTHETIC]]
    print(table(complete_journal(file, ("recipe", "dataset"), cells, results)))


if __name__ == "__main__":
    if not available():
        sys.exit("the real datasets are not in the data folder: aldsurv datasets fetch --all")
    main(Path(sys.argv[1]), sys.argv[2:])
