"""Factor and slope of hazards against Poisson regression, and against a likelihood written out."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import optimize

from aldsurv import CoxRegression, SurvivalData, WeibullAFT
from aldsurv.distributions import Weibull
from aldsurv.models.updating.adjustment import Adjustment, fit_adjustment
from models.updating.places import place


@pytest.fixture(scope="module")
def home():
    return WeibullAFT().fit(*place(400, 0))


def poisson(model, x, y, time, weights=None):
    """Poisson regression of the events, with the log cumulative hazard since entry as offset."""
    predicted = model.predict_distribution(x)
    hazard = predicted.cumulative_hazard(y.time[:, None])[:, 0]
    if y.entry is not None:
        hazard = hazard - predicted.cumulative_hazard(y.entry[:, None])[:, 0]
    score = np.log(predicted.cumulative_hazard(time))
    centered = score - np.average(score, weights=weights)
    settings = {"family": sm.families.Poisson(), "offset": np.log(hazard), "freq_weights": weights}
    one = sm.GLM(y.event.astype(float), np.ones((len(y), 1)), **settings).fit(tol=1e-14)
    two = sm.GLM(y.event.astype(float), np.column_stack([np.ones(len(y)), centered]), **settings).fit(tol=1e-14)
    return one.params[0], two.params[0], 1 + two.params[1]


@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_factor_and_slope_are_those_of_poisson_regression(home, entry, weighted):
    x, y = place(300, 1, log_factor=0.6, coefficients=np.array([0.2, -0.5, 0.9]), entry=entry)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    data = y if weights is None else y.with_weight(weights)
    predicted = home.predict_distribution(x)
    slope = fit_adjustment("slope", predicted, data)
    assert slope.time == np.median(y.time[y.event])
    expected = poisson(home, x, y, slope.time, weights)
    assert_allclose(fit_adjustment("intercept", predicted, data).intercept, expected[0], atol=1e-7)
    assert_allclose((slope.intercept, slope.slope), expected[1:], atol=1e-7)


def test_the_prediction_is_the_formula(home):
    x, _ = place(20, 2)
    predicted, times = home.predict_distribution(x), np.array([0.2, 1.0, 3.0])
    changed = Adjustment(0.3, 1.4, 0.7, -0.2).apply(predicted)
    score = np.log(-np.log(predicted.survival(0.7)))
    power = np.exp(0.3 + 0.4 * (score + 0.2))
    assert_allclose(changed.survival(times), predicted.survival(times) ** power[:, None], rtol=1e-12)
    assert Adjustment().apply(predicted) is predicted


def test_events_within_bounds_have_their_likelihood():
    rng = np.random.default_rng(3)
    scale, shape = np.exp(rng.normal(0.0, 0.5, 200)), 1.4
    time = scale * 0.7 * rng.weibull(shape, 200)
    lower, upper = np.floor(4 * time) / 4, np.floor(4 * time) / 4 + 0.25
    late = time > 2.0
    data = SurvivalData.interval(np.where(late, 2.0, lower), np.where(late, np.inf, upper))
    predicted = Weibull(scale, shape)
    found = fit_adjustment("slope", predicted, data)
    score = shape * np.log(found.time / scale)

    def loss(parameters):
        power = np.exp(parameters[0] + (parameters[1] - 1) * (score - score.mean()))
        first = np.exp(-power * (data.lower / scale) ** shape)
        last = np.where(late, 0.0, np.exp(-power * (np.where(late, 1.0, data.upper) / scale) ** shape))
        return -np.log(first - last).sum()

    best = optimize.minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).x
    assert_allclose((found.intercept, found.slope), best, atol=1e-5)


def test_steps_of_a_cox_model_have_their_likelihood():
    home = CoxRegression().fit(*place(300, 4))
    x, y = place(200, 5, log_factor=-0.5)
    predicted = home.predict_distribution(x)
    found = fit_adjustment("intercept", predicted, y).intercept
    grid = home.predict_distribution(x[:1]).kinks()[0]
    before = np.searchsorted(grid, y.time, side="left")
    edges = np.concatenate([[0.0], grid])
    known = before < len(grid)

    def loss(a):
        start = predicted.survival(edges[np.minimum(before, len(grid) - 1)][:, None])[:, 0] ** np.exp(a)
        end = predicted.survival(grid[np.minimum(before, len(grid) - 1)][:, None])[:, 0] ** np.exp(a)
        censored = predicted.log_survival(y.time[:, None])[:, 0] * np.exp(a)
        return -np.where(y.event, np.log(start - end), censored)[known | ~y.event].sum()

    best = optimize.minimize_scalar(loss, bounds=(-2, 2), method="bounded", options={"xatol": 1e-9}).x
    assert_allclose(found, best, atol=1e-5)


def test_rows_predicted_alike_have_no_slope():
    y = SurvivalData.right([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 1])
    found = fit_adjustment("slope", Weibull(np.full(4, 2.0), 1.5), y)
    hazard = ((y.time / 2) ** 1.5).sum()
    assert found.slope == 1.0
    assert_allclose(found.intercept, np.log(3 / hazard), atol=1e-8)


def test_a_row_that_is_impossible_changes_nothing():
    from aldsurv.distributions import Step

    curve = Step([1.0, 2.0, 3.0], np.tile([0.7, 0.4, 0.1], (4, 1)))
    usual = SurvivalData.right([1.0, 2.0, 3.0], [1, 1, 0])
    beyond = SurvivalData.right([1.0, 2.0, 3.0, 9.0], [1, 1, 0, 1])
    found = [fit_adjustment("intercept", curve[: len(each)], each).intercept for each in (usual, beyond)]
    assert_allclose(found[1], found[0], atol=1e-8)
