"""Tables as people have them, on the command line: marks of decimals, delimiters, encodings and gaps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.cli.main import main as run
from aldsurv.files.model_file import read_model_file, write_model_file

OUTCOME = ["--time", "monate", "--event", "tot"]
FORMAT = ["--delimiter", "semicolon", "--decimal", ",", "--encoding", "latin-1"]


def german_table(path: Path, seed: int = 0, encoding: str = "latin-1") -> Path:
    """Semicolons, decimal commas, umlauts that are not UTF-8, and -9 and unbekannt for gaps."""
    rng = np.random.default_rng(seed)
    lines = ["größe;alter;grad;monate;tot"]
    for row in range(90):
        age = -9 if row % 8 == 0 else rng.integers(30, 80)
        grade = "unbekannt" if row % 11 == 1 else rng.choice(["früh", "spät"])
        numbers = f"{rng.normal(170, 8):.1f};{age};{grade};{rng.exponential(20) + 0.1:.2f};{row % 3 > 0:d}"
        lines.append(numbers.replace(".", ","))
    path.write_text("\n".join([*lines, ""]), encoding=encoding)
    return path


@pytest.fixture
def fitted(tmp_path, monkeypatch, capsys) -> Path:
    monkeypatch.chdir(tmp_path)
    german_table(tmp_path / "k.csv")
    german_table(tmp_path / "new.csv", seed=1)
    words = ["fit", "k.csv", *OUTCOME, *FORMAT, "--missing", "-9,unbekannt", "--model", "cox", "--held-out", "0"]
    assert run(words) == 0
    output = capsys.readouterr()
    assert "delimiter semicolon, decimal comma, latin-1" in output.out
    assert "12 gaps filled" in output.out
    assert "category: früh, spät; 9 gaps" in output.out
    assert output.err == ""
    return tmp_path / "k.aldsurv"


@pytest.mark.usefixtures("quick_report")
def test_every_command_reads_a_table_as_it_is(fitted, tmp_path, capsys):
    assert run(["evaluate", "k.aldsurv", "new.csv", *FORMAT, "--bootstrap", "0", "--train", "k.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 90
    assert run(["predict", "k.aldsurv", "new.csv", *FORMAT, "--keep", "größe"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 91
    run(["fit", "k.csv", *OUTCOME, *FORMAT, "--model", "weibull_aft", "--held-out", "0", "--out", "w.aldsurv"])
    words = ["compare", "k.aldsurv", "w.aldsurv", "new.csv", *FORMAT, "--bootstrap", "0"]
    assert run(words) == 0
    words = ["report", "k.aldsurv", "new.csv", *FORMAT, "--train", "k.csv", "--group", "grad", "--people", "1"]
    assert run([*words, "--out", str(tmp_path / "page.html")]) == 0


def test_gaps_of_training_are_gaps_later(fitted, tmp_path, capsys):
    assert aldsurv.load(fitted).trained_on_.missing == ("-9", "unbekannt")
    assert run(["info", "k.aldsurv"]) == 0
    assert "gaps -9, unbekannt, as in training" in " ".join(capsys.readouterr().out.split())
    assert run(["info", "k.aldsurv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == ["-9", "unbekannt"]
    assert run(["predict", "k.aldsurv", "new.csv", *FORMAT, "--out", "a.csv"]) == 0
    error = capsys.readouterr().err
    assert "'-9', 'unbekannt' stand for gaps, as in training" in error
    # The same rows with empty fields.
    text = (tmp_path / "new.csv").read_text(encoding="latin-1")
    (tmp_path / "empty.csv").write_text(text.replace(";-9;", ";;").replace("unbekannt", ""), encoding="latin-1")
    assert run(["predict", "k.aldsurv", "empty.csv", *FORMAT, "--out", "b.csv"]) == 0
    assert "does not hold" not in capsys.readouterr().err
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    # Unless it is said that they are none.
    assert run(["predict", "k.aldsurv", "new.csv", *FORMAT, "--missing", "", "--out", "c.csv"]) == 0
    assert "as in training" not in capsys.readouterr().err
    assert (tmp_path / "c.csv").read_text() != (tmp_path / "a.csv").read_text()
    assert run(["evaluate", "k.aldsurv", "new.csv", *FORMAT, "--bootstrap", "0"]) == 0
    assert "stand for gaps, as in training" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_value_that_never_occurs_is_noted(fitted, capsys, command):
    words = {
        "fit": ["fit", "k.csv", *OUTCOME, "--model", "cox", "--held-out", "0"],
        "predict": ["predict", "k.aldsurv", "new.csv"],
    }[command]
    assert run([*words, *FORMAT, "--missing", "-9,unknown"]) == 0
    assert ".csv' does not hold 'unknown', named as missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--encoding", "klingon"],
            "--encoding must be the name of one, such as 'utf-8' or 'cp1252', but is 'klingon'",
        ),
        (["--delimiter", "ab"], "--delimiter must be one ASCII character"),
        (["--delimiter", "x"], "--delimiter must be one ASCII character"),
        (["--delimiter", ""], "--delimiter must be one ASCII character"),
        (["--decimal", "x"], "--decimal must be '.' or ',', but is 'x'"),
        (["--decimal", ",", "--delimiter", "comma"], "--decimal must differ from the delimiter"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "compare", "report"])
def test_options_that_cannot_be_are_one_line(tmp_path, monkeypatch, capsys, command, options, message):
    monkeypatch.chdir(tmp_path)
    german_table(tmp_path / "k.csv")
    files = {"fit": ["k.csv", *OUTCOME], "compare": ["a.aldsurv", "b.aldsurv", "k.csv"]}
    assert run([command, *files.get(command, ["a.aldsurv", "k.csv"]), *options]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert message in output.err


@pytest.mark.parametrize(
    ("word", "character"),
    [("tab", "\t"), ("comma", ","), ("semicolon", ";"), ("space", " "), ("pipe", "|"), ("^", "^"), ("\\t", "\t")],
)
def test_words_for_delimiters(tmp_path, monkeypatch, capsys, word, character):
    monkeypatch.chdir(tmp_path)
    rows = [["age", "t", "e"], *([str(30 + k), str(k + 1), str(k % 2)] for k in range(30))]
    (tmp_path / "t.csv").write_text("\n".join(character.join(row) for row in rows))
    words = ["fit", "t.csv", "--time", "t", "--event", "e", "--model", "cox", "--held-out", "0", "--delimiter", word]
    assert run(words) == 0
    assert "30 rows, 3 columns" in capsys.readouterr().out


def test_advice_names_options_that_exist(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("age;t;e\n1,5;2;1\n2.5;3;0\n")
    assert run(["fit", "t.csv", "--time", "t", "--event", "e"]) == 2
    assert "Name the mark by --decimal" in capsys.readouterr().err
    (tmp_path / "t.csv").write_text("age;t;e\n15;2;1\n25;3;0\n", encoding="utf-16-le")
    assert run(["fit", "t.csv", "--time", "t", "--event", "e"]) == 2
    assert "--encoding 'utf-16-le'" in capsys.readouterr().err


def test_files_of_earlier_versions_have_no_values_for_gaps(fitted, tmp_path):
    document, arrays = read_model_file(fitted)
    assert document["trained_on"]["missing"] == ["-9", "unbekannt"]
    del document["trained_on"]["missing"]
    write_model_file(tmp_path / "old.aldsurv", document, arrays)
    assert aldsurv.load(tmp_path / "old.aldsurv").trained_on_.missing == ()
    document["trained_on"]["missing"] = "-9"
    write_model_file(tmp_path / "bad.aldsurv", document, arrays)
    with pytest.raises(aldsurv.errors.ModelFileError, match="missing in trained_on must be a list of texts"):
        aldsurv.load(tmp_path / "bad.aldsurv")


def excel_table(path: Path, seed: int = 0) -> Path:
    """Two sheets, of which the second is the table, with codes in text cells and -9 for gaps."""
    import openpyxl

    rng = np.random.default_rng(seed)
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["What this is"])
    data = book.create_sheet("Data")
    data.append(["id", "age", "site", "months", "died"])
    for row in range(60):
        age = -9 if row % 7 == 0 else int(rng.integers(30, 80))
        data.append([f"{row:03d}", age, rng.choice(["01", "02"]), float(rng.exponential(9)) + 0.1, bool(row % 3)])
    book.save(path)
    return path


def test_excel_files_in_every_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    excel_table(tmp_path / "t.xlsx")
    excel_table(tmp_path / "new.xlsx", seed=1)
    words = [
        "--time",
        "months",
        "--event",
        "died",
        "--drop",
        "id",
        "--missing",
        "-9",
        "--model",
        "cox",
        "--held-out",
        "0",
    ]
    assert run(["fit", "t.xlsx", *words, "--sheet", "Data"]) == 0
    output = capsys.readouterr()
    assert "t.xlsx: 60 rows, 5 columns (Excel, sheet 'Data')" in output.out
    assert "category: 01, 02" in output.out
    assert (
        run(["predict", "t.aldsurv", "new.xlsx", "--sheet", "2", "--keep", "id", "--times", "5", "--out", "p.csv"]) == 0
    )
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[0] == "id,survival_5,outside"
    assert [line.split(",")[0] for line in lines[1:]] == [f"{row:03d}" for row in range(60)]
    # The same rows as text.
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_excel(tmp_path / "new.xlsx", sheet_name="Data", dtype={"id": str, "site": str})
    frame.to_csv(tmp_path / "new.csv", index=False)
    assert run(["predict", "t.aldsurv", "new.csv", "--keep", "id", "--times", "5", "--out", "q.csv"]) == 0
    assert (tmp_path / "q.csv").read_text() == (tmp_path / "p.csv").read_text()
    assert run(["evaluate", "t.aldsurv", "new.xlsx", "--sheet", "Data", "--train", "t.xlsx", "--bootstrap", "0"]) == 0
    capsys.readouterr()
    assert run(["fit", "t.xlsx", *words, "--sheet", "Dat"]) == 2
    assert "has no sheet 'Dat'. Did you mean 'Data'?" in capsys.readouterr().err
    # Without a name, the first sheet is taken, and the others are named.
    assert run(["fit", "t.xlsx", *words]) == 2
    assert "there is no column 'months'" in capsys.readouterr().err


def test_excel_files_without_openpyxl(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    excel_table(tmp_path / "t.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert run(["fit", "t.xlsx", *OUTCOME]) == 2
    error = capsys.readouterr().err
    assert error == 'aldsurv: error: Excel files need openpyxl, which is not installed: pip install "aldsurv[excel]"\n'
