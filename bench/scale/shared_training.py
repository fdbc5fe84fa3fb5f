"""One network trained by one process and by two: seconds of the clock and of processors, by turns."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from bench.journal import Line, complete_journal
from bench.pages.results import store_section, today
from bench.scale.drawn_rows import whole

__all__ = ["SECTION", "measure", "store_shared"]

RESULTS_FILE, SECTION = "scale.json", "shared training"
_ROWS, _COLUMNS, _SEED = 200_000, 20, 11
_BATCHES, _RUNS = (512, 4096), 3
# Processes, and threads of each, by turns in this order.
_WAYS = {"1 process": (1, 1), "1 process, 2 threads": (1, 2), "2 processes": (2, 1)}


def measure(batch: int) -> Line:
    """Seconds of a fit in this process, which may be one of several, and a digest of the weights."""
    from aldsurv import ALDSurvival
    from aldsurv.training.ranks import open_ranks

    warnings.simplefilter("ignore")
    # What is imported on first use is not counted.
    few, table = whole(2000, 5, _SEED), whole(_ROWS, _COLUMNS, _SEED)
    given: dict[str, Any] = {"random_state": 0, "progress": False, "batch_size": batch}
    ALDSurvival(**{**given, "max_epochs": 1}).fit(few.x, few.y)
    with open_ranks("env://", int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])):
        clock, processor = time.perf_counter(), time.process_time()
        model = ALDSurvival(**given).fit(table.x, table.y)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
    weights = model.fitted_.weights
    digest = hashlib.sha256(b"".join(weights[name].tobytes() for name in sorted(weights))).hexdigest()
    return {"seconds": round(clock, 2), "processor seconds": round(processor, 2), "weights": digest[:16]}


def store_shared(journal: Path) -> list[Line]:
    """Measure what is missing in the journal, print it, and put all into the results file."""

    def compute(run: str, way: str) -> list[Line]:
        batch = run.split()[1]
        count, threads = _WAYS[way]
        lines = _in_children(int(batch), count, threads)
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        line = {
            "run": run,
            "way": way,
            "batch": int(batch),
            # The first process is done when the model is.
            "seconds": lines[0]["seconds"],
            "processor seconds": round(sum(one["processor seconds"] for one in lines), 2),
            "weights": lines[0]["weights"],
            "load": round(load, 1),
        }
        print(json.dumps(line), flush=True)
        return [line]

    cells = [(f"batch {batch} run {run + 1}", way) for run in range(_RUNS) for batch in _BATCHES for way in _WAYS]
    lines = complete_journal(journal, ("run", "way"), cells, compute)
    values = {"rows": _ROWS, "columns": _COLUMNS, "seed": _SEED, "fits": lines}
    store_section(RESULTS_FILE, SECTION, values, today("python -m bench.scale ranks JOURNAL", ["ald/huge"]))
    return lines


def _in_children(batch: int, count: int, threads: int) -> list[Line]:
    code = (
        "import json, sys\n"
        "from bench.scale.shared_training import measure\n"
        "print(json.dumps(measure(int(sys.argv[1]))))\n"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    common = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(batch)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(threads), "RANK": str(number), **common},
        )
        for number in range(count)
    ]
    texts = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise RuntimeError("a process that was measured failed")
    return [dict(json.loads(text.splitlines()[-1])) for text in texts]
