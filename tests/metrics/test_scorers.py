from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sksurv.metrics import concordance_index_censored, integrated_brier_score

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.metrics import Scorer, get_scorer, harrell_c_scorer, ibs_scorer, log_likelihood_scorer
from aldsurv.metrics.scorers import scorer_names
from aldsurv.registry import METRICS
from metrics.linear_estimator import LinearEstimator

NAMES = ["harrell_c", "uno_c", "neg_ibs", "neg_mae", "neg_cens_dcal", "cal_s_slope", "cal_s_intercept", "cal_f_slope"]
NAMES += ["cal_f_intercept", "log_likelihood"]
AT_TIMES = ["auc", "neg_brier", "neg_ici", "neg_e50", "neg_e90", "one_calibration"]
SCORERS = [get_scorer(name) for name in [*NAMES, "d_calibration", *AT_TIMES]]
SCORERS += [get_scorer("auc", times=[14.0, 17.0]), get_scorer("neg_ici", time=15.0)]
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


def by_hand(name: str, predicted, data: SurvivalData, when: np.ndarray, train: SurvivalData) -> float:
    if name in ("auc", "neg_brier"):
        if name == "auc":
            return metrics.cumulative_dynamic_auc(predicted, data, when, train=train).mean
        return -metrics.brier_score(predicted, data, when, train=train).mean()
    if name == "one_calibration":
        return metrics.one_calibration(predicted, data, float(when[0])).p_value
    return -getattr(metrics.integrated_calibration_index(predicted, data, float(when[0])), name.removeprefix("neg_"))


@pytest.mark.parametrize("name", AT_TIMES)
def test_at_times_in_cross_validation(rows, name):
    several = name in ("auc", "neg_brier")
    times = np.array([14.0, 17.0]) if several else np.array([15.0])
    given = get_scorer(name, times=times.tolist()) if several else get_scorer(name, time=15.0)
    model = LinearEstimator(slope=0.7)
    found = cross_val_score(model, *rows, scoring=given, cv=FOLDS)
    usual = cross_val_score(model, *rows, scoring=get_scorer(name), cv=FOLDS)
    for fold, (train, test) in enumerate(FOLDS.split(rows[0])):
        x, y = rows[0][test], SurvivalData.of(rows[1][test])
        predicted = model.fit(rows[0][train], rows[1][train]).predict_distribution(x)
        assert found[fold] == pytest.approx(by_hand(name, predicted, y, times, y), rel=1e-12)
        events = np.quantile(y.time[y.event], [0.25, 0.5, 0.75] if several else [0.5], method="inverted_cdf")
        assert usual[fold] == pytest.approx(by_hand(name, predicted, y, events, y), rel=1e-12)
    assert len({*found, *usual}) == 6


def test_options_of_the_metric(rows):
    x, y = rows
    model = LinearEstimator(slope=0.5).fit(x, y)
    predicted, train = model.predict_distribution(x), SurvivalData.of(y)[:150]
    for scorer, expected in [
        (get_scorer("harrell_c", point="mean"), metrics.concordance_harrell(predicted, y, point="mean")),
        (get_scorer("uno_c", tau=16.0, train=train), metrics.concordance_uno(predicted, y, tau=16.0, train=train)),
        (get_scorer("neg_ibs", train=train), -metrics.integrated_brier_score(predicted, y, train=train)),
        (get_scorer("neg_cens_dcal", bins=4), -metrics.censored_d_calibration(predicted, y, bins=4)),
        (get_scorer("one_calibration", bins=4, time=14.0), metrics.one_calibration(predicted, y, 14.0, bins=4).p_value),
        (get_scorer("d_calibration", bins=4), metrics.d_calibration(predicted, y, bins=4).p_value),
        (get_scorer("neg_crps"), -metrics.crps(predicted, y)),
    ]:
        assert scorer(model, x, y) == expected
    quartiles = np.quantile(train.time[train.event], [0.25, 0.5, 0.75], method="inverted_cdf")
    expected = metrics.cumulative_dynamic_auc(predicted, y, quartiles, train=train).mean
    assert get_scorer("auc", train=train)(model, x, y) == expected


def test_options_that_do_not_exist():
    with pytest.raises(
        ParameterError, match=r"^scorer 'auc' has no option 'time'; its options are times, train, ties, cause.$"
    ):
        get_scorer("auc", time=3)
    with pytest.raises(ParameterError, match=r"^scorer 'log_likelihood' has no option 'times'; it has none.$"):
        get_scorer("log_likelihood", times=[3])
    for name, option in [("coverage_80", "level"), ("neg_mae", "truth"), ("neg_crps", "truth")]:
        with pytest.raises(ParameterError, match=f"{name}' has no option '{option}'"):
            get_scorer(name, **{option: 0.5})


def test_without_an_event_the_times_are_those_of_all_rows(rows):
    x, model = rows[0][:20], LinearEstimator().fit(*rows)
    y = SurvivalData.right(np.arange(10.0, 30.0), np.zeros(20, bool))
    with pytest.warns(UserWarning, match=r"at 3 of 3 times \(first: 14\)"):
        assert np.isnan(get_scorer("auc")(model, x, y))


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
    options = "".join(f", {name}={value!r}" for name, value in scorer.options)
    assert repr(scorer) == f"Scorer({scorer.name!r}{options})"


def test_by_name():
    assert [get_scorer(name).name for name in scorer_names()] == scorer_names()
    assert set(NAMES) < set(scorer_names())
    assert get_scorer("harrell_c") is harrell_c_scorer
    assert get_scorer("neg_ibs") is ibs_scorer
    assert get_scorer("log_likelihood") is log_likelihood_scorer
    with pytest.raises(UnknownNameError, match=r"^unknown scorer 'harell_c'. Did you mean 'harrell_c'\?$"):
        get_scorer("harell_c")
    with pytest.raises(UnknownNameError, match=f"Known: {', '.join(scorer_names())}"):
        get_scorer("accuracy")


def test_every_metric_has_one():
    """All but those that take columns or the truth besides, what others are made of, and what they are held against."""
    scored = {record.load() for record in METRICS.records()}
    parts = {metrics.calibration_counts, metrics.brier_score, metrics.calibration_by_group}
    parts |= {metrics.worst_group_calibration, metrics.individual_calibration}
    parts |= {metrics.censored_d_calibration_by_chance, metrics.calibration_curve}
    # Of thresholds.
    parts |= {metrics.decision_curve, metrics.net_benefit}
    functions = {
        function
        for name, function in vars(metrics).items()
        if name in metrics.__all__
        and inspect.isfunction(function)
        and "predicted" in inspect.signature(function).parameters
    }
    others = {
        f
        for f in functions
        if f.__name__.endswith(("_points", "estimate", "levels", "evaluate", "_causes", "bootstrap"))
    }
    assert functions - others - parts <= scored
    assert [scorer.metric.metric for scorer in map(get_scorer, scorer_names())] == list(METRICS)


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
