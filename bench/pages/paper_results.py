"""Results of the paper's benchmark in docs/results, as a benchmark has them."""

from __future__ import annotations

from aldsurv.benchmark.results import Result, Results, Series
from bench.pages.results import read_rows

__all__ = ["PAPER_FILE", "benchmark_results"]

PAPER_FILE = "paper.csv"
_SEED = "seed "


def benchmark_results(file: str) -> Results:
    """What `bench.export_results` has written."""
    rows = []
    for row in read_rows(file):
        series = Series(*(row[field] for field in Series._fields))
        rows += [
            Result(series, int(name.removeprefix(_SEED)), row["point"], row["metric"], float(value))
            for name, value in row.items()
            if name.startswith(_SEED) and value
        ]
    return Results(rows)
