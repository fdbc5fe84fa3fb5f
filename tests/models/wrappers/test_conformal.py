"""Conformal lower bounds: coverage where the truth is known, over many repetitions, and where assumptions fail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone

from aldsurv import CoxRegression, SurvivalData, WeibullAFT, datasets
from aldsurv.errors import CensoringError, DataError, NotFittedError, ParameterError
from aldsurv.models.wrappers.conformal import ConformalLowerBound
from aldsurv.nonparametric import kaplan_meier
from models.rows import data as small_data

LEVEL = 0.9


def coverage(name, seed, model, **settings):
    """Probability by the true distribution that the event comes at the bound or later, mean over fresh rows."""
    train, test = datasets.load(name, seed=seed, n_train=400, n_test=200).split(seed=0)
    bound = ConformalLowerBound(model, LEVEL, random_state=seed, **settings).fit(train.x, train.y)
    return float(np.mean(test.truth.survival(bound.predict_lower(test.x)[:, None])))


@pytest.mark.parametrize("name", ["norm_heavy", "lognorm_heavy"])
def test_coverage_under_heavy_censoring_over_100_repetitions(name):
    # Three quarters and more of the rows are censored.
    found = [coverage(name, 5000 + repetition, WeibullAFT()) for repetition in range(100)]
    assert np.mean(found) > LEVEL - 2.5 * np.std(found) / np.sqrt(100)
    assert np.mean(found) < LEVEL + 0.04


@pytest.mark.parametrize("settings", [{"method": "ipcw"}, {"method": "levels"}, {"validation": None, "folds": 3}])
def test_each_way_with_a_step_function_within(settings):
    found = [coverage("exponential", 7000 + k, CoxRegression(), **settings) for k in range(40)]
    assert abs(np.mean(found) - LEVEL) < 3 * np.std(found) / np.sqrt(40) + 0.01


def hinge(rng, n):
    """Times that fall where a linear model does not see it, and censoring that comes early just there."""
    x = rng.uniform(-1, 1, (n, 1))
    mu = -3 * np.maximum(x[:, 0], 0) ** 2
    time, lost = np.exp(mu + 0.3 * rng.normal(size=n)), rng.exponential(0.8 * np.exp(-2.5 * x[:, 0]))
    return x, SurvivalData.right(np.minimum(time, lost), time <= lost), mu


@pytest.mark.parametrize(("censoring", "low", "high"), [(None, 0.75, 0.86), (CoxRegression(), 0.88, 0.94)])
def test_censoring_that_depends_on_columns_needs_a_model_of_it(censoring, low, high):
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, y, _ = hinge(rng, 800)
        fresh, _, mu = hinge(rng, 1000)
        bound = ConformalLowerBound(WeibullAFT(), LEVEL, censoring=censoring, random_state=seed).fit(x, y)
        found.append(norm.sf((np.log(np.maximum(bound.predict_lower(fresh), 1e-300)) - mu) / 0.3).mean())
    # Neither the model nor the censoring of all rows taken together is right: it fails, and says so in its notes.
    assert low < np.mean(found) < high


def levels_held_out(bound, x, y):
    """Levels of the rows that the bound was calibrated by: those that its model's fit does not depend on."""
    from aldsurv.models.rows.member_rows import member_seeds
    from aldsurv.models.wrappers.cross_fitting import choose_parts

    (held,) = choose_parts(y, folds=2, validation=bound.validation, seed=member_seeds(bound.random_state, 3)[0])
    predicted = bound.estimator_.predict_distribution(x[held])
    return predicted.cdf(y.time[held][:, None])[:, 0], y[held]


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.97])
def test_without_censoring_it_is_split_conformal_prediction(level):
    x, y = small_data(300)
    y = SurvivalData.right(y.time, np.ones(300))
    bounds = [
        ConformalLowerBound(WeibullAFT(), level, method=method, random_state=2).fit(x, y)
        for method in ("ipcw", "levels", "both")
    ]
    levels, _ = levels_held_out(bounds[0], x, y)
    # The k-th smallest of n with k = ⌊(1 - level)(n + 1)⌋.
    kth = np.sort(levels)[int((1 - level) * (len(levels) + 1) + 1e-9) - 1]
    for bound in bounds:
        assert bound.quantile_level_ == pytest.approx(kth, rel=1e-6)


def test_with_censoring_the_level_is_the_definitions():
    x, y = small_data(400, seed=3)
    bound = ConformalLowerBound(WeibullAFT(), 0.8, method="ipcw", random_state=0).fit(x, y)
    levels, rows = levels_held_out(bound, x, y)
    lost = kaplan_meier(SurvivalData.right(rows.time, ~rows.event))
    n, best = len(rows), 0.0
    for candidate in np.sort(levels[rows.event]):
        counted = [1 / lost.survival_at(t - 1e-9) for u, t, e in zip(levels, rows.time, rows.event, strict=True)
                   if e and u <= candidate]  # fmt: skip
        if sum(counted) <= 0.2 * (n + 1):
            best = max(best, candidate)
    assert bound.quantile_level_ == pytest.approx(best, rel=1e-6)
    curve = kaplan_meier(SurvivalData.right(levels, rows.event))
    reached = curve.times[(1 - curve.survival <= 0.2 * (n + 1) / n) & (curve.events > 0)].max()
    other = ConformalLowerBound(WeibullAFT(), 0.8, method="levels", random_state=0).fit(x, y)
    assert other.quantile_level_ == pytest.approx(reached, rel=1e-6)
    both = ConformalLowerBound(WeibullAFT(), 0.8, random_state=0).fit(x, y)
    assert both.quantile_level_ == min(bound.quantile_level_, other.quantile_level_)


def test_bounds_are_times_that_were_seen():
    x, y = small_data(200)
    bound = ConformalLowerBound(CoxRegression(), 0.5, random_state=0).fit(x, y)
    lower = bound.predict_lower(x)
    assert ((lower >= 0) & (lower <= y.time.max())).all()
    # Too few rows to promise so much: no bound but 0.
    certain = ConformalLowerBound(WeibullAFT(), 0.9999, random_state=0).fit(x, y)
    assert (certain.predict_lower(x) == 0).all()
    higher = ConformalLowerBound(WeibullAFT(), 0.95, random_state=0).fit(x, y)
    lesser = ConformalLowerBound(WeibullAFT(), 0.7, random_state=0).fit(x, y)
    assert (higher.predict_lower(x) <= lesser.predict_lower(x)).all()


def test_habits():
    bound = ConformalLowerBound(WeibullAFT(ridge=1.0), 0.8, censoring=CoxRegression(), random_state=0)
    assert bound.get_params()["estimator__ridge"] == 1.0
    assert bound.get_params()["censoring__ridge"] == 0.0
    x, y = small_data(200)
    first, second = (clone(bound).fit(x, y).predict_lower(x) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    weighted = clone(bound).fit(x, y, np.full(200, 3.0)).predict_lower(x)
    np.testing.assert_allclose(weighted, first, rtol=0.1)


def test_what_is_refused():
    x, y = small_data(60)
    with pytest.raises(NotFittedError, match="not fitted"):
        ConformalLowerBound(WeibullAFT()).predict_lower(x)
    for settings, message in (
        ({"level": 90}, "level must be a number between 0 and 1"),
        ({"method": "best"}, "method must be one of 'both', 'ipcw', 'levels'"),
        ({"validation": 2}, "validation must be"),
        ({"validation": None, "folds": 0}, "folds must be"),
        ({"censoring": "cox"}, "estimator must be one of aldsurv's"),
    ):
        with pytest.raises(ParameterError, match=message):
            ConformalLowerBound(**{"estimator": WeibullAFT(), **settings}).fit(x, y)
    with pytest.raises(DataError, match="delayed entry"):
        ConformalLowerBound(WeibullAFT()).fit(x, SurvivalData.right(y.time, y.event, entry=y.time / 2))
    with pytest.raises(DataError, match="too few"):
        ConformalLowerBound(WeibullAFT()).fit(x[:2], (np.array([1.0, 2.0]), [1, 0]))
    with pytest.raises(CensoringError, match="exact and right-censored"):
        ConformalLowerBound(WeibullAFT()).fit(x, SurvivalData.interval(y.lower, y.lower + 1))
