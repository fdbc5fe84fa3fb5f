"""Rows of one person on the command line: ``--id``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv import metrics
from aldsurv.cli.main import main
from aldsurv.datasets import read_table

OUTCOME = ["--time", "t", "--event", "e"]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def visits(path: str = "visits.csv", *, persons: int = 40, each: int = 4, name: str = "patient") -> Path:
    rng = np.random.default_rng(0)
    lines = [f"{name},age,t,e"]
    for who in range(persons):
        age = rng.normal(60, 10)
        for _ in range(each):
            time = rng.exponential(20 * np.exp(-(age - 60) / 10))
            lines.append(f"p{who},{age + rng.normal():.3f},{time:.4f},{int(rng.random() < 0.7)}")
    Path(path).write_text("\n".join(lines) + "\n")
    return Path(path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    assert main(list(words)) == 0
    done = capsys.readouterr()
    return done.out, done.err


def test_fit_evaluate_compare_and_report(capsys):
    visits()
    out, err = run(capsys, "fit", "visits.csv", *OUTCOME, "--id", "patient", "--model", "cox", "--out", "m.aldsurv")
    assert "160 rows of 40 persons (patient), kept together" in out
    assert "patient  persons, whose rows stay together" in out
    assert "--id" not in err
    model = aldsurv.load("m.aldsurv")
    assert model.trained_on_.outcome["id"] == "patient"
    assert model.trained_on_.groups == 40
    assert list(model.feature_names_in_) == ["age"]
    # The held-out rows and their limits are those of the library, person by person.
    table = read_table("visits.csv", time="t", event="e", group="patient")
    facts = json.loads(
        run(capsys, "evaluate", "m.aldsurv", "visits.csv", "--json", "--bootstrap", "50", "--group", "patient")[0]
    )
    scores = metrics.evaluate(model.predict_distribution(table.x), table.y, train=table.y, bootstrap=50, random_state=0)
    assert facts["metrics"]["ibs"]["lower"] == pytest.approx(scores["ibs"].lower)
    assert facts["summary"].endswith("40 groups")
    # A table without the column, and a model that was fitted without persons.
    Path("bare.csv").write_text("\n".join(line.split(",", 1)[1] for line in Path("visits.csv").read_text().split()))
    _, err = run(capsys, "evaluate", "m.aldsurv", "bare.csv", "--bootstrap", "0")
    assert "'bare.csv' has no column 'patient'" in err
    run(capsys, "fit", "bare.csv", *OUTCOME, "--model", "weibull_aft", "--held-out", "0", "--out", "w.aldsurv")
    out, _ = run(capsys, "compare", "w.aldsurv", "m.aldsurv", "visits.csv", "--bootstrap", "20", "--train", "bare.csv")
    assert "40 groups" in out
    assert main(["evaluate", "m.aldsurv", "bare.csv", "--id", "who"]) == 2
    assert "no column 'who'" in capsys.readouterr().err


def test_held_out_rows_are_of_other_persons(capsys, monkeypatch):
    from aldsurv.cli.fit import fit_run

    visits()
    sides = []

    def split(table, share, seed, notes):
        sides.extend(table.split(share, random_state=seed))
        return sides[0], sides[1]

    monkeypatch.setattr(fit_run, "split_table", split)
    words = ["fit", "visits.csv", *OUTCOME, "--id", "patient", "--model", "weibull_aft", "--json"]
    facts = json.loads(run(capsys, *words, "--tune", "2")[0])
    assert facts["persons"] == 40
    assert facts["held_out"]["rows"] == len(sides[1])
    assert 24 <= len(sides[1]) <= 40
    assert not set(sides[0].y.group) & set(sides[1].y.group)


def test_few_persons(capsys):
    visits(persons=3, each=30)
    _, err = run(capsys, "fit", "visits.csv", *OUTCOME, "--id", "patient", "--model", "cox", "--out", "m.aldsurv")
    assert "all held-out rows are of one person" in err
    _, err = run(capsys, "evaluate", "m.aldsurv", "visits.csv")
    assert "only 3 persons with weight: too few to resample" in err
    visits(persons=1, each=50)
    assert main(["fit", "visits.csv", *OUTCOME, "--id", "patient", "--model", "cox"]) == 2
    assert capsys.readouterr().err.startswith("aldsurv: error: all 50 rows are of one group")


def test_missing_persons_are_named_by_their_line(capsys):
    path = visits()
    path.write_text(path.read_text().replace("\np0,", "\n,", 1))
    assert main(["fit", "visits.csv", *OUTCOME, "--id", "patient", "--model", "cox"]) == 2
    error = capsys.readouterr().err
    assert "--id must be known in every row, but 1 of 160 values is not" in error
    assert "(column 'patient', line 2)" in error


@pytest.mark.parametrize(("name", "noted"), [("subject_id", True), ("PATIENT", True), ("site", False)])
def test_a_column_that_may_name_persons_is_pointed_out(capsys, name, noted):
    path = visits(name=name)
    path.write_text(path.read_text().replace("\np", "\n"))
    _, err = run(capsys, "fit", "visits.csv", *OUTCOME, "--model", "cox", "--held-out", "0")
    assert (f"column '{name}' has 40 different values in 160 rows" in err) is noted
