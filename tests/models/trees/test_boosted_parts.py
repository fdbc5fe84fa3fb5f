"""Boosted trees of tables in parts, here and on the workers of a cluster."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lost_workers import kill_a_worker
from scipy.stats import norm

from aldsurv.datasets import open_table
from aldsurv.metrics import log_likelihood
from aldsurv.models import BoostedALD
from aldsurv.models.parted.dask_engine import DaskEngine
from aldsurv.models.trees import boosting_settings, grown_members

TREES = {"components": 2, "members": 3, "max_rounds": 30, "random_state": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(3)
    place = tmp_path_factory.mktemp("rows")
    for part in range(3):
        x = rng.normal(size=(400, 2))
        event, lost = np.exp(1 + x[:, 0] + 0.4 * rng.normal(size=400)), rng.exponential(8, 400)
        columns = {"a": x[:, 0], "b": x[:, 1], "time": np.minimum(event, lost), "event": event <= lost}
        pq.write_table(pa.table(columns), place / f"{part}.parquet")
    return place


def truth(x, y):
    """Mean log-likelihood per row under the law that the rows were drawn from."""
    law, log_time = norm(1 + x["a"], 0.4), np.log(y.time)
    return np.where(y.event, law.logpdf(log_time) - log_time, law.logsf(log_time)).mean()


@pytest.fixture
def table(folder):
    return open_table(folder, time="time", event="event")


def test_parts_are_as_good_as_rows_in_memory(table):
    x, y = table.collect()
    whole = BoostedALD(**TREES).fit(x, y)
    parts = BoostedALD(**TREES).fit(table.x, table.y)
    assert parts.trained_on_.rows == 1200
    assert parts.trained_on_.events == whole.trained_on_.events
    # Rows come in another order, so that members hold out others.
    scores = [log_likelihood(model.predict_distribution(x), y) for model in (whole, parts)]
    assert scores == pytest.approx([truth(x, y)] * 2, abs=0.1)
    assert scores[0] == pytest.approx(scores[1], abs=0.03)


def test_a_sample_of_the_rows(table, monkeypatch):
    monkeypatch.setattr(boosting_settings, "_TRAIN_ROWS", 100)
    model = BoostedALD(**{**TREES, "validation": 0.5}).fit(table.x, table.y)
    # Facts and columns are those of all rows, though members saw 600 of them.
    assert model.trained_on_.rows == 1200
    x, y = table.collect()
    assert log_likelihood(model.predict_distribution(x), y) == pytest.approx(truth(x, y), abs=0.15)


def test_members_grow_on_workers_of_which_one_is_lost(table, cluster, monkeypatch):
    wanted = BoostedALD(**TREES).fit(table.x, table.y).trees_.to_arrays()
    with DaskEngine(cluster.scheduler_address) as engine:
        completed = engine.completed

        def completed_with_a_loss(function, items, shared=()):
            for count, result in enumerate(completed(function, items, shared)):
                if count == 0 and str(items[0]) == "member 1":
                    kill_a_worker(cluster)
                yield result

        monkeypatch.setattr(engine, "completed", completed_with_a_loss)
        found = BoostedALD(**TREES).fit(table.x, table.y).trees_.to_arrays()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


class EndedError(Exception):
    """What ends one member."""


def test_members_end_with_their_round_when_one_fails(monkeypatch):
    begun, ended = threading.Event(), []

    def grow(task, *, turns, **given):
        if task.number == 0:
            begun.wait(60)
            raise EndedError
        try:
            for _ in range(6000):
                with turns:
                    begun.set()
                time.sleep(0.01)
        except CancelledError:
            ended.append(task.number)
            raise

    monkeypatch.setattr(grown_members, "_grow_member", grow)
    rng = np.random.default_rng(0)
    with pytest.raises(EndedError):
        BoostedALD(members=2, n_jobs=2).fit(rng.normal(size=(50, 2)), (rng.exponential(size=50), np.ones(50, bool)))
    assert ended == [1]
