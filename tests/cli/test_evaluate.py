from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child_process import without_machine_warnings

import aldsurv
from aldsurv import SurvivalData, metrics
from aldsurv.cli.main import main

from .evaluation_tables import CoxRegression, covariates, note_on_late_rows, outcome, people, save_model, write

TRAIN, TEST = people(300, seed=1), people(180, seed=2)
NAMES = {
    "harrell_c": "Harrell's C",
    "uno_c": "Uno's C",
    "ibs": "integrated Brier score",
    "mae": "mean absolute error",
    "log_likelihood": "log-likelihood per row",
    "cens_dcal": "CensDcal",
    "d_calibration": "D-calibration p-value",
    "calibration_slope": "calibration slope",
    "observed_expected_ratio": "observed/expected",
    "cal_s_slope": "Cal[S] slope",
    "cal_s_intercept": "Cal[S] intercept",
    "cal_f_slope": "Cal[f] slope",
    "cal_f_intercept": "Cal[f] intercept",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evaluate")
    write(path / "train.csv", TRAIN)
    write(path / "test.csv", TEST)
    save_model(path / "weibull.aldsurv", TRAIN)
    save_model(path / "cox.aldsurv", TRAIN, CoxRegression)
    save_model(path / "forgetful.aldsurv", TRAIN, remember=None)
    return path


@pytest.fixture
def ask(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Run a command in the folder of the tables: exit code, output, notes and errors."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["evaluate", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def refuse(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


def read_json(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return found


def predicted(folder: Path, name: str = "weibull", table: dict[str, Any] = TEST):
    return aldsurv.load(folder / f"{name}.aldsurv").predict_distribution(covariates(table))


def test_json_has_the_numbers_of_the_metrics(ask, folder):
    options = ("--bootstrap", "40", "--confidence", "0.9", "--seed", "5", "--train", "train.csv", "--point", "mean")
    code, out, err = ask("weibull.aldsurv", "test.csv", "--times", "12,30", "--json", *options)
    assert (code, err) == (0, "")
    found = read_json(out)
    distribution, rows, train = predicted(folder), outcome(TEST), outcome(TRAIN)
    given = {"bootstrap": 40, "confidence": 0.9, "random_state": 5}
    expected = metrics.evaluate(distribution, rows, train=train, point="mean", **given)
    slope, ratio = metrics.calibration_slope, metrics.observed_expected_ratio
    assert set(found["metrics"]) == {*expected, "d_calibration", slope.__name__, ratio.__name__}
    for name, one in expected.items():
        assert found["metrics"][name] == {"value": one.value, "lower": one.lower, "upper": one.upper}
    assert found["metrics"]["d_calibration"]["value"] == metrics.d_calibration(distribution, rows).p_value
    for function in (slope, ratio):
        value, lower, upper = function(distribution, rows, confidence=0.9)[:3]
        assert found["metrics"][function.__name__] == {"value": value, "lower": lower, "upper": upper}
    assert found["brier_skill"] == metrics.brier_skill_score(distribution, rows, train=train)
    for at, time in zip(found["times"], (12.0, 30.0), strict=True):
        assert at["time"] == time
        auc = metrics.cumulative_dynamic_auc(distribution, rows, [time], train=train)
        assert at["auc"]["value"] == pytest.approx(auc.mean)
        assert at["brier"]["value"] == pytest.approx(metrics.brier_score(distribution, rows, [time], train=train)[0])
        index = metrics.bootstrap(
            "ici", distribution, rows, time=time, samples=40, level=0.9, random_state=5
        )  # fmt: skip
        assert at["ici"] == {"value": index.value, "lower": index.lower, "upper": index.upper}
        assert at["auc"]["lower"] < at["auc"]["value"] < at["auc"]["upper"]
        for function in (slope, ratio):
            value, lower, upper = function(distribution, rows, time, confidence=0.9)[:3]
            assert at[function.__name__] == {"value": value, "lower": lower, "upper": upper}
    assert (found["rows"], found["events"], found["unit"]) == (180, sum(TEST["status"]), "months")
    assert (found["model"], found["kind"], found["table"]) == ("weibull.aldsurv", "WeibullAFT", "test.csv")
    assert (found["confidence"], found["bootstrap"]) == (0.9, 40)
    assert (found["point"], found["ranking_point"]) == ("mean", "mean")


def test_without_a_point_rows_are_ranked_as_the_model_ranks_them(ask, folder):
    model, rows = aldsurv.load(folder / "cox.aldsurv"), outcome(TEST)
    for given, points in (((), ("median", "follow_up")), (("--point", "follow_up"), ("median", "follow_up"))):
        code, out, _ = ask("cox.aldsurv", "test.csv", "--train", "train.csv", "--bootstrap", "0", "--json", *given)
        found = read_json(out)
        assert (code, found["point"], found["ranking_point"]) == (0, *points)
        # Its linear predictor, which no median that is never reached ties.
        assert found["metrics"]["harrell_c"]["value"] == model.score(covariates(TEST), rows)


def test_whole_output(ask, folder):
    code, out, err = ask("weibull.aldsurv", "test.csv", "--bootstrap", "30", "--train", "train.csv")
    assert (code, err) == (0, note_on_late_rows(TRAIN, TEST))
    rows, train = outcome(TEST), outcome(TRAIN)
    found = metrics.evaluate(predicted(folder), rows, train=train, bootstrap=30)
    lines = out.splitlines()
    assert lines[:3] == ["weibull.aldsurv (WeibullAFT) on test.csv", f"  {rows.summary()}", ""]
    assert lines[3].split() == ["value", "95", "%", "interval"]
    skill = metrics.brier_skill_score(predicted(folder), rows, train=train)
    words = {
        "harrell_c": "0.5 chance, 1 perfect",
        "uno_c": "0.5 chance, 1 perfect",
        "ibs": f"0 perfect, {found['ibs'].value / (1 - skill):.3f} Kaplan-Meier",
        "mae": "of the events; 0 perfect",
        "log_likelihood": "higher is better",
        "cens_dcal": f"0 ideal, {text(metrics.censored_d_calibration_by_chance(predicted(folder), rows))} by chance",
        "d_calibration": "small: not calibrated",
        "calibration_slope": "1 ideal, less: too extreme",
        "observed_expected_ratio": "1 ideal, more: risks too low",
        "cal_s_slope": "1 ideal",
        "cal_f_slope": "1 ideal",
    }
    by_formula = {
        function.__name__: function(predicted(folder), rows)
        for function in (metrics.calibration_slope, metrics.observed_expected_ratio)
    }
    assert len(lines) == 4 + len(NAMES)
    for line, (key, name) in zip(lines[4:], NAMES.items(), strict=True):
        told = f"{name} {metrics.d_calibration(predicted(folder), rows).p_value:.3f}"
        if key in by_formula:
            told = f"{name} {text(by_formula[key][0])} {text(by_formula[key][1])} to {text(by_formula[key][2])}"
        elif key != "d_calibration":
            told = f"{name} {text(found[key].value)} {text(found[key].lower)} to {text(found[key].upper)}"
        assert " ".join(line.split()) == f"{told} {words.get(key, '0 ideal')}"
    # Numbers end, and words begin, at the same column.
    assert len({re.match(r".*?\s\s+-?[\d.]+", line).end() for line in lines[4:]}) == 1
    assert len({line.index(words.get(key, "0 ideal"), 25) for line, key in zip(lines[4:], NAMES, strict=True)}) == 1
    assert max(map(len, lines)) <= 80


def text(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3f}"


def test_rows_unlike_those_of_training(ask, folder):
    ages, doses = list(TEST["age"]), list(TEST["dose"])
    ages[:3], doses[5] = [120.0] * 3, 9.0
    write(folder / "unlike.csv", {**TEST, "age": ages, "dose": doses})
    code, _, err = ask("weibull.aldsurv", "unlike.csv", "--bootstrap", "0")
    assert code == 0
    assert "note: values beyond those of training in 4 of 180 rows (in 'age', 'dose').\n" in err


def test_narrow_terminal(ask, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    code, out, _ = ask("weibull.aldsurv", "test.csv", "--times", "12", "--group", "centre", "--bootstrap", "20")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 40
    for name in [*NAMES.values(), "AUC at 12 months", "ICI at 12 months", "95 % interval"]:
        assert name in out


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_help_fits_a_narrow_terminal(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "40")
    assert main([command, "--help"]) == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 40
    assert "Examples:" in told
    assert "--json" in told


def test_names_of_groups_do_not_move_the_cursor(ask, folder):
    write(folder / "odd.csv", {**TEST, "centre": ["\u202ered" if k % 2 else "b" for k in range(180)]})
    code, out, _ = ask("weibull.aldsurv", "odd.csv", "--group", "centre", "--bootstrap", "0", "--quiet")
    assert code == 0
    assert "\u202e" not in out
    assert r"\u202ered" in out


def test_without_resamples(ask):
    code, out, _ = ask("weibull.aldsurv", "test.csv", "--bootstrap", "0", "--json")
    found = read_json(out)
    assert code == 0
    assert (found["bootstrap"], found["confidence"]) == (None, None)
    assert {one["lower"] for one in found["metrics"].values()} == {None}
    code, out, _ = ask("weibull.aldsurv", "test.csv", "--bootstrap", "0", "--times", "12")
    assert code == 0
    assert "interval" not in out
    assert " to " not in out


def test_groups(ask, folder):
    code, out, _ = ask("weibull.aldsurv", "test.csv", "--group", "centre", "--bootstrap", "20", "--json")
    assert code == 0
    found = read_json(out)["by_group"]
    distribution, rows = predicted(folder), outcome(TEST)
    expected = metrics.calibration_by_group(distribution, rows, TEST["centre"])
    assert (found["column"], found["worst"], found["horizon"]) == ("centre", expected.worst, expected.horizon)
    assert [group["group"] for group in found["groups"]] == ["01", "02", "03"]
    for group, one in zip(found["groups"], expected.groups, strict=True):
        assert {key: group[key] for key in one._fields} == one._asdict()
        assert (group["verdict"], group["off_by_at_least"]) == (one.verdict, one.off_by_at_least)
        own = np.asarray(TEST["centre"]) == one.group
        alone = metrics.evaluate(distribution[own], rows[own], train=rows, bootstrap=20)
        assert group["metrics"]["ibs"] == {
            "value": alone["ibs"].value, "lower": alone["ibs"].lower, "upper": alone["ibs"].upper,
        }  # fmt: skip
    code, out, _ = ask("weibull.aldsurv", "test.csv", "--group", "centre", "--bootstrap", "0")
    survival, (header, *scores) = (block.splitlines() for block in out.split("\n\n")[-2:])
    assert " ".join(survival[0].split()) == "by centre predicted observed off by 95 % interval finding"
    assert header.split() == ["by", "centre", "rows", "events", "Harrell's", "C", "CensDcal", "p"]
    for line, other, one in zip(survival[1:], scores, expected.groups, strict=False):
        percent = [f"{100 * one.predicted:.1f}", "%", f"{100 * one.observed:.1f}", "%", f"{100 * one.difference:+.1f}"]
        limits = [f"{100 * one.lower:+.1f}", "to", f"{100 * one.upper:+.1f}"]
        assert line.split() == [one.group, *percent, *limits, *one.short_verdict.split()]
        numbers = [one.harrell_c, one.cens_dcal, one.p_value]
        assert other.split() == [one.group, str(one.n), str(one.events), *(f"{number:.3f}" for number in numbers)]
    worst = next(one for one in expected.groups if one.group == expected.worst)
    assert abs(worst.difference) == max(abs(one.difference) for one in expected.groups)
    words = " ".join(out.split())
    assert f"No group is clearly off at {expected.horizon:.4g} months." in words
    largest = f"The largest difference, {100 * worst.difference:+.1f}, is that of {worst.group}: {worst.verdict}."
    assert words.endswith(largest)


def named_and_largest(out: str) -> tuple[str, str]:
    """The group that the sentence calls the worst, and the one with the largest figure in the table."""
    figures = {name: float(value) for name, value in re.findall(r"(?m)^(\S+) .*off by ([\d.]+) or more$", out)}
    named = re.search(r"Worst: (\S+), whose predicted survival", " ".join(out.split()))
    assert named is not None
    return named[1], max(figures, key=lambda name: figures[name])


def test_the_worst_group_is_named(ask, folder):
    # In centre 02 everybody has the event four times as early as the model says, in 03 twice.
    factor = {"01": 1, "02": 4, "03": 2}
    months = [t / factor[c] for t, c in zip(TEST["months"], TEST["centre"], strict=True)]
    off = {**TEST, "months": months, "centre": ["" if k == 0 else centre for k, centre in enumerate(TEST["centre"])]}
    write(folder / "off.csv", off)
    code, out, _ = ask("weibull.aldsurv", "off.csv", "--group", "centre", "--bootstrap", "0")
    assert code == 0
    words = " ".join(out.split())
    assert named_and_largest(out) == ("02", "02")
    assert re.search(r"is too high by [\d.]+ points \([\d.]+ to [\d.]+\), at least [\d.]+ given 3 groups\.", words)
    assert "(missing)" in words


def test_a_group_right_at_the_horizon_and_wrong_elsewhere_is_named(ask, folder):
    """Times are drawn together around their median: survival there is as predicted, D-calibration is not."""
    model = aldsurv.load(folder / "weibull.aldsurv")
    levels = 0.5 + 0.2 * (np.tile(np.linspace(-1, 1, 60, endpoint=False), 3) + 1 / 60)
    flat = {**TEST, "age": [50.0] * 180, "dose": [2.0] * 180}
    curve = model.predict_distribution(covariates(flat))[:1]
    flat["months"] = curve.quantile(levels)[0].tolist()
    write(folder / "flat.csv", {**flat, "status": [1] * 180})
    code, out, _ = ask("weibull.aldsurv", "flat.csv", "--group", "centre", "--bootstrap", "0")
    assert code == 0
    words = " ".join(out.split())
    assert "No group is clearly off at" in words
    assert "Over all times the probabilities are off in 01, 02 and 03 (D-calibration)." in words


def test_small_groups_have_no_worst(ask, folder):
    write(folder / "small.csv", {name: column[:40] for name, column in TEST.items()})
    code, out, err = ask("weibull.aldsurv", "small.csv", "--group", "centre")
    assert code == 0
    assert "No group has the 50 rows" in out
    assert "Worst" not in out
    assert "events: the scores are uncertain" in err


def test_quiet_and_notes(ask, folder):
    code, out, err = ask("weibull.aldsurv", "test.csv", "--bootstrap", "5")
    assert "note: the censoring is estimated from these rows;" in err
    quiet = ask("weibull.aldsurv", "test.csv", "--bootstrap", "5", "--quiet")
    assert quiet == (0, out, "")
    assert code == 0
    write(folder / "days.csv", {**TEST, "months": [30 * t for t in TEST["months"]]})
    _, _, err = ask("weibull.aldsurv", "days.csv", "--bootstrap", "0")
    assert "Are they in another unit?" in err
    assert "were followed beyond" in err
    _, _, err = ask("weibull.aldsurv", "train.csv", "--bootstrap", "0")
    assert "looks like the training table: metrics on training rows are optimistic" in err
    assert "beyond" not in err


def test_what_is_infinite_is_null_and_explained(ask, folder):
    code, out, _ = ask("cox.aldsurv", "test.csv", "--json", "--bootstrap", "10")
    found = read_json(out)
    rows = outcome(TEST)
    endless = int(np.isinf(predicted(folder, "cox").median()).sum())
    assert code == 0
    assert endless > 0
    assert found["metrics"]["mae"]["value"] is None
    assert any(note.startswith(f"the median of {endless} of {len(rows)} rows is infinite") for note in found["notes"])
    _, out, _ = ask("cox.aldsurv", "test.csv", "--bootstrap", "0", "--quiet")
    assert re.search(r"mean absolute error +–", out)


def test_events_after_those_of_training_and_at_time_0(ask, folder):
    """No infinity is printed; the log-likelihood has a finite companion, with limits, and a note says why."""
    late = {**TEST, "months": [0.0, 900.0, *TEST["months"][2:]], "status": [1, 1, *TEST["status"][2:]]}
    write(folder / "late.csv", late)
    code, out, err = ask("cox.aldsurv", "late.csv", "--train", "train.csv", "--bootstrap", "10")
    assert code == 0
    assert not re.search(r"\binf\b|∞", out + err)
    assert re.search(r"log-likelihood per row +– +higher is better", out)
    assert re.search(r"bounded log-likelihood +-\d\.\d+ +-\d\.\d+ to -\d\.\d+ +higher is better", out)
    late_row = "1 of 180 rows has no probability under the prediction: row 2 (event at 900, after the last step of its"
    assert late_row in " ".join(err.split())
    _, out, _ = ask("cox.aldsurv", "late.csv", "--train", "train.csv", "--bootstrap", "0", "--json")
    found = read_json(out)["metrics"]
    assert found["log_likelihood"]["value"] is None
    rows = outcome(late)
    expected = metrics.bounded_log_likelihood(predicted(folder, "cox", late), rows, train=outcome(TRAIN))
    assert found["bounded_log_likelihood"]["value"] == pytest.approx(expected, rel=1e-9)
    # A distribution of all times holds neither row impossible: the line is not needed.
    _, out, err = ask("weibull.aldsurv", "late.csv", "--train", "train.csv", "--bootstrap", "0")
    assert re.search(r"log-likelihood per row +-\d+\.\d+", out)
    assert "bounded" not in out + err


def test_table_that_the_model_does_not_know(ask):
    code, out, err = ask("forgetful.aldsurv", "test.csv")
    assert (code, out) == (2, "")
    assert "model 'forgetful.aldsurv': the model does not know the columns of its outcome" in err
    assert err.count("\n") == 1
    code, out, _ = ask("forgetful.aldsurv", "test.csv", "--time", "months", "--event", "status", "--json", "--quiet")
    assert code == 0
    _, same, _ = ask("weibull.aldsurv", "test.csv", "--json", "--quiet")
    assert read_json(out)["metrics"] == read_json(same)["metrics"]


def test_interval_censored_rows(ask, folder):
    lower = np.asarray(TEST["months"])
    upper = np.where(np.asarray(TEST["status"]) == 1, lower + 3, np.inf)
    write(folder / "bounds.csv", {"age": TEST["age"], "dose": TEST["dose"], "from": lower, "to": upper})
    code, out, _ = ask(
        "weibull.aldsurv", "bounds.csv", "--lower", "from", "--upper", "to", "--json", "--bootstrap", "20"
    )  # fmt: skip
    assert code == 0
    found, rows = read_json(out), SurvivalData.interval(lower, upper)
    assert found["metrics"]["harrell_c"]["value"] is None
    by_hand = metrics.bootstrap("cens_dcal", predicted(folder), rows, samples=20, random_state=0)
    assert found["metrics"]["cens_dcal"] == {
        "value": by_hand.value, "lower": by_hand.lower, "upper": by_hand.upper,
    }  # fmt: skip
    assert found["metrics"]["log_likelihood"]["value"] == metrics.log_likelihood(predicted(folder), rows)
    assert any(note.startswith("only calibration and log-likelihood are defined") for note in found["notes"])
    code, out, _ = ask("weibull.aldsurv", "bounds.csv", "--lower", "from", "--upper", "to", "--bootstrap", "0")
    assert code == 0
    assert re.search(r"Harrell's C +–", out)


def test_delayed_entry_and_weights(ask, folder):
    rng = np.random.default_rng(7)
    entry, weight = 0.5 * np.asarray(TEST["months"]), rng.integers(1, 4, 180)
    write(folder / "late.csv", {**TEST, "since": entry, "w": weight})
    words = ("weibull.aldsurv", "late.csv", "--json", "--bootstrap", "0")
    code, out, _ = ask(*words, "--weight", "w")
    weighted = SurvivalData.right(TEST["months"], TEST["status"], weight=weight)
    expected = metrics.evaluate(predicted(folder), weighted, train=weighted)
    assert code == 0
    assert {key: read_json(out)["metrics"][key]["value"] for key in expected} == expected
    code, out, _ = ask(*words, "--entry", "since")
    late = SurvivalData.right(TEST["months"], TEST["status"], entry=entry)
    assert code == 0
    assert read_json(out)["metrics"]["log_likelihood"]["value"] == metrics.log_likelihood(predicted(folder), late)


@pytest.mark.parametrize("n", [1, 9])
def test_few_rows(ask, folder, n):
    chosen = [row for row in range(180) if TEST["status"][row]][:n]
    write(folder / "few.csv", {name: [column[row] for row in chosen] for name, column in TEST.items()})
    code, out, _ = ask("weibull.aldsurv", "few.csv", "--json", "--times", "12", "--group", "centre")
    found = read_json(out)
    assert code == 0
    assert found["bootstrap"] is None
    assert any("too few to resample" in note for note in found["notes"])
    assert not any("resamples" in note or "_" in note for note in found["notes"])
    assert (found["metrics"]["harrell_c"]["value"] is None) == (n == 1)
    code, out, _ = ask("weibull.aldsurv", "few.csv")
    assert code == 0
    assert "interval" not in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("weibull.aldsurv", "test.csv", "--time", "month"), "no column 'month'. Did you mean 'months'"),
        (("weibull.aldsurv", "test.csv", "--group", "center"), "no column 'center'. Did you mean 'centre'"),
        (("weibull.aldsurv", "test.csv", "--group", "age"), "--group 'age' has "),
        (
            ("weibull.aldsurv", "test.csv", "--times", "12,x"),
            "--times must be numbers separated by commas, but holds 'x'",
        ),
        (("weibull.aldsurv", "test.csv", "--times", "-3"), "--times must be above 0, but holds '-3'"),
        (("weibull.aldsurv", "test.csv", "--bootstrap", "1"), "--bootstrap must be 0 (no intervals) or 2 and more"),
        (("weibull.aldsurv", "test.csv", "--bootstrap", "many"), "'--bootstrap'"),
        (("weibull.aldsurv", "test.csv", "--confidence", "95"), "'--confidence'"),
        (("weibull.aldsurv", "test.csv", "--point", "middle"), "'--point'"),
        (("weibull.aldsurv", "test.csv", "--seed", "-1"), "'--seed'"),
        (("weibull.aldsurv", "test.csv", "--train", "trian.csv"), "Did you mean 'train.csv'"),
        (("weibull.aldsurv", "tets.csv"), "Did you mean 'test.csv'"),
        (("weibul.aldsurv", "test.csv"), "Did you mean 'weibull.aldsurv'"),
        (("test.csv", "test.csv"), "not a model file"),
        (("cut.aldsurv", "test.csv"), "cut.aldsurv"),
        (("weibull.aldsurv", "less.csv"), "'less.csv' has no column 'dose', which the model needs"),
        (("weibull.aldsurv", "bare.csv"), "no column 'months'"),
        (("weibull.aldsurv", "calm.csv"), "'calm.csv' has no event in 180 rows"),
        (("weibull.aldsurv", "words.csv"), "column 'months'"),
        (("weibull.aldsurv",), "TABLE"),
    ],
)
def test_bad_input(ask, folder, words, told):
    whole = (folder / "weibull.aldsurv").read_bytes()
    (folder / "cut.aldsurv").write_bytes(whole[: len(whole) // 2])
    write(folder / "less.csv", {name: column for name, column in TEST.items() if name != "dose"})
    write(folder / "bare.csv", covariates(TEST))
    write(folder / "calm.csv", {**TEST, "status": [0] * 180})
    write(folder / "words.csv", {**TEST, "months": ["soon", *TEST["months"][1:]]})
    code, out, err = ask(*words)
    assert (code, out) == (2, "")
    assert err.startswith("aldsurv: error: ")
    assert err.count("\n") == 1
    assert told in err


def test_command_in_a_process(run, folder):
    done = run("evaluate", str(folder / "weibull.aldsurv"), str(folder / "test.csv"), "--bootstrap", "10", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert read_json(done.stdout)["rows"] == 180


def test_reader_that_leaves(folder, environment):
    words = ["evaluate", "weibull.aldsurv", "test.csv", "--bootstrap", "0", "--quiet"]
    with subprocess.Popen(
        [sys.executable, "-m", "aldsurv", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
    ) as process:
        process.stdout.close()
        told = without_machine_warnings(process.stderr.read().decode())
        process.wait()
    assert (process.returncode, told) == (0, "")


def test_predictions_that_are_alike_have_no_slope(ask, folder):
    with pytest.warns(UserWarning, match="one value only"):
        save_model(folder / "alike.aldsurv", {**TRAIN, "constant": [1.0] * len(TRAIN["age"])}, names=("constant",))
    write(folder / "constant.csv", {**TEST, "constant": [1.0] * len(TEST["age"])})
    code, out, err = ask("alike.aldsurv", "constant.csv", "--bootstrap", "0", "--times", "12")
    assert code == 0
    assert re.search(r"^calibration slope +–", out, re.MULTILINE)
    assert re.search(r"^calibration slope at 12 months +–", out, re.MULTILINE)
    assert re.search(r"^observed/expected at 12 months +[01]\.\d", out, re.MULTILINE)
    assert "calibration slope has no value: all predictions are alike.\n" in err
    assert "calibration slope at 12 has no value: all predictions are alike at the time 12.\n" in err
