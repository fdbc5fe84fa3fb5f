"""Individual calibration, as published and as built here, on rows held out of the training parts; never on test rows.

Each result is appended to a file, from which an interrupted study goes on:
``python -m bench.icald FILE [dataset ...]``.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import metrics
from aldsurv.distributions.time_zero import with_log_times
from aldsurv.metrics.calibration.individual_calibration import (
    average_calibration,
    individual_calibration,
    worst_group_calibration,
)
from aldsurv.models import ALDSurvival, RecalibratedSurvival
from aldsurv.models.neural.icald import ICALDSurvival
from aldsurv.models.wrappers.icald_calibrated import ICALDCalibrated
from bench.accuracy.data import REAL, Part, parts

SEEDS = range(2)
NAMES = ("metabric", "whas", "gbsg", "breastmsk", "norm_linear", "exponential", "norm_heavy", "lognorm_med", "support")
METRICS = ("log_loss", "c", "ibs", "cens_dcal", "average", "group", "individual", "seconds")


def _paper() -> ALDSurvival:
    return ALDSurvival("paper", progress=False)


MODELS: dict[str, Callable[[int], Any]] = {
    "ALD, paper": lambda seed: ALDSurvival("paper", progress=False, random_state=seed),
    "ALD, paper, recalibrated": lambda seed: RecalibratedSurvival(_paper(), random_state=seed),
    "ALDSurvival()": lambda seed: ALDSurvival(progress=False, random_state=seed),
}
for _target in ("cdf", "pinball"):
    for _share in (0.1, 0.5):
        _own: dict[str, Any] = {"target": _target, "likelihood_share": _share}
        for _recipe in ("paper", "default"):
            MODELS[f"ICALD, {_recipe}, {_target}, w = {_share}"] = lambda seed, own=_own, recipe=_recipe: ICALDSurvival(
                recipe, progress=False, random_state=seed, **own
            )
        MODELS[f"ALD, paper, then {_target}, w = {_share}"] = lambda seed, own=_own: ICALDCalibrated(
            _paper(), random_state=seed, **own
        )


def result(label: str, name: str, seed: int) -> dict[str, Any]:
    learn, held = parts("validation", name, seed)
    model = MODELS[label](seed)
    start = time.perf_counter()
    model.fit(learn.x, learn.y)
    seconds = time.perf_counter() - start
    return {"model": label, "dataset": name, "seed": seed, "seconds": seconds, **_scores(model, learn, held)}


def _scores(model: Any, learn: Part, held: Part) -> dict[str, float]:
    predicted, unit = model.predict_distribution(held.x), float(np.std(learn.y.time))
    # An event at time 0 is taken as one before the first later time, by every model alike.
    rows = with_log_times(held.y)
    found = {
        "log_loss": -metrics.log_likelihood(predicted, rows) - float(rows.exact.mean() * np.log(unit)),
        "c": metrics.concordance_harrell(predicted, held.y, point=model.error_point_),
        "ibs": metrics.integrated_brier_score(predicted, held.y, train=learn.y, ties="scikit-survival"),
        "cens_dcal": metrics.censored_d_calibration(predicted, held.y),
        "average": average_calibration(predicted, held.y),
        "group": worst_group_calibration(predicted, held.y, held.x).distance,
    }
    if held.truth is not None:
        # Up to the last time: some distributions of log time have no mean.
        horizon = float(learn.y.time.max())
        found["individual"] = individual_calibration(predicted, held.truth, horizon=horizon) / unit
    return {name: float(value) for name, value in found.items()}


def table(lines: list[dict[str, Any]], names: list[str], seeds: Any = SEEDS) -> str:
    """Means over datasets and seeds of the models that have all of them."""
    text = ["| | " + " | ".join(METRICS) + " |", "| --- " * (len(METRICS) + 1) + "|"]
    for label in MODELS:
        own = [line for line in lines if line["model"] == label and line["dataset"] in names and line["seed"] in seeds]
        if len(own) < len(names) * len(seeds):
            continue
        means = [np.mean([line.get(metric, np.nan) for line in own]) for metric in METRICS]
        text.append(f"| {label} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    return "\n".join(text)


def main(file: Path, chosen: list[str]) -> None:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    done = {(line["model"], line["dataset"], line["seed"]) for line in lines}
    for seed in SEEDS:
        for name in chosen or NAMES:
            for label in MODELS:
                if (label, name, seed) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    lines.append(result(label, name, seed))
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(lines[-1]) + "\n")
    real = [name for name in chosen or NAMES if name in REAL]
    print(table(lines, real), table(lines, [name for name in chosen or NAMES if name not in real]), sep="\n\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
