"""The last layer learned from other rows: what stays, what it is pulled to, what it gains, and who has none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import aldsurv
from aldsurv import (
    CQRNN,
    BoostedALD,
    CauseSpecificCox,
    CoxRegression,
    DeepSurv,
    ElasticNetAFT,
    ElasticNetCox,
    LogNormalAFT,
    LogNormalSurvival,
    RecalibratedSurvival,
    SurvivalData,
    UpdatedSurvival,
    WeibullAFT,
    metrics,
    update_model,
)
from aldsurv.errors import DataError, ParameterError
from models.rows import quick
from models.updating.places import COEFFICIENTS, place

TIMES = np.array([0.2, 0.8, 2.0])
ONE_EFFECT = {"coefficients": np.where(np.arange(3) == 0, -0.8, COEFFICIENTS)}
MODELS = {
    "weibull": WeibullAFT(),
    "lognormal": LogNormalAFT(ridge=1.0),
    "cox": CoxRegression(),
    "coxnet": ElasticNetCox(0.5, alpha=0.01),
    "aftnet": ElasticNetAFT(0.5, alpha=0.01),
    "ald": quick(members=2, max_epochs=12, learning_rate=0.02),
    "log_normal_network": LogNormalSurvival(members=1, hidden=(8,), max_epochs=12, learning_rate=0.02, random_state=0),
}


@pytest.fixture(scope="module")
def homes():
    return {name: model.fit(*place(400, 0)) for name, model in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_a_huge_pull_changes_nothing(homes, name):
    x, y = place(120, 1, **ONE_EFFECT)
    found = homes[name].refit_outputs(x, y, pull=1e14, random_state=0)
    expected = homes[name].predict_distribution(x).survival(TIMES)
    assert_allclose(found.predict_distribution(x).survival(TIMES), expected, atol=1e-6)
    assert found.trained_on_.rows == 120
    assert homes[name].trained_on_.rows == 400


@pytest.mark.parametrize("name", ["weibull", "cox", "ald", "log_normal_network"])
def test_without_a_pull_one_changed_effect_is_learned(homes, name):
    home, rows, (x, y) = homes[name], place(600, 2, **ONE_EFFECT), place(2000, 3, **ONE_EFFECT)
    levels = UpdatedSurvival(home, rung="levels").fit(*rows)
    found = home.refit_outputs(*rows, pull=0, random_state=0)

    def score(model):
        # Cox's curves have no density: rows are scored by the curves at a few times.
        if name == "cox":
            return -metrics.integrated_brier_score(model.predict_distribution(x), y, times=TIMES, train=rows[1])
        return metrics.log_likelihood(model.predict_distribution(x), y)

    assert score(found) > score(levels) + 0.01 > score(home)


@pytest.mark.parametrize("name", ["ald", "log_normal_network"])
def test_hidden_layers_stay_to_the_bit(homes, name):
    before = homes[name].fitted_
    after = homes[name].refit_outputs(*place(200, 4, **ONE_EFFECT), random_state=0).fitted_
    assert {array for array in before.weights if (before.weights[array] != after.weights[array]).any()} == {
        "output.weight",
        "output.bias",
    }
    assert after.features is before.features
    assert (after.time_scale, after.network) == (before.time_scale, before.network)


def test_rows_of_one_group_are_held_out_together(homes):
    x, y = place(60, 5)
    twice = np.repeat(np.arange(60), 2)
    grouped = SurvivalData.right(y.time[twice], y.event[twice], group=twice)
    found = homes["ald"].refit_outputs(x[twice], grouped, random_state=0)
    assert found.trained_on_.groups == 60


def test_weibull_location_is_the_penalised_maximum(homes):
    home, pull = homes["weibull"], 30.0
    x, y = place(150, 6, **ONE_EFFECT)
    found = home.refit_outputs(x, y, pull=pull)
    old, log_sigma = home.standardised_[:-1], home.standardised_[-1]
    columns = np.column_stack([np.ones(150), home.design_.numbers(x, "WeibullAFT")])

    def loss(point):
        z = (np.log(y.time) - columns @ point) / np.exp(log_sigma)
        likelihood = (y.event * z - np.exp(z)).sum()
        return 0.5 * pull * np.exp(-2 * log_sigma) * ((point - old) ** 2).sum() - likelihood

    expected = minimize(loss, old, method="BFGS", options={"gtol": 1e-7}).x
    assert_allclose(found.standardised_[:-1], expected, atol=1e-5)
    assert found.standardised_[-1] == log_sigma


def test_cox_is_poisson_regression_with_the_old_baseline(homes):
    home, pull = homes["cox"], 30.0
    x, y = place(150, 7, entry=True, **ONE_EFFECT)
    found = home.refit_outputs(x, y, pull=pull)
    columns = home.design_.numbers(x, "CoxRegression") - home.average_
    passed = np.exp(home.baseline_.log_cumulative_at(y.time)) - np.exp(home.baseline_.log_cumulative_at(y.entry))

    def loss(point):
        log_risk = point[0] + columns @ point[1:]
        away = point - np.concatenate([[0.0], home.standardised_])
        return 0.5 * pull * (away**2).sum() - (y.event * log_risk - passed * np.exp(log_risk)).sum()

    expected = minimize(loss, np.concatenate([[0.0], home.standardised_]), method="BFGS", options={"gtol": 1e-7}).x
    assert_allclose(found.standardised_, expected[1:], atol=1e-5)
    assert_allclose(found.baseline_.log_cumulative - home.baseline_.log_cumulative, expected[0], atol=1e-5)


def test_columns_without_a_coefficient_stay_without():
    x, y = place(200, 8)
    with pytest.warns(UserWarning, match="no coefficient"):
        home = WeibullAFT().fit(np.column_stack([x, x[:, 0]]), y)
    other = place(150, 9)[0]
    # In the other rows the two columns differ.
    found = home.refit_outputs(np.column_stack([other, np.arange(150.0)]), place(150, 9)[1])
    assert found.standardised_[4] == 0
    assert np.isnan(found.coefficients_["x3"].coefficient)


@pytest.mark.parametrize("name", ["weibull", "cox", "coxnet", "ald"])
def test_saved_and_read_again(homes, name, tmp_path):
    rows = place(120, 10, **ONE_EFFECT)
    model = UpdatedSurvival(homes[name], rung="last_layer", source="m", random_state=0).fit(*rows)
    loaded = aldsurv.load(model.save(tmp_path / "m.aldsurv"))
    assert loaded.predict(rows[0]).tobytes() == model.predict(rows[0]).tobytes()
    assert (loaded.rung, loaded.ancestry_) == ("last_layer", model.ancestry_)
    assert loaded.ancestry_[0].rung == "last_layer"
    assert "updated by last_layer on 120 rows" in loaded.summary()


def test_a_model_that_was_updated_before(homes):
    home, rows = homes["weibull"], place(120, 11, **ONE_EFFECT)
    once = UpdatedSurvival(home, rung="slope").fit(*rows)
    twice = UpdatedSurvival(once, rung="last_layer").fit(*rows)
    assert_allclose(twice.estimator_.standardised_, home.refit_outputs(*rows).standardised_)
    assert [step.rung for step in twice.ancestry_] == ["slope", "last_layer"]


def test_models_without_a_last_layer_say_so(homes):
    x, y = place(150, 12)
    network = {"members": 1, "max_epochs": 1, "random_state": 0}
    for model, message in (
        (WeibullAFT(cure=True), "with a cure"),
        (DeepSurv(**network), "belongs to the rows that it was fitted to"),
        (CQRNN(**network), "belongs to the rows"),
        (quick(batch_norm=True), "batch normalisation"),
        (RecalibratedSurvival(CoxRegression(), random_state=0), "RecalibratedSurvival has no last layer"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = model.fit(x, y)
        with pytest.raises(ParameterError, match=f"the last layer cannot be refitted: .*{message}") as caught:
            fitted.refit_outputs(x, y)
        assert "\n" not in str(caught.value)
    assert BoostedALD().last_layer_obstacle_ == "BoostedALD has no last layer that can be fitted alone"
    causes = SurvivalData.competing(y.time, np.where(y.event, np.arange(150) % 2 + 1, 0))
    with pytest.raises(ParameterError, match="tells the causes 1, 2 apart"):
        CauseSpecificCox().fit(x, causes).refit_outputs(x, y)
    home = homes["weibull"]
    with pytest.raises(ParameterError, match="pull must be"):
        home.refit_outputs(x, y, pull=-1)
    with pytest.raises(DataError, match="no event was observed"):
        home.refit_outputs(x, SurvivalData.right(y.time, np.zeros(150, bool)))
    with pytest.raises(DataError, match="20"):
        home.refit_outputs(x, y[:20])
    bounds = SurvivalData.interval(y.lower, y.lower + 1)
    with pytest.raises(DataError, match="exact and right-censored rows only"):
        homes["cox"].refit_outputs(x, bounds)


def test_the_ladder_says_that_it_is_not_possible():
    model = RecalibratedSurvival(WeibullAFT(), random_state=0).fit(*place(150, 13))
    update = update_model(model, *place(150, 14), folds=2, repeats=1)
    score = next(score for score in update.rungs if score.rung == "last_layer")
    assert score.verdict == "not possible"
    assert "has no last layer" in score.reason
    with pytest.raises(DataError, match="rung 'last_layer' is not possible"):
        update_model(model, *place(150, 14), rung="last_layer")
