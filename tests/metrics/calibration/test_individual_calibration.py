"""Average, group and individual calibration against scipy's Wasserstein distance and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from lifelines import KaplanMeierFitter
from numpy.testing import assert_allclose
from scipy.stats import wasserstein_distance

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import Exponential, LogNormal, MixedAsymmetricLaplace, Normal
from aldsurv.errors import CensoringError, ParameterError


def test_without_censoring_it_is_the_distance_of_levels_from_uniform_ones():
    rng = np.random.default_rng(0)
    time = rng.exponential(2.0, 60)
    predicted = Exponential(np.full(60, 3.0))
    weight = rng.integers(0, 4, 60).astype(float)
    levels = 1 - np.exp(-time / 3)
    even = (np.arange(200_000) + 0.5) / 200_000
    for given in (None, weight):
        data = SurvivalData.right(time, np.ones(60), weight=given)
        wanted = wasserstein_distance(levels, even, u_weights=given)
        assert_allclose(metrics.average_calibration(predicted, data), wanted, rtol=1e-5)


@pytest.mark.parametrize("last_is_event", [True, False])
def test_with_censoring_it_is_the_distance_of_the_kaplan_meier_estimate(last_is_event):
    rng = np.random.default_rng(1)
    time, event = rng.exponential(2.0, 80), rng.random(80) < 0.6
    event[np.argmax(time)] = last_is_event
    levels = 1 - np.exp(-time / 3)
    fitter = KaplanMeierFitter().fit(levels, event)
    end = 1.0 if last_is_event else levels.max()
    grid = (np.arange(200_000) + 0.5) / 200_000 * end
    estimate = 1 - fitter.survival_function_at_times(grid).to_numpy()
    found = metrics.average_calibration(Exponential(np.full(80, 3.0)), SurvivalData.right(time, event))
    assert_allclose(found, np.abs(estimate - grid).mean(), rtol=1e-4)


def test_a_right_prediction_comes_near_to_what_is_said_of_it():
    rng = np.random.default_rng(2)
    data = [SurvivalData.right(rng.exponential(2.0, 400), np.ones(400)) for _ in range(200)]
    right, wrong = (
        np.mean([metrics.average_calibration(Exponential(np.full(400, scale)), own) for own in data])
        for scale in (2.0, 3.0)
    )
    # ∫ E|B| of a Brownian bridge is √(2π)/8.
    assert_allclose(right, np.sqrt(2 * np.pi) / 8 / 20, rtol=0.1)
    assert wrong > 5 * right


def test_delayed_entry_counts_from_the_level_of_the_entry():
    entry, time = np.array([1.0, 2.0, 0.5]), np.array([2.0, 3.0, 4.0])
    predicted = Exponential(np.full(3, 2.0))
    found = metrics.average_calibration(predicted, SurvivalData.right(time, np.ones(3), entry=entry))
    # An exponential time has no memory.
    assert_allclose(found, metrics.average_calibration(predicted, SurvivalData.right(time - entry, np.ones(3))))


def test_the_worst_group_by_brute_force():
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.normal(size=400), rng.integers(0, 2, 400), rng.normal(size=400)])
    x[::9, 2] = np.nan
    wrong = (x[:, 0] > np.median(x[:, 0])) & (x[:, 1] == 1)
    time, lost = rng.exponential(2.0, 400), rng.exponential(6.0, 400)
    data = SurvivalData.right(np.minimum(time, lost), time <= lost)
    predicted = Exponential(np.where(wrong, 6.0, 2.0))
    found = metrics.worst_group_calibration(predicted, data, x, least=40, names=["a", "b", "c"])
    halves = [
        [x[:, 0] <= np.median(x[:, 0]), x[:, 0] > np.median(x[:, 0])],
        [x[:, 1] == 0, x[:, 1] == 1],
        [x[:, 2] <= np.nanmedian(x[:, 2]), x[:, 2] > np.nanmedian(x[:, 2])],
    ]
    groups = [half for pair in halves for half in pair]
    groups += [a & b for i in range(3) for j in range(i + 1, 3) for a in halves[i] for b in halves[j]]
    distances = [
        metrics.average_calibration(predicted[rows], data[rows])
        for rows in map(np.flatnonzero, groups)
        if len(rows) >= 40
    ]
    assert found.distance == max(distances)
    assert found.n == wrong.sum()
    assert found.group == f"a > {np.median(x[:, 0]):g}, b > 0"
    assert found.distance > 2 * metrics.average_calibration(predicted, data)
    # With larger groups only, that quadrant is too small.
    assert metrics.worst_group_calibration(predicted, data, x, least=150).n >= 150


def test_individual_calibration_is_the_wasserstein_distance():
    # Large stratified samples, by inverting the cdfs at even levels.
    even = (np.arange(100_000) + 0.5) / 100_000
    mixture = MixedAsymmetricLaplace([[1.0, 4.0], [2.0, 2.5]], [[0.5, 1.0], [1.0, 0.2]], [[1.2, 0.8], [0.7, 1.0]])
    for predicted, truth in (
        (mixture, Normal([2.0, 3.0], [1.0, 2.0])),
        (LogNormal([0.0, 1.0], 0.5), Exponential([1.0, 3.0])),
        (Normal([0.0, 1.0], 1.0), Normal([0.5, 1.0], [1.0, 3.0])),
    ):
        samples = [each.quantile(even) for each in (predicted, truth)]
        wanted = [wasserstein_distance(one, two) for one, two in zip(*samples, strict=True)]
        assert_allclose(metrics.individual_calibration(predicted, truth), np.mean(wanted), rtol=2e-3)
    assert metrics.individual_calibration(truth, truth) == 0


def test_until_a_horizon():
    predicted, truth = LogNormal([0.0, 0.5], [0.5, 2.0]), LogNormal([0.3, 0.5], 1.0)
    times = np.linspace(0, 4.0, 400_001)
    wanted = np.trapezoid(np.abs(predicted.cdf(times) - truth.cdf(times)), times, axis=1).mean()
    assert_allclose(metrics.individual_calibration(predicted, truth, horizon=4.0), wanted, rtol=2e-3)
    # log T asymmetric Laplace with a right tail of rate below 1: the mean is infinite.
    endless = MixedAsymmetricLaplace([[0.0]], [[3.0]], [[1.0]], support="log")
    assert metrics.individual_calibration(endless, LogNormal([0.0], 1.0)) == np.inf
    assert metrics.individual_calibration(endless, LogNormal([0.0], 1.0), horizon=4.0) < 4


def test_what_is_refused():
    d, data = Exponential([1.0, 2.0]), SurvivalData.right([1.0, 2.0], [1, 1])
    with pytest.raises(CensoringError, match="exact and right-censored"):
        metrics.average_calibration(d, SurvivalData.interval([0.5, 1.0], [1.0, 2.0]))
    with pytest.raises(ParameterError, match="least must be"):
        metrics.worst_group_calibration(d, data, [[1.0], [2.0]], least=0)
    with pytest.raises(ParameterError, match="X must have"):
        metrics.worst_group_calibration(d, data, [1.0, 2.0])
    with pytest.raises(ParameterError, match="names must have one for each of 1"):
        metrics.worst_group_calibration(d, data, [[1.0], [2.0]], names=["a", "b"])
    with pytest.raises(ParameterError, match="same rows"):
        metrics.individual_calibration(d, Exponential([1.0]))
    with pytest.raises(ParameterError, match="truth must be a SurvivalDistribution"):
        metrics.individual_calibration(d, data)
    with pytest.warns(UserWarning, match="no group has 50 rows"):
        assert np.isnan(metrics.worst_group_calibration(d, data, [[1.0], [2.0]]).distance)
    with pytest.warns(UserWarning, match="no event"):
        assert np.isnan(metrics.average_calibration(d, SurvivalData.right([1.0, 2.0], [0, 0])))
