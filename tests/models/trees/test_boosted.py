"""Boosted trees: the walk against XGBoost's own, known truth, files, weights, what is refused."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost
from child_process import machine_variables
from sklearn.base import clone

import aldsurv
from aldsurv import SurvivalData
from aldsurv.distributions import LogAsymmetricLaplace
from aldsurv.errors import DataError, MissingDependencyError, ModelFileError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.metrics import censored_d_calibration, log_likelihood
from aldsurv.models import BoostedALD
from aldsurv.models.trees.boosted_rounds import _read
from aldsurv.models.trees.tree_arrays import Trees
from models.rows import draw

X, TIME, EVENT = draw(150)
Y = SurvivalData.right(TIME, EVENT)


# Every tree sees everything: nothing depends on who is in which fold.
ALL_ROWS = {"validation": 0.0, "subsample": 1.0, "colsample": 1.0, "members": 1}


def quick(**settings):
    given = {"components": 1, "members": 2, "max_rounds": 20, "max_depth": 3, "random_state": 0}
    return BoostedALD(**{**given, **settings})


def truth(x):
    """A law that trees can learn: steps in place, scale and asymmetry of log time."""
    sigma, kappa = np.where(x[:, 1] > 0, 0.8, 0.4), np.where(x[:, 0] > 0, 0.7, 1.2)
    return LogAsymmetricLaplace(theta=2 + np.where(x[:, 0] > 0, 1.0, 0.0), sigma=sigma, kappa=kappa)


def drawn(n, seed, columns=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    event, lost = truth(x).sample(random_state=seed + 1), rng.exponential(60, n)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost)


@pytest.fixture(scope="module")
def learned():
    x, y = drawn(2500, 0)
    return BoostedALD(components=1, members=2, random_state=0).fit(x, y)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    model = quick(components=2).fit(pd.DataFrame(X, columns=list("abc")).assign(d=np.where(X[:, 2] > 0, "x", "y")), Y)
    return model, model.save(tmp_path_factory.mktemp("saved") / "model")


# ---- trees ----------------------------------------------------------------------------------------------------------


def booster(x, *, depth, rounds, outputs):
    """Trees of the library's own, grown on noise, and rows with gaps to go through them."""
    rng = np.random.default_rng(1)
    options = {"num_class": outputs, "base_score": 0.0, "max_depth": depth, "learning_rate": 0.5, "nthread": 1}
    matrix = xgboost.DMatrix(x)
    grown = xgboost.Booster({"objective": "reg:squarederror", **options}, [matrix])
    for done in range(rounds):
        slopes = rng.normal(size=(len(x), outputs)).astype(np.float32)
        grown.boost(matrix, iteration=done, grad=slopes, hess=np.ones_like(slopes))
    return grown


@pytest.mark.parametrize(("depth", "rounds", "outputs"), [(1, 5, 2), (3, 40, 3), (9, 4, 5)])
def test_the_walk_is_xgboost_s(depth, rounds, outputs):
    rng = np.random.default_rng(0)
    # Few values: many rows lie on a threshold exactly. Gaps take the default direction.
    x = rng.integers(-3, 4, size=(400, 4)).astype(np.float32) / 3
    x[rng.uniform(size=x.shape) < 0.1] = np.nan
    grown = booster(x, depth=depth, rounds=rounds, outputs=outputs)
    trees, gain = _read(grown, rounds, 4)
    # XGBoost adds in float32.
    wanted = grown.predict(xgboost.DMatrix(x), output_margin=True).reshape(400, outputs)
    found = trees.sums(x, outputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    score = grown.get_score(importance_type="total_gain")
    np.testing.assert_allclose(gain, [score.get(f"f{k}", 0.0) for k in range(4)], rtol=1e-4)
    # A row's sums are the same alone and among others, to the bit.
    for rows in (slice(0, 1), slice(7, 9), slice(398, 400)):
        assert trees.sums(x[rows], outputs).tobytes() == np.ascontiguousarray(found[rows]).tobytes()
    assert trees.levels <= depth
    assert len(trees) == rounds * outputs


def test_many_rows_are_walked_in_chunks(monkeypatch):
    x = np.random.default_rng(0).normal(size=(301, 2)).astype(np.float32)
    trees, _ = _read(booster(x, depth=3, rounds=6, outputs=2), 6, 2)
    whole = trees.sums(x, 2)
    monkeypatch.setattr("aldsurv.models.trees.tree_arrays._AT_ONCE", 100 * len(trees))
    assert trees.sums(x, 2).tobytes() == whole.tobytes()
    assert Trees.none().sums(x, 2).tolist() == np.zeros((301, 2)).tolist()


def test_trees_of_some_outputs_add_to_the_same_sums():
    x = np.random.default_rng(0).normal(size=(90, 3)).astype(np.float32)
    trees, _ = _read(booster(x, depth=3, rounds=4, outputs=5), 4, 3)
    whole = trees.sums(x, 5)
    for chosen in ([3], [4, 1], [0, 1, 2, 3, 4]):
        part = trees.of_outputs(np.array(chosen))
        part.check(3, len(chosen))
        assert part.sums(x, len(chosen)).tobytes() == np.ascontiguousarray(whole[:, chosen]).tobytes()
    assert len(Trees.none().of_outputs(np.array([1]))) == 0


# ---- what it learns --------------------------------------------------------------------------------------------------


def test_it_finds_the_truth(learned):
    x, y = drawn(2000, 10)
    times = np.linspace(1, 60, 30)
    wanted, found = truth(x).survival(times), learned.predict_distribution(x).survival(times)
    marginal = np.abs(wanted - wanted.mean(0)).mean()
    assert np.abs(found - wanted).mean() < 0.25 * marginal
    # No more than a few hundredths a row worse than the truth itself.
    assert log_likelihood(learned.predict_distribution(x), y) > log_likelihood(truth(x), y) - 0.04
    assert censored_d_calibration(learned.predict_distribution(x), y) < 0.1
    parameters = learned.predict_parameters(x)
    for name in ("theta", "sigma"):
        assert np.corrcoef(parameters[name], getattr(truth(x), name)[:, 0])[0, 1] > 0.9
    # The third column has no effect.
    assert learned.feature_importances_.argmin() == 2
    assert learned.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("support", "components"), [("real", 1), ("positive", 1), ("real", 2), ("positive", 3)])
def test_other_supports(support, components):
    x, y = drawn(400, 3)
    model = quick(support=support, components=components).fit(x, y)
    predicted = model.predict_distribution(x)
    assert model.score(x, y) > 0.7
    assert (np.asarray(predicted.cdf(0.0)) == 0).all() == (support != "real")
    # Better than with the column that tells nothing.
    noise = quick(support=support, components=components).fit(x[:, 2:], y).predict_distribution(x[:, 2:])
    assert log_likelihood(predicted, y) > log_likelihood(noise, y) + 0.05


def test_members_are_what_the_mixture_is_made_of(saved):
    model, _ = saved
    x = pd.DataFrame(X, columns=list("abc")).assign(d="x")
    parts = model.predict_members(x)
    assert len(parts) == 2
    times = np.linspace(0, 40, 9)
    wanted = np.mean([part.survival(times) for part in parts], axis=0)
    np.testing.assert_allclose(model.predict_distribution(x).survival(times), wanted, rtol=1e-12)
    band = model.predict_survival_band(x, times)
    assert ((band.lower <= wanted + 1e-12) & (wanted <= band.upper + 1e-12)).all()
    assert model.parameter_names == tuple(f"{n}_{k}" for n in ("theta", "sigma", "kappa", "weight") for k in (1, 2))
    assert "2 members" in model.summary()
    assert len(model.feature_importances_) == 4


def test_weights_count_as_repetitions():
    weight = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], 50))
    heavy = quick(**ALL_ROWS).fit(X, Y, sample_weight=weight)
    often = quick(**ALL_ROWS).fit(np.repeat(X, weight, axis=0), Y[np.repeat(np.arange(150), weight)])
    np.testing.assert_allclose(heavy.predict(X), often.predict(X), rtol=0.03)
    assert np.abs(heavy.predict(X) / quick(**ALL_ROWS).fit(X, Y).predict(X) - 1).max() > 0.05


def test_intervals_and_entries():
    # Narrow intervals say what points say.
    near = SurvivalData.interval(np.where(EVENT, TIME * 0.98, TIME), np.where(EVENT, TIME * 1.02, np.inf))
    exact, intervals = (quick(**ALL_ROWS).fit(X, each).predict(X) for each in (Y, near))
    assert np.abs(intervals / exact - 1).mean() < 0.05
    # Of people who are in the data only because they lived to their entry, long lives are too many.
    x, y = drawn(5000, 5)
    entry = np.random.default_rng(6).uniform(0, 30, 5000)
    seen = y.lower > entry
    late = SurvivalData.right(y.time[seen], y.event[seen], entry=entry[seen])
    wanted = truth(x).survival([10.0]).mean()
    # To the end: after twenty rounds the trees are still on their way.
    whole = quick(max_rounds=200)
    heeded, ignored = (clone(whole).fit(x[seen], each) for each in (late, SurvivalData.right(late.time, late.event)))
    off = [abs(model.predict_distribution(x).survival([10.0]).mean() - wanted) for model in (heeded, ignored)]
    assert off[0] < 0.03 < 0.1 < off[1]


def test_a_table_that_tells_nothing():
    with pytest.warns(UserWarning, match="one value only"):
        model = quick().fit(np.ones((150, 2)), Y)
    predicted = model.predict_distribution(np.ones((2, 2)))
    assert len(model.trees_) == 0
    assert predicted.median()[0] == predicted.median()[1]
    np.testing.assert_array_equal(model.feature_importances_, [0, 0])


# ---- large tables ----------------------------------------------------------------------------------------------------


def test_threads_do_not_change_a_large_table(monkeypatch):
    from aldsurv.models.trees import boosting_settings

    # As if five hundred rows were many: members see parts of the rows, in single precision.
    rows = {"train_rows": 400, "watched_rows": 80, "constant_rows": 50}
    large = {**boosting_settings._LARGE, **rows}
    monkeypatch.setattr(boosting_settings, "LARGE_ROWS", 500)
    monkeypatch.setattr(boosting_settings, "_LARGE", large)
    x, y = drawn(800, 7)
    models = [quick(components=2, members=3, n_jobs=jobs).fit(x, y) for jobs in (1, 2, 6)]
    alone = models[0].predict_distribution(x)
    for model in models[1:]:
        np.testing.assert_allclose(model.predict(x), models[0].predict(x), rtol=1e-9)
    noise = quick(components=2, members=3).fit(x[:, 2:], y).predict_distribution(x[:, 2:])
    assert log_likelihood(alone, y) > log_likelihood(noise, y) + 0.05


def test_settings_depend_on_the_number_of_rows():
    names = ("learning_rate", "subsample", "max_rounds")
    small, large = (BoostedALD.default_settings((rows, 5)) for rows in (49_999, 50_000))
    assert [small[name] for name in names] == [0.1, 0.8, 1000]
    assert BoostedALD.default_settings() == small
    assert all(large[name] != "auto" for name in names)
    assert {name for name in large if large[name] != small[name]} <= set(names)
    # What is given counts in any table.
    given = BoostedALD(learning_rate=0.1, subsample=0.8, max_rounds=1000, random_state=0).fit(X, Y)
    assert bits(given, X) == bits(BoostedALD(random_state=0).fit(X, Y), X)


def test_each_row_is_in_one_of_the_parts_that_rounds_see():
    from aldsurv.models.trees.member_samples import Sample

    sample = Sample(np.arange(150, dtype=np.float32)[:, None], Y, np.ones(150))
    parts = sample.divided(4)
    assert sorted(np.concatenate([part.x[:, 0] for part in parts])) == list(range(150))
    for part in parts:
        np.testing.assert_array_equal(part.data.lower, TIME[part.x[:, 0].astype(int)])
    assert sample.divided(1)[0] is sample


def test_members_of_a_large_table_see_different_rows():
    from aldsurv.models.rows.member_rows import split_for_members
    from aldsurv.models.trees.boosting_settings import BoostingSettings
    from aldsurv.models.trees.member_samples import RowsInMemory

    x, y = drawn(1000, 8)
    rng = np.random.default_rng(0)
    rows = split_for_members(y, 0.2, 4, rng)
    names = ("learning_rate", "max_depth", "min_child_weight", "l2", "subsample", "colsample", "max_rounds", "patience")
    settings = BoostingSettings(**dict.fromkeys(names, 1), train_rows=150, watched_rows=60, constant_rows=100)
    samples = RowsInMemory(x.astype(np.float32), y, rows, settings, rng)
    grown, judged = ([part(k).x[:, 0] for k in range(4)] for part in (samples.train, samples.held_out))
    assert [len(part) for part in grown + judged] == [150] * 4 + [60] * 4
    assert len(samples.start().x) == 100
    # Parts of different members hardly overlap, and no member grows on the rows that judge it.
    assert len(np.unique(np.concatenate(grown))) > 500
    assert not any(np.isin(part, judge).any() for part, judge in zip(grown, judged, strict=True))
    assert all(np.diff(samples.train(k).data.exact.astype(int)).max() <= 0 for k in range(4))


@pytest.mark.parametrize(
    ("n_jobs", "rows", "limit", "threads"),
    [
        (None, 100, "", 1),
        (None, 100_000, "", 4),
        (None, 100_000, "3", 3),
        (-1, 100, "", 4),
        (-3, 100, "", 2),
        (-9, 100, "", 1),
        (7, 100, "2", 7),
    ],
)
def test_how_many_threads(monkeypatch, n_jobs, rows, limit, threads):
    from aldsurv.models.trees import threads as module

    monkeypatch.setattr(module, "_cores", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert module.count_threads(n_jobs, rows) == threads


# ---- files -----------------------------------------------------------------------------------------------------------

ALONE = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in set(sys.argv[1].split(",")):
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refused())
import hashlib
import json
import numpy as np
import aldsurv
from aldsurv.models import BoostedALD

x, time, event = (np.array(json.loads(part)) for part in sys.stdin.read().splitlines())
if len(sys.argv) > 2:
    model = aldsurv.load(sys.argv[2])
    x = {name: x[:, k] for k, name in enumerate("abc")} | {"d": np.where(x[:, 2] > 0, "x", "y")}
else:
    model = BoostedALD(components=1, members=2, max_rounds=20, max_depth=3, random_state=0).fit(x, (time, event == 1))
print(hashlib.sha256(model.predict_distribution(x).survival(np.linspace(0, 50, 21)).tobytes()).hexdigest())
"""


def alone(refused, *more):
    given = "\n".join(json.dumps(array.tolist()) for array in (X, TIME, EVENT.astype(int)))
    ran = subprocess.run(
        [sys.executable, "-c", ALONE, refused, *map(str, more)],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(Path(aldsurv.__file__).parents[1]), **machine_variables()},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def bits(model, x):
    return hashlib.sha256(model.predict_distribution(x).survival(np.linspace(0, 50, 21)).tobytes()).hexdigest()


def test_a_file_needs_numpy_alone(saved):
    model, path = saved
    table = pd.DataFrame(X, columns=list("abc")).assign(d=np.where(X[:, 2] > 0, "x", "y"))
    assert alone("torch,xgboost,scipy,sklearn,pandas,polars", path) == bits(model, table)


def test_fitting_needs_no_torch():
    assert alone("torch,sklearn,pandas,polars") == bits(quick().fit(X, Y), X)


def test_without_xgboost(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'aldsurv\[trees\]'"):
        quick().fit(X, Y)


def test_what_comes_back(saved):
    model, path = saved
    loaded = aldsurv.load(path)
    assert loaded.get_params() == model.get_params()
    assert loaded.trained_on_ == model.trained_on_
    assert loaded.summary() == model.summary()
    for name in ("rounds_", "validation_loss_", "feature_importances_", "unique_times_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))


def changed(name, change):
    def damage(document, arrays):
        array = np.array(arrays[name])
        arrays[name] = change(array)

    return damage


def entry(name, value):
    def damage(document, arrays):
        document[name] = value

    return damage


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


DAMAGE = {
    "a column that is not there": changed("trees.feature", put(0, 99)),
    "no column": changed("trees.feature", put(0, -7)),
    "a circle": changed("trees.left", put(0, 0)),
    "out of the tree": changed("trees.right", put(0, 10**6)),
    "below the tree": changed("trees.left", put(0, -3)),
    "one child for two": changed("trees.left", lambda array: np.where(array == 1, 2, array).astype(np.int32)),
    "a leaf with a child": changed("trees.left", lambda array: put(np.flatnonzero(array == -1)[0], 1)(array)),
    "infinite threshold": changed("trees.threshold", put(0, np.inf)),
    "value that is no number": changed("trees.value", put(-1, np.nan)),
    "another type": changed("trees.threshold", lambda array: array.astype(np.float64)),
    "shorter": changed("trees.value", lambda array: array[:-1]),
    "a tree less": changed("trees.output", lambda array: array[:-1]),
    "trees out of order": changed("trees.first", lambda array: array[::-1].copy()),
    "an output that is not there": changed("trees.output", put(0, 50)),
    "a negative output": changed("trees.output", put(0, -1)),
    "another number of rounds": changed("rounds", lambda array: array + 1),
    "a start without end": changed("start", put((0, 0), np.inf)),
    "a start of another size": changed("start", lambda array: array[:, :3].copy()),
    "units of zero": changed("units", put((0, 0), 0.0)),
    "negative gain": changed("gain", put(0, -1.0)),
    "no members": changed("validation_loss", lambda array: array[:0]),
    "times that go back": changed("times", lambda array: array[::-1].copy()),
    "no time scale": entry("time_scale", 0.0),
    "a scale for nothing": entry("least_scale", -1.0),
    "held out how": entry("held_out", "yes"),
    "another entry": entry("code", "print()"),
    "no facts": entry("trained_on", {}),
    "no features": entry("features", None),
    "parameters of another": entry("parameters", {"ridge": 1.0}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused(saved, tmp_path, name):
    document, arrays = read_model_file(saved[1])
    arrays = dict(arrays)
    aldsurv.load(write_model_file(tmp_path / "whole", document, arrays))
    DAMAGE[name](document, arrays)
    with pytest.raises(ModelFileError):
        aldsurv.load(write_model_file(tmp_path / "damaged", document, arrays))


def test_a_tree_too_deep_is_refused(saved, tmp_path):
    document, arrays = read_model_file(saved[1])
    arrays = dict(arrays)
    size = 2 * 70 + 1
    # A chain: the left child of each split is a leaf, the right one splits again.
    inner = np.arange(size) % 2 == 0
    inner[-1] = False
    inner[0] = True
    left = np.where(inner, np.arange(size) + 1, -1).astype(np.int32)
    right = np.where(inner, np.arange(size) + 2, -1).astype(np.int32)
    first = np.array(arrays["trees.first"])
    tail = {"feature": np.where(inner, 0, -1), "left": left, "right": right, "default_left": inner}
    tail |= {"threshold": np.zeros(size), "value": np.zeros(size)}
    for name, new in tail.items():
        old = arrays[f"trees.{name}"]
        arrays[f"trees.{name}"] = np.concatenate([new.astype(old.dtype), old[first[1] :]])
    arrays["trees.first"] = np.concatenate([first[:1], first[1:] - first[1] + size])
    with pytest.raises(ModelFileError, match="deeper than 64"):
        aldsurv.load(write_model_file(tmp_path / "deep", document, arrays))


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("support", "half"), ("support", 3), ("components", 0), ("components", 1.5), ("members", 0), ("members", True),
        ("learning_rate", 0.0), ("learning_rate", "fast"), ("max_depth", 0), ("max_depth", 31),
        ("min_child_weight", -1.0), ("l2", np.nan), ("l2", np.inf), ("subsample", 1.5), ("colsample", 0),
        ("max_rounds", 0), ("patience", -1), ("validation", 1.0), ("validation", None), ("point", "best"),
        ("categorical", 3), ("unit", 3), ("n_jobs", 0), ("random_state", -1), ("random_state", "x"),
    ],
)  # fmt: skip
def test_bad_settings(name, value):
    with pytest.raises(ParameterError, match=name):
        quick(**{name: value}).fit(X, Y)


def test_bad_rows():
    with pytest.raises(DataError, match="X has 150 rows, but y has 10"):
        quick().fit(X, Y[:10])
    with pytest.raises(DataError, match="no event"):
        quick().fit(X, (TIME, np.zeros(150)))
