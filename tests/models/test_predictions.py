"""What a fitted estimator answers, in all its forms."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.errors import ParameterError
from models.rows import draw, quick

X, TIME, EVENT = draw(150)
Y = SurvivalData.right(TIME, EVENT)


@pytest.fixture(scope="module", params=["log", "real", "positive"])
def model(request):
    return quick(support=request.param, members=2, max_epochs=5).fit(X, Y)


@pytest.mark.parametrize(
    ("kind", "method"),
    [("survival", "predict_survival_function"), ("cumulative_hazard", "predict_cumulative_hazard_function")],
)
def test_functions_of_time(model, kind, method):
    functions = getattr(model, method)(X[:7])
    exact = getattr(model.predict_distribution(X[:7]), kind)
    assert functions.shape == (7,)
    assert functions.dtype == object
    array = getattr(model, method)(X[:7], return_array=True)
    assert array.shape == (7, len(model.unique_times_))
    np.testing.assert_array_equal(array, exact(model.unique_times_))
    # Between the times of training, too, and beyond them: no step function.
    times = np.array([0.0, 0.3, 5.123, 17.7, 1000.0])
    for row, function in enumerate(functions):
        np.testing.assert_array_equal(function.x, model.unique_times_)
        np.testing.assert_array_equal(function.y, array[row])
        np.testing.assert_allclose(function(times), exact(times)[row], rtol=1e-12)
        np.testing.assert_allclose(function(function.x), function.y, rtol=1e-12)
        assert function.domain == (0.0, np.inf)
        single = function(5.123)
        assert isinstance(single, float)
        assert single == pytest.approx(exact(5.123)[row], rel=1e-12)
        assert function(times.tolist()).shape == (5,)
        square = function(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        assert square.shape == (3, 2)
        assert square[2, 0] == pytest.approx(function(5.0), rel=1e-12)
        assert function(np.array(3)) == function(3)
        assert function([]).shape == (0,)
    assert kind in repr(functions[0])
    survival = model.predict_survival_function(X[:7], return_array=True)
    if kind == "cumulative_hazard":
        np.testing.assert_allclose(np.exp(-array), survival, rtol=1e-10)
    else:
        assert (np.diff(survival, axis=1) <= 0).all()


@pytest.mark.parametrize(
    ("kind", "method"),
    [("survival", "predict_survival_function"), ("cumulative_hazard", "predict_cumulative_hazard_function")],
)
def test_functions_at_given_times(model, kind, method):
    exact, predict = getattr(model.predict_distribution(X[:7]), kind), getattr(model, method)
    for times in ([365, 730], np.array([1.0, 2.0, 4.0]), 5.0, np.arange(1.0, 15.0).reshape(7, 2)):
        np.testing.assert_array_equal(predict(X[:7], times), exact(times))
        np.testing.assert_array_equal(predict(X[:7], times=times, return_array=True), exact(times))
    assert predict(X[:7], [365, 730]).shape == (7, 2)
    for wrong in ((True,), ([1.0], True)):
        with pytest.raises((ParameterError, TypeError)):
            predict(X[:7], *wrong)
    with pytest.raises(ParameterError, match="return_array must be True or False"):
        predict(X[:7], return_array=[365, 730])


@pytest.mark.parametrize("point", ["median", "mean", "mode", "restricted_mean"])
@pytest.mark.parametrize("members", [1, 3])
def test_every_point(point, members):
    model = quick(point=point, support="real", members=members).fit(X, Y)
    predicted = model.predict_distribution(X)
    wanted = predicted.restricted_mean(TIME.max()) if point == "restricted_mean" else getattr(predicted, point)()
    np.testing.assert_array_equal(model.predict_time(X), wanted)
    np.testing.assert_array_equal(model.predict(X), -model.predict_time(X))
    assert model.predict(X).shape == (150,)


def test_score_weighs_rows(model):
    weight = np.random.default_rng(0).integers(0, 4, 150)
    copies = np.repeat(np.arange(150), weight)
    assert model.score(X, Y, sample_weight=weight) == pytest.approx(model.score(X[copies], Y[copies]), abs=1e-12)
    assert model.score(X, (TIME, EVENT)) == model.score(X, Y)


def test_the_risk_is_higher_where_the_event_is_earlier():
    model = quick(max_epochs=20, learning_rate=0.02).fit(X, Y)
    low, high = model.predict([[-2.0, 0, 0], [2.0, 0, 0]])
    assert low > high
    assert model.score(X, Y) > 0.75
