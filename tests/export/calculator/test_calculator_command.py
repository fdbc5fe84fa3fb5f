"""``aldsurv calculator``: what it writes and prints, and what it refuses in one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aldsurv.cli.main import main

FROZEN = Path(__file__).parents[2] / "models" / "frozen"


@pytest.fixture
def folder(cox_file, tmp_path, monkeypatch):
    shutil.copy(cox_file, tmp_path / "model.aldsurv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_a_page_and_names_it(folder, capsys):
    assert main(["calculator", "model.aldsurv"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("calculator.html (")
    assert printed.err == ""
    assert (folder / "calculator.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    # A page of aldsurv is replaced.
    assert main(["calculator", "model.aldsurv", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_options_reach_the_page(folder, capsys):
    (folder / "labels.csv").write_text("column,label,unit\nage,Age at entry,years\n", encoding="utf-8")
    options = ["--labels", "labels.csv", "--times", "6,18", "--title", "Example", "--event-name", "relapse"]
    assert main(["calculator", "model.aldsurv", *options, "--use", "For tests", "--out", "page.html", "--json"]) == 0
    facts, page = json.loads(capsys.readouterr().out), (folder / "page.html").read_text(encoding="utf-8")
    assert facts == {"page": "page.html", "model": "model.aldsurv", "bytes": len(page.encode())}
    assert "<h1>Example</h1>" in page
    for text in ('"times": [6.0, 18.0]', '"Age at entry"', '"event": "relapse"', "For tests."):
        assert text in page


def test_the_page_goes_to_standard_output(folder, capfd):
    assert main(["calculator", "model.aldsurv", "--out", "/dev/stdout"]) == 0
    printed = capfd.readouterr()
    assert printed.out.startswith("<!doctype html>")
    assert "kB" in printed.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nothing.aldsurv"], "there is no file 'nothing.aldsurv'"),
        (["labels.json"], "labels.json"),
        ([str(FROZEN / "ald_encoder.aldsurv")], "the model was trained with an encoder"),
        (["model.aldsurv", "--times", "0,12"], "--times must be above 0"),
        (["model.aldsurv", "--times", "soon"], "--times must be numbers"),
        (["model.aldsurv", "--labels", "labels.json"], "is not JSON"),
        (["model.aldsurv", "--labels", "nowhere.csv"], "cannot be read"),
        (["model.aldsurv", "--out", "model.aldsurv"], "is the file 'model.aldsurv', which is read from"),
        (["model.aldsurv", "--out", "notes.txt"], "is not a page of aldsurv"),
        (["model.aldsurv", "--out", "nowhere/page.html"], "does not exist"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(folder, capsys, arguments, problem):
    (folder / "labels.json").write_text("{", encoding="utf-8")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    before = sorted(folder.iterdir())
    assert main(["calculator", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert problem in error
    assert sorted(folder.iterdir()) == before
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_another_file_is_overwritten_by_force(folder):
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    assert main(["calculator", "model.aldsurv", "--out", "notes.txt", "--force", "--quiet"]) == 0
    assert (folder / "notes.txt").read_text(encoding="utf-8").startswith("<!doctype html>")
