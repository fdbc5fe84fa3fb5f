"""``aldsurv fit`` for folders of Parquet files, several files, and --stream."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.cli.main import main
from aldsurv.training import loop
from aldsurv.training.loop import Training

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 400
OUTCOME = ["--time", "months", "--event", "status", "--event-value", "dead"]
QUICK = ["--members", "2", "--set", "max_epochs=3", "--set", "hidden=8", "--set", "components=1"]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of three files in the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    place = tmp_path / "big"
    place.mkdir()
    rng = np.random.default_rng(0)
    age = rng.normal(60, 10, N)
    event, lost = 20 * np.exp(-(age - 60) / 15) * rng.weibull(1.5, N), rng.exponential(40, N)
    columns = {
        "age": age,
        "grade": rng.choice(["I", "II"], N),
        "seen": np.datetime64("2020-01-01") + rng.integers(0, 900, N).astype("timedelta64[D]"),
        "months": np.minimum(event, lost),
        "status": np.where(event <= lost, "dead", "alive"),
    }
    for name, start, stop in (("a", 0, 150), ("b", 150, 160), ("c", 160, N)):
        part = {key: arrow.array(values[start:stop]) for key, values in columns.items()}
        parquet.write_table(arrow.table(part), place / f"{name}.parquet")
    return place


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def rows():
    return {"age": np.linspace(40, 80, 9), "grade": np.array(["I"] * 9, object)}


def test_a_folder_is_fitted_and_scored(folder, capsys):
    assert main(["fit", "big", *OUTCOME, *QUICK, "--out", "model.aldsurv"]) == 0
    out, err = capsys.readouterr()
    assert "big: 400 rows in 3 parts, 5 columns" in out
    assert "Fitted to" in out
    assert "log-likelihood per row" in out
    assert "that were not held out" in out
    assert "column 'seen' holds dates" in err
    assert names() == ["big", "model.aldsurv"]
    model = aldsurv.load("model.aldsurv")
    assert model.trained_on_.rows < N
    assert dict(model.trained_on_.outcome) == {"time": "months", "event": "status", "event_value": "dead"}
    median = model.predict_time(rows())
    assert median[0] > median[-1]


@pytest.mark.parametrize("given", [["big/a.parquet", "big/c.parquet"], ["big/c.parquet", "--stream"]])
def test_several_files_and_one_by_option(given, capsys):
    call = ["fit", *given, *OUTCOME, *QUICK, "--held-out", "0", "--out", "m.aldsurv", "--json"]
    assert main(call) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["rows"] == facts["fitted_to"] == (390 if len(given[1:]) and given[1] != "--stream" else 240)
    assert facts["held_out"] is None
    assert facts["parts"] == (1 if "--stream" in given else 2)


def test_ctrl_c_and_the_same_command_end_in_the_same_model(monkeypatch, capsys):
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_CHECKPOINTS", -1)
    call = ["fit", "big", *OUTCOME, *QUICK, "--held-out", "0", "--quiet", "--out"]
    assert main([*call, "straight.aldsurv"]) == 0
    one_epoch, seen = Training._one_epoch, []

    def interrupted(self):
        if len(seen) == 1:
            raise KeyboardInterrupt
        seen.append(self)
        return one_epoch(self)

    monkeypatch.setattr(Training, "_one_epoch", interrupted)
    assert main([*call, "model.aldsurv"]) == 130
    assert names() == ["big", "model.aldsurv", "model.aldsurv.checkpoint", "straight.aldsurv"]
    monkeypatch.setattr(Training, "_one_epoch", one_epoch)
    assert main([*call, "model.aldsurv"]) == 0
    assert names() == ["big", "model.aldsurv", "straight.aldsurv"]
    straight, resumed = (aldsurv.load(name).predict(rows()) for name in ("straight.aldsurv", "model.aldsurv"))
    np.testing.assert_array_equal(straight, resumed)


def test_an_interrupted_fit_without_a_model_says_how_it_goes_on(monkeypatch, capsys):
    def interrupted(model, *given):
        Path("model.aldsurv.checkpoint").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(aldsurv.ALDSurvival, "fit", interrupted)
    assert main(["fit", "big", *OUTCOME, "--held-out", "0", "--out", "model.aldsurv"]) == 130
    note = "aldsurv: note: no model was saved: the same command goes on from model.aldsurv.checkpoint."
    assert note in capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tune", "3"], "--tune needs all rows in memory"),
        (["--report"], "--report needs all rows in memory"),
        (["--model", "deephit"], "the model 'deephit' needs all rows in memory"),
        (["--drop", "months"], "months"),
        (["--held-out", "2"], "--held-out must be"),
    ],
)
def test_what_cannot_be_done_in_parts_is_one_line(options, message, capsys):
    assert main(["fit", "big", *OUTCOME, *options, "--out", "model.aldsurv"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert names() == ["big"]


def test_a_damaged_file_in_the_middle_is_named(folder, capsys):
    path = folder / "b.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    assert main(["fit", "big", *OUTCOME, *QUICK, "--out", "model.aldsurv"]) == 2
    assert "b.parquet' begins like a Parquet file, but is damaged" in capsys.readouterr().err
    assert names() == ["big"]
    path.unlink()
    bad = parquet.read_table(folder / "a.parquet").slice(0, 5)
    parquet.write_table(bad.set_column(3, "months", arrow.array([1.0, -4.0, 1, 1, 1])), path)
    assert main(["fit", "big", *OUTCOME, *QUICK, "--out", "model.aldsurv"]) == 2
    err = capsys.readouterr().err
    assert "b.parquet" in err
    assert "row 2" in err
    assert names() == ["big"]
