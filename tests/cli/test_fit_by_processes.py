"""``torchrun -m aldsurv fit``: several processes, one model file, one voice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import child_process
import numpy as np
import pytest
from training.groups import free_port

import aldsurv
from aldsurv.cli.main import main

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("torch")

N = 2400
OUTCOME = ["--time", "months", "--event", "died"]
QUICK = ["--members", "2", "--set", "max_epochs=2", "--set", "hidden=8", "--set", "components=1"]
LARGE_BATCHES = ["--set", "batch_size=600"]
# The command, whose first process gives the others time to notice a failure on a slow machine, too.
PATIENT = """
import sys
from aldsurv.cli.main import main
from aldsurv.training import ranks

ranks._SECONDS_FOR_OTHERS = 120.0
sys.exit(main())
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of two files, and a table of all rows, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    place = tmp_path / "big"
    place.mkdir()
    rng = np.random.default_rng(0)
    age = rng.normal(60, 10, N)
    event, lost = 20 * np.exp(-(age - 60) / 15) * rng.weibull(1.5, N), rng.exponential(40, N)
    rows = arrow.table({"age": age, "months": np.minimum(event, lost), "died": event <= lost})
    parquet.write_table(rows.slice(0, 1000), place / "a.parquet")
    parquet.write_table(rows.slice(1000), place / "b.parquet")
    parquet.write_table(rows, tmp_path / "people.parquet")
    return place


def environment(**variables: str) -> dict[str, str]:
    source = str(Path(aldsurv.__file__).parents[1])
    kept = {name: os.environ[name] for name in ("PATH", "COLUMNS", "HOME", "SYSTEMROOT") if name in os.environ}
    return {**kept, **child_process.machine_variables(), "PYTHONPATH": source, **variables}


def processes(count: int, *arguments: str, started: int | None = None) -> list[subprocess.CompletedProcess[str]]:
    """What each of several processes gives that a launcher has started with the same arguments, or of the first few."""
    common = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PATIENT, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(RANK=str(number), **common),
        )
        for number in range(count if started is None else started)
    ]
    texts = [process.communicate(timeout=240) for process in running]
    return [
        subprocess.CompletedProcess(process.args, process.returncode, out, child_process.without_machine_warnings(err))
        for process, (out, err) in zip(running, texts, strict=True)
    ]


def same_predictions(first: str, second: str) -> None:
    rows = {"age": np.linspace(40, 80, 9)}
    np.testing.assert_array_equal(aldsurv.load(first).predict(rows), aldsurv.load(second).predict(rows))


def test_torchrun_writes_one_file(capsys):
    call = ["fit", "big", *OUTCOME, *QUICK, *LARGE_BATCHES, "--out"]
    run = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "aldsurv", "--"]
    done = subprocess.run(
        [sys.executable, *run, *call, "model.aldsurv"],
        capture_output=True, text=True, timeout=240, env=environment(), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Saved model.aldsurv") == 1
    assert done.stdout.count("big: 2400 rows in 2 parts") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["big", "model.aldsurv", "people.parquet"]
    assert main([*call, "one.aldsurv"]) == 0
    same_predictions("model.aldsurv", "one.aldsurv")


def test_a_table_in_memory_is_fitted_twice_by_both():
    call = ["fit", "people.parquet", *OUTCOME, *QUICK, *LARGE_BATCHES, "--out"]
    first, second = processes(2, *call, "model.aldsurv")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "Saved model.aldsurv" in first.stdout
    assert (second.stdout, second.stderr) == ("", "")
    assert main([*call, "one.aldsurv", "--quiet"]) == 0
    same_predictions("model.aldsurv", "one.aldsurv")


def test_an_error_is_one_line(folder):
    path = folder / "b.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    done = processes(2, "fit", "big", *OUTCOME, *QUICK, "--out", "model.aldsurv")
    lines = "".join(one.stderr for one in done).splitlines()
    assert len(lines) == 1
    assert "b.parquet' begins like a Parquet file, but is damaged" in lines[0]
    assert sorted(one.returncode for one in done) == [1, 2]
    assert not Path("model.aldsurv").exists()


def test_a_model_that_is_no_network_is_the_work_of_one():
    call = ["fit", "people.parquet", *OUTCOME, "--model", "weibull_aft", "--out", "model.aldsurv"]
    first, second = processes(2, *call)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    note = "aldsurv: note: the model 'weibull_aft' is not fitted by several processes: one of 2 does the work"
    assert first.stderr.startswith(note)
    assert (second.stdout, second.stderr) == ("", "")
    assert Path("model.aldsurv").exists()


def test_other_commands_are_those_of_one_process():
    first, second = processes(2, "models")
    assert "cox" in first.stdout
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")


def test_other_commands_do_not_wait_for_processes_that_are_not_there():
    (only,) = processes(2, "models", started=1)
    assert (only.returncode, only.stderr) == (0, "")
    assert "cox" in only.stdout
