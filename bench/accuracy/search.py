"""The search that the default recipe came from: validation rows of the five real sets that are not kept out.

``python -m bench.accuracy.search FILE [DATASET ...]`` adds what is not in the file yet and prints the table. All splits
of a setting share one training loop. ``support@N`` are the first N rows of SUPPORT's learning part: how much decay
suits how many rows.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import metrics
from aldsurv.models import ALDSurvival, fit_together
from bench.accuracy.data import Part, parts
from bench.accuracy.scores import log_loss
from bench.journal import complete_journal

SEEDS = range(6)
NAMES = ("metabric", "whas", "gbsg", "breastmsk", "support", "support@700", "support@1400", "support@2800")
# The default at the time: one component, separate heads, 15 epochs of patience.
_EARLIER: dict[str, Any] = {
    "components": 1, "bins": 0, "head_hidden": (32,), "learning_rate": 0.003, "patience": 15, "weight_decay": 0.1,
}  # fmt: skip
_MIXED: dict[str, Any] = {**_EARLIER, "components": 5, "bins": 8}
_SHARED: dict[str, Any] = {**_MIXED, "head_hidden": (), "learning_rate": 0.01, "patience": 10}
SETTINGS: dict[str, dict[str, Any]] = {
    "earlier default": _EARLIER,
    "3 components": {**_EARLIER, "components": 3},
    "3 components, bins 8": {**_MIXED, "components": 3},
    "5 components": {**_EARLIER, "components": 5},
    "5 components, bins 8": _MIXED,
    "8 components, bins 8": {**_MIXED, "components": 8},
    "5 components, bins 8, decay 1": {**_MIXED, "weight_decay": 1.0},
    "5 components, bins 8, decay 3": {**_MIXED, "weight_decay": 3.0},
    **{f"one layer, rate 0.01, decay {decay:g}": {**_SHARED, "weight_decay": decay} for decay in (0.1, 0.3, 1, 3, 10)},
    "one layer, rate 0.01, decay 3, bins 0": {**_SHARED, "weight_decay": 3.0, "bins": 0},
    "one layer, rate 0.01, decay 3, 10 members": {**_SHARED, "weight_decay": 3.0, "members": 10},
    "one layer, rate 0.01, decay by rows": {**_SHARED, "weight_decay": "auto"},
    "one layer, rate 0.01, decay by rows, batch 256": {**_SHARED, "weight_decay": "auto", "batch_size": 256},
    "own heads, rate 0.01, decay by rows, batch 256": {
        **_SHARED, "weight_decay": "auto", "batch_size": 256, "head_hidden": (32,),
    },
}  # fmt: skip
_KEYS = ("log_loss", "ibs", "c", "cens_dcal", "seconds")


def rows_of(name: str, seed: int) -> tuple[Part, Part]:
    """Validation parts; of ``name@n`` the first n rows to learn from."""
    plain, _, count = name.partition("@")
    learn, held = parts("validation", plain, seed)
    n = int(count) if count else len(learn.x)
    return Part(learn.x[:n], learn.y[:n], None, learn.rows[:n]), held


def results(label: str, name: str) -> list[dict[str, Any]]:
    """One line a split."""
    pairs = [rows_of(name, seed) for seed in SEEDS]
    models = [ALDSurvival(**SETTINGS[label], random_state=seed, progress=False, device="cpu") for seed in SEEDS]
    start = time.process_time()
    fit_together(models, [(learn.x, learn.y) for learn, _ in pairs])
    seconds = (time.process_time() - start) / len(models)
    found = []
    for seed, model, (learn, held) in zip(SEEDS, models, pairs, strict=True):
        predicted = model.predict_distribution(held.x)
        scores = {
            "log_loss": log_loss(predicted, learn.y, held.y),
            "ibs": metrics.integrated_brier_score(predicted, held.y, train=learn.y, ties="scikit-survival"),
            "c": metrics.concordance_harrell(predicted, held.y, point="median"),
            "cens_dcal": metrics.censored_d_calibration(predicted, held.y),
            "seconds": seconds,
        }
        line = {key: float(value) for key, value in scores.items()}
        found.append({"settings": label, "dataset": name, "seed": seed, **line})
    return found


def table(lines: list[dict[str, Any]], names: list[str]) -> str:
    """Means over datasets of the means over splits, of settings that have them all."""
    by_cell = defaultdict(list)
    for line in lines:
        by_cell[line["settings"], line["dataset"]].append(line)
    text = [f"| {', '.join(names)} | " + " | ".join(_KEYS) + " |", "| --- |" + " --: |" * len(_KEYS)]
    for label in SETTINGS:
        cells = [by_cell.get((label, name), []) for name in names]
        if all(cells):
            means = [np.mean([np.mean([line[key] for line in cell]) for cell in cells]) for key in _KEYS]
            text.append(f"| {label} | " + " | ".join(f"{mean:.4f}" for mean in means) + " |")
    return "\n".join(text)


def main(file: Path, names: list[str]) -> None:
    import torch

    torch.set_num_threads(1)
    cells = [(label, name) for name in names for label in SETTINGS]
    print(table(complete_journal(file, ("settings", "dataset"), cells, results), names))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(NAMES))
