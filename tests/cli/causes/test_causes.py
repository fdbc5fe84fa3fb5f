"""Competing causes on the command line: fit, info, evaluate, predict, compare and report."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv import metrics
from aldsurv.cli.main import main
from aldsurv.nonparametric import aalen_johansen
from cli.causes.drawn_causes import covariates, drawn, outcome, save_deephit, write

_PREDICT, _EVALUATE = "predict m.aldsurv test.csv", "evaluate m.aldsurv test.csv"
_FIT = "fit train.csv --time t --event status"
VALUES = ["--time", "t", "--event", "status", "--event-values", "1=relapse,2=death"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("causes")
    write(folder / "train.csv", drawn())
    write(folder / "test.csv", drawn(120, seed=1))
    save_deephit(folder / "m.aldsurv", drawn())
    save_deephit(folder / "other.aldsurv", drawn(), random_state=5, max_epochs=1)
    weibull = aldsurv.WeibullAFT().fit(covariates(drawn()), outcome(drawn()).of_cause("death"))
    weibull.set_outcome_columns({"time": "t", "event": "status", "event_value": "2"})
    weibull.save(folder / "one.aldsurv")
    return folder


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    code = main(list(words))
    done = capsys.readouterr()
    assert code == 0, done.err
    return done.out, done.err


def error(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("aldsurv: error: ")]
    return line


def rows(text: str) -> dict[str, np.ndarray]:
    head, *lines = csv.reader(io.StringIO(text))
    return {name: np.array([line[k] for line in lines]) for k, name in enumerate(head)}


def numbers(table: dict[str, np.ndarray], name: str) -> np.ndarray:
    return table[name].astype(float)


def test_a_model_without_causes_says_so(capsys, tmp_path):
    words = ["fit", "train.csv", *VALUES, "--model", "weibull_aft", "--out", str(tmp_path / "w.aldsurv")]
    out, err = run(capsys, *words)
    assert "causes relapse (" in out
    assert "status  outcome: event, 1 relapse, 2 death; 0 censored" in out
    assert "First event of any cause" in out
    assert "the model 'weibull_aft' does not tell causes apart" in err
    assert err.count("does not tell causes apart") == 1
    assert "deephit" in err
    model = aldsurv.load(tmp_path / "w.aldsurv")
    assert model.trained_on_.outcome["event_values"] == "1=relapse,2=death,0=censored"
    facts = json.loads(run(capsys, *words, "--json")[0])
    counts = np.bincount(drawn()["status"])
    assert facts["causes"] == {"relapse": counts[1], "death": counts[2]}
    assert facts["held_out"]["causes"] is None
    out, _ = run(capsys, "evaluate", str(tmp_path / "w.aldsurv"), "test.csv", "--bootstrap", "0")
    assert "relapse (" in out.splitlines()[1] + out.splitlines()[2]


def test_info_shows_the_causes(capsys):
    out, _ = run(capsys, "info", "m.aldsurv")
    assert "causes       relapse, death" in out
    facts = json.loads(run(capsys, "info", "m.aldsurv", "--json")[0])
    assert facts["causes"] == ["relapse", "death"]
    assert facts["outcome"]["event_values"] == "1=relapse,2=death,0=censored"
    assert json.loads(run(capsys, "info", "one.aldsurv", "--json")[0])["causes"] is None


def test_predictions_add_up_and_are_those_of_the_library(capsys):
    out, err = run(capsys, "predict", "m.aldsurv", "test.csv", "--times", "6,24", "--keep", "age", "--digits", "17")
    table = rows(out)
    assert list(table) == [
        "age", "incidence_relapse_6", "incidence_death_6", "survival_6", "incidence_relapse_24", "incidence_death_24",
        "survival_24", "outside",
    ]  # fmt: skip
    predicted = aldsurv.load("m.aldsurv").predict_incidence(covariates(drawn(120, seed=1)))
    for time in (6, 24):
        parts = [numbers(table, f"{name}_{time}") for name in ("incidence_relapse", "incidence_death", "survival")]
        np.testing.assert_allclose(sum(parts), 1.0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(parts[1], predicted.incidence(time, "death"), rtol=1e-9)
    assert "first event of any cause" not in err
    _, err = run(capsys, "predict", "m.aldsurv", "test.csv", "--quantiles", "0.5")
    assert "those of the first event of any cause (relapse, death). The probability of each cause" in err
    out, _ = run(capsys, "predict", "m.aldsurv", "test.csv", "--times", "6", "--cause", "death", "--json")
    first = json.loads(out.splitlines()[0])
    assert list(first) == ["incidence_death_6", "outside"]
    assert first["incidence_death_6"] == pytest.approx(predicted.incidence(6.0, "death")[0], rel=5.1e-6)


def test_predictions_of_those_without_event_so_far(capsys):
    words = ["predict", "m.aldsurv", "test.csv", "--times", "4,20", "--given-survived", "10", "--digits", "17"]
    table = rows(run(capsys, *words)[0])
    predicted = aldsurv.load("m.aldsurv").predict_incidence(covariates(drawn(120, seed=1)))
    rise = predicted.incidence(20.0, "relapse") - predicted.incidence(10.0, "relapse")
    np.testing.assert_allclose(numbers(table, "incidence_relapse_20"), rise / predicted.survival(10.0), rtol=1e-9)
    assert (numbers(table, "incidence_relapse_4") == 0).all()
    total = sum(numbers(table, f"{name}_20") for name in ("incidence_relapse", "incidence_death", "survival"))
    np.testing.assert_allclose(total, 1.0, rtol=0, atol=1e-12)


def test_scores_are_those_of_the_library(capsys):
    words = ["evaluate", "m.aldsurv", "test.csv", "--train", "train.csv", "--bootstrap", "20", "--times", "12"]
    facts = json.loads(run(capsys, *words, "--json")[0])
    predicted = aldsurv.load("m.aldsurv").predict_incidence(covariates(drawn(120, seed=1)))
    data, train = outcome(drawn(120, seed=1)), outcome(drawn())
    for cause in ("relapse", "death"):
        shown = facts["causes"][cause]
        assert shown["events"] == data.of_cause(cause).n_events
        assert {"ibs", "harrell_c", "uno_c"} <= set(shown["metrics"])
        ours = metrics.evaluate(
            predicted, data, train=train, cause=cause, metrics=["ibs"], bootstrap=20, random_state=0
        )["ibs"]
        assert shown["metrics"]["ibs"]["value"] == pytest.approx(ours.value)
        assert shown["metrics"]["ibs"]["lower"] == pytest.approx(ours.lower)
        marginal = aalen_johansen(train).distribution[np.zeros(120, int)]
        reference = metrics.integrated_brier_score(marginal, data, train=train, cause=cause)
        assert shown["brier_skill"] == pytest.approx(1 - ours.value / reference)
        (at,) = shown["times"]
        auc = metrics.cumulative_dynamic_auc(predicted, data, [12.0], train=train, cause=cause).mean
        assert (at["time"], at["auc"]["value"]) == (12.0, pytest.approx(auc))
    overall = metrics.evaluate(predicted.overall(), data, train=train, metrics=["ibs"])["ibs"]
    assert facts["metrics"]["ibs"]["value"] == pytest.approx(overall)
    # The order in which values are named makes no difference.
    again = json.loads(run(capsys, *words, "--event-values", "2=death,1=relapse", "--json")[0])
    assert again["causes"] == facts["causes"]


def test_scores_as_text(capsys):
    out, _ = run(capsys, "evaluate", "m.aldsurv", "test.csv", "--bootstrap", "0", "--times", "12")
    headings = [line for line in out.splitlines() if line.startswith(("First event", "relapse (", "death ("))]
    assert [line.split(" (")[0] for line in headings] == ["First event of any cause", "relapse", "death"]
    assert out.count("AUC at 12 months") == 3
    out, _ = run(capsys, "evaluate", "m.aldsurv", "test.csv", "--bootstrap", "0", "--cause", "death")
    assert "First event" not in out
    assert "\ndeath (" in out
    assert "\nrelapse (" not in out


def test_a_cause_without_events_has_no_scores(capsys):
    columns = drawn(60, seed=2)
    write("relapses.csv", {name: values[columns["status"] != 2] for name, values in columns.items()})
    out, _ = run(capsys, "evaluate", "m.aldsurv", "relapses.csv", "--bootstrap", "0")
    assert "death (0 events): without events there are no scores." in out
    assert "no event in the" in error(
        capsys, "compare", "m.aldsurv", "other.aldsurv", "relapses.csv", "--bootstrap", "0", "--cause", "death"
    )


def test_comparison_by_a_cause(capsys):
    words = ["compare", "m.aldsurv", "other.aldsurv", "test.csv", "--train", "train.csv", "--bootstrap", "10"]
    facts = json.loads(run(capsys, *words, "--cause", "relapse", "--json")[0])
    x, data, train = covariates(drawn(120, seed=1)), outcome(drawn(120, seed=1)), outcome(drawn())
    first, second = (aldsurv.load(name).predict_incidence(x) for name in ("m.aldsurv", "other.aldsurv"))
    ours = metrics.compare(second, first, data, metric="ibs", train=train, samples=10, random_state=0, cause="relapse")
    shown = facts["differences"]["other"]["ibs"]
    assert facts["cause"] == "relapse"
    assert (shown["difference"], shown["lower"]) == (pytest.approx(ours.difference), pytest.approx(ours.lower))
    scores = [metrics.evaluate(p, data, train=train, cause="relapse")["harrell_c"] for p in (first, second)]
    assert [model["metrics"]["harrell_c"] for model in facts["models"]] == pytest.approx(scores)
    words = words[:-1]
    out, _ = run(capsys, *words, "0", "--cause", "relapse")
    assert "incidence of relapse" in out
    out, _ = run(capsys, *words, "0")
    assert "first event of any cause; for one of them give --cause" in out


@pytest.mark.usefixtures("quick_report")
def test_the_report_has_the_causes(capsys):
    out, _ = run(capsys, "report", "m.aldsurv", "test.csv", "--train", "train.csv", "--people", "2", "--json")
    facts, data = json.loads(out), outcome(drawn(120, seed=1))
    page = Path("report.html").read_text(encoding="utf-8")
    for words in (
        "Several causes",
        "Rows by cause",
        "Metrics by cause",
        "Single subjects by cause",
        "Effects by cause",
    ):
        assert words in page
    assert "Not defined by cause: mean absolute error" in page
    assert {cause: each["events"] for cause, each in facts["causes"].items()} == {
        cause: data.of_cause(cause).n_events for cause in data.causes
    }
    assert {"ibs", "harrell_c"} <= set(facts["causes"]["death"]["metrics"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (f"{_PREDICT} --times 6 --cause deth", "Did you mean 'death'?"),
        (f"{_PREDICT} --cause death", "--cause needs the times"),
        (f"{_EVALUATE} --cause x", "--cause 'x' is not a cause of the model. Known: relapse, death."),
        ("predict one.aldsurv test.csv --times 6 --cause death", "needs a model that tells causes apart"),
        ("compare m.aldsurv one.aldsurv test.csv --cause death {VALUES}", "model 'one.aldsurv': --cause needs a model"),
        (f"{_EVALUATE} --cause death --group age", "--group cannot be combined"),
        (f"{_EVALUATE} --cause death --event-value 2", "needs rows with causes"),
        (f"{_EVALUATE} --event-values 1=relapse,2=dead", "names 'relapse', 'dead', but the model tells"),
        (f"{_FIT} --event-values 1=a,2=b,7=c", "event value '7', of 'c'"),
        (f"{_FIT} --event-values 1=a,2=a", "to '1' and '2'"),
        (f"{_FIT} --event-values 1=a", "two causes or more"),
        (f"{_FIT} --event-values a,b", "none of them occurs in event, which holds 0 ("),
        (f"{_FIT} --event-values 1=a,2=b --event-value 1", "cannot be combined with --event-value"),
        ("fit train.csv --lower t --upper age --event-values a,b", "cannot be combined with --lower"),
    ],
)
def test_errors_are_one_line(capsys, words, told):
    before = set(Path().iterdir())
    assert told in error(capsys, *words.replace("{VALUES}", " ".join(VALUES)).split())
    assert set(Path().iterdir()) == before


def test_a_value_that_training_did_not_have(capsys):
    columns = drawn(60, seed=3)
    columns["status"] = np.where(np.arange(60) == 9, 3, columns["status"])
    write("new.csv", columns)
    line = error(capsys, "evaluate", "m.aldsurv", "new.csv")
    assert "--event-values does not name 3, which event holds, but only 1 (relapse), 2 (death), 0 (censored)" in line
    assert "line 11" in line
    out, _ = run(capsys, "evaluate", "m.aldsurv", "new.csv", "--bootstrap", "0", "--event-values", "1=relapse,2=death")
    assert f"relapse ({(columns['status'] == 1).sum()})" in out


def test_rows_without_causes_are_scored_by_the_first_event(capsys):
    _, err = run(
        capsys, "evaluate", "m.aldsurv", "test.csv", "--bootstrap", "0", "--event-value", "2", "--train", "train.csv"
    )
    assert "the model tells 'relapse', 'death' apart, but the rows do not" in err


def test_text_and_gaps_as_values(capsys, tmp_path):
    columns = drawn()
    names = np.array(["", "relapse", "death"])[columns["status"]]
    write("texts.csv", {**columns, "status": names})
    words = ["fit", "texts.csv", "--time", "t", "--event", "status", "--model", "weibull_aft", "--held-out", "0"]
    target = str(tmp_path / "t.aldsurv")
    line = error(capsys, *words, "--event-values", "relapse,death", "--out", target)
    assert "must be known in every row" in line
    assert '"=censored"' in line
    run(capsys, *words, "--event-values", "relapse,death,=censored", "--out", target)
    model = aldsurv.load(target)
    assert model.trained_on_.events == int((columns["status"] > 0).sum())
