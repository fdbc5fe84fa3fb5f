"""Functions over items, in this process and on a cluster: in order, and what happens when workers die."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from aldsurv.errors import ClusterError, DataError, ParameterError
from aldsurv.models.parted import engine as engines
from aldsurv.models.parted.engine import DaskEngine, Failure, LocalEngine, current_engine, open_engine


def square(number):
    return number * number, os.getpid()


def killing_its_worker(marks, number):
    """The first time that it is called for 3, it kills the process that it is in."""
    mark = Path(marks) / "killed"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_killing(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refusing(number):
    if number == 2:
        raise DataError("time must not be negative", file="part-2.parquet", column="months")
    if number == 4:
        raise ZeroDivisionError("no such number")
    return number


def squares_of_held(pair):
    return pair[0]


def test_the_order_is_that_of_the_items_wherever_they_are_computed(cluster):
    with DaskEngine(cluster.scheduler_address) as engine:
        assert current_engine() is engine
        on_workers = list(engine.map(square, range(50)))
        held = engine.hold(square, range(5))
        assert list(engine.map(squares_of_held, held)) == [0, 1, 4, 9, 16]
    assert [value for value, _ in on_workers] == [number**2 for number in range(50)]
    assert {process for _, process in on_workers} == {worker.pid for worker in cluster.workers.values()}
    local = current_engine()
    assert isinstance(local, LocalEngine)
    assert [value for value, _ in local.map(square, range(50))] == [value for value, _ in on_workers]
    assert list(local.map(squares_of_held, local.hold(square, range(5)))) == [0, 1, 4, 9, 16]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no such signal")
def test_a_killed_worker_is_replaced_and_a_part_that_kills_each_is_named(cluster, tmp_path):
    with DaskEngine(cluster.scheduler_address) as engine:
        assert list(engine.map(partial(killing_its_worker, str(tmp_path)), range(6))) == [0, 1, 4, 9, 16, 25]
        outcomes = dict(engine.completed(always_killing, range(5)))
        assert (tmp_path / "killed").exists()
    assert [outcomes[number] for number in (0, 1, 2, 4)] == [0, 1, 2, 4]
    assert isinstance(outcomes[3].error, ClusterError)
    assert str(outcomes[3].error).startswith("'3' killed every worker that took it, last tcp://127.0.0.1:")


def test_errors_are_those_of_the_function(cluster):
    for engine in (LocalEngine(), DaskEngine(cluster.scheduler_address)):
        with engine:
            outcomes = dict(engine.completed(refusing, range(5)))
            assert isinstance(outcomes[2], Failure)
            assert isinstance(outcomes[4], Failure)
            with pytest.raises(DataError, match=r"'part-2\.parquet': time must not be negative") as caught:
                list(engine.map(refusing, range(5)))
            assert caught.value.column == "months"
    assert str(outcomes[4].error).startswith("'4' failed on the cluster at 'tcp://127.0.0.1:")
    assert "ZeroDivisionError" in str(outcomes[4].error)


def test_addresses_that_are_refused(monkeypatch):
    monkeypatch.setattr(engines, "SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(ParameterError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'") as caught:
        open_engine("tcp://127.0.0.1:9")
    assert caught.value.argument == "cluster"
    with pytest.raises(ParameterError, match="a number of processes, but is 'local:many'"):
        open_engine("local:many")


def test_a_scheduler_that_goes_away(monkeypatch):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        engine = DaskEngine(cluster.scheduler_address)
        results = engine.map(square, range(10_000))
        next(results)
    with engine, pytest.raises(ClusterError, match=r"scheduler at 'inproc://.*' does not answer any more"):
        list(results)
