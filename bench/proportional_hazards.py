"""Curves that are computed when asked for: seconds and memory for many rows and 56,000 event times, beside lifelines.

``python -m bench.proportional_hazards``. Each measurement is a process of its own that may take no more than a stated
amount of memory; what needs more is shown so. The processes of all models are by turns, the fastest of the rounds
counts, in seconds of the processor on one thread.
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
# As many training rows as have about 56,000 events, all at different times.
TRAINING, COLUMNS, EPOCHS = 85_000, 5, 3
MANY, FEWER = 1_000_000, 200_000
MOST_MB, ROUNDS = 4096, 3
TIMES, LEVELS = [0.25, 0.5, 1.0], [0.1, 0.25, 0.5]
LIFELINES = "lifelines Cox"
ROWS = {"Cox": MANY, LIFELINES: MANY, "DeepSurv": MANY, "DeepHit": FEWER, "stack": FEWER}
TASKS = ("survival", "quantiles", "restricted mean", "ranks")


def rows_of(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, COLUMNS))


def training() -> tuple[Any, Any]:
    from aldsurv import SurvivalData

    rng, x = np.random.default_rng(0), rows_of(TRAINING, 1)
    event, censored = rng.exponential(np.exp(-0.5 * x[:, 0] - 0.3 * x[:, 1])), rng.exponential(2.0, TRAINING)
    return x, SurvivalData.right(np.minimum(event, censored), event <= censored)


def train(folder: Path) -> int:
    """Save the models; how many event times there are."""
    from aldsurv.models import CoxRegression, DeepHit, DeepSurv, StackedSurvival

    x, y = training()
    networks = {"random_state": 0, "max_epochs": EPOCHS}
    members = [CoxRegression(), DeepSurv(**networks), DeepHit(**networks), "weibull_aft"]
    made = {
        "Cox": CoxRegression(),
        "DeepSurv": DeepSurv(**networks),
        "DeepHit": DeepHit(**networks),
        "stack": StackedSurvival(members, weights="equal", random_state=0),
    }
    for title, model in made.items():
        model.fit(x, y).save(folder / f"{title}.aldsurv")
    return int(np.unique(y.time[y.event]).size)


def child(title: str, task: str, folder: str) -> dict[str, float | str]:
    """What one answer takes, from covariates to numbers."""
    import resource

    act = lifelines_task(task) if title == LIFELINES else our_task(title, task, folder)
    x = rows_of(ROWS[title], 2)
    act(x[:100])
    before, limit = _peak(), MOST_MB * 2**20
    # Of what a process holds itself; address space is more than memory.
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    start = time.process_time()
    try:
        act(x)
    except MemoryError:
        return {"given up": f"more than {MOST_MB} MB"}
    return {"processor": time.process_time() - start, "MB more": _peak() - before}


def our_task(title: str, task: str, folder: str) -> Callable[[Any], object]:
    import aldsurv

    model = aldsurv.load(Path(folder, f"{title}.aldsurv"))
    tasks: dict[str, Callable[[Any], object]] = {
        "survival": lambda x: model.predict_distribution(x).survival(TIMES),
        "quantiles": lambda x: model.predict_distribution(x).quantile(LEVELS),
        "restricted mean": lambda x: model.predict_distribution(x).restricted_mean(TIMES),
        "ranks": model.predict,
    }
    return tasks[task]


def lifelines_task(task: str) -> Callable[[Any], object]:
    import pandas as pd
    from lifelines import CoxPHFitter
    from lifelines.utils import qth_survival_times

    def frame(x: Any) -> Any:
        return pd.DataFrame(x, columns=[f"x{j}" for j in range(COLUMNS)])

    x, y = training()
    model = CoxPHFitter().fit(frame(x).assign(time=y.time, event=y.event), "time", "event")
    tasks: dict[str, Callable[[Any], object]] = {
        "survival": lambda x: model.predict_survival_function(frame(x), times=TIMES),
        "quantiles": lambda x: qth_survival_times([1 - q for q in LEVELS], model.predict_survival_function(frame(x))),
        # The area up to the last time: there is no other restricted mean of several rows.
        "restricted mean": lambda x: model.predict_expectation(frame(x)),
        "ranks": lambda x: model.predict_partial_hazard(frame(x)),
    }
    return tasks[task]


def _peak() -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def measured(title: str, task: str, folder: str) -> dict[str, Any]:
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "ignore", "-m", "bench.proportional_hazards", "--child", title, task, folder]
    done = subprocess.run(command, cwd=ROOT, env=variables, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure, print and store."""
    with tempfile.TemporaryDirectory() as folder:
        times = train(Path(folder))
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for _ in range(ROUNDS):
            for task in TASKS:
                for title in ROWS:
                    if "given up" in found.get((title, task), {}):
                        continue
                    one, before = measured(title, task, folder), found.get((title, task))
                    better = before is None or "given up" in one or one["processor"] < before["processor"]
                    found[title, task] = one if better or before is None else before
    lines = [{"model": title, "what": task, "rows": ROWS[title], **line} for (title, task), line in found.items()]
    for line in lines:
        print(*line.values(), sep="\t")
    values = {"event times": times, "most MB": MOST_MB, "lines": lines}
    recipes = ["cox/default", "deepsurv/default", "deephit/default"]
    store_section(PERFORMANCE, "curves", values, today("python -m bench.proportional_hazards", recipes))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(*sys.argv[2:5])))
    else:
        main()
