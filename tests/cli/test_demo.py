from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sksurv.metrics import concordance_index_censored, integrated_brier_score

import aldsurv
from aldsurv import datasets, metrics
from aldsurv.cli.main import main

PNG = b"\x89PNG\r\n\x1a\n"
PERSON_ROWS = [
    "age",
    "positive nodes",
    "tumour size",
    "hormonal therapy",
    "predicted median",
    "80 % interval",
    "event-free at 24",
    "event-free at 60",
    "what happened",
]


def columns(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> tuple[str, Path]:
    """What one run of the demo says, and the folder in which it was run."""
    folder = tmp_path_factory.mktemp("text")
    told, error = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as here, contextlib.redirect_stdout(told), contextlib.redirect_stderr(error):
        here.chdir(folder)
        here.setenv("COLUMNS", "80")
        assert main(["demo"]) == 0
    assert error.getvalue() == ""
    return told.getvalue(), folder


def test_text(shown) -> None:
    text, folder = shown
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Rotterdam and German breast cancer study")
    head = lines.index("Five of them, in months") + 1
    assert columns(lines[head]) == [f"person {k}" for k in range(1, 6)]
    body = lines[head + 1 : head + 1 + len(PERSON_ROWS)]
    assert [columns(line)[0] for line in body] == PERSON_ROWS
    assert all(len(columns(line)) == 6 for line in body)
    assert len({len(line) for line in [lines[head], *body]}) == 1
    picture, model = (folder / columns(line)[1] for line in lines[-2:])
    assert picture.read_bytes().startswith(PNG)
    assert sorted(entry.name for entry in picture.parent.iterdir()) == ["gbsg.aldsurv", "survival.png"]
    assert model == folder / "demo" / "gbsg.aldsurv"


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    """What one run of the demo tells a program."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        assert main(["demo", "--json", "--out", str(tmp_path_factory.mktemp("demo"))]) == 0
    return json.loads(told.getvalue())


def test_json_agrees_with_other_libraries(found) -> None:
    train, test = datasets.load("gbsg").split(seed=0)
    assert found["train"]["rows"] == len(train) == 1785
    assert found["test"]["events"] == int(test.y.event.sum())
    model = aldsurv.load(found["model"])
    frame = pd.DataFrame(test.x, columns=test.feature_names)
    predicted = model.predict_distribution(frame)
    event, time = test.y.event, test.y.time
    held = found["held_out"]
    end = np.quantile(train.y.time, 0.8, method="inverted_cdf")
    c = concordance_index_censored(event, time, -predicted.restricted_mean(end))[0]
    assert held["harrell_c"] == pytest.approx(c, abs=1e-9)
    assert 0.62 < c < 0.75
    grid = np.linspace(*np.quantile(train.y.time, [0.1, 0.9]), 100)
    sides = [part.y.to_structured() for part in (train, test)]
    expected = integrated_brier_score(*sides, predicted.survival(grid), grid)
    given = predicted, test.y
    assert metrics.integrated_brier_score(*given, train=train.y, ties="scikit-survival") == pytest.approx(
        expected, abs=1e-9
    )
    assert held["ibs"] == pytest.approx(metrics.integrated_brier_score(*given, train=train.y), abs=1e-9)
    likelihood = np.where(event, np.log(np.diag(predicted.density(time))), np.log(np.diag(predicted.survival(time))))
    assert held["log_likelihood"] == pytest.approx(likelihood.mean(), abs=1e-9)
    assert held["cal_s_slope"] == pytest.approx(1.0, abs=0.2)

    medians = [person["median"] for person in found["people"]]
    assert medians == sorted(medians)
    for person in found["people"]:
        same = (frame[test.feature_names] == [person[name] for name in test.feature_names]).all(axis=1)
        row = int(np.flatnonzero(same & np.isclose(time, person["time"]))[0])
        assert event[row] == person["event"]
        own = model.predict_distribution(frame.iloc[[row]])
        assert own.median()[0] == pytest.approx(person["median"], rel=1e-9)
        assert own.cdf(person["interval_80"])[0] == pytest.approx([0.1, 0.9], abs=1e-9)
        assert own.survival(24)[0] == pytest.approx(person["event_free_24"], abs=1e-12)


def test_another_run_tells_people_the_same(found, shown) -> None:
    text, folder = shown
    places = found["model"], folder / "demo" / "gbsg.aldsurv"
    first, second = (aldsurv.load(path).fitted_.weights for path in places)
    assert all(array.tobytes() == second[name].tobytes() for name, array in first.items())
    lines = {columns(line)[0]: columns(line)[1:] for line in text.splitlines() if line}
    assert lines["event-free at 24"] == [f"{100 * person['event_free_24']:.0f} %" for person in found["people"]]
    end = found["follow_up"]
    medians = [f"{p['median']:.0f}" if p["median"] <= end else f">{end:.0f}" for p in found["people"]]
    assert lines["predicted median"] == medians


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., int]:
    """The exit code of a demo that says nothing but why not, in one line."""

    def code(*words: str) -> int:
        ended = main(["demo", *words])
        told = capsys.readouterr()
        assert told.out == ""
        assert re.fullmatch(r"aldsurv: error: [^\n]+\n", told.err)
        return ended

    return code


def test_file_in_the_way(refused, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for place in ("taken", "taken/below"):
        assert refused("--out", str(tmp_path / place)) == 2
    (tmp_path / "out" / "survival.png").mkdir(parents=True)
    assert refused("--out", str(tmp_path / "out"), "--json") == 2
    assert (tmp_path / "taken").read_text() == "mine"
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["survival.png"]


def test_place_that_cannot_be_written(refused, tmp_path: Path) -> None:
    place = tmp_path / "closed"
    place.mkdir(mode=0o555)
    if os.access(place, os.W_OK):
        # Permissions do not bind the superuser; the tree of processes takes no folders from anybody.
        place = Path("/proc/closed")
    if not place.parent.exists():
        pytest.skip("no place here that cannot be written")
    assert refused("--out", str(place)) == 1
    assert refused("--out", str(place / "below")) == 1
