"""Metrics of tables in parts: the numbers of `metrics.evaluate` on the same rows in memory."""

from __future__ import annotations

import json

import numpy as np
import pytest

import aldsurv
from aldsurv import metrics
from aldsurv.cli.main import main
from aldsurv.datasets import open_table
from aldsurv.errors import AldsurvWarning, DataError, ParameterError
from aldsurv.metrics.block_scores import MERGED_METRICS
from aldsurv.models.parted import evaluation
from aldsurv.models.parted.dask_engine import DaskEngine
from aldsurv.models.parted.evaluation import evaluate_parts

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(11)
    n = 800
    age = rng.normal(size=n)
    event_time, censoring = np.exp(1 + 0.6 * age) * rng.weibull(1.5, n), rng.exponential(5.0, n)
    # Rounded: events at 0, tied events, and censorings at the times of events.
    time = np.round(4 * np.minimum(event_time, censoring)) / 4
    columns = {"age": age, "time": time, "event": event_time <= censoring, "weight": rng.integers(1, 4, n) / 2}
    made = tmp_path_factory.mktemp("rows")
    table = arrow.table(columns)
    for k, (start, stop) in enumerate(((0, 5), (5, 300), (300, 800))):
        parquet.write_table(table.slice(start, stop - start), made / f"{k}.parquet")
    return made


@pytest.fixture(scope="module")
def model(folder):
    table = open_table(folder, time="time", event="event", drop=["weight"])
    return aldsurv.LogNormalAFT().fit(table.x, table.y)


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("point", ["follow_up", "median"])
def test_parts_have_the_metrics_of_all_rows(folder, model, weight, point, monkeypatch):
    monkeypatch.setattr(evaluation, "_ROWS", 100)
    drop = [] if weight else ["weight"]
    table = open_table(folder, time="time", event="event", weight=weight, drop=drop)
    train = open_table(sorted(folder.iterdir())[1:], time="time", event="event", weight=weight, drop=drop)
    x, y = table.collect()
    expected = metrics.evaluate(
        model.predict_distribution(x), y, train=train.collect()[1], metrics=MERGED_METRICS, point=point
    )
    found = evaluate_parts(model, table, train=train, metrics=MERGED_METRICS, point=point)
    assert list(found) == list(expected)
    for name in found:
        assert found[name] == pytest.approx(expected[name], rel=1e-10, abs=1e-12), name
    assert (found.rows, found.events, found.standard_errors) == (800, y.n_events, {})


def test_a_cluster_has_the_same_bits(folder, model, cluster):
    table = open_table(folder, time="time", event="event", drop=["weight"])
    with DaskEngine(cluster.scheduler_address):
        together = evaluate_parts(model, table)
    assert dict(together) == dict(evaluate_parts(model, table))


def test_more_rows_than_pairs_are_compared_for(folder, model, monkeypatch):
    table = open_table(folder, time="time", event="event", drop=["weight"])
    exact = evaluate_parts(model, table, metrics=["harrell_c", "ibs"])
    monkeypatch.setattr(evaluation, "MOST_ROWS", 400)
    sampled = evaluate_parts(model, table, metrics=["harrell_c", "ibs"])
    assert sampled["ibs"] == exact["ibs"]
    assert list(sampled.standard_errors) == ["harrell_c"]
    assert 0 < sampled.standard_errors["harrell_c"] < 0.1
    assert abs(sampled["harrell_c"] - exact["harrell_c"]) < 4 * sampled.standard_errors["harrell_c"]
    monkeypatch.setattr(evaluation, "MOST_ROWS", 20)
    with pytest.warns(AldsurvWarning, match="more than 20 distinct times"):
        few = evaluate_parts(model, table, metrics=["ibs"])
    assert few["ibs"] == pytest.approx(exact["ibs"], abs=0.1)


def test_bounded_rows_and_what_is_refused(folder, model, tmp_path):
    table = open_table(folder, time="time", event="event", drop=["weight"])
    with pytest.raises(ParameterError, match="metric 'auc' is not computed from parts; those that are"):
        evaluate_parts(model, table, metrics=["auc"])
    none = arrow.table({"age": [1.0, 2.0], "time": [1.0, 2.0], "event": [False, False]})
    parquet.write_table(none, tmp_path / "none.parquet")
    with pytest.raises(DataError, match="no event was observed"):
        evaluate_parts(model, open_table(tmp_path / "none.parquet", time="time", event="event"))
    bounded = arrow.table({"age": [0.1, 0.2, -1.0], "lower": [1.0, 2.0, 0.5], "upper": [2.0, 2.5, np.inf]})
    parquet.write_table(bounded, tmp_path / "bounded.parquet")
    rows = open_table(tmp_path / "bounded.parquet", lower="lower", upper="upper")
    x, y = rows.collect()
    predicted = model.predict_distribution(x)
    found = evaluate_parts(model, rows, metrics=["log_likelihood", "cens_dcal"])
    assert found["log_likelihood"] == pytest.approx(metrics.log_likelihood(predicted, y), rel=1e-12)
    assert found["cens_dcal"] == pytest.approx(metrics.censored_d_calibration(predicted, y), rel=1e-12)


def test_command(folder, model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = open_table(folder, time="time", event="event", drop=["weight"])
    model.save(tmp_path / "m.aldsurv")
    words = ["evaluate", "m.aldsurv", str(folder), "--time", "time", "--event", "event", "--point", "follow_up"]
    assert main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["rows"], report["parts"]) == (800, 3)
    expected = evaluate_parts(model, table)
    assert {name: entry["value"] for name, entry in report["metrics"].items()} == pytest.approx(dict(expected))
    assert main(words) == 0
    assert "800 rows in 3 parts" in capsys.readouterr().out
    assert main([*words, "--times", "3"]) == 2
    assert "--times cannot be combined with a folder" in capsys.readouterr().err
