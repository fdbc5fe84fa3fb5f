"""Runs that are killed, disturbed or spread over machines end with the same numbers as one that is left alone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from aldsurv.benchmark import Plan, Store, run
from aldsurv.benchmark.cells import run_cell
from aldsurv.errors import DataError, MissingDependencyError, ParameterError

PLAN = Plan(("norm_linear", "weibull", "gbsg"), ("ald", "cox"), seeds=2)
# What trains no network starts in a fraction of the time.
LINEAR = Plan(("norm_linear", "weibull", "gbsg"), ("weibull_aft", "cox"), seeds=2)


def same(first, second):
    """Equal to the last bit; NaN equals NaN."""
    rows = [[(*row[:4], repr(row.value)) for row in results] for results in (first, second)]
    return rows[0] == rows[1] and first.curves == second.curves and len(rows[0]) > 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return run(PLAN, tmp_path_factory.mktemp("undisturbed")).results()


@pytest.fixture(scope="module")
def linear(tmp_path_factory):
    return run(LINEAR, tmp_path_factory.mktemp("linear")).results()


def started(plan, folder, *more):
    words = ["--datasets", ",".join(plan.datasets), "--models", ",".join(plan.models), "--seeds", str(plan.seeds)]
    command = [sys.executable, "-m", "aldsurv", "benchmark", "run", *words, "--out", str(folder), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def test_several_processes(undisturbed, tmp_path):
    outcomes = []
    store = run(PLAN, tmp_path, jobs=2, on_outcome=outcomes.append)
    assert same(store.results(), undisturbed)
    assert {outcome.cell.name for outcome in outcomes} == {cell.name for cell in PLAN.cells()}
    # Nothing is left to do.
    run(PLAN, tmp_path, jobs=2, on_outcome=lambda outcome: pytest.fail(f"{outcome.cell.name} was done again"))


def test_killed_again_and_again(undisturbed, tmp_path):
    delays, kills = random.Random(7), 0
    while kills < 2:
        before, process = done_in(tmp_path), started(PLAN, tmp_path, "--jobs", "2")
        # At any moment, but not before something was done: otherwise a slow machine would never come to an end.
        while process.poll() is None and done_in(tmp_path) == before:
            time.sleep(0.05)
        try:
            process.communicate(timeout=delays.uniform(0.0, 1.0))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
            continue
        assert process.returncode == 0
        break
    assert kills > 1
    run(PLAN, tmp_path)
    assert same(Store(tmp_path).results(), undisturbed)


def done_in(folder):
    try:
        return len(Store(folder).done())
    except DataError:
        return 0


def test_two_runs_into_one_folder(linear, tmp_path):
    processes = [started(LINEAR, tmp_path, "--jobs", "1") for _ in range(2)]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    assert same(Store(tmp_path).results(), linear)


def test_a_failure_stops_nothing_and_is_tried_again(linear, tmp_path, monkeypatch):
    monkeypatch.setattr("aldsurv.benchmark.running.run_cell", _failing_on_gbsg)
    store = run(LINEAR, tmp_path)
    assert store.failed() == {
        "gbsg/real/row/weibull_aft/-": "RuntimeError: no luck",
        "gbsg/real/row/cox/-": "RuntimeError: no luck",
    }
    assert len(store.done()) == 4
    monkeypatch.undo()
    assert same(run(LINEAR, tmp_path).results(), linear)
    assert store.failed() == {}


def _failing_on_gbsg(cell):
    from aldsurv.benchmark.store import CellOutcome

    if cell.series.dataset == "gbsg":
        return CellOutcome(cell, error="RuntimeError: no luck")
    return run_cell(cell)


def test_a_process_that_dies_takes_only_its_cell_along(tmp_path, monkeypatch):
    monkeypatch.setattr("aldsurv.benchmark.running.run_cell", _dying_on_gbsg)
    plan = Plan(("norm_linear", "weibull", "gbsg"), ("cox",), seeds=1)
    store = run(plan, tmp_path, jobs=2)
    assert store.failed() == {"gbsg/real/row/cox/-": "the process was killed, perhaps for lack of memory"}
    assert len(store.done()) == 2


def _dying_on_gbsg(cell):
    if cell.series.dataset == "gbsg":
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    return run_cell(cell)


def test_a_cluster_that_loses_a_worker(linear, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        lost = next(iter(cluster.workers.values())).pid
        killed = []

        def tell(outcome):
            if not killed:
                os.kill(lost, signal.SIGKILL)
                killed.append(outcome.cell.name)

        store = run(LINEAR, tmp_path, cluster=cluster.scheduler_address, on_outcome=tell)
    assert killed
    assert store.failed() == {}
    assert same(store.results(), linear)


def test_what_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match="jobs must be a whole number from 1 on"):
        run(PLAN, tmp_path, jobs=0)
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'aldsurv\[benchmark\]'"):
        run(PLAN, tmp_path, jobs=2)


class WithoutTorch:
    """An installation that has the extra ``benchmark`` and not ``torch``."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


def test_without_torch(tmp_path, monkeypatch):
    import importlib.metadata

    def version(name: str) -> str:
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [WithoutTorch(), *sys.meta_path])
    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(MissingDependencyError, match=r"models ald are trained by torch.*aldsurv\[benchmark,torch\]"):
        run(Plan(("norm_linear",), ("cox", "ald"), seeds=1), tmp_path / "networks")
    assert not (tmp_path / "networks").exists()
    store = run(Plan(("norm_linear",), ("cox",), seeds=1), tmp_path / "linear")
    assert store.failed() == {}
    assert "torch" not in store.versions
