"""Adapters of other libraries: what they answer is what the library, used by hand, answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from child_process import WARNING_OPTIONS, machine_variables
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
from sksurv.metrics import concordance_index_censored

import aldsurv
from aldsurv import SurvivalData
from aldsurv.distributions import LogNormal, SurvivalDistribution, Weibull
from aldsurv.distributions.censored_likelihood import row_log_likelihood
from aldsurv.errors import DataError, MissingDependencyError, ModelFileError, NotFittedError, ParameterError
from aldsurv.models.adapters import ForestPeer, GradientBoostingPeer, XGBoostAFT, XGBoostCox
from models.rows import draw

X, TIME, EVENT = draw(240)
Y = SurvivalData.right(TIME, EVENT)
NEW = draw(30, seed=1)[0]
GRID = np.quantile(TIME, np.linspace(0.02, 0.98, 25))
QUICK = {
    ForestPeer: {"n_estimators": 10, "random_state": 0},
    GradientBoostingPeer: {"n_estimators": 10, "random_state": 0},
    XGBoostCox: {"n_estimators": 30, "random_state": 0},
    XGBoostAFT: {"n_estimators": 30, "random_state": 0},
}
XGBOOST = [XGBoostCox, XGBoostAFT]


@pytest.fixture(params=list(QUICK), ids=lambda kind: kind.__name__)
def kind(request):
    if request.param in XGBOOST:
        pytest.importorskip("xgboost")
    return request.param


def make(kind, **settings):
    return kind(**{**QUICK[kind], **settings})


@pytest.mark.parametrize(
    ("adapter", "peer", "settings"),
    [
        (ForestPeer, RandomSurvivalForest, {"n_estimators": 10, "max_depth": 4, "min_samples_leaf": 5}),
        (GradientBoostingPeer, GradientBoostingSurvivalAnalysis, {"n_estimators": 12, "subsample": 0.7}),
    ],
)
def test_scikit_survival_by_hand(adapter, peer, settings):
    weight = np.random.default_rng(0).uniform(0.5, 2, 240)
    for weights in (None, weight):
        model = adapter(random_state=3, **settings).fit(X, Y, sample_weight=weights)
        hand = peer(random_state=3, **settings).fit(X, Y.to_structured(), sample_weight=weights)
        np.testing.assert_allclose(model.predict(NEW), hand.predict(NEW), rtol=1e-12)
        first, last = hand.unique_times_[[0, -1]]
        inside = np.array([time for time in GRID if first < time < last])
        curves = np.vstack([function(inside) for function in hand.predict_survival_function(NEW)])
        np.testing.assert_allclose(model.predict_distribution(NEW).survival(inside), curves, rtol=1e-10)
        assert model.score(X, Y) == pytest.approx(concordance_index_censored(EVENT, TIME, hand.predict(X))[0])


def test_the_libraries_defaults():
    for adapter, peer in ((ForestPeer, RandomSurvivalForest), (GradientBoostingPeer, GradientBoostingSurvivalAnalysis)):
        theirs = peer().get_params()
        changed = {name for name, value in adapter().get_params().items() if name in theirs and theirs[name] != value}
        # One thread, unless more are asked for.
        assert changed <= {"n_jobs"}
    options = {"low_memory": False, "max_leaf_nodes": 4}
    model = ForestPeer(3, random_state=0, options=options).fit(X, Y)
    assert model.fitted_.max_leaf_nodes == 4


@pytest.mark.parametrize("unit", [1.0, 365.25])
def test_xgboost_cox_by_hand(unit):
    xgboost = pytest.importorskip("xgboost")
    y = Y.scaled(unit)
    model = XGBoostCox(40, validation=0.0, random_state=0).fit(X, y)
    settings = {"objective": "survival:cox", "learning_rate": 0.05, "max_depth": 3, "nthread": 1}
    hand = xgboost.train(settings, xgboost.DMatrix(X, np.where(EVENT, y.time, -y.time)), 40)
    risk, training = (hand.predict(xgboost.DMatrix(rows), output_margin=True).astype(float) for rows in (NEW, X))
    np.testing.assert_allclose(model.predict(NEW), risk, rtol=1e-10)
    # Breslow's estimate, written out.
    times = np.unique(y.time[EVENT])
    hazard = np.cumsum([1 / np.exp(training[y.time >= t]).sum() for t in times])
    wanted = np.exp(-np.outer(np.exp(risk), hazard))
    np.testing.assert_allclose(model.predict_distribution(NEW).survival(times), wanted, rtol=1e-10)


def test_xgboost_cox_takes_events_at_zero():
    pytest.importorskip("xgboost")
    time = TIME * (np.quantile(TIME, 0.1) <= TIME)
    model = XGBoostCox(40, validation=0.0, random_state=0).fit(X, (time, EVENT))
    shifted = XGBoostCox(40, validation=0.0, random_state=0).fit(X, (time + 1, EVENT))
    np.testing.assert_array_equal(model.predict(NEW), shifted.predict(NEW))


@pytest.mark.parametrize("distribution", ["normal", "extreme"])
def test_xgboost_aft_by_hand(distribution):
    xgboost = pytest.importorskip("xgboost")
    lower, upper = TIME.copy(), np.where(EVENT, TIME, np.inf)
    lower[:40], upper[40:80] = -np.inf, np.where(EVENT, TIME, np.inf)[40:80] * 1.5
    upper[:40] = TIME[:40]
    weight = np.random.default_rng(0).uniform(0.5, 2, 240)
    y = SurvivalData.interval(lower, upper, weight=weight)
    model = XGBoostAFT(distribution, scale=0.7, n_estimators=30, validation=0.0, random_state=0).fit(X, y)
    settings = {
        "objective": "survival:aft", "aft_loss_distribution": distribution, "aft_loss_distribution_scale": 0.7,
        "learning_rate": 0.05, "max_depth": 3, "nthread": 1, "base_score": 1.0,
    }  # fmt: skip
    bounds = {"label_lower_bound": np.maximum(lower, 0) / model.unit_, "label_upper_bound": upper / model.unit_}
    hand = xgboost.train(settings, xgboost.DMatrix(X, weight=weight, **bounds), 30)
    mu = np.log(model.unit_) + hand.predict(xgboost.DMatrix(NEW), output_margin=True).astype(float)
    scale = np.full(30, 0.7)
    wanted = LogNormal(mu, scale) if distribution == "normal" else Weibull(np.exp(mu), 1 / scale)
    np.testing.assert_allclose(model.predict_distribution(NEW).survival(GRID), wanted.survival(GRID), rtol=1e-10)


@pytest.mark.parametrize("distribution", ["normal", "extreme"])
def test_xgboost_s_own_loss_is_the_likelihood_of_these_distributions(distribution):
    xgboost = pytest.importorskip("xgboost")
    model = XGBoostAFT(distribution, scale=0.6, n_estimators=20, validation=0.0, random_state=0).fit(X, Y)
    matrix = xgboost.DMatrix(X, label_lower_bound=TIME, label_upper_bound=np.where(EVENT, TIME, np.inf))
    told: dict[str, dict[str, list[float]]] = {}
    settings = {
        "objective": "survival:aft", "eval_metric": "aft-nloglik", "aft_loss_distribution": distribution,
        "aft_loss_distribution_scale": 0.6, "base_score": model.unit_, "learning_rate": 0.05, "max_depth": 3,
        "nthread": 1,
    }  # fmt: skip
    xgboost.train(settings, matrix, 20, evals=[(matrix, "rows")], evals_result=told, verbose_eval=False)
    mine = -row_log_likelihood(model.predict_distribution(X), Y).mean()
    assert mine == pytest.approx(told["rows"]["aft-nloglik"][-1], rel=1e-4)


def test_xgboost_aft_finds_location_and_scale():
    pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 2))
    time = np.exp(5 + expit(3 * x[:, 0]) + 0.2 * rng.normal(size=3000))
    model = XGBoostAFT(random_state=0).fit(x, (time, np.ones(3000)))
    assert model.scale_ == pytest.approx(0.2, abs=0.03)
    assert 1 < model.rounds_ < 1000
    assert len(model.held_out_) == 600
    assert np.abs(np.log(model.predict_time(x)) - 5 - expit(3 * x[:, 0])).mean() < 0.05


def test_the_habits(kind):
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=np.where(X[:, 1] > 0, "yes", "no"))
    table.loc[::9, "a"] = np.nan
    model = make(kind).fit(table, Y)
    predicted = model.predict_distribution(table)
    assert isinstance(predicted, SurvivalDistribution)
    survival = predicted.survival(GRID)
    assert ((survival >= 0) & (survival <= 1)).all()
    assert (np.diff(survival, axis=1) <= 1e-12).all()
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    assert model.score(table, Y) > 0.7
    assert model.score(table, Y) == pytest.approx(concordance_index_censored(EVENT, TIME, model.predict(table))[0])
    np.testing.assert_array_equal(clone(model).fit(table, Y).predict(table), model.predict(table))
    assert all(name in kind.__doc__ for name in kind().get_params())
    if "n_jobs" in kind().get_params():
        assert kind().n_jobs == 1
    if "fold" in kind().get_params():
        held_out = [clone(model).set_params(fold=fold).fit(table, Y).held_out_ for fold in range(5)]
        assert sorted(np.concatenate(held_out)) == list(range(240))
        np.testing.assert_array_equal(held_out[0], model.held_out_)
        with pytest.raises(ParameterError, match="fold must be a whole number"):
            clone(model).set_params(fold=-1).fit(table, Y)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_s_checks(kind):
    found = check_estimator(make(kind, n_estimators=5), on_skip=None, on_fail=None)
    failed = {check["check_name"] for check in found if check["status"] == "failed"}
    # Trees count rows in a node, draw rows, and hold out some of them.
    assert failed == {"check_sample_weight_equivalence_on_dense_data"}


def test_what_is_refused(kind, tmp_path):
    with pytest.raises(NotFittedError):
        make(kind).predict(X)
    model = make(kind).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"cannot be saved: .* pickle"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    with pytest.raises(DataError, match="no event was observed"):
        make(kind).fit(X, (TIME, np.zeros(240)))
    with pytest.raises(DataError, match="cannot take delayed entry"):
        make(kind).fit(X, SurvivalData.right(TIME, EVENT, entry=TIME / 2))
    with pytest.raises(DataError, match="X has 240 rows, but y has 10"):
        make(kind).fit(X, Y[:10])
    with pytest.raises(ParameterError, match="options holds 'n_estimators'"):
        make(kind, options={"n_estimators": 3}).fit(X, Y)
    with pytest.raises(ParameterError, match="options must be a dict"):
        make(kind, options=3).fit(X, Y)
    with pytest.raises(ParameterError, match="point must be one of"):
        make(kind, point="mid").fit(X, Y)
    interval = SurvivalData.interval(TIME, TIME * 2)
    if kind is XGBoostAFT:
        assert len(make(kind).fit(X, interval).predict(NEW)) == 30
    else:
        with pytest.raises(DataError, match="exact and right-censored rows only, but 240 of 240"):
            make(kind).fit(X, interval)


def test_parameters_that_xgboost_refuses():
    pytest.importorskip("xgboost")
    for settings in ({"distribution": "logistic"}, {"scale": 0.0}, {"scale": "wide"}, {"validation": 1.0}):
        with pytest.raises(ParameterError, match=f"{next(iter(settings))} must be"):
            XGBoostAFT(**settings).fit(X, Y)


ABSENT = """
import sys
sys.modules["sksurv"] = sys.modules["sksurv.ensemble"] = sys.modules["xgboost"] = None
import numpy as np
from aldsurv.models.adapters import ForestPeer, GradientBoostingPeer, XGBoostAFT, XGBoostCox
for kind in (ForestPeer, GradientBoostingPeer, XGBoostAFT, XGBoostCox):
    try:
        kind().fit(np.arange(8.0).reshape(4, 2), (np.arange(1.0, 5.0), np.ones(4)))
    except ImportError as error:
        print(type(error).__name__, "pip install 'aldsurv[peers]'" in str(error))
"""


def test_libraries_that_are_not_there():
    environment = {"PYTHONPATH": str(Path(aldsurv.__file__).parent.parent), "PATH": "", **machine_variables()}
    command = [sys.executable, *WARNING_OPTIONS, "-c", ABSENT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [MissingDependencyError.__name__, "True"] * 4
