"""Metrics: seconds by number of rows, beside `numpy.argsort` and scikit-survival, and their growth as a picture.

Seconds are those of the processor, in one thread with ``OMP_NUM_THREADS=1``: what else runs there counts little.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sksurv.metrics import concordance_index_censored, concordance_index_ipcw, integrated_brier_score

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import AsymmetricLaplace
from bench.pages.results import PERFORMANCE, RESULTS, store_section, today

ROWS = (1_000, 10_000, 100_000, 1_000_000)
REPEATS = 5
FEW_ROWS, DRAWS = (300, 1_000, 3_000), 200
PICTURE = RESULTS.parent / "images" / "metrics_growth.png"
# What scikit-survival does in reasonable time and memory: its concordances compare all pairs.
THEIR_LARGEST = {"Harrell's C": 10_000, "Uno's C": 10_000, "IBS": 100_000}
OUR_LARGEST = {"IBS": 100_000}
COLOURS = {"numpy.argsort": "0.5", "Harrell's C": "C0", "Uno's C": "C1", "CensDcal": "C2", "IBS": "C3"}


def actions_for(n: int) -> dict[str, dict[str, Callable[[], object]]]:
    rng = np.random.default_rng(n)
    event_time, censoring = rng.exponential(1000, n), rng.uniform(0, 3000, n)
    time_seen, event = np.minimum(event_time, censoring), event_time <= censoring
    data = SurvivalData.right(time_seen, event)
    estimate = event_time * rng.lognormal(0, 1, n)
    predicted = AsymmetricLaplace(estimate, estimate / 2, 0.8)
    grid = np.linspace(*np.quantile(time_seen, [0.1, 0.9]), 100)
    theirs = data.to_structured()
    days = SurvivalData.right(np.ceil(time_seen), event)
    weighted = SurvivalData.right(time_seen, event, weight=rng.uniform(0.5, 2.0, n))
    return {
        "numpy.argsort": {"aldsurv": lambda: np.argsort(time_seen)},
        "Harrell's C": {
            "aldsurv": lambda: metrics.concordance_harrell(estimate, data),
            "scikit-survival": lambda: concordance_index_censored(event, time_seen, -estimate),
        },
        "Uno's C": {
            "aldsurv": lambda: metrics.concordance_uno(estimate, data, train=data),
            "scikit-survival": lambda: concordance_index_ipcw(theirs, theirs, -estimate, tau=2500.0),
        },
        "with ties": {"aldsurv": lambda: metrics.concordance_harrell(np.ceil(estimate), days)},
        "with weights": {"aldsurv": lambda: metrics.concordance_harrell(estimate, weighted)},
        "CensDcal": {"aldsurv": lambda: metrics.censored_d_calibration(predicted, data)},
        "IBS": {
            "aldsurv": lambda: metrics.integrated_brier_score(
                predicted, data, train=data, times=grid, ties="scikit-survival"
            ),
            "scikit-survival": lambda: integrated_brier_score(theirs, theirs, predicted.survival(grid), grid),
        },
    }


def measured() -> dict[tuple[str, str], dict[int, float]]:
    """Best of all repeats, taken in turn: a busy moment of the machine falls on all alike."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for n in ROWS:
        actions = actions_for(n)
        for _ in range(REPEATS):
            for metric, sides in actions.items():
                for side, action in sides.items():
                    largest = THEIR_LARGEST if side == "scikit-survival" else OUR_LARGEST
                    if n > largest.get(metric, ROWS[-1]):
                        continue
                    start = time.process_time()
                    action()
                    seconds = found.setdefault((metric, side), {})
                    seconds[n] = min(seconds.get(n, np.inf), time.process_time() - start)
    return found


def bootstraps() -> dict[str, dict[int, float]]:
    """Milliseconds of the processor for 200 draws, best of all repeats."""
    milliseconds: dict[str, dict[int, float]] = {}
    for n in FEW_ROWS:
        rng = np.random.default_rng(n)
        event_time, censoring = rng.exponential(1000, n), rng.uniform(0, 3000, n)
        data = SurvivalData.right(np.minimum(event_time, censoring), event_time <= censoring)
        estimate = event_time * rng.lognormal(0, 1, n)
        predicted = AsymmetricLaplace(estimate, estimate / 2, 0.8)
        actions: dict[str, Callable[[], object]] = {
            'bootstrap("harrell_c")': lambda predicted=predicted, data=data: metrics.bootstrap(
                "harrell_c", predicted, data, samples=DRAWS, random_state=0
            ),
            "evaluate(..., bootstrap=200)": lambda predicted=predicted, data=data: metrics.evaluate(
                predicted, data, train=data, bootstrap=DRAWS
            ),
        }
        for name, action in actions.items():
            for _ in range(REPEATS):
                start = time.process_time()
                action()
                best = milliseconds.setdefault(name, {})
                best[n] = min(best.get(n, np.inf), 1000 * (time.process_time() - start))
    return milliseconds


def picture(found: dict[tuple[str, str], dict[int, float]], path: Path) -> None:
    from matplotlib.figure import Figure

    from aldsurv.plots import save_figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    ax = figure.subplots()
    for (metric, side), seconds in found.items():
        if metric not in COLOURS:
            continue
        style = "--" if side == "scikit-survival" else "-"
        label = metric if metric == "numpy.argsort" else f"{metric}, {side}"
        ax.loglog(list(seconds), list(seconds.values()), style, color=COLOURS[metric], marker="o", ms=3, label=label)
    ax.set_xlabel("rows")
    ax.set_ylabel("processor seconds")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    save_figure(figure, path)


def run() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = measured()
        draws = bootstraps()
    print(f"processor seconds, best of {REPEATS}; in brackets the ratio to numpy.argsort of as many times")
    print(f"{'metric':>14} {'library':>16}" + "".join(f"{n:>20,}" for n in ROWS))
    yardstick = found["numpy.argsort", "aldsurv"]
    for (metric, side), seconds in found.items():
        cells = [f"{seconds[n]:.3g} ({seconds[n] / yardstick[n]:.1f})" if n in seconds else "-" for n in ROWS]
        print(f"{metric:>14} {side:>16}" + "".join(f"{cell:>20}" for cell in cells))
    print(f"milliseconds of the processor for {DRAWS} draws")
    for name, milliseconds in draws.items():
        print(f"{name:>31}" + "".join(f"{milliseconds[n]:>20.0f}" for n in FEW_ROWS))
    picture(found, PICTURE)
    by_metric: dict[str, dict[str, dict[int, float]]] = {}
    for (metric, side), seconds in found.items():
        by_metric.setdefault(metric, {})[side] = seconds
    values = {"seconds": by_metric, "milliseconds of draws": draws}
    store_section(PERFORMANCE, "metrics", values, today("python -m bench metrics"))


if __name__ == "__main__":
    run()
