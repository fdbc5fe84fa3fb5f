"""The paper's recipe beside the paper's numbers: Harrell's C and CensDcal of ALD, mean over ten seeds.

``python -m bench.paper_numbers RESULTS [dataset ...]``, where RESULTS is a CSV of the published results with columns
dataset, method, metric, mean and sd. Real datasets need ALDSURV_DATA.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from aldsurv import SurvivalData, metrics
from aldsurv.models import ALDSurvival, fit_together
from bench.paper_data import REAL, SYNTHETIC, available, split

SEEDS = range(10)


def measured(name: str) -> dict[str, list[float]]:
    """C and CensDcal of each seed, on the test rows."""
    pairs = [split(name, seed) for seed in SEEDS]
    models = [ALDSurvival("paper", random_state=seed, progress=False) for seed in SEEDS]
    fit_together(models, [(train.x, (train.time, train.event)) for train, _ in pairs])
    found: dict[str, list[float]] = {"harrell_c": [], "cens_dcal": []}
    for model, (_, test) in zip(models, pairs, strict=True):
        predicted, data = model.predict_distribution(test.x), SurvivalData.right(test.time, test.event)
        found["harrell_c"].append(metrics.concordance_harrell(predicted, data, point="mean"))
        found["cens_dcal"].append(metrics.censored_d_calibration(predicted, data))
    return found


def main(results: Path, names: list[str]) -> None:
    with results.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["method"] == "ald"]
    published = {(row["dataset"], row["metric"]): (float(row["mean"]), float(row["sd"])) for row in rows}
    print(f"{'dataset':>15} {'C':>6} {'sd':>6} {'published':>15} {'CensDcal':>9} {'sd':>6} {'published':>15} {'s':>6}")
    for name in names or [*SYNTHETIC, *(REAL if available() else [])]:
        start = time.perf_counter()
        found = measured(name)
        seconds = time.perf_counter() - start
        line = f"{name:>15}"
        for metric, sign in (("harrell_c", 1), ("cens_dcal", -1)):
            mean, sd = published[name, metric]
            ours = float(np.mean(found[metric]))
            reached = "ok" if sign * ours >= sign * mean - 2 * sd else "--"
            line += f" {ours:>6.3f} {np.std(found[metric], ddof=1):>6.3f} {mean:>6.3f} ±{sd:.3f} {reached}"
        print(f"{line} {seconds:>6.1f}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(Path(sys.argv[1]), sys.argv[2:])
