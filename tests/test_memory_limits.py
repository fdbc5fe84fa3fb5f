"""Memory of predictions and fits in a child process, whose kernel refuses it more: a table of all rows has no place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from child_process import WARNING_OPTIONS, machine_variables

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
PACKAGE = Path(__file__).parents[1] / "src"


def within_the_limit(task: str, folder: Path) -> None:
    """Run a task of `limited_tasks`; an error in it fails the test."""
    given = {
        "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(Path(__file__).parent)]),
        # Of each thread's own memory nothing is reserved beyond what it uses.
        "MALLOC_ARENA_MAX": "1",
    }
    done = subprocess.run(
        [sys.executable, *WARNING_OPTIONS, "-m", "limited_tasks", task, str(folder)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **machine_variables(), **given},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("task", ["cox", "causes", "stack"])
def test_curves_are_never_tables(task, tmp_path):
    within_the_limit(task, tmp_path)


def test_outputs_of_all_members_are_never_a_table(tmp_path):
    pytest.importorskip("torch")
    within_the_limit("deephit", tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of 200,000 rows and 42 columns in ten files, and a small one."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    made = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    for name, files, rows in (("rows", 10, 20_000), ("few", 2, 1_000)):
        (made / name).mkdir()
        for part in range(files):
            x = rng.normal(size=(rows, 40))
            event, lost = np.exp(1 + 0.5 * x[:, 0] + 0.4 * rng.normal(size=rows)), rng.exponential(8, rows)
            columns = {f"x{k}": x[:, k] for k in range(40)}
            columns |= {"time": np.ceil(50 * np.minimum(event, lost)) / 50, "event": event <= lost}
            parquet.write_table(arrow.table(columns), made / name / f"{part}.parquet", row_group_size=8192)
    return made


@pytest.mark.parametrize(
    ("task", "package"), [("cox_parts", "numpy"), ("ald_parts", "torch"), ("boosted_parts", "xgboost")]
)
def test_rows_of_a_folder_are_never_a_table(task, package, folder):
    pytest.importorskip(package)
    within_the_limit(task, folder)
