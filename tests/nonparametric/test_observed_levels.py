"""The estimate of how levels came true, against other Kaplan-Meier estimates and the definition."""

from __future__ import annotations

import numpy as np
import pytest
from lifelines import KaplanMeierFitter
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv import SurvivalData
from aldsurv.distributions import Exponential, Normal
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.nonparametric.observed_levels import level_curve, level_map


def rows(n, seed, *, lost=1.5, scale=1.0, **more):
    """Exponential predictions, times that are `scale` times as long, censored."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.5, 3.0, n)
    time, censoring = scale * rng.exponential(means), rng.exponential(lost * means)
    return Exponential(means), SurvivalData.right(np.minimum(time, censoring), time <= censoring, **more)


def level_of(odds):
    return 1 / (1 + np.exp(-odds))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_curve_is_the_kaplan_meier_estimate_of_the_levels(weighted):
    weight = np.random.default_rng(5).integers(1, 4, 300) if weighted else None
    predicted, data = rows(300, 0, scale=2.0, weight=weight)
    curve = level_curve([(predicted, data)])
    levels = predicted.cdf(data.time[:, None])[:, 0]
    theirs = KaplanMeierFitter().fit(levels, data.event, weights=weight)
    assert_allclose(level_of(curve.odds), np.sort(levels[data.event]), rtol=1e-12)
    assert_allclose(curve.cdf, 1 - theirs.predict(np.sort(levels[data.event]) + 1e-12), rtol=1e-9)
    expected = data.n_events if weight is None else weight[data.event].sum() ** 2 / (weight[data.event] ** 2).sum()
    assert curve.events == pytest.approx(expected)


def test_delayed_entry_and_parts():
    predicted, data = rows(200, 1)
    entry = np.where(np.arange(200) % 3 == 0, 0.4 * data.time, -np.inf)
    data = SurvivalData.right(data.time, data.event, entry=entry, weight=np.where(np.arange(200) % 10 == 0, 0.0, 1.0))
    parts = [(predicted[:50], data[:50]), (predicted[50:], data[50:])]
    curve = level_curve(parts)
    level = predicted.cdf(data.time[:, None])[:, 0]
    since = np.where(np.isfinite(entry), predicted.cdf(np.maximum(entry, 0)[:, None])[:, 0], -np.inf)
    survival, counts = 1.0, data.weights > 0
    for place, found in zip(level_of(curve.odds), curve.cdf, strict=True):
        at_risk = counts & (since < place - 1e-12) & (level >= place - 1e-12)
        survival *= 1 - (at_risk & data.event & (level <= place + 1e-12)).sum() / at_risk.sum()
        assert found == pytest.approx(1 - survival, abs=1e-12)


def test_the_map_passes_through_the_curve():
    predicted, data = rows(2000, 2, scale=1.7)
    found, curve = level_map([(predicted, data)]), level_curve([(predicted, data)])
    assert found.knots.size > 8
    place = np.searchsorted(curve.odds, found.knots)
    assert_array_equal(curve.odds[place], found.knots)
    assert_allclose(level_of(found.values), curve.cdf[place], rtol=1e-12)
    # Evenly over what is known of the levels, and closer to both ends.
    assert level_map([(predicted, data)], bins=4)(0.5) == pytest.approx(float(found(0.5)), abs=0.03)


def test_a_calibrated_prediction_is_left_alone_within_sampling_error():
    far = []
    for seed in range(40):
        predicted, data = rows(1000, seed, lost=2.0)
        levels = np.linspace(0.05, 0.8, 16)
        far.append(np.abs(level_map([(predicted, data)])(levels) - levels).max())
    # Kolmogorov's distance of 1000 uniform numbers is below 0.043 in nineteen of twenty cases; censoring widens it.
    assert np.median(far) < 0.043
    assert max(far) < 0.1


@pytest.mark.parametrize("lost", [0.4, 1.5, 1e9])
def test_a_known_distortion_is_found(lost):
    # T = 2·(predicted time): P(F(T) ≤ u) = 1 - (1 - u)^(1/2). Heavily censored rows tell of the lower levels only.
    found = level_map([rows(20_000, 3, lost=lost, scale=2.0)])
    levels = np.linspace(0.05, 0.7, 14)
    assert_allclose(found(levels), 1 - np.sqrt(1 - levels), atol=0.02)


def test_predictions_that_lost_all_belief():
    # Ten standard deviations away in half of the rows: levels are 0 or 1 to the last digit, log odds are not.
    rng = np.random.default_rng(0)
    time = 100 + rng.normal(0, 20, 500)
    found = level_map([(Normal(np.full(500, 100.0), 0.5), SurvivalData.right(time, np.ones(500)))])
    assert found.knots[0] < -100
    assert found.knots[-1] > 100
    assert found(0.5) == pytest.approx(0.5, abs=0.05)


def test_ties_make_no_spikes():
    # All levels are one of three, as if times were known to the month.
    predicted = Exponential(np.ones(600))
    time = np.repeat([0.5, 0.5 + 1e-9, 2.0], 200)
    found = level_map([(predicted, SurvivalData.right(time, np.ones(600)))])
    assert np.exp(found.log_slope(np.linspace(-9, 9, 9001))).max() < 100


def test_too_little_to_tell():
    predicted, data = rows(5, 0)
    for given in (data[:0], data[~data.event], data[:1]):
        assert repr(level_map([(predicted[: len(given)], given)])) == "LevelMap(identity)"


def test_what_is_refused():
    predicted, data = rows(5, 0)
    with pytest.raises(ParameterError, match="as many rows"):
        level_curve([(predicted, data[:3])])
    with pytest.raises(CensoringError, match="exact and right-censored rows only"):
        level_curve([(predicted[:1], SurvivalData.interval([1.0], [2.0]))])
