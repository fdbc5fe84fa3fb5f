from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from aldsurv import ALDSurvival, CoxRegression, DeepSurv, SurvivalData, WeibullAFT, metrics
from aldsurv.errors import (
    AldsurvError,
    CensoringError,
    DataError,
    MissingDependencyError,
    ParameterError,
    TrainingError,
)
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.search_space import OneOf, Range, SearchSpace
from aldsurv.registry import MODELS
from aldsurv.tuning import score as tuning_score
from aldsurv.tuning import search as tuning
from aldsurv.tuning.score import cross_validated, even_folds
from aldsurv.tuning.search import search_fingerprint, tune


def draw(n: int = 61, columns: int = 12, seed: int = 0, **more) -> tuple[np.ndarray, SurvivalData]:
    """Many columns of which one counts: without a penalty it is learned too well."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    event, lost = np.exp(x[:, 0] / 2) * rng.weibull(2, n), rng.exponential(3, n)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost, **more)


def quick(**more) -> dict:
    return {"max_epochs": 4, "hidden": (4,), "head_hidden": (4,), **more}


# A model around another one has nothing to search: its score is mostly that of the model within.
ALONE = [name for name in MODELS if not {"estimator", "estimators"} & set(MODELS.load(name).parameter_defaults())]


@pytest.mark.parametrize("name", ALONE)
def test_every_model_declares_a_space_of_its_parameters(name: str) -> None:
    kind = MODELS.load(name)
    space = kind.SEARCH_SPACE
    assert space.entries
    assert set(space.entries) <= set(kind.parameter_defaults())
    for key, entry in space.entries.items():
        ends = [entry.low, entry.high] if isinstance(entry, Range) else [entry.value(text) for text in entry.names]
        for value in ends:
            model = kind(**{key: value})
            if isinstance(model, NeuralSurvival):
                assert getattr(model.settings(), key) == value
            model.check_parameters()


def test_entries_of_a_space() -> None:
    space = SearchSpace({"ridge": Range(0.1, 1.0), "ties": OneOf(("efron", "breslow"))}, "ibs")
    assert set(space.without({"ridge": None, "ties": "efron"}).entries) == {"ridge"}
    assert Range(0.1, 0.5).value(0.123456) == 0.1235
    assert Range(0.1, 0.123456).value(0.123456) == 0.123456
    choice = OneOf(((32,), (64, 64), "log", 5))
    assert choice.names == ["32", "64x64", "log", "5"]
    assert [choice.value(text) for text in choice.names] == [(32,), (64, 64), "log", 5]


@pytest.mark.parametrize(("n", "folds"), [(8, 4), (61, 4), (100, 3), (101, 10)])
def test_folds(n: int, folds: int) -> None:
    _, data = draw(n)
    parts = even_folds(data, folds, 0)
    assert {len(part) for part in parts} == {n // folds}
    rows = np.concatenate(parts)
    assert len(set(rows.tolist())) == len(rows) == n - n % folds
    for known in (data, SurvivalData.right(data.time, np.arange(n) % 2)):
        events = [int(known.event[part].sum()) for part in even_folds(known, folds, 0)]
        assert max(events) - min(events) <= 2
    assert [part.tolist() for part in even_folds(data, folds, 0)] == [part.tolist() for part in parts]
    assert [part.tolist() for part in even_folds(data, folds, 1)] != [part.tolist() for part in parts]


def test_score_is_the_log_likelihood_of_rows_not_seen() -> None:
    weight = np.random.default_rng(5).uniform(0.2, 3, 61)
    x, data = draw(weight=weight)
    found = tune(WeibullAFT, x, data, trials=2, folds=3)
    for trial in found.trials:
        total = counted = 0.0
        for part in even_folds(data, 3, 0):
            rest = np.setdiff1d(np.arange(61), part)
            model = WeibullAFT(**trial.settings).fit(x[rest], data[rest])
            d = model.predict_distribution(x[part])
            law = stats.weibull_min(d.shape[:, 0], scale=d.scale[:, 0])
            row = np.where(data.event[part], law.logpdf(data.time[part]), law.logsf(data.time[part]))
            total, counted = total + weight[part] @ row, counted + weight[part].sum()
        assert trial.score == pytest.approx(total / counted, rel=1e-9)
    assert found.metric == "log_likelihood"


def test_score_of_step_functions_is_the_brier_score() -> None:
    x, data = draw(90, 3)
    found = tune(CoxRegression, x, data, trials=1, folds=3)
    scores = []
    for part in even_folds(data, 3, 0):
        rest = np.setdiff1d(np.arange(90), part)
        predicted = CoxRegression().fit(x[rest], data[rest]).predict_distribution(x[part])
        scores.append(metrics.integrated_brier_score(predicted, data[part], train=data[rest]))
    assert (found.metric, found.best) == ("ibs", {})
    assert found.score == pytest.approx(-np.mean(scores), rel=1e-12)


def test_networks_are_scored_as_if_fitted_one_by_one_with_one_member() -> None:
    x, data = draw(50, 3)
    found = tune(ALDSurvival, x, data, trials=2, settings=quick(members=7), folds=2, random_state=3)
    for trial in found.trials:
        scores = []
        for part in even_folds(data, 2, 3):
            rest = np.setdiff1d(np.arange(50), part)
            model = ALDSurvival(**quick(members=1, random_state=3), **trial.settings).fit(x[rest], data[rest])
            scores.append(metrics.log_likelihood(model.predict_distribution(x[part]), data[part]))
        assert trial.score == pytest.approx(np.mean(scores), rel=1e-12)
    assert found.trials[0].settings == {}
    assert set(found.trials[1].settings) == {"learning_rate", "dropout", "weight_decay", "support", "components"}


def test_a_penalty_is_found_where_one_is_needed() -> None:
    x, data = draw(61, 20)
    found = tune(WeibullAFT, x, data, trials=12)
    # By brute force: the best of a fine grid of penalties.
    grid = [
        cross_validated(WeibullAFT, {"ridge": ridge}, x, data, even_folds(data, 4, 0), "log_likelihood", 0)
        for ridge in np.geomspace(0.01, 1000, 40)
    ]
    none = found.trials[0].score
    assert none is not None
    assert found.score == max(trial.score for trial in found.trials if trial.score is not None)
    assert found.score - none > 0.9 * (max(score for score in grid if score is not None) - none) > 0
    assert found.best["ridge"] > 1


def test_same_seed_same_result_whatever_the_container() -> None:
    x, data = draw(40, 2)
    columns = {"a": x[:, 0], "b": x[:, 1]}
    first = tune(WeibullAFT, columns, data, trials=4)
    for same in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert tune(WeibullAFT, same, data, trials=4) == first
    assert tune(WeibullAFT, x.tolist(), (data.time, data.event), trials=4) == first
    assert tune(WeibullAFT, x, data, trials=4, random_state=1).trials[1].settings != first.trials[1].settings


def test_a_search_goes_on(tmp_path: Path) -> None:
    x, data = draw()
    path, told = tmp_path / "search.journal", []
    whole = tune(WeibullAFT, x, data, trials=14)
    assert tune(WeibullAFT, x, data, trials=5, storage=path).trials == whole.trials[:5]
    again = tune(WeibullAFT, x, data, trials=14, storage=str(path), on_trial=told.append)
    assert again == whole
    assert tuple(told) == whole.trials[5:]
    assert tune(WeibullAFT, x, data, trials=3, storage=path).trials == whole.trials
    # Other data in the same file are another search.
    other, rows = draw(seed=1)
    assert len(tune(WeibullAFT, other, rows, trials=2, storage=path).trials) == 2


PROGRAM = """
import sys
sys.path[:0] = {paths!r}
from tuning.test_tuning import draw
from aldsurv import WeibullAFT
from aldsurv.tuning.search import tune
tune(WeibullAFT, *draw(), trials=10_000, storage={path!r}, on_trial=lambda trial: print(trial.number, flush=True))
"""


def test_a_search_that_was_killed_goes_on(tmp_path: Path) -> None:
    path, tests = tmp_path / "search.journal", Path(__file__).parents[1]
    paths = [str(tests), str(Path(tuning.__file__).parents[2])]
    command = [sys.executable, "-c", PROGRAM.format(paths=paths, path=str(path))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(4)] == ["1\n", "2\n", "3\n", "4\n"]
        process.kill()
        assert process.wait() == -signal.SIGKILL if sys.platform != "win32" else 1
    # A kill in the middle of writing would leave half a line.
    with path.open("a") as file:
        file.write('{"op_code":4,"worker')
    done = path.read_text().count('"op_code":4') - 1
    assert done >= 4
    x, data = draw()
    assert tune(WeibullAFT, x, data, trials=done + 2, storage=path) == tune(WeibullAFT, x, data, trials=done + 2)
    assert all("op_code" in json.loads(line) for line in path.read_text().splitlines())


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "[1]\n", "7\n", "{}", "\x00\x01"])
def test_a_file_that_is_no_record_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(DataError, match="is not a record of a search"):
        tune(WeibullAFT, *draw(), trials=1, storage=path)
    assert path.read_text() == content


def test_damaged_and_empty_records(tmp_path: Path) -> None:
    path = tmp_path / "search.journal"
    path.touch()
    x, data = draw()
    assert len(tune(WeibullAFT, x, data, trials=2, storage=path).trials) == 2
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:30], *lines[2:], ""]))
    with pytest.raises(DataError, match="is damaged"):
        tune(WeibullAFT, x, data, trials=2, storage=path)


def test_trials_that_fail_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    x, data = draw()
    fit_all, calls = tuning_score.fit_all, []

    def sometimes(models, given) -> None:
        calls.append(models)
        if len(calls) in (1, 3):
            raise TrainingError("the loss is no longer a number")
        fit_all(models, given)

    monkeypatch.setattr(tuning_score, "fit_all", sometimes)
    found = tune(WeibullAFT, x, data, trials=4)
    assert [trial.score is None for trial in found.trials] == [True, False, True, False]
    assert found.score == max(found.trials[k].score for k in (1, 3))
    monkeypatch.setattr(tuning_score, "held_out_score", lambda *given: -math.inf)
    with pytest.raises(TrainingError, match="none of 2 trials"):
        tune(CoxRegression, x, data, trials=2)


def test_interruption_ends_the_search(tmp_path: Path) -> None:
    x, data = draw(40, 2)

    def interrupt(report) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "search.journal"
    with pytest.warns(RuntimeWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        tune(ALDSurvival, x, data, trials=2, settings=quick(callbacks=[interrupt]), storage=path)
    assert path.read_text().count('"op_code":4') == 0


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"trials": 0}, ParameterError, "trials must be a whole number from 1"),
        ({"trials": True}, ParameterError, "trials"),
        ({"folds": 1}, ParameterError, "folds must be a whole number from 2"),
        ({"random_state": -1}, ParameterError, "random_state"),
        ({"settings": {"colour": 1}}, ParameterError, "has no parameter 'colour'"),
        ({"settings": {"ridge": 1.0}}, ParameterError, "leaves nothing to search: ridge is set"),
        ({"folds": 31}, DataError, "too few for 31 folds"),
    ],
)
def test_errors(options: dict, kind: type[AldsurvError], told: str) -> None:
    with pytest.raises(kind, match=told):
        tune(WeibullAFT, *draw(), **{"trials": 2, **options})


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ALONE])
def test_models_without_a_space(name: str) -> None:
    with pytest.raises(ParameterError, match="has nothing to search: it declares no SEARCH_SPACE"):
        tune(MODELS.load(name), *draw(), trials=1)


def test_rows_that_cannot_be_scored() -> None:
    x, data = draw(40, 2)
    late = SurvivalData.right(data.time + 1, data.event, entry=np.full(40, 0.5))
    with pytest.raises(CensoringError, match="delayed entry"):
        tune(DeepSurv, x, late, trials=1, settings={"max_epochs": 1})
    with pytest.raises(DataError, match="0 events are too few"):
        tune(WeibullAFT, x, (data.time, np.zeros(40, bool)), trials=1)


def test_fingerprint_knows_all_that_counts() -> None:
    x, data = draw(30, 2)
    changed = x.copy()
    changed[3, 1] += 1e-9
    told = {
        search_fingerprint(WeibullAFT, x, data),
        search_fingerprint(CoxRegression, x, data),
        search_fingerprint(WeibullAFT, changed, data),
        search_fingerprint(WeibullAFT, x, data.scaled(2)),
        search_fingerprint(WeibullAFT, x, data, settings={"point": "mean"}),
        search_fingerprint(WeibullAFT, x, data, random_state=1),
        search_fingerprint(WeibullAFT, x, data, folds=5),
    }
    assert len(told) == 7
    assert search_fingerprint(WeibullAFT, {"a": x[:, 0], "b": x[:, 1]}, data) in told


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'aldsurv\[tune\]'"):
        tune(WeibullAFT, *draw(), trials=1)
