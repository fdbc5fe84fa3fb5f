"""What ``aldsurv check`` shows of a table, and that the command it suggests runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import lifelines.datasets
import numpy as np
import pandas as pd
import pytest
from lifelines import KaplanMeierFitter

from aldsurv.cli.main import main
from cli.check.leaky_tables import leaky_frame, write_leaky

LIFELINES = Path(lifelines.datasets.__file__).parent


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(["check", *map(str, arguments)]) == code
    return capsys.readouterr()


def facts(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:
    return json.loads(checked(capsys, *arguments, "--json", code=code)[0])


def section(text: str, heading: str) -> list[str]:
    block = next(block for block in text.split("\n\n") if block.startswith(heading))
    return block.splitlines()[1:]


def test_a_table_with_leaks(capsys):
    out, err = checked(capsys, write_leaky(), "--time", "months", "--event", "status", "--event-value", "dead")
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert out.splitlines()[0] == "people.csv: 120 rows, 8 columns (text, delimiter comma, decimal point, utf-8)"
    columns = section(out, "Columns")
    assert "  name        left out: text that differs in every row, as an identifier does;" in columns
    hospitals = "  hospital    category: hospital 0, hospital 1, hospital 10, hospital 11,"
    assert hospitals in columns
    assert any(line.startswith("  age         number, ") and "such as" in line for line in columns)
    frame = leaky_frame()
    dead = int((frame["status"] == "dead").sum())
    outcome = section(out, "Outcome")
    assert f"  values     alive in {120 - dead} rows, dead in {dead} rows; dead is the event" in outcome
    assert any(line.startswith(f"  events     {dead} of 120 rows (") for line in outcome)
    notes = " ".join(" ".join(section(out, "Look at")).split())
    for name in ("death_date", "cause", "follow"):
        assert f"column '{name}' may give the outcome away" in notes
    assert "column 'age'" not in notes
    assert "column 'hospital'" not in notes
    assert "leave them out by --drop death_date,cause,follow." in notes
    command = " ".join(section(out, "Next")).replace("\\", "")
    assert shlex.split(command) == [
        *(["aldsurv", "fit", "people.csv", "--time", "months", "--event", "status", "--event-value", "dead"]),
        *("--drop", "death_date,cause,follow"),
    ]


def test_the_suggested_command_runs(capsys):
    write_leaky()
    command = shlex.split(facts(capsys, "people.csv")["next"])
    assert command[:2] == ["aldsurv", "fit"]
    assert main([*command[1:], "--model", "cox", "--held-out", "0"]) == 0
    _, err = capsys.readouterr()
    assert "give the outcome away" not in err


def test_nothing_is_written(capsys, folder):
    checked(capsys, write_leaky())
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


GUESSES = {
    "rossi.csv": {"time": "week", "event": "arrest"},
    "gbsg2.csv": {"time": "time", "event": "cens"},
    "lung.csv": {"time": "time", "event": "status"},
    "larynx.csv": {"time": "time", "event": "death"},
    "kidney_transplant.csv": {"time": "time", "event": "death"},
    "lymphoma.csv": {"time": "Time", "event": "Censor"},
    "psychiatric_patients.csv": {"time": "T", "event": "C"},
    "regression.csv": {"time": "T", "event": "E"},
    "stanford_heart.csv": {"event": "event", "id": "id", "start": "start", "stop": "stop"},
    "interval_diabetes.csv": {"lower": "left", "upper": "right"},
    "canadian_senators.csv": {"time": "diff_days", "event": "observed"},
    "dd.csv": {"time": "duration", "event": "observed"},
}


@pytest.mark.parametrize("name", GUESSES)
def test_the_outcome_of_real_tables_is_guessed(name, capsys):
    found = facts(capsys, LIFELINES / name)
    assert {role: found["outcome"][role] for role in GUESSES[name]} == GUESSES[name]
    assert found["guessed"] != []
    assert found["problem"] is None
    frame = pd.read_csv(LIFELINES / name)
    assert found["rows"] == len(frame)
    gaps = {column["name"]: column["gaps"] for column in found["columns"] if column["kind"] == "number"}
    assert gaps == {name: int(frame[name].isna().sum()) for name in gaps}


def test_the_outcome_is_summed_up_as_by_lifelines(capsys):
    summary = facts(capsys, LIFELINES / "lung.csv")["summary"]
    lung = pd.read_csv(LIFELINES / "lung.csv")
    died = lung["status"] == 1
    _, counts = np.unique(lung["time"][died], return_counts=True)
    assert summary["events"] == died.sum()
    assert summary["censored"] == (~died).sum()
    assert summary["tied_events"] == counts[counts > 1].sum()
    assert summary["median_time"] == np.median(lung["time"])
    assert summary["at_time_0"] == 0
    follow_up = KaplanMeierFitter().fit(lung["time"], ~died).median_survival_time_
    assert summary["median_follow_up"] == pytest.approx(follow_up)


def test_names_fill_up_what_was_given(capsys):
    found = facts(capsys, LIFELINES / "rossi.csv", "--event", "arrest")
    assert found["outcome"] == {"time": "week", "event": "arrest"}
    assert found["guessed"] == ["time"]


def test_a_table_without_an_outcome_is_shown(capsys):
    Path("t.csv").write_text("age,grade\n" + "".join(f"{50 + k},{'I' * (k % 3 + 1)}\n" for k in range(9)))
    out, _ = checked(capsys, "t.csv")
    assert "not named, and not clear from the names of the columns" in out
    assert "aldsurv fit t.csv --time COLUMN --event COLUMN" in out


def test_two_valued_columns_are_named_as_possible_events(capsys):
    Path("t.csv").write_text("months,gone\n" + "".join(f"{k + 1},{k % 2}\n" for k in range(9)))
    out, _ = checked(capsys, "t.csv")
    assert "  --time may be months" in out
    assert "  --event may be gone" in out


def test_columns_that_fit_refuses_are_named_with_what_to_do(capsys):
    rows = [f"{k % 7 if k % 5 else 'unknown'},2020-01-{k % 28 + 1:02d},{k + 1},{k % 2}\n" for k in range(40)]
    Path("t.csv").write_text("lab,visit,time,event\n" + "".join(rows))
    found = facts(capsys, "t.csv")
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds["lab"] == "refused"
    assert "--missing unknown" in found["next"]
    assert any(
        note.startswith("fit stops at this: the column holds numbers mixed with text") for note in found["notes"]
    )
    assert main([*shlex.split(found["next"])[1:], "--model", "cox", "--held-out", "0"]) == 0


def test_two_dates_are_guessed_and_dates_left_out(capsys):
    days = pd.date_range("2015-01-01", periods=60, freq="9D")
    later = days + pd.to_timedelta(np.arange(60) * 7 % 400 + 1, "D")
    frame = pd.DataFrame({"age": np.arange(60) % 23, "diagnosis": days, "last_seen": later, "died": np.arange(60) % 2})
    frame["death_date"] = frame["last_seen"].where(frame["died"] == 1)
    frame.to_csv("t.csv", index=False, date_format="%d.%m.%Y")
    found = facts(capsys, "t.csv", "--unit", "weeks")
    assert found["outcome"] == {"start": "diagnosis", "end": "last_seen", "event": "died", "unit": "weeks"}
    assert found["summary"]["last_time"] == pytest.approx((later - days).days.max() / 7)
    assert found["columns"][-1]["use"] == "left out: dates"
    assert any("column 'death_date' may give the outcome away" in note for note in found["notes"])
    assert main([*shlex.split(found["next"])[1:], "--model", "cox", "--held-out", "0"]) == 0


def test_how_the_table_is_written_can_be_named(capsys):
    Path("t.csv").write_text(
        "größe;time;event\n" + "".join(f"1,{k % 9};{k + 1};{k % 2}\n" for k in range(40)), "latin-1"
    )
    found = facts(capsys, "t.csv", "--encoding", "latin-1", "--decimal", ",", "--delimiter", ";")
    assert found["written"] == "text, delimiter semicolon, decimal comma, latin-1"
    words = shlex.split(found["next"])
    assert words[words.index("--encoding") + 1] == "latin-1"
    assert words[words.index("--delimiter") + 1] == ";"
    assert found["columns"][0]["kind"] == "number"


def test_one_column_may_be_several(capsys):
    Path("t.csv").write_text("a b c\n1 2 3\n4 5 6\n")
    assert "name what is between them by --delimiter" in " ".join(checked(capsys, "t.csv")[0].split())


def test_wide_tables_are_cut_short(capsys):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(40, 300)).round(3), columns=[f"g{k}" for k in range(300)])
    frame["time"], frame["event"] = generator.exponential(size=40), np.arange(40) % 2
    frame.to_csv("t.csv", index=False)
    out, _ = checked(capsys, "t.csv")
    assert section(out, "Columns")[19].startswith("  g19 ")
    assert section(out, "Columns")[20] == "  … and 282 more: 280 number, 2 outcome"
    assert "20 events for 300 columns of numbers" in out
    assert len(facts(capsys, "t.csv")["columns"]) == 302


@pytest.mark.parametrize("width", ["20", "40", "80"])
def test_lines_fit_the_terminal(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    out, _ = checked(capsys, LIFELINES / "lung.csv")
    # A path is not broken.
    lines = [line for line in out.splitlines() if str(LIFELINES) not in line]
    assert max(map(len, lines)) <= int(width) + (4 if width == "20" else 0)


def test_several_values_may_be_causes(capsys):
    Path("t.csv").write_text("x,time,status\n" + "".join(f"{k % 7},{k + 1},{k % 3}\n" for k in range(60)))
    found = facts(capsys, "t.csv")
    assert found["event_values"] == [{"value": k, "rows": 20} for k in range(3)]
    assert any("events of different kinds" in note for note in found["notes"])
    causes = facts(capsys, "t.csv", "--time", "time", "--event", "status", "--event-values", "1=relapse,2=death")
    assert causes["summary"]["causes"] == {"relapse": 20, "death": 20}


def test_copies_persons_and_events_at_time_0_are_noted(capsys):
    rows = [f"{k // 2},{k % 7},{k // 10},{k % 2}\n" for k in range(60)]
    Path("t.csv").write_text("patient_id,x,time,event\n" + "".join([*rows, rows[0]]))
    notes = " ".join(facts(capsys, "t.csv")["notes"])
    assert "1 row is an exact copy of another" in notes
    assert "name it by --id 'patient_id'" in notes
    assert "5 events at time 0" in notes


REFUSED = {
    "no such file": ([], "there is no file 'x.csv'"),
    "empty": (["x.csv", ""], "is empty"),
    "only a header": (["x.csv", "a,b\n"], "has a header but no rows"),
    "ragged": (["x.csv", "a,b\n1,2\n1,2,3\n"], "has 3 fields in line 3"),
    "the same name twice": (["x.csv", "a,a\n1,2\n3,4\n"], "has the column 'a' more than once"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_one_line(case, capsys):
    file, message = REFUSED[case]
    if file:
        Path(file[0]).write_text(file[1])
    out, err = checked(capsys, "x.csv", code=2)
    assert out == ""
    assert len(err.splitlines()) == 1
    assert message in err


def test_an_outcome_that_cannot_be_read_is_shown_with_its_values(capsys):
    write_leaky()
    out, err = checked(capsys, "people.csv", "--time", "name", "--event", "status", code=2)
    assert "alive in" in out
    assert "Next" not in out
    assert err.startswith("aldsurv: error: 'people.csv': time must be numbers")
    assert len(err.splitlines()) == 1
    found = facts(capsys, "people.csv", "--time", "months", "--event", "age", code=2)
    assert "event must be True/False or 0/1" in found["problem"]
    assert found["next"] is None
    _, err = checked(capsys, "people.csv", "--time", "month", code=2)
    assert "there is no column 'month'. Did you mean 'months'?" in err
