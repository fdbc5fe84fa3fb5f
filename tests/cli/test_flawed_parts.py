"""Folders with a flaw in the middle: the file and column are named, nothing is half-written, here and on a cluster."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.cli.main import main

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N, PARTS = 360, 3
OUTCOME = ["--time", "months", "--event", "died"]
MODELS = {
    "cox": [],
    "weibull_aft": [],
    "boosted_ald": ["--members", "2", "--set", "max_rounds=3"],
    "ald": ["--members", "1", "--set", "max_epochs=2", "--set", "hidden=4"],
}


def rows(n=N):
    rng = np.random.default_rng(1)
    age = rng.normal(60, 10, n)
    event, lost = 20 * np.exp(-(age - 60) / 15) * rng.weibull(1.5, n), rng.exponential(40, n)
    return {
        "age": age,
        "grade": rng.choice(["I", "II"], n),
        "months": np.minimum(event, lost),
        "died": (event <= lost).astype(np.int64),
    }


def write(path, columns, start, stop):
    part = {name: arrow.array(values[start:stop]) for name, values in columns.items()}
    # Without compression the bytes of a page are its values.
    parquet.write_table(arrow.table(part), path, compression="none")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    place = tmp_path / "big"
    place.mkdir()
    size = N // PARTS
    for part in range(PARTS):
        write(place / f"{part}.parquet", rows(), part * size, (part + 1) * size)
    return place


def truncated(path):
    path.write_bytes(path.read_bytes()[:-30])


def overwritten(path):
    """Its end is as it was, which is all that opening reads; its rows are not."""
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(300) + data[304:])


def empty(path):
    path.write_bytes(b"")


def without_a_column(path):
    parquet.write_table(parquet.read_table(path).drop_columns(["age"]), path)


def of_another_type(path):
    table = parquet.read_table(path)
    parquet.write_table(table.set_column(0, "age", arrow.array(["old"] * len(table))), path)


def with_a_negative_time(path):
    table = parquet.read_table(path)
    times = table["months"].to_pylist()
    parquet.write_table(table.set_column(2, "months", arrow.array([*times[:-1], -1.0])), path)


FLAWS = {
    truncated: ["1.parquet", "damaged"],
    overwritten: ["1.parquet"],
    empty: ["1.parquet", "empty"],
    without_a_column: ["1.parquet", "'age'"],
    of_another_type: ["1.parquet", "'age'", "string"],
    with_a_negative_time: ["1.parquet", f"row {N // PARTS}", "'months'"],
}


def fails(words, expected, capsys):
    assert main(words) == 2
    out, problem = capsys.readouterr()
    lines = [line for line in problem.splitlines() if line.startswith("aldsurv: error")]
    assert len(lines) == 1, problem
    assert all(text in problem for text in expected), problem
    return out


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.__name__)
@pytest.mark.parametrize("model", MODELS)
def test_fit(folder, flaw, model, capsys):
    flaw(folder / "1.parquet")
    call = ["fit", "big", *OUTCOME, "--model", model, *MODELS[model], "--out", "model.aldsurv", "--quiet"]
    fails(call, FLAWS[flaw], capsys)
    assert [path.name for path in Path().iterdir()] == ["big"]


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.__name__)
@pytest.mark.parametrize("on_cluster", [False, True])
def test_predict_and_evaluate(folder, flaw, on_cluster, cluster, capsys):
    columns = rows()
    model = aldsurv.WeibullAFT().fit(
        {name: columns[name] for name in ("age", "grade")}, (columns["months"], columns["died"])
    )
    model.save("model.aldsurv")
    flaw(folder / "1.parquet")
    workers = ["--cluster", cluster.scheduler_address] if on_cluster else []
    out = fails(["evaluate", "model.aldsurv", "big", *OUTCOME, *workers], FLAWS[flaw], capsys)
    assert "harrell" not in out.lower()
    if flaw is with_a_negative_time:
        # Times are not read.
        assert main(["predict", "model.aldsurv", "big", "--times", "12", "--out", "scored", "--quiet"]) == 0
        return
    fails(["predict", "model.aldsurv", "big", "--times", "12", "--out", "scored", *workers], FLAWS[flaw], capsys)
    written = sorted(Path().glob("scored/*"))
    assert "part-00001.parquet" not in [path.name for path in written]
    assert all(parquet.read_metadata(path).num_rows == N // PARTS for path in written)
    # Once the file is right, the same command writes what is missing.
    write(folder / "1.parquet", rows(), N // PARTS, 2 * N // PARTS)
    assert main(["predict", "model.aldsurv", "big", "--times", "12", "--out", "scored", "--quiet", *workers]) == 0
    assert [path.name for path in sorted(Path("scored").iterdir())] == [f"part-0000{k}.parquet" for k in range(PARTS)]


@pytest.mark.parametrize("on_cluster", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_a_part_without_events_and_one_without_rows(folder, model, on_cluster, cluster, capsys):
    censored = rows()
    censored["died"] = np.zeros(N, np.int64)
    write(folder / "1.parquet", censored, N // PARTS, 2 * N // PARTS)
    write(folder / "9.parquet", censored, 0, 0)
    workers = ["--cluster", cluster.scheduler_address] if on_cluster else []
    call = ["fit", "big", *OUTCOME, "--model", model, *MODELS[model], "--out", "model.aldsurv", "--held-out", "0"]
    assert main([*call, *workers]) == 0
    text = " ".join(" ".join(capsys.readouterr()).split())
    assert "fitted to all 360 rows" in text
    assert "9.parquet" in text
    fitted = aldsurv.load("model.aldsurv")
    assert fitted.trained_on_.events == rows()["died"][: N // PARTS].sum() + rows()["died"][2 * N // PARTS :].sum()
    assert main(["evaluate", "model.aldsurv", "big", *OUTCOME, *workers]) == 0
