"""DeepSurv with the paper's recipe beside pycox's CoxPH with the same settings, on the same splits.

``python -m bench.deepsurv_against_pycox`` stores the scores in docs/results/models.json. It needs pycox and, except for
GBSG, the publishers' files.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from aldsurv import datasets, metrics
from aldsurv.columns.features import Features
from aldsurv.datasets import Dataset
from aldsurv.distributions import SurvivalDistribution
from aldsurv.models.neural.deepsurv import DeepSurv
from bench.pages.results import MODELS, store_section, today
from bench.validation_rows import held_with_copies

SEEDS, GROUP_SEEDS = 10, 5
EPOCHS, REPEATS = 30, 3
DATASETS = ("metabric", "whas", "support", "gbsg")
METRICS = ("C", "IBS", "CensDcal")


def scores(predicted: SurvivalDistribution, risk: Any, train: Dataset, test: Dataset) -> list[float]:
    """Harrell's C of the risk, IBS and CensDcal of the curves."""
    found = metrics.evaluate(predicted, test.y, train=train.y, ties="scikit-survival")
    c = metrics.concordance_harrell(-np.asarray(risk, np.float64).reshape(-1), test.y)
    return [float(c), float(found["ibs"]), float(found["cens_dcal"])]


def ours(train: Dataset, test: Dataset, seed: int, recipe: str = "paper", **settings: Any) -> tuple[list[float], float]:
    """Scores on the test rows, and the processor seconds of the fit."""
    start = time.process_time()
    model = DeepSurv(recipe, random_state=seed, progress=False, **settings).fit(train.x, train.y)
    seconds = time.process_time() - start
    return scores(model.predict_distribution(test.x), model.predict(test.x), train, test), seconds


def theirs(
    train: Dataset, test: Dataset, seed: int, *, epochs: int = 200, stop: bool = True, copies_together: bool = False
) -> tuple[list[float], float]:
    """The same of pycox: two layers of 32, batch norm, dropout 0.1, Adam 0.01, patience 10, batches as in ours.

    Validation rows are drawn one by one, or copies of a row together, as our models draw them.
    """
    import torchtuples as tt
    from pycox.models import CoxPH

    batch_size = DeepSurv.RECIPES["paper"].batch_size
    features = Features.learn(train.x, clip=5.0)
    held, kept = np.zeros(len(train.y), np.bool_), np.random.default_rng([seed, 1])
    if copies_together:
        held[held_with_copies(train.x, train.y, kept)] = True
    else:
        held[kept.permutation(len(held))[: round(0.2 * len(held))]] = True
    x = features.transform(train.x)
    y = train.y.time.astype(np.float32), train.y.event.astype(np.float32)
    torch.manual_seed(seed)
    start = time.process_time()
    network = tt.practical.MLPVanilla(x.shape[1], [32, 32], 1, batch_norm=True, dropout=0.1, output_bias=False)
    model = CoxPH(network, tt.optim.Adam(0.01))
    with contextlib.redirect_stdout(io.StringIO()):
        model.fit(
            x[~held],
            (y[0][~held], y[1][~held]),
            batch_size,
            epochs,
            [tt.callbacks.EarlyStopping(patience=10)] if stop else [],
            verbose=False,
            val_data=(x[held], (y[0][held], y[1][held])),
            val_batch_size=len(x),
        )
    model.compute_baseline_hazards()
    seconds = time.process_time() - start
    new = features.transform(test.x)
    predicted = SurvivalDistribution.from_frame(model.predict_surv_df(new), interpolate=False, tail="hold")
    return scores(predicted, model.predict(new), train, test), seconds


def compared(name: str, seeds: int, by: str = "row") -> dict[str, list[list[float]]]:
    """Scores (seeds, metrics) of pycox, and of our recipes paper and default."""
    found: dict[str, list[list[float]]] = {"pycox": [], "paper": [], "default": []}
    for seed in range(seeds):
        train, test = datasets.load(name).split(seed=seed, by=by)
        found["pycox"].append(theirs(train, test, seed)[0])
        found["paper"].append(ours(train, test, seed)[0])
        found["default"].append(ours(train, test, seed, "default")[0])
    print(name, by, {kind: np.mean(values, axis=0) for kind, values in found.items()}, flush=True)
    return found


def with_copies_together(name: str, seeds: int) -> list[list[float]]:
    """Scores (seeds, metrics) of pycox with validation rows as our models draw them."""
    splits = [datasets.load(name).split(seed=seed) for seed in range(seeds)]
    return [theirs(*parts, seed, copies_together=True)[0] for seed, parts in enumerate(splits)]


def seconds_of_epochs(name: str) -> dict[str, float]:
    """Processor seconds of a fit without early stopping, the fewest of some."""
    train, test = datasets.load(name).split(seed=0)
    fits: dict[str, Callable[[], tuple[list[float], float]]] = {
        "pycox": lambda: theirs(train, test, 0, epochs=EPOCHS, stop=False),
        "paper": lambda: ours(train, test, 0, max_epochs=EPOCHS, patience=0),
        "default": lambda: ours(train, test, 0, "default", max_epochs=EPOCHS, patience=0),
    }
    return {kind: min(fit()[1] for _ in range(REPEATS)) for kind, fit in fits.items()}


def main() -> None:
    scores = {name: compared(name, SEEDS) for name in DATASETS}
    values = {
        "scores": scores,
        "whas, copies together": with_copies_together("whas", SEEDS),
        "whas by patient": compared("whas", GROUP_SEEDS, by="group"),
        "seconds": seconds_of_epochs("metabric"),
    }
    origin = today("python -m bench.deepsurv_against_pycox", ["deepsurv/paper", "deepsurv/default"])
    store_section(MODELS, "deepsurv beside pycox", values, origin)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    main()
