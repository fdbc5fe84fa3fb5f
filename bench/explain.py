"""Milliseconds per row that `shapley_values` takes, and how far its values are from those of the whole background.

``python -m bench.explain`` fits models to 1,000 drawn rows with ten columns, explains the survival at 20 times, and
puts the figures into docs/results/explain.json; ``python -m bench.explain --peer`` prints beside them what the
permutation explainer of the package shap takes for about as many predictions, where that package is installed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv import ALDSurvival, BoostedALD, CoxRegression, WeibullAFT
from aldsurv.inspection import shapley_values
from aldsurv.models.base import SurvivalEstimator
from bench.pages.results import store_section, today

__all__ = ["FILE", "SECTION"]

FILE, SECTION = "explain.json", "explain"
ROWS, COLUMNS, TIMES = 1000, 10, 20
# Rows that are timed, and rows whose values are computed from the whole background.
EXPLAINED, COMPARED = 20, 3
MODELS: dict[str, type[SurvivalEstimator]] = {
    "ALDSurvival": ALDSurvival,
    "BoostedALD": BoostedALD,
    "CoxRegression": CoxRegression,
    "WeibullAFT": WeibullAFT,
}


def measured(model: SurvivalEstimator, x: NDArray[np.float64]) -> dict[str, float]:
    """Milliseconds of the processor per row and for the background, and errors of the values: stated and true."""
    shapley_values(model, x[:1], background=x)
    one, many = (_seconds(lambda n=n: shapley_values(model, x[:n], background=x)) for n in (1, EXPLAINED + 1))
    values = shapley_values(model, x[:COMPARED], background=x)
    whole = shapley_values(model, x[:COMPARED], background=x, sample=ROWS, repeats=2, method="sampled")
    return {
        "milliseconds": 1e3 * (many - one) / EXPLAINED,
        "first": 1e3 * one,
        "missed": _root_mean_square(values.values - whole.values),
        "stated": _root_mean_square(values.errors),
        "gap": float(np.abs(values.base + values.values.sum(axis=1) - values.predicted).max()),
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", action="store_true")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS))
    scale = np.exp(0.5 * x[:, 0] + 0.3 * x[:, 1] * x[:, 2])
    y = (scale * rng.weibull(1.5, ROWS) * 10, rng.random(ROWS) < 0.7)
    models = {}
    for name, kind in MODELS.items():
        model = kind().fit(x, y)
        models[name] = measured(model, x)
        print(name, {key: float(f"{value:.3g}") for key, value in models[name].items()}, flush=True)
        if arguments.peer:
            print(f"  shap: {1e3 * _peer(model, x):.0f} ms per row")
    values = {"rows": ROWS, "columns": COLUMNS, "times": TIMES, "models": models}
    recipes = ["ald/default", "boosted_ald/default"]
    store_section(FILE, SECTION, values, today("python -m bench.explain", recipes))


def _seconds(call: Callable[[], object]) -> float:
    """Of the processor, the least of five."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)


def _root_mean_square(values: NDArray[np.float64]) -> float:
    return float(np.sqrt((values**2).mean()))


def _peer(model: Any, x: NDArray[np.float64]) -> float:
    """Seconds per row of shap with 20 background rows and about as many predictions."""
    import shap

    times = np.linspace(0, model.follow_up_, TIMES + 1)[1:]
    masker = shap.maskers.Independent(x[:20], max_samples=20)
    explainer = shap.explainers.Permutation(lambda rows: model.predict_distribution(rows).survival(times), masker)
    calls = 2 * (COLUMNS + 1)
    return _seconds(lambda: explainer(x[:EXPLAINED], max_evals=calls, silent=True)) / EXPLAINED


if __name__ == "__main__":
    main()
