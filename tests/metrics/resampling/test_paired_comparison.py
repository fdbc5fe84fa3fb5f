from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Step, Weibull
from aldsurv.errors import ParameterError
from aldsurv.registry import METRICS
from metrics.definitions import right_censored, simulated

TRAIN = simulated(9)


@pytest.fixture(scope="module")
def rows() -> tuple[Weibull, SurvivalData]:
    rng = np.random.default_rng(0)
    truth = Weibull(rng.uniform(5, 30, 250), 1.6)
    event, lost = truth.sample(random_state=rng), rng.uniform(0, 40, 250)
    return truth, SurvivalData.right(np.minimum(event, lost), event <= lost)


@pytest.mark.parametrize("name", METRICS)
def test_identical_predictions(rows, name):
    found = metrics.compare(*rows[:1] * 2, rows[1], metric=name, train=TRAIN, samples=25, random_state=0)
    assert (found.difference, found.lower, found.upper, found.standard_error) == (0, 0, 0, 0)
    assert found.p_value == 1
    assert found.first == found.second


@given(data=right_censored(), name=st.sampled_from(sorted(METRICS)), seed=st.integers(0, 99))
def test_limits_hold_the_difference(data, name, seed):
    rng = np.random.default_rng(seed)
    curves = [
        Step([2.0, 4.0, 8.0], np.sort(rng.choice([0.0, 0.2, 0.5, 0.9], (len(data), 3)), axis=1)[:, ::-1])
        for _ in range(2)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = metrics.compare(*curves, data, metric=name, train=TRAIN, samples=6, random_state=seed)
    if np.isinf([found.first, found.second]).any():
        # Neither wins nor loses.
        assert np.isnan([found.difference, found.lower, found.upper, found.p_value]).all()
    elif found.samples and not np.isnan(found.difference):
        assert found.lower <= found.difference <= found.upper


@pytest.mark.parametrize(
    ("name", "sign"), [("harrell_c", 1), ("uno_c", 1), ("ibs", -1), ("mae", -1), ("log_likelihood", 1)]
)
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_clearly_better_one(rows, name, sign, method):
    truth, data = rows
    settings = {"metric": name, "train": TRAIN, "samples": 199, "random_state": 1, "method": method}
    found = metrics.compare(truth, truth[::-1], data, **settings)
    assert sign * found.difference > 0
    assert sign * found.lower > 0
    assert sign * found.upper > 0
    assert found.p_value == 2 / 200
    assert found.difference == found.first - found.second
    swapped = metrics.compare(truth[::-1], truth, data, **settings)
    assert swapped.difference == -found.difference
    assert (swapped.lower, swapped.upper) == pytest.approx((-found.upper, -found.lower), rel=1e-9)
    assert swapped.p_value == found.p_value


def test_the_mean_difference_of_two_columns_as_scipy_has_it():
    rng = np.random.default_rng(2)
    one, other = rng.uniform(0, 1, (2, 50))
    other += 0.1
    data = SurvivalData.right(np.ones(50), np.ones(50, bool))
    for method in ("percentile", "bca"):
        settings = {"samples": 300, "random_state": 7, "method": method, "truth": np.zeros(50)}
        found = metrics.compare(one, other, data, metric="mae", **settings)
        expected = stats.bootstrap(
            (one - other,), np.mean, n_resamples=300, method=method, rng=np.random.default_rng(7)
        )
        assert (found.lower, found.upper) == pytest.approx(tuple(expected.confidence_interval), rel=1e-9)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    drawn = expected.bootstrap_distribution
    assert found.p_value == pytest.approx(2 * (min((drawn >= 0).sum(), (drawn <= 0).sum()) + 1) / 301)


def test_pairs_are_tighter_than_two_samples(rows):
    truth, data = rows
    near = truth.scaled(1.1)
    for name in ("ibs", "log_likelihood"):
        settings = {"train": TRAIN, "samples": 200, "random_state": 3}
        paired = metrics.compare(truth, near, data, metric=name, **settings).standard_error
        apart = [metrics.bootstrap(name, one, data, **settings).standard_error for one in (truth, near)]
        assert paired < 0.5 * np.hypot(*apart)


def test_p_values_of_predictions_that_are_as_good():
    rng = np.random.default_rng(4)
    data = SurvivalData.right(np.ones(60), np.ones(60, bool))
    found = [
        metrics.compare(
            *rng.exponential(1, (2, 60)), data, metric="mae", truth=np.zeros(60), samples=150, random_state=rng
        ).p_value
        for _ in range(200)
    ]
    assert 0.04 < np.mean(np.array(found) <= 0.1) < 0.17
    assert 0.4 < np.mean(found) < 0.6


def test_several_numbers_and_functions_of_ones_own(rows):
    truth, data = rows
    settings = {"samples": 30, "random_state": 5}
    found = metrics.compare(truth, truth.scaled(1.5), data, metric=metrics.survival_calibration, **settings)
    slope = metrics.compare(truth, truth.scaled(1.5), data, metric="cal_s_slope", **settings)
    for field in ("first", "second", "difference", "lower", "upper", "standard_error", "p_value"):
        assert getattr(found, field)[0] == pytest.approx(getattr(slope, field), rel=1e-12)
        assert getattr(found, field).shape == (2,)

    def own(predicted, data):
        return metrics.survival_calibration(predicted, data).slope

    drawn = metrics.compare(truth, truth.scaled(1.5), data, metric=own, **settings)
    assert dataclasses.astuple(drawn) == pytest.approx(dataclasses.astuple(slope), rel=1e-10)


def test_resamples_without_a_value_are_left_out():
    data = SurvivalData.right([1, 2, 3], [True, False, False])
    with pytest.warns(UserWarning, match="resamples have no value"):
        found = metrics.compare([1.0, 2.0, 0.5], [1.0, 2.0, 3.0], data, metric="harrell_c", samples=100, random_state=0)
    assert 40 < found.samples < 95
    assert found.difference == -0.5


def test_an_infinite_value_neither_wins_nor_loses():
    data = SurvivalData.right([1, 2, 3], [True, True, True])
    endless, finite = [np.inf, 1.0, 2.0], [4.0, 2.0, 1.0]
    for first, second, whose in (
        (endless, finite, "first"), (finite, endless, "second"), (endless, endless, "first and second"),
    ):  # fmt: skip
        with pytest.warns(UserWarning, match=f"^mae of the {whose} prediction is infinite: it neither wins nor loses"):
            found = metrics.compare(first, second, data, metric="mae", samples=40, random_state=0)
        numbers = [found.difference, found.lower, found.upper, found.standard_error, found.p_value]
        assert np.isnan(numbers).all()
        assert found.samples == 0
        expected = [np.inf if one is endless else pytest.approx(5 / 3) for one in (first, second)]
        assert [found.first, found.second] == expected


def test_limits_of_the_difference_of_two_distances_hold_it():
    rng = np.random.default_rng(0)
    truth = Exponential(rng.uniform(5, 20, 120))
    data = SurvivalData.right(truth.sample(random_state=rng), np.ones(120, bool))
    found = metrics.compare(truth, truth.scaled(1.3), data, metric="cens_dcal", samples=60, random_state=0)
    assert found.lower <= found.difference <= found.upper


def test_what_is_refused(rows):
    truth, data = rows
    with pytest.raises(ParameterError, match="samples must be"):
        metrics.compare(truth, truth, data, metric="mae", samples=0)
    with pytest.raises(ParameterError, match="predicted has 249 and data 250"):
        metrics.compare(truth, truth[1:], data, metric="mae")
    with pytest.raises(ParameterError, match="as many numbers for both predictions, but gave 250 and 1"):
        metrics.compare(truth, truth[:1], data, metric=lambda predicted, data: predicted.median())
