"""Outcomes and gaps written in ways that fit cannot take, or not at once: what ``aldsurv check`` says of them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aldsurv.cli.main import main

N = 60


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def frame() -> pd.DataFrame:
    generator = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "age": generator.normal(60, 9, N).round(1),
            "nodes": generator.poisson(3, N),
            "months": (generator.exponential(20, N) + 0.1).round(2),
            "died": (np.arange(N) % 3 > 0).astype(int),
        }
    )


def facts(capsys: pytest.CaptureFixture[str], path: str = "t.csv") -> dict:
    assert main(["check", path, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def written(table: pd.DataFrame) -> None:
    table.to_csv("t.csv", index=False)


def runs(command: str) -> bool:
    return main([*shlex.split(command)[1:], "--model", "cox", "--held-out", "0", "--quiet"]) == 0


def test_an_event_in_words_is_one_whatever_its_letters(capsys):
    words = np.where(
        frame()["died"] == 1, np.resize(["Dead ", "dead", "DEAD", "dead"], N), np.resize(["ALIVE", "alive"], N)
    )
    written(frame().drop(columns="died").assign(status=words))
    found = facts(capsys)
    assert (found["outcome"]["time"], found["outcome"]["event"]) == ("months", "status")
    assert found["outcome"]["event_value"].strip().lower() == "dead"
    assert found["summary"]["events"] == frame()["died"].sum()
    assert len(found["event_values"]) == 5
    (note,) = (note for note in found["notes"] if "capital" in note)
    assert ", too: only capital letters and spaces differ" in note
    # Two words in five ways are not causes.
    assert not any("--event-values" in note for note in found["notes"])
    assert runs(found["next"])


def test_a_column_of_censoring_has_its_event_at_0(capsys):
    written(frame().assign(censored=1 - frame()["died"]).drop(columns="died"))
    found = facts(capsys)
    assert found["outcome"]["event_value"] == "0"
    assert found["summary"]["events"] == frame()["died"].sum()
    assert runs(found["next"])


def test_numbers_in_place_of_gaps_are_noted(capsys):
    table = frame()
    table["nodes"] = table["nodes"].astype(object)
    table.loc[::7, "nodes"] = "unknown"
    table.loc[3::11, "age"] = -9
    written(table.assign(dose=np.where(np.arange(N) % 9 == 0, 999, 20), change=np.resize([-9, -3, 4, 5], N)))
    found = facts(capsys)
    assert "--missing unknown,-9,999" in found["next"]
    text = " ".join(found["notes"])
    assert "-9 in 6 rows of column 'age', whose other values are at least" in text
    assert "999 in 7 rows of column 'dose', whose other values are at most 20, may stand for a gap" in text
    assert "'change'" not in text
    assert "Name such text by --missing" in text
    assert runs(found["next"])


def test_three_rows_are_enough_for_a_guess(capsys):
    written(frame().head(3))
    found = facts(capsys)
    assert found["outcome"] == {"time": "months", "event": "died"}
    assert runs(found["next"])


DAYS = pd.to_datetime("2015-01-02") + pd.to_timedelta(np.arange(N) % 9, unit="D")
OBSTACLES = {
    "a gap in the times": ({"months": lambda table: table["months"].where(table.index != 4)}, "first nan (column"),
    "a negative time": ({"months": lambda table: table["months"].where(table.index != 4, -3)}, "first -3.0 (column"),
    "a gap in the events": ({"died": lambda table: table["died"].where(table.index != 4)}, "first nan (column"),
    "no event": ({"died": 0}, "has no event in 60 rows"),
    "unclear dates": (
        {"months": "x", "diagnosis": DAYS.strftime("%d/%m/%Y"), "last_seen": DAYS.strftime("%d/%m/2016")},
        "by --date-format: day-first, month-first, or as in %d.%m.%Y.",
    ),
}


@pytest.mark.parametrize("case", OBSTACLES)
def test_a_guess_that_cannot_be_read_says_why(case, capsys):
    change, problem = OBSTACLES[case]
    written(frame().assign(**change))
    found = facts(capsys)
    assert (found["outcome"], found["next"]) == (None, None)
    (note,) = (note for note in found["notes"] if "may be the outcome, but fit would stop" in note)
    assert problem in note


def test_sheets_are_named_by_their_option(capsys):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter("t.xlsx") as target:
        pd.DataFrame({"about": ["a", "b"]}).to_excel(target, sheet_name="Info", index=False)
        frame().to_excel(target, sheet_name="Rows", index=False)
    notes = facts(capsys, "t.xlsx")["notes"]
    assert "'t.xlsx' has 2 sheets, of which 'Info' is read; not read: 'Rows'. To read another, name it by --sheet." in (
        notes
    )
    assert not any("--delimiter" in note for note in notes)


def test_bounds_are_known_by_a_word_of_their_names(capsys):
    months = frame()["months"]
    written(
        frame()[["age"]].assign(
            lower_bound_days=months, upper_bound_days=months + 3, left_ear=1.0, right_ear=np.arange(N) + 2.0
        )
    )
    assert facts(capsys)["outcome"] == {"lower": "lower_bound_days", "upper": "upper_bound_days"}
