"""Networks fitted to tables in parts, against the same rows in memory."""

from __future__ import annotations

import itertools
import tempfile

import numpy as np
import pytest

from aldsurv import ALDSurvival, DeepSurv, SurvivalData, datasets, load
from aldsurv.data.frame_columns import Column
from aldsurv.data.group_column import group_column
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.neural.parted import fitting, row_encoding
from aldsurv.models.neural.parted.held_rows import HeldShares
from aldsurv.models.parted.table_summary import summarise
from aldsurv.training import loop

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 900
SMALL = {"members": 2, "max_epochs": 3, "hidden": (8,), "components": 2, "random_state": 3}


def rows_of(kind, n=N):
    """Columns of a table, and the arguments that name its outcome."""
    generator = np.random.default_rng(4)
    age, sort = generator.normal(50, 10, n), generator.choice(["a", "b", None], n)
    time = np.round(np.exp(2 + 0.05 * (age - 50) + 0.5 * generator.normal(size=n)), 1)
    columns = {"age": age, "sort": sort.tolist()}
    if kind in ("interval", "left"):
        upper = np.where(generator.random(n) < 0.4, time, np.where(generator.random(n) < 0.5, time * 1.5, np.inf))
        lower = np.where(generator.random(n) < (0.3 if kind == "left" else 0.0), -np.inf, time)
        upper = np.where(np.isinf(lower), time, upper)
        return {**columns, "low": lower, "up": upper}, {"lower": "low", "upper": "up"}
    event = generator.random(n) < 0.7
    columns |= {"time": np.where(generator.random(n) < 0.01, 0.0, time), "event": event}
    roles = {"time": "time", "event": "event"}
    if kind == "all":
        columns |= {"from": time * generator.random(n) * 0.5, "count": generator.uniform(0.5, 2, n)}
        columns["time"] = time
        columns["who"] = [f"p{k}" for k in generator.integers(0, n // 3, n)]
        roles |= {"entry": "from", "weight": "count", "group": "who"}
    if kind == "causes":
        columns["event"] = np.where(event, generator.choice(["x", "y"], n), "none").tolist()
        roles |= {"event_values": {"x": "first", "y": "second", "none": "censored"}}
    return columns, roles


def written(folder, columns, cuts=(0, 250, 251, N)):
    folder.mkdir()
    for start, stop in itertools.pairwise(cuts):
        part = {name: values[start:stop] for name, values in columns.items()}
        parquet.write_table(arrow.table(part), folder / f"{start:04d}.parquet")
    return folder


def opened(tmp_path, kind):
    columns, roles = rows_of(kind)
    return datasets.open_table(written(tmp_path / kind, columns), **roles)


@pytest.mark.parametrize("kind", ["right", "interval", "left", "all", "causes"])
def test_the_loss_knows_of_each_row_what_it_knows_of_the_whole_table(tmp_path, kind):
    table = opened(tmp_path, kind)
    model = ALDSurvival(**SMALL)
    summary, codes = summarise(table)
    settings = fitting._model_for(model, table)
    task = fitting._task_of_sample(model, settings, summary, codes)
    encoder = fitting._encoder(model, task, summary)
    # The whole table in memory, by the code of fits in memory.
    y = table.y.collect()
    data = task.model.prepare_target(y).scaled(1 / task.unit).with_weight(None)
    whole = task.model.objective([_with_data(task, data)], data, np.full(len(data), task.unit), "cpu").fields
    parts = [encoder.fields(block.y) for block in table.blocks(97)]
    for k, field in enumerate(whole):
        np.testing.assert_array_equal(np.concatenate([part[k] for part in parts]), field.numpy())
    np.testing.assert_array_equal(summary.outcome.rows, len(y))
    assert summary.outcome.events == y.n_events
    np.testing.assert_allclose(summary.outcome.total_weight, y.total_weight)


def _with_data(task, data):
    from dataclasses import replace

    return replace(task, data=data)


@pytest.mark.parametrize("kind", ["right", "interval", "left", "all", "causes"])
def test_a_fit_of_parts_is_a_model_like_any_other(tmp_path, kind, monkeypatch):
    # Several buckets, although there are few rows.
    monkeypatch.setattr(row_encoding, "_BUCKET_BYTES", 5000)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    table = opened(tmp_path, kind)
    model = ALDSurvival(**SMALL).fit(table.x, table.y)
    assert list(scratch.iterdir()) == []
    x, y = table.collect()
    plain = ALDSurvival(**SMALL).fit(x, y)
    assert model.features_.to_dict()["columns"][1] == plain.features_.to_dict()["columns"][1]
    facts, other = model.trained_on_, plain.trained_on_
    assert (facts.rows, facts.events, facts.bounded) == (other.rows, other.events, other.bounded)
    assert (facts.first_time, facts.last_time, facts.follow_up) == (other.first_time, other.last_time, other.follow_up)
    np.testing.assert_allclose(facts.total_weight, other.total_weight)
    assert model.causes_ == plain.causes_
    path = tmp_path / "model.aldsurv"
    model.save(path)
    np.testing.assert_array_equal(load(path).predict(x), model.predict(x))
    # The time depends on the age alone.
    young, old = ({"age": np.array([age]), "sort": np.array(["a"], object)} for age in (35.0, 65.0))
    if kind != "causes":
        assert model.predict_time(young)[0] < model.predict_time(old)[0]


def test_a_fit_of_parts_is_as_good_as_one_in_memory(tmp_path):
    columns, roles = rows_of("right", 3000)
    table = datasets.open_table(written(tmp_path / "more", columns, (0, 700, 2000, 3000)), **roles)
    test_columns, _ = rows_of("right", 6000)
    held = {name: np.array(values[3000:], object if name == "sort" else None) for name, values in test_columns.items()}
    y = SurvivalData.right(np.maximum(held.pop("time"), 0.05), held.pop("event").astype(bool))
    x, seen = table.collect()
    scores = []
    for data in ((table.x, table.y), (x, seen)):
        model = ALDSurvival(members=3, max_epochs=12, hidden=(8,), components=2, random_state=0).fit(*data)
        scores.append(float(np.mean(model.predict_distribution(held).log_likelihood(y))))
    assert abs(scores[0] - scores[1]) < 0.05


def test_a_killed_fit_goes_on_and_ends_in_the_same_model(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_CHECKPOINTS", -1)
    monkeypatch.setattr(row_encoding, "_BUCKET_BYTES", 5000)
    # A pass over all rows is three epochs.
    monkeypatch.setattr(row_encoding, "EPOCH_ROWS", N // 3)
    table = opened(tmp_path, "all")
    x, _ = table.collect()
    alone = ALDSurvival(**SMALL).fit(table.x, table.y)
    assert len(alone.history_.seconds) == 3 * SMALL["max_epochs"]
    assert alone.settings_.max_epochs == SMALL["max_epochs"]
    path = tmp_path / "run"

    class KilledError(Exception):
        pass

    def kill(report):
        if report.epoch == 4:
            raise KilledError

    with pytest.raises(KilledError):
        ALDSurvival(**SMALL, checkpoint=path, callbacks=[kill]).fit(table.x, table.y)
    assert path.exists()
    resumed = ALDSurvival(**SMALL, checkpoint=path).fit(table.x, table.y)
    assert not path.exists()
    np.testing.assert_array_equal(resumed.predict(x), alone.predict(x))
    # Other rows are another run.
    with pytest.raises(KilledError):
        ALDSurvival(**SMALL, checkpoint=path, callbacks=[kill]).fit(table.x, table.y)
    train, _ = table.split(0.1)
    with pytest.raises(DataError, match="no checkpoint of this run"):
        ALDSurvival(**SMALL, checkpoint=path).fit(train.x, train.y)


def test_groups_are_held_out_whole_and_no_row_twice():
    numbers = np.arange(30_000)
    group = group_column(Column([f"p{k // 3}" for k in numbers], "group"), Column(numbers, "time"), numbers * 1.0)
    shares = HeldShares.of(len(numbers), 5, 0.2, seed=1)
    holders = shares.holders(numbers, group)
    assert len({(who, holder) for who, holder in zip(group.tolist(), holders.tolist(), strict=True)}) == 10_000
    counts = np.bincount(holders, minlength=6)
    assert counts[0] == 0
    np.testing.assert_allclose(counts[1:] / len(numbers), 0.2, atol=0.03)
    many = HeldShares.of(100_000_000, 5, 0.2, seed=1)
    assert many.share * 100_000_000 == pytest.approx(50_000)
    assert HeldShares.of(1000, 20, 0.2, 1).share == 1 / 20
    assert not HeldShares.of(1000, 5, 0.0, 1).holders(numbers, None).any()


def test_what_cannot_be_fitted_in_parts_says_so(tmp_path):
    table = opened(tmp_path, "right")
    with pytest.raises(ParameterError, match="several models would be trained"):
        ALDSurvival(support="auto").fit(table.x, table.y)
    with pytest.raises(ParameterError, match="encoder cannot be used"):
        ALDSurvival(encoder=lambda: None).fit(table.x, table.y)
    with pytest.raises(ParameterError, match="DeepSurv cannot be fitted to a table in parts"):
        DeepSurv().fit(table.x, table.y)
    columns, roles = rows_of("right")
    none = datasets.open_table(written(tmp_path / "none", {**columns, "event": [False] * N}), **roles)
    with pytest.raises(DataError, match="no event was observed"):
        ALDSurvival().fit(none.x, none.y)


def test_a_bad_row_in_the_last_file_stops_before_anything_is_written(tmp_path, monkeypatch):
    columns, roles = rows_of("right")
    columns["age"][-3] = np.inf
    table = datasets.open_table(written(tmp_path / "bad", columns), **roles)
    monkeypatch.setattr(fitting, "write_rows", lambda *_, **__: pytest.fail("rows are written"))
    with pytest.raises(DataError, match="covariates must be finite") as caught:
        ALDSurvival(**SMALL).fit(table.x, table.y)
    assert caught.value.file.endswith("0251.parquet")
    assert caught.value.row == N - 251 - 3
    assert caught.value.column == "age"
