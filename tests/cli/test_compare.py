from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aldsurv
from aldsurv import ALDSurvival, metrics
from aldsurv.cli.compare.comparison import best_places
from aldsurv.cli.main import main
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.errors import NoSkillWarning

from .evaluation_tables import CoxRegression, covariates, note_on_late_rows, outcome, people, save_model, write

TRAIN, TEST = people(300, seed=1), people(180, seed=2)
DIRECTED = ("harrell_c", "uno_c", "ibs", "mae", "log_likelihood", "cens_dcal")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compare")
    write(path / "train.csv", TRAIN)
    write(path / "test.csv", TEST)
    save_model(path / "right.aldsurv", TRAIN)
    save_model(path / "blind.aldsurv", TRAIN, names=["dose"])
    save_model(path / "ridge.aldsurv", TRAIN, ridge=5.0)
    save_model(path / "cox.aldsurv", TRAIN, CoxRegression)
    save_model(path / "days.aldsurv", TRAIN, remember=OutcomeColumns(time="days", event="status"))
    save_model(path / "died.aldsurv", TRAIN, remember=OutcomeColumns(time="months", event="centre", event_value="02"))
    (path / "other").mkdir()
    save_model(path / "other" / "right.aldsurv", TRAIN, ridge=1.0)
    return path


@pytest.fixture
def ask(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["compare", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def refuse(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


def read_json(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return found


def predicted(folder: Path, name: str, names: tuple[str, ...] = ("age", "dose")):
    return aldsurv.load(folder / f"{name}.aldsurv").predict_distribution(covariates(TEST, names))


def test_json_has_the_numbers_of_the_metrics(ask, folder):
    models = {"right": ("age", "dose"), "blind": ("dose",), "ridge": ("age", "dose")}
    options = ("--train", "train.csv", "--bootstrap", "60", "--confidence", "0.9", "--seed", "3", "--point", "mean")
    code, out, err = ask(*(f"{name}.aldsurv" for name in models), "test.csv", "--json", *options)
    assert (code, err) == (0, "")
    found, rows, train = read_json(out), outcome(TEST), outcome(TRAIN)
    distributions = {name: predicted(folder, name, names) for name, names in models.items()}
    assert [model["name"] for model in found["models"]] == list(models)
    for model in found["models"]:
        assert model["metrics"] == metrics.evaluate(distributions[model["name"]], rows, train=train, point="mean")
    assert list(found["differences"]) == ["blind", "ridge"]
    for name, differences in found["differences"].items():
        assert set(differences) == set(DIRECTED)
        for key, one in differences.items():
            given = {"point": "mean"} if key in ("harrell_c", "uno_c", "mae") else {}
            expected = metrics.compare(
                distributions[name], distributions["right"], rows, metric=key, train=train if key in ("ibs", "uno_c")
                else None, samples=60, level=0.9, random_state=3, **given,
            )  # fmt: skip
            assert one["difference"] == pytest.approx(expected.difference, rel=1e-12)
            assert (one["lower"], one["upper"]) == pytest.approx((expected.lower, expected.upper), rel=1e-9)
            assert one["p_value"] == expected.p_value
    for key in DIRECTED:
        # Holm: the smaller p-value counts twice, the larger once and not less than the first.
        pair = [found["differences"][name][key]["p_value"] for name in ("blind", "ridge")]
        small, large = min(1.0, 2 * min(pair)), max(pair)
        expected = [small if p == min(pair) else max(small, large) for p in pair]
        assert [found["differences"][name][key]["p_corrected"] for name in ("blind", "ridge")] == expected


def test_whole_output(ask, folder):
    code, out, err = ask("blind.aldsurv", "right.aldsurv", "test.csv", "--train", "train.csv", "--bootstrap", "200")
    assert (code, err) == (0, note_on_late_rows(TRAIN, TEST))
    rows, train = outcome(TEST), outcome(TRAIN)
    blind, right = predicted(folder, "blind", ("dose",)), predicted(folder, "right")
    values = [metrics.evaluate(one, rows, train=train) for one in (blind, right)]
    head, table, differences, verdict = out.rstrip("\n").split("\n\n")
    assert head == f"blind (Weibull AFT), right (Weibull AFT) on test.csv\n  {rows.summary()}"
    lines = table.splitlines()
    assert lines[0].split() == ["*", "best", "blind", "right"]
    names = {"harrell_c": "Harrell's C", "ibs": "integrated Brier score", "cal_f_slope": "Cal[f] slope"}
    for key, name in names.items():
        ideal = {"harrell_c": np.inf, "ibs": 0.0, "cal_f_slope": 1.0}[key]
        pair = [one[key] for one in values]
        away = [-value if ideal == np.inf else abs(value - ideal) for value in pair]
        cells = [
            f"{value:.3f}{'*' if distance == min(away) else ''}" for value, distance in zip(pair, away, strict=True)
        ]
        line = next(line for line in lines if line.startswith(name))
        assert line.split()[-2:] == cells
    assert len(lines) == 11
    assert all(line.count("*") == 1 for line in lines)
    first, header, *told = differences.splitlines()
    assert (first, header.split()) == ("right minus blind", ["difference", "95", "%", "interval", "p"])
    compared = metrics.compare(right, blind, rows, metric="harrell_c", samples=200, random_state=0)
    gap, low, high = (f"{value:.4f}" for value in (compared.difference, compared.lower, compared.upper))
    assert " ".join(told[0].split()) == f"Harrell's C {gap} {low} to {high} {compared.p_value:.3f} better"
    assert len(told) == 6
    assert max(map(len, out.splitlines())) <= 80
    ibs = metrics.compare(right, blind, rows, metric="ibs", train=train, samples=200, random_state=0)
    sentences = " ".join(verdict.split())
    assert sentences.startswith(
        "Verdict: right is clearly better than blind by integrated Brier score "
        f"({values[1]['ibs']:.3f} against {values[0]['ibs']:.3f}, p {ibs.p_value:.3f})."
    )
    assert "right against blind: better in Harrell's C, Uno's C, integrated Brier score" in sentences


def test_the_other_way_round_it_is_worse(ask):
    _, out, _ = ask("right.aldsurv", "blind.aldsurv", "test.csv", "--bootstrap", "200", "--quiet")
    assert "Verdict: blind is clearly worse than right by integrated Brier score" in " ".join(out.split())


def test_equal_models_do_not_differ(ask, folder):
    (folder / "twin.aldsurv").write_bytes((folder / "right.aldsurv").read_bytes())
    code, out, _ = ask("right.aldsurv", "twin.aldsurv", "test.csv", "--bootstrap", "100", "--quiet")
    assert code == 0
    assert "Verdict: no clear difference between twin and right by integrated Brier score" in " ".join(out.split())
    assert "better" not in out
    assert "worse" not in out
    # Both are the best.
    assert all(line.count("*") == 2 for line in out.split("\n\n")[1].splitlines()[1:])


def test_several_models(ask):
    code, out, _ = ask("blind.aldsurv", "right.aldsurv", "ridge.aldsurv", "test.csv", "--bootstrap", "200", "--quiet")
    assert code == 0
    told = " ".join(out.split())
    assert re.search(r"Verdict: (right|ridge) has the best integrated Brier score \([\d.]+\); ", told)
    assert "clearly better than blind: right and ridge." in told
    assert "right minus blind" in out
    assert "ridge minus blind" in out


def test_too_few_resamples_for_a_verdict(ask):
    code, out, err = ask("blind.aldsurv", "right.aldsurv", "test.csv", "--bootstrap", "20")
    assert code == 0
    assert "with 20 resamples no p-value is below 0.0952" in err
    assert "no clear difference" in out
    code, out, _ = ask("blind.aldsurv", "right.aldsurv", "test.csv", "--bootstrap", "0", "--quiet")
    assert code == 0
    assert "Verdict: right has the best integrated Brier score" in out
    assert "without intervals it may be chance" in " ".join(out.split())
    assert "difference" not in out


def test_one_row_is_no_evidence(ask, folder):
    row = TEST["status"].index(1)
    write(folder / "one.csv", {name: [column[row]] for name, column in TEST.items()})
    code, out, err = ask("blind.aldsurv", "right.aldsurv", "one.csv")
    assert code == 0
    assert "too few to resample" in err
    assert "clearly" not in out
    assert "without intervals it may be chance" in " ".join(out.split())


def test_narrow_terminal(ask, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    code, out, _ = ask("blind.aldsurv", "right.aldsurv", "cox.aldsurv", "test.csv", "--bootstrap", "50", "--quiet")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 40
    assert out.count("integrated Brier score") >= 4
    for name in ("blind", "right", "cox"):
        assert re.search(rf"^\* best.*\b{name}\b", out, re.MULTILINE)


def test_many_models_in_blocks_of_columns(ask, folder):
    names = [f"a rather long name {k}" for k in range(5)]
    for name in names:
        (folder / f"{name}.aldsurv").write_bytes((folder / "right.aldsurv").read_bytes())
    code, out, _ = ask(*(f"{name}.aldsurv" for name in names), "test.csv", "--bootstrap", "0", "--quiet")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert all(name in out for name in names)


def plateau(n: int, seed: int) -> dict[str, list[Any]]:
    """A table in which half of the rows never have the event."""
    rng, columns = np.random.default_rng(seed), people(n, seed)
    never = rng.random(n) < 0.5
    return {
        **columns,
        "months": np.where(never, 200.0, np.minimum(columns["months"], 40.0)).tolist(),
        "status": np.where(never, 0, columns["status"]).tolist(),
    }


@pytest.fixture(scope="module")
def infinite(folder: Path) -> dict[str, tuple[str, str]]:
    """Models with infinite times: name of the file, table, and the point that is infinite."""
    cured = plateau(300, 5)
    write(folder / "plateau.csv", plateau(180, 6))
    save_model(folder / "cure.aldsurv", cured, cure=True)
    save_model(folder / "plain.aldsurv", cured)
    # Times whose logarithms have heavy tails: log-ALD has no finite mean.
    rng = np.random.default_rng(0)
    heavy = {**TRAIN, "months": np.exp(rng.standard_cauchy(300).clip(-8, 8)).tolist(), "status": [1] * 300}
    small = {"max_epochs": 2, "members": 1, "components": 1, "hidden": (4,), "head_hidden": (4,), "device": "cpu"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoSkillWarning)
        save_model(folder / "ald.aldsurv", heavy, ALDSurvival, support="log", random_state=0, **small)
    return {"cox": ("test.csv", "median"), "cure": ("plateau.csv", "mean"), "ald": ("test.csv", "mean")}


@pytest.mark.parametrize("name", ["cox", "cure", "ald"])
@pytest.mark.parametrize("first", [True, False])
def test_infinite_times_are_compared_by_the_restricted_mean(ask, folder, infinite, name, first):
    table, point = infinite[name]
    columns = TEST if table == "test.csv" else plateau(180, 6)
    other = "right" if table == "test.csv" else "plain"
    rows, loaded = outcome(columns), [aldsurv.load(folder / f"{one}.aldsurv") for one in (name, other)]
    distributions = [model.predict_distribution(covariates(columns)) for model in loaded]
    assert np.isinf(metrics.mean_absolute_error(distributions[0], rows, point=point))
    names = (name, other) if first else (other, name)
    options = ("--bootstrap", "30", *(() if point == "median" else ("--point", point)))
    code, out, _ = ask(*(f"{one}.aldsurv" for one in names), table, "--json", *options)
    assert code == 0
    found = read_json(out)
    for one, distribution in zip((name, other), distributions, strict=True):
        model = next(model for model in found["models"] if model["name"] == one)
        assert model["point"] == "restricted_mean"
        error = metrics.mean_absolute_error(distribution, rows, point="restricted_mean")
        assert model["metrics"]["mae"] == pytest.approx(error, rel=1e-6)
    pair = [next(model["metrics"]["mae"] for model in found["models"] if model["name"] == one) for one in names]
    assert found["differences"][names[1]]["mae"]["difference"] == pytest.approx(pair[1] - pair[0], rel=1e-6)
    assert "mae" not in found["not_compared"]
    note = next(note for note in found["notes"] if f"{name}.aldsurv predicts an infinite {point} for " in note)
    assert re.search(r"of all models (is|are) by the mean time up to", note)
    # Infinite times would all be tied.
    for model in found["models"] if point == "mean" else []:
        assert model["ranking_point"] == "restricted_mean"
    assert found["models"][not first]["metrics"]["harrell_c"] != 0.5


def test_an_infinite_score_neither_wins_nor_loses(ask, folder):
    late = {**TEST, "months": [900.0, *TEST["months"][1:]], "status": [1, *TEST["status"][1:]]}
    write(folder / "late.csv", late)
    code, out, _ = ask("right.aldsurv", "cox.aldsurv", "late.csv", "--bootstrap", "30", "--quiet")
    assert code == 0
    assert re.search(r"log-likelihood per row +-[\d.]+ +–\n", out)
    assert "Not compared: log-likelihood per row of cox, which is infinite." in out
    # Of three models the two with finite ones are compared.
    words = ("right.aldsurv", "cox.aldsurv", "blind.aldsurv", "late.csv", "--bootstrap", "30")
    _, out, _ = ask(*words, "--json")
    found = read_json(out)
    assert found["not_compared"] == {"log_likelihood": ["cox"]}
    assert "log_likelihood" not in found["differences"]["cox"]
    values = {model["name"]: model["metrics"]["log_likelihood"] for model in found["models"]}
    difference = found["differences"]["blind"]["log_likelihood"]
    assert difference["difference"] == pytest.approx(values["blind"] - values["right"])
    assert difference["p_corrected"] == difference["p_value"]
    # Of the first model it is compared with none.
    _, out, _ = ask("cox.aldsurv", "right.aldsurv", "blind.aldsurv", "late.csv", "--bootstrap", "30", "--json")
    found = read_json(out)
    assert all("log_likelihood" not in one for one in found["differences"].values())
    assert all("bounded_log_likelihood" in one for one in found["differences"].values())


def test_impossible_rows_are_compared_by_the_bounded_log_likelihood(ask, folder):
    late = {**TEST, "months": [900.0, *TEST["months"][1:]], "status": [1, *TEST["status"][1:]]}
    write(folder / "late.csv", late)
    code, out, err = ask("right.aldsurv", "cox.aldsurv", "late.csv", "--bootstrap", "30", "--json")
    found = read_json(out)
    assert (code, err) == (0, "")
    assert found["models"][1]["metrics"]["log_likelihood"] is None
    assert any("row 1 (event at 900, after the last step of its curve)" in note for note in found["notes"])
    assert "log_likelihood" not in found["differences"]["cox"]
    one, other = (found["models"][k]["metrics"]["bounded_log_likelihood"] for k in (1, 0))
    assert found["differences"]["cox"]["bounded_log_likelihood"]["difference"] == pytest.approx(one - other)
    _, out, err = ask("right.aldsurv", "cox.aldsurv", "late.csv", "--bootstrap", "30")
    assert not re.search(r"\binf\b|∞", out + err)
    assert out.count("bounded log-likelihood") == 3  # of the models, of their difference, in the verdict
    assert "bounded log-likelihood" in " ".join(out.split()).split("Not compared")[0]


def test_what_is_not_finite_is_never_the_best():
    assert best_places("mae", [np.inf, 3.0, np.nan]) == []
    assert best_places("mae", [np.inf, 3.0, 4.0]) == [1]
    assert best_places("log_likelihood", [-np.inf, -np.inf]) == []
    assert best_places("cal_s_slope", [0.9, 1.2, 1.1]) == [0]


def test_names_of_the_same_file_in_two_folders(ask):
    code, out, _ = ask("right.aldsurv", "other/right.aldsurv", "test.csv", "--json", "--bootstrap", "0")
    assert code == 0
    assert [model["name"] for model in read_json(out)["models"]] == ["right.aldsurv", "other/right.aldsurv"]


def test_interval_censored_rows(ask, folder):
    lower = np.asarray(TEST["months"])
    upper = np.where(np.asarray(TEST["status"]) == 1, lower + 3, np.inf)
    write(folder / "bounds.csv", {"age": TEST["age"], "dose": TEST["dose"], "from": lower, "to": upper})
    words = ("blind.aldsurv", "right.aldsurv", "bounds.csv", "--lower", "from", "--upper", "to", "--bootstrap", "100")
    code, out, _ = ask(*words, "--json")
    found = read_json(out)
    assert code == 0
    assert set(found["differences"]["right"]) == {"log_likelihood", "cens_dcal"}
    assert found["verdict"][0].startswith("Verdict: right is clearly better than blind by log-likelihood per row")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Give two models or more, and a table after them"),
        (("right.aldsurv", "test.csv"), "Give two models or more, and a table after them"),
        (("right.aldsurv", "right.aldsurv", "test.csv"), "'right.aldsurv' is given more than once"),
        (("test.csv", "right.aldsurv", "blind.aldsurv"), "'test.csv' is damaged or not a model file"),
        (("blind.aldsurv", "right.aldsurv", "less.csv"), "model 'right.aldsurv': 'less.csv' has no column 'age'"),
        (("right.aldsurv", "days.aldsurv", "test.csv"), "'test.csv': model 'days.aldsurv': there is no column 'days'"),
        (("right.aldsurv", "died.aldsurv", "test.csv"), "but 'died.aldsurv' with time 'months', event 'centre'"),
        (("right.aldsurv", "blind.aldsurv", "calm.csv"), "'calm.csv' has no event"),
        (("right.aldsurv", "gone.aldsurv", "test.csv"), "no file 'gone.aldsurv'"),
        (("right.aldsurv", "blind.aldsurv", "test.csv", "--bootstrap", "1"), "--bootstrap must be 0"),
    ],
)
def test_bad_input(ask, folder, words, told):
    write(folder / "less.csv", {name: column for name, column in TEST.items() if name != "age"})
    write(folder / "calm.csv", {**TEST, "status": [0] * 180})
    code, out, err = ask(*words)
    assert (code, out) == (2, "")
    assert err.startswith("aldsurv: error: ")
    assert err.count("\n") == 1
    assert told in err


def test_names_given_settle_the_outcome(ask):
    words = ("right.aldsurv", "died.aldsurv", "test.csv", "--bootstrap", "0", "--quiet")
    code, _, _ = ask(*words, "--time", "months", "--event", "status", "--event-value", "1")
    assert code == 0


def test_command_in_a_process(run, folder):
    files = [str(folder / name) for name in ("right.aldsurv", "blind.aldsurv", "test.csv")]
    done = run("compare", *files, "--bootstrap", "30", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert read_json(done.stdout)["first"] == "right"
