"""Figures as people write them, and none that is infinite: tables with years, large numbers and events at time 0."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from reports.undrawn import resample_little

from aldsurv import metrics
from aldsurv.cli.main import main
from aldsurv.datasets import read_table
from aldsurv.models import ALDSurvival, BoostedALD, CoxRegression, DeepHit, LogNormalAFT
from aldsurv.models.base import SurvivalEstimator

OUTCOME = ["--time", "time", "--event", "event"]
EXPONENT = re.compile(r"\d[eE][+]\d")
SMALL = {"members": 1, "max_epochs": 3, "random_state": 0}
MODELS = {
    "real": ALDSurvival(support="real", **SMALL),
    "positive": ALDSurvival(support="positive", **SMALL),
    "log": ALDSurvival(support="log", **SMALL),
    "deephit": DeepHit(**SMALL),
    "boosted": BoostedALD(max_rounds=5, random_state=0),
    "aft": LogNormalAFT(),
    "cox": CoxRegression(),
}


def drawn_table(path: Path, rows: int, seed: int, *, second: float = 1.0, zeros: int = 0) -> Path:
    """People with a year, a large number and times in seconds; the first of them at time 0, every third censored."""
    rng = np.random.default_rng(seed)
    year, cells, x = rng.integers(1990, 2002, rows), rng.integers(150, 450, rows) * 1000, rng.normal(size=rows)
    time, lost = np.ceil(rng.exponential(100 * np.exp(x / 2))), np.ceil(rng.uniform(1, 250, rows))
    event = time <= lost
    time = np.minimum(time, lost) * second
    time[:zeros], event[:zeros] = 0, np.arange(zeros) % 3 < 2
    columns = zip(time, event, year, cells, x, strict=True)
    lines = [f"{t:.0f},{int(e)},{when},{count},{value:.3f}" for t, e, when, count, value in columns]
    path.write_text("\n".join(["time,event,year,platelets,x", *lines]) + "\n")
    return path


def text_of(page: Path) -> str:
    """A page without what is not text."""
    return re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<[^>]*>", " ", page.read_text(encoding="utf-8"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words: str) -> str:
        code = main(list(words))
        done = capsys.readouterr()
        assert code == 0, done.err
        return " ".join((done.out + done.err).split())

    return call


@pytest.mark.usefixtures("quick_report")
def test_years_counts_and_percentages_are_written_as_people_do(run, tmp_path: Path) -> None:
    drawn_table(tmp_path / "train.csv", 120, 0, second=86400.0)
    drawn_table(tmp_path / "test.csv", 60, 1, second=86400.0)
    fitted = run("fit", "train.csv", *OUTCOME, "--model", "cox", "--out", "m.aldsurv")
    about = run("info", "m.aldsurv")
    for text in (fitted, about):
        assert re.search(r"year number, 199\d to 200\d", text)
        assert re.search(r"platelets number, 1\d{5} to 4\d{5}", text)
    scores = run("evaluate", "m.aldsurv", "test.csv", "--bootstrap", "0", "--times", "8640000")
    assert "at 8640000" in scores
    # Each of three rows lies beyond training.
    (tmp_path / "three.csv").write_text("year,platelets,x\n" + "2050,900000,0\n" * 3)
    predicted = run("predict", "m.aldsurv", "three.csv", "--times", "864000000")
    assert "3 of 3 rows (100 %) lie outside" in predicted
    assert "predictions at 864000000 are extrapolated" in predicted
    run("report", "m.aldsurv", "test.csv", *OUTCOME, "--people", "1", "--quiet")
    page = text_of(tmp_path / "report.html")
    assert re.search(r"199\d to 200\d, median 199\d", page)
    assert not re.search(r"\b(1,99|2,00)\d\b", page)
    for text in (fitted, about, scores, predicted, page):
        assert not EXPONENT.search(text)


def test_rows_held_out_go_by_their_number_in_the_table(run, tmp_path: Path) -> None:
    """The log-likelihood of events after all of training is not finite: the note says which rows of the file."""
    place = drawn_table(tmp_path / "train.csv", 60, 0)
    rows = list(csv.reader(place.read_text().splitlines()))
    # Every other row has an event later than that of all rows above it: some of those held out are beyond training.
    for number, row in enumerate(rows[1::2]):
        row[:2] = [str(10_000 + number), "1"]
    place.write_text("\n".join(",".join(row) for row in rows) + "\n")
    found = ""
    for seed in range(8):
        told = run("fit", "train.csv", *OUTCOME, "--model", "cox", "--seed", str(seed), "--out", "m.aldsurv", "--force")
        found = found or ("" if "log-likelihood is not finite" not in told else told)
    assert re.search(r"bounded log-likelihood +-\d", found)
    named = re.findall(r"row (\d+) \(event at (\d+), after the last step of its curve\)", found)
    assert named
    assert all(rows[int(number)][:2] == [time, "1"] for number, time in named)


@pytest.mark.parametrize("name", MODELS)
def test_events_at_time_0_give_finite_figures(run, tmp_path: Path, name: str) -> None:
    place = drawn_table(tmp_path / "train.csv", 90, 0, zeros=9)
    # No event of the other table comes later than those of training.
    place.write_text(place.read_text() + "251,1,1995,200000,0\n")
    train = read_table(place, time="time", event="event")
    test = read_table(drawn_table(tmp_path / "test.csv", 60, 1, zeros=6), time="time", event="event")
    model = MODELS[name].fit(train.x, train.y)
    model.save(tmp_path / "m.aldsurv")
    scores = json.loads(
        run("evaluate", "m.aldsurv", "test.csv", *OUTCOME, "--train", "train.csv", "--bootstrap", "0", "--json")
    )
    values = {key: score["value"] for key, score in scores["metrics"].items()}
    endless = {"mae"} if name == "cox" else set()
    assert [key for key, value in values.items() if value is None and key not in endless] == []
    assert values["log_likelihood"] == pytest.approx(early_likelihood(model, test), rel=1e-9)
    assert values["log_likelihood"] == pytest.approx(metrics.log_likelihood(predictions(model, test), test.y))


def predictions(model: SurvivalEstimator, table):
    return model.predict_distribution(table.x)


def early_likelihood(model: SurvivalEstimator, table) -> float:
    """Row by row: an event at 0 is one at or before the smallest time above 0."""
    predicted, data, total = predictions(model, table), table.y, 0.0
    first = data.time[data.time > 0].min()
    for row, (time, event) in enumerate(zip(data.time, data.event, strict=True)):
        one = predicted[[row]]
        if not event:
            total += np.log(one.survival(time).item())
        elif time > 0:
            total += np.log(one.density(time).item())
        else:
            total += np.log(one.cdf(first).item())
    return total / len(data)


def test_a_report_of_events_at_time_0(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resample_little(monkeypatch)
    train = read_table(drawn_table(tmp_path / "train.csv", 90, 0, zeros=9), time="time", event="event")
    drawn_table(tmp_path / "test.csv", 60, 1, zeros=6)
    for name, model in (("aft", LogNormalAFT()), ("cox", CoxRegression())):
        model.fit(train.x, train.y).save(tmp_path / f"{name}.aldsurv")
        words = ["--train", "train.csv", "--people", "1", "--out", f"{name}.html", "--quiet"]
        run("report", f"{name}.aldsurv", "test.csv", *OUTCOME, *words)
        page = text_of(tmp_path / f"{name}.html")
        assert not re.search(r"\b(nan|inf)\b|∞", page, re.IGNORECASE)


@pytest.mark.usefixtures("quick_report")
def test_a_report_names_the_rows_without_probability(run, tmp_path: Path) -> None:
    train = read_table(drawn_table(tmp_path / "train.csv", 90, 0), time="time", event="event")
    lines = drawn_table(tmp_path / "test.csv", 60, 1).read_text().splitlines()
    lines[7] = re.sub(r"^\d+,\d", "98765,1", lines[7])
    (tmp_path / "test.csv").write_text("\n".join(lines) + "\n")
    CoxRegression().fit(train.x, train.y).save(tmp_path / "m.aldsurv")
    run("report", "m.aldsurv", "test.csv", *OUTCOME, "--people", "1", "--quiet")
    page = " ".join(text_of(tmp_path / "report.html").split())
    assert "row 7 (event at 98765, after the last step of its curve)" in page
    assert "Rows are counted from 1." in page
    assert "Bounded log-likelihood" in page
