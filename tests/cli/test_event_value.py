"""The value that is the event, on the command line: listed with counts, matched only after saying so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.cli.main import main as run

FIT = ["fit", "t.csv", "--time", "t", "--event", "e", "--model", "cox", "--held-out", "0"]


def table(values: list[str], seed: int = 0) -> None:
    """80 rows, the values of the event in turn."""
    rng = np.random.default_rng(seed)
    rows = [f"{rng.normal():.3f},{rng.exponential() + 0.1:.3f},{values[row % len(values)]}" for row in range(80)]
    Path("t.csv").write_text("\n".join(["x,t,e", *rows, ""]))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_values_are_listed_with_their_rows(capsys):
    table(["dead", "alive", "alive", "lost"])
    assert run(FIT) == 2
    assert capsys.readouterr().err == (
        "aldsurv: error: 't.csv': event must be True/False or 0/1, but it holds 'dead' (20 rows), 'alive' (40 rows), "
        "'lost' (20 rows) (column 'e'). Name the value that is the event, such as --event-value 'dead'.\n"
    )
    assert run([*FIT, "--event-value", "gone"]) == 2
    assert "--event-value 'gone' does not occur in event, which holds 'dead' (20 rows)" in capsys.readouterr().err


def test_case_and_spaces_are_ignored_only_after_saying_so(capsys):
    table(["dead ", "alive", "DEAD", "alive"])
    assert run([*FIT, "--event-value", "Dead"]) == 0
    output = capsys.readouterr()
    note = "column 'e': 'dead ' (20 rows), 'DEAD' (20 rows) count as 'Dead', which does not occur itself"
    assert note in output.err
    assert "40 events (50 %)" in output.out
    # The model knows the value as it was named.
    assert run(["evaluate", "t.aldsurv", "t.csv", "--bootstrap", "0"]) == 0
    assert note in capsys.readouterr().err
    assert run([*FIT, "--event-value", "DEAD"]) == 0
    output = capsys.readouterr()
    assert "40 events (50 %)" in output.out
    assert "column 'e': 'dead ' (20 rows) counts as 'DEAD', too: only capital letters and spaces differ." in output.err


def test_a_column_of_censoring_is_noticed(capsys):
    table(["1", "0"])
    text = Path("t.csv").read_text().replace("x,t,e", "x,t,is_censored")
    Path("t.csv").write_text(text)
    words = ["is_censored" if word == "e" else word for word in FIT]
    note = "column 'is_censored' is named like one of censoring, and 1 is taken for the event"
    assert run(words) == 0
    assert note in capsys.readouterr().err
    assert run([*words, "--event-value", "0"]) == 0
    assert note not in capsys.readouterr().err


def test_yes_and_no(capsys):
    table(["Yes", "no", "no"])
    assert run(FIT) == 0
    assert "column 'e': 'Yes' (27 rows) counts as the event, for no value was named" in capsys.readouterr().err


def test_causes_are_matched_likewise(capsys):
    table(["Relapse", "death ", "none", "none"])
    words = [*FIT[:-4], "--model", "cause_specific_cox", "--held-out", "0"]
    assert run([*words, "--event-values", "relapse,death"]) == 0
    error = capsys.readouterr().err
    assert "'Relapse' (20 rows) counts as 'relapse', which does not occur itself" in error
    assert "'death ' (20 rows) counts as 'death'" in error
    model = aldsurv.load("t.aldsurv")
    assert model.causes_ == ("relapse", "death")
    assert model.trained_on_.outcome["event_values"] == "relapse=relapse,death=death,none=censored"
    assert run(["evaluate", "t.aldsurv", "t.csv", "--bootstrap", "0"]) == 0
    # A new value is noticed.
    table(["Relapse", "death ", "none", "gone"])
    assert run(["evaluate", "t.aldsurv", "t.csv", "--bootstrap", "0"]) == 2
    assert "does not name 'gone'" in capsys.readouterr().err
