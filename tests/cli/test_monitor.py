"""``aldsurv monitor``: what it writes and says, its exit codes, and that errors leave nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from monitoring.watched import MONTHS, fitted, rows
from reports.parsed import ParsedPage

from aldsurv import CauseSpecificCox, SurvivalData
from aldsurv.cli.main import main


def frame_of(x, y, month):
    days = [f"{name}-{1 + k % 28:02d}" for k, name in enumerate(month)]
    return pd.DataFrame(x).assign(years=y.time, died=np.where(y.event, "yes", "no"), month=month, admitted=days)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A model, its training rows, and rows of quiet months and of others."""
    folder = tmp_path_factory.mktemp("monitor")
    model, x, y = fitted()
    model.set_outcome_columns({"time": "years", "event": "died", "event_value": "yes"})
    model.save(folder / "m.aldsurv")
    frame_of(x, y, np.repeat("2020-01", len(y))).to_csv(folder / "train.csv", index=False)
    frame_of(*rows(25, 1)).to_csv(folder / "quiet.csv", index=False)
    frame_of(*rows(40, 2, factor=2.5)).to_csv(folder / "more.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def folder(made, monkeypatch, tmp_path) -> Path:
    for path in made.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_a_quiet_model(capsys):
    options = ["--by", "month", "--train", "train.csv", "--fail-on-alarm"]
    assert main(["monitor", "m.aldsurv", "quiet.csv", *options]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "m.aldsurv on quiet.csv: 450 rows, 18 months"
    assert [line.split()[0] for line in lines[3:21]] == list(MONTHS)
    assert lines[-2:] == ["No alarm in 18 months.", "Page: monitor.html"]
    page = ParsedPage(Path("monitor.html").read_text(encoding="utf-8"))
    assert [row["period"].text for row in page.tables["periods"].records()] == list(MONTHS)
    assert len(page.tables["drift"].records()) == 18 * 3


def test_an_alarm_and_exit_codes(capsys):
    options = ["m.aldsurv", "more.csv", "--by", "admitted", "--period", "quarter", "--train", "train.csv"]
    assert main(["monitor", *options, "--json", "--out", "a.html"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [period["period"] for period in facts["periods"]] == [
        "2023-Q1", "2023-Q2", "2023-Q3", "2023-Q4", "2024-Q1", "2024-Q2"
    ]  # fmt: skip
    (alarm,) = facts["alarms"]
    assert (alarm["test"], alarm["column"], facts["page"]) == ("observed/expected", None, "a.html")
    assert alarm["period"] in ("2023-Q3", "2023-Q4")
    assert sum(period["rows"] for period in facts["periods"]) == facts["rows"] == 720
    assert "Alarm in 2023-Q" in Path("a.html").read_text(encoding="utf-8")
    assert main(["monitor", *options, "--fail-on-alarm", "--out", "b.html"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert f"Alarm in {alarm['period']}: observed/expected {alarm['value']:.2f} (" in said
    assert "aldsurv update m.aldsurv" in said
    assert Path("b.html").exists()


def test_dates_that_need_a_format(capsys):
    frame = pd.read_csv("quiet.csv")
    frame["admitted"] = [f"01/{int(month[-2:]):02d}/{month[:4]}" for month in frame.month]
    frame.to_csv("slashes.csv", index=False)
    arguments = ["monitor", "m.aldsurv", "slashes.csv", "--by", "admitted", "--period", "year"]
    assert main(arguments) == 2
    assert "--date-format" in capsys.readouterr().err
    assert main([*arguments, "--date-format", "day-first", "--json"]) == 0
    assert [each["period"] for each in json.loads(capsys.readouterr().out)["periods"]] == ["2023", "2024"]


def test_a_cause(capsys):
    x, y, month = rows(25, 3)
    codes = np.where(y.event, 1 + (np.arange(len(y)) % 3 == 0), 0)
    model = CauseSpecificCox().fit(x, SurvivalData.competing(y.time, codes, names=("relapse", "death")))
    model.set_outcome_columns({"time": "years", "event": "died", "event_values": "1=relapse,2=death"})
    model.save("causes.aldsurv")
    frame_of(x, y, month).assign(died=codes).to_csv("causes.csv", index=False)
    arguments = ["monitor", "causes.aldsurv", "causes.csv", "--by", "admitted", "--period", "year", "--json"]
    assert main([*arguments, "--cause", "death"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["cause"], facts["events"]) == ("death", (codes == 2).sum())
    assert main(arguments) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["events"] == (codes > 0).sum()
    assert "Events are the first of any cause." in facts["notes"]


def test_errors_are_one_line_and_write_nothing(capsys, folder):
    frame = pd.read_csv("quiet.csv")
    frame.drop(columns="b").to_csv("short.csv", index=False)
    frame.assign(died="no").to_csv("none.csv", index=False)
    frame.assign(month=frame.month.where(frame.index != 7)).to_csv("gap.csv", index=False)
    frame.assign(month="2023-01").to_csv("one.csv", index=False)
    Path("other.html").write_text("<html>by hand</html>", encoding="utf-8")
    before = sorted(folder.iterdir())
    for arguments, message in (
        (["m.aldsurv", "quiet.csv"], "Missing option '--by'"),
        (["m.aldsurv", "absent.csv", "--by", "month"], "there is no file"),
        (["absent.aldsurv", "quiet.csv", "--by", "month"], "there is no file"),
        (["m.aldsurv", "quiet.csv", "--by", "mnth"], "Did you mean 'month'?"),
        (["m.aldsurv", "more.csv", "--by", "years"], "at most 500 periods"),
        (["m.aldsurv", "quiet.csv", "--by", "month", "--period", "year"], "--by must be dates"),
        (["m.aldsurv", "quiet.csv", "--by", "month", "--alpha", "2"], "--alpha must be"),
        (["m.aldsurv", "quiet.csv", "--by", "month", "--reference", "18"], "--reference must be fewer"),
        (["m.aldsurv", "quiet.csv", "--by", "month", "--cause", "death"], "--cause needs a model"),
        (["m.aldsurv", "quiet.csv", "--by", "month", "--seed", "-1"], "--seed must be"),
        (["m.aldsurv", "quiet.csv", "--by", "month", "--out", "other.html"], "is not a page of aldsurv"),
        (["m.aldsurv", "quiet.csv", "--by", "month", "--train", "short.csv"], "'b'"),
        (["m.aldsurv", "one.csv", "--by", "month"], "two periods or more, but has only '2023-01'"),
        (["m.aldsurv", "gap.csv", "--by", "month"], "1 of 450 values is not"),
        (["m.aldsurv", "short.csv", "--by", "month"], "'b'"),
        (["m.aldsurv", "none.csv", "--by", "month"], "does not occur"),
    ):
        assert main(["monitor", *arguments]) == 2, arguments
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err, err
        assert len(err.splitlines()) == 1
    assert sorted(folder.iterdir()) == before
