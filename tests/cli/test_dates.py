"""Two dates in place of a time, on the command line."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

import aldsurv
from aldsurv.cli.main import main as run

DATES = ["--start", "diagnosis", "--end", "last_seen", "--event", "died"]
COX = ["--model", "cox", "--held-out", "0"]


def dated_rows(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    start = [datetime.date(2010, 1, 1) + datetime.timedelta(int(days)) for days in rng.integers(0, 2000, 80)]
    days = rng.integers(1, 3000, 80)
    return pd.DataFrame(
        {
            "age": rng.integers(30, 80, 80),
            "diagnosis": start,
            "last_seen": [day + datetime.timedelta(int(n)) for day, n in zip(start, days, strict=True)],
            "died": rng.integers(0, 2, 80),
            "days": days,
        }
    )


def write(path: Path, frame: pd.DataFrame, form: str | None = None) -> Path:
    """Dates as text in this format, or as the file has them."""
    frame = frame.copy()
    for name in ("diagnosis", "last_seen"):
        days = frame[name]
        frame[name] = pd.to_datetime(days) if form is None else [day.strftime(form) for day in days]
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_excel(path, index=False)
    return path


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("t.csv", "%Y-%m-%d"),
        ("t.csv", "%d.%m.%Y"),
        ("t.csv", "%m/%d/%Y"),
        ("t.parquet", None),
        ("t.xlsx", None),
        ("t.xlsx", "%d/%m/%Y"),
    ],
)
def test_times_between_dates_are_those_of_a_column_of_times(tmp_path, monkeypatch, capsys, name, form):
    monkeypatch.chdir(tmp_path)
    frame = dated_rows()
    write(tmp_path / name, frame, form)
    assert run(["fit", name, *DATES, "--drop", "days", "--unit", "months", *COX]) == 0
    output = capsys.readouterr()
    assert "outcome: start" in output.out
    assert "outcome: end" in output.out
    assert " months" in output.out
    frame.assign(days=frame["days"] / 30.4375).drop(columns=["diagnosis", "last_seen"]).to_csv("n.csv", index=False)
    assert run(["fit", "n.csv", "--time", "days", "--event", "died", *COX]) == 0
    models = [aldsurv.load(path) for path in ("t.aldsurv", "n.aldsurv")]
    np.testing.assert_allclose(*(model.predict_time(frame[["age"]]) for model in models), rtol=1e-6)


@pytest.mark.usefixtures("quick_report")
def test_a_model_knows_its_dates_and_their_unit(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", dated_rows(), "%d.%m.%Y")
    assert run(["fit", "t.csv", *DATES, "--drop", "days", "--unit", "years", *COX]) == 0
    model = aldsurv.load("t.aldsurv")
    assert dict(model.trained_on_.outcome) == {
        "start": "diagnosis",
        "end": "last_seen",
        "event": "died",
        "unit": "years",
    }
    other = dated_rows(1)
    write(tmp_path / "new.xlsx", other)
    capsys.readouterr()
    assert run(["evaluate", "t.aldsurv", "new.xlsx", "--bootstrap", "0", "--json"]) == 0
    by_dates = json.loads(capsys.readouterr().out)
    other.assign(years=other["days"] / 365.25).to_csv("numbers.csv", index=False)
    assert run(["evaluate", "t.aldsurv", "numbers.csv", "--time", "years", "--bootstrap", "0", "--json"]) == 0
    by_numbers = json.loads(capsys.readouterr().out)
    for metric, score in by_dates["metrics"].items():
        expected = by_numbers["metrics"][metric]["value"]
        assert score["value"] == (None if expected is None else pytest.approx(expected, rel=1e-9)), metric
    # Of a model with a unit, dates may be given later on.
    words = ["--time", "days", "--event", "died", "--unit", "days", "--drop", "years,diagnosis,last_seen"]
    assert run(["fit", "numbers.csv", *words, *COX]) == 0
    assert run(["evaluate", "numbers.aldsurv", "new.xlsx", *DATES, "--bootstrap", "0"]) == 0
    assert run(["report", "t.aldsurv", "new.xlsx", "--people", "1", "--out", str(tmp_path / "r.html")]) == 0
    assert run(["predict", "t.aldsurv", "new.xlsx", "--out", "p.csv"]) == 0
    assert run(["info", "t.aldsurv"]) == 0
    assert "start 'diagnosis'" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (["1.2.2020,3.4.2020,1"], [], "is 2020-02-01 if the day comes first, and 2020-01-02 if the month does"),
        (["1.2.2020,3.4.2020,1"], [], "--date-format: day-first, month-first"),
        (["13.2.2020,3.4.20,1"], [], "end has years of two digits, such as '3.4.20'"),
        (["2020-01-01,2020-01-05,1", "2020-01-01,2019-01-05,0"], [], "(column 'last_seen', line 3)"),
        (["2020-01-01,2020-01-05,1", "2020-01-01,,0"], [], "--end must be a date in every row, but 1 of 2 is missing"),
        (["2020-01-01,2020-01-05,1"], ["--unit", "hours"], "--unit must be one of days, weeks, months, years"),
        (["2020-01-01,2020-01-05,1"], ["--date-format", "dmy"], "--date-format must be 'day-first', 'month-first' or"),
        (["2020-01-01,2020-01-05,1"], ["--time", "died"], "dates need --start, --end and --event, but --time is none"),
        (["5,7,1"], [], "must be dates such as 2020-12-31 or 31.12.2020, but this is '5'"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, monkeypatch, capsys, rows, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("\n".join(["diagnosis,last_seen,died", *rows, ""]))
    assert run(["fit", "t.csv", *DATES, *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--end", "last_seen", "--event", "died"], "but --start is missing"),
        (["--start", "diagnosis", "--event", "died"], "for dates, --start, --end and --event"),
        (["--time", "t", "--event", "died", "--date-format", "day-first"], "can only be combined with dates"),
    ],
)
def test_options_that_belong_together(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("diagnosis,last_seen,died\n2020-01-01,2020-01-05,1\n")
    assert run(["fit", "t.csv", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_format_that_decides(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{40 + k},1/{1 + k % 12}/2020,{1 + k % 12}/2/2021,{k % 3 > 0:d}" for k in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["age,diagnosis,last_seen,died", *rows, ""]))
    assert run(["fit", "t.csv", *DATES, *COX]) == 2
    assert run(["fit", "t.csv", *DATES, *COX, "--date-format", "day-first"]) == 0
    capsys.readouterr()
    assert aldsurv.load("t.aldsurv").trained_on_.outcome["date_format"] == "day-first"
    assert run(["evaluate", "t.aldsurv", "t.csv", "--bootstrap", "0", "--json"]) == 0
    first, last = datetime.date(2020, 12, 1), datetime.date(2021, 2, 12)
    assert f"time {(last - first).days}–" in json.loads(capsys.readouterr().out)["summary"]


def test_other_columns_of_dates_are_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = dated_rows()
    frame["born"] = [day.strftime("%d/%m/%Y") for day in frame["diagnosis"]]
    frame.to_csv("t.csv", index=False)
    assert run(["fit", "t.csv", "--time", "days", "--event", "died", *COX]) == 0
    output = capsys.readouterr()
    assert "columns 'diagnosis', 'last_seen', 'born' hold dates and are left out" in " ".join(output.err.split())
    assert aldsurv.load("t.aldsurv").feature_names_in_.tolist() == ["age"]
    assert run(["predict", "t.aldsurv", "t.csv", "--out", "p.csv"]) == 0


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
def test_check_says_of_dates_what_fit_does(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / name, dated_rows(), "%d.%m.%Y" if name == "t.csv" else None)
    assert run(["check", name, "--time", "days", "--event", "died"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "columns 'diagnosis', 'last_seen' hold dates and are left out" in output
    assert "fit stops" not in output
    assert f"aldsurv fit {name} --time days --event died" in output
    assert run(["check", name, *DATES, "--drop", "days"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert f"aldsurv fit {name} --event died --start diagnosis --end last_seen" in output


def test_dates_of_excel_count_from_1904_too(tmp_path):
    book = openpyxl.Workbook()
    book.epoch = datetime.datetime(1904, 1, 1)
    book.active.append(["a", "b", "e"])
    book.active.append([datetime.datetime(2020, 1, 31), datetime.datetime(2020, 3, 1, 12), 1])
    book.save(tmp_path / "t.xlsx")
    table = aldsurv.datasets.read_table(tmp_path / "t.xlsx", start="a", end="b", event="e")
    assert table.y.time.tolist() == [30.5]
