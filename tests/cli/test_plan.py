from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aldsurv.cli.main import main
from aldsurv.cli.plan import curve_run
from aldsurv.planning import learning_curve

from .evaluation_tables import people, write

DEVELOP = ["develop", "--parameters", "30", "--rate", "0.065", "--follow-up", "2.07", "--horizon", "2"]
TABLE = ["table", "people.csv", "--time", "months", "--event", "status", "--model", "weibull_aft"]
SIZES = ["--sizes", "40,80,120,160,200", "--repeats", "3"]


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write(tmp_path / "people.csv", people(280, seed=1))

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["plan", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def read_json(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text, parse_constant=pytest.fail)
    return found


def test_develop_prints_the_published_example(ask):
    code, out, err = ask(*DEVELOP, "--r2", "0.051")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[1].split()[:3] == ["shrinkage", "5143", "692"]
    assert lines[2].split()[:3] == ["optimism", "1039", "140"]
    assert "5143 people with 692 events are needed, 23.1 events per parameter" in " ".join(out.split())
    assert "0.122 (0.113 to 0.130)" in " ".join(out.split())
    assert max(map(len, lines)) <= 80


def test_develop_as_json_from_a_concordance(ask):
    code, out, _ = ask(*DEVELOP, "--c", "0.69", "--json")
    facts = read_json(out)
    assert code == 0
    assert facts["people"] == max(one["people"] for one in facts["criteria"])
    assert facts["deciding"] == "shrinkage"
    assert facts["facts"]["parameters"] == 30
    assert 0.05 < facts["facts"]["cox_snell"] < 0.055


def test_validate_prints_every_criterion(ask):
    code, out, err = ask("validate", "--risk", "0.018", "--c", "0.8", "--ratio-width", "1", "--threshold", "0.03")
    assert (code, err) == (0, "")
    by_name = {line.split("  ")[0]: line.split("  ")[1:] for line in out.splitlines() if "width" in line}
    assert list(by_name) == ["observed/expected", "calibration slope", "concordance", "net benefit"]
    numbers = {name: next(word for word in words if word.strip()).strip() for name, words in by_name.items()}
    assert (numbers["observed/expected"], numbers["concordance"]) == ("905", "4252")
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = ask("validate", "--risk", "0.17", "--d", "1.1", "--censored", "0.7", "--json")
    assert read_json(out)["deciding"] == "calibration slope"


@pytest.mark.parametrize("width", ["40", "60"])
def test_criteria_fit_a_narrow_terminal(ask, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    _, out, _ = ask("validate", "--risk", "0.2", "--c", "0.7")
    assert max(map(len, out.splitlines())) <= int(width)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (DEVELOP, "one of --r2, --nagelkerke, --c and --d is needed, but none was given."),
        ([*DEVELOP, "--c", "0.7", "--d", "1"], "but --c and --d was given"),
        ([*DEVELOP, "--r2", "2"], "--r2 must be a number from 1e-06 to below 1, but is 2.0."),
        ([*DEVELOP, "--r2", "0.6"], "--r2 must be below the largest possible with these events"),
        ([*DEVELOP[:3], "--rate", "-1", *DEVELOP[5:], "--c", "0.7"], "--rate must be a number above 0"),
        ([*DEVELOP, "--r2", "0.05", "--rate", "9"], "--rate times follow_up is the number of events per person"),
        (["develop", "--rate", "1"], "Missing option '--parameters'"),
        (["validate", "--risk", "0.2"], "one of --c and --d is needed"),
        (["validate", "--risk", "0.2", "--c", "0.4"], "--c must be a number between 0.5 and 1, but is 0.4."),
        (["validate", "--risk", "0.2", "--c", "0.6", "--censored", "1"], "--censored must be a number from 0 to below"),
        ([*TABLE, "--sizes", "10,x"], "--sizes must be numbers separated by commas"),
        ([*TABLE, "--sizes", "10.5"], "--sizes must be whole numbers of rows"),
        ([*TABLE, "--sizes", "1000"], "--sizes must be a whole number from 2 to 210, but is 1000."),
        ([*TABLE, "--repeats", "0"], "--repeats must be a whole number from 1 on, but is 0."),
        ([*TABLE, "--held-out", "1"], "--held-out must be a share between 0 and 1, but is 1."),
        ([*TABLE, "--record", "people.csv"], "which is read from"),
        (["table", "people.csv", "--time", "months"], "the outcome needs --time and --event"),
        (["table", "person.csv", "--time", "months", "--event", "status"], "Did you mean 'people.csv'?"),
        ([*TABLE[:-1], "coxx"], "unknown model 'coxx'"),
    ],
)
def test_what_is_wrong_is_one_line(ask, tmp_path, words, message):
    code, out, err = ask(*words)
    assert (code, out) == (2, "")
    assert err.startswith("aldsurv: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_table_shows_the_curve_and_what_more_rows_would_bring(ask, tmp_path):
    code, out, err = ask(*TABLE, *SIZES)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Weibull AFT on people.csv: 280 rows"
    assert [line.split()[0] for line in lines[4:9]] == ["40", "80", "120", "160", "200"]
    text = " ".join(out.split())
    assert "with twice as many, a change of" in text
    assert "From the smaller parts alone" in text
    assert max(map(len, lines)) <= 80
    (record,) = tmp_path.glob("people.plan-*.json")
    assert record.name in text


def test_table_goes_on_from_its_record(ask, tmp_path, monkeypatch):
    fits = []
    original = learning_curve

    def stopped(*arguments, on_cell, **options):
        def count(cell):
            on_cell(cell)
            fits.append(cell)
            if len(fits) == 4:
                raise KeyboardInterrupt

        return original(*arguments, on_cell=count, **options)

    monkeypatch.setattr(curve_run, "learning_curve", stopped)
    code, out, err = ask(*TABLE, *SIZES)
    assert (code, out) == (130, "")
    assert "the fits so far are in people.plan-" in err
    code, out, _ = ask(*TABLE, *SIZES, "--json")
    facts = read_json(out)
    # Fifteen in all, of which four were there.
    assert len(fits) == 15
    assert code == 0
    (record,) = tmp_path.glob("people.plan-*.json")
    assert facts["record"] == record.name
    assert facts["sizes"] == [40, 80, 120, 160, 200]
    assert [point["rows"] for point in facts["metrics"]["ibs"]["points"]] == facts["sizes"]
    assert [one["rows"] for one in facts["metrics"]["harrell_c"]["extrapolation"]] == [400, 800]
    # The same as at one go.
    record.unlink()
    monkeypatch.setattr(curve_run, "learning_curve", original)
    again = read_json(ask(*TABLE, *SIZES, "--json")[1])
    assert again == facts


def test_table_says_what_is_missing_for_an_outlook(ask):
    code, out, _ = ask(*TABLE, "--sizes", "60,200", "--repeats", "1", "--record", "mine.json")
    assert code == 0
    assert "four sizes and three repetitions at least" in " ".join(out.split())
    assert Path("mine.json").exists()
    code, _, err = ask(*TABLE, "--seed", "1", "--record", "mine.json")
    assert code == 2
    assert "'mine.json' is of another table, model or seed" in err
    Path("notes.txt").write_text("mine", encoding="utf-8")
    code, _, err = ask(*TABLE, "--record", "notes.txt")
    assert code == 2
    assert "is not a record of aldsurv" in err
    assert Path("notes.txt").read_text(encoding="utf-8") == "mine"


def test_help_lists_the_three(ask):
    code, out, _ = ask()
    assert code == 0
    assert all(name in out for name in ("develop", "validate", "table", "Examples:"))
    for name in ("develop", "validate", "table"):
        code, out, _ = ask(name, "--help")
        assert code == 0
        assert "Examples:" in out
