"""The map of levels: monotone, smooth, exact at its points, undone by its inverse, with all digits in both tails."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv.distributions import AsymmetricLaplace, Exponential, LogNormal, Recalibrated, Step, SurvivalDistribution
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.distributions.wrappers.recalibrated import recalibrated
from aldsurv.errors import ParameterError


@st.composite
def maps(draw):
    count = draw(st.integers(0, 8))
    step = st.floats(0.01, 4.0)
    knots, values = (np.cumsum([draw(step) for _ in range(count)]) - draw(st.floats(-1, 9)) for _ in range(2))
    return LevelMap(knots, values)


@given(level_map=maps())
def test_it_rises_through_its_points_and_is_undone(level_map):
    odds = np.sort(np.concatenate([np.linspace(-30, 30, 601), level_map.knots]))
    mapped = odds + level_map.shift(odds)
    assert (np.diff(mapped[np.diff(odds, prepend=-99) > 0]) > 0).all()
    assert_allclose(level_map.knots + level_map.shift(level_map.knots), level_map.values, rtol=0, atol=1e-13)
    assert_allclose(mapped + level_map.inverse_shift(mapped), odds, rtol=0, atol=1e-9)
    assert_array_equal(level_map.shift(np.array([-np.inf, np.inf])), level_map.shift(np.array([-99.0, 99.0])))


@given(level_map=maps(), place=st.floats(-12, 12))
def test_its_slope_is_its_derivative_and_has_no_jumps(level_map, place):
    step = 1e-6
    near = np.array([place - step, place + step])
    rise = np.diff(near + level_map.shift(near))[0] / (2 * step)
    if np.abs(level_map.knots - place).min(initial=np.inf) > 2 * step:
        assert_allclose(np.exp(level_map.log_slope(np.array([place])))[0], rise, rtol=1e-3, atol=1e-6)
    sides = np.concatenate([np.nextafter(level_map.knots, -np.inf), np.nextafter(level_map.knots, np.inf)])
    below, above = np.split(level_map.log_slope(sides), 2)
    assert_allclose(below, above, atol=1e-6)


def test_levels_that_are_probabilities():
    level_map = LevelMap.through([0.2, 0.5, 0.9], [0.1, 0.5, 0.8])
    assert_allclose(level_map([0.0, 0.2, 0.5, 0.9, 1.0]), [0.0, 0.1, 0.5, 0.8, 1.0], rtol=1e-14)
    # Beyond the ends the odds change by a factor: 0.1/0.9 for 0.2/0.8.
    odds = 1e-300 * (0.1 / 0.9) / (0.2 / 0.8)
    assert_allclose(level_map(1e-300), odds, rtol=1e-12)
    identity = LevelMap(np.empty(0), np.empty(0))
    assert_allclose(identity(np.linspace(0, 1, 11)), np.linspace(0, 1, 11), rtol=1e-15)
    assert repr(identity) == "LevelMap(identity)"
    assert repr(level_map) == "LevelMap(3 knots)"


@pytest.mark.parametrize(
    ("knots", "values"), [([0.0, 0.0], [0.0, 1.0]), ([0.0, 1.0], [1.0, 0.0]), ([0.0], [np.inf]), ([0.0], [0.0, 1.0])]
)
def test_what_is_no_map_is_refused(knots, values):
    with pytest.raises(ParameterError, match=r"must be finite log odds|values\. Give one each"):
        LevelMap(np.array(knots), np.array(values))
    with pytest.raises(ParameterError, match="between 0 and 1"):
        LevelMap.through([0.5], [1.0])
    with pytest.raises(ParameterError, match="between 0 and 1"):
        LevelMap.through([0.5], [0.4])([1.5])


def test_tails_against_fifty_digits():
    # Odds of the exponential, times the constant that the map has beyond its ends.
    level_map = LevelMap.through([0.3, 0.6], [0.2, 0.7])
    d = Recalibrated(Exponential(1.0), level_map)
    mpmath.mp.dps = 50
    for time, factor in ((1e-12, (0.2 / 0.8) / (0.3 / 0.7)), (1e-3, (0.2 / 0.8) / (0.3 / 0.7))):
        odds = mpmath.expm1(mpmath.mpf(time)) * factor
        assert_allclose(d.cdf(time)[0], float(odds / (1 + odds)), rtol=1e-13)
        assert_allclose(d.log_survival(time)[0], float(-mpmath.log1p(odds)), rtol=1e-13)
    factor = (0.7 / 0.3) / (0.6 / 0.4)
    for time in (5.0, 60.0, 900.0):
        odds = mpmath.expm1(mpmath.mpf(time)) * factor
        assert_allclose(d.log_survival(time)[0], float(-mpmath.log1p(odds)), rtol=1e-13)
        slope = mpmath.log(mpmath.exp(time) * factor / (1 + odds) ** 2)
        assert_allclose(d.log_density(time)[0], float(slope), rtol=1e-12)


def test_a_known_map_gives_a_known_distribution():
    # Proportional odds turn a log-logistic level into that of another: a map of one point is such a factor.
    d = Recalibrated(LogNormal([0.0, 1.0], [1.0, 0.5]), LevelMap.through([0.5], [0.8]))
    odds = d.base.cdf([1.0, 3.0]) / d.base.survival([1.0, 3.0]) * 4
    assert_allclose(d.cdf([1.0, 3.0]), odds / (1 + odds), rtol=1e-13)
    assert_allclose(d.quantile(0.8), d.base.median(), rtol=1e-12)


def test_density_is_positive_wherever_it_was():
    d = Recalibrated(AsymmetricLaplace(5.0, 1.0, 0.7), LevelMap.through([0.01, 0.5, 0.99], [0.3, 0.4, 0.5]))
    times = np.linspace(-200, 300, 2001)
    assert np.isfinite(d.log_density(times)).all()
    assert np.isfinite(d.mean()).all()


def test_order_of_rows_stays():
    d = AsymmetricLaplace(np.linspace(3, 9, 50), np.linspace(1, 2, 50), 1.3)
    moved = recalibrated(d, LevelMap.through([0.1, 0.4, 0.8], [0.3, 0.35, 0.95]))
    for time in (2.0, 5.0, 9.0):
        assert_array_equal(np.argsort(moved.survival(time)), np.argsort(d.survival(time)))


def test_step_functions_stay_step_functions():
    level_map = LevelMap.through([0.2, 0.5, 0.9], [0.1, 0.5, 0.8])
    before = Step([1.0, 2.0, 3.0, 4.0], [[0.8, 0.5, 0.1, 0.1], [1.0, 0.8, 0.5, 0.0]])
    after = recalibrated(before, level_map)
    assert isinstance(after, Step)
    assert_allclose(after.cdf([0.5, 1.0, 2.5, 9.0])[0], [0.0, 0.1, 0.5, 0.8], rtol=1e-12)
    assert_allclose(after.survival([1.0, 2.0, 3.0, 4.0])[1], [1.0, 0.9, 0.5, 0.0], rtol=1e-12)
    # All of the probability is in its density, spread over the stretches of the grid.
    middles = np.array([0.5, 1.5, 2.5, 3.5])
    assert_allclose(after.density(middles).sum(axis=1), [0.8, 1.0], rtol=1e-12)


def test_joining_and_what_is_refused():
    d = Exponential([1.0, 2.0])
    first, second = (Recalibrated(d, LevelMap.through([0.5], [level])) for level in (0.4, 0.6))
    assert len(SurvivalDistribution.concatenate([first, first])) == 4
    with pytest.raises(ParameterError, match="different maps"):
        SurvivalDistribution.concatenate([first, second])
    with pytest.raises(ParameterError, match="level_map must be a LevelMap"):
        Recalibrated(d, lambda u: u)
