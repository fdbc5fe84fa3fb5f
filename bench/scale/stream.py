"""A fit of more rows than memory holds: rows per second, seconds of each step, peak memory, held-out log-likelihood.

``python -m bench.scale stream --rows 50000000`` draws the table (what is there already stays), fits it in a process
that may not have more than 1.5 GB of data, and stores the figures in docs/results/scale.json. The folder is for
temporary files: 5 GB for 50 million rows, and as much again for the rows as networks take them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

__all__ = ["main"]

SECTION = "fits from disk"
_COLUMNS, _SEED, _TEST_ROWS = 20, 11, 200_000
_LIMIT = 1_500_000_000
# Of Arrow's allocator: others reserve addresses of 1 GB, which the limit would count.
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}


def main(arguments: list[str]) -> int:
    """Draw, fit in a child, store."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale stream", description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "aldsurv-scale")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--member-epochs", type=int, default=None, help="max_epochs in place of the recipe's")
    parser.add_argument("--memory", action="store_true", help="fit the same rows in memory, without a limit")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        return _child(given)
    from bench.pages.results import store_section, today
    from bench.scale.parquet import write_parquet

    place = given.folder / f"rows-{given.rows}"
    begun = time.perf_counter()
    write_parquet(place, given.rows, _COLUMNS, _SEED)
    drawn = time.perf_counter() - begun
    call = [sys.executable, "-m", "bench.scale", "stream", "--child", *arguments]
    environment = {**os.environ, **_ENVIRONMENT, "OMP_NUM_THREADS": str(given.threads)}
    done = subprocess.run(call, env=environment, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        print(json.dumps({**line, "seconds to draw": round(drawn, 1)}))
    if not given.memory and given.member_epochs is None:
        command = f"python -m bench.scale stream --rows {given.rows}"
        store_section("scale.json", f"{SECTION}, {given.rows} rows", {"fits": lines}, today(command, ["ald/huge"]))
    return 0


def _child(given: argparse.Namespace) -> int:
    """Fit and score, under the limit; a line of JSON for each seed."""
    import resource

    if not given.memory:
        resource.setrlimit(resource.RLIMIT_DATA, (_LIMIT, _LIMIT))
    from aldsurv import ALDSurvival, datasets
    from bench.scale.drawn_rows import block_of

    table = datasets.open_table(given.folder / f"rows-{given.rows}", time="time", event="event")
    data: tuple[Any, Any] = (table.x, table.y)
    if given.memory:
        import pandas as pd

        x, y = table.collect()
        data = pd.DataFrame(x), y
    for seed in range(given.seeds):
        steps: dict[str, float] = {}
        begun, processor = time.perf_counter(), time.process_time()
        model = ALDSurvival(random_state=seed, max_epochs=given.member_epochs, progress=True).fit(*data)
        seconds = time.perf_counter() - begun
        steps["training"] = float(model.history_.seconds.sum())
        steps["reading, learning columns, encoding"] = seconds - steps["training"]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        # Rows that follow those of the table.
        test = block_of(given.rows, given.rows + _TEST_ROWS, _COLUMNS, _SEED)
        found = model.predict_distribution(test.x).log_likelihood(test.y)
        line = {
            "rows": len(table),
            "columns": _COLUMNS,
            "threads": given.threads,
            "from": "memory" if given.memory else "disk",
            "seed": seed,
            "seconds": round(seconds, 1),
            "processor seconds": round(time.process_time() - processor, 1),
            "steps": {name: round(value, 1) for name, value in steps.items()},
            "epochs": len(model.history_.seconds),
            "rows per second": round(len(table) / seconds),
            "peak memory, GB": round(peak / 1e9, 3),
            "limit of data, GB": None if given.memory else _LIMIT / 1e9,
            "held-out log-likelihood": round(float(found.mean()), 5),
            "standard error": round(float(found.std() / len(found) ** 0.5), 5),
            "true log-likelihood": round(float(test.true_log_likelihood.mean()), 5),
        }
        print(json.dumps(line), flush=True)
    return 0
