from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lifelines.datasets import load_gbsg2
from sksurv.metrics import concordance_index_censored, integrated_brier_score

import aldsurv
from aldsurv import SurvivalData
from aldsurv.cli.main import main

PNG = b"\x89PNG\r\n\x1a\n"
PERSON_ROWS = [
    "age",
    "positive nodes",
    "grade",
    "hormonal therapy",
    "predicted median",
    "80 % interval",
    "event-free at 24",
    "event-free at 60",
    "what happened",
]


def columns(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def test_text(run, tmp_path: Path) -> None:
    done = run("demo")
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("German Breast Cancer Study Group 2")
    head = lines.index("Five of them, in months") + 1
    assert columns(lines[head]) == [f"person {k}" for k in range(1, 6)]
    body = lines[head + 1 : head + 1 + len(PERSON_ROWS)]
    assert [columns(line)[0] for line in body] == PERSON_ROWS
    assert all(len(columns(line)) == 6 for line in body)
    assert len({len(line) for line in [lines[head], *body]}) == 1
    picture, model = (tmp_path / columns(line)[1] for line in lines[-2:])
    assert picture.read_bytes().startswith(PNG)
    assert sorted(entry.name for entry in picture.parent.iterdir()) == ["gbsg2.aldsurv", "survival.png"]
    assert model == tmp_path / "demo" / "gbsg2.aldsurv"


@pytest.fixture(scope="module")
def held_out(tmp_path_factory) -> tuple[dict, pd.DataFrame, pd.DataFrame, Path]:
    """What the demo says, and the rows it learned from and held out, read by another library."""
    place = tmp_path_factory.mktemp("demo")
    frame = load_gbsg2()
    frame["time"] /= 30.4375
    data = SurvivalData.right(frame["time"], frame["cens"])
    train, test = data.split_rows(0.2, random_state=0)
    return place, frame.iloc[train], frame.iloc[test]


def found_in(place: Path, capsys: pytest.CaptureFixture[str]) -> dict:
    assert main(["demo", "--json", "--out", str(place)]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_agrees_with_other_libraries(held_out, capsys) -> None:
    place, train, test = held_out
    found = found_in(place, capsys)
    assert found["train"]["rows"] == len(train) == 549
    assert found["test"]["events"] == int(test["cens"].sum())
    model = aldsurv.load(found["model"])
    covariates = ["age", "tsize", "pnodes", "progrec", "estrec", "horTh", "menostat", "tgrade"]
    predicted = model.predict_distribution(test[covariates])
    event, time = test["cens"].to_numpy(bool), test["time"].to_numpy()
    held = found["held_out"]
    c = concordance_index_censored(event, time, -predicted.median())[0]
    assert held["harrell_c"] == pytest.approx(c, abs=1e-9)
    assert 0.6 < c < 0.75
    grid = np.linspace(*np.quantile(train["time"], [0.1, 0.9]), 100)
    sides = [SurvivalData.right(part["time"], part["cens"]).to_structured() for part in (train, test)]
    assert held["ibs"] == pytest.approx(integrated_brier_score(*sides, predicted.survival(grid), grid), abs=1e-9)
    likelihood = np.where(event, np.log(np.diag(predicted.density(time))), np.log(np.diag(predicted.survival(time))))
    assert held["log_likelihood"] == pytest.approx(likelihood.mean(), abs=1e-9)
    assert held["cal_s_slope"] == pytest.approx(1.0, abs=0.2)

    medians = [person["median"] for person in found["people"]]
    assert medians == sorted(medians)
    for person in found["people"]:
        same = test[(test["age"] == person["age"]) & np.isclose(test["time"], person["time"])]
        assert bool(same["cens"].iloc[0]) == person["event"]
        own = model.predict_distribution(same[covariates])
        assert own.median()[0] == pytest.approx(person["median"], rel=1e-9)
        assert own.cdf(person["interval_80"])[0] == pytest.approx([0.1, 0.9], abs=1e-9)
        assert own.survival(24)[0] == pytest.approx(person["event_free_24"], abs=1e-12)


def test_the_same_every_time(held_out, capsys) -> None:
    place, *_ = held_out
    first, second = found_in(place, capsys), found_in(place, capsys)
    assert first["people"] == second["people"]
    assert first["held_out"] == second["held_out"]


def test_within_this_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert text.endswith(f"{tmp_path / 'gbsg2.aldsurv'}\n")
    found = found_in(tmp_path, capsys)
    lines = {columns(line)[0]: columns(line)[1:] for line in text.splitlines() if line}
    assert lines["event-free at 24"] == [f"{100 * person['event_free_24']:.0f} %" for person in found["people"]]
    end = found["follow_up"]
    shown = [f"{p['median']:.0f}" if p["median"] <= end else f">{end:.0f}" for p in found["people"]]
    assert lines["predicted median"] == shown


def assert_refused(done) -> None:
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(r"aldsurv: error: [^\n]+\n", done.stderr)


def test_file_in_the_way(run, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for place in ("taken", "taken/below"):
        assert_refused(run("demo", "--out", place))
    (tmp_path / "out" / "survival.png").mkdir(parents=True)
    assert_refused(run("demo", "--out", "out", "--json"))
    assert (tmp_path / "taken").read_text() == "mine"
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["survival.png"]


def test_place_that_cannot_be_written(run, tmp_path: Path) -> None:
    place = tmp_path / "closed"
    place.mkdir(mode=0o555)
    if os.access(place, os.W_OK):
        # Permissions do not bind the superuser; the tree of processes takes no folders from anybody.
        place = Path("/proc/closed")
    if not place.parent.exists():
        pytest.skip("no place here that cannot be written")
    assert_refused(run("demo", "--out", str(place)))
    assert_refused(run("demo", "--out", str(place / "below")))
