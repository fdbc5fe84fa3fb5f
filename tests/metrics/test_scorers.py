from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sksurv.metrics import concordance_index_censored, integrated_brier_score

from aldsurv import metrics
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.metrics import Scorer, get_scorer, harrell_c_scorer, ibs_scorer, log_likelihood_scorer
from aldsurv.survival_data import SurvivalData
from metrics.linear_estimator import LinearEstimator

NAMES = ["harrell_c", "uno_c", "neg_ibs", "neg_mae", "neg_cens_dcal", "cal_s_slope", "cal_s_intercept", "cal_f_slope"]
NAMES += ["cal_f_intercept", "log_likelihood"]
SCORERS = [get_scorer(name) for name in NAMES]
FOLDS = KFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (240, 1))
    event, lost = 10 + x[:, 0] + rng.laplace(0, 1.5, 240), rng.uniform(8, 25, 240)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost).to_structured()


def test_values(rows):
    x, y = rows
    model = LinearEstimator(slope=0.5).fit(x, y)
    predicted = model.predict_distribution(x)
    expected = concordance_index_censored(y["event"], y["time"], -predicted.theta[:, 0])[0]
    assert harrell_c_scorer(model, x, y) == pytest.approx(expected, abs=1e-12)
    times = np.linspace(*np.quantile(y["time"], [0.1, 0.9]), 100)
    expected = -integrated_brier_score(y, y, predicted.survival(times), times)
    assert ibs_scorer(model, x, y) == pytest.approx(expected, abs=1e-10)
    rate = np.sqrt(2) / 2.0
    distance = np.abs(y["time"] - predicted.theta[:, 0])
    tail = np.exp(-rate * distance) / 2
    survival = np.where(y["time"] >= predicted.theta[:, 0], tail, 1 - tail)
    expected = np.where(y["event"], np.log(rate / 2) - rate * distance, np.log(survival)).mean()
    assert log_likelihood_scorer(model, x, y) == pytest.approx(expected, rel=1e-10)


def test_values_of_all(rows):
    x, y = rows
    model = LinearEstimator(slope=0.5).fit(x, y)
    found = metrics.evaluate(model.predict_distribution(x), y, train=y)
    expected = {
        "harrell_c": found["harrell_c"],
        "uno_c": found["uno_c"],
        "neg_ibs": -found["ibs"],
        "neg_mae": -found["mae"],
        "neg_cens_dcal": -found["cens_dcal"],
        "cal_s_slope": -abs(1 - found["cal_s_slope"]),
        "cal_s_intercept": -abs(found["cal_s_intercept"]),
        "cal_f_slope": -abs(1 - found["cal_f_slope"]),
        "cal_f_intercept": -abs(found["cal_f_intercept"]),
        "log_likelihood": found["log_likelihood"],
    }
    assert {name: get_scorer(name)(model, x, y) for name in NAMES} == expected
    assert list(expected) == NAMES


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_greater_is_better(rows, scorer):
    x, y = rows
    truth, bad = (LinearEstimator(slope=slope, sigma=1.5 * np.sqrt(2)).fit(x, y) for slope in (1.0, -1.0))
    truth.mean_ = 15.0
    assert scorer(truth, x, y) > scorer(bad, x, y)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_sample_weights_are_copies(rows, scorer):
    x, y = rows[0][:60], rows[1][:60]
    model = LinearEstimator(slope=0.4).fit(x, y)
    copies = np.random.default_rng(1).integers(1, 4, 60)
    if scorer is ibs_scorer:  # its range of times is that of the rows, whatever their weights
        copies[:] = 3
    again = np.repeat(np.arange(60), copies)
    found = scorer(model, x, y, sample_weight=copies)
    tolerance = 0.02 if scorer is ibs_scorer else 1e-12
    assert found == pytest.approx(scorer(model, x[again], y[again]), rel=tolerance)


def test_sample_weights_multiply_those_of_the_rows(rows):
    x, y = rows[0][:60], rows[1][:60]
    model, first, second = LinearEstimator(slope=0.4).fit(x, y), np.arange(1, 61), np.arange(60, 0, -1) / 7
    weighted = [SurvivalData.right(y["time"], y["event"], weight=weight) for weight in (first, first * second)]
    assert log_likelihood_scorer(model, x, weighted[0], sample_weight=second) == pytest.approx(
        log_likelihood_scorer(model, x, weighted[1]), rel=1e-12
    )


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_pickled(rows, scorer):
    again = pickle.loads(pickle.dumps(scorer))  # noqa: S301
    model = LinearEstimator().fit(*rows)
    assert again == scorer
    assert again(model, *rows) == scorer(model, *rows)
    assert repr(scorer) == f"Scorer({scorer.name!r})"


def test_by_name():
    assert [scorer.name for scorer in SCORERS] == NAMES
    assert get_scorer("harrell_c") is harrell_c_scorer
    assert get_scorer("neg_ibs") is ibs_scorer
    assert get_scorer("log_likelihood") is log_likelihood_scorer
    with pytest.raises(UnknownNameError, match=r"^unknown scorer 'harell_c'. Did you mean 'harrell_c'\?$"):
        get_scorer("harell_c")
    with pytest.raises(UnknownNameError, match=f"Known: {', '.join(NAMES)}"):
        get_scorer("accuracy")


def test_search_in_two_processes(rows):
    search = GridSearchCV(
        LinearEstimator(), {"slope": [-1.0, 0.0, 1.0]}, scoring=harrell_c_scorer, cv=FOLDS, n_jobs=2, refit=True
    )
    search.fit(*rows)
    assert search.best_params_ == {"slope": 1.0}
    assert search.cv_results_["mean_test_score"][1] == 0.5
    assert search.score(*rows) == pytest.approx(harrell_c_scorer(search.best_estimator_, *rows))


def test_several_at_once(rows):
    scoring = {"c": harrell_c_scorer, "ibs": ibs_scorer, "ll": log_likelihood_scorer}
    grid = {"slope": [0.2, 1.0], "sigma": [2.0, 9.0]}
    search = GridSearchCV(LinearEstimator(), grid, scoring=scoring, refit="ll", cv=FOLDS).fit(*rows)
    assert search.best_params_ == {"slope": 1.0, "sigma": 2.0}
    found = cross_validate(LinearEstimator(), *rows, scoring=scoring, cv=FOLDS)
    for name, scorer in scoring.items():
        alone = cross_val_score(LinearEstimator(), *rows, scoring=scorer, cv=FOLDS)
        np.testing.assert_array_equal(found[f"test_{name}"], alone)
        assert np.isfinite(alone).all()


def test_one_of_ones_own(rows):
    scorer = Scorer("rows", lambda predicted, data: float(len(predicted) == len(data)))
    assert cross_val_score(LinearEstimator(), *rows, scoring=scorer, cv=FOLDS).tolist() == [1, 1, 1]


def test_what_is_refused(rows):
    model = LinearEstimator().fit(*rows)
    with pytest.raises(DataError, match="y must say what is time and what is event"):
        harrell_c_scorer(model, rows[0], np.ones((240, 2)))
    with pytest.raises(ParameterError, match="sample_weight must have one number for each of 240 rows"):
        harrell_c_scorer(model, *rows, sample_weight=[1, 2])
