"""Networks trained by the workers of a cluster together: the model of one process, also when a worker is lost."""

from __future__ import annotations

import os
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aldsurv import ALDSurvival
from aldsurv.datasets import open_table
from aldsurv.errors import ClusterError, ParameterError
from aldsurv.models.parted import dask_engine, dask_tasks
from aldsurv.models.parted.dask_engine import DaskEngine
from aldsurv.training import loop, ranks
from aldsurv.training.ranks import Ranks, current_ranks

distributed = pytest.importorskip("distributed")
Status = distributed.core.Status

SMALL = {
    "members": 2,
    "hidden": (8,),
    "components": 2,
    "batch_size": 600,
    "max_epochs": 4,
    "random_state": 0,
    "progress": False,
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(5)
    place = tmp_path_factory.mktemp("rows")
    for part in range(3):
        x = rng.normal(size=(600, 2))
        event, lost = np.exp(1 + x[:, 0] + 0.4 * rng.normal(size=600)), rng.exponential(8, 600)
        columns = {"a": x[:, 0], "b": x[:, 1], "time": np.minimum(event, lost), "event": event <= lost}
        pq.write_table(pa.table(columns), place / f"{part}.parquet")
    return open_table(place, time="time", event="event")


@pytest.fixture(scope="module")
def alone(table):
    return ALDSurvival(**SMALL).fit(table.x, table.y)


def assert_same(model, expected):
    assert model.history_.epochs == expected.history_.epochs
    np.testing.assert_array_equal(model.history_.train_loss, expected.history_.train_loss)
    for name, array in expected.fitted_.weights.items():
        np.testing.assert_array_equal(model.fitted_.weights[name], array, err_msg=name)
    assert model.trained_on_.rows == expected.trained_on_.rows == 1800
    assert model.point_scores_ == expected.point_scores_


def show_and_count(mark, show):
    if show is not None:
        show("some", False)
        show("all", True)
        # Texts take another way than the result.
        until = time.monotonic() + 60
        while not Path(mark).exists() and time.monotonic() < until:
            time.sleep(0.05)
    return current_ranks().count


def write_every_epoch():
    loop._SECONDS_BETWEEN_CHECKPOINTS = -1


def die_in_batch(number, mark):
    """From now on the process is killed in that batch of its training."""
    exchange, calls = Ranks.exchange, []

    def dying(ranks, *given):
        calls.append(ranks)
        if len(calls) == number:
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return exchange(ranks, *given)

    Ranks.exchange = dying


def test_two_workers_train_what_one_process_trains(table, alone, cluster, capsys):
    with DaskEngine(cluster.scheduler_address) as engine:
        engine.client.wait_for_workers(2, timeout=60)
        assert_same(ALDSurvival(**{**SMALL, "progress": True}).fit(table.x, table.y), alone)
    assert "columns: 1,800 of 1,800 rows" in capsys.readouterr().err


def test_texts_of_the_first_worker_are_shown_here(cluster, tmp_path):
    mark, shown = tmp_path / "shown", []

    def show(text, last):
        shown.append((text, last))
        if last:
            mark.touch()

    with DaskEngine(cluster.scheduler_address) as engine:
        # One that another test killed may not be back yet.
        engine.client.wait_for_workers(2, timeout=60)
        assert engine.together(show_and_count, (str(mark),), most=2, show=show) == 2
    assert shown == [("some", False), ("all", True)]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no such signal")
@pytest.mark.parametrize("with_checkpoint", [True, False])
@pytest.mark.parametrize("worker", [0, 1])
def test_a_killed_worker_changes_nothing(table, alone, cluster, tmp_path, worker, with_checkpoint):
    mark, path = tmp_path / "killed", tmp_path / "run"
    with DaskEngine(cluster.scheduler_address) as engine:
        engine.client.wait_for_workers(2, timeout=60)
        lost = sorted(engine.client.nthreads())[worker]
        engine.client.run(write_every_epoch)
        engine.client.run(die_in_batch, 6, str(mark), workers=[lost])
        model = ALDSurvival(**SMALL, checkpoint=path if with_checkpoint else None).fit(table.x, table.y)
    assert mark.exists()
    assert_same(model, alone)
    assert list(tmp_path.iterdir()) == [mark]


def pause(worker):
    worker.status = Status.paused


def count_processes(show):
    return current_ranks().count


@pytest.mark.parametrize("noticed", [True, False])
def test_workers_that_are_paused_are_not_waited_for(noticed, monkeypatch):
    monkeypatch.setattr(ranks, "_MOST_CONNECTING", timedelta(seconds=2))
    # Without a limit of memory Dask does not look whether it may go on.
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options, processes=False) as started,
        DaskEngine(started.scheduler_address) as engine,
    ):
        engine.client.wait_for_workers(2, timeout=60)
        workers = sorted(engine.client.nthreads())
        engine.client.run(lambda dask_worker: pause(dask_worker), workers=workers[1:])
        until = time.monotonic() + 60
        while engine._free_workers() != workers[:1] and time.monotonic() < until:
            time.sleep(0.05)
        if not noticed:
            # It was paused after it was chosen.
            free, chosen = engine._free_workers, [workers]
            monkeypatch.setattr(engine, "_free_workers", lambda: chosen.pop() if chosen else free())
        assert engine.together(count_processes, (), most=2, show=None) == 1


def test_processes_meet_at_addresses_of_both_kinds():
    assert dask_tasks.meeting_place("10.0.0.7", 4000) == "tcp://10.0.0.7:4000"
    assert dask_tasks.meeting_place("::1", 4000) == "tcp://[::1]:4000"


class ForgottenTasks(dict):
    """Tasks of a worker, of which one is gone between two looks."""

    def __contains__(self, key):
        return True


def test_a_task_that_its_worker_forgets_is_stopped():
    alone = Ranks()
    dask_tasks.stop_unwanted(ForgottenTasks(), "key", alone, threading.Event())
    with pytest.raises(ranks.ReleasedError):
        alone.end_if_stopped()


def test_what_the_workers_cannot_do_is_said(table, cluster, tmp_path, monkeypatch):
    with DaskEngine(cluster.scheduler_address) as engine:
        with pytest.raises(ParameterError, match="callbacks cannot be used on a cluster"):
            ALDSurvival(**SMALL, callbacks=[print]).fit(table.x, table.y)
        with pytest.raises(ParameterError, match="checkpoint must be a file in a folder that exists"):
            ALDSurvival(**SMALL, checkpoint=tmp_path / "none" / "run").fit(table.x, table.y)
        monkeypatch.setattr(dask_engine, "_MOST_STARTS", 0)
        with pytest.raises(ClusterError, match="lost a worker 0 times"):
            engine.together(print, (), most=2, show=None)
