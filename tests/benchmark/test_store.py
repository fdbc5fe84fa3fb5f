"""The file of results: whole cells, several writers, files that cannot be trusted."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from multiprocessing import get_context

import pytest

from aldsurv.benchmark import Curve, Plan, Result, Store
from aldsurv.benchmark.store import CellOutcome
from aldsurv.errors import DataError, ParameterError

PLAN = Plan(("norm_linear", "weibull"), ("ald",), seeds=2)
VERSIONS = {"aldsurv": "1"}


def outcome(cell, value=0.5):
    results = tuple(Result(cell.series, seed, "", "ibs", value + seed) for seed in cell.seeds)
    curves = tuple(Curve(cell.series, seed, "survival", (0.1, 0.2), (0.3, value)) for seed in cell.seeds)
    return CellOutcome(cell, results, curves, None, 1.5, 0.5)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "new" / "folder")
    store.begin(PLAN, VERSIONS)
    return store


def test_what_is_added_comes_back(store):
    first, second = PLAN.cells()
    store.add(outcome(first))
    store.add(CellOutcome(second, error="DataError: no"))
    assert store.done() == {first.name}
    assert store.failed() == {second.name: "DataError: no"}
    assert store.seconds() == {first.name: (1.5, 0.5)}
    assert store.plan == PLAN
    assert store.versions == VERSIONS
    results = store.results()
    assert list(results) == list(outcome(first).results)
    assert results.curves == list(outcome(first).curves)
    assert results.by_seed(first.series, "ibs").tolist() == [0.5, 1.5]
    assert results.by_seed(second.series, "ibs").size == 0
    # Tried again it succeeds; a failure of a second run does not undo that.
    store.add(outcome(second))
    store.add(CellOutcome(second, error="DataError: no"))
    assert store.failed() == {}
    assert len(store.results()) == 4


def test_values_that_are_no_numbers(store):
    cell = PLAN.cells()[0]
    values = (math.nan, math.inf)
    rows = tuple(Result(cell.series, seed, "mean", "mae", value) for seed, value in enumerate(values))
    store.add(CellOutcome(cell, rows))
    found = store.results().by_seed(cell.series, "mae", point="mean")
    assert math.isnan(found[0])
    assert found[1] == math.inf


def test_other_plans_and_versions_are_refused(store):
    store.begin(PLAN, VERSIONS)
    with pytest.raises(ParameterError, match="holds another benchmark"):
        store.begin(Plan(("norm_linear",), ("ald",), seeds=2), VERSIONS)
    with pytest.raises(ParameterError, match=r"other versions \(aldsurv 1; here aldsurv 2\)"):
        store.begin(PLAN, {"aldsurv": "2"})
    assert store.plan == PLAN


def test_folders_without_a_benchmark(tmp_path):
    with pytest.raises(DataError, match=r"holds no benchmark\. Begin one: aldsurv benchmark run"):
        Store(tmp_path / "nowhere").results()
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "results.sqlite").write_text("no database, but long enough to be read as one " * 30)
    with pytest.raises(DataError, match="cannot be used: file is not a database"):
        Store(tmp_path).results()
    with pytest.raises(DataError, match="cannot be used"):
        Store(tmp_path).begin(PLAN, VERSIONS)


def _add(folder, value):
    store = Store(folder)
    store.begin(PLAN, VERSIONS)
    for cell in PLAN.cells() * 10:
        store.add(outcome(cell, value))


def test_several_writers_leave_whole_cells(tmp_path):
    context = get_context("spawn")
    writers = [context.Process(target=_add, args=(tmp_path, float(value))) for value in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    results = Store(tmp_path).results()
    for cell in PLAN.cells():
        first, second = results.by_seed(cell.series, "ibs")
        # Both seeds are of one and the same writer.
        assert second == first + 1
        assert {curve.observed[1] for curve in results.where(dataset=cell.series.dataset).curves} == {first}


FORGERIES = [
    "update about set value = '{' where name = 'plan'",
    "update about set value = x'ff00' where name = 'plan'",
    "update about set value = replace(value, 'weibull', 'weihnachten') where name = 'plan'",
    "update about set value = '[1, 2]' where name = 'versions'",
    "update about set value = '{\"a\": 1}' where name = 'versions'",
    "update about set value = replace(hex(zeroblob(50000)), '0', '[') where name = 'versions'",
    "update cells set seconds_fit = 'long'",
    "update cells set seconds_evaluate = null",
    "update results set cell = 'a/b'",
    "update results set cell = 'one/two/three/four/five'",
    "update or replace results set seed = 'first'",
    "update or replace results set seed = -1",
    "update results set point = 'noon'",
    "update results set metric = x'ff'",
    "update results set value = 'good'",
    "update results set value = 1e300",
    "update curves set kind = 'love'",
    "update curves set expected = '[1, 2'",
    "update curves set expected = '[]'",
    "update curves set observed = '[0.1, \"0.2\"]'",
    "update curves set observed = '{}'",
    "update curves set cell = x'00ff'",
    "alter table results rename column seed to sowing",
    "drop table curves",
]


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery[:60])
def test_cells_that_were_forged_are_refused(store, forgery):
    store.add(outcome(PLAN.cells()[0]))
    with closing(sqlite3.connect(store.path)) as file:
        file.execute(forgery)
        file.commit()
    with pytest.raises(DataError, match=r"results\.sqlite (is damaged|cannot be used)") as caught:
        _ = store.plan, store.versions, store.done(), store.failed(), store.seconds(), store.results()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_versions_that_were_forged_are_refused_when_a_run_begins(store):
    with closing(sqlite3.connect(store.path)) as file:
        file.execute("update about set value = '{' where name = 'versions'")
        file.commit()
    with pytest.raises(DataError, match="its versions cannot be read"):
        store.begin(PLAN, VERSIONS)
