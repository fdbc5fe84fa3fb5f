"""Rows scored in memory by the code of two trees, in turns: many at once, and one at a time as a service does.

``python -m bench.scoring OLD_TREE [ROUNDS]``. The models are the default ones with ten columns, for a small table and
for a larger one, trained for a few epochs: how well they predict does not change what a prediction costs. Each turn is
a process of its own; the fastest of the rounds counts, in seconds of the processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.pages.results import PERFORMANCE, store_section, today

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, ROWS, QUANTILE_ROWS, ROUNDS = 10, 100_000, 10_000, 5
TIMES, LEVELS = [6.0, 12.0, 24.0], [0.1, 0.5, 0.9]
# By title: rows of training, which decide on the recipe.
MODELS = {"small": 600, "large": 3000}


def rows_of(n: int, seed: int) -> dict[str, Any]:
    x = np.random.default_rng(seed).normal(size=(n, COLUMNS))
    return {f"x{j}": x[:, j] for j in range(COLUMNS)}


def train(folder: Path) -> None:
    from aldsurv import ALDSurvival

    for title, n in MODELS.items():
        rng, x = np.random.default_rng(0), rows_of(n, 1)
        event_time = 20 * np.exp(0.4 * x["x0"] - 0.3 * x["x1"] * x["x2"] + 0.5 * rng.normal(size=n))
        censored = rng.exponential(40, n)
        y = np.minimum(event_time, censored), event_time <= censored
        ALDSurvival(random_state=0, max_epochs=20).fit(x, y).save(folder / f"{title}.aldsurv")


def microseconds(act: Callable[[], object], per: int, repeats: int) -> float:
    """Of the processor for each of so many rows, the least of a few goes."""
    found = []
    for _ in range(3):
        start = time.process_time()
        for _ in range(repeats):
            act()
        found.append(1e6 * (time.process_time() - start) / repeats / per)
    return min(found)


def child(path: str) -> dict[str, float]:
    """What one tree takes for one model."""
    import aldsurv

    model, many, one = aldsurv.load(path), rows_of(ROWS, 2), rows_of(1, 2)
    before = _peak()
    found = {
        "many rows": microseconds(lambda: model.predict_distribution(many).survival(TIMES), ROWS, 1),
        "peak MB": _peak() - before,
    }
    some, single = model.predict_distribution(rows_of(QUANTILE_ROWS, 2)), model.predict_distribution(one)
    found["quantiles"] = microseconds(lambda: some.quantile(LEVELS), QUANTILE_ROWS, 1)
    found["one row"] = microseconds(lambda: model.predict_distribution(one).survival(TIMES), 1, 100)
    found["one row, quantiles"] = microseconds(lambda: single.quantile(LEVELS), 1, 100)
    return found


def _peak() -> float:
    """Most memory so far, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main(old: Path, rounds: int) -> None:
    trees, lines = {"before": old.resolve(), "after": ROOT}, []
    with tempfile.TemporaryDirectory() as place:
        train(Path(place))
        for title in MODELS:
            found: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
            for _ in range(rounds):
                for name, tree in trees.items():
                    variables = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
                    command = [sys.executable, "-m", "bench.scoring", "--child", str(Path(place, f"{title}.aldsurv"))]
                    done = subprocess.run(command, cwd=ROOT, env=variables, check=True, capture_output=True, text=True)
                    found[name].append(json.loads(done.stdout))
            for what in found["before"][0]:
                numbers = {name: min(each[what] for each in runs) for name, runs in found.items()}
                print(f"{title:<6} {what:<20} {numbers['before']:10.2f} {numbers['after']:10.2f}", flush=True)
                lines.append({"model": title, "what": what, **numbers})
    origin = today("python -m bench.scoring OLD_TREE", ["ald/small", "ald/large"])
    store_section(PERFORMANCE, "scoring", lines, origin)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(sys.argv[2])))
    elif len(sys.argv) in (2, 3):
        main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else ROUNDS)
    else:
        raise SystemExit(__doc__)
