"""The estimator among scikit-learn's tools: cloning, pipelines, searches, cross-validation, routed weights."""

from __future__ import annotations

import concurrent.futures
import copy
import multiprocessing
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as TheirNotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from aldsurv import ALDSurvival, CoxRegression, SurvivalData
from aldsurv.errors import NotFittedError, ParameterError
from aldsurv.metrics import harrell_c_scorer, ibs_scorer, log_likelihood_scorer
from models.rows import draw, quick, same_bits

X, TIME, EVENT = draw(180)
Y = SurvivalData.right(TIME, EVENT)
FOLDS = KFold(3, shuffle=True, random_state=0)
SCORING = {"c": harrell_c_scorer, "ibs": ibs_scorer, "ll": log_likelihood_scorer}
LEARNING = {"max_epochs": 12, "learning_rate": 0.02}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_parameters():
    model = ALDSurvival(members=2, hidden=[8])
    assert model.get_params()["hidden"] == [8]
    assert model.get_params(deep=False) == model.get_params()
    assert model.set_params(dropout=0.5, recipe="paper") is model
    assert (model.dropout, model.recipe) == (0.5, "paper")
    with pytest.raises(ParameterError, match=r"ALDSurvival has no parameter 'droput'. Did you mean 'dropout'\?"):
        model.set_params(droput=0.1)
    with pytest.raises(ParameterError, match=r"Known: recipe, .*support"):
        model.set_params(zzz=1)
    with pytest.raises(TypeError, match="droput"):
        ALDSurvival(droput=0.1)


def test_repr():
    assert repr(ALDSurvival()) == "ALDSurvival()"
    assert repr(ALDSurvival("paper", members=3, hidden=(4,))) == "ALDSurvival(recipe='paper', hidden=(4,), members=3)"
    assert "members=3" in repr(make_pipeline(StandardScaler(), ALDSurvival(members=3)))
    assert "ALDSurvival" in make_pipeline(StandardScaler(), ALDSurvival())._repr_html_()


def test_clone_and_copy():
    model = quick(hidden=(8,)).fit(X, Y)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "n_features_in_")
    assert same_bits(again.fit(X, Y), model)
    assert same_bits(copy.deepcopy(model), model)


def test_pickle_of_a_fitted_estimator():
    model = quick(members=2).fit(pd.DataFrame(X, columns=list("abc")), Y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert list(again.feature_names_in_) == list("abc")
    assert again.history_.table() == model.history_.table()


def test_not_fitted():
    for ask in ("predict", "predict_time", "predict_distribution", "predict_survival_function"):
        for kind in (NotFittedError, TheirNotFittedError, ValueError, AttributeError):
            with pytest.raises(kind, match="this ALDSurvival instance is not fitted yet"):
                getattr(ALDSurvival(), ask)(X)
    with pytest.raises(NotFittedError):
        ALDSurvival().save("nowhere")
    with pytest.raises(TheirNotFittedError):
        check_is_fitted(ALDSurvival())
    check_is_fitted(quick().fit(X, Y))


def test_the_error_comes_back_from_a_worker():
    with pytest.raises(NotFittedError) as caught:
        ALDSurvival().predict(X)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert isinstance(again, NotFittedError)
    assert isinstance(again, TheirNotFittedError)
    assert str(again) == str(caught.value)
    context = multiprocessing.get_context("forkserver")
    with (
        concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool,
        pytest.raises(TheirNotFittedError, match="not fitted"),
    ):
        pool.submit(ALDSurvival().predict, X).result(timeout=60)


def test_pipeline():
    model = Pipeline([("scale", StandardScaler()), ("ald", quick(**LEARNING))]).fit(X, (TIME, EVENT))
    alone = quick(**LEARNING).fit(StandardScaler().fit_transform(X), Y)
    np.testing.assert_array_equal(model.predict(X), alone.predict(StandardScaler().fit_transform(X)))
    assert model.score(X, Y) == pytest.approx(alone.score(StandardScaler().fit_transform(X), Y))
    assert model.set_params(ald__dropout=0.4)["ald"].dropout == 0.4
    assert model[-1].predict_distribution(model[:-1].transform(X)).median().shape == (180,)


def test_set_output_changes_nothing():
    wanted = quick().fit(X, Y).predict(X)
    for model in (make_pipeline(StandardScaler(), quick()), make_pipeline("passthrough", quick())):
        frames = clone(model).set_output(transform="pandas").fit(X, Y)
        np.testing.assert_array_equal(frames.predict(X), model.fit(X, Y).predict(X))
    with sklearn.config_context(transform_output="polars"):
        found = quick().fit(X, Y).predict(X)
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("y", [Y, Y.to_structured()], ids=["data", "structured"])
def test_cross_validation(y):
    found = cross_validate(quick(**LEARNING), X, y, scoring=SCORING, cv=FOLDS)
    default = cross_val_score(quick(**LEARNING), X, y, cv=FOLDS)
    # A scorer sees no training rows: it takes the end of follow-up from those that it scores.
    np.testing.assert_allclose(default, found["test_c"], atol=0.01)
    assert found["test_c"].min() > 0.7
    for fold, (train, test) in enumerate(FOLDS.split(X)):
        model = quick(**LEARNING).fit(X[train], Y[train])
        for name, scorer in SCORING.items():
            assert found[f"test_{name}"][fold] == scorer(model, X[test], Y[test])


def test_cross_validation_of_interval_censored_rows():
    lower, upper = np.floor(TIME), np.where(EVENT, np.floor(TIME) + 1, np.inf)
    y = SurvivalData.interval(lower, upper)
    # A better start takes many times as long to find as training.
    model = quick(**LEARNING, start="random")
    found = cross_val_score(model, X, y, scoring=log_likelihood_scorer, cv=FOLDS)
    train, test = next(FOLDS.split(X))
    wanted = clone(model).fit(X[train], y[train]).predict_distribution(X[test]).log_likelihood(y[test]).mean()
    assert found[0] == pytest.approx(wanted)
    assert np.isfinite(found).all()


def test_search_with_several_scorers():
    grid = {"max_epochs": [1, 15], "hidden": [(4,), (16,)]}
    model = quick(learning_rate=0.02)
    search = GridSearchCV(model, grid, scoring=SCORING, refit="ll", cv=FOLDS).fit(X, Y)
    results = search.cv_results_
    assert search.best_params_["max_epochs"] == 15
    assert all(np.isfinite(results[f"mean_test_{name}"]).all() for name in SCORING)
    chosen = search.best_index_
    assert results["mean_test_ll"][chosen] == results["mean_test_ll"].max()
    assert same_bits(search.best_estimator_, clone(search.best_estimator_).fit(X, Y))
    assert search.score(X, Y) == log_likelihood_scorer(search.best_estimator_, X, Y)


def test_search_in_two_processes():
    grid = {"max_epochs": [1, 6]}
    settings = {"scoring": harrell_c_scorer, "cv": KFold(2)}
    here, there = (GridSearchCV(quick(), grid, n_jobs=jobs, **settings).fit(X, Y) for jobs in (1, 2))
    np.testing.assert_array_equal(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"])
    assert same_bits(here.best_estimator_, there.best_estimator_)


WEIGHT = np.random.default_rng(0).uniform(0.2, 5, 180)


@pytest.mark.parametrize("scorer", SCORING.values(), ids=repr)
def test_scorers_take_a_pipeline(scorer):
    model = make_pipeline(StandardScaler(), quick()).fit(X, Y)
    assert scorer(model, X, Y) == scorer(model[-1], model[:-1].transform(X), Y)
    search = GridSearchCV(make_pipeline("passthrough", model), {}, scoring=scorer, cv=2).fit(X, Y)
    assert scorer(search, X, Y) == scorer(search.best_estimator_[-1][-1], model[:-1].fit(X).transform(X), Y)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_in_cross_validation():
    asking = quick().set_fit_request(sample_weight=True)
    assert asking.set_score_request(sample_weight=False) is asking
    found = cross_val_score(asking, X, Y, cv=FOLDS, params={"sample_weight": WEIGHT})
    wanted = [
        quick().fit(X[train], Y[train], sample_weight=WEIGHT[train]).score(X[test], Y[test])
        for train, test in FOLDS.split(X)
    ]
    np.testing.assert_array_equal(found, wanted)
    assert not np.array_equal(found, cross_val_score(quick(), X, Y, cv=FOLDS))
    asking.set_score_request(sample_weight=True)
    weighted = cross_val_score(asking, X, Y, cv=FOLDS, params={"sample_weight": WEIGHT})
    train, test = next(FOLDS.split(X))
    model = quick().fit(X[train], Y[train], sample_weight=WEIGHT[train])
    assert weighted[0] == model.score(X[test], Y[test], sample_weight=WEIGHT[test])
    assert weighted[0] != found[0]


@pytest.mark.usefixtures("routing")
def test_weights_that_nobody_asked_for_are_refused():
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
        cross_val_score(quick(), X, Y, cv=FOLDS, params={"sample_weight": WEIGHT})


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_a_search_of_a_pipeline():
    asking = quick().set_fit_request(sample_weight="weight").set_score_request(sample_weight=True)
    pipeline = Pipeline([("scale", StandardScaler().set_fit_request(sample_weight=False)), ("ald", asking)])
    search = GridSearchCV(pipeline, {"ald__max_epochs": [2]}, cv=FOLDS, error_score="raise")
    search.fit(X, Y, weight=WEIGHT)
    wanted = quick(max_epochs=2).fit(StandardScaler().fit_transform(X), Y, sample_weight=WEIGHT)
    assert same_bits(search.best_estimator_["ald"], wanted)
    # The request is the estimator's own, and goes with its clones.
    assert clone(asking).get_metadata_routing().fit.requests == {"sample_weight": "weight", "groups": True}
    assert quick().get_metadata_routing().fit.requests == {"sample_weight": None, "groups": True}


def test_weights_by_name_of_the_step_without_routing():
    model = Pipeline([("scale", StandardScaler()), ("ald", quick())]).fit(X, Y, ald__sample_weight=WEIGHT)
    wanted = quick().fit(StandardScaler().fit_transform(X), Y, sample_weight=WEIGHT)
    assert same_bits(model["ald"], wanted)


GROUPS = np.arange(len(X)) % 7


def noting_groups(monkeypatch) -> list[int | None]:
    """How many groups the rows of each fit have."""
    from aldsurv.models.linear.linear_survival import LinearSurvival

    seen: list[int | None] = []
    estimate = LinearSurvival._adopt

    def adopt(self, design, fit, trained_on, times):
        seen.append(trained_on.groups)
        estimate(self, design, fit, trained_on, times)

    monkeypatch.setattr(LinearSurvival, "_adopt", adopt)
    return seen


def test_folds_by_group(monkeypatch):
    seen = noting_groups(monkeypatch)
    folds = GroupKFold(3)
    found = cross_val_score(CoxRegression(ridge=1.0), X, Y, groups=GROUPS, cv=folds)
    wanted = [
        CoxRegression(ridge=1.0).fit(X[train], Y[train]).score(X[test], Y[test])
        for train, test in folds.split(X, groups=GROUPS)
    ]
    np.testing.assert_array_equal(found, wanted)
    assert set(seen) == {None}
    # Groups of the target go with its rows.
    np.testing.assert_array_equal(
        cross_val_score(CoxRegression(ridge=1.0), X, Y.with_group(GROUPS), groups=GROUPS, cv=folds), wanted
    )
    assert sorted(seen[-3:]) == [4, 5, 5]


@pytest.mark.usefixtures("routing")
def test_groups_are_routed_to_folds_and_fit(monkeypatch):
    seen = noting_groups(monkeypatch)
    for model, wanted in ((CoxRegression(), [4, 5, 5]), (CoxRegression().set_fit_request(groups=False), [None] * 3)):
        seen.clear()
        cross_val_score(model, X, Y, params={"groups": GROUPS}, cv=GroupKFold(3))
        assert sorted(seen, key=str) == wanted
