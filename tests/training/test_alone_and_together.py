"""A member trains alone as it trains among others."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from aldsurv.losses import likelihood_objective
from training.runs import fit, rows_of, splits, training_of

SEEDS = [11, 12, 13, 14]
LOG = {"family": "log_asymmetric_laplace", "links": ("identity", "exp", "exp")}
CASES = {
    "paper": {"network": {"dropout": 0.1}},
    "no dropout": {"network": {}},
    "batch norm": {"network": {"batch_norm": True, "dropout": 0.2}},
    "deeper heads": {"network": {"hidden": (32, 16), "head_hidden": (16, 8, 8), "dropout": 0.1}},
    "deeper heads, batch norm": {"network": {"hidden": (16, 16), "head_hidden": (16, 16), "batch_norm": True}},
    "no heads": {"network": {"hidden": (32, 32), "head_hidden": (), "residual": False, "dropout": 0.2}},
    "gelu": {"network": {"activation": "gelu"}},
    "tanh, batch norm": {"network": {"activation": "tanh", "batch_norm": True}},
    "weights, clipping and decay": {
        "network": {"dropout": 0.1},
        "weight": True,
        "optimizer": "adamw",
        "weight_decay": 0.1,
        "clip_norm": 0.5,
    },
    "sgd": {"network": {"dropout": 0.1}, "optimizer": "sgd", "learning_rate": 0.003, "clip_norm": 0.5},
    "log support": {"network": {"dropout": 0.2}, **LOG},
    "positive support": {"network": {"dropout": 0.2}, "family": "positive_asymmetric_laplace"},
    "batches of one": {"network": {"dropout": 0.1}, "batch_size": 1, "max_epochs": 1},
    "batches of seven": {"network": {"dropout": 0.1}, "batch_size": 7, "max_epochs": 3},
    "one batch": {"network": {"dropout": 0.1}, "batch_size": 1000},
    "schedule": {"network": {"dropout": 0.1}, "schedule": "cosine", "warmup": 2},
}


def compared(case, *, kinds="er", train=(150,) * 4, validation=True):
    """Weights and history of all members together, and of each alone."""
    case = {"batch_size": 32, "max_epochs": 6, "patience": 3, "learning_rate": 0.01, **case}
    n = 203
    x, data = rows_of(n, kinds=kinds, weight=case.pop("weight", False))
    learned, held = splits(n, train, 50)
    together = fit(x, data, train=learned, validation=held if validation else None, seeds=SEEDS, **case)
    alone = [
        fit(
            x,
            data,
            train=learned[k : k + 1],
            validation=held[k : k + 1] if validation else None,
            seeds=SEEDS[k : k + 1],
            **case,
        )
        for k in range(len(SEEDS))
    ]
    return together, alone


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_to_the_bit(case):
    (arrays, history), alone = compared(case)
    for k, (own, own_history) in enumerate(alone):
        assert all(np.array_equal(arrays[name][k], own[name][0]) for name in arrays)
        assert history.best_epoch[k] == own_history.best_epoch[0]
        until = own_history.epochs
        assert np.array_equal(history.train_loss[:until, k], own_history.train_loss[:, 0])
        assert np.array_equal(history.validation_loss[:until, k], own_history.validation_loss[:, 0])


ROUNDED = {
    # Rows of all members are sorted by kind before they meet the formulas.
    "interval-censored rows": ({"network": {"dropout": 0.1}}, "erli"),
    "interval-censored rows, log support": ({"network": {"dropout": 0.1}, **LOG}, "erli"),
    # A member's weights begin anywhere in memory, and products round by where that is.
    "odd sizes": ({"network": {"hidden": (13,), "head_hidden": (7, 5)}}, "er"),
}


@pytest.mark.parametrize("case", ROUNDED.values(), ids=ROUNDED)
def test_up_to_rounding(case):
    settings, kinds = case
    (arrays, history), alone = compared({**settings, "max_epochs": 2}, kinds=kinds, validation=False)
    for k, (own, own_history) in enumerate(alone):
        for name in arrays:
            np.testing.assert_allclose(arrays[name][k], own[name][0], rtol=1e-3, atol=2e-5)
        np.testing.assert_allclose(history.train_loss[:, k], own_history.train_loss[:, 0], rtol=1e-5)


def test_with_as_many_batches_but_fewer_rows():
    # 129 to 150 rows are five batches of 32, the last of them with rows of no weight.
    (arrays, history), alone = compared(CASES["paper"], train=(150, 147, 140, 129))
    for k, (own, own_history) in enumerate(alone):
        for name in arrays:
            np.testing.assert_allclose(arrays[name][k], own[name][0], rtol=1e-3, atol=1e-5)
        until = own_history.epochs
        np.testing.assert_allclose(history.train_loss[:until, k], own_history.train_loss[:, 0], rtol=1e-5)


def test_encoders():
    x, data = rows_of(90)
    objective = likelihood_objective("asymmetric_laplace", ("exp",) * 3, data)

    def encoder(seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            # Sizes as in the recipes: of odd ones the rounding of products depends on where they lie in memory.
            return nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3))

    def run(seeds):
        training, members = training_of(
            x,
            objective,
            train=[np.arange(60)] * len(seeds),
            validation=[np.arange(60, 90)] * len(seeds),
            seeds=seeds,
            encoders=[encoder(seed) for seed in seeds],
            inputs=32,
            network={"hidden": (), "head_hidden": (32,), "dropout": 0.1},
            max_epochs=4,
            batch_size=16,
            clip_norm=1.0,
            weight_decay=0.01,
            optimizer="adamw",
        )
        training.run()
        return members.best_arrays(), [module.state_dict() for module in members.restore_encoders()]

    arrays, states = run([1, 2, 3])
    for k, seed in enumerate([1, 2, 3]):
        own, (own_state,) = run([seed])
        assert all(np.array_equal(arrays[name][k], own[name][0]) for name in arrays)
        assert all(torch.equal(states[k][name], own_state[name]) for name in own_state)


def test_again_to_the_bit():
    x, data = rows_of(100)
    options = {"train": [np.arange(80)] * 2, "validation": [np.arange(80, 100)] * 2, "seeds": [1, 2], "max_epochs": 4}
    first, second = (fit(x, data, network={"dropout": 0.3}, **options) for _ in range(2))
    assert all(np.array_equal(first[0][name], second[0][name]) for name in first[0])
    assert np.array_equal(first[1].validation_loss, second[1].validation_loss)
