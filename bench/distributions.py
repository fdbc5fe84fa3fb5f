"""Survival curves of a million rows, against numpy.exp on as many values and against scipy's distribution.

Seconds are those of the processor: what else runs on the machine counts little.
"""

from __future__ import annotations

import time
import tracemalloc
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from aldsurv.distributions import (
    AsymmetricLaplace,
    LogAsymmetricLaplace,
    LogNormal,
    Mixture,
    PositiveAsymmetricLaplace,
    Weibull,
)
from bench.pages.results import PERFORMANCE, store_section, today

ROWS, TIMES, REPEATS = 1_000_000, 100, 5


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def parameters(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(50, 20, rows), rng.gamma(5, 4, rows), np.exp(rng.normal(0, 0.4, rows))


def run_survival() -> dict[str, Any]:
    """The yardstick is numpy.exp into a new array, interleaved with the rest so that noise falls on all alike."""
    theta, sigma, kappa = parameters(ROWS)
    grid = np.linspace(1, 150, TIMES)
    exponents = np.broadcast_to(-grid / 50, (ROWS, TIMES)).copy()
    d = AsymmetricLaplace(theta, sigma, kappa)
    candidates = {
        "AsymmetricLaplace.survival": lambda: d.survival(grid),
        "AsymmetricLaplace.cdf": lambda: d.cdf(grid),
        "AsymmetricLaplace.density": lambda: d.density(grid),
        "AsymmetricLaplace.survival, block by block": lambda: deque(
            (block.survival(grid) for block in d.blocks(10_000)), maxlen=0
        ),
    }
    ratios: dict[str, list[float]] = {name: [] for name in candidates}
    absolute: dict[str, list[float]] = {name: [] for name in candidates}
    yardstick = []
    for _ in range(REPEATS):
        for name, action in candidates.items():
            base = seconds(lambda: np.exp(exponents))
            took = seconds(action)
            yardstick.append(base)
            absolute[name].append(took)
            ratios[name].append(took / base)
    print(f"{ROWS:,} rows at {TIMES} times, best of {REPEATS}; ratio to numpy.exp on as many values (range)")
    print(f"  {'numpy.exp':<48}{min(yardstick):8.3f} s")
    for name, values in ratios.items():
        best = min(absolute[name])
        print(f"  {name:<48}{best:8.3f} s  {best / min(yardstick):5.2f} ({min(values):.2f}–{max(values):.2f})")
    best_seconds = {name: min(times) for name, times in absolute.items()}
    return {"numpy.exp": min(yardstick), "seconds": best_seconds, "single ratios": ratios}


def run_families() -> dict[str, float]:
    """Other families and scipy, on fewer rows: the interest is in the order of magnitude."""
    from scipy import stats

    rows = ROWS // 10
    theta, sigma, kappa = parameters(rows)
    grid = np.linspace(1, 150, TIMES)
    exponents = np.broadcast_to(-grid / 50, (rows, TIMES)).copy()
    columns = [column[:, None] for column in (kappa, theta, sigma / np.sqrt(2))]
    parts = [AsymmetricLaplace(theta + shift, sigma, kappa) for shift in (-10, 0, 10, 20, 30)]
    actions = {
        "AsymmetricLaplace": lambda: AsymmetricLaplace(theta, sigma, kappa).survival(grid),
        "PositiveAsymmetricLaplace": lambda: PositiveAsymmetricLaplace(theta, sigma, kappa).survival(grid),
        "LogAsymmetricLaplace": lambda: LogAsymmetricLaplace(theta / 20, sigma / 40, kappa).survival(grid),
        "LogNormal": lambda: LogNormal(theta / 20, sigma / 40).survival(grid),
        "Weibull": lambda: Weibull(sigma, kappa).survival(grid),
        "Mixture of 5 AsymmetricLaplace": lambda: Mixture(parts).survival(grid),
        "scipy.stats.laplace_asymmetric.sf": lambda: stats.laplace_asymmetric.sf(grid, *columns),
    }
    print(f"\nsurvival of {rows:,} rows at {TIMES} times, best of 3; ratio to numpy.exp")
    base = min(seconds(lambda: np.exp(exponents)) for _ in range(3))
    with np.errstate(over="ignore"):
        ratios = {}
        for name, action in actions.items():
            took = min(seconds(action) for _ in range(3))
            ratios[name] = took / base
            print(f"  {name:<48}{took:8.3f} s  {took / base:5.2f}")
    return ratios


def run_memory() -> dict[str, float]:
    """Most memory in use at once beyond the parameters, as numpy reports its arrays to tracemalloc."""
    grid = np.linspace(1, 150, TIMES)
    d = AsymmetricLaplace(*parameters(ROWS))
    print(f"\nmemory beyond the parameters; the answer itself has {ROWS * TIMES * 8 / 1e6:.0f} MB")
    peaks = {"the answer": ROWS * TIMES * 8 / 1e6}
    for name, action in {
        "all at once": lambda: d.survival(grid),
        "blocks of 10,000": lambda: [block.survival(grid).mean() for block in d.blocks(10_000)],
    }.items():
        tracemalloc.start()
        action()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        peaks[name] = peak / 1e6
        print(f"  {name:<48}{peak / 1e6:8.0f} MB")
    return peaks


def run_mixture() -> dict[str, float]:
    rows = 2000
    theta, sigma, kappa = parameters(rows)
    d = Mixture([AsymmetricLaplace(theta + shift, sigma, kappa) for shift in (-10, 0, 10, 20, 30)])
    outcome = np.abs(theta)[:, None]
    print(f"\nmixture of 5 asymmetric Laplace distributions, {rows:,} rows: microseconds per row")
    microseconds = {}
    for name, action in {
        "three quantiles": lambda: d.quantile([0.1, 0.5, 0.9]),
        "CRPS": lambda: d.crps(outcome),
        "mode": d.mode,
    }.items():
        microseconds[name] = min(seconds(action) for _ in range(3)) / rows * 1e6
        print(f"  {name:<48}{microseconds[name]:8.0f}")
    return microseconds


def run() -> None:
    values = {
        "survival": run_survival(),
        "families": run_families(),
        "memory": run_memory(),
        "mixture": run_mixture(),
    }
    store_section(PERFORMANCE, "distributions", values, today("python -m bench distributions"))


if __name__ == "__main__":
    run()
