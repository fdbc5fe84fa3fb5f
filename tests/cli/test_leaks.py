"""``aldsurv fit`` warns of columns that give the outcome away, and leaves out nearly unique text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import aldsurv
from aldsurv.cli.main import main
from cli.check.leaky_tables import leaky_frame, write_leaky

FIT = ["--time", "months", "--event", "status", "--event-value", "dead", "--model", "cox"]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_every_leak_is_one_line_before_training_and_one_suggestion_drops_all(capsys):
    write_leaky()
    assert main(["fit", "people.csv", *FIT, "--held-out", "0", "--drop", "name"]) == 0
    notes = [line.removeprefix("aldsurv: note: ") for line in capsys.readouterr().err.splitlines()]
    dead = "100 % of the events and 0 % of the censored rows."
    assert notes[:4] == [
        f"column 'death_date' may give the outcome away: it is named like an outcome and has values in {dead}",
        "column 'cause' may give the outcome away: it says in every row whether the event came.",
        "column 'follow' may give the outcome away: it has the order of the times of the events.",
        "if these columns are not known when predictions are made, leave them out by --drop "
        "name,death_date,cause,follow.",
    ]
    assert main(["fit", "people.csv", *FIT, "--held-out", "0", "--drop", "name,death_date,cause,follow"]) == 0
    assert capsys.readouterr().err == ""


def test_one_leak_is_one_line_with_its_option(capsys):
    write_leaky()
    assert main(["fit", "people.csv", *FIT, "--held-out", "0", "--drop", "name,death_date,follow", "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert notes[0] == (
        "column 'cause' may give the outcome away: it says in every row whether the event came. If it is not known "
        "when predictions are made, leave it out by --drop name,death_date,follow,cause."
    )


def test_names_are_left_out_shown_and_not_needed_later(capsys):
    frame = leaky_frame().drop(columns=["death_date", "cause", "follow"])
    frame.loc[[1, 2], "name"] = frame.loc[0, "name"]
    frame.to_csv("people.csv", index=False)
    assert main(["fit", "people.csv", *FIT, "--held-out", "0"]) == 0
    out, err = capsys.readouterr()
    assert "name      left out: text that differs in most rows, as names and notes do" in out
    assert "column 'name'. To use it as a category all the same, give --categorical name." in err
    assert main(["info", "people.aldsurv"]) == 0
    assert "name      left out: text that differs in most rows, as names and notes do" in capsys.readouterr().out
    assert aldsurv.load("people.aldsurv").features_.width == 13
    frame.drop(columns="name").to_csv("others.csv", index=False)
    for command in (["predict"], ["evaluate"]):
        assert main([*command, "people.aldsurv", "others.csv"]) == 0
        capsys.readouterr()
    model = aldsurv.load("people.aldsurv")
    assert model.predict(frame.drop(columns=["name", "months", "status"])).shape == (120,)
    assert main(["fit", "people.csv", *FIT, "--held-out", "0", "--categorical", "name"]) == 0
    assert "name      category: " in capsys.readouterr().out
