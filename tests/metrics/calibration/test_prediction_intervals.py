from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, Step, Weibull
from aldsurv.errors import ParameterError
from aldsurv.metrics import density_calibration_points
from aldsurv.metrics.calibration.prediction_intervals import interval_coverage
from metrics.definitions import simulated

right = SurvivalData.right


@pytest.mark.parametrize("weighted", [False, True])
def test_by_hand(weighted):
    scale = np.array([2.0, 4.0, 3.0, 5.0, 2.0, 3.0])
    law = stats.weibull_min(1.5, scale=scale)
    lower = np.array([1.0, 2.0, 9.0, 1.0, 3.0, -np.inf])
    upper = np.array([1.0, np.inf, 9.0, 4.0, 9.0, 2.0])
    weight = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 0.25]) if weighted else np.ones(6)
    low, high = law.ppf(0.1), law.ppf(0.9)
    known = law.cdf(upper) - law.cdf(np.maximum(lower, 0))
    inside = law.cdf(np.minimum(upper, high)) - law.cdf(np.maximum(lower, low))
    with np.errstate(invalid="ignore"):
        share = np.where(lower == upper, (low <= lower) & (lower <= high), np.maximum(inside, 0) / known)
    surely = np.array([1, 0, 0, (low[3] <= 1) and (high[3] >= 4), 0, 0])
    maybe = np.array([1, 1, 0, 1, high[4] > 3, 1])
    found = interval_coverage(Weibull(scale, 1.5), SurvivalData.interval(lower, upper, weight=weight))
    total = weight.sum()
    np.testing.assert_allclose(found[:3], [weight @ part / total for part in (share, surely, maybe)], rtol=1e-10)
    assert found.mean_width == pytest.approx(weight @ (high - low) / total, rel=1e-10)
    median = np.quantile(high - low, 0.5, weights=weight, method="inverted_cdf")
    assert found.median_width == pytest.approx(median, rel=1e-10)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_that_it_is_a_point_of_the_density_calibration(level):
    data = simulated(0, ties=False)
    predicted = AsymmetricLaplace(np.random.default_rng(0).uniform(5, 40, 300), 9.0, 0.7)
    points = density_calibration_points(predicted, data, bins=20)
    expected = points.observed[np.argmin(np.abs(points.predicted - level))]
    found = interval_coverage(predicted, data, level=level)
    assert found.coverage == pytest.approx(expected, abs=1e-10)
    assert found.lower < found.coverage < found.upper


def test_the_truth_is_covered_and_the_bounds_hold():
    rng = np.random.default_rng(1)
    truth = Weibull(rng.uniform(2, 9, 4000), 1.6)
    times, lost = truth.sample(random_state=2), rng.exponential(8, 4000)
    data = right(np.minimum(times, lost), times <= lost)
    for scale in (0.7, 1.0, 1.4):
        predicted = truth.scaled(scale)
        ends = predicted.interval(0.8)
        share = ((ends[:, 0] <= times) & (times <= ends[:, 1])).mean()
        found = interval_coverage(predicted, data)
        assert found.lower <= share <= found.upper
        assert found.mean_width == pytest.approx((ends[:, 1] - ends[:, 0]).mean())
    assert interval_coverage(truth, data).coverage == pytest.approx(0.8, abs=0.02)
    exact = interval_coverage(truth, right(times, np.ones(4000, bool)))
    assert exact.coverage == exact.lower == pytest.approx(exact.upper, rel=1e-15)
    assert exact.coverage == pytest.approx(0.8, abs=3 * np.sqrt(0.16 / 4000))


def test_delayed_entry_is_that_of_the_conditional_distribution():
    truth = Weibull(np.linspace(2, 9, 500), 1.6)
    entry = np.linspace(0, 3, 500)
    later = truth.conditional(entry)
    times = later.sample(random_state=3)
    event = np.arange(500) % 3 > 0
    found = interval_coverage(truth, right(times, event, entry=entry))
    np.testing.assert_allclose(found, interval_coverage(later, right(times, event)), rtol=1e-9)


def test_ends_of_a_step_belong_to_its_interval():
    predicted = Step([1.0, 2.0, 3.0, 4.0], [[0.75, 0.5, 0.25, 0.0]])
    # The interval of a half is from 1 to 3, with three quarters of the probability.
    for time, inside in ((0.5, 0), (1, 1), (2, 1), (3, 1), (4, 0)):
        found = interval_coverage(predicted, right([time], [True]), level=0.5)
        assert found == (inside, inside, inside, 2, 2)
    assert interval_coverage(predicted, right([0], [False]), level=0.5)[:3] == (0.75, 0, 1)
    assert interval_coverage(predicted, right([2], [False]), level=0.5)[:3] == (0.5, 0, 1)
    assert interval_coverage(predicted, right([3], [False]), level=0.5)[:3] == (0, 0, 0)


def test_edges():
    predicted, data = Exponential([1.0, 2.0]), right([1, 2], [True, False])
    for level in (0, 1, -0.1, "half", True, np.nan):
        with pytest.raises(ParameterError, match="level must be a number between 0 and 1"):
            interval_coverage(predicted, data, level=level)
    nothing = right([1, 2, 3], [True] * 3, weight=[0, 0, 1])[:2]
    with pytest.warns(UserWarning, match="interval_coverage is not defined and NaN"):
        assert np.isnan(interval_coverage(predicted, nothing)).all()
    never = Step([1.0], [[0.5]])
    assert interval_coverage(never, right([3], [False]))[:4] == (1, 1, 1, np.inf)


def test_curves_that_do_not_fall_far_enough_have_intervals_without_end():
    predicted = Step([1.0, 2.0], [[0.5, 0.01], [0.99, 0.98]])
    found = interval_coverage(predicted, SurvivalData.right([1.0, 2.0], [True, False]), level=0.9)
    assert found.mean_width == np.inf
