from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from lifelines import CoxPHFitter
from sksurv.ensemble import RandomSurvivalForest
from sksurv.functions import StepFunction
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import brier_score as sksurv_brier_score

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, QuantileKnots, Step, SurvivalDistribution, Weibull
from aldsurv.errors import ParameterError
from aldsurv.models.prediction.survival_function import row_functions

from_survival = SurvivalDistribution.from_survival
TIMES = np.array([1.0, 2.0, 5.0])
CURVES = np.array([[0.9, 0.5, 0.2], [1.0, 0.7, 0.7]])


class Shapeless:
    x = 3.0

    def __call__(self, times: np.ndarray) -> np.ndarray:
        return 0.5 + 0 * times


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    event, lost = rng.exponential(np.exp(2 + x["a"])), rng.exponential(20, 120)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost).to_structured()


def test_steps():
    found = from_survival(CURVES, TIMES, interpolate=False)
    assert isinstance(found, Step)
    assert found.tail == "hold"
    np.testing.assert_array_equal(found.survival([0.5, 1, 1.9, 4.9, 5, 99])[0], [1, 0.9, 0.9, 0.5, 0.2, 0.2])
    np.testing.assert_array_equal(found.mean(), [np.inf, np.inf])


def test_straight_lines():
    found = from_survival(CURVES, TIMES)
    assert isinstance(found, QuantileKnots)
    grid = np.linspace(0, 5, 41)
    for row in range(2):
        expected = np.interp(grid, [0, *TIMES], [1, *CURVES[row]])
        np.testing.assert_allclose(found.survival(grid)[row], expected, atol=1e-15)
    # After the end: exponential, with the density of the stretch before, 0.1 a unit of time.
    np.testing.assert_allclose(found.survival(7.0)[0], 0.2 * np.exp(-0.1 / 0.2 * 2), rtol=1e-12)
    assert np.isfinite(found.mean()).all()
    assert found.survival(-1.0).tolist() == [1, 1]


@pytest.mark.parametrize("interpolate", [True, False])
def test_the_rest_drops(interpolate):
    found = from_survival(CURVES, TIMES, interpolate=interpolate, tail="drop")
    np.testing.assert_allclose(found.survival([1.0, 2.0, 5.0, 9.0]), np.c_[CURVES[:, :2], 0 * CURVES[:, :2]])
    np.testing.assert_allclose(found.quantile(1.0), 5.0)


@pytest.mark.parametrize("interpolate", [True, False])
def test_time_zero_is_there_or_is_added(interpolate):
    without = from_survival(CURVES, TIMES, interpolate=interpolate)
    with_zero = from_survival(np.c_[[1, 1], CURVES], [0, *TIMES], interpolate=interpolate)
    grid = np.linspace(-1, 9, 51)
    np.testing.assert_array_equal(with_zero.survival(grid), without.survival(grid))
    np.testing.assert_array_equal(with_zero.mean(), without.mean())
    assert with_zero.probability_negative().tolist() == [0, 0]
    assert with_zero.conditional(0.5).median().shape == (2,)


def test_one_row_and_times_of_each_row():
    one = from_survival(CURVES[0], TIMES)
    np.testing.assert_allclose(one.survival(TIMES), CURVES[:1], atol=1e-15)
    times = np.stack([TIMES, TIMES + np.array([-1, 1, 1])])
    each = from_survival([CURVES[0], [1, 0.7, 0.6]], times, interpolate=False)
    np.testing.assert_array_equal(each.survival([3.0, 5.5]), [[0.5, 0.2], [0.7, 0.7]])
    smooth = from_survival([CURVES[0], [1, 0.7, 0.6]], times)
    np.testing.assert_allclose(smooth.survival(1.0), [0.9, 0.9], atol=1e-15)


def test_rounding_is_repaired():
    found = from_survival([[1 - 1e-10, 0.5, 0.5 + 1e-10, -1e-10]], [0, 1, 2, 3], interpolate=False)
    np.testing.assert_array_equal(found.survival([0, 1, 2, 3]), [[1, 0.5, 0.5, 0]])
    assert from_survival([1 + 1e-10, 0.5], [1, 2]).survival(1.0) == 1
    single = np.array([[1.0000001, 0.3, 0.30000004, -1e-7]], np.float32)
    for table in (single, torch.tensor(single)):
        found = from_survival(table, [0, 1, 2, 3])
        np.testing.assert_array_equal(found.survival([1, 2, 3]), [[np.float32(0.3), np.float32(0.3), 0]])
    with pytest.raises(ParameterError, match="must not rise"):
        from_survival(single[:, 1:3].astype(float), [1, 2])
    with pytest.raises(ParameterError, match="must not rise"):
        from_survival(np.array([0.5, 0.51], np.float32), [1, 2])


def test_tensors_that_need_gradients():
    found = from_survival(torch.tensor(CURVES, requires_grad=True), torch.tensor(TIMES))
    np.testing.assert_array_equal(found.survival(TIMES), from_survival(CURVES, TIMES).survival(TIMES))


@given(
    steps=arrays(np.float64, (3, 6), elements=st.floats(0, 1)),
    gaps=arrays(np.float64, 6, elements=st.floats(0.01, 100)),
    interpolate=st.booleans(),
)
def test_any_falling_curves(steps, gaps, interpolate):
    curves, times = np.cumprod(steps, axis=1), np.cumsum(gaps)
    found = from_survival(curves, times, interpolate=interpolate)
    np.testing.assert_allclose(found.survival(times), curves, atol=1e-12)
    grid = np.linspace(0, 2 * times[-1], 200)
    survival = found.survival(grid)
    assert (np.diff(survival, axis=1) <= 1e-12).all()
    assert ((survival >= 0) & (survival <= 1)).all()
    dropped = from_survival(curves, times, interpolate=interpolate, tail="drop")
    assert (dropped.mean() <= times[-1] * (1 + 1e-12)).all()


@given(curves=arrays(np.float64, (2, 5), elements=st.floats(0, 1)), interpolate=st.booleans())
def test_curves_that_rise_are_refused_and_no_others(curves, interpolate):
    if (np.diff(curves, axis=1) > 1e-9).any():
        with pytest.raises(ParameterError, match="curves must not rise with time"):
            from_survival(curves, np.arange(1.0, 6), interpolate=interpolate)
    else:
        assert len(from_survival(curves, np.arange(1.0, 6), interpolate=interpolate)) == 2


def test_round_trips():
    steps = Step(TIMES, CURVES)
    again = from_survival(steps.survival(TIMES), TIMES, interpolate=False)
    np.testing.assert_array_equal(again.values, steps.values)
    np.testing.assert_array_equal(again.times, steps.times)
    smooth = from_survival(CURVES, TIMES)
    grid = np.linspace(0, 12, 77)
    np.testing.assert_array_equal(smooth.cdf(grid), steps.smoothed().cdf(grid))

    levels = [0.1, 0.4, 0.8]
    knots = QuantileKnots(levels, [[1.0, 3.0, 4.0], [2.0, 2.5, 9.0]])
    again = SurvivalDistribution.from_quantiles(knots.quantile(levels), levels)
    assert isinstance(again, QuantileKnots)
    np.testing.assert_allclose(again.survival(grid), knots.survival(grid), atol=1e-14)
    crossing = SurvivalDistribution.from_quantiles([[3.0, 1.0, 4.0]], levels)
    assert crossing.crossed.tolist() == [True]
    np.testing.assert_allclose(crossing.quantile(levels), [[1, 3, 4]])
    assert len(SurvivalDistribution.from_quantiles([1.0, 3.0, 4.0], levels)) == 1


def test_a_fine_grid_comes_close_to_the_distribution_itself():
    truth = Weibull([5.0, 9.0], 1.7)
    times = np.linspace(0, 40, 4001)
    for found in (
        from_survival(truth.survival(times), times),
        SurvivalDistribution.from_quantiles(
            truth.quantile(np.linspace(0.001, 0.999, 999)), np.linspace(0.001, 0.999, 999)
        ),
    ):
        np.testing.assert_allclose(found.mean(), truth.mean(), rtol=1e-3)
        np.testing.assert_allclose(found.median(), truth.median(), rtol=1e-5)
        np.testing.assert_allclose(found.density([3.0, 8.0]), truth.density([3.0, 8.0]), rtol=0.01)


@pytest.mark.parametrize("interpolate", [True, False])
@pytest.mark.parametrize("model", [CoxPHSurvivalAnalysis(), RandomSurvivalForest(10, random_state=0)])
def test_functions_of_scikit_survival(rows, model, interpolate):
    x, y = rows
    x = x.to_numpy()
    functions = model.fit(x[:80], y[:80]).predict_survival_function(x[80:])
    found = SurvivalDistribution.from_functions(functions, interpolate=interpolate)
    times = functions[0].x
    expected = np.stack([function(times) for function in functions])
    np.testing.assert_allclose(found.survival(times), expected, atol=1e-12)
    curves = model.predict_survival_function(x[80:], return_array=True)
    same = from_survival(curves, model.unique_times_, interpolate=interpolate)
    np.testing.assert_array_equal(same.survival(times), found.survival(times))

    within = times[(times > y["time"][80:].min()) & (times < min(15.0, y["time"][80:].max()))]
    wanted = sksurv_brier_score(y[:80], y[80:], expected[:, np.isin(times, within)], within)[1]
    scores = metrics.brier_score(found, y[80:], within, train=y[:80])
    np.testing.assert_allclose(scores, wanted, rtol=0, atol=1e-10)
    if not interpolate:
        between = (within[1:] + within[:-1]) / 2
        values = np.stack([function(between) for function in functions])
        np.testing.assert_array_equal(found.survival(between), values)


def test_functions_with_a_slope_and_times_of_their_own():
    functions = [
        StepFunction(np.array([1, 2, 4]), np.array([0.9, 0.4, 0.2]), a=0.5),
        StepFunction(np.array([1, 3, 4]), np.array([0.9, 0.4, 0.2])),
    ]
    found = SurvivalDistribution.from_functions(functions, interpolate=False)
    np.testing.assert_allclose(found.survival([1, 2, 3]), [[0.45, 0.2, 0.2], [0.9, 0.9, 0.4]])


def test_functions_of_this_library():
    truth = Exponential([2.0, 5.0])
    times = np.linspace(0, 30, 301)
    found = SurvivalDistribution.from_functions(row_functions(truth, "survival", times))
    np.testing.assert_allclose(found.survival(times), truth.survival(times), atol=1e-15)
    with pytest.raises(ParameterError, match="curves must lie between 0 and 1"):
        SurvivalDistribution.from_functions(row_functions(truth, "cumulative_hazard", times))


def test_frames_of_lifelines(rows):
    x, y = rows
    table = x.assign(time=y["time"], event=y["event"])
    frame = CoxPHFitter().fit(table[:80], "time", "event").predict_survival_function(table[80:])
    found = SurvivalDistribution.from_frame(frame)
    assert len(found) == 40
    np.testing.assert_allclose(found.survival(frame.index), frame.T, atol=1e-12)
    steps = SurvivalDistribution.from_frame(frame, interpolate=False)
    np.testing.assert_allclose(
        metrics.brier_score(steps, y[80:], frame.index[20:50], train=y[:80]),
        metrics.brier_score(found, y[80:], frame.index[20:50], train=y[:80]),
        atol=1e-12,
    )
    assert metrics.concordance_harrell(found, y[80:]) > 0.6


def test_frames_like_those_of_pycox():
    survival = np.exp(-np.outer(np.linspace(0, 3, 20), [0.5, 1.0, 2.0])).astype(np.float32)
    frame = pd.DataFrame(survival, pd.Index(np.linspace(0, 30, 20, dtype=np.float32), name="duration"))
    found = SurvivalDistribution.from_frame(frame)
    np.testing.assert_allclose(found.survival(frame.index), survival.T.astype(np.float64), atol=1e-15)


@pytest.mark.parametrize(
    ("curves", "times", "message"),
    [
        ([[0.9, 0.95]], [1, 2], r"curves must not rise with time, but 1 of 2 values .*row 0, column 1, 0.95"),
        ([[1.2, 0.9]], [1, 2], r"curves must lie between 0 and 1, but 1 of 2 values .*1.2"),
        ([[0.5, -0.1]], [1, 2], "curves must lie between 0 and 1"),
        ([[0.5, np.nan]], [1, 2], "curves must be finite"),
        ([[0.5, 0.4]], [2, 1], "times must be strictly increasing"),
        ([[0.5, 0.4]], [1, 1], "times must be strictly increasing"),
        ([[0.5, 0.4]], [1, np.inf], "times must be finite"),
        ([[0.5, 0.4]], [np.nan, 1], "times must be finite"),
        ([[0.5, 0.4]], [-1, 1], r"times must not be negative, but 1 of 2 are \(first: -1\)"),
        ([[0.5, 0.4]], [1, 2, 3], r"times must have shape \(2,\) or \(1, 2\)"),
        (np.ones((3, 2)), [1, 2, 3], r"one row per subject .* 3 times, but has shape \(3, 2\). Use curves.T"),
        (np.ones((3, 2, 2)), [1, 2], r"curves must have shape \(n, m\)"),
        (np.ones((3, 0)), [], r"curves must have shape \(n, m\) with m ≥ 1"),
        (0.5, 1.0, "curves must have shape"),
        ([[0.5, 0.4], [0.5]], [1, 2], "curves must be numbers in rows of one length"),
        ("abc", [1, 2], "curves must be numbers"),
        ([[0.5, 0.4]], ["a", "b"], "times must be numbers"),
        ([[1, 0.8], [0.9, 0.4]], [0, 2], r"survival at time 0 must be 1, but 1 of 2 curves .*row 1, 0.9.*Leave out"),
        ([[1.0]], [0], "times must have at least one after 0"),
    ],
)
def test_what_is_refused(curves, times, message):
    for interpolate in (True, False):
        with pytest.raises(ParameterError, match=message):
            from_survival(curves, times, interpolate=interpolate)


@pytest.mark.parametrize(
    ("interpolate", "tail", "message"),
    [
        (True, "hold", "tail must be 'exponential' or 'drop' with interpolate=True, but is 'hold'"),
        (False, "exponential", "tail must be 'hold' or 'drop' with interpolate=False, but is 'exponential'"),
        (True, "linear", "tail must be"),
    ],
)
def test_tails_that_are_refused(interpolate, tail, message):
    with pytest.raises(ParameterError, match=message):
        from_survival(CURVES, TIMES, interpolate=interpolate, tail=tail)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([], "functions must be one or more"),
        (7, "functions must be a sequence with one per row, but is int"),
        ([lambda t: t], "number 0 is function. From an array use from_survival"),
        (CURVES, "number 0 is ndarray"),
        (
            [StepFunction(np.arange(1, 1 + m), np.linspace(0.9, 0.5, m)) for m in (2, 3)],
            "same number of times, but have from 2 to 3",
        ),
        ([Shapeless()], "one value for each of the times"),
    ],
)
def test_functions_that_are_refused(functions, message):
    with pytest.raises(ParameterError, match=message):
        SurvivalDistribution.from_functions(functions)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (CURVES, "frame must be a pandas frame with the times in its index, but is ndarray"),
        (pd.DataFrame({"a": [0.5, 0.9]}, index=[2.0, 1.0]), r"must ascend. Use frame.sort_index\(\)"),
        (pd.DataFrame({"a": [0.5, 0.4]}, index=[1.0, 1.0]), "times must be strictly increasing"),
        (
            pd.DataFrame({"a": [0.5, 0.9]}, index=["x", "y"]),
            "the index of frame, which holds the times, must be numbers",
        ),
        (pd.DataFrame({"a": [0.5, 0.9]}, index=[1.0, 2.0]), "curves must not rise"),
        (pd.DataFrame({"a": ["x", "y"]}, index=[1.0, 2.0]), "curves must be numbers"),
        (pd.Series([0.9, 0.5], index=[1.0, 2.0]), r"Use series.to_frame\(\)"),
    ],
)
def test_frames_that_are_refused(frame, message):
    with pytest.raises(ParameterError, match=message):
        SurvivalDistribution.from_frame(frame)


def test_quantiles_that_are_refused():
    with pytest.raises(ParameterError, match="one level for each of 2 columns"):
        SurvivalDistribution.from_quantiles([[1.0, 2.0]], [0.1, 0.5, 0.9])
    with pytest.raises(ParameterError, match="strictly increasing and between 0 and 1"):
        SurvivalDistribution.from_quantiles([[1.0, 2.0]], [10, 90])
    with pytest.raises(ParameterError, match="quantiles must be finite"):
        SurvivalDistribution.from_quantiles([[1.0, np.nan]], [0.1, 0.9])
