"""Members that have stopped are left behind, and the others do not notice."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv.training import loop
from training.runs import fit, rows_of, same_bits, scripted, splits

# Of three members the second stops after the second epoch, the first after the fourth, the third goes on.
LOSSES = np.array([[5, 1, 9], [4, 2, 8], [3, 3, 7], [6, 4, 6], [7, 5, 5], [8, 6, 4], [9, 7, 3]], float)


def watched(losses=LOSSES, **options):
    """The number of members in each epoch's batches, and the run."""
    seen = []
    training, members = scripted(losses, train=lambda raw: seen.append(raw.shape[0]), patience=1, **options)
    return seen, training, members


def test_what_has_stopped_is_not_computed():
    seen, training, _ = watched()
    history = training.run()
    assert seen[::3] == [3, 3, 2, 2, 1, 1, 1]
    assert history.trained_epochs.tolist() == [4, 2, 7]
    assert history.best_epoch.tolist() == [3, 1, 7]
    # The last losses of a member stand.
    assert history.validation_loss[:, 1].tolist() == [1, 2, 2, 2, 2, 2, 2]
    assert np.isfinite(history.train_loss).all()


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
@pytest.mark.parametrize("batch_norm", [False, True])
def test_the_best_weights_are_those_of_each_alone(optimizer, batch_norm):
    settings = {"optimizer": optimizer, "learning_rate": 0.03, "weight_decay": 0.1, "patience": 2, "max_epochs": 40}
    options = {"network": {"dropout": 0.2, "batch_norm": batch_norm}, "batch_size": 32, **settings}
    x, data = rows_of(203)
    train, held = splits(203, [150] * 5, 50)
    seeds = [21, 22, 23, 24, 25]
    arrays, history = fit(x, data, train=train, validation=held, seeds=seeds, **options)
    # Else no member would have been dropped.
    assert len(set(history.trained_epochs)) >= 3
    for k in range(5):
        own, own_history = fit(
            x, data, train=train[k : k + 1], validation=held[k : k + 1], seeds=seeds[k : k + 1], **options
        )
        assert same_bits({name: array[k : k + 1] for name, array in arrays.items()}, own)
        assert history.trained_epochs[k] == own_history.trained_epochs[0]


def test_a_member_that_decides_the_number_of_batches_is_not_dropped():
    x, data = rows_of(203)
    train, held = splits(203, [150, 100, 100], 50)
    options = {
        "network": {},
        "batch_size": 32,
        "learning_rate": 0.03,
        "patience": 2,
        "max_epochs": 30,
        "seeds": [1, 2, 3],
    }
    arrays, history = fit(x, data, train=train, validation=held, **options)
    # The first has the most rows, and is not the last to stop.
    assert history.trained_epochs[0] < max(history.trained_epochs)
    # With patience that stops no member, the epochs before are the same.
    longer = fit(x, data, train=train, validation=held, **{**options, "patience": 0, "max_epochs": history.epochs})[1]
    for k, until in enumerate(history.trained_epochs):
        assert np.array_equal(history.train_loss[:until, k], longer.train_loss[:until, k])
    assert all(np.isfinite(array).all() for array in arrays.values())


@pytest.mark.parametrize("epoch", [2, 3, 5])
def test_a_checkpoint_holds_all_members(epoch, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_CHECKPOINTS", -1)
    _, whole, expected = watched()
    history = whole.run()
    _, training, _ = watched(checkpoint=tmp_path / "run", callbacks=[lambda report: 1 / (report.epoch != epoch) < 0])
    with pytest.raises(ZeroDivisionError):
        training.run()
    seen, again, members = watched(LOSSES[epoch:], checkpoint=tmp_path / "run", max_epochs=len(LOSSES))
    found = again.run()
    assert same_bits(members.best_arrays(), expected.best_arrays())
    assert np.array_equal(found.train_loss, history.train_loss)
    assert np.array_equal(found.trained_epochs, history.trained_epochs)
    assert seen[0] == {2: 2, 3: 2, 5: 1}[epoch]
