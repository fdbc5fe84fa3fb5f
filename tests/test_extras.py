"""Each extra of pyproject.toml does what it is for with nothing installed but what it asks for."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from absent_packages import OPTIONAL, is_absent
from child_process import WARNING_OPTIONS, machine_variables, without_machine_warnings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_repository import PROJECT

import aldsurv

ROWS = """
import numpy as np
import aldsurv
from aldsurv.models import WeibullAFT
rng = np.random.default_rng(0)
x = rng.normal(size=(80, 2))
y = rng.weibull(2, 80) * np.exp(x[:, 0] / 2), np.arange(80) % 3 > 0
"""
PROGRAMS = {
    "torch": "aldsurv.ALDSurvival(members=1, max_epochs=1, validation=0).fit(x, y).predict_distribution(x).median()",
    "plots": """
from aldsurv.plots import plot_survival
plot_survival(WeibullAFT().fit(x, y).predict_distribution(x[:2])).figure.savefig("curves.png")
""",
    "datasets": """
import h5py
from pathlib import Path
from aldsurv.datasets.clinical import read_deepsurv_file
with h5py.File("rows.h5", "w") as file:
    for part in ("train", "test"):
        for key, values in zip("xte", (x, *y)):
            file[f"{part}/{key}"] = values
assert read_deepsurv_file(Path("rows.h5")).x.shape == (160, 2)
""",
    "tables": """
import pyarrow, pyarrow.parquet
from aldsurv.datasets import read_table
columns = {"age": x[:, 0], "months": y[0], "died": y[1]}
pyarrow.parquet.write_table(pyarrow.table(columns), "rows.parquet")
table = read_table("rows.parquet", time="months", event="died")
assert len(WeibullAFT().fit(table.x, table.y).predict_time(table.x)) == 80
""",
    "excel": """
import openpyxl
from aldsurv.datasets import read_table
book = openpyxl.Workbook()
for row in [("age", "months", "died"), *zip(x[:, 0].tolist(), y[0].tolist(), y[1].tolist())]:
    book.active.append(row)
book.save("rows.xlsx")
table = read_table("rows.xlsx", time="months", event="died")
assert len(WeibullAFT().fit(table.x, table.y).predict_time(table.x)) == 80
""",
    "reports": """
from pathlib import Path
from aldsurv.reports import write_model_report
model = WeibullAFT().fit({"age": x[:, 0]}, y)
write_model_report(model, {"age": x[:, 0]}, y, "report.html")
assert "<img" in Path("report.html").read_text(encoding="utf-8")
""",
    "benchmark": """
from aldsurv.benchmark import Plan, run
plan = Plan(("norm_linear",), ("weibull_aft",), seeds=1)
assert run(plan, "results").results().series[0].model == "weibull_aft"
""",
    "cluster": """
import distributed
from aldsurv.benchmark import Plan, run
plan = Plan(("norm_linear",), ("weibull_aft",), seeds=1)
if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        assert run(plan, "results", cluster=cluster.scheduler_address).results().series[0].model == "weibull_aft"
""",
    "serve": """
import asyncio, sys
from aldsurv.serving import create_app
path = WeibullAFT().fit({"age": x[:, 0]}, y).save("risk.aldsurv")
app, sent = create_app([path]), []
async def receive():
    return {"type": "http.request", "body": b'{"rows": [{"age": 0.5}]}'}
async def send(message):
    sent.append(message)
scope = {"type": "http", "method": "POST", "path": "/models/risk/predict", "query_string": b"", "root_path": "",
         "headers": [(b"content-type", b"application/json")]}
asyncio.run(app(scope, receive, send))
assert sent[0]["status"] == 200 and b"median" in sent[1]["body"]
import aldsurv.serving.server
""",
    "onnx": """
from aldsurv.export.onnx import build_onnx
graph = build_onnx(WeibullAFT().fit(x, y), times=[1.0])
assert graph.outputs == ["survival", "quantiles", "median", "outside"] and graph.to_bytes()
""",
    "tune": """
from aldsurv.tuning.search import tune
assert len(tune(WeibullAFT, x, y, trials=2, folds=2).trials) == 2
""",
    "trees": "aldsurv.BoostedALD(members=1, max_rounds=3, validation=0).fit(x, y).predict_distribution(x).median()",
    "peers": """
from aldsurv.models.adapters import ForestPeer
ForestPeer(5, random_state=0).fit(x, y).predict_distribution(x).median()
""",
}
REFUSING = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refused())
"""


@cache
def modules_installed() -> dict[str, frozenset[str]]:
    """Packages that bring each importable module; finding them reads the list of files of all."""
    return {module: frozenset(map(canonicalize_name, names)) for module, names in packages_distributions().items()}


@cache
def needed(requirement: str) -> frozenset[str]:
    """Names of the packages that a requirement brings, itself included."""
    asked = Requirement(requirement)
    names, queue = set(), [(canonicalize_name(asked.name), frozenset(asked.extras))]
    seen = set()
    while queue:
        name, extras = queue.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        names.add(name)
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        queue += [
            (canonicalize_name(line.name), frozenset(line.extras))
            for line in map(Requirement, lines)
            if line.marker is None or any(line.marker.evaluate({"extra": extra}) for extra in {"", *extras})
        ]
    return frozenset(names)


def brought(extra: str) -> set[str]:
    """Packages that are there when aldsurv is installed with one extra."""
    names: set[str] = set()
    for requirement in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]]:
        asked = Requirement(requirement)
        if asked.name == "aldsurv":
            names = names.union(*(brought(other) for other in asked.extras))
        elif asked.marker is None or asked.marker.evaluate():
            names |= needed(requirement)
    return names


@pytest.mark.parametrize("extra", PROGRAMS)
def test_each_extra_alone_does_what_it_is_for(extra, tmp_path):
    for name, by in OPTIONAL.items():
        if by == extra and is_absent(name):
            pytest.skip(f"needs {name}, which is not installed")
    there = brought(extra)
    refused = {
        module for module, names in modules_installed().items() if module in OPTIONAL and there.isdisjoint(names)
    }
    # Otherwise nothing would be tried.
    assert len(refused) > 5
    program = REFUSING.format(refused=refused) + ROWS + PROGRAMS[extra]
    source = str(Path(aldsurv.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *WARNING_OPTIONS, "-c", program],
        env={**os.environ, **machine_variables(), "PYTHONPATH": source, "MPLBACKEND": "agg"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, without_machine_warnings(done.stderr)) == (0, "")


def test_every_extra_for_users_is_tried():
    assert set(PROGRAMS) == set(PROJECT["optional-dependencies"]) - {
        "test",
        "test-without-torch",
        "bench",
        "docs",
        "dev",
    }
