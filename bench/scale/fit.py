"""Fits of large drawn tables: seconds, memory and held-out log-likelihood of ours, before and after, and of XGBoost.

Every fit is in a process of its own, which first fits a few rows, so that what is imported on first use is not counted.
The peak of its memory is that of the fit above what the process held before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import SurvivalData
from bench.journal import Line, complete_journal
from bench.pages.results import Origin, store_section, today
from bench.scale.drawn_rows import Block, block_of, whole

__all__ = ["MODELS", "RESULTS_FILE", "SECTION", "TREES_SECTION", "measure", "store", "store_trees"]

RESULTS_FILE, SECTION, TREES_SECTION = "scale.json", "fits in memory", "boosted trees"
# Those of 10,000 rows have fewer columns, as a table of that size has.
COLUMNS = {10_000: 10, 100_000: 10, 1_000_000: 20, 10_000_000: 20}
# Tables that no setting was chosen on.
SEED, LAWS = 11, ("log-normal", "two-groups")
_TEST_ROWS = 50_000
_ROUNDS, _XGBOOST_SCALE = 100, 1.0
Predict = Callable[[dict[str, Any], SurvivalData], float]


def _ours(recipe: str) -> Callable[[dict[str, Any], SurvivalData], Predict]:
    def fit(x: dict[str, Any], y: SurvivalData) -> Predict:
        from aldsurv import ALDSurvival, metrics

        model = ALDSurvival(recipe, random_state=0, progress=False).fit(x, y)
        return lambda test_x, test_y: float(metrics.log_likelihood(model.predict_distribution(test_x), test_y))

    return fit


def _boosted_ald(x: dict[str, Any], y: SurvivalData) -> Predict:
    from aldsurv import BoostedALD, metrics

    model = BoostedALD(random_state=0).fit(x, y)
    return lambda test_x, test_y: float(metrics.log_likelihood(model.predict_distribution(test_x), test_y))


def _xgboost_aft(x: dict[str, Any], y: SurvivalData) -> Predict:
    """Accelerated failure time by boosting, all as XGBoost has it; log-normal times."""
    import xgboost

    from aldsurv import metrics
    from aldsurv.distributions import LogNormal

    rows = xgboost.DMatrix(np.column_stack(list(x.values())))
    rows.set_float_info("label_lower_bound", y.lower)
    rows.set_float_info("label_upper_bound", y.upper)
    given = {"objective": "survival:aft", "aft_loss_distribution_scale": _XGBOOST_SCALE, "verbosity": 0}
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    model = xgboost.train({**given, "nthread": threads}, rows, num_boost_round=_ROUNDS)

    def score(test_x: dict[str, Any], test_y: SurvivalData) -> float:
        location = np.log(model.predict(xgboost.DMatrix(np.column_stack(list(test_x.values())))))
        return float(metrics.log_likelihood(LogNormal(location, _XGBOOST_SCALE), test_y))

    return score


# By turns in this order.
MODELS: dict[str, Callable[[dict[str, Any], SurvivalData], Predict]] = {
    "ALDSurvival()": _ours("default"),
    "XGBoost survival:aft": _xgboost_aft,
    'ALDSurvival("large")': _ours("large"),
}
BEFORE = "BoostedALD() before"
TREES = {"BoostedALD()": _boosted_ald, "XGBoost survival:aft": _xgboost_aft, BEFORE: _boosted_ald}


def measure(model: str, rows: int, law: str) -> Line:
    """Seconds by the clock and of the processor, megabytes above what was held, and the log-likelihood per test row."""
    warnings.simplefilter("ignore")
    fit = {**MODELS, **TREES}[model]
    few = whole(500, 5, SEED)
    fit(few.x, few.y)
    train, test = whole(rows, COLUMNS[rows], SEED, law=law), _test(rows, law)
    before = _memory("VmRSS:")
    _forget_peak()
    clock, processor = time.perf_counter(), time.process_time()
    score = fit(train.x, train.y)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    peak = _memory("VmHWM:") - before
    return {
        "table": f"{rows} {law}",
        "model": model,
        "rows": rows,
        "columns": COLUMNS[rows],
        "law": law,
        "seconds": round(clock, 2),
        "processor seconds": round(processor, 2),
        "megabytes": round(peak),
        "log-likelihood": round(score(test.x, test.y), 5),
        "log-likelihood of the truth": round(float(test.true_log_likelihood.mean()), 5),
    }


def store(journal: Path, sizes: Sequence[int], threads: int, models: Sequence[str] = tuple(MODELS)) -> list[Line]:
    """Measure what is missing in the journal, print it, and put all into the results file."""
    names = ["ald/default", "ald/large", "ald/larger", "ald/huge"]
    lines = _measured(journal, sizes, threads, models, None)
    return _stored(SECTION, lines, today("python -m bench.scale fit JOURNAL", names))


def store_trees(journal: Path, sizes: Sequence[int], threads: int, before: Path | None) -> list[Line]:
    """The same of boosted trees, into a section of their own; those of before by another tree of the library."""
    models = [model for model in TREES if model != BEFORE or before is not None]
    lines = _measured(journal, sizes, threads, models, before)
    names = ["boosted_ald/default", "boosted_ald/large"]
    return _stored(TREES_SECTION, lines, today("python -m bench.scale trees JOURNAL --before TREE", names))


def _measured(
    journal: Path, sizes: Sequence[int], threads: int, models: Sequence[str], before: Path | None
) -> list[Line]:
    def compute(table: str, model: str) -> list[Line]:
        rows, law = table.split(maxsplit=1)
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        line = _in_child(model, int(rows), law, threads, before if model == BEFORE else None)
        # What else runs makes the clock slower, and the processor a little.
        line |= {"threads": threads, "load before": round(load, 1)}
        print(json.dumps(line), flush=True)
        return [line]

    cells = [(f"{rows} {law}", model) for rows in sizes for law in LAWS for model in models]
    return complete_journal(journal, ("table", "model"), cells, compute)


def _stored(section: str, lines: list[Line], origin: Origin) -> list[Line]:
    store_section(RESULTS_FILE, section, {"test rows": _TEST_ROWS, "seed": SEED, "fits": lines}, origin)
    return lines


def _test(rows: int, law: str) -> Block:
    """Rows of the same table behind those that are learned from."""
    return block_of(rows, rows + _TEST_ROWS, COLUMNS[rows], SEED, law=law)


def _in_child(model: str, rows: int, law: str, threads: int, tree: Path | None = None) -> Line:
    code = (
        "import json, sys\n"
        "from bench.scale.fit import measure\n"
        "print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, model, str(rows), law],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), **({"PYTHONPATH": str(tree / "src")} if tree else {})},
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _memory(key: str) -> float:
    """Megabytes as Linux counts them; elsewhere nothing is measured."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    lines = status.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))


def _forget_peak() -> None:
    peak = Path("/proc/self/clear_refs")
    if peak.exists():
        peak.write_text("5", encoding="utf-8")
