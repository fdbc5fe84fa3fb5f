"""A search whose trials are scored by the workers of a cluster: the result of a search in this process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lost_workers import kill_a_worker

import aldsurv
from aldsurv import ALDSurvival, WeibullAFT
from aldsurv.cli.main import main
from aldsurv.errors import CensoringError, DataError
from aldsurv.models.parted import dask_engine as engine
from aldsurv.tuning import tune
from aldsurv.tuning.record import TrialRecord
from tuning.drawn import draw

pytest.importorskip("optuna")
OPTIONS = {"trials": 13, "folds": 2}


@pytest.fixture(scope="module")
def rows():
    return draw(160, 30)


@pytest.fixture(scope="module")
def alone(rows):
    return tune(WeibullAFT, *rows, **OPTIONS)


def test_the_result_is_that_of_this_process_even_when_a_worker_is_lost(cluster, rows, alone, tmp_path):
    steps = []

    def lose_a_worker(trial):
        if trial.number == 3:
            kill_a_worker(cluster)

    journal = tmp_path / "search.journal"
    with aldsurv.open_engine(cluster.scheduler_address):
        found = tune(WeibullAFT, *rows, **OPTIONS, storage=journal, on_trial=lose_a_worker, on_progress=steps.append)
    assert found == alone
    assert found.finalists
    assert steps[-1].done == steps[-1].total
    # What the workers scored is what this process goes on from.
    assert tune(WeibullAFT, *rows, **OPTIONS, storage=journal, on_trial=pytest.fail) == alone


def test_a_search_that_was_stopped_within_a_round_goes_on(cluster, rows, alone, tmp_path):
    journal = tmp_path / "search.journal"

    def stop(trial):
        if trial.number == 12:
            raise KeyboardInterrupt

    with aldsurv.open_engine(cluster.scheduler_address):
        with pytest.raises(KeyboardInterrupt):
            tune(WeibullAFT, *rows, **OPTIONS, storage=journal, on_trial=stop)
        assert tune(WeibullAFT, *rows, **OPTIONS, storage=journal) == alone


def test_networks(cluster):
    x, data = draw(50, 3)
    settings = {"max_epochs": 2, "hidden": (4,), "head_hidden": (4,), "members": 2}
    with aldsurv.open_engine(cluster.scheduler_address):
        found = tune(ALDSurvival, x, data, trials=2, settings=settings, folds=2)
    assert found == tune(ALDSurvival, x, data, trials=2, settings=settings, folds=2)


def test_errors_are_those_of_this_process(cluster):
    x, data = draw(40, 2)
    late = aldsurv.SurvivalData.right(data.time + 1, data.event, entry=np.full(40, 0.5))
    with aldsurv.open_engine(cluster.scheduler_address):
        with pytest.raises(CensoringError, match="delayed entry"):
            tune(aldsurv.DeepSurv, x, late, trials=1, settings={"max_epochs": 1})
        with pytest.raises(DataError, match="too few for 31 folds"):
            tune(WeibullAFT, *draw(), trials=2, folds=31)


def test_draws_of_a_round_do_not_depend_on_its_scores():
    space, scores = WeibullAFT.SEARCH_SPACE, np.random.default_rng(0).normal(size=20)

    def record(upto):
        made = TrialRecord(space, 5, None, "draws")
        while len(made) < upto:
            made.add(made.next_draws(1)[0], float(scores[len(made)]), {})
        return made

    assert record(0).next_draws(9) == [{}]
    for start, stop in ((1, 10), (10, 15), (15, 20)):
        whole = record(start).next_draws(99)
        assert len(whole) == stop - start
        assert record(start + 2).next_draws(99) == whole[2:]
        assert record(start).next_draws(3) == whole[:3]


def test_command(cluster, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = aldsurv.datasets.load("gbsg").frame(outcome=True)[:200]
    frame.to_csv("g.csv", index=False)
    call = ["fit", "g.csv", "--time", "time", "--event", "event", "--model", "weibull_aft", "--tune", "4", "--json"]
    found = []
    for more in ([], ["--cluster", cluster.scheduler_address]):
        assert main([*call, *more, "--out", f"model{len(more)}.aldsurv"]) == 0
        found.append(json.loads(capsys.readouterr().out)["tuning"])
    for result in found:
        result.pop("journal")
    assert found[0] == found[1]
    models = [aldsurv.load(f"model{count}.aldsurv") for count in (0, 2)]
    np.testing.assert_array_equal(models[0].standardised_, models[1].standardised_)
    monkeypatch.setattr(engine, "SECONDS_TO_CONNECT", 0.5)
    assert main([*call, "--cluster", "tcp://127.0.0.1:9", "--out", "other.aldsurv"]) == 2
    assert "no Dask scheduler answers" in capsys.readouterr().err
    assert not Path("other.aldsurv").exists()
    assert not list(Path().glob("other*"))
