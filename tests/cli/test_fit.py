from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from child_process import without_machine_warnings

import aldsurv
from aldsurv import SurvivalData, metrics
from aldsurv.cli.fit import fit_run
from aldsurv.cli.main import main
from aldsurv.datasets import load, read_table
from aldsurv.metrics.calibration_summary import calibration_summary
from aldsurv.tuning import search as tuning

OUTCOME = ["--time", "months", "--event", "status"]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def people(n: int = 150, seed: int = 0) -> dict[str, list]:
    """Columns of every sort: numbers with gaps, text, codes, an identifier, a constant."""
    rng = np.random.default_rng(seed)
    age, grade = rng.normal(60, 10, n), rng.choice(["I", "II", "III"], n)
    event = 20 * np.exp(-(age - 60) / 20) * rng.weibull(1.5, n)
    lost = rng.exponential(40, n)
    time = np.minimum(event, lost)
    return {
        "id": [f"p{k:03d}" for k in range(n)],
        "age": [f"{value:.1f}" if k % 10 else "" for k, value in enumerate(age)],
        "grade": grade.tolist(),
        "site": rng.choice(["007", "012"], n).tolist(),
        "country": ["x"] * n,
        "months": [f"{value:.3f}" for value in time],
        "status": ["dead" if seen else "alive" for seen in event <= lost],
    }


def write(path: str, columns: dict[str, list], mark: str = ",") -> Path:
    lines = [mark.join(columns), *(mark.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    Path(path).write_text("\n".join(lines) + "\n")
    return Path(path)


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def one_error_line(text: str) -> str:
    *notes, error = text.splitlines()
    assert error.startswith("aldsurv: error: ")
    assert all(note.startswith("aldsurv: note: ") for note in notes)
    return error


def small(n: int = 60, **changed: object) -> Path:
    rng = np.random.default_rng(1)
    columns = {
        "months": [f"{v:.3f}" for v in rng.exponential(5, n)],
        "status": (rng.random(n) < 0.7).astype(int).tolist(),
        "x": [f"{v:.3f}" for v in rng.normal(size=n)],
    }
    for name, rows in changed.items():
        for row, value in rows.items():  # type: ignore[attr-defined]
            columns[name][row] = value
    return write("small.csv", columns)


def test_what_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    table = people()
    write("people.csv", table)
    options = ["--event-value", "dead", "--categorical", "site", "--drop", "country", "--unit", "months"]
    assert main(["fit", "people.csv", *OUTCOME, *options, "--model", "weibull_aft"]) == 0
    out, err = capsys.readouterr()
    ages = np.array([float(value) for value in table["age"] if value])
    times, deaths = np.array(table["months"], float), table["status"].count("dead")
    lines = out.splitlines()
    assert lines[0] == "people.csv: 150 rows, 7 columns (text, delimiter comma, decimal point, utf-8)"
    assert lines[1].startswith(f"  {deaths} events ({100 * deaths / 150:.0f} %), time {times.min():.3g}–")
    assert lines[1].endswith(" months")
    assert lines[2:9] == [
        "  id       left out: text that differs in every row, as an identifier does",
        f"  age      number, {ages.min():.4g} to {ages.max():.4g}; 15 gaps filled with {np.median(ages):.4g}",
        "  grade    category: I, II, III",
        "  site     category: 007, 012",
        "  country  left out",
        "  months   outcome: time",
        "  status   outcome: event, observed where dead",
    ]
    assert lines[10].startswith("Fitted to 120 rows; on 30 held out (")
    assert "95 % interval" in lines[11]
    assert sum(line.startswith(("Harrell's C ", "log-likelihood per row ")) for line in lines) == 2
    assert "Saved people.aldsurv: fitted to all 150 rows (" in out
    assert "The scores come from the same settings fitted without the held-out rows." in out
    assert max(map(len, lines)) <= 80
    note = "WeibullAFT leaves out columns that hold text that differs in every row, as identifiers do: column 'id'."
    few = "only 22 events: the scores are uncertain, and their intervals too narrow."
    assert (
        err
        == f"aldsurv: note: {note} To use it as a category all the same, give --categorical id.\naldsurv: note: {few}\n"
    )
    assert names() == ["people.aldsurv", "people.csv"]


def test_figures_and_model_are_those_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    write("people.csv", people())
    given = [*OUTCOME, "--event-value", "dead", "--drop", "id,country", "--model", "cox", "--seed", "3"]
    assert main(["fit", "people.csv", *given, "--held-out", "0.3", "--out", "m.aldsurv", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == ""
    table = read_table("people.csv", time="months", event="status", event_value="dead", drop=["id", "country"])
    assert table.y is not None
    train_rows, test_rows = table.y.split_rows(0.3, random_state=3)
    train, test = table[train_rows], table[test_rows]
    assert train.y is not None
    assert test.y is not None
    predicted = aldsurv.CoxRegression().fit(train.x, train.y).predict_distribution(test.x)
    expected: dict[str, object] = dict(
        metrics.evaluate(predicted, test.y, train=train.y, bootstrap=200, random_state=3)
    )
    expected |= {
        name: one
        for name, one in calibration_summary(predicted, test.y).items()
        if name in ("calibration_slope", "observed_expected_ratio")
    }
    held = found["held_out"]
    assert (held["rows"], held["events"]) == (45, test.y.n_events)
    assert set(held["metrics"]) == set(expected)
    for name, one in held["metrics"].items():
        for key in ("value", "lower", "upper"):
            wanted = float(getattr(expected[name], key))
            assert one[key] == (pytest.approx(wanted, rel=1e-12) if np.isfinite(wanted) else None)
    by_chance = metrics.censored_d_calibration_by_chance(predicted, test.y)
    assert held["cens_dcal_by_chance"] == pytest.approx(by_chance, rel=1e-12)
    model = aldsurv.load("m.aldsurv")
    everything = aldsurv.CoxRegression().fit(table.x, table.y)
    assert np.array_equal(model.predict(table.x), everything.predict(table.x))
    assert found["fitted_to"] == found["rows"] == model.trained_on_.rows == 150
    assert model.trained_on_.outcome == {"time": "months", "event": "status", "event_value": "dead"}
    assert (found["file"], found["model"], found["interrupted"]) == ("m.aldsurv", "cox", False)
    assert [column["name"] for column in found["columns"]] == list(people())


def test_networks_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(small())
    options = ["--members", "2", "--support", "positive", "--recipe", "paper", "--seed", "4", "--unit", "days"]
    assert main(["fit", path, *OUTCOME, *options, "--held-out", "0", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    model = aldsurv.load("small.aldsurv")
    table = read_table(path, time="months", event="status")
    again = aldsurv.ALDSurvival("paper", members=2, support="positive", random_state=4).fit(table.x, table.y)
    assert np.array_equal(model.predict(table.x), again.predict(table.x))
    assert model.unit == "days"


@pytest.mark.usefixtures("quick_report")
@pytest.mark.parametrize("name", ["boosted_ald", "icald", "icald_calibrated", "recalibrated"])
def test_from_a_table_to_a_page(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    write("people.csv", people(60))
    given = [*OUTCOME, "--event-value", "dead", "--drop", "id,country", "--model", name, "--held-out", "0"]
    # The model within some, which the command line does not reach, has a quarter of the members so.
    monkeypatch.setattr(aldsurv.ALDSurvival, "RECIPES_BY_SIZE", {})
    if name in ("boosted_ald", "icald"):
        given += ["--members", "2"]
    assert main(["fit", "people.csv", *given, "--quiet", "--out", "m.aldsurv"]) == 0
    assert main(["info", "m.aldsurv"]) == 0
    assert "outcome      time 'months', event 'status', event value 'dead'" in capsys.readouterr().out
    assert main(["predict", "m.aldsurv", "people.csv", "--times", "12", "--band", "0.9", "--out", "p.csv"]) == 0
    found = pd.read_csv("p.csv")
    assert list(found) == ["survival_12", "survival_12_lower", "survival_12_upper", "outside"]
    assert found.notna().all(axis=None)
    assert main(["evaluate", "m.aldsurv", "people.csv", "--bootstrap", "20", "--json"]) == 0
    assert main(["report", "m.aldsurv", "people.csv", "--people", "1", "--out", "page.html"]) == 0
    assert names() == ["m.aldsurv", "p.csv", "page.html", "people.csv"]


@pytest.mark.parametrize("ending", ["tsv", "csv.gz", "parquet"])
def test_kinds_of_files(capsys: pytest.CaptureFixture[str], ending: str) -> None:
    frame = pd.read_csv(small())
    name = f"other.{ending}"
    if ending == "parquet":
        frame.to_parquet(name)
    else:
        frame.to_csv(name, sep="\t" if ending == "tsv" else ",", index=False)
    assert main(["fit", name, *OUTCOME, "--model", "cox", "--held-out", "0"]) == 0
    assert capsys.readouterr().out.startswith(f"{name}: 60 rows, 3 columns (")
    assert Path("other.aldsurv").is_file()


def test_intervals_weights_and_entry(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    lower = np.floor(rng.weibull(2, 60) * 5)
    columns = {"from": lower, "to": lower + 1, "w": rng.uniform(1, 2, 60).round(2), "x": rng.normal(size=60).round(3)}
    write("teeth.csv", {name: values.tolist() for name, values in columns.items()})
    given = ["--lower", "from", "--upper", "to", "--weight", "w", "--model", "lognormal_aft", "--json"]
    assert main(["fit", "teeth.csv", *given]) == 0
    found = json.loads(capsys.readouterr().out)
    # No other metric has a definition for intervals.
    assert list(found["held_out"]["metrics"]) == ["log_likelihood"]
    data = SurvivalData.interval(columns["from"], columns["to"], weight=columns["w"])
    train_rows, test_rows = data.split_rows(0.2, random_state=0)
    model = aldsurv.LogNormalAFT().fit({"x": columns["x"][train_rows]}, data[train_rows])
    expected = metrics.log_likelihood(model.predict_distribution({"x": columns["x"][test_rows]}), data[test_rows])
    assert found["held_out"]["metrics"]["log_likelihood"]["value"] == pytest.approx(expected, rel=1e-12)


def test_many_columns_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    columns = {f"a rather long name of column {k}": rng.normal(size=80).round(3).tolist() for k in range(65)}
    columns["a very long category"] = rng.choice([f"level number {k}" for k in range(9)], 80).tolist()
    write("wide.csv", {**columns, "months": rng.exponential(5, 80).round(3).tolist(), "status": [1] * 80})
    for width in (80, 40):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["fit", "wide.csv", *OUTCOME, "--members", "1", "--out", "w.aldsurv"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= width
        assert "  … and 38 more" in lines
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["info", "w.aldsurv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert "  … and 36 more" in lines


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--time", "month", "--event", "status"], "there is no column 'month'. Did you mean 'months'?"),
        (["--time", "months"], "needs --time and --event, or --lower and --upper, but got --time"),
        ([*OUTCOME, "--lower", "x"], "but got --time and --event and --lower"),
        ([*OUTCOME, "--drop", "y"], "there is no column 'y'"),
        ([*OUTCOME, "--drop", "x"], "no columns to learn from beside the outcome"),
        ([*OUTCOME, "--drop", "x,months"], "cannot be both time and dropped. Change --drop"),
        ([*OUTCOME, "--categorical", "xx"], "there is no column 'xx'. Did you mean 'x'?"),
        (
            [*OUTCOME, "--event-value", "2"],
            "--event-value 2 does not occur in event, which holds 0 (17 rows), 1 (43 rows) (column 'status')",
        ),
        ([*OUTCOME, "--model", "coxx"], "unknown model 'coxx'. Did you mean 'cox' or 'coxnet'?"),
        ([*OUTCOME, "--model", "cox", "--support", "log"], "the model 'cox' has no --support"),
        (
            [*OUTCOME, "--model", "cox", "--members", "2"],
            "it has --ridge and --unit; models with --members: ald, boosted_ald",
        ),
        (
            [*OUTCOME, "--model", "deepsurv", "--support", "log"],
            "it has --recipe, --members, --learning-rate and --unit; models",
        ),
        ([*OUTCOME, "--model", "recalibrated", "--unit", "days"], "the model 'recalibrated' has no --unit"),
        ([*OUTCOME, "--model", "recalibrated", "--categorical", "x"], "has no --categorical, but 'x' holds codes"),
        ([*OUTCOME, "--support", "lg"], "--support must be one of 'real', 'positive', 'log', 'auto', but is 'lg'"),
        ([*OUTCOME, "--members", "0"], "members must be a whole number from 1"),
        ([*OUTCOME, "--recipe", "cake"], "recipe must be one of default, small, large, larger, huge, paper"),
        # Of models without recipes, too, before anything is read.
        (
            [*OUTCOME, "--model", "boosted_ald", "--support", "auto"],
            "--support must be one of 'real', 'positive', 'log'",
        ),
        ([*OUTCOME, "--model", "boosted_ald", "--members", "0"], "members must be a whole number from 1"),
        ([*OUTCOME, "--model", "icald", "--support", "lg"], "--support must be one of 'real', 'positive', 'log'"),
        ([*OUTCOME, "--model", "icald_calibrated", "--members", "0"], "members must be a whole number from 1"),
        ([*OUTCOME, "--held-out", "1"], "--held-out must be a share from 0 (none) to below 1, but is 1"),
        ([*OUTCOME, "--held-out", "-0.1"], "--held-out must be a share"),
        ([*OUTCOME, "--held-out", "nan"], "--held-out must be a share"),
        ([*OUTCOME, "--seed", "-1"], "--seed must be a whole number from 0"),
        ([*OUTCOME, "--tune", "0"], "--tune must be a number of trials from 1"),
        ([*OUTCOME, "--out", "."], "is a folder. Name a file in it"),
        ([*OUTCOME, "--out", "nowhere/m.aldsurv"], "the folder 'nowhere' of --out does not exist"),
        ([*OUTCOME, "--out", "small.csv"], "--out 'small.csv' is the file 'small.csv', which is read from"),
        ([*OUTCOME, "--jsn"], "--json"),
    ],
)
def test_wrong_requests(capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    small()
    before = Path("small.csv").read_bytes()
    assert main(["fit", "small.csv", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in one_error_line(err)
    assert names() == ["small.csv"]
    assert Path("small.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"months": {4: "-2"}}, "'small.csv': time must be finite and not negative, but 1 of 60 values is not"),
        ({"months": {4: "-2"}}, "first -2.0 (column 'months', line 6)"),
        ({"months": {4: "inf"}}, "first inf (column 'months', line 6)"),
        ({"months": {4: ""}}, "first nan (column 'months', line 6)"),
        ({"months": {4: "long"}}, "but 1 of 60 values is not, first the text 'long' (column 'months', line 6)"),
        ({"status": {4: ""}}, "known in every row, but 1 of 60 values is not, first nan (column 'status', line 6)"),
        ({"status": {4: 2}}, "Name the value that is the event, such as --event-value 1."),
        ({"status": dict.fromkeys(range(60), 0)}, "'small.csv' has no event in 60 rows. Check which value of 'status'"),
        ({"x": {4: "inf"}}, "finite, but 1 of 60 values is not, first inf (column 'x', row 5 below the header)"),
        ({"x": {4: "four"}}, "holds numbers mixed with text, first 'four' (column 'x', row 5 below the header)"),
        ({"x": {4: "four"}}, "or the column by --categorical"),
        ({"x": dict.fromkeys(range(60), 1)}, "no column has two values to learn from in its 60 rows"),
        ({"x": dict.fromkeys(range(60), "")}, "no column has two values to learn from"),
    ],
)  # fmt: skip
def test_wrong_values(capsys: pytest.CaptureFixture[str], changed: dict, told: str) -> None:
    small(**changed)
    assert main(["fit", "small.csv", *OUTCOME, "--members", "1"]) == 2
    assert told in one_error_line(capsys.readouterr().err)
    assert names() == ["small.csv"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "'t.csv' is empty"),
        (b"months,status,x\n", "has a header but no rows"),
        (bytes(range(256)) * 8, "'t.csv' is not a table"),
        (b"months,status,x\n3,1,2\n", "no column has two values to learn from in its 1 row."),
        (None, "there is no file 't.csv'. Check the name."),
    ],
)
def test_wrong_files(capsys: pytest.CaptureFixture[str], content: bytes | None, told: str) -> None:
    if content is not None:
        Path("t.csv").write_bytes(content)
    assert main(["fit", "t.csv", *OUTCOME]) == 2
    assert told in one_error_line(capsys.readouterr().err)
    Path("folder").mkdir()
    assert main(["fit", "folder", *OUTCOME]) == 2
    assert "'folder' holds no files of Parquet" in one_error_line(capsys.readouterr().err)


def test_only_events_and_few_rows(capsys: pytest.CaptureFixture[str]) -> None:
    small(status=dict.fromkeys(range(60), 1))
    assert main(["fit", "small.csv", *OUTCOME, "--model", "weibull_aft"]) == 0
    assert "  60 events (100 %), time" in capsys.readouterr().out
    small(7)
    assert main(["fit", "small.csv", *OUTCOME, "--model", "weibull_aft"]) == 0
    out, err = capsys.readouterr()
    assert err == "aldsurv: note: too few rows (7) to hold 20 % out: how well the model predicts is not known.\n"
    assert "held out" not in out
    assert "fitted to all 7 rows" in out
    rows = {k: int(k == 7) for k in range(60)}
    small(status=rows)
    assert main(["fit", "small.csv", *OUTCOME, "--model", "weibull_aft"]) == 0
    assert "note: too few events (1) to hold some out" in capsys.readouterr().err


def test_a_model_is_replaced_as_a_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(small())
    assert main(["fit", path, *OUTCOME, "--model", "cox"]) == 0
    first = Path("small.aldsurv").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(fit_run, "fit_model", lambda *given: (_ for _ in ()).throw(OSError(28, "No space left")))
        assert main(["fit", path, *OUTCOME, "--model", "cox"]) == 1
    assert one_error_line(capsys.readouterr().err) == "aldsurv: error: No space left"
    assert Path("small.aldsurv").read_bytes() == first
    assert main(["fit", path, *OUTCOME, "--model", "weibull_aft"]) == 0
    assert isinstance(aldsurv.load("small.aldsurv"), aldsurv.WeibullAFT)
    assert names() == ["small.aldsurv", "small.csv"]


def test_a_folder_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    path = str(small())
    (folder / "closed").mkdir(mode=0o555)
    if os.access("closed", os.W_OK):
        # Permissions do not bind this user: what the system would say to others.
        monkeypatch.setattr(os, "access", lambda place, mode: Path(place).name != "closed")
    assert main(["fit", path, *OUTCOME, "--model", "cox", "--out", "closed/m.aldsurv"]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "aldsurv: error: closed: Permission denied\n")


def test_another_kind_of_file_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit", str(small()), *OUTCOME, "--model", "cox", "--out", "notes.txt"]
    Path("notes.txt").write_text("mine")
    assert main(words) == 2
    assert "'notes.txt' exists and is not a model of aldsurv: it is not overwritten" in one_error_line(
        capsys.readouterr().err
    )
    assert Path("notes.txt").read_text() == "mine"
    assert main([*words, "--force"]) == 0
    assert isinstance(aldsurv.load("notes.txt"), aldsurv.CoxRegression)


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_full_disk(folder: Path, environment: dict[str, str]) -> None:
    import resource

    path = str(small())

    def limited() -> None:
        # The table is read, but not one block of a file can be written.
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = subprocess.run(
        [sys.executable, "-m", "aldsurv", "fit", path, *OUTCOME, "--model", "cox", "--quiet"],
        capture_output=True,
        encoding="utf-8",
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=limited,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert without_machine_warnings(done.stderr) == "aldsurv: error: small.aldsurv: File too large\n"
    assert names() == ["small.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written(environment: dict[str, str]) -> None:
    path = str(small())
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "aldsurv", "fit", path, *OUTCOME, "--model", "cox"],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=environment,
            check=False,
        )
    *_, line = without_machine_warnings(done.stderr).splitlines()
    assert (done.returncode, line) == (1, "aldsurv: error: No space left on device")


def interrupted(arguments: list[str], environment: dict[str, str], sign: str) -> tuple[int, str, str]:
    """Run on a terminal and press Ctrl-C once it shows the sign."""
    import pty

    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "aldsurv", *arguments],
        stdout=subprocess.PIPE,
        stderr=slave,
        encoding="utf-8",
        env=environment,
    ) as process:
        os.close(slave)
        shown, pressed = "", False
        while True:
            try:
                shown += os.read(master, 4096).decode("utf-8", "replace")
            except OSError:
                break
            if sign in shown and not pressed:
                process.send_signal(signal.SIGINT)
                pressed = True
        assert process.stdout is not None
        out = process.stdout.read()
        code = process.wait()
    os.close(master)
    assert pressed, shown
    return code, out, shown.replace("\r", "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")
@pytest.mark.parametrize("held_out", ["0.2", "0"])
def test_ctrl_c_in_the_middle_of_training(environment: dict[str, str], held_out: str) -> None:
    rng = np.random.default_rng(0)
    n = 3000
    columns = {"months": rng.exponential(5, n), "status": rng.integers(0, 2, n), "x": rng.normal(size=n)}
    pd.DataFrame(columns).to_csv("big.csv", index=False)
    arguments = ["fit", "big.csv", *OUTCOME, "--recipe", "paper", "--held-out", held_out]
    code, out, shown = interrupted(arguments, environment, "epoch 2,")
    assert code == 130
    assert "aldsurv: note: training was interrupted in epoch " in shown
    assert "Traceback" not in shown
    assert ", until" in out
    model = aldsurv.load("big.aldsurv")
    assert model.history_.stopped_by == "interrupt"
    assert 2 <= model.history_.epochs < 200
    rows = n if held_out == "0" else 2400
    assert model.trained_on_.rows == rows
    assert ("fitted to all 3000 rows" if held_out == "0" else "fitted to the 2400 rows that were not held out") in out
    assert names() == ["big.aldsurv", "big.csv"]


def test_ctrl_c_before_the_first_epoch_is_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, fitted, calls = str(small()), fit_run.fit_model, []

    def stopped(*given):
        calls.append(given)
        if len(calls) == until:
            raise KeyboardInterrupt
        return fitted(*given)

    monkeypatch.setattr(fit_run, "fit_model", stopped)
    until = 1
    assert main(["fit", path, *OUTCOME, "--model", "cox"]) == 130
    assert names() == ["small.csv"]
    # The model that was tested is whole.
    calls.clear()
    until = 2
    assert main(["fit", path, *OUTCOME, "--model", "cox"]) == 130
    assert "fitted to the 48 rows that were not held out, until" in capsys.readouterr().out
    assert aldsurv.load("small.aldsurv").trained_on_.rows == 48


def test_tuning(capsys: pytest.CaptureFixture[str]) -> None:
    write("people.csv", people())
    given = ["fit", "people.csv", *OUTCOME, "--event-value", "dead", "--drop", "id,country", "--model", "weibull_aft"]
    assert main([*given, "--tune", "2", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["tuning"]
    assert main([*given, "--tune", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    table = read_table("people.csv", time="months", event="status", event_value="dead", drop=["id", "country"])
    train, _ = table.split(0.2, random_state=0)
    whole = tuning.tune(aldsurv.WeibullAFT, train.x, train.y, trials=3)
    shown = found["tuning"]
    assert (shown["best"], shown["result"]) == (whole.best, whole.describe())
    assert (shown["confirmed"], shown["gain"]) == (whole.confirmed, whole.gain)
    for key, several in (("trials", whole.trials), ("finalists", whole.finalists)):
        assert shown[key] == [dataclasses.asdict(one) for one in several]
    assert first["trials"] == shown["trials"][:2]
    assert aldsurv.load("people.aldsurv").ridge == whole.best.get("ridge", 0.0)
    journals = [name for name in names() if name.endswith(".journal")]
    assert journals == [shown["journal"]] == [first["journal"]]
    assert main([*given, "--tune", "3"]) == 0
    out = capsys.readouterr().out
    assert whole.describe() in " ".join(out.split())
    assert f"  trials in {journals[0]}\n" in out
    assert main([*given, "--seed", "1", "--tune", "1"]) == 0
    assert "No settings were tried beside the default, which stays." in capsys.readouterr().out
    assert len([name for name in names() if name.endswith(".journal")]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")
def test_a_search_that_is_interrupted_goes_on(environment: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    load("gbsg").frame(outcome=True)[:300].to_csv("g.csv", index=False)
    given = ["fit", "g.csv", "--time", "time", "--event", "event", "--model", "cox"]
    code, out, shown = interrupted(
        [*given, "--tune", "100000"], environment, "trial 3 of 100000, 0 % done, at most about"
    )
    assert code == 130
    assert "Saved" not in out
    assert "the same command goes on from there." in shown
    (journal,) = [path for path in Path().iterdir() if path.suffix == ".journal"]
    done = journal.read_text().count('"op_code":4')
    assert done >= 3
    assert main([*given, "--tune", str(done), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["tuning"]
    assert len(found["trials"]) == done
    assert found["journal"] == journal.name
    assert journal.read_text().count('"op_code":4') == done
    assert found["metric"] == "ibs"


def test_a_search_for_what_cannot_be_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    small(12)
    given = ["fit", "small.csv", "--lower", "months", "--upper", "status", "--tune", "2"]
    assert main(given) == 2
    one_error_line(capsys.readouterr().err)
    small(30, status=dict.fromkeys(range(30), 0))
    assert main(["fit", "small.csv", *OUTCOME, "--model", "cox", "--tune", "2"]) == 2
    assert "'small.csv' has no event in 30 rows" in one_error_line(capsys.readouterr().err)
    small(30, status={k: int(k == 7) for k in range(30)})
    assert main(["fit", "small.csv", *OUTCOME, "--model", "cox", "--tune", "2"]) == 2
    assert "too few for" in one_error_line(capsys.readouterr().err)
    assert names() == ["small.csv"]


def test_tuning_without_optuna(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert main(["fit", str(small()), *OUTCOME, "--tune", "2"]) == 2
    assert "pip install 'aldsurv[tune]'" in one_error_line(capsys.readouterr().err)


@pytest.mark.parametrize("command", ["fit", "info"])
def test_help(run, command: str) -> None:
    wide, narrow = run(command, "--help"), run(command, "--help", COLUMNS="40")
    assert (wide.returncode, narrow.returncode) == (0, 0)
    assert f"Examples:\n    aldsurv {command} " in wide.stdout
    assert max(map(len, narrow.stdout.splitlines())) <= 40


def test_help_imports_nothing_heavy(environment: dict[str, str]) -> None:
    heavy = ("numpy", "scipy", "torch", "matplotlib", "pandas", "pyarrow", "optuna")
    program = (
        "import sys; from aldsurv.cli.main import main; main(['fit', '--help']); main(['info', '--help'])\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_columns_that_a_linear_model_cannot_use_as_they_are(capsys):
    """A repeated column, a level without an event, and more columns than events: a model, and a line about each."""
    columns = people()
    rng = np.random.default_rng(0)
    quiet = np.arange(150) % 9 == 0
    columns = {key: columns[key] for key in ("grade", "months", "status")}
    columns["dose"] = rng.normal(size=150).round(3).tolist()
    columns["dose_mg"] = [f"{1000 * value:.0f}" for value in columns["dose"]]
    columns["quiet"] = quiet.astype(int).tolist()
    columns["status"] = ["alive" if still else seen for still, seen in zip(quiet, columns["status"], strict=True)]
    write("people.csv", columns)
    command = ["fit", "people.csv", *OUTCOME, "--event-value", "dead", "--held-out", "0", "--model"]
    for name in ("cox", "weibull_aft", "lognormal_aft"):
        assert main([*command, name, "--out", f"{name}.aldsurv"]) == 0
        out, err = capsys.readouterr()
        notes = [line for line in err.splitlines() if line.startswith("aldsurv: note: ")]
        assert any("'dose_mg': it is a combination of 'dose'" in line for line in notes)
        assert any("'quiet' would be infinite" in line for line in notes)
        # Nothing is advised that the command line does not have.
        assert not any(word in out + err for word in ("ridge >", "ridge=", "penalty=", "Traceback"))
        assert main(["info", f"{name}.aldsurv"]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "dropped 'dose_mg': it is a combination of 'dose'" in told
        assert "ridge 0.16 of 'quiet': separation" in told
        assert main(["predict", f"{name}.aldsurv", "people.csv", "--times", "12", "--out", f"{name}.csv"]) == 0
        capsys.readouterr()
        assert np.isfinite(pd.read_csv(f"{name}.csv")["survival_12"]).all()
    wide = {**{f"gene{k}": rng.normal(size=150).round(4).tolist() for k in range(170)}, **columns}
    write("wide.csv", wide)
    assert main(["fit", "wide.csv", *OUTCOME, "--event-value", "dead", "--model", "cox", "--held-out", "0"]) == 0
    assert "columns outnumber the" in capsys.readouterr().err
    assert main(["info", "wide.aldsurv"]) == 0
    assert "columns outnumber events" in capsys.readouterr().out
