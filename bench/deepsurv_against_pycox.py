"""DeepSurv with the paper's recipe beside pycox's CoxPH with the same settings, on the same splits.

Needs pycox and, but for GBSG, the publishers' files: ``python -m bench.deepsurv_against_pycox [seeds] [dataset ...]``.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
import warnings
from typing import Any

import numpy as np
import torch

from aldsurv import datasets, metrics
from aldsurv.columns.features import Features
from aldsurv.datasets import Dataset
from aldsurv.distributions import SurvivalDistribution
from aldsurv.models.neural.deepsurv import DeepSurv

SEEDS = 10
DATASETS = ("metabric", "whas", "support", "gbsg")
METRICS = ("C", "IBS", "CensDcal")


def scores(predicted: SurvivalDistribution, risk: Any, train: Dataset, test: Dataset) -> list[float]:
    """Harrell's C of the risk, IBS and CensDcal of the curves."""
    found = metrics.evaluate(predicted, test.y, train=train.y, ties="scikit-survival")
    c = metrics.concordance_harrell(-np.asarray(risk, np.float64).reshape(-1), test.y)
    return [float(c), float(found["ibs"]), float(found["cens_dcal"])]


def ours(train: Dataset, test: Dataset, seed: int, recipe: str = "paper", **settings: Any) -> tuple[list[float], float]:
    """Scores on the test rows, and the seconds of the fit."""
    start = time.perf_counter()
    model = DeepSurv(recipe, random_state=seed, progress=False, **settings).fit(train.x, train.y)
    seconds = time.perf_counter() - start
    return scores(model.predict_distribution(test.x), model.predict(test.x), train, test), seconds


def theirs(
    train: Dataset, test: Dataset, seed: int, *, epochs: int = 200, stop: bool = True
) -> tuple[list[float], float]:
    """The same of pycox: two layers of 32, batch norm, dropout 0.1, Adam 0.01, batches of 128, patience 10."""
    import torchtuples as tt
    from pycox.models import CoxPH

    features = Features.learn(train.x, clip=5.0)
    held, kept = np.zeros(len(train.y), np.bool_), np.random.default_rng([seed, 1])
    held[kept.permutation(len(held))[: round(0.2 * len(held))]] = True
    x = features.transform(train.x)
    y = train.y.time.astype(np.float32), train.y.event.astype(np.float32)
    torch.manual_seed(seed)
    start = time.perf_counter()
    network = tt.practical.MLPVanilla(x.shape[1], [32, 32], 1, batch_norm=True, dropout=0.1, output_bias=False)
    model = CoxPH(network, tt.optim.Adam(0.01))
    with contextlib.redirect_stdout(io.StringIO()):
        model.fit(
            x[~held],
            (y[0][~held], y[1][~held]),
            128,
            epochs,
            [tt.callbacks.EarlyStopping(patience=10)] if stop else [],
            verbose=False,
            val_data=(x[held], (y[0][held], y[1][held])),
            val_batch_size=len(x),
        )
    model.compute_baseline_hazards()
    seconds = time.perf_counter() - start
    new = features.transform(test.x)
    predicted = SurvivalDistribution.from_frame(model.predict_surv_df(new), interpolate=False, tail="hold")
    return scores(predicted, model.predict(new), train, test), seconds


def compared(name: str, seeds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores (seeds, metrics) of pycox, and of our recipes paper and default."""
    found: list[list[list[float]]] = [[], [], []]
    for seed in range(seeds):
        train, test = datasets.load(name).split(seed=seed)
        found[0].append(theirs(train, test, seed)[0])
        found[1].append(ours(train, test, seed)[0])
        found[2].append(ours(train, test, seed, "default")[0])
    return np.array(found[0]), np.array(found[1]), np.array(found[2])


def main(seeds: int, names: list[str]) -> None:
    print("| dataset | metric | pycox CoxPH | DeepSurv paper | difference in sd of pycox | DeepSurv default |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in names:
        results = compared(name, seeds)
        for k, metric in enumerate(METRICS):
            means = [result[:, k].mean() for result in results]
            spreads = [result[:, k].std(ddof=1) for result in results]
            cells = [f"{mean:.4f} ± {spread:.4f}" for mean, spread in zip(means, spreads, strict=True)]
            away = (means[1] - means[0]) / spreads[0]
            print(f"| {name:<8} | {metric:<8} | {cells[0]} | {cells[1]} | {away:+.2f} | {cells[2]} |", flush=True)
    train, test = datasets.load(names[0]).split(seed=0)
    epochs = 30
    seconds = {
        "pycox": min(theirs(train, test, 0, epochs=epochs, stop=False)[1] for _ in range(3)),
        "DeepSurv paper": min(ours(train, test, 0, max_epochs=epochs, patience=0)[1] for _ in range(3)),
        "default": min(ours(train, test, 0, "default", max_epochs=epochs, patience=0)[1] for _ in range(3)),
    }
    told = ", ".join(f"{kind} {value:.2f} s" for kind, value in seconds.items())
    print(f"\n{epochs} epochs on {names[0]}, one thread, best of three: {told}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    chosen = sys.argv[1:]
    main(int(chosen[0]) if chosen else SEEDS, chosen[1:] or list(DATASETS))
