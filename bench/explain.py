"""Milliseconds per row that `shapley_values` takes, beside the package shap on the same predictions.

Run: python -m bench.explain. The peer is measured where it is installed (pip install shap).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from aldsurv import ALDSurvival, BoostedALD, CoxRegression, WeibullAFT
from aldsurv.inspection import shapley_values

COLUMNS, ROWS, TIMES = 10, 10, 20


def main() -> None:
    """Print a line per model: default models on 2,000 rows, and the ensemble that small tables get."""
    rng = np.random.default_rng(0)
    print(f"{COLUMNS} columns, survival at {TIMES} times, milliseconds of the processor per row")
    print(f"{'model':<28}{'aldsurv':>9}{'shap':>9}  {'largest error':>14}")
    for name, model, n in (
        ("ALDSurvival, 2,000 rows", ALDSurvival(), 2000),
        ("ALDSurvival, 800 rows", ALDSurvival(), 800),
        ("BoostedALD, 2,000 rows", BoostedALD(), 2000),
        ("CoxRegression", CoxRegression(), 2000),
        ("WeibullAFT", WeibullAFT(), 2000),
    ):
        x = rng.normal(size=(n, COLUMNS))
        scale = np.exp(0.5 * x[:, 0] + 0.3 * x[:, 1] * x[:, 2])
        model.fit(x, (scale * rng.weibull(1.5, n) * 10, rng.random(n) < 0.7))
        explained = shapley_values(model, x[:ROWS], background=x)
        seconds = _seconds(lambda model=model, x=x: shapley_values(model, x[:ROWS], background=x))
        peer = _peer(model, x, explained.times)
        shown = "–" if peer is None else f"{1e3 * peer:.0f}"
        print(f"{name:<28}{1e3 * seconds:>9.0f}{shown:>9}  {explained.errors.max():>14.4f}")


def _seconds(call: Callable[[], object]) -> float:
    call()
    taken = []
    for _ in range(3):
        start = time.process_time()
        call()
        taken.append((time.process_time() - start) / ROWS)
    return min(taken)


def _peer(model, x, times):
    """The permutation explainer of shap with 30 background rows and about as many predictions per row."""
    try:
        import shap
    except ImportError:
        return None
    masker = shap.maskers.Independent(x[:30], max_samples=30)
    explainer = shap.explainers.Permutation(lambda rows: model.predict_distribution(rows).survival(times), masker)
    calls = 2 * 2 * (COLUMNS + 1)
    return _seconds(lambda: explainer(x[:ROWS], max_evals=calls, silent=True))


if __name__ == "__main__":
    main()
