"""Kaplan-Meier: seconds beside sorting alone, scikit-survival and lifelines, on the same rows in one run.

Seconds are those of the processor: what else runs on the machine counts little.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from lifelines import KaplanMeierFitter
from sksurv.nonparametric import kaplan_meier_estimator

from aldsurv.data.survival_data import SurvivalData
from aldsurv.nonparametric import kaplan_meier
from bench.pages.results import PERFORMANCE, store_section, today

ROWS = (10_000, 100_000, 1_000_000)
REPEATS = 5


def best_seconds(actions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Best of several repeats, taken in turn so that a slow spell of the computer falls on all."""
    best = dict.fromkeys(actions, np.inf)
    for _ in range(REPEATS):
        for name, action in actions.items():
            start = time.process_time()
            action()
            best[name] = min(best[name], time.process_time() - start)
    return best


def actions_for(n: int, *, ties: bool) -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(n)
    observed = rng.exponential(1000, n)
    observed = np.ceil(observed) if ties else observed
    event = rng.random(n) < 0.6
    data = SurvivalData.right(observed, event)
    return {
        "argsort": lambda: np.argsort(observed),
        "aldsurv": lambda: kaplan_meier(data),
        "scikit-survival": lambda: kaplan_meier_estimator(event, observed),
        "lifelines": lambda: KaplanMeierFitter().fit(observed, event),
    }


def run_entry_and_weights() -> list[dict[str, object]]:
    """Delayed entry and weights at the largest size; scikit-survival has no weights.

    The weights are whole numbers: with others and entry, lifelines fails once rounding makes a risk set negative.
    """
    n = ROWS[-1]
    rng = np.random.default_rng(n)
    observed = rng.exponential(1000, n)
    event = rng.random(n) < 0.6
    entry, weight = observed * rng.random(n), rng.integers(1, 4, n).astype(float)
    print(f"\n{n} rows, distinct times, with delayed entry and weights: seconds, and ratios")
    print(f"{'with':>18} {'argsort':>9} {'aldsurv':>9} {'lifelines':>10} {'ours/sort':>10} {'lifelines/ours':>15}")
    lines: list[dict[str, object]] = []
    for name, more in {
        "weights": {"weight": weight},
        "entry": {"entry": entry},
        "entry and weights": {"entry": entry, "weight": weight},
    }.items():
        data = SurvivalData.right(observed, event, **more)
        theirs = {"weights": more.get("weight"), "entry": more.get("entry")}
        best = best_seconds(
            {
                "argsort": lambda: np.argsort(observed),
                "aldsurv": lambda data=data: kaplan_meier(data),
                "lifelines": lambda theirs=theirs: KaplanMeierFitter().fit(observed, event, **theirs),
            }
        )
        ours = best["aldsurv"]
        print(
            f"{name:>18} {best['argsort']:>9.4f} {ours:>9.4f} {best['lifelines']:>10.4f}"
            f" {ours / best['argsort']:>10.2f} {best['lifelines'] / ours:>15.1f}"
        )
        lines.append({"rows": n, "times": f"distinct, {name}", **best})
    return lines


def run() -> None:
    lines: list[dict[str, object]] = []
    print("Kaplan-Meier, seconds of the processor (best of several, taken in turn), and ratios")
    print(
        f"{'rows':>9} {'times':>9} {'argsort':>9} {'aldsurv':>9} {'scikit-survival':>16} {'lifelines':>10}"
        f" {'ours/sort':>10} {'sksurv/ours':>12} {'lifelines/ours':>15}"
    )
    # lifelines switches numpy's floating point warnings off and does not put them back.
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ties in (False, True):
            for n in ROWS:
                best = best_seconds(actions_for(n, ties=ties))
                ours = best["aldsurv"]
                print(
                    f"{n:>9} {'whole' if ties else 'distinct':>9} {best['argsort']:>9.4f} {ours:>9.4f}"
                    f" {best['scikit-survival']:>16.4f} {best['lifelines']:>10.4f}"
                    f" {ours / best['argsort']:>10.2f} {best['scikit-survival'] / ours:>12.1f}"
                    f" {best['lifelines'] / ours:>15.1f}"
                )
                lines.append({"rows": n, "times": "whole numbers" if ties else "distinct", **best})
        lines += run_entry_and_weights()
    store_section(PERFORMANCE, "kaplan_meier", lines, today("python -m bench kaplan_meier"))


if __name__ == "__main__":
    run()
