"""One fit in a process of its own: ``python -m bench.scale.peer_cell TITLE FOLDER COLUMNS SEED LAW`` prints JSON."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

from aldsurv import metrics
from bench.scale.drawn_rows import block_of
from bench.scale.peer_models import OURS, PEERS
from bench.scale.process_tree import processor_seconds

__all__ = ["HELD_OUT", "main"]

# Numbers of the rows that no fit has.
HELD_OUT = 10**9, 10**9 + 20_000


def main(title: str, folder: str, columns: int, seed: int, law: str) -> dict[str, float]:
    """Seconds from files to a fitted model, and how likely held-out rows are under it."""
    prepared, fit = {**OURS, **PEERS}[title]
    with prepared() as running:
        start, before = time.perf_counter(), processor_seconds()
        predict = fit(Path(folder), running)
        clock, processor = time.perf_counter() - start, processor_seconds() - before
    held = block_of(*HELD_OUT, columns, seed, law=law)
    # Weights of the exponential distribution that bounds the likelihood are those of the rows themselves: all alike.
    likelihood = metrics.bounded_log_likelihood(predict(held.x), held.y)
    return {
        "clock": clock,
        "processor": processor,
        "log-likelihood": float(likelihood),
        "truth": float(held.true_log_likelihood.mean()),
        "own peak MB": _peak(),
    }


def _peak() -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = sys.argv[1:]
    print(json.dumps(main(given[0], given[1], int(given[2]), int(given[3]), given[4])))
