"""Elastic nets on drawn tables with more columns than rows, beside scikit-survival's Coxnet with alpha by inner folds.

``python -m bench.elastic_net [--repeats 2] [--largest 20000]``: seconds of the processor for a fit with its folds, C on
rows of their own, and by how much the integrated Brier score is below that of a model without columns.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv import ElasticNetAFT, ElasticNetCox, SurvivalData, metrics

FloatArray = NDArray[np.float64]
SIZES = ((100, 1_000), (200, 5_000), (400, 5_000), (200, 20_000))
SIGNALS = ("sparse", "dense", "none")
COLUMNS = ("independent", "correlated")
TEST_ROWS, FOLDS, ALPHAS, L1_RATIO = 500, 10, 50, 0.9


class Table(NamedTuple):
    """Covariates and outcomes to fit, and others to score."""

    x: FloatArray
    y: SurvivalData
    test_x: FloatArray
    test_y: SurvivalData


def drawn(rows: int, columns: int, kind: str, signal: str, seed: int) -> Table:
    """Proportional hazards whose log risk has a standard deviation of 1.5, a third of the rows censored."""
    rng = np.random.default_rng([rows, columns, seed])
    n = rows + TEST_ROWS
    x = rng.normal(size=(n, columns))
    if kind == "correlated":
        # Blocks of 20 columns with a correlation of 0.5.
        shared = np.repeat(rng.normal(size=(n, -(-columns // 20))), 20, axis=1)[:, :columns]
        x = (x + shared) / np.sqrt(2)
    size = {"sparse": 10, "dense": columns // 5, "none": 0}[signal]
    chosen = rng.choice(columns, size, replace=False)
    risk = x[:, chosen] @ rng.choice([-1.0, 1.0], size)
    risk = risk * 1.5 / risk.std() if size else risk
    event, lost = rng.weibull(1.5, n) * np.exp(-risk / 1.5), rng.exponential(2.0, n)
    y = SurvivalData.right(np.minimum(event, lost), event <= lost)
    return Table(x[:rows], y[:rows], x[rows:], y[rows:])


def coxnet(table: Table) -> tuple[Any, Any]:
    """scikit-survival's path, its alpha the one with the best mean C in folds: the risk of the test rows."""
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    spread, centre = table.x.std(axis=0), table.x.mean(axis=0)
    x, target, event = (table.x - centre) / spread, table.y.to_structured(), table.y.event
    settings = {"l1_ratio": L1_RATIO, "alpha_min_ratio": 0.01, "max_iter": 100_000}
    whole = CoxnetSurvivalAnalysis(n_alphas=ALPHAS, **settings).fit(x, target)
    order = np.random.default_rng(0).permutation(len(x))
    part = np.empty(len(x), np.int64)
    part[order[np.argsort(event[order], kind="stable")]] = np.arange(len(x)) % FOLDS
    scores = np.full((FOLDS, whole.alphas_.size), -np.inf)
    for k in range(FOLDS):
        model = CoxnetSurvivalAnalysis(alphas=whole.alphas_, **settings).fit(x[part != k], target[part != k])
        for j in range(model.coef_.shape[1]):
            risk = x[part == k] @ model.coef_[:, j]
            scores[k, j] = metrics.concordance_harrell(-risk, table.y[part == k])
    best = min(int(np.argmax(scores.mean(axis=0))), whole.coef_.shape[1] - 1)
    return -((table.test_x - centre) / spread) @ whole.coef_[:, best], None


def net(model: Any) -> Callable[[Table], tuple[FloatArray, Any]]:
    """One of ours: minus its risk, and its distributions."""

    def fitted(table: Table) -> tuple[FloatArray, Any]:
        model.fit(table.x, table.y)
        return -model.predict(table.test_x), model.predict_distribution(table.test_x)

    return fitted


MODELS: dict[str, Callable[[Table], tuple[Any, Any]]] = {
    "coxnet": net(ElasticNetCox(random_state=0)),
    "coxnet, l1_ratio 0.9": net(ElasticNetCox(0.9, random_state=0)),
    "aftnet": net(ElasticNetAFT(random_state=0)),
    "scikit-survival": coxnet,
}


def main() -> None:
    """Print a line per table and model, and the mean of each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--largest", type=int, default=20_000, help="tables with more columns are left out")
    arguments = parser.parse_args()
    head = f"{'rows':>5} {'columns':>7} {'kind':<12} {'signal':<7} {'model':<24}"
    print(f"{head} {'seconds':>8} {'C':>6} {'IBS gain':>9}")
    every: dict[str, list[float]] = {name: [] for name in MODELS}
    sizes = [size for size in SIZES if size[1] <= arguments.largest]
    for (rows, columns), kind, signal in product(sizes, COLUMNS, SIGNALS):
        tables = [drawn(rows, columns, kind, signal, seed) for seed in range(arguments.repeats)]
        for name, fit in MODELS.items():
            seconds, c, gain = np.mean([measured(fit, table) for table in tables], axis=0)
            every[name].append(c)
            line = f"{rows:>5} {columns:>7} {kind:<12} {signal:<7} {name:<24}"
            print(f"{line} {seconds:>8.1f} {c:>6.3f} {gain:>9.4f}", flush=True)
    for name, values in every.items():
        print(f"mean C of {name}: {np.mean(values):.4f}")


def measured(fit: Callable[[Table], tuple[Any, Any]], table: Table) -> tuple[float, float, float]:
    """Seconds, C, and by how much the integrated Brier score is below that without columns (NaN: no distribution)."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted, distributions = fit(table)
    seconds, gain = time.process_time() - start, np.nan
    if distributions is not None:
        flat = ElasticNetCox(alpha=1e3).fit(table.x[:, :2], table.y).predict_distribution(table.test_x[:, :2])
        without, score = (
            metrics.integrated_brier_score(each, table.test_y, train=table.y) for each in (flat, distributions)
        )
        gain = float(without - score)
    return seconds, float(metrics.concordance_harrell(predicted, table.test_y)), gain


if __name__ == "__main__":
    main()
