"""DeepHit's paper recipe beside pycox's DeepHitSingle: same splits, same settings, one thread, one run.

``python -m bench.deephit_against_pycox [dataset ...]``; all but GBSG need ALDSURV_DATA. Both learn from the training
part, a fifth of which decides when to stop, and answer on the test part; pycox's curves are read by
``SurvivalDistribution.from_frame`` and the metrics are those of `aldsurv.metrics.evaluate`.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import SurvivalDistribution
from aldsurv.models.neural.deephit import DeepHit
from bench.paper_data import Table, available, split

SEEDS = range(5)
KEYS = ("harrell_c", "ibs", "cens_dcal")
TITLES = ("C", "IBS", "CensDcal")


def of_pycox(train: Table, test: Table, seed: int) -> tuple[SurvivalDistribution, float]:
    """Prediction of pycox for the test rows, and the seconds it took to fit."""
    import torch
    import torchtuples as tt
    from pycox.models import DeepHitSingle

    middle, spread = train.x.mean(axis=0), train.x.std(axis=0)
    spread[spread == 0] = 1

    def inputs(x: Any) -> Any:
        return ((x - middle) / spread).clip(-5, 5).astype(np.float32)

    order = np.random.default_rng(seed).permutation(len(train.time))
    held = round(0.2 * len(order))
    learn, validation = train.rows(order[held:]), train.rows(order[:held])
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (pycox draws from it)
    start = time.perf_counter()
    labels = DeepHitSingle.label_transform(100).fit(train.time, train.event)
    targets = [labels.transform(part.time, part.event.astype(float)) for part in (learn, validation)]
    network = tt.practical.MLPVanilla(train.x.shape[1], [32, 32], labels.out_features, True, 0.1)
    model = DeepHitSingle(network, tt.optim.Adam(0.01), alpha=0.2, sigma=0.1, duration_index=labels.cuts)
    model.fit(
        inputs(learn.x), targets[0], 128, 200, [tt.callbacks.EarlyStopping(patience=10)], False,
        val_data=(inputs(validation.x), targets[1]), val_batch_size=10**6,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    curves = model.predict_surv_df(inputs(test.x))
    # A small probability of an event at time 0, which its grid begins with, is spread up to the next time.
    return SurvivalDistribution.from_frame(curves[curves.index > 0], interpolate=True), seconds


def of_ours(train: Table, test: Table, seed: int, recipe: str = "paper") -> tuple[SurvivalDistribution, float]:
    """Our prediction for the test rows, and the seconds it took to fit."""
    start = time.perf_counter()
    model = DeepHit(recipe, random_state=seed, progress=False).fit(train.x, (train.time, train.event))
    seconds = time.perf_counter() - start
    return model.predict_distribution(test.x), seconds


def measured(name: str, seeds: Any = SEEDS, makers: Any = None) -> dict[str, dict[str, Any]]:
    """For each implementation the metrics of each seed on the test rows, and seconds."""
    found: dict[str, dict[str, Any]] = {}
    for seed in seeds:
        train, test = split(name, seed)
        data, learned = (SurvivalData.right(part.time, part.event) for part in (test, train))
        for maker, fit in (makers or MAKERS).items():
            predicted, seconds = fit(train, test, seed)
            # By the area under the curve up to the last time of training: medians beyond it are guesses of the tail.
            area = predicted.restricted_mean(float(train.time.max()))
            values = metrics.evaluate(predicted, data, train=learned, ties="scikit-survival")
            values["harrell_c"] = metrics.concordance_harrell(area, data)
            own = found.setdefault(maker, {key: [] for key in (*KEYS, "seconds")})
            for key in KEYS:
                own[key].append(values[key])
            own["seconds"].append(seconds)
    return found


MAKERS: dict[str, Any] = {
    "pycox": of_pycox,
    "paper": of_ours,
    "default": lambda train, test, seed: of_ours(train, test, seed, "default"),
}


def main(names: list[str]) -> None:
    import torch

    torch.set_num_threads(1)
    head = "".join(f" {title:>15}" for title in TITLES)
    print(f"{'dataset':>9} {'model':>8}{head} {'s a fit':>8}   mean ±sd of {len(SEEDS)} seeds; s: median")
    for name in names or (["metabric", "whas", "support", "gbsg"] if available() else ["gbsg"]):
        of_pycox(*split(name, 0), 0)  # what is compiled on first use is not timed
        for maker, own in measured(name).items():
            cells = "".join(f" {np.mean(own[key]):>8.3f} ±{np.std(own[key], ddof=1):.3f}" for key in KEYS)
            print(f"{name:>9} {maker:>8}{cells} {np.median(own['seconds']):>8.2f}", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(sys.argv[1:])
