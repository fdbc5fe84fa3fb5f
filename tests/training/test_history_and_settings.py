from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from aldsurv.errors import ParameterError
from aldsurv.training import History, TrainingSettings


def history(validated=True):
    train = np.arange(12.0).reshape(4, 3) + 0.1
    validation = np.array([[5.0, 1, 9], [4, 2, 8], [3, 3, 7], [4, 4, 6]]) / 3
    return History(
        train,
        validation if validated else None,
        np.full(4, 0.01),
        np.arange(4) + 0.25,
        np.array([3, 1, 4]),
        np.array([4, 3, 4]),
        "max_epochs",
    )


def equal(first, second):
    for name in ("train_loss", "validation_loss", "learning_rate", "best_epoch", "trained_epochs"):
        ours, theirs = getattr(first, name), getattr(second, name)
        if ours is None or theirs is None:
            assert ours is theirs is None
        else:
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
    assert first.stopped_by == second.stopped_by


@pytest.mark.parametrize("validated", [True, False])
def test_plain_and_back(validated):
    plain = json.loads(json.dumps(history(validated).to_plain()))
    found = History.from_plain(plain)
    equal(found, history(validated))
    # They differ between equal runs, whose files do not.
    assert "seconds" not in plain
    assert found.seconds.shape == (4,)
    assert np.isnan(found.seconds).all()


def test_files_of_older_versions_hold_the_seconds():
    found = History.from_plain({**history().to_plain(), "seconds": history().seconds.tolist()})
    equal(found, history())
    np.testing.assert_array_equal(found.seconds, history().seconds)


@pytest.mark.parametrize("validated", [True, False])
@pytest.mark.parametrize(("chosen", "last"), [(slice(0, 3), 4), (slice(1, 2), 3), (slice(1, 3), 4)])
def test_members(chosen, last, validated):
    whole = history(validated)
    part = whole.members(chosen)
    np.testing.assert_array_equal(part.train_loss, whole.train_loss[:last, chosen])
    np.testing.assert_array_equal(part.best_epoch, whole.best_epoch[chosen])
    np.testing.assert_array_equal(part.best_loss, whole.best_loss[chosen])
    assert part.epochs == len(part.seconds) == len(part.learning_rate) == last
    assert part.stopped_by == ("max_epochs" if last == 4 else "patience")
    assert (part.validation_loss is None) == (not validated)


def test_best_loss():
    assert history().best_loss.tolist() == [3 / 3, 1 / 3, 6 / 3]
    assert history(validated=False).best_loss.tolist() == [6.1, 1.1, 11.1]


def test_table():
    rows = history().table()
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4]
    assert rows[1]["train_loss"] == pytest.approx(4.1)
    assert rows[1]["validation_loss"] == pytest.approx(14 / 9)
    assert rows[3]["seconds"] == 3.25
    assert "validation_loss" not in history(validated=False).table()[0]


@pytest.mark.parametrize("warmup", [0, 3])
@pytest.mark.parametrize("schedule", ["constant", "cosine", "linear", "exponential", "step"])
def test_rate(schedule, warmup):
    settings = TrainingSettings(learning_rate=0.2, schedule=schedule, warmup=warmup, max_epochs=23)
    last = 23 - warmup
    for epoch in range(23):
        if epoch < warmup:
            expected = 0.2 * (epoch + 1) / (warmup + 1)
        else:
            share = (epoch - warmup) / last
            expected = {
                "constant": 0.2,
                "cosine": 0.2 * math.cos(math.pi * share / 2) ** 2,
                "linear": 0.2 * (1 - share),
                "exponential": 0.2 * 10 ** (-2 * share),
                "step": 0.2 if share < 0.7 else 0.02 if share < 0.9 else 0.002,
            }[schedule]
        assert settings.rate(epoch) == pytest.approx(expected, rel=1e-12)
    rates = [settings.rate(epoch) for epoch in range(23)]
    assert min(rates) > 0
    assert max(rates) == pytest.approx(0.2)


def test_one_cycle_is_that_of_torch_with_a_linear_rise_and_a_fall_to_zero():
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.01)
    phases = [
        torch.optim.lr_scheduler.LinearLR(optimizer, 0.04, 1.0, total_iters=10),
        torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 90),
    ]
    torch_rates = torch.optim.lr_scheduler.SequentialLR(optimizer, phases, milestones=[10])
    settings = TrainingSettings(learning_rate=0.01, schedule="one_cycle", max_epochs=5)
    for step in range(100):
        assert settings.rate(step // 20, step % 20 / 20) == pytest.approx(torch_rates.get_last_lr()[0], rel=1e-9)
        optimizer.step()
        torch_rates.step()


def test_passes_by_the_number_of_rows():
    auto = TrainingSettings(max_epochs="auto")
    counts = [1, 400_000, 3_200_000, 10**9]
    assert [auto.epochs(n) for n in counts] == [8, 8, 4, 1]
    assert auto.for_rows(3_200_000).max_epochs == 4
    assert TrainingSettings(max_epochs=3).epochs(10**9) == 3


@pytest.mark.parametrize("epochs", [10, 20, 50, 100, 200])
def test_steps_are_those_of_torch(epochs):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.01)
    steps = torch.optim.lr_scheduler.MultiStepLR(optimizer, [7 * epochs // 10, 9 * epochs // 10], gamma=0.1)
    settings = TrainingSettings(learning_rate=0.01, schedule="step", max_epochs=epochs)
    for epoch in range(epochs):
        assert settings.rate(epoch) == pytest.approx(steps.get_last_lr()[0], rel=1e-12)
        optimizer.step()
        steps.step()


def test_a_warmup_longer_than_training():
    settings = TrainingSettings(warmup=10, max_epochs=4, schedule="cosine")
    assert [settings.rate(epoch) for epoch in range(4)] == pytest.approx([0.01 * (i + 1) / 11 for i in range(4)])


def test_rows_of_a_batch():
    settings = TrainingSettings(batch_size=128)
    assert [settings.batch_rows(n) for n in (1, 100, 128, 10**6)] == [1, 100, 128, 128]
    auto = TrainingSettings(batch_size="auto")
    assert [auto.batch_rows(n) for n in (1, 50, 128, 20_000)] == [1, 50, 128, 128]
    assert auto.batch_rows(51_200) == 256
    assert auto.batch_rows(10**8) == 4096
    sizes = [auto.batch_rows(n) for n in range(1, 2_000_000, 997)]
    assert sizes == sorted(sizes)


def test_decay_by_rows():
    assert TrainingSettings(weight_decay=0.2).decay(10) == TrainingSettings(weight_decay=0.2).decay(10**6) == 0.2
    auto = TrainingSettings(weight_decay="auto")
    assert [auto.decay(n) for n in (0, 1, 400, 1200, 12_000)] == [3.0, 3.0, 3.0, 1.0, 0.1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weight_decay", "Auto"),
        ("optimizer", "Adam"),
        ("optimizer", None),
        ("optimizer", ["adam"]),
        ("schedule", "steps"),
        ("learning_rate", 0),
        ("learning_rate", -0.1),
        ("learning_rate", math.nan),
        ("learning_rate", math.inf),
        ("learning_rate", "0.1"),
        ("learning_rate", True),
        ("weight_decay", -1e-9),
        ("weight_decay", math.nan),
        ("clip_norm", -1),
        ("clip_norm", None),
        ("max_epochs", 0),
        ("max_epochs", 2.0),
        ("max_epochs", True),
        ("patience", -1),
        ("patience", 1.5),
        ("warmup", -1),
        ("batch_size", 0),
        ("batch_size", "Auto"),
        ("batch_size", 12.0),
        ("batch_size", None),
    ],
)
def test_refused(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be"):
        TrainingSettings(**{name: value})
