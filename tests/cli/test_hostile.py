"""File names, columns and machines that mean no good: one clear line, or the right result."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import aldsurv.datasets
from aldsurv.cli.main import main

if sys.platform in ("win32", "darwin"):
    pytest.skip("file names of any bytes are for file systems that allow them", allow_module_level=True)

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

# Latin-1 for "café", which is not UTF-8, and a change of colours.
NAME = os.fsdecode(b"caf\xe9\x1b[31m")
OUTCOME = ("--time", "t", "--event", "e")
COX = (*OUTCOME, "--model", "cox", "--held-out", "0")


def columns(n: int = 60) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    x = generator.normal(size=n)
    time = np.exp(0.5 * x + 0.3 * generator.normal(size=n))
    sex = np.where(generator.random(n) < 0.5, "f", "m")
    return {"x": x, "sex": sex, "t": time, "e": (generator.random(n) < 0.7).astype(int)}


def write_csv(path: Path, given: dict[str, np.ndarray] | None = None) -> str:
    table = given or columns()
    rows = ["\t".join(map(str, row)) for row in zip(*table.values(), strict=True)]
    path.write_text("\n".join(["\t".join(table), *rows, ""]), encoding="utf-8")
    return str(path)


def write_parquet(path: Path, kind: object = None) -> str:
    table = {name: arrow.array(values) for name, values in columns().items()}
    if kind is not None:
        table["sex"] = arrow.array(columns()["sex"].tolist(), kind)
    with path.open("wb") as file:
        parquet.write_table(arrow.table(table), file)
    return str(path)


def error_line(capsys, *arguments: str, code: int = 2) -> str:
    assert main(arguments) == code
    told = capsys.readouterr().err.splitlines()
    assert len([line for line in told if line.startswith("aldsurv: error: ")]) == 1
    assert told[-1].isprintable()
    assert len(told[-1]) < 1000
    return told[-1]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_file_names_that_are_not_utf_8(tmp_path: Path, monkeypatch, capsys, form: str) -> None:
    monkeypatch.chdir(tmp_path)
    table = Path(f"{NAME}.{form}")
    write_csv(table) if form == "csv" else write_parquet(table)
    model, out = f"{NAME}.aldsurv", f"{NAME}.predicted.{form}"
    for command in (
        ("fit", str(table), *COX),
        ("info", model),
        ("evaluate", model, str(table), "--bootstrap", "0"),
        ("predict", model, str(table), "--out", out, "--keep", "all"),
    ):
        assert main(command) == 0, capsys.readouterr().err
        told = "".join(capsys.readouterr())
        assert all(line.isprintable() for line in told.splitlines())
        assert r"caf\udce9" in told
    assert main(("fit", str(table), *COX, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["file"] == model
    assert {path.name for path in tmp_path.iterdir()} == {str(table), model, out}
    assert len(aldsurv.datasets.read_table(out)) == 60


def test_a_page_about_file_names_that_are_not_utf_8(tmp_path: Path, monkeypatch, capsys) -> None:
    pytest.importorskip("jinja2")
    from aldsurv.reports.model import model_page
    from aldsurv.reports.page.page import Page, Section

    section = Section("one", "One", ())

    def quick(*arguments, title, source, **named) -> SimpleNamespace:
        """Not the figures, which take long, but a page with the names and half of a character."""
        return SimpleNamespace(page=Page(title, f"of {source}", (section,), os.fsdecode(b"\xff")))

    monkeypatch.setattr(model_page, "model_report", quick)
    monkeypatch.chdir(tmp_path)
    table, model, page = write_csv(Path(f"{NAME}.csv")), f"{NAME}.aldsurv", f"{NAME}.html"
    assert main(("fit", table, *COX)) == 0
    capsys.readouterr()
    assert main(("report", model, table, "--out", page, "--title", NAME)) == 0, capsys.readouterr().err
    assert capsys.readouterr().out == "caf\\udce9\\x1b[31m.html\n"
    text = Path(page).read_text(encoding="utf-8")
    assert "<h1>caf\\udce9\\x1b[31m</h1>" in text
    assert "of caf\\udce9\\x1b[31m.csv" in text
    assert "\\udcff" in text


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_text_of_a_newer_kind_is_kept(tmp_path: Path, monkeypatch, capsys, form: str) -> None:
    if not hasattr(arrow, "string_view"):
        pytest.skip("this pyarrow has no string_view")
    monkeypatch.chdir(tmp_path)
    table = write_parquet(Path("t.parquet"), arrow.string_view())
    assert main(("fit", table, *COX)) == 0
    assert main(("predict", "t.aldsurv", table, "--out", f"out.{form}", "--keep", "all")) == 0, capsys.readouterr().err
    expected = columns()["sex"].tolist()
    if form == "jsonl":
        assert [json.loads(line)["sex"] for line in Path("out.jsonl").read_text().splitlines()] == expected
    else:
        assert aldsurv.datasets.read_table(f"out.{form}").x["sex"].tolist() == expected


def test_names_of_columns_in_error_lines(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    given = columns()
    hostile = {"\x7f\u202e[31m" + "x" * 70_000: given["x"] ** 2, **given}
    write_csv(Path("t.csv"), hostile)
    assert "there is no column 'months'" in error_line(capsys, "fit", "t.csv", "--time", "months", "--event", "e")
    assert "unknown model 'yyy" in error_line(capsys, "fit", "t.csv", *OUTCOME, "--model", "y" * 70_000)
    told = error_line(capsys, "fit", "t.csv", "--time", "z" * 70_000, "--event", "e")
    assert "there is no column 'zzz" in told
    assert main(("fit", "t.csv", *COX)) == 0
    told = "".join(capsys.readouterr())
    assert all(line.isprintable() for line in told.splitlines())


def test_a_link_to_itself(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(Path("t.csv"))
    assert main(("fit", "t.csv", *COX)) == 0
    capsys.readouterr()
    Path("loop.csv").symlink_to("loop.csv")
    for command in (
        ("fit", "loop.csv", *COX),
        ("info", "loop.csv"),
        ("predict", "t.aldsurv", "loop.csv"),
        ("predict", "t.aldsurv", "t.csv", "--out", "loop.csv"),
        ("evaluate", "t.aldsurv", "loop.csv"),
    ):
        assert "loop" in error_line(capsys, *command)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "there is not enough memory. Use fewer rows"),
        (
            np._core._exceptions._ArrayMemoryError((10**6, 10**6), np.dtype(float)),
            "there is not enough memory (Unable to allocate 7.28 TiB for an array with shape (1000000, 1000000) and "
            "data type float64). Use fewer rows",
        ),
        (
            RuntimeError("[x.cpp:1] DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000 bytes."),
            "there is not enough memory (you tried to allocate 4000 bytes). Use fewer rows",
        ),
    ],
)
def test_memory_that_is_not_there(tmp_path: Path, monkeypatch, capsys, error: Exception, told: str) -> None:
    from aldsurv.models.linear.cox import CoxRegression

    def fails(*arguments, **named):
        raise error

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(CoxRegression, "fit", fails)
    write_csv(Path("t.csv"))
    assert told in error_line(capsys, "fit", "t.csv", *COX)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_other_errors_of_the_program_are_not_hidden(monkeypatch) -> None:
    import aldsurv.cli.main as module

    def fails(*arguments, **named):
        raise RuntimeError("a fault of the program")

    monkeypatch.setattr(module.aldsurv, "main", fails)
    with pytest.raises(RuntimeError, match="a fault"):
        main(())


def test_values_that_look_like_the_event_are_noted(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    given = columns()
    words = np.where(given["e"] == 1, "dead", "alive").astype(object)
    words[np.flatnonzero(given["e"] == 1)[::2]] = "Dead"
    write_csv(Path("t.csv"), {**given, "e": words})
    arguments = ("fit", "t.csv", *COX, "--event-value", "dead")
    assert main(arguments) == 0
    others, events = int((words == "Dead").sum()), int(given["e"].sum())
    printed = capsys.readouterr()
    assert f"column 'e': 'Dead' ({others} rows) counts as 'dead', too" in printed.err
    assert f"{events} events" in printed.out
    assert main((*arguments, "--json")) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any(f"column 'e': 'Dead' ({others} rows) counts as 'dead', too" in note for note in notes)
