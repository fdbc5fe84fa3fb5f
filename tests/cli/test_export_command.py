"""``aldsurv export`` on the command line."""

import json
import sys
from pathlib import Path

import pytest

from aldsurv.cli.main import main

FROZEN = Path(__file__).parents[1] / "models" / "frozen"


def test_sql_is_written_and_another_file_is_not_overwritten(tmp_path, capsys):
    out, model = tmp_path / "cox.sql", str(FROZEN / "cox_efron.aldsurv")
    assert main(["export", model, "--sql", str(out), "--times", "5,10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sql"]["columns"] == ["survival_5", "survival_10"]
    assert main(["export", model, "--sql", str(out), "--quiet"]) == 0
    out.write_text("mine", encoding="utf-8")
    assert main(["export", model, "--sql", str(out)]) == 2
    assert out.read_text(encoding="utf-8") == "mine"


def test_a_graph_is_written(tmp_path, capsys):
    onnx = pytest.importorskip("onnx")
    out = tmp_path / "model.onnx"
    words = ["export", str(FROZEN / "weibull_aft_ridge.aldsurv"), "--onnx", str(out), "--outputs", "survival,outside"]
    assert main([*words, "--float32"]) == 0
    # The same kind of file is replaced.
    assert main(words) == 0
    graph = onnx.load(out).graph
    assert [output.name for output in graph.output] == ["survival", "outside"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--onnx"),
        (["--sql", "x.sql"], "cannot be written as SQL"),
        (["--onnx", "x.onnx", "--outputs", "risk"], "--outputs must be some of"),
        (["--onnx", "x.onnx", "--quantiles", "1.5"], "--quantiles must be"),
        (["--sql", "x.sql", "--outputs", "survival"], "--outputs goes with --onnx"),
        (["--onnx", "x.onnx", "--table", "people"], "--table goes with --sql"),
    ],
)
def test_what_cannot_be_done_is_one_line(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(FROZEN / "ald_default.aldsurv"), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_model_with_an_encoder_is_refused_in_one_line(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(FROZEN / "ald_encoder.aldsurv"), "--onnx", "x.onnx"]) == 2
    error = capsys.readouterr().err
    assert "encoder" in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", str(FROZEN / "cox_efron.aldsurv"), "--onnx", "x.onnx"]) == 2
    error = capsys.readouterr().err
    assert 'pip install "aldsurv[onnx]"' in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
