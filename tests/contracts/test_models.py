"""Laws that every registered model keeps; a new one is picked up by its line in the registry."""

from __future__ import annotations

import functools
import inspect
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator
from sksurv.metrics import concordance_index_censored

import aldsurv
from aldsurv import SurvivalData
from aldsurv.distributions import SurvivalDistribution
from aldsurv.errors import CompetingCausesWarning, DataError, NotFittedError
from aldsurv.models import ALDSurvival, CoxRegression, SurvivalEstimator, WeibullAFT, fit_together
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.registry import MODELS

NAMES = list(MODELS)
NEURAL = [name for name in NAMES if issubclass(MODELS.load(name), NeuralSurvival)]
# Another seed gives another model.
SEEDED = {*NEURAL, "recalibrated", "boosted_ald", "icald_calibrated", "stack"}
# Another seed gives other folds, which may or may not choose another penalty.
FOLDED = {"coxnet", "aftnet"}
# Of a network's settings those that make it quick; models without them have nothing to make quick.
QUICK = {
    "max_epochs": 3, "nodes": 4, "max_rounds": 10, "members": 2, "components": 2, "n_alphas": 12, "random_state": 0,
}  # fmt: skip
# What scikit-learn checks and a model cannot promise, each with its reason.
_WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
EXPECTED = {
    "networks": {
        _WEIGHTS: "rows are trained in mini-batches: a row of weight 2 is in one batch, a row given twice may be in two"
    },
    "recalibrated": {_WEIGHTS: "a row of weight 2 is held out as one, a row given twice may be in two folds"},
    "boosted_ald": {
        _WEIGHTS: "a row of weight 2 is held out as one, a row given twice may be in training and held out"
    },
    "icald_calibrated": {_WEIGHTS: "a row of weight 2 is held out as one, a row given twice may be in two folds"},
    "coxnet": {_WEIGHTS: "a row given twice is a tie, as for Cox regression"},
    "stack": {_WEIGHTS: "a row of weight 2 is held out as one, a row given twice may be in two folds"},
    "cause_specific_cox": {_WEIGHTS: "a row given twice is a tie, as for Cox regression"},
    "cox": {_WEIGHTS: "a row given twice is a tie, which Efron's rule counts otherwise than a row of weight 2"},
}
# What is around a network of one kind only: as quick as may be.
AROUND = {
    "icald_calibrated": {
        "estimator": ALDSurvival("paper", max_epochs=12, learning_rate=0.03, progress=False),
        "folds": 2,
    }
}


def make(name, **settings):
    kind = MODELS.load(name)
    known = inspect.signature(kind).parameters
    # Whatever is around a model is tried with one that is fitted in no time.
    ridge = {"ridge": settings.get("ridge", 0.0)}
    within = {"estimator": WeibullAFT(**ridge), "estimators": [WeibullAFT(**ridge), CoxRegression(**ridge)]}
    folded = {"l1_ratio": 0.9, "folds": 3} if name in FOLDED else {}
    settings = {**within, **folded, **AROUND.get(name, {}), **settings}
    return kind(**{setting: value for setting, value in {**QUICK, **settings}.items() if setting in known})


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture(params=NEURAL)
def neural(request):
    return request.param


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(160, 3))
    event, lost = 10 * np.exp(0.9 * x[:, 0] + 0.3 * rng.normal(size=160)), rng.exponential(30, 160)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost)


@pytest.fixture(scope="module")
def fitted(rows):
    """Of a model: what was fitted to the rows."""
    return functools.cache(lambda name: make(name).fit(*rows))


# Epochs and rounds in which the last digits would have become the first.
ENOUGH = {"max_epochs": 12, "max_rounds": 20}


@pytest.fixture(scope="module")
def table(rows):
    """Of a model: a table, one of whose columns is whole numbers, and what the model fitted to it predicts for it."""
    x, y = rows[0].copy(), rows[1]
    x[:, 2] = np.round(3 * x[:, 2])
    return functools.cache(lambda name: (x, y, make(name, **ENOUGH).fit(x, y).predict_distribution(x)))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_s_checks(name):
    # That an estimator is taken which does not derive from theirs, and that times without events warn, is meant.
    expected = EXPECTED.get(name, {}) if name not in NEURAL else EXPECTED["networks"]
    # Some of its tables are wider than long: a linear model has a maximum there only if coefficients have a price.
    # Folds would hold out one row of weight 2, but one or both of two equal rows.
    given = {"alpha": 0.02} if name in FOLDED else {"folds": 2, "members": 1}
    if name in AROUND:
        given["estimator"] = ALDSurvival("paper", max_epochs=2, progress=False)
    model = make(name, ridge=1.0, start="random", max_rounds=4, **given)
    found = check_estimator(model, on_skip=None, on_fail=None, expected_failed_checks=expected)
    status = {check["check_name"]: check["status"] for check in found}
    assert {check for check in status if status[check] == "failed"} == set()
    # One that passes after all must leave the list.
    assert {check for check in status if status[check] == "xfail"} == set(expected)
    assert {check for check in status if status[check] == "skipped"} <= {"check_array_api_input"}
    assert sum(value == "passed" for value in status.values()) >= 40
    assert issubclass(SkipTestWarning, UserWarning)


def test_the_class_says_what_it_is(name):
    kind = MODELS.load(name)
    assert issubclass(kind, SurvivalEstimator)
    assert kind.__doc__
    assert all(parameter in kind.__doc__ for parameter in kind().get_params())
    arguments = inspect.signature(kind).parameters
    assert set(kind().get_params()) == set(arguments)
    assert repr(kind()) == f"{kind.__name__}()"
    marks = {argument: object() for argument in arguments}
    # Parameters are stored as they are, whatever they are.
    assert all(kind(**marks).get_params()[argument] is mark for argument, mark in marks.items())


# Their score is the linear predictor, or another function of it that all rows share.
LINEAR_PREDICTOR = {"cox", "coxnet", "weibull_aft", "lognormal_aft", "aftnet", "deepsurv"}


def test_it_ranks_within_follow_up(name, rows):
    x, y = rows
    # The paper's recipe, which some are around here, ranks by the mean.
    within = AROUND.get(name, {}).get("estimator")
    around = {} if within is None else {"estimator": clone(within).set_params(point="follow_up")}
    model = make(name, **around).fit(x, y)
    risk, area = model.predict(x), model.predict_distribution(x).restricted_mean(model.follow_up_)
    assert model.follow_up_ == np.sort(y.time)[int(np.ceil(0.8 * len(y))) - 1]
    assert np.isfinite(risk).all()
    innermost = MODELS.name_of(type(model.innermost)) if name != "stack" else name
    if innermost in LINEAR_PREDICTOR:
        # Members are averaged before or after the curve is made.
        assert spearmanr(risk, -area).statistic > (0.99 if name == "deepsurv" else 1 - 1e-9)
    else:
        assert model.ranking_point_ == "follow_up"
        np.testing.assert_allclose(risk, -area, rtol=1e-12)


def test_it_learns_and_answers_with_distributions(name, rows):
    x, y = rows
    model = make(name, max_epochs=30, max_rounds=40).fit(x, y)
    predicted = model.predict_distribution(x)
    assert isinstance(predicted, SurvivalDistribution)
    assert len(predicted) == 160
    survival = predicted.survival(np.linspace(0, 100, 50))
    assert ((survival >= 0) & (survival <= 1)).all()
    assert (np.diff(survival, axis=1) <= 1e-12).all()
    assert model.score(x, y) > 0.75
    # A risk score is minus a time, or for proportional hazards the log risk: rows of higher risk have the earlier
    # times, but for the averaging over members.
    assert spearmanr(model.predict(x), -model.predict_time(x)).statistic > 0.95
    assert model.score(x, y) == pytest.approx(concordance_index_censored(y.event, y.time, model.predict(x))[0])


def test_functions_of_time(name, rows, fitted):
    x, model = rows[0], fitted(name)
    times = np.array([1.0, 4.5, 20.0])
    for method, kind in (
        ("predict_survival_function", "survival"),
        ("predict_cumulative_hazard_function", "cumulative_hazard"),
    ):
        functions, array = (getattr(model, method)(x[:5], return_array=whole) for whole in (False, True))
        wanted = getattr(model.predict_distribution(x[:5]), kind)(times)
        np.testing.assert_allclose(np.vstack([function(times) for function in functions]), wanted, rtol=1e-10)
        assert array.shape == (5, len(model.unique_times_))
        np.testing.assert_array_equal(np.vstack([function.y for function in functions]), array)


def test_seeds(name, rows):
    first, other = (make(name, random_state=seed).fit(*rows).predict(rows[0]) for seed in (3, 4))
    assert name in FOLDED or np.array_equal(first, other) == (name not in SEEDED)
    np.testing.assert_array_equal(clone(make(name, random_state=3)).fit(*rows).predict(rows[0]), first)


def test_forms_of_the_target(name, rows, fitted):
    x, y = rows
    wanted = fitted(name).predict(x)
    frame = pd.DataFrame({"time": y.time, "event": y.event})
    for form in ((y.time, y.event), y.to_structured(), frame):
        np.testing.assert_array_equal(make(name).fit(x, form).predict(x), wanted)


def test_saved_and_loaded(name, rows, tmp_path):
    x = pd.DataFrame(rows[0], columns=["a", "b", "c"]).assign(d=np.where(rows[0][:, 2] > 0, "yes", "no"))
    x.loc[::7, "a"] = np.nan
    model = make(name).fit(x, rows[1])
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    assert type(loaded) is type(model)
    times = np.linspace(0, 50, 11)
    first, second = (fitted.predict_distribution(x).survival(times) for fitted in (model, loaded))
    assert first.tobytes() == second.tobytes()
    assert loaded.save(tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_unit_of_time(name, table):
    x, y, first = table(name)
    factor = 365.25
    second = make(name, **ENOUGH).fit(x, y.scaled(factor)).predict_distribution(x)
    np.testing.assert_allclose(second.median(), factor * first.median(), rtol=1e-6)
    times = np.quantile(y.time, [0.1, 0.3, 0.5, 0.7, 0.9])
    np.testing.assert_allclose(second.survival(factor * times), first.survival(times), atol=1e-6)


# What holds the same numbers of the same rows is the same table.
SAME = {
    "types": lambda x, y: (pd.DataFrame(x).astype({1: np.float32, 2: np.int16}), y),
    "unit weights": lambda x, y: (x, y.with_weight(np.ones(len(y)))),
    "layout": lambda x, y: (np.asfortranarray(np.repeat(x, 2, axis=0))[::2], y.with_weight(np.full(len(y), 0.3))),
}


@pytest.mark.parametrize("form", SAME)
def test_the_same_table_in_another_form(name, table, form):
    x, y, first = table(name)
    given = SAME[form](x, y)
    second = make(name, **ENOUGH).fit(*given).predict_distribution(given[0])
    # float32 has seven digits of a column, and a model with coefficients shows them; training must not add to that.
    np.testing.assert_allclose(second.median(), first.median(), rtol=2e-6)
    times = np.quantile(y.time, [0.1, 0.3, 0.5, 0.7, 0.9])
    np.testing.assert_allclose(second.survival(times), first.survival(times), atol=2e-6)


def test_fits_that_share_a_loop(neural, rows):
    name, (x, y) = neural, rows
    sets = [(x, y), (x[::-1], y[::-1]), (x[:90], y[:90])]
    models = fit_together([make(name, random_state=seed) for seed in range(3)], sets)
    for seed, (model, given) in enumerate(zip(models, sets, strict=True)):
        np.testing.assert_array_equal(model.predict(x), make(name, random_state=seed).fit(*given).predict(x))


def test_what_is_refused(name, rows, fitted):
    x, y = rows
    with pytest.raises(NotFittedError, match="not fitted"):
        make(name).predict(x)
    with pytest.raises(DataError, match="no event was observed"):
        make(name).fit(x, (y.time, np.zeros(160)))
    with pytest.raises(DataError, match="X has 160 rows, but y has 10"):
        make(name).fit(x, y[:10])
    with pytest.raises(DataError, match="expecting 3 features"):
        fitted(name).predict(x[:, :2])


def causes_warnings(model, x, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(x, y)
    return [str(warning.message) for warning in caught if warning.category is CompetingCausesWarning]


def test_causes_that_make_no_difference_are_named(name, rows):
    x, y = rows[0][:60], rows[1][:60]
    causes = np.where(y.event, np.where(x[:, 1] > 0, "relapse", "death"), "censored")
    messages = causes_warnings(make(name), x, SurvivalData.competing(y.time, causes))
    if MODELS.load(name).TAKES_CAUSES:
        assert messages == []
        return
    assert messages[0].startswith(f"{MODELS.load(name).__name__} does not tell causes apart")
    assert len(messages) == 1
    assert re.search(r"'death' \(\d+\), 'relapse' \(\d+\)\. .* give y\.of_cause\('death'\)", messages[0])


def test_one_cause_needs_no_warning(rows):
    x, y = rows
    causes = np.where(y.event, np.where(x[:, 1] > 0, "relapse", "death"), "censored")
    data = SurvivalData.competing(y.time, causes)
    only = SurvivalData.competing(y.time, np.where(y.event, "death", "censored"), names=["death", "relapse"])
    assert [causes_warnings(WeibullAFT(), x, given) for given in (data.of_cause("death"), only, y)] == [[], [], []]
