"""Recalibration: rows that the model did not see, miscalibrated models made calibrated, and files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import SurvivalEVAL
from child_process import machine_variables
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import aldsurv
from aldsurv import ALDSurvival, CoxRegression, SurvivalData, WeibullAFT, metrics
from aldsurv.distributions import LogNormal, SurvivalDistribution
from aldsurv.errors import CensoringError, ModelFileError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.models import SurvivalEstimator
from aldsurv.models.wrappers.recalibrated_survival import RecalibratedSurvival
from aldsurv.nonparametric.observed_levels import level_curve, level_map
from models.rows import data as small_data


class Fixed(SurvivalEstimator):
    """Log-normal times as they are drawn below, but for a scale and a shift: nothing is learned but who was there."""

    fitted: ClassVar[list] = []  # rows of every fit, by their last column, which is a number of the row

    def __init__(self, factor=1.0, offset=0.0):
        self.factor = factor
        self.offset = offset

    def fit(self, X, y, sample_weight=None):
        Fixed.fitted.append(set(X[:, -1].astype(int)))
        self.n_features_in_, self.unique_times_ = X.shape[1], np.array([1.0, 2.0])
        return self

    def predict_distribution(self, X) -> SurvivalDistribution:
        return LogNormal(0.5 * X[:, 0] + self.offset, self.factor * 0.5)

    @property
    def error_point_(self):
        return "median"

    def _to_file(self):
        raise NotImplementedError

    @classmethod
    def _from_file(cls, document, arrays, encoder=None):
        raise NotImplementedError


def drawn(n, seed, lost=3.0):
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=n), np.arange(n)])
    time, censoring = np.exp(0.5 * x[:, 0] + 0.5 * rng.normal(size=n)), rng.exponential(lost, n)
    return x, SurvivalData.right(np.minimum(time, censoring), time <= censoring)


@pytest.mark.parametrize("how", [{}, {"validation": 0.4}])
@pytest.mark.parametrize("wrong", [{"factor": 2.0}, {"factor": 0.5}, {"offset": 0.4}, {"factor": 0.5, "offset": -0.5}])
def test_what_was_miscalibrated_is_calibrated_on_fresh_rows(wrong, how):
    (x, y), (fresh, seen) = drawn(4000, 0), drawn(2000, 1)
    model = RecalibratedSurvival(Fixed(**wrong), random_state=0, **how).fit(x, y)
    before, after = (each.predict_distribution(fresh) for each in (model.estimator_, model))
    assert metrics.d_calibration(before, seen).p_value < 1e-6
    found = metrics.d_calibration(after, seen)
    assert found.p_value > 0.01
    assert metrics.censored_d_calibration(after, seen) < 0.1 * metrics.censored_d_calibration(before, seen)
    # Another library's counts of the same rows.
    statistic, _, counts = SurvivalEVAL.d_calibration(
        after.survival(seen.time[:, None])[:, 0], seen.event.astype(int), 10
    )
    assert_allclose(np.sort(np.asarray(counts, float)), np.sort(found.counts), rtol=1e-9)
    assert statistic == pytest.approx(found.statistic)
    # The truth is in reach of one map for all rows: as good as the right distribution, but for what the map costs,
    # most of it in the tails, which keep the weight that they had.
    truth = Fixed().predict_distribution(fresh)
    gap = metrics.log_likelihood(truth, seen) - metrics.log_likelihood(after, seen)
    assert gap < 0.05
    assert metrics.log_likelihood(after, seen) > metrics.log_likelihood(before, seen)
    assert np.isfinite(after.log_density(np.geomspace(1e-8, 1e8, 200))).all()


def test_a_calibrated_model_is_left_alone_within_sampling_error():
    (x, y), (fresh, seen) = drawn(4000, 2), drawn(2000, 3)
    model = RecalibratedSurvival(Fixed(), random_state=0).fit(x, y)
    levels = np.linspace(0.05, 0.95, 19)
    # Four standard errors of an empirical share of some 2700 events.
    assert_allclose(model.level_map_(levels), levels, atol=4 * 0.5 / np.sqrt(2700))
    before, after = (
        metrics.log_likelihood(each.predict_distribution(fresh), seen) for each in (model.estimator_, model)
    )
    assert after > before - 0.02


def test_no_row_is_predicted_by_a_model_that_learned_from_it():
    x, y = drawn(103, 4)
    everybody = set(range(103))
    Fixed.fitted.clear()
    model = RecalibratedSurvival(Fixed(factor=2.0), folds=4, random_state=0).fit(x, y)
    whole, *folds = Fixed.fitted
    assert whole == everybody
    assert len(folds) == 4
    left_out = [everybody - fold for fold in folds]
    assert set().union(*left_out) == everybody
    assert sum(map(len, left_out)) == 103
    # A share of the events in each fold.
    events = [y.event[sorted(rows)].sum() for rows in left_out]
    assert max(events) - min(events) <= 2
    # All models being the same, the map is that of all rows predicted once.
    expected = level_map([(Fixed(factor=2.0).predict_distribution(x), y)])
    assert_allclose(model.level_map_.values, expected.values, rtol=1e-12)

    Fixed.fitted.clear()
    model = RecalibratedSurvival(Fixed(factor=2.0), validation=0.3, random_state=0).fit(x, y)
    (learned,) = Fixed.fitted
    assert len(learned) == 72
    held = np.array(sorted(everybody - learned))
    expected = level_map([(Fixed(factor=2.0).predict_distribution(x[held]), y[held])])
    assert_array_equal(model.level_map_.values, expected.values)


def test_weights_are_heeded():
    x, y = drawn(600, 5)
    weight = np.random.default_rng(0).integers(0, 3, 600).astype(float)
    model = RecalibratedSurvival(Fixed(factor=2.0), random_state=0).fit(x, y, weight)
    # A row of weight 2 is two rows: the map passes through the estimate of all of them.
    repeated = np.repeat(np.arange(600), weight.astype(int))
    curve = level_curve([(Fixed(factor=2.0).predict_distribution(x[repeated]), y[repeated])])
    place = np.searchsorted(curve.odds, model.level_map_.knots - 1e-9)
    assert_allclose(1 / (1 + np.exp(-model.level_map_.values)), curve.cdf[place], rtol=1e-9)
    assert len(place) > 5
    plain = RecalibratedSurvival(Fixed(factor=2.0), random_state=0).fit(x, y)
    levels = np.linspace(0.1, 0.9, 9)
    assert not np.allclose(model.level_map_(levels), plain.level_map_(levels), atol=1e-3)


def test_cox_and_networks_within():
    x, y = small_data(400)
    model = RecalibratedSurvival(CoxRegression(), random_state=0).fit(x, y)
    survival = model.predict_distribution(x).survival(np.linspace(0, 100, 50))
    assert (np.diff(survival, axis=1) <= 0).all()
    quick = ALDSurvival(members=2, max_epochs=4, progress=False)
    first, second = (RecalibratedSurvival(quick, folds=3, random_state=1).fit(x, y) for _ in range(2))
    # The seed goes on to a model that has none.
    assert first.predict(x).tobytes() == second.predict(x).tobytes()
    assert first.estimator_.random_state is not None
    assert quick.random_state is None
    assert not quick.__sklearn_is_fitted__()
    assert_array_equal(first.unique_times_, first.estimator_.unique_times_)


def test_parameters_within_parameters():
    model = RecalibratedSurvival(WeibullAFT(ridge=0.5), folds=3)
    assert model.get_params()["estimator__ridge"] == 0.5
    assert set(model.get_params(deep=False)) == {"estimator", "folds", "validation", "bins", "random_state"}
    model.set_params(estimator__ridge=2.0, folds=4)
    assert (model.estimator.ridge, model.folds) == (2.0, 4)
    copy = clone(model)
    assert copy.estimator is not model.estimator
    assert copy.estimator.ridge == 2.0
    assert repr(model) == "RecalibratedSurvival(estimator=WeibullAFT(ridge=2.0), folds=4)"
    for wrong in ({"nothing": 1}, {"estimator__nothing": 1}, {"folds__ridge": 1}, {"other__ridge": 1}):
        with pytest.raises(ParameterError, match="has no"):
            model.set_params(**wrong)
    x, y = small_data(120)
    search = GridSearchCV(RecalibratedSurvival(WeibullAFT(), random_state=0), {"estimator__ridge": [0.0, 100.0]}, cv=2)
    assert search.fit(x, y.to_structured()).best_params_ == {"estimator__ridge": 0.0}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    x = pd.DataFrame(small_data(150)[0], columns=["a", "b", "c"])
    model = RecalibratedSurvival(ALDSurvival(members=2, max_epochs=3, progress=False), random_state=0)
    model.fit(x, small_data(150)[1])
    return x, model, model.save(tmp_path_factory.mktemp("saved") / "model.aldsurv")


ALONE = """
import sys, warnings

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "sklearn", "scipy", "pandas", "polars"}:
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refused())
warnings.simplefilter("ignore")
import numpy as np, aldsurv
predicted = aldsurv.load(sys.argv[1]).predict_distribution(np.load(sys.argv[2]))
print(predicted.median().tobytes().hex(), end="")
"""


def test_saved_as_data_and_read_with_numpy_alone(saved, tmp_path):
    x, model, path = saved
    loaded = aldsurv.load(path)
    assert isinstance(loaded.estimator, ALDSurvival)
    assert loaded.predict(x).tobytes() == model.predict(x).tobytes()
    assert loaded.score(x, small_data(150)[1]) == model.score(x, small_data(150)[1])
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]
    np.save(tmp_path / "x.npy", x.to_numpy())
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(path), str(tmp_path / "x.npy")],
        env={"PYTHONPATH": str(Path(aldsurv.__file__).parent.parent), "PATH": "", **machine_variables()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == model.predict_distribution(x).median().tobytes().hex()


def test_recalibrated_twice_is_a_model_too(tmp_path):
    x, y = small_data(200)
    model = RecalibratedSurvival(RecalibratedSurvival(WeibullAFT(), folds=3), folds=3, random_state=0).fit(x, y)
    assert aldsurv.load(model.save(tmp_path / "twice")).predict(x).tobytes() == model.predict(x).tobytes()


@pytest.mark.parametrize("damage", ["order", "shape", "missing", "more", "entries", "model", "parameters"])
def test_a_damaged_file_is_refused(saved, tmp_path, damage):
    document, arrays = read_model_file(saved[2])
    arrays = dict(arrays)
    if damage == "order":
        arrays["level_map.values"] = arrays["level_map.values"][::-1].copy()
    elif damage == "shape":
        arrays["level_map.values"] = arrays["level_map.values"][:-1]
    elif damage == "missing":
        del arrays["level_map.knots"]
    elif damage == "more":
        arrays["further"] = np.zeros(3)
    elif damage == "entries":
        document["inner"]["entries"] = None
    elif damage == "model":
        document["inner"]["model"] = "os"
    else:
        document["parameters"]["folds"] = "many"
    with pytest.raises(ModelFileError):
        aldsurv.load(write_model_file(tmp_path / "damaged", document, arrays))


@pytest.mark.filterwarnings("ignore:.*too few")
def test_what_is_refused_and_warned_of():
    x, y = small_data(60)
    for settings, message in (
        ({"folds": 1}, "folds must be"),
        ({"folds": True}, "folds must be"),
        ({"validation": 1.5}, "validation must be"),
        ({"bins": 1}, "bins must be"),
        ({"estimator": "ald"}, "estimator must be one of aldsurv's"),
        ({"random_state": -1}, "random_state must be"),
    ):
        with pytest.raises(ParameterError, match=message):
            RecalibratedSurvival(**{"estimator": WeibullAFT(), **settings}).fit(x, y)
    with pytest.raises(CensoringError, match="exact and right-censored"):
        RecalibratedSurvival(WeibullAFT()).fit(x, SurvivalData.interval(y.lower, y.lower + 1))
    with pytest.raises(ValueError, match="X has 60 rows, but y has 20"):
        RecalibratedSurvival(WeibullAFT(), validation=0.2).fit(x, y[:20])


def test_too_few_events_leave_predictions_as_they_are():
    x, y = small_data(8)
    with pytest.warns(UserWarning, match="too few to recalibrate"):
        model = RecalibratedSurvival(WeibullAFT(ridge=1.0), validation=0.2, random_state=0).fit(x, y)
    times = np.array([1.0, 5.0, 20.0])
    before, after = (each.predict_distribution(x).survival(times) for each in (model.estimator_, model))
    assert_allclose(after, before, rtol=1e-12)


def test_summary_tells_where_levels_go():
    x, y = small_data(200)
    told = RecalibratedSurvival(WeibullAFT(), random_state=0).fit(x, y).summary()
    assert told.startswith("Recalibrated WeibullAFT\n  levels          0.1 → ")
