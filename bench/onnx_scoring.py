"""Scoring many rows by ONNX and by numpy in one run: survival at three times of the default model with ten columns.

``python -m bench.onnx_scoring`` prints processor time per row, the least of several passes: other programs only add to
it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

ROWS, COLUMNS, BLOCK, PASSES = 100_000, 10, 1000, 3
TIMES = [0.5, 1.0, 2.0]


def _per_row(score: Callable[[], object]) -> float:
    """Microseconds of processor time per row."""
    spent = []
    for _ in range(PASSES):
        start = time.process_time()
        score()
        spent.append(time.process_time() - start)
    return min(spent) / ROWS * 1e6


def run() -> None:
    """Print one line per way to score."""
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
        model = ALDSurvival(max_epochs=2, random_state=0).fit(train, (event_time, np.ones(2000)))
    print(f"{ROWS:,} rows of {COLUMNS} columns, survival at {len(TIMES)} times, blocks of {BLOCK:,} rows, one thread")
    for precision in ("float64", "float32"):
        graph = build_onnx(model, times=TIMES, precision=precision, outputs=["survival"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(graph.to_bytes(), options, providers=["CPUExecutionProvider"])
        given = {name: column.astype(precision) for name, column in table.items()}
        blocks = [
            {name: column[start : start + BLOCK] for name, column in given.items()} for start in range(0, ROWS, BLOCK)
        ]

        def score(session: Any = session, blocks: list[dict[str, Any]] = blocks) -> None:
            for block in blocks:
                session.run(None, block)

        print(f"  onnxruntime, {precision}  {_per_row(score):6.2f} µs per row")
    found = _per_row(lambda: model.predict_distribution(table).survival(TIMES))
    print(f"  numpy                 {found:6.2f} µs per row")


if __name__ == "__main__":
    run()
