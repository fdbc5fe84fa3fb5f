from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import inspection
from sklearn.base import BaseEstimator, RegressorMixin

from aldsurv import ALDSurvival, SurvivalData, metrics
from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.inspection import partial_dependence, permutation_importance
from aldsurv.models import CoxRegression, LogNormalAFT, LogNormalSurvival

SMALL = {"max_epochs": 15, "members": 2, "hidden": (8,), "head_hidden": (4,), "random_state": 0, "device": "cpu"}


def made_up(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = {
        "age": rng.normal(60, 10, n),
        "grade": rng.choice(np.array(["I", "II", "III"], object), n),
        "noise": rng.normal(size=n),
    }
    log_time = 2 - 0.04 * (x["age"] - 60) - 0.5 * (x["grade"] == "III") + 0.4 * rng.normal(size=n)
    censoring = rng.exponential(20, n)
    time = np.minimum(np.exp(log_time), censoring)
    return x, SurvivalData.right(time, np.exp(log_time) <= censoring)


def numbers(x):
    return np.column_stack([x["age"], x["grade"] == "III", x["noise"]]).astype(float)


@pytest.fixture(scope="module")
def table():
    return made_up()


@pytest.fixture(scope="module")
def aft(table):
    x, y = table
    return LogNormalAFT().fit(x, y)


@pytest.fixture(scope="module")
def network(table):
    x, y = table
    return ALDSurvival(unit="months", components=1, **SMALL).fit(numbers(x), y)


class Medians(RegressorMixin, BaseEstimator):
    """A model as scikit-learn's functions want it: one number a row, and a score that is Harrell's C."""

    def __init__(self, model):
        self.model = model
        self.is_fitted_ = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.model.predict_distribution(X).median()

    def score(self, X, y):
        return metrics.concordance_harrell(self.model.predict_distribution(X), y)


def test_the_dependence_of_a_linear_model_has_a_closed_form(table, aft):
    x, _ = table
    values = [45.0, 60.0, 72.5]
    found = partial_dependence(aft, x, "age", grid=values, sample=None)
    exact = aft.coefficients_
    coefficient = dict(zip(exact.names, exact.coefficient, strict=True))
    rest = (
        coefficient["intercept"]
        + coefficient["grade=II"] * (x["grade"] == "II")
        + coefficient["grade=III"] * (x["grade"] == "III")
        + coefficient["noise"] * x["noise"]
    )
    # exp(μ) is the median of a log-normal time.
    expected = np.exp(rest[:, None] + coefficient["age"] * np.array(values))
    np.testing.assert_allclose(found.individual, expected, rtol=1e-9)
    np.testing.assert_allclose(found.mean, expected.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.lower, np.quantile(expected, 0.1, axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.upper, np.quantile(expected, 0.9, axis=0), rtol=1e-9)


def test_dependence_as_scikit_learn_has_it(table, network):
    x, _ = table
    wide = numbers(x)
    theirs = inspection.partial_dependence(Medians(network), wide, [0], kind="both", grid_resolution=7, method="brute")
    ours = partial_dependence(network, wide, 0, grid=theirs["grid_values"][0], sample=None)
    np.testing.assert_allclose(ours.mean, theirs["average"][0], rtol=1e-12)
    np.testing.assert_allclose(ours.individual, theirs["individual"][0], rtol=1e-12)
    assert (ours.name, ours.numeric, ours.summary) == ("x0", True, "median")


def test_levels_are_put_into_every_row(table, aft):
    x, _ = table
    found = partial_dependence(aft, x, "grade", sample=None, summary="mean")
    assert found.values.tolist() == ["I", "II", "III"]
    assert not found.numeric
    for place, level in enumerate(found.values):
        changed = {**x, "grade": np.full(len(x["age"]), level, object)}
        np.testing.assert_array_equal(found.individual[:, place], aft.predict_distribution(changed).mean())


def test_any_table_gives_the_same(table, aft):
    x, y = table
    for given in (pd.DataFrame(x), pl.DataFrame({k: v.tolist() for k, v in x.items()})):
        for column in ("age", "grade"):
            ours, same = (partial_dependence(aft, X, column, random_state=3) for X in (x, given))
            np.testing.assert_array_equal(ours.individual, same.individual)
        np.testing.assert_array_equal(
            permutation_importance(aft, x, y, repeats=2).falls, permutation_importance(aft, given, y, repeats=2).falls
        )


def test_gaps_are_no_values(table):
    x, y = table
    rng = np.random.default_rng(1)
    gaps, others = rng.random((2, len(y))) < 0.2
    x = {**x, "age": np.where(gaps, np.nan, x["age"]), "grade": np.where(others, None, x["grade"])}
    model = CoxRegression().fit(x, y)
    ages, grades = (partial_dependence(model, x, name, grid=9) for name in ("age", "grade"))
    assert np.isfinite(ages.values).all()
    assert ages.observed.size == np.count_nonzero(~gaps)
    assert grades.values.tolist() == ["I", "II", "III"]


def test_a_grid_is_quantiles_or_the_values_there_are(aft, network, table):
    x, _ = table
    found = partial_dependence(aft, x, "age", grid=11, sample=5)
    np.testing.assert_allclose(found.values, np.quantile(x["age"], np.linspace(0.05, 0.95, 11)), rtol=1e-12)
    flag = partial_dependence(network, numbers(x), 1, sample=5)
    assert flag.values.tolist() == [0.0, 1.0]
    assert not flag.numeric


def test_a_sample_is_some_of_the_rows(table, aft):
    x, _ = table
    whole = partial_dependence(aft, x, "noise", grid=[0.0, 1.0], sample=None).individual
    some, again, other = (
        partial_dependence(aft, x, "noise", grid=[0.0, 1.0], sample=30, random_state=seed).individual
        for seed in (5, 5, 6)
    )
    assert len({tuple(row) for row in some.tolist()}) == 30
    assert {tuple(row) for row in some.tolist()} <= {tuple(row) for row in whole.tolist()}
    np.testing.assert_array_equal(some, again)
    assert not np.array_equal(some, other)


@pytest.mark.parametrize("support", ["real", "positive", "log"])
def test_parameters_are_those_of_the_distribution(table, support):
    x, y = table
    wide = numbers(x)
    one = ALDSurvival(support=support, components=1, **{**SMALL, "members": 1}).fit(wide, y)
    found, distribution = one.predict_parameters(wide), one.predict_distribution(wide)
    assert one.parameter_names == ("theta", "sigma", "kappa") == tuple(found)
    for name, values in found.items():
        np.testing.assert_array_equal(values, getattr(distribution, name)[:, 0])
    # Of an ensemble the mean; in another unit of time θ and σ follow it, or θ moves by its logarithm.
    months = ALDSurvival(support=support, components=1, **SMALL).fit(wide, y)
    days = ALDSurvival(support=support, components=1, **SMALL).fit(wide, y.scaled(30.0))
    ours, theirs = months.predict_parameters(wide), days.predict_parameters(wide)
    if support == "log":
        np.testing.assert_allclose(theirs["theta"], ours["theta"] + math.log(30), rtol=1e-4)
        np.testing.assert_allclose(theirs["sigma"], ours["sigma"], rtol=1e-4)
    else:
        np.testing.assert_allclose(theirs["theta"], 30 * ours["theta"], rtol=1e-3)
        np.testing.assert_allclose(theirs["sigma"], 30 * ours["sigma"], rtol=1e-3)
    np.testing.assert_allclose(theirs["kappa"], ours["kappa"], rtol=1e-3)
    assert months.of_log_time == (support == "log")


def test_an_ensemble_has_the_mean_of_its_members(table):
    x, y = table
    model = LogNormalSurvival(**SMALL).fit(numbers(x), y)
    parts = model.predict_distribution(numbers(x)).components
    for name, values in model.predict_parameters(numbers(x)).items():
        np.testing.assert_allclose(values, np.mean([getattr(part, name)[:, 0] for part in parts], axis=0), rtol=1e-12)
    effect = partial_dependence(model, numbers(x), 0, grid=[50.0, 70.0], summary="mu", sample=None)
    changed = numbers(x)
    changed[:, 0] = 70.0
    np.testing.assert_allclose(effect.individual[:, 1], model.predict_parameters(changed)["mu"], rtol=1e-12)


def test_importance_is_the_expectation_over_all_orders():
    x, y = made_up(6, seed=4)
    x = {"age": x["age"], "noise": x["noise"]}
    big, outcome = made_up(300, seed=5)
    model = LogNormalAFT().fit({"age": big["age"], "noise": big["noise"]}, outcome)
    score = metrics.concordance_harrell(model.predict_distribution(x), y)
    falls = [
        score - metrics.concordance_harrell(model.predict_distribution({**x, "age": x["age"][list(order)]}), y)
        for order in itertools.permutations(range(6))
    ]
    found = permutation_importance(model, x, y, repeats=400)
    assert found.score == score
    # Four standard errors.
    assert found.mean[0] == pytest.approx(np.mean(falls), abs=4 * np.std(falls) / math.sqrt(400))
    assert found.sd[0] == pytest.approx(np.std(falls), rel=0.2)


def test_importance_as_scikit_learn_has_it(table, network):
    x, y = table
    theirs = inspection.permutation_importance(Medians(network), numbers(x), y, n_repeats=15, random_state=0)
    ours = permutation_importance(network, numbers(x), y, repeats=15)
    error = np.sqrt((theirs.importances_std**2 + ours.sd**2) / 15)
    assert (np.abs(ours.mean - theirs.importances_mean) <= 4 * error).all()
    assert ours.order[0] == int(np.argmax(theirs.importances_mean)) == 0


@pytest.mark.parametrize("metric", ["harrell_c", "ibs", "log_likelihood"])
def test_only_one_column_is_shuffled_and_a_loss_is_turned_round(table, aft, metric):
    x, y = table
    seen = []

    def scorer(model, X, data):
        seen.append(X)
        predicted = model.predict_distribution(X)
        if metric == "ibs":
            return -metrics.integrated_brier_score(predicted, data, train=data)
        return {"harrell_c": metrics.concordance_harrell, "log_likelihood": metrics.log_likelihood}[metric](
            predicted, data
        )

    by_hand = permutation_importance(aft, x, y, metric=scorer, repeats=2)
    found = permutation_importance(aft, x, y, metric=metric, repeats=2)
    np.testing.assert_allclose(found.falls, by_hand.falls, rtol=1e-12, atol=1e-15)
    assert found.mean[found.names.index("age")] > 0
    assert len(seen) == 1 + 3 * 2
    for call, X in enumerate(seen[1:]):
        shuffled = list(x)[call // 2]
        for name in x:
            if name == shuffled:
                assert sorted(X[name].tolist()) == sorted(x[name].tolist())
                assert X[name].tolist() != x[name].tolist()
            else:
                np.testing.assert_array_equal(X[name], x[name])


def test_a_column_that_the_model_leaves_out_has_no_importance(table):
    x, y = table
    train = {**x, "noise": np.ones(len(y))}
    with pytest.warns(UserWarning, match="leaves out"):
        model = LogNormalAFT().fit(train, y)
    found = permutation_importance(model, x, y, repeats=3)
    assert (found.falls[2] == 0).all()
    assert (found.falls[0] > 0).all()


def test_one_repeat_has_no_spread(table, aft):
    x, y = table
    assert np.isnan(permutation_importance(aft, x, y, repeats=1).sd).all()


def test_what_is_refused(table, aft, network):
    x, y = table
    with pytest.raises(UnknownNameError, match="no column 'agee'"):
        partial_dependence(aft, x, "agee")
    with pytest.raises(ParameterError, match="summary must be one of median, mean, mode or a function"):
        partial_dependence(aft, x, "age", summary="theta")
    with pytest.raises(ParameterError, match="summary must be one of median, mean, mode, theta, sigma, kappa"):
        partial_dependence(network, numbers(x), 0, summary="mu")
    with pytest.raises(ParameterError, match="grid must be 2 values"):
        partial_dependence(aft, x, "age", grid=1)
    with pytest.raises(ParameterError, match="level must be"):
        partial_dependence(aft, x, "age", level=1.0)
    with pytest.raises(ParameterError, match="holds no values"):
        partial_dependence(aft, {**x, "age": np.full(len(y), np.nan)}, "age")
    with pytest.raises(ParameterError, match="repeats must be"):
        permutation_importance(aft, x, y, repeats=0)
    with pytest.raises(ParameterError, match="X has 200 rows, but y has 3"):
        permutation_importance(aft, x, y[:3])
    with pytest.raises(ParameterError, match="metric must be a name or a function"):
        permutation_importance(aft, x, y, metric=3)
    with pytest.raises(ParameterError, match="rows and columns"):
        partial_dependence(network, np.zeros((4, 3, 2)), 0)
