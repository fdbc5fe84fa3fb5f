"""Every model of the registry: seconds of a fit, beside pycox's network of the same kind for as many epochs.

``python -m bench.fit models``; METABRIC needs ALDSURV_DATA, without it GBSG stands in.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from aldsurv.registry import MODELS
from bench.pages.results import PERFORMANCE, store_section, today
from bench.paper_data import Table, available, split

EPOCHS, BATCH, REPEATS = 30, 128, 3
Action = Callable[[], object]


def our_fit(name: str, table: Table, **settings: Any) -> Action:
    kind = MODELS.load(name)
    known = kind.parameter_defaults()
    fixed = {"max_epochs": EPOCHS, "patience": 0, "batch_size": BATCH} if "batch_size" in known else {}
    chosen = {setting: value for setting, value in {**fixed, "random_state": 0, **settings}.items() if setting in known}
    return lambda: kind(**chosen).fit(table.x, (table.time, table.event))


def pycox_fit(kind: str, table: Table) -> Action:
    """Two layers of 32, batch normalisation, dropout 0.1, a validation loss after each epoch."""
    import torchtuples as tt
    from pycox.models import CoxPH, DeepHitSingle

    def fitted() -> object:
        torch.manual_seed(0)
        x = ((table.x - table.x.mean(0)) / table.x.std(0)).astype("float32")
        n = round(0.8 * len(x))
        target: Any = (table.time.astype("float32"), table.event.astype("float32"))
        settings: dict[str, Any] = {}
        outputs = 1
        if kind == "deephit":
            labels = DeepHitSingle.label_transform(100)
            target = labels.fit_transform(table.time, table.event.astype("float32"))
            outputs, settings = labels.out_features, {"duration_index": labels.cuts}
        network = tt.practical.MLPVanilla(x.shape[1], [32, 32], outputs, True, 0.1)
        model = (DeepHitSingle if kind == "deephit" else CoxPH)(network, tt.optim.Adam(0.01), **settings)
        learn, held = tuple(part[:n] for part in target), tuple(part[n:] for part in target)
        model.fit(x[:n], learn, BATCH, EPOCHS, verbose=False, val_data=(x[n:], held), val_batch_size=10**6)
        return model.compute_baseline_hazards() if kind == "deepsurv" else model

    return fitted


def models() -> None:
    name = "metabric" if available() else "gbsg"
    table, _ = split(name, 0)
    table = table.rows(np.flatnonzero(table.time > 0))
    print(f"\nprocessor seconds of a fit on {name}, networks for {EPOCHS} epochs, batch {BATCH}, best of {REPEATS}")
    print(f"{'model':>14} {'paper':>8} {'default':>8} {'pycox':>8} {'paper / pycox':>14}")
    seconds: dict[str, dict[str, float]] = {}
    for model in MODELS:
        # METABRIC has too many rows for the recipe of few.
        actions: dict[str, Action] = {"default": our_fit(model, table)}
        if "recipe" in MODELS.load(model).parameter_defaults():
            actions["paper"] = our_fit(model, table, recipe="paper")
        if model in ("deepsurv", "deephit"):
            actions["pycox"] = pycox_fit(model, table)
        best = dict.fromkeys(actions, math.inf)
        for _ in range(REPEATS):
            for key, action in actions.items():
                start = time.process_time()
                action()
                best[key] = min(best[key], time.process_time() - start)
        seconds[model] = {key: round(value, 3) for key, value in best.items()}
        cells = [f"{best[key]:>8.2f}" if key in best else f"{'-':>8}" for key in ("paper", "default", "pycox")]
        ratio = f"{best['paper'] / best['pycox']:>14.2f}" if "pycox" in best else f"{'-':>14}"
        print(f"{model:>14} {' '.join(cells)} {ratio}")
    recipes = [f"{model}/{recipe}" for model, best in seconds.items() for recipe in best if recipe != "pycox"]
    recipes[recipes.index("ald/default")] = "ald/large"
    values = {"dataset": name, "epochs": EPOCHS, "batch": BATCH, "seconds": seconds}
    store_section(PERFORMANCE, "models", values, today("python -m bench.fit models", recipes))
