from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from aldsurv import ALDSurvival
from aldsurv.errors import AldsurvError, DataError
from aldsurv.files.model_file import ModelFileError, read_model_file, write_model_file
from aldsurv.losses import likelihood_objective
from aldsurv.training import loop
from training.runs import rows_of, same_bits, scripted, splits, training_of

EPOCHS = 8
CASES = {
    "paper": {"network": {"dropout": 0.1}},
    "sgd": {"network": {"dropout": 0.1}, "optimizer": "sgd", "learning_rate": 0.003},
    "adamw": {"network": {}, "optimizer": "adamw", "weight_decay": 0.1, "clip_norm": 1.0},
    "batch norm": {"network": {"batch_norm": True, "dropout": 0.2}, "schedule": "cosine"},
    "no validation": {"network": {"dropout": 0.1}, "validation": None},
    "patience": {"network": {"dropout": 0.1}, "learning_rate": 0.03, "patience": 3},
    "encoder": {"network": {"hidden": (), "dropout": 0.1}, "inputs": 6, "encoded": True, "weight_decay": 0.01},
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


class KilledError(Exception):
    """What ends a run in the middle."""


def kill_after(epoch):
    def callback(report):
        if report.epoch == epoch:
            raise KilledError

    return callback


@pytest.fixture(autouse=True)
def _every_epoch(monkeypatch):
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_CHECKPOINTS", -1)


def run_of(case, path=None, callbacks=(), **changes):
    """A run on three members that is the same each time it is built."""
    case = {**case, **changes}
    x, data = rows_of(110)
    train, held = splits(110, [80, 80, 76], 30)
    encoders = []
    if case.pop("encoded", False):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            encoders = [nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.2)) for _ in range(3)]
    case = {"validation": held, "max_epochs": EPOCHS, "patience": 0, "batch_size": 16, "learning_rate": 0.01, **case}
    return training_of(
        x,
        likelihood_objective("asymmetric_laplace", ("exp",) * 3, data),
        train=train,
        seeds=[1, 2, 3],
        callbacks=callbacks,
        checkpoint=path,
        encoders=encoders,
        **case,
    )


def outcome(case, path=None, callbacks=()):
    training, members = run_of(case, path, callbacks)
    history = training.run()
    arrays = dict(members.best_arrays())
    for k, encoder in enumerate(members.restore_encoders()):
        arrays |= {f"encoder{k}.{name}": value.numpy() for name, value in encoder.state_dict().items()}
    return arrays, history


def assert_same(found, expected):
    assert same_bits(found[0], expected[0])
    for name in ("train_loss", "validation_loss", "learning_rate", "best_epoch"):
        ours, theirs = getattr(found[1], name), getattr(expected[1], name)
        assert (ours is None and theirs is None) or np.array_equal(ours, theirs)
    assert found[1].stopped_by == expected[1].stopped_by
    assert len(found[1].seconds) == found[1].epochs


@cases
@pytest.mark.parametrize("epochs", [(1,), (3, 5)], ids=["once", "twice"])
def test_goes_on_to_the_same_bits(case, epochs, tmp_path):
    path = tmp_path / "run"
    expected = outcome(case)
    if expected[1].epochs <= max(epochs):
        pytest.skip("over before")
    for epoch in epochs:
        with pytest.raises(KilledError):
            outcome(case, path, [kill_after(epoch)])
        assert path.exists()
    seen = []
    found = outcome(case, path, [lambda report: seen.append(report.epoch)])
    assert_same(found, expected)
    # Epochs that were run are not run again.
    assert seen == list(range(epochs[-1] + 1, expected[1].epochs + 1))
    assert list(tmp_path.iterdir()) == []


def test_patience_case_is_cut_in_the_middle():
    # Else the case above would be empty.
    assert outcome(CASES["patience"])[1].epochs >= 6


@pytest.mark.parametrize("batch", [1, 3])
def test_interrupt_in_the_middle_of_an_epoch(batch, tmp_path):
    # Three batches an epoch; those of the fourth begin with number nine.
    losses = np.array([[3.0], [2.0], [4.0], [1.0], [0.5]])
    whole, expected = scripted(losses)
    history = whole.run()
    path = tmp_path / "run"
    batches = []

    def interrupt(raw):
        batches.append(0)
        if len(batches) == 9 + batch:
            raise KeyboardInterrupt

    training, _ = scripted(losses, train=interrupt, checkpoint=path)
    with pytest.warns(RuntimeWarning, match="interrupted in epoch 4"):
        training.run()
    assert path.exists()
    again, members = scripted(losses[3:], checkpoint=path, max_epochs=5)
    found = again.run()
    assert same_bits(members.best_arrays(), expected.best_arrays())
    assert np.array_equal(found.train_loss, history.train_loss)


def test_interrupt_between_epochs_is_written_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_CHECKPOINTS", 1e9)
    path = tmp_path / "run"
    expected = outcome(CASES["paper"])

    def interrupt(report):
        if report.epoch == 3:
            raise KeyboardInterrupt

    with pytest.warns(RuntimeWarning, match="interrupted"):
        _, history = outcome(CASES["paper"], path, [interrupt])
    assert history.stopped_by == "interrupt"
    assert path.exists()
    assert_same(outcome(CASES["paper"], path), expected)
    assert not path.exists()


def test_is_written_now_and_then(monkeypatch, tmp_path):
    path = tmp_path / "run"
    seen = []
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_CHECKPOINTS", 1e9)
    outcome(CASES["paper"], path, [lambda report: seen.append(path.exists())])
    assert seen == [False] * EPOCHS


@pytest.mark.parametrize("end", ["max_epochs", "callback", "patience"])
def test_is_removed_at_the_end(end, tmp_path):
    path = tmp_path / "run"
    seen = []

    def watch(report):
        seen.append(path.exists())
        return end == "callback" and report.epoch == 2

    training, _ = scripted(
        np.arange(6.0)[:, None], checkpoint=path, patience=3 * (end == "patience"), callbacks=[watch]
    )
    assert training.run().stopped_by == end
    assert all(seen)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_over_stays_over(tmp_path):
    path = tmp_path / "run"
    with pytest.raises(KilledError):
        outcome(CASES["paper"], path, [kill_after(EPOCHS)])
    seen = []
    assert_same(outcome(CASES["paper"], path, [seen.append]), outcome(CASES["paper"]))
    assert seen == []


def test_of_another_run(tmp_path):
    path = tmp_path / "run"
    with pytest.raises(KilledError):
        run_of(CASES["paper"], path, [kill_after(2)], fingerprint="one")[0].run()
    before = path.read_bytes()
    training, members = run_of(CASES["paper"], path, fingerprint="other")
    start = members.best_arrays()
    with pytest.raises(DataError, match=r"no checkpoint of this run.*Remove the file") as caught:
        training.run()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert same_bits(members.best_arrays(), start)
    write_model_file(path, {"kind": "model", "fingerprint": "other"}, {})
    with pytest.raises(DataError, match="no checkpoint of this run"):
        run_of(CASES["paper"], path, fingerprint="other")[0].run()


def test_fits_with_other_data_settings_or_seed(tmp_path):
    path = tmp_path / "fit"
    x, data = rows_of(60)
    options = {"max_epochs": 4, "members": 2, "random_state": 0, "checkpoint": path, "progress": False}
    expected = ALDSurvival(**{**options, "checkpoint": None}).fit(x, data)
    with pytest.raises(KilledError):
        ALDSurvival(**options, callbacks=[kill_after(2)]).fit(x, data)
    other_x = x.copy()
    other_x[0, 0] += 1e-3
    weighted = rows_of(60, weight=True)[1]
    for changes, given in [
        ({"learning_rate": 0.004}, (x, data)),
        ({"hidden": (16,)}, (x, data)),
        ({"max_epochs": 5}, (x, data)),
        ({"random_state": 1}, (x, data)),
        ({"members": 3}, (x, data)),
        ({}, (other_x, data)),
        ({}, (x, weighted)),
        ({}, (x[:-1], data[:-1])),
    ]:
        with pytest.raises(DataError, match="no checkpoint of this run"):
            ALDSurvival(**{**options, **changes}).fit(*given)
    found = ALDSurvival(**options).fit(x, data)
    assert same_bits(found.fitted_.weights, expected.fitted_.weights)
    assert not path.exists()


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "longer", "garbage", "pickle"])
def test_damaged(damage, tmp_path):
    path = tmp_path / "run"
    with pytest.raises(KilledError):
        run_of(CASES["paper"], path, [kill_after(2)])[0].run()
    whole = path.read_bytes()
    middle = len(whole) // 2
    spoiled = {
        "empty": b"",
        "cut": whole[:-100],
        "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "longer": whole + b"\0",
        "garbage": b"not a checkpoint",
        "pickle": b"\x80\x04\x95",
    }[damage]
    path.write_bytes(spoiled)
    training, members = run_of(CASES["paper"], path)
    start = members.best_arrays()
    with pytest.raises(ModelFileError) as caught:
        training.run()
    assert isinstance(caught.value, AldsurvError)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == spoiled
    assert same_bits(members.best_arrays(), start)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_never_half_written(step, tmp_path, monkeypatch):
    path = tmp_path / "run"
    with pytest.raises(KilledError):
        run_of(CASES["paper"], path, [kill_after(2)])[0].run()
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(*((os, "fsync", full) if step == "fsync" else (Path, "replace", full)))
        with pytest.raises(OSError, match="no space left"):
            run_of(CASES["paper"], path)[0].run()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
    assert_same(outcome(CASES["paper"], path), outcome(CASES["paper"]))


PROGRAM = """
    import os, signal, sys
    from pathlib import Path
    import torch
    torch.set_num_threads(1)
    from aldsurv.training import loop
    from training.test_checkpoints import CASES, run_of
    loop._SECONDS_BETWEEN_CHECKPOINTS = -1

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    written = []
    def third_time(descriptor, sync=os.fsync):
        written.append(0)
        die() if len(written) == 3 else sync(descriptor)

    how, path = sys.argv[1:]
    if how == "while writing":
        os.fsync = third_time
    at_four = [lambda report: die() if report.epoch == 4 else None]
    run_of(CASES["paper"], Path(path), at_four if how == "after an epoch" else [])[0].run()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
@pytest.mark.parametrize(("how", "epochs"), [("after an epoch", 4), ("while writing", 2)])
def test_killed(how, epochs, tmp_path):
    path = tmp_path / "run"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), how, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    _, arrays = read_model_file(path)
    assert len(arrays["progress.train_loss"]) == epochs
    assert_same(outcome(CASES["paper"], path), outcome(CASES["paper"]))
    assert not path.exists()
