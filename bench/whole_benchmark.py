"""How long the benchmark of the paper takes: ``python -m bench whole_benchmark`` runs it in two processes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import defaultdict

from aldsurv.benchmark import Store
from aldsurv.benchmark.plan import PAPER_MODELS
from bench.pages.results import PERFORMANCE, store_section, today
from bench.processor_time import seconds_of_children

JOBS = 2


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        start, before = time.perf_counter(), seconds_of_children()
        words = ["benchmark", "run", "--out", folder, "--jobs", str(JOBS), "--quiet"]
        subprocess.run([sys.executable, "-m", "aldsurv", *words], check=True)
        clock, processor = time.perf_counter() - start, seconds_of_children() - before
        by_model: dict[str, float] = defaultdict(float)
        for cell, seconds in Store(folder).seconds().items():
            # Dataset, definition, variant and model.
            by_model[cell.split("/")[3]] += sum(seconds)
    values = {"jobs": JOBS, "clock": round(clock), "processor": round(processor)}
    print(values, dict(by_model))
    shares = {model: round(seconds / sum(by_model.values()), 3) for model, seconds in by_model.items()}
    origin = today("python -m bench whole_benchmark", [f"{model}/paper" for model in PAPER_MODELS])
    store_section(PERFORMANCE, "whole_benchmark", {**values, "shares": shares}, origin)


if __name__ == "__main__":
    run()
