"""``aldsurv update``: what it writes, what it says, and that errors leave nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from models.updating.places import place

import aldsurv
from aldsurv import CauseSpecificCox, SurvivalData, WeibullAFT
from aldsurv.cli.main import main


def write(path, n, seed, **shift):
    x, y = place(n, seed, **shift)
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(months=y.time, died=np.where(y.event, "yes", "no"))
    frame.to_csv(path, index=False)
    return frame


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    x, y = place(800, 0)
    model = WeibullAFT(unit="months").fit(dict(zip("abc", x.T, strict=True)), y)
    model.set_outcome_columns({"time": "months", "event": "died", "event_value": "yes"})
    model.save("m.aldsurv")
    return tmp_path


def test_what_it_says_and_writes(capsys):
    frame = write("new.csv", 200, 1, log_factor=1.0)
    assert main(["update", "m.aldsurv", "new.csv", "--out", "u.aldsurv"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    events = (frame.died == "yes").sum()
    lines = out.splitlines()
    assert lines[0] == f"m.aldsurv on new.csv: 200 rows, {events} events"
    assert [line.split()[0] for line in lines[3:9]] == ["none", "intercept", "slope", "levels", "last_layer", "refit"]
    assert lines[4].endswith("better than none")
    said = " ".join(out.split())
    assert "Chosen: intercept. All hazards are multiplied by one factor, " in said
    assert "more likely than the smaller change by more than noise. No larger change is better beyond noise." in said
    assert said.endswith("Written to u.aldsurv.")
    model = aldsurv.load("u.aldsurv")
    assert (model.rung, model.ancestry_[0].source, model.ancestry_[0].events) == ("intercept", "m.aldsurv", events)
    # The updated model is one for every other command, and knows its outcome and its ancestry.
    assert main(["evaluate", "u.aldsurv", "new.csv", "--bootstrap", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "UpdatedSurvival"
    assert main(["info", "u.aldsurv"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Updated WeibullAFT rung intercept hazards times" in shown
    assert f"weibull_aft of m.aldsurv ({model.ancestry_[0].digest[:12]}), updated by intercept on 200 rows" in shown
    assert main(["update", "u.aldsurv", "new.csv", "--rung", "none", "--out", "again.aldsurv", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["info", "again.aldsurv", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["model"], facts["class"], facts["unit"]) == ("updated", "UpdatedSurvival", "months")
    assert [step["rung"] for step in facts["ancestry"]] == ["intercept", "none"]
    assert main(["info", "m.aldsurv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ancestry"] == []


def test_json_and_other_names_of_columns(capsys):
    frame = write("new.csv", 150, 2).rename(columns={"months": "t", "died": "e"})
    frame.to_csv("other.csv", index=False)
    options = ["--time", "t", "--event", "e", "--event-value", "yes"]
    assert main(["update", "m.aldsurv", "other.csv", *options, "--rung", "refit", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["rung"], facts["out"], facts["rows"]) == ("refit", "m-updated.aldsurv", 150)
    assert [score["verdict"] for score in facts["rungs"]] == ["start", "named"]
    assert facts["rungs"][1]["standard_error"] > 0
    # A model that was fitted again knows the outcome of the table it was fitted to.
    assert dict(aldsurv.load("m-updated.aldsurv").trained_on_.outcome)["time"] == "t"
    assert main(["update", "m.aldsurv", "other.csv", *options, "--rung", "slope", "--quiet"]) == 0
    assert dict(aldsurv.load("m-updated.aldsurv").trained_on_.outcome)["time"] == "months"


def test_the_last_layer_by_name(capsys):
    write("new.csv", 150, 5, coefficients=np.array([-0.8, -0.5, 0.4]))
    assert main(["update", "m.aldsurv", "new.csv", "--rung", "last_layer", "--out", "l.aldsurv"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Chosen: last_layer. The last layer was learned from the new table, pulled towards what it was." in said
    model = aldsurv.load("l.aldsurv")
    assert (model.rung, model.ancestry_[0].rung, model.trained_on_.rows) == ("last_layer", "last_layer", 150)
    assert main(["evaluate", "l.aldsurv", "new.csv", "--bootstrap", "0", "--json"]) == 0


def test_few_events_say_so(capsys):
    write("few.csv", 42, 3)
    assert main(["update", "m.aldsurv", "few.csv"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Chosen: none. The model stays as it is." in said
    few = "slope (from 40 on), levels (from 80 on), last_layer (from 70 on), refit (from 100 on)."
    assert f"Too few events to try {few}" in said


def test_errors_are_one_line_and_write_nothing(capsys, folder):
    frame = write("new.csv", 60, 4)
    frame.assign(died="no").to_csv("none.csv", index=False)
    frame.drop(columns="b").to_csv("short.csv", index=False)
    causes = SurvivalData.competing(frame.months.to_numpy(), np.arange(60) % 3)
    model = CauseSpecificCox().fit({name: frame[name].to_numpy() for name in "abc"}, causes)
    model.set_outcome_columns({"time": "months", "event": "died"})
    model.save("causes.aldsurv")
    before = sorted(folder.iterdir())
    for arguments, message in (
        (["m.aldsurv", "absent.csv"], "there is no file"),
        (["absent.aldsurv", "new.csv"], "there is no file"),
        (["m.aldsurv", "none.csv"], "does not occur in event"),
        (["m.aldsurv", "short.csv"], "'b'"),
        (["causes.aldsurv", "new.csv", "--event-value", "yes"], "only models of one event can be updated"),
        (["m.aldsurv", "new.csv", "--rung", "top"], "--rung"),
        (["m.aldsurv", "new.csv", "--seed", "-1"], "--seed must be"),
        (["m.aldsurv", "new.csv", "--out", "m.aldsurv"], "m.aldsurv"),
    ):
        assert main(["update", *arguments]) == 2, arguments
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err
        assert len(err.splitlines()) == 1
    assert sorted(folder.iterdir()) == before
