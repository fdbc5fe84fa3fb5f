"""Covariates that change on the command line: ``--id``, ``--start`` and ``--stop``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import aldsurv
from aldsurv import metrics
from aldsurv.cli.main import main
from aldsurv.datasets import read_table
from aldsurv.distributions.wrappers.covariate_path import along_paths

OUTCOME = ["--id", "who", "--start", "from", "--stop", "to", "--event", "died"]
EXACT = ["--digits", "17"]
ROLES = {"id": "who", "start": "from", "stop": "to", "event": "died"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of episodes and a model of it."""
    place = tmp_path_factory.mktemp("episodes")
    rng = np.random.default_rng(0)
    lines = ["who,from,to,died,age,treated"]
    for who in range(90):
        age, cut, lost = rng.normal(60, 10), rng.uniform(1, 5), rng.uniform(2, 12)
        time = 0.1 + rng.exponential(6 * np.exp(-(age - 60) / 10))
        stop, died = min(time, lost), int(time <= lost)
        if cut < stop:
            lines += [f"p{who},0,{cut:.4f},0,{age:.2f},no", f"p{who},{cut:.4f},{stop:.4f},{died},{age:.2f},yes"]
        else:
            lines.append(f"p{who},0,{stop:.4f},{died},{age:.2f},no")
    (place / "visits.csv").write_text("\n".join(lines) + "\n")
    words = ["fit", str(place / "visits.csv"), *OUTCOME, "--model", "cox", "--out", str(place / "m.aldsurv")]
    assert main([*words, "--quiet"]) == 0
    return place


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_the_model_remembers_the_roles():
    model = aldsurv.load("m.aldsurv")
    assert model.trained_on_.outcome == ROLES
    assert model.trained_on_.persons == 90
    assert list(model.feature_names_in_) == ["age", "treated"]


def test_evaluate_counts_people(capsys):
    facts = json.loads(run(capsys, "evaluate", "m.aldsurv", "visits.csv", "--json", "--bootstrap", "0"))
    table, model = read_table("visits.csv", **ROLES), aldsurv.load("m.aldsurv")
    predicted, persons = along_paths(model.predict_distribution(table.x), table.y)
    scores = metrics.evaluate(predicted, persons, train=persons)
    assert facts["rows"] == 90
    assert facts["metrics"]["ibs"]["value"] == pytest.approx(scores["ibs"])
    groups = ("--group", "treated", "--bootstrap", "0", "--quiet")
    lines = run(capsys, "evaluate", "m.aldsurv", "visits.csv", *groups).splitlines()
    # Nobody is treated in the first episode.
    assert [line.split()[:2] for line in lines if line.startswith("no ")][-1] == ["no", "90"]
    train = ("--train", "visits.csv")
    again = json.loads(run(capsys, "evaluate", "m.aldsurv", "visits.csv", "--json", "--bootstrap", "0", *train))
    assert again["metrics"]["ibs"] == facts["metrics"]["ibs"]


def test_predict_gives_one_row_per_person_along_its_path(capsys):
    rows = [
        "p1,3,5,50,yes",
        "p2,0,4,61,no",
        "p1,0,3,50,no",
    ]
    Path("new.csv").write_text("\n".join(["who,from,to,age,treated", *rows]) + "\n")
    out = run(capsys, "predict", "m.aldsurv", "new.csv", "--times", "2,4", "--quiet", "--keep", "treated", *EXACT)
    lines = list(csv.DictReader(io.StringIO(out)))
    assert [(line["who"], line["treated"]) for line in lines] == [("p1", "yes"), ("p2", "no")]
    x = {"age": np.array([50.0, 61.0, 50.0]), "treated": np.array(["yes", "no", "no"], object)}
    expected = aldsurv.load("m.aldsurv").predict_path(x, ["p1", "p2", "p1"], [3, 0, 0], [5, 4, 3]).survival([2.0, 4.0])
    assert_allclose([[float(line["survival_2"]), float(line["survival_4"])] for line in lines], expected)
    given = run(capsys, "predict", "m.aldsurv", "new.csv", "--times", "6", "--quiet", "--given-survived", "to", *EXACT)
    now = [float(line["survival_6"]) for line in csv.DictReader(io.StringIO(given))]
    path = aldsurv.load("m.aldsurv").predict_path(x, ["p1", "p2", "p1"], [3, 0, 0], [5, 4, 3])
    assert_allclose(now, path.conditional([5.0, 4.0]).survival(6.0))


def test_rows_without_episodes_stand_for_themselves(capsys):
    Path("rows.csv").write_text("age,treated\n50,no\n50,yes\n")
    assert len(run(capsys, "predict", "m.aldsurv", "rows.csv", "--quiet").splitlines()) == 3


@pytest.mark.usefixtures("quick_report")
def test_a_report_has_one_row_per_person(capsys):
    facts = json.loads(run(capsys, "report", "m.aldsurv", "visits.csv", "--json", "--people", "1"))
    assert facts["rows"] == 90
    page = Path("report.html").read_text()
    assert "90 persons in" in page


BAD = {
    "twice at once": (["a,0,3,0,1,no", "a,2,5,1,2,no"], "--start must not be before", "line 3"),
    "gap": (["a,0,3,0,1,no", "a,4,5,1,2,no"], "(0, 3] and (4, 5]", "line 3"),
    "no time": (["a,0,3,0,1,no", "a,3,3,1,2,no"], "--stop must be after start", "line 3"),
    "event first": (["a,0,3,1,1,no", "a,3,5,1,2,no"], "in the last episode", "line 2"),
    "no person": ([",0,3,0,1,no", "a,3,5,1,2,no"], "--id must be known", "line 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_episodes_are_one_line(case, capsys):
    rows, problem, place = BAD[case]
    Path("bad.csv").write_text("\n".join(["who,from,to,died,age,treated", *rows, "b,0,4,1,3,yes"]) + "\n")
    assert main(["fit", "bad.csv", *OUTCOME, "--out", "bad.aldsurv"]) == 2
    done = capsys.readouterr()
    lines = done.err.strip().splitlines()
    assert len(lines) == 1
    assert problem in lines[0]
    assert place in lines[0]
    assert "'bad.csv'" in lines[0]
    assert "gaps=" not in lines[0]
    assert not Path("bad.aldsurv").exists()


def test_a_path_with_a_gap_cannot_be_predicted(capsys):
    Path("gap.csv").write_text("who,from,to,age,treated\np1,0,3,50,no\np1,4,5,50,yes\n")
    assert main(["predict", "m.aldsurv", "gap.csv"]) == 2
    assert "id 'p1' has (0, 3] and (4, 5]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--start", "from", "--stop", "to", "--event", "died"], "--id is missing"),
        (["--id", "who", "--start", "from", "--event", "died"], "--stop is missing"),
        ([*OUTCOME, "--time", "age"], "--time is none of them"),
    ],
)
def test_columns_that_do_not_go_together(words, problem, capsys):
    assert main(["fit", "visits.csv", *words]) == 2
    assert problem in capsys.readouterr().err
