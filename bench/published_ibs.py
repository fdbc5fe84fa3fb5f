"""The integrated Brier score by its definition, and the way the published column was computed, of the same predictions.

``python -m bench.published_ibs [--seeds N] [dataset ...]``; real datasets need ALDSURV_DATA. Three things differ from
the definition in the published way: G is the Kaplan-Meier curve of the *event* times, on the *test* rows; for LogNorm,
DeepSurv and DeepHit F stands in place of S; for CQRNN survival is 1 before the predicted median and 0 after it.
The first lines put the true distribution of three synthetic datasets through both, where no model can be blamed.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData, datasets, metrics
from aldsurv.benchmark import Cell, Series
from aldsurv.benchmark.cells import fit_seeds, split_of
from aldsurv.benchmark.paper.published import published_results
from aldsurv.distributions import SurvivalDistribution
from aldsurv.nonparametric import kaplan_meier

FloatArray = NDArray[np.float64]
Curves = Callable[[SurvivalDistribution, FloatArray], FloatArray]


def survival(predicted: SurvivalDistribution, times: FloatArray) -> FloatArray:
    return np.asarray(predicted.survival(times))


def failure(predicted: SurvivalDistribution, times: FloatArray) -> FloatArray:
    return np.asarray(predicted.cdf(times))


def before_median(predicted: SurvivalDistribution, times: FloatArray) -> FloatArray:
    return (times[None, :] < np.asarray(predicted.median())[:, None]).astype(np.float64)


TAKEN_FOR_SURVIVAL: dict[str, Curves] = {
    "ald": survival,
    "cqrnn": before_median,
    "lognormal": failure,
    "deepsurv": failure,
    "deephit": failure,
}


def published_way(curves: Curves, predicted: SurvivalDistribution, test: SurvivalData, train: SurvivalData) -> float:
    """The integrated score with the events' Kaplan-Meier curve of the test rows as G."""
    times = np.linspace(*np.quantile(train.time, [0.1, 0.9]), 100)
    events = kaplan_meier(test)
    at_own, at_times = events.survival_at(test.time), events.survival_at(times)
    s, died = curves(predicted, times), test.event[:, None] & (test.time[:, None] <= times)
    with np.errstate(divide="ignore", invalid="ignore"):
        late = np.where(died, s**2 / at_own[:, None], 0.0)
        early = np.where(test.time[:, None] > times, (1 - s) ** 2 / at_times, 0.0)
    score = np.where(np.isfinite(late + early), late + early, 0.0).mean(axis=0)
    return float(np.trapezoid(score, times) / (times[-1] - times[0]))


def truth_lines(seeds: int) -> None:
    print(f"{'true distribution':>18} {'definition':>11} {'G of events':>12} {'and F for S':>12}")
    for name in ("norm_linear", "weibull", "exponential"):
        rows = []
        for seed in range(seeds):
            train, test = datasets.load_split(name, seed=seed, definition="released")
            assert test.truth is not None
            right = metrics.integrated_brier_score(test.truth, test.y, train=train.y, ties="scikit-survival")
            rows.append([right, *(published_way(c, test.truth, test.y, train.y) for c in (survival, failure))])
        right, events, exchanged = np.mean(rows, axis=0)
        print(f"{name:>18} {right:>11.3f} {events:>12.3f} {exchanged:>12.3f}")


def model_lines(names: list[str], seeds: int) -> None:
    print(f"{'dataset':>18} {'model':>10} {'definition':>11} {'published way':>14} {'published':>10}")
    off: dict[str, list[tuple[float, float]]] = {}
    for name in names:
        definition = "released" if datasets.describe(name).kind == "synthetic" else "real"
        for model, curves in TAKEN_FOR_SURVIVAL.items():
            cell = Cell(Series(name, definition, "row", model, "paper"), tuple(range(seeds)))
            splits = [split_of(cell.series, seed) for seed in cell.seeds]
            rows = []
            for estimator, (train, test) in zip(fit_seeds(cell, [train for train, _ in splits]), splits, strict=True):
                predicted = estimator.predict_distribution(test.x)
                right = metrics.integrated_brier_score(predicted, test.y, train=train.y, ties="scikit-survival")
                rows.append([right, published_way(curves, predicted, test.y, train.y)])
            right, theirs = np.mean(rows, axis=0)
            told = published_results()[name, model, "ibs"].mean
            off.setdefault(model, []).append((abs(right - told), abs(theirs - told)))
            print(f"{name:>18} {model:>10} {right:>11.3f} {theirs:>14.3f} {told:>10.3f}", flush=True)
    print(f"\n{'mean distance from the published value':>40} {'definition':>11} {'published way':>14}")
    for model, pairs in off.items():
        right, theirs = np.mean(pairs, axis=0)
        print(f"{model:>40} {right:>11.3f} {theirs:>14.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("datasets", nargs="*")
    asked = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth_lines(asked.seeds)
        print()
        model_lines(asked.datasets or datasets.names(), asked.seeds)


if __name__ == "__main__":
    main()
