"""Predictions for a table in parts: those of a frame in memory, a file for each part, resumed, never half-written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lost_workers import kill_a_worker

import aldsurv
from aldsurv.cli.main import main
from aldsurv.datasets import open_table
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.parted.dask_engine import DaskEngine

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    n = 60
    age = rng.normal(60, 10, n)
    return pandas.DataFrame(
        {
            "id": [f"p{k}" for k in range(n)],
            "age": age,
            "sex": rng.choice(["f", "m"], n),
            "months": 0.3 * age * rng.weibull(2.0, n),
            "died": rng.random(n) < 0.7,
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    return aldsurv.WeibullAFT().fit(frame[["age", "sex"]], (frame["months"], frame["died"]))


@pytest.fixture
def folder(frame, tmp_path):
    made = tmp_path / "rows"
    made.mkdir()
    for k in range(3):
        frame.iloc[20 * k : 20 * k + 20].to_parquet(made / f"{2020 + k}.parquet")
    return made


def test_what_is_written_is_what_a_frame_gets(model, frame, folder, tmp_path, cluster):
    aldsurv.predict_parts(model, open_table(folder), tmp_path / "here", times=[12], summaries=["median"], keep=["id"])
    with DaskEngine(cluster.scheduler_address):
        scored = aldsurv.predict_parts(
            model, open_table(folder), tmp_path / "there", times=[12], summaries=["median"], keep=["id"]
        )
    expected = aldsurv.predict_frame(model, frame, times=[12], summaries=["median"])
    assert scored[:] == (60, int(expected["outside"].sum()), 3, 0)
    for name in ("here", "there"):
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == [f"part-0000{k}.parquet" for k in range(3)]
        found = pandas.read_parquet(tmp_path / name)
        assert found["id"].tolist() == frame["id"].tolist()
        pandas.testing.assert_frame_equal(found.drop(columns="id"), expected, rtol=1e-12)


def test_a_worker_that_is_lost_leaves_no_half_file(model, frame, folder, tmp_path, cluster, monkeypatch):
    table = open_table(folder, time="months", event="died", drop=["id"])
    expected = aldsurv.evaluate_parts(model, table)
    with DaskEngine(cluster.scheduler_address) as engine:
        completed = engine.completed

        def completed_with_a_loss(function, items, shared=()):
            for count, result in enumerate(completed(function, items, shared)):
                if count == 0:
                    kill_a_worker(cluster)
                yield result

        monkeypatch.setattr(engine, "completed", completed_with_a_loss)
        assert aldsurv.predict_parts(model, open_table(folder), tmp_path / "scored", times=[12]).rows == 60
        assert aldsurv.evaluate_parts(model, table) == expected
    assert sorted(path.name for path in (tmp_path / "scored").iterdir()) == [f"part-0000{k}.parquet" for k in range(3)]
    found = pandas.read_parquet(tmp_path / "scored")
    pandas.testing.assert_frame_equal(found, aldsurv.predict_frame(model, frame, times=[12]), rtol=1e-12)


def test_parts_that_are_there_are_not_written_again(model, folder, tmp_path):
    out = tmp_path / "scored"
    for path in (folder / "2021.parquet", folder / "2022.parquet"):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] if path.name == "2022.parquet" else content)
    with pytest.raises(DataError, match=r"2022\.parquet"):
        aldsurv.predict_parts(model, open_table(folder), out)
    assert not out.exists()
    (folder / "2022.parquet").unlink()
    assert aldsurv.predict_parts(model, open_table(folder), out).found == 0
    times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert aldsurv.predict_parts(model, open_table(folder), out)[:] == (40, 0, 2, 2)
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == times
    # Another request, and a file that is half there, are written again.
    assert aldsurv.predict_parts(model, open_table(folder), out, times=[3]).found == 0
    (out / "part-00001.parquet").write_bytes(b"PAR1")
    assert aldsurv.predict_parts(model, open_table(folder), out, times=[3]).found == 1
    (folder / "2021.parquet").unlink()
    with pytest.raises(ParameterError, match=r"holds 'part-00001\.parquet', which would not be replaced"):
        aldsurv.predict_parts(model, open_table(folder), out, times=[3])


def test_what_is_wrong_is_said_before_anything_is_written(model, frame, folder, tmp_path):
    frame.rename(columns={"age": "years"}).iloc[:5].to_parquet(tmp_path / "other.parquet")
    with pytest.raises(aldsurv.AldsurvError, match="age"):
        aldsurv.predict_parts(model, open_table(tmp_path / "other.parquet"), tmp_path / "scored")
    with pytest.raises(ParameterError, match="keep holds 'name', which is not a column"):
        aldsurv.predict_parts(model, open_table(folder), tmp_path / "scored", keep=["name"])
    assert not list(tmp_path.glob("scored/*"))


def test_command(model, frame, folder, tmp_path, monkeypatch, capsys):
    def run(*words):
        code = main(["predict", "m.aldsurv", "rows", *words])
        return code, *capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    model.save(tmp_path / "m.aldsurv")
    code, text, _ = run("--out", "scored", "--times", "12", "--json")
    report = json.loads(text)
    assert (code, report["rows"], report["parts"], report["found"]) == (0, 60, 3, 0)
    expected = aldsurv.predict_frame(model, frame, times=[12])
    np.testing.assert_allclose(pandas.read_parquet(Path("scored"))["survival_12"], expected["survival_12"])
    assert "60 rows in 3 files, 3 of them by an earlier run" in run("--out", "scored", "--times", "12")[1]
    for words, message in (
        ([], "Name it by --out"),
        (["--out", "rows"], "--out must not be the folder of the table"),
        (["--out", "scored", "--digits", "3"], "--digits cannot be combined with a folder"),
        (["--out", "scored", "--format", "csv"], "--format csv is not written"),
    ):
        code, text, problem = run(*words)
        assert (code, text) == (2, "")
        assert message in problem
