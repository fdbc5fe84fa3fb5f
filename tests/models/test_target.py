"""What ``fit`` takes for y and weights, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aldsurv import SurvivalData
from aldsurv.errors import AldsurvError, DataError, ParameterError
from models.rows import data, draw, quick, same_bits

X, TIME, EVENT = draw(120)
ONES = np.ones(120)
REFERENCE = quick().fit(X, SurvivalData.right(TIME, EVENT))


def structured():
    return SurvivalData.right(TIME, EVENT).to_structured("status", "months")


@pytest.mark.parametrize(
    "y",
    [
        (TIME, EVENT),
        (TIME.tolist(), EVENT.tolist()),
        (TIME, EVENT.astype(int)),
        (pd.Series(TIME), pd.Series(EVENT.astype(float))),
        structured(),
        pd.DataFrame({"time": TIME, "event": EVENT}),
        pd.DataFrame({"event": EVENT, "time": TIME}, index=np.arange(120)[::-1]),
        pl.DataFrame({"time": TIME, "event": EVENT}),
        {"time": TIME, "event": EVENT},
        np.array(list(zip(TIME, EVENT.astype(int), strict=True)), dtype=[("time", "f8"), ("event", "i4")]),
        SurvivalData.interval(TIME, np.where(EVENT, TIME, np.inf)),
    ],
    ids=lambda y: type(y).__name__,
)
def test_every_form_gives_the_same_fit(y):
    assert same_bits(quick().fit(X, y), REFERENCE)


@pytest.mark.parametrize("wrap", [np.asarray, list, pd.Series, pl.Series])
def test_times_alone_are_events_with_a_warning(wrap):
    with pytest.warns(UserWarning, match="y has times only: every row is taken as an observed event"):
        found = quick().fit(X, wrap(TIME))
    assert same_bits(found, quick().fit(X, (TIME, ONES)))
    assert not same_bits(found, REFERENCE)


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (None, "requires y to be passed"),
        ("time", "y must say what is time and what is event"),
        (np.c_[TIME, EVENT], "y must say what is time and what is event"),
        ([TIME, EVENT], "y must say what is time and what is event"),
        ([[1.0], [1.0, 2.0]], "y cannot be read as a column of times"),
        ((TIME[:5], EVENT[:5]), "X has 120 rows, but y has 5"),
        ((TIME, EVENT[:5]), "time has 120 values, but event has 5"),
        ((TIME, np.zeros(120)), "no event was observed in any row"),
        ((np.r_[np.nan, TIME[1:]], EVENT), r"time must be finite and not negative.*first nan \(row 0\)"),
        ((np.r_[np.inf, TIME[1:]], EVENT), "time must be finite"),
        ((np.r_[-1.0, TIME[1:]], EVENT), "time must be finite and not negative"),
        ((TIME, np.r_[np.nan, ONES[1:]]), "event"),
        ((TIME, EVENT + 2), "event must be True/False or 0/1"),
        ((TIME[:0], EVENT[:0]), "time has no rows"),
        ((TIME * 0, ONES), "all times are 0"),
    ],
)
def test_targets_that_are_refused(y, told):
    with pytest.raises(DataError, match=told):
        quick().fit(X, y)


@pytest.mark.parametrize(
    ("x", "told"),
    [
        (X[:, 0], "Expected 2D array"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (np.r_[[[np.inf, 0, 0]], X[1:]], r"covariates must be finite.*\(column 0, row 0\)"),
    ],
)
def test_covariates_that_are_refused(x, told):
    with pytest.raises(DataError, match=told):
        quick().fit(x, (TIME, EVENT))


@pytest.mark.parametrize(
    "weight", [ONES[:5], np.zeros(120), -ONES, ONES * np.nan, ["a"] * 120, ONES[:, None], [[1], [1, 2]], object()]
)
def test_weights_that_are_refused(weight):
    with pytest.raises(AldsurvError, match="weight"):
        quick().fit(X, (TIME, EVENT), sample_weight=weight)
    with pytest.raises(AldsurvError, match="weight"):
        REFERENCE.score(X, (TIME, EVENT), sample_weight=weight)


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = quick().fit(X, (TIME, EVENT))
    before = model.predict(X)
    with pytest.raises(DataError):
        model.fit(X[:, :2], (TIME, np.zeros(120)))
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_features_in_ == 3


def test_weights_of_rows_and_sample_weights_multiply():
    first, second = np.random.default_rng(0).uniform(0.5, 2, (2, 120))
    weighted = [SurvivalData.right(TIME, EVENT, weight=w) for w in (first, first * second)]
    a, b = quick().fit(X, weighted[0], sample_weight=second), quick().fit(X, weighted[1])
    assert same_bits(a, b)
    assert not same_bits(a, quick().fit(X, weighted[0]))
    # One number for all rows counts like none.
    np.testing.assert_allclose(quick().fit(X, (TIME, EVENT), sample_weight=3.0).predict(X), REFERENCE.predict(X), 1e-4)


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_only_ratios_of_weights_count(recipe):
    plain = quick(recipe=recipe, max_epochs=10).fit(X, (TIME, EVENT))
    for weight in (2 * ONES, 1e-6 * ONES, 1e9 * ONES):
        found = quick(recipe=recipe, max_epochs=10).fit(X, (TIME, EVENT), sample_weight=weight)
        np.testing.assert_allclose(found.predict(X), plain.predict(X), rtol=1e-3)
        np.testing.assert_allclose(found.history_.validation_loss, plain.history_.validation_loss, atol=1e-4)


def test_rows_without_weight_are_ignored_in_training_and_validation():
    # Same events and unit, so that the rows are split and scaled in the same way: only the loss could tell.
    absent = np.random.default_rng(3).uniform(size=120) < 0.3
    other = np.where(absent, TIME[::-1] * 3, TIME)
    settings = {"time_scale": 10.0, "max_epochs": 12}
    fits = [quick(**settings).fit(X, (t, EVENT), sample_weight=1.0 - absent) for t in (TIME, other)]
    assert same_bits(*fits)
    np.testing.assert_array_equal(fits[0].history_.validation_loss, fits[1].history_.validation_loss)
    np.testing.assert_array_equal(fits[0].history_.train_loss, fits[1].history_.train_loss)
    assert not same_bits(fits[0], quick(**settings).fit(X, (other, EVENT)))


def test_weight_pulls_the_prediction():
    # Two groups at the same covariates: whoever weighs more is predicted.
    rng = np.random.default_rng(0)
    x, late = rng.normal(size=(300, 1)), np.arange(300) % 2
    time = np.where(late, 50, 5) * rng.uniform(0.8, 1.2, 300)
    for heavy, low, high in ((0, 3, 10), (1, 30, 70)):
        weight = np.where(late == heavy, 20.0, 1.0)
        model = quick(max_epochs=20, learning_rate=0.01).fit(x, (time, np.ones(300)), sample_weight=weight)
        assert low < np.median(model.predict_time(x)) < high


@pytest.mark.parametrize("support", ["log", "real", "positive"])
def test_events_at_time_zero(support):
    time, event = np.r_[0.0, 0.0, 0.0, TIME[3:]], np.r_[True, True, False, EVENT[3:]]
    model = quick(support=support, max_epochs=5).fit(X, (time, event))
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.predict_distribution(X).quantile([0.01, 0.99])).all()
    assert np.isfinite(model.history_.train_loss).all()
    if support == "log":
        # The rule: at or before the smallest time above 0.
        lower, upper = time.copy(), np.where(event, time, np.inf)
        lower[:2], upper[:2] = -np.inf, time[time > 0].min()
        assert same_bits(model, quick(support=support, max_epochs=5).fit(X, SurvivalData.interval(lower, upper)))


def test_few_rows():
    for n in (2, 3, 9, 10, 11):
        model = quick(members=3).fit(X[:n], (TIME[:n], ONES[:n]))
        assert np.isfinite(model.predict(X)).all()
        assert (model.history_.validation_loss is None) == (n < 10)
    with pytest.warns(UserWarning, match="hold one value only"):
        assert np.isfinite(quick().fit(X[:1], (TIME[:1], ONES[:1])).predict(X[:5])).all()


BAD = {
    "recipe": ["papers", ["paper"], None, {}],
    "support": ["logs", {}, 1],
    "components": [0, 1.5, True, "a", 10**6],
    "shapes": ["loose", {}, 1],
    "theta_link": ["log", {}, 1],
    "hidden": ["x", 0, (0,), (1.5,), {}, -1, True, np.array([3]), (object(),), (2,) * 65, 10**6],
    "head_hidden": ["x", (0,), (None,)],
    "activation": ["sigmoids", {}, 1],
    "residual": [2, "yes"],
    "batch_norm": [2, "yes"],
    "dropout": [-0.1, 1.0, np.nan, "a", True],
    "encoder": [5, "a"],
    "members": [0, 1.5, True, "a", 10**6],
    "optimizer": ["adams", {}, 1],
    "learning_rate": [0, -1, np.nan, np.inf, "a", True, object()],
    "schedule": ["x", 1],
    "warmup": [-1, 1.5, "a"],
    "batch_size": [0, -1, 1.5, "x", object()],
    "max_epochs": [0, 1.5, "a", True],
    "patience": [-1, 1.5],
    "weight_decay": [-1, np.nan, "a"],
    "clip_norm": [-1, np.nan, "a"],
    "validation": [-0.1, 1, 1.5, np.nan, "a", 0.999, True],
    "start": ["x", {}],
    "time_scale": ["x", 0, -1, np.nan, np.inf, {}, True, np.array([1.0, 2.0])],
    "clip_features": [-1, np.nan, np.inf, "a", True],
    "bins": [-1, 1.5, "a", True, 10**6],
    "calibration": [-1, np.nan, np.inf, "a", True],
    "crps": [-0.1, 1.5, np.nan, "a", True],
    "varied": [1, "yes", np.nan],
    "point": ["x", {}, 1],
    "unit": [5, ["months"]],
    "categorical": ["a", 5, ["nope"], [9], [1.5]],
    "device": ["x", None, 5, object()],
    "random_state": ["a", -1, 1.5, True, [1]],
    "progress": ["x", 5, None],
    "callbacks": [5, [3], "ab"],
    "checkpoint": [5, object()],
    "causes": ["both", 2, True],
    "cure": ["yes", 2, 0.5],
}


def test_every_parameter_is_among_the_bad_ones():
    assert set(BAD) == set(quick().get_params())


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters_are_refused_in_fit_by_name(name):
    for value in BAD[name]:
        model = quick(**{name: value})
        assert model.get_params()[name] is value
        # Names of columns have an error of their own, which is also a KeyError.
        kinds = AldsurvError if name == "categorical" else ParameterError
        with pytest.raises(kinds, match=rf"\b{name}\b") as caught:
            model.fit(X, (TIME, EVENT))
        assert not hasattr(model, "n_features_in_"), value
        assert len(str(caught.value)) < 400


def test_numpy_numbers_are_parameters_too():
    given = {"members": np.int64(2), "learning_rate": np.float32(0.003), "hidden": [np.int64(8)], "validation": 0.25}
    model = quick(**given, dropout=np.float64(0), residual=np.bool_(True), random_state=np.int32(4)).fit(
        X, (TIME, EVENT)
    )
    assert type(model.settings_.members) is int
    assert model.settings_.hidden == (8,)


def test_kinds_of_target_by_cross_censoring():
    # Every kind of row in one fit.
    x, y = data(150)
    lower, upper = y.lower.copy(), y.upper.copy()
    lower[::5], upper[1::5] = -np.inf, np.where(np.isinf(upper[1::5]), np.inf, upper[1::5] * 1.3)
    upper[::5] = np.where(np.isinf(upper[::5]), y.lower[::5], upper[::5])
    mixed = SurvivalData.interval(lower, upper, entry=np.where(np.arange(150) % 5 == 2, y.lower * 0.4, -np.inf))
    assert all(kind.any() for kind in (mixed.exact, mixed.right_censored, mixed.left_censored, mixed.interval_censored))
    for support in ("log", "real", "positive"):
        # From a random start: the search for a better one takes many times as long as training.
        model = quick(support=support, max_epochs=8, start="random").fit(x, mixed)
        assert np.isfinite(model.predict(x)).all()
        assert model.history_.train_loss[-1] < model.history_.train_loss[0]


def test_a_column_of_times_alone():
    from sklearn.exceptions import DataConversionWarning

    with (
        pytest.warns(UserWarning, match="every row is taken as an observed event"),
        pytest.warns(DataConversionWarning, match="column-vector"),
    ):
        model = quick().fit(X, TIME[:, None])
    assert same_bits(model, quick().fit(X, SurvivalData.right(TIME, ONES)))


@pytest.mark.parametrize(
    ("rule", "unit"), [("none", 1.0), ("std", np.std(TIME)), ("median", np.median(TIME)), (2.5, 2.5)], ids=str
)
def test_unit_of_time_inside(rule, unit):
    assert quick(time_scale=rule).fit(X, (TIME, EVENT)).time_scale_ == pytest.approx(unit)


def test_unit_of_time_where_times_say_nothing():
    # All alike: no spread to divide by.
    assert quick(time_scale="std").fit(X, (3 * ONES, EVENT)).time_scale_ == 3.0
    # Left-censored rows have their upper bound to go by.
    bounds = SurvivalData.interval(np.full(120, -np.inf), TIME)
    assert quick().fit(X, bounds).time_scale_ == pytest.approx(np.median(TIME))


@pytest.mark.parametrize("device", ["abacus", "cuda:99", 3.5])
def test_device_that_is_not_there(device):
    with pytest.raises(ParameterError, match="device must be 'auto', 'cpu' or a device at hand"):
        quick(device=device).fit(X, (TIME, EVENT))


def test_routing_left_as_it_is():
    model = quick()
    assert model.set_fit_request() is model
    assert not hasattr(model, "_metadata_request")
