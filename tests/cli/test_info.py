from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from child_process import without_machine_warnings

import aldsurv
from aldsurv.cli.main import main
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.registry import MODELS


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def fitted(name: str = "cox", remember: bool = True):
    rng = np.random.default_rng(0)
    X = {"age": rng.normal(60, 10, 80), "grade": rng.choice(["I", "II"], 80).astype(object)}
    X["age"][3] = np.nan
    kind = MODELS.load(name)
    known = kind.parameter_defaults()
    given = {"members": 1, "max_epochs": 2, "max_rounds": 3, "folds": 2, "random_state": 0, "unit": "months"}
    within = {"recalibrated": aldsurv.WeibullAFT(unit="months")}
    given["estimator"] = within.get(name, aldsurv.ALDSurvival(members=1, max_epochs=2, unit="months"))
    given["estimators"] = [aldsurv.WeibullAFT(), aldsurv.CoxRegression()]
    model = kind(**{key: value for key, value in given.items() if key in known}).fit(
        X, (rng.exponential(5, 80), np.arange(80) % 4 > 0)
    )
    if remember:
        model.set_outcome_columns(OutcomeColumns("t", "died", "yes").given)
    return model, X


@pytest.mark.parametrize("name", list(MODELS))
def test_text(capsys: pytest.CaptureFixture[str], name: str) -> None:
    model, X = fitted(name)
    size = model.save("m.aldsurv").stat().st_size
    assert main(["info", "m.aldsurv"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == f"m.aldsurv: a model of aldsurv, {size / 1000:.1f} kB"
    said = " ".join(out.split())
    # The file does not hold how long a fit took, which some summaries say.
    head, *table = aldsurv.load("m.aldsurv").summary().split("\n\n")
    assert " ".join(head.split()) in said
    for line in model.coefficients_ if table else ():
        assert f" {line.name} {line.coefficient:.4g}" in said
    assert "  outcome      time 't', event 'died', event value 'yes'" in lines
    assert f"  fingerprint  {model.trained_on_.fingerprint}" in lines
    assert f"aldsurv {aldsurv.__version__}, numpy {np.__version__}" in out
    low, high, median = (f(X["age"]) for f in (np.nanmin, np.nanmax, np.nanmedian))
    assert lines[-3:] == [
        "Columns",
        f"  age    number, {low:.4g} to {high:.4g}; gaps filled with {median:.4g}",
        "  grade  category: I, II",
    ]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", ["cox", "ald", "recalibrated"])
def test_json(capsys: pytest.CaptureFixture[str], name: str) -> None:
    model, _ = fitted(name)
    path = model.save("m.aldsurv")
    assert main(["info", "m.aldsurv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["file"], found["bytes"]) == ("m.aldsurv", path.stat().st_size)
    assert (found["model"], found["class"], found["unit"]) == (name, type(model).__name__, "months")
    assert (found["rows"], found["events"], found["n_columns"]) == (80, 60, 2)
    assert found["outcome"] == {"time": "t", "event": "died", "event_value": "yes"}
    assert found["fingerprint"] == model.trained_on_.fingerprint
    assert [column["name"] for column in found["columns"]] == ["age", "grade"]
    assert found["columns"][1]["levels"] == [["text", "I"], ["text", "II"]]
    if name == "ald":
        values = {field.name: getattr(model.settings_, field.name) for field in fields(model.settings_)}
        expected = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
        assert {key: found["settings"][key] for key in expected} == expected
    elif name == "recalibrated":
        inner = {"model": "weibull_aft", "ridge": 0.0, "cure": False, "robust": "auto", "point": "median"}
        assert found["settings"]["estimator"] == inner
        assert not [key for key in found["settings"] if "__" in key]
    else:
        assert found["settings"] == {"ties": "efron", "ridge": 0.0, "robust": "auto", "strata": None, "point": "median"}


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_coefficients_fit_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    model, _ = fitted("weibull_aft")
    model.save("m.aldsurv")
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["info", "m.aldsurv"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= min(width, 80)
    words = " ".join(out.split())
    for line in model.coefficients_:
        assert f"{line.name} {line.coefficient:.4g} (standard error {line.standard_error:.4g}), time ratio" in words


def test_a_model_made_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    fitted(remember=False)[0].save("m.aldsurv")
    assert main(["info", "m.aldsurv"]) == 0
    assert "  outcome      not known: not made by 'aldsurv fit'\n" in capsys.readouterr().out
    assert main(["info", "m.aldsurv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] is None


def test_an_untrusted_file_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    model, _ = fitted()
    model.trained_on_ = replace(model.trained_on_, outcome={"time": "\x1b[2Jt", "event": "e\nv"})
    model.trained_on_ = replace(model.trained_on_, versions={"\x1b[31m": "\x1b[0m"})
    model.trained_on_ = replace(model.trained_on_, fingerprint="\x07")
    model.unit = "\x1b]0;title\x07"
    model.save("m.aldsurv")
    assert main(["info", "m.aldsurv"]) == 0
    out = capsys.readouterr().out
    assert all(letter.isprintable() or letter == "\n" for letter in out)


def test_a_model_with_an_encoder(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    rng = np.random.default_rng(0)
    model = aldsurv.ALDSurvival(encoder=torch.nn.Linear(2, 3), members=1, max_epochs=1, random_state=0)
    model.fit(rng.normal(size=(30, 2)), (rng.exponential(5, 30), np.ones(30)))
    model.save("m.aldsurv")
    assert main(["info", "m.aldsurv"]) == 2
    assert "trained with an encoder (Linear), whose code is not in the file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: path.write_bytes(b""), "'bad.aldsurv' "),
        (lambda path: path.write_text("time,event\n1,1\n"), "'bad.aldsurv' is damaged or not a model file"),
        (lambda path: path.write_bytes(bytes(range(256))), "'bad.aldsurv' is damaged or not a model file"),
        (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(200)), "'bad.aldsurv' "),
        (lambda path: path.write_bytes(Path("m.aldsurv").read_bytes()[:-40]), "'bad.aldsurv' is cut short"),
        (lambda path: write_model_file(path, {"kind": "cake"}, {}), "it is a 'cake', not a fitted model"),
        (lambda path: write_model_file(path, {"kind": "fitted model", "model": "alt", "version": "1"}, {}), "'ald'"),
        (lambda path: path.mkdir(), "'bad.aldsurv' is a folder, not a file"),
        (lambda path: None, "there is no file 'bad.aldsurv'"),
    ],
)  # fmt: skip
def test_wrong_files(capsys: pytest.CaptureFixture[str], make, told: str) -> None:
    fitted()[0].save("m.aldsurv")
    make(Path("bad.aldsurv"))
    assert main(["info", "bad.aldsurv"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("aldsurv: error: ")
    assert err.count("\n") == 1
    assert told in err


def test_one_byte_that_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    content = bytearray(fitted()[0].save("m.aldsurv").read_bytes())
    content[-5] ^= 1
    Path("m.aldsurv").write_bytes(content)
    assert main(["info", "m.aldsurv"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_facts_that_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    fitted()[0].save("m.aldsurv")
    document, arrays = read_model_file("m.aldsurv")
    kept = {name: document["trained_on"][name] for name in ("rows", "events", "first_time", "last_time")}
    write_model_file("m.aldsurv", {**document, "trained_on": kept}, arrays)
    for words in (["info", "m.aldsurv"], ["info", "m.aldsurv", "--json"]):
        assert main(words) == 0
    assert json.loads(capsys.readouterr().out.split("grade  category: I, II\n")[1])["fingerprint"] is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_output_that_nobody_reads(environment: dict[str, str]) -> None:
    fitted()[0].save("m.aldsurv")
    command = f"{sys.executable} -m aldsurv info m.aldsurv | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, encoding="utf-8", env=environment, check=False)
    assert (done.returncode, without_machine_warnings(done.stderr)) == (0, "")
    assert done.stdout.startswith("m.aldsurv: a model of aldsurv, ")
    assert done.stdout.count("\n") == 1
