from __future__ import annotations

import itertools
import json
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
from aldsurv.tuning.score import Task, even_folds, mean_score
from aldsurv.tuning.search import Progress, search_fingerprint, tune
from tuning.drawn import draw


def quick(**more) -> dict:
    return {"max_epochs": 4, "hidden": (4,), "head_hidden": (4,), **more}


# A model around others has nothing to search: its score is mostly that of the models within.
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


def search_folds(kind, x, data, folds: int, random_state: int = 0, **fixed):
    return Task(kind, fixed, x, data, kind.SEARCH_SPACE.score, folds, random_state).draw_folds(0)


def test_score_is_the_bounded_log_likelihood_of_rows_not_seen() -> None:
    weight = np.random.default_rng(5).uniform(0.2, 3, 61)
    x, data = draw(weight=weight)
    found = tune(WeibullAFT, x, data, trials=2, folds=3)
    parts = search_folds(WeibullAFT, x, data, 3).parts
    assert sorted(np.concatenate(parts).tolist()) == sorted(set(np.concatenate(parts).tolist()))
    by_trial = []
    for trial in found.trials:
        rows = np.zeros(61)
        for part in parts:
            rest = np.setdiff1d(np.arange(61), part)
            model = WeibullAFT(**trial.settings).fit(x[rest], data[rest])
            d = model.predict_distribution(x[part])
            law = stats.weibull_min(d.shape[:, 0], scale=d.scale[:, 0])
            mean_time = weight[rest] @ data.time[rest] / (weight[rest] @ data.event[rest])
            reference = stats.expon(scale=mean_time)
            event, time = data.event[part], data.time[part]
            one = np.where(event, law.pdf(time), law.sf(time))
            rows[part] = np.log(0.99 * one + 0.01 * np.where(event, reference.pdf(time), reference.sf(time)))
        by_trial.append(rows)
        if trial.folds == 3:
            assert trial.score == pytest.approx(
                weight[np.concatenate(parts)] @ rows[np.concatenate(parts)] / weight[np.concatenate(parts)].sum(),
                rel=1e-9,
            )
    scored = np.concatenate(parts[: found.trials[1].folds])
    gain = np.average((by_trial[1] - by_trial[0])[scored], weights=weight[scored])
    assert found.trials[1].gain == pytest.approx(gain, rel=1e-7)
    assert found.metric == "bounded_log_likelihood"


def test_score_of_step_functions_is_the_brier_score_and_c_is_beside_it() -> None:
    x, data = draw(90, 3)
    found = tune(CoxRegression, x, data, trials=1, folds=3)
    scores, ranked = [], []
    for part in search_folds(CoxRegression, x, data, 3).parts:
        rest = np.setdiff1d(np.arange(90), part)
        model = CoxRegression().fit(x[rest], data[rest])
        predicted = model.predict_distribution(x[part])
        scores.append(metrics.integrated_brier_score(predicted, data[part], train=data[rest]))
        ranked.append(metrics.concordance_harrell(-model.predict(x[part]), data[part]))
    assert (found.metric, found.best, found.finalists) == ("ibs", {}, ())
    assert found.score == pytest.approx(-np.mean(scores), rel=1e-12)
    assert found.trials[0].concordance == pytest.approx(np.mean(ranked), abs=0.02)


def test_networks_are_scored_as_if_fitted_one_by_one_with_all_members() -> None:
    x, data = draw(50, 3)
    found = tune(ALDSurvival, x, data, trials=2, settings=quick(members=2), folds=2, random_state=3)
    folds = search_folds(ALDSurvival, x, data, 2, 3)
    assert len({*folds.seeds, 3}) == 3
    scores = []
    for part, seed in zip(*folds, strict=True):
        rest = np.setdiff1d(np.arange(50), part)
        model = ALDSurvival(**quick(members=2, random_state=seed)).fit(x[rest], data[rest])
        predicted = model.predict_distribution(x[part])
        scores.append(metrics.bounded_log_likelihood(predicted, data[part], train=data[rest]))
    assert found.trials[0].score == pytest.approx(np.mean(scores), rel=1e-12)
    assert found.trials[0].settings == {}
    assert set(found.trials[1].settings) == {"learning_rate", "dropout", "weight_decay", "support", "components"}


def test_a_penalty_is_taken_where_one_is_needed() -> None:
    x, data = draw(90, 35)
    found = tune(WeibullAFT, x, data, trials=6)
    assert found.confirmed
    assert found.best["ridge"] > 1
    # By brute force: on the fresh folds, and on rows that the search has not seen.
    task = Task(WeibullAFT, {}, x, data, "log_likelihood", 5, 0)
    first, scores = found.finalists[0], {"best": [], "default": []}
    for repeat in (1, 2):
        folds = task.draw_folds(repeat)
        for name, settings in (("best", found.best), ("default", {})):
            scores[name].append(mean_score(task.score(settings, folds), folds.parts, data.weights))
    assert (first.score, first.default_score) == pytest.approx((np.mean(scores["best"]), np.mean(scores["default"])))
    assert first.gain == pytest.approx(first.score - first.default_score)
    new, rows = draw(2000, 35, seed=9)
    held_out = [
        metrics.bounded_log_likelihood(WeibullAFT(**settings).fit(x, data).predict_distribution(new), rows, train=data)
        for settings in (found.best, {})
    ]
    assert held_out[0] > held_out[1]
    assert f"trial {first.trial} replaces the default: +{first.gain:.4f} ± " in found.describe()
    assert f", C {first.concordance:.3f} against {first.default_concordance:.3f}." in found.describe()


def test_one_trial_is_the_default_which_stays() -> None:
    x, data = draw(90, 35)
    found = tune(WeibullAFT, x, data, trials=1)
    assert (found.best, found.finalists, found.confirmed, found.gain) == ({}, (), False, None)
    assert found.score == found.trials[0].score
    assert found.describe() == "No settings were tried beside the default, which stays."


def test_same_seed_same_result_whatever_the_container() -> None:
    x, data = draw(40, 2)
    columns = {"a": x[:, 0], "b": x[:, 1]}
    first = tune(WeibullAFT, columns, data, trials=3, folds=2)
    for same in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert tune(WeibullAFT, same, data, trials=3, folds=2) == first
    assert tune(WeibullAFT, x.tolist(), (data.time, data.event), trials=3, folds=2) == first
    assert tune(WeibullAFT, x, data, trials=3, folds=2, random_state=1).trials[1].settings != first.trials[1].settings


def test_a_search_goes_on(tmp_path: Path) -> None:
    x, data = draw()
    path, told, steps = tmp_path / "search.journal", [], []
    whole = tune(WeibullAFT, x, data, trials=12, folds=2)
    assert tune(WeibullAFT, x, data, trials=3, storage=path, folds=2).trials == whole.trials[:3]
    options: dict = {"storage": str(path), "on_trial": told.append, "on_progress": steps.append}
    again = tune(WeibullAFT, x, data, trials=12, folds=2, **options)
    assert again == whole
    assert tuple(told) == whole.trials[3:]
    assert [step.done for step in steps if not step.confirming] == list(range(4, 13))
    assert steps[-1] == Progress(steps[-1].total, steps[-1].total, bool(whole.finalists))
    assert all(later.total <= sooner.total for sooner, later in itertools.pairwise(steps))
    stored = path.read_text()
    assert tune(WeibullAFT, x, data, trials=2, storage=path, folds=2) == whole
    # Trials and repeated scores: nothing was added.
    for code in (2, 4):
        assert path.read_text().count(f'"op_code":{code}') == stored.count(f'"op_code":{code}') > 0
    # Other data in the same file are another search.
    other, rows = draw(seed=1)
    assert len(tune(WeibullAFT, other, rows, trials=2, storage=path, folds=2).trials) == 2


def test_a_search_that_was_stopped_while_trying_again_goes_on(tmp_path: Path) -> None:
    x, data = draw(90, 20)
    path, steps = tmp_path / "search.journal", []
    whole = tune(WeibullAFT, x, data, trials=3, folds=2)
    assert whole.finalists

    def stop(step: Progress) -> None:
        if step.confirming:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(WeibullAFT, x, data, trials=3, folds=2, storage=path, on_progress=stop)
    assert tune(WeibullAFT, x, data, trials=3, folds=2, storage=path, on_progress=steps.append) == whole
    assert all(step.confirming for step in steps)


PROGRAM = """
import sys
sys.path[:0] = {paths!r}
from tuning.drawn import draw
from aldsurv import WeibullAFT
from aldsurv.tuning.search import tune
told = lambda trial: print(trial.number, flush=True)
tune(WeibullAFT, *draw(), trials=10_000, folds=2, storage={path!r}, on_trial=told)
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
    options = {"trials": done + 1, "folds": 2}
    assert tune(WeibullAFT, x, data, **options, storage=path) == tune(WeibullAFT, x, data, **options)
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
    assert len(tune(WeibullAFT, x, data, trials=2, folds=2, storage=path).trials) == 2
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:30], *lines[2:], ""]))
    with pytest.raises(DataError, match="is damaged"):
        tune(WeibullAFT, x, data, trials=2, folds=2, storage=path)


def test_trials_that_fail_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    x, data = draw(90, 35)
    fit_all, calls = tuning_score.fit_all, []
    failing: list[int] = []

    def sometimes(models, given) -> None:
        calls.append(models)
        if len(calls) in failing:
            raise TrainingError("the loss is not finite")
        fit_all(models, given)

    monkeypatch.setattr(tuning_score, "fit_all", sometimes)
    failing[:] = [1, 3]
    found = tune(WeibullAFT, x, data, trials=4)
    assert [trial.score is None for trial in found.trials] == [True, False, True, False]
    assert all(trial.gain is None for trial in found.trials)
    # The default is trained on the fresh folds, where it is worse.
    assert found.best in (found.trials[1].settings, found.trials[3].settings)
    failing[:] = range(1, 100)
    calls.clear()
    with pytest.raises(TrainingError, match="none of 2 trials"):
        tune(CoxRegression, x, data, trials=2)


def test_interruption_ends_the_search(tmp_path: Path) -> None:
    x, data = draw(40, 2)

    def interrupt(report) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "search.journal"
    with pytest.warns(RuntimeWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        tune(ALDSurvival, x, data, trials=2, settings=quick(members=2, callbacks=[interrupt]), storage=path)
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
        search_fingerprint(WeibullAFT, x, data, folds=6),
    }
    assert len(told) == 7
    assert search_fingerprint(WeibullAFT, {"a": x[:, 0], "b": x[:, 1]}, data) in told


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'aldsurv\[tune\]'"):
        tune(WeibullAFT, *draw(), trials=1)
