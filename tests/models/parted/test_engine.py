"""Functions over items, in this process and on a cluster: in order, and what happens when workers die."""

from __future__ import annotations

import gc
import os
import re
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from aldsurv.errors import ClusterError, DataError, ParameterError
from aldsurv.models.parted import dask_engine as engines
from aldsurv.models.parted import scratch_blocks
from aldsurv.models.parted.dask_engine import DaskEngine
from aldsurv.models.parted.engine import Failure, LocalEngine, current_engine, open_engine


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


def numbers_up_to(number):
    for start in range(number):
        yield {"numbers": np.arange(start, number), "square": np.array(number**2.0)}


def sums_of_held(blocks):
    return [(int(block["numbers"].sum()), float(block["square"])) for block in blocks]


def test_the_order_is_that_of_the_items_wherever_they_are_computed(cluster):
    with DaskEngine(cluster.scheduler_address) as engine:
        assert current_engine() is engine
        on_workers = list(engine.map(square, range(50)))
        held = list(engine.map(sums_of_held, engine.hold(numbers_up_to, range(4))))
    assert [value for value, _ in on_workers] == [number**2 for number in range(50)]
    assert os.getpid() not in {process for _, process in on_workers}
    local = current_engine()
    assert isinstance(local, LocalEngine)
    assert [value for value, _ in local.map(square, range(50))] == [value for value, _ in on_workers]
    assert held == [[], [(0, 1.0)], [(1, 4.0), (1, 4.0)], [(3, 9.0), (3, 9.0), (2, 9.0)]]
    assert list(local.map(sums_of_held, local.hold(numbers_up_to, range(4)))) == held


def times_its_size(number, values):
    return number * values.size


def test_what_is_shared_may_be_large(cluster, recwarn):
    """Dask warns of a task beyond 10 MB; here it is one for each worker."""
    with DaskEngine(cluster.scheduler_address) as engine:
        assert list(engine.map(times_its_size, range(3), (np.zeros(1_500_000),))) == [0, 1_500_000, 3_000_000]
    assert not recwarn.list


def test_what_is_too_much_for_memory_is_held_in_files(monkeypatch, tmp_path):
    monkeypatch.setattr(scratch_blocks, "_MOST_BYTES", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mapped, memmap = [], np.memmap
    monkeypatch.setattr(np, "memmap", lambda *given: mapped.append(given) or memmap(*given))
    engine = LocalEngine()
    held = engine.hold(numbers_up_to, range(6))
    if os.name == "posix":
        # However the process ends, nothing is left.
        assert list(tmp_path.iterdir()) == []
    assert list(engine.map(sums_of_held, held)) == [sums_of_held(list(numbers_up_to(number))) for number in range(6)]
    assert len(mapped) > 3
    del held
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no such signal")
def test_a_killed_worker_is_replaced_and_a_part_that_kills_each_is_named(cluster, tmp_path):
    with DaskEngine(cluster.scheduler_address) as engine:
        assert list(engine.map(partial(killing_its_worker, str(tmp_path)), range(6))) == [0, 1, 4, 9, 16, 25]
        outcomes = dict(engine.completed(always_killing, range(5)))
        assert (tmp_path / "killed").exists()
    assert [outcomes[number] for number in (0, 1, 2, 4)] == [0, 1, 2, 4]
    assert isinstance(outcomes[3].error, ClusterError)
    assert str(outcomes[3].error).startswith("'3' killed every worker that took it, last tcp://127.0.0.1:")


def growing(number):
    """More memory than any worker has, a little at a time."""
    held = []
    while number == 2:
        held.append(np.ones(4_000_000))
        time.sleep(0.02)
    return number


def test_a_worker_without_memory_is_named():
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    few = {"distributed.scheduler.allowed-failures": 0, "distributed.worker.memory.pause": False}
    with (
        dask.config.set(few),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="700MB", dashboard_address=":0"
        ) as cluster,
        DaskEngine(cluster.scheduler_address) as engine,
    ):
        outcomes = dict(engine.completed(growing, range(3)))
    assert [outcomes[number] for number in (0, 1)] == [0, 1]
    assert isinstance(outcomes[2].error, ClusterError)
    assert re.match("'2' killed every worker that took it, last .* perhaps for lack of memory", str(outcomes[2].error))


def test_no_worker_is_left(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "SECONDS_WITHOUT_WORKERS", 1.0)
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        DaskEngine(cluster.scheduler_address) as engine,
    ):
        results = engine.map(square, range(10_000))
        next(results)
        cluster.scale(0)
        with pytest.raises(ClusterError, match=r"has had no worker for 1 seconds\. A worker ends if it lacks"):
            list(results)


HELD = []


def filling(number):
    """Keeps so much memory that Dask pauses the worker, after this."""
    import psutil

    while psutil.Process().memory_info().rss < 540e6:
        HELD.append(np.ones(500_000))
    return number


def test_workers_that_are_paused_for_lack_of_memory(monkeypatch):
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    monkeypatch.setattr(engines, "SECONDS_WITHOUT_WORKERS", 2.0)
    with (
        dask.config.set({"distributed.worker.memory.terminate": False, "distributed.worker.memory.spill": False}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="600MB", dashboard_address=":0"
        ) as cluster,
        DaskEngine(cluster.scheduler_address) as engine,
        pytest.raises(ClusterError, match=r"every worker .* has been paused for 2 seconds, because its memory"),
    ):
        list(engine.map(filling, range(100_000)))


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


def ignores_ctrl_c():
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_processes_of_this_machine_show_neither_what_fails_nor_ctrl_c(capfd):
    pytest.importorskip("distributed")
    with open_engine("local:1") as engine:
        assert list(engine.client.run(ignores_ctrl_c).values()) == [True]
        with pytest.raises(DataError, match="time must not be negative"):
            list(engine.map(refusing, range(5)))
    assert capfd.readouterr().err == ""


def test_processes_of_this_machine_end_when_the_engine_does_not_begin(monkeypatch):
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    before, seen = dask.config.get("distributed.deploy.lost-worker-timeout"), []

    def refused(address, **options):
        seen.append(address)
        raise TimeoutError("too busy")

    monkeypatch.setattr(distributed, "Client", refused)
    with pytest.raises(ParameterError, match="too busy"):
        open_engine("local:1")
    host, port = distributed.comm.get_address_host_port(seen[0])
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, port), timeout=60)
    assert dask.config.get("distributed.deploy.lost-worker-timeout") == before


def test_addresses_that_are_refused(monkeypatch):
    monkeypatch.setattr(engines, "SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(ParameterError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'") as caught:
        open_engine("tcp://127.0.0.1:9")
    assert caught.value.argument == "cluster"
    for address, problem in (("", "missing port"), ("http://h:1", "unknown address scheme")):
        with pytest.raises(ParameterError, match=f"no Dask scheduler answers at '{address}': {problem}"):
            open_engine(address)
    with pytest.raises(ParameterError, match="a number of processes, but is 'local:many'"):
        open_engine("local:many")


def test_a_script_that_starts_processes_as_it_is_imported(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "unguarded.py"
    script.write_text("import aldsurv\nwith aldsurv.open_engine('local:1'):\n    pass\n")
    paths = {"PYTHONPATH": str(Path(engines.__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, encoding="utf-8", env={**os.environ, **paths}, check=False
    )
    assert done.returncode == 1
    assert "ClusterError: processes of this machine could not be started" in done.stderr
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]


def test_a_scheduler_that_goes_away():
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        engine = DaskEngine(cluster.scheduler_address)
        results = engine.map(square, range(10_000))
        next(results)
    brief = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with engine, brief, pytest.raises(ClusterError, match=r"scheduler at 'inproc://.*' does not answer any more"):
        list(results)
