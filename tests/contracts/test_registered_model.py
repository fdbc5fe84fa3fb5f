"""A model that is one file and one record is everywhere: a toy model, from the command line to the contract tests."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from reports.undrawn import leave_pictures_undrawn

import aldsurv
from aldsurv import SurvivalData
from aldsurv.cli.main import main
from aldsurv.errors import ParameterError
from aldsurv.registry import MODELS
from aldsurv.tuning.search import tune
from contracts.toy_model import RECORD, ToySurvival

OUTCOME = ["--time", "months", "--event", "status"]
TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    MODELS.add(RECORD)
    yield
    MODELS.remove("toy")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(0)
    age, dose, group = rng.normal(60, 10, 200), rng.normal(size=200), rng.choice(["a", "b"], 200)
    event, lost = 20 * np.exp((age - 60) / 10) * rng.exponential(size=200), rng.exponential(60, 200)
    path = tmp_path_factory.mktemp("toy") / "people.csv"
    rows = zip(age, dose, group, np.minimum(event, lost), (event <= lost).astype(int), strict=True)
    path.write_text(
        "age,dose,group,months,status\n" + "\n".join(f"{a:.2f},{d:.3f},{g},{t:.4f},{s}" for a, d, g, t, s in rows)
    )
    return str(path)


@pytest.fixture(scope="module")
def model_file(table: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "toy.aldsurv"
    MODELS.add(RECORD)
    try:
        assert main(["fit", table, *OUTCOME, "--model", "toy", "--out", str(path), "--quiet"]) == 0
    finally:
        MODELS.remove("toy")
    return str(path)


def test_it_is_a_name_of_the_package_and_of_the_reference() -> None:
    assert aldsurv.ToySurvival is ToySurvival
    pytest.importorskip("mkdocs")
    pages = runpy.run_path(str(TESTS.parent / "docs_hooks" / "reference.py"))["pages"]()
    assert "::: contracts.toy_model.ToySurvival" in pages["reference/aldsurv.models.ToySurvival.md"]
    assert "::: aldsurv.CoxRegression" in pages["reference/aldsurv.models.CoxRegression.md"]
    del aldsurv.ToySurvival


def test_help_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--help"]) == 0
    help_text = " ".join(capsys.readouterr().out.split())
    assert f"toy {RECORD.title}: {RECORD.purpose}" in help_text


def test_fit_and_info(table: str, model_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(aldsurv.load(model_file), ToySurvival)
    assert main(["info", model_file]) == 0
    assert "ToySurvival" in capsys.readouterr().out
    assert main(["info", model_file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "toy"


def test_predict_and_evaluate(table: str, model_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = Path(model_file).with_name("predictions.csv")
    assert main(["predict", model_file, table, "--out", str(out)]) == 0
    assert len(out.read_text().splitlines()) == 201
    capsys.readouterr()
    assert main(["evaluate", model_file, table, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["metrics"]
    assert scores["harrell_c"]["value"] > 0.6


def test_compare(table: str, model_file: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = str(tmp_path / "cox.aldsurv")
    assert main(["fit", table, *OUTCOME, "--model", "cox", "--out", other, "--quiet"]) == 0
    assert main(["compare", other, model_file, table, "--bootstrap", "20"]) == 0
    assert f"cox (Cox), toy ({RECORD.title}) on" in " ".join(capsys.readouterr().out.split())


def test_tuning(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "tuned.aldsurv")
    assert main(["fit", table, *OUTCOME, "--model", "toy", "--tune", "3", "--out", target]) == 0
    assert "trial" in capsys.readouterr().out
    # The settings as they are, or a value within the range.
    assert aldsurv.load(target).ridge == 0 or 1e-6 <= aldsurv.load(target).ridge <= 10


def test_a_model_without_a_search_space_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToySurvival, "SEARCH_SPACE", None)
    x, data = np.zeros((20, 1)), SurvivalData.right(np.arange(1.0, 21.0), np.ones(20))
    with pytest.raises(ParameterError, match="ToySurvival has nothing to search"):
        tune(ToySurvival, x, data, trials=1)


def test_report(table: str, model_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_pictures_undrawn(monkeypatch)
    out = tmp_path / "report.html"
    assert main(["report", model_file, table, "--people", "1", "--out", str(out)]) == 0
    assert RECORD.title in out.read_text(encoding="utf-8")


def test_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    leave_pictures_undrawn(monkeypatch)
    folder = str(tmp_path / "results")
    options = ["--datasets", "norm_linear", "--models", "toy,cox", "--seeds", "2", "--jobs", "1"]
    assert main(["benchmark", "run", *options, "--out", folder]) == 0
    assert "2 of 2 cells done" in capsys.readouterr().out
    assert main(["benchmark", "report", folder]) == 0
    pages = [path.read_text(encoding="utf-8") for path in Path(folder).rglob("*.html")]
    assert any(RECORD.title in page for page in pages)


def test_the_contract_tests_take_it_up() -> None:
    """In a fresh interpreter, where the record is added before tests are collected."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "contracts.toy_plugin",
        "-p",
        "no:cacheprovider",
        "-k",
        "toy",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    done = subprocess.run(
        [*command, "contracts/test_models.py"],
        cwd=TESTS,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout
