"""Rounded numbers, and the search that sees nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import rosen, rosen_der

from aldsurv.losses.rounding import beside_the_times, on_grid, rounded
from aldsurv.losses.steady_search import least_point, least_points


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(5, 40))
def test_rounded_to_binary_digits(value, bits):
    found = float(rounded(value, bits))
    assert abs(found - value) <= 2.0 ** -(bits + 1) * value * (1 + 1e-12)
    mantissa = np.frexp(found)[0] * 2 ** (bits + 1)
    assert mantissa == np.round(mantissa)
    assert float(rounded(-value, bits)) == -found


def test_what_needs_no_rounding_stays():
    given = np.array([0.0, 1.0, -3.0, np.inf, -np.inf])
    np.testing.assert_array_equal(rounded(given, 10), given)
    np.testing.assert_array_equal(given[:3], on_grid(given[:3] + 1e-9, 2.0**-20))


def test_no_time_is_where_a_search_begins():
    # Times as people write them, in a unit that is one of them, and their logarithms.
    times = np.arange(1, 400) / np.arange(1, 400)[:, None]
    for places in (times, np.log(times)):
        start = beside_the_times(places)
        assert np.abs(start - places).max() < 2e-3
        known = np.unique(places)
        above = np.searchsorted(known, start.ravel()).clip(1, known.size - 1)
        assert np.abs(start.ravel() - known[[above - 1, above]]).min() > 1e-12
        # And the last digits do not decide which place it is.
        np.testing.assert_array_equal(beside_the_times(places * (1 + 1e-15)), start)


def test_the_least_of_a_smooth_function():
    found = least_point(lambda x: (rosen(x) / 100, rosen_der(x) / 100), 4, farthest=5.0, steps=500)
    np.testing.assert_allclose(found, 1.0, atol=2e-3)


def test_the_least_of_a_function_with_jumps_in_its_slope():
    times = np.random.default_rng(0).normal(size=201)

    def loss_and_slopes(point):
        return np.abs(times - point).mean(), np.sign(point - times).mean(keepdims=True)

    assert least_point(loss_and_slopes, 1, farthest=5.0, steps=100)[0] == pytest.approx(np.median(times), abs=1e-3)


def test_bounds():
    found = least_point(lambda x: ((x * [-1.0, 0.0]).sum(), np.array([-1.0, 0.0])), 2, farthest=3.0, steps=50)
    np.testing.assert_array_equal(found, [3.0, 0.0])
    # The second is at its best on the way to the bound of the first.
    found = least_point(lambda x: ((x[1] - 1) ** 2 - x[0], np.array([-1.0, 2 * x[1] - 2])), 2, farthest=3.0, steps=50)
    np.testing.assert_allclose(found, [3.0, 1.0], atol=1e-4)


def test_noise_in_the_last_digits_goes_nowhere():
    rng = np.random.default_rng(0)
    times = rng.normal(size=200)

    def ends(noise):
        def loss_and_slopes(point):
            # A mixture of two Laplace distributions: several optima, and jumps of the slope.
            z = times[:, None] - point[:2]
            parts = np.exp(-np.abs(z) * np.exp(point[2:]) + point[2:])
            total = parts.sum(1, keepdims=True)
            share = parts / total
            by_place = -(share * np.sign(z) * np.exp(point[2:])).mean(0)
            by_scale = -(share * (1 - np.abs(z) * np.exp(point[2:]))).mean(0)
            slopes = np.concatenate([by_place, by_scale])
            return -np.log(total).mean() * (1 + noise * rng.normal()), slopes * (1 + noise * rng.normal(size=4))

        return least_point(loss_and_slopes, 4, farthest=5.0, steps=100)

    start = ends(0.0)
    assert np.abs(start).max() > 0.1
    for _ in range(3):
        np.testing.assert_array_equal(ends(1e-16), start)


def test_several_searches_at_once():
    # The flat one ends at once, the others later.
    places, steepness = np.array([[0.0, 0.0], [1.0, -2.0], [3.0, 0.5]]), np.array([0.0, 1.0, 40.0])

    def losses_and_slopes(which, points):
        away = points - places[which]
        return steepness[which] * (away**4).sum(1), 4 * steepness[which, None] * away**3

    found = least_points(losses_and_slopes, 3, 2, farthest=5.0, steps=200)
    np.testing.assert_allclose(found, places, atol=0.05)
    for k, together in enumerate(found):

        def alone(point, k=k):
            losses, slopes = losses_and_slopes(np.array([k]), point[None])
            return losses[0], slopes[0]

        np.testing.assert_array_equal(least_point(alone, 2, farthest=5.0, steps=200), together)
