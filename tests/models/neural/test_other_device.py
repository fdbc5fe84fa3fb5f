"""A step of training of every network on a device without numbers: whatever looked at one on the way would fail."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.models.neural.fitting import train
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.registry import MODELS

torch = pytest.importorskip("torch")

NETWORKS = [name for name in MODELS if issubclass(MODELS.load(name), NeuralSurvival)]
N = 60


class StoppedError(Exception):
    """Everything was prepared."""


def prepared(monkeypatch, model, y):
    """The task that training would get."""
    tasks = []

    def stop(given, start=None):
        tasks.extend(given)
        raise StoppedError

    monkeypatch.setattr(train, "run_loop", stop)
    with pytest.raises(StoppedError):
        model.fit(np.random.default_rng(0).normal(size=(N, 3)), y)
    (task,) = tasks
    return task


def outcome(kind):
    rng = np.random.default_rng(1)
    time, weight = rng.gamma(2.0, 1.0, N) + 0.1, rng.uniform(0.5, 2.0, N)
    if kind == "causes":
        return SurvivalData.competing(time, rng.integers(0, 3, N))
    return SurvivalData.right(time, rng.random(N) < 0.6, weight=weight)


def step_losses(task, device):
    from aldsurv.training.batches import RowSource
    from aldsurv.training.member_network import MemberNetwork
    from aldsurv.training.steps import take_step

    device = torch.device(device)
    objective = task.model.objective([task], task.data, np.full(len(task.data), task.unit), device)
    network = task.model.architecture(task.x.shape[1], objective.outputs, task.extras, encoded=False)
    initial = [network.initial(np.random.default_rng(seed)) for seed in task.seeds]
    members = MemberNetwork(network, initial, [], device)
    weight = None if task.data.weight is None else torch.from_numpy(np.float32(task.data.weight)).to(device)
    rows = [np.arange(len(task.data))] * len(task.seeds)
    source = RowSource(torch.from_numpy(task.x).to(device), objective.fields, weight, rows)
    settings = task.model.training_settings()
    n, has_levels = len(task.data), bool(network.level_units)
    (batch,) = source.batches(tuple(task.seeds), 0, n, 0, 0.0, levels=has_levels)
    return take_step(members, objective, members.optimizer(settings, len(task.data)), batch, rate=0.01, clip_norm=1.0)


@pytest.mark.parametrize("kind", ["weighted", "causes"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_step_copies_nothing_to_the_processor(monkeypatch, name, kind):
    model = MODELS.load(name)
    if kind == "causes" and not model.TAKES_CAUSES:
        pytest.skip("a model of one event")
    given = {"members": 2} if "members" in model.parameter_defaults() else {}
    task = prepared(monkeypatch, model(**given, random_state=0), outcome(kind))
    losses = step_losses(task, "meta")
    assert losses.device.type == "meta"
    here = step_losses(task, "cpu")
    assert losses.shape == here.shape
    assert bool(torch.isfinite(here).all())
