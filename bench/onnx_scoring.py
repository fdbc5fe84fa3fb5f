"""Scoring many rows by ONNX and by numpy in one run: survival at three times of the default model with ten columns.

``python -m bench.onnx_scoring`` stores processor time per row, the least of several rounds in which the ways to score
take turns: other programs only add to it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bench.pages.results import store_section, today

ROWS, COLUMNS, BLOCK, ROUNDS = 100_000, 10, 1000, 7
TIMES = [0.5, 1.0, 2.0]
PRECISIONS = ("float64", "float32")
FILE, SECTION = "onnx.json", "scoring"


def run() -> None:
    """Print and store a line per way to score."""
    import onnxruntime

    from aldsurv import ALDSurvival
    from aldsurv.export.onnx import build_onnx

    rng = np.random.default_rng(0)
    table = {f"column {k}": rng.normal(size=ROWS) for k in range(COLUMNS)}
    train = {name: column[:2000] for name, column in table.items()}
    event_time = np.exp(0.5 * train["column 0"] + rng.normal(size=2000))
    with warnings.catch_warnings():
        # Few epochs: what a row costs does not depend on what was learned.
        warnings.simplefilter("ignore")
        model = ALDSurvival("large", max_epochs=2, random_state=0).fit(train, (event_time, np.ones(2000)))
    ways: dict[str, Callable[[], Any]] = {}
    for precision in PRECISIONS:
        graph = build_onnx(model, times=TIMES, precision=precision, outputs=["survival"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        session = onnxruntime.InferenceSession(graph.to_bytes(), options, providers=["CPUExecutionProvider"])
        given = {name: column.astype(precision) for name, column in table.items()}
        blocks = [
            {name: column[start : start + BLOCK] for name, column in given.items()} for start in range(0, ROWS, BLOCK)
        ]

        def score(session: Any = session, blocks: list[dict[str, Any]] = blocks) -> Any:
            return np.concatenate([session.run(None, block)[0] for block in blocks])

        ways[f"onnxruntime, {precision}"] = score
    ways["numpy"] = lambda: model.predict_distribution(table).survival(TIMES)
    expected, spent = ways["numpy"](), dict.fromkeys(ways, np.inf)
    apart = {name: float(np.abs(score() - expected).max()) for name, score in ways.items()}
    for _ in range(ROUNDS):
        for name, score in ways.items():
            start = time.process_time()
            score()
            spent[name] = min(spent[name], time.process_time() - start)
    print(f"{ROWS:,} rows of {COLUMNS} columns, survival at {len(TIMES)} times, blocks of {BLOCK:,} rows, one thread")
    lines = []
    for name, seconds in spent.items():
        print(f"  {name:<22}{1e6 * seconds / ROWS:6.2f} µs per row, {apart[name]:.0e} from numpy")
        lines.append({"by": name, "microseconds": 1e6 * seconds / ROWS, "apart": apart[name]})
    origin = today("python -m bench.onnx_scoring", ["ald/large"])
    versions = {**origin.versions, "onnxruntime": onnxruntime.__version__}
    values = {"members": model.n_members, "rows": ROWS, "columns": COLUMNS, "block": BLOCK, "ways": lines}
    store_section(FILE, SECTION, values, replace(origin, versions=versions))


if __name__ == "__main__":
    run()
