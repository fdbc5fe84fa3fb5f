"""DeepHit's paper recipe beside pycox's DeepHitSingle: same splits, same settings, one thread, one run.

``python -m bench.deephit_against_pycox`` stores the scores in docs/results/models.json; it needs pycox and, except for
GBSG, the publishers' files. Both learn from the training part, a fifth of which decides when to stop, and answer on the
test part; pycox's curves are read by ``SurvivalDistribution.from_frame`` and the metrics are those of
`aldsurv.metrics.evaluate`.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import SurvivalDistribution
from aldsurv.models.neural.deephit import DeepHit
from bench.pages.results import MODELS, store_section, today
from bench.paper_data import Table, split
from bench.validation_rows import held_with_copies

SEEDS = range(10)
DATASETS = ("gbsg", "metabric", "whas", "support")
KEYS = ("harrell_c", "ibs", "cens_dcal")


def of_pycox(
    train: Table, test: Table, seed: int, *, copies_together: bool = False
) -> tuple[SurvivalDistribution, float]:
    """Prediction of pycox for the test rows, and the processor seconds of the fit.

    Validation rows are drawn one by one, or copies of a row together, as our models draw them.
    """
    import torch
    import torchtuples as tt
    from pycox.models import DeepHitSingle

    middle, spread = train.x.mean(axis=0), train.x.std(axis=0)
    spread[spread == 0] = 1

    def inputs(x: Any) -> Any:
        return ((x - middle) / spread).clip(-5, 5).astype(np.float32)

    generator = np.random.default_rng(seed)
    if copies_together:
        held = held_with_copies(train.x, SurvivalData.right(train.time, train.event), generator)
    else:
        held = generator.permutation(len(train.time))[: round(0.2 * len(train.time))]
    learn, validation = train.rows(np.setdiff1d(np.arange(len(train.time)), held)), train.rows(held)
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (pycox draws from it)
    start = time.process_time()
    labels = DeepHitSingle.label_transform(100).fit(train.time, train.event)
    targets = [labels.transform(part.time, part.event.astype(float)) for part in (learn, validation)]
    network = tt.practical.MLPVanilla(train.x.shape[1], [32, 32], labels.out_features, True, 0.1)
    model = DeepHitSingle(network, tt.optim.Adam(0.01), alpha=0.2, sigma=0.1, duration_index=labels.cuts)
    batch_size = DeepHit.RECIPES["paper"].batch_size
    model.fit(
        inputs(learn.x), targets[0], batch_size, 200, [tt.callbacks.EarlyStopping(patience=10)], False,
        val_data=(inputs(validation.x), targets[1]), val_batch_size=10**6,
    )  # fmt: skip
    seconds = time.process_time() - start
    curves = model.predict_surv_df(inputs(test.x))
    # A small probability of an event at time 0, which its grid begins with, is spread up to the next time.
    return SurvivalDistribution.from_frame(curves[curves.index > 0], interpolate=True), seconds


def of_ours(train: Table, test: Table, seed: int, recipe: str = "paper") -> tuple[SurvivalDistribution, float]:
    """Our prediction for the test rows, and the processor seconds of the fit."""
    start = time.process_time()
    model = DeepHit(recipe, random_state=seed, progress=False).fit(train.x, (train.time, train.event))
    seconds = time.process_time() - start
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
# Of WHAS most rows are copies of others: what decides when to stop then depends on where the copies are.
WITH_COPIES = "whas"
COPIES_TOGETHER: dict[str, Any] = {
    "pycox, copies together": lambda train, test, seed: of_pycox(train, test, seed, copies_together=True)
}


def main() -> None:
    import torch

    torch.set_num_threads(1)
    scores = {}
    for name in DATASETS:
        of_pycox(*split(name, 0), 0)  # what is compiled on first use is not timed
        scores[name] = measured(name, makers=MAKERS if name != WITH_COPIES else {**MAKERS, **COPIES_TOGETHER})
        for maker, own in scores[name].items():
            print(name, maker, {key: np.mean(own[key]) for key in own}, flush=True)
    origin = today("python -m bench.deephit_against_pycox", ["deephit/paper", "deephit/default"])
    store_section(MODELS, "deephit beside pycox", scores, origin)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
