"""Distributions drawn through quantiles: interpolation by numpy, integrals by quadrature."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate

from aldsurv.distributions import QuantileKnots, SurvivalDistribution
from aldsurv.errors import ParameterError

LEVELS = [0.1, 0.3, 0.5, 0.9]
ROWS = np.array([[1.0, 2.0, 4.0, 10.0], [-3.0, -1.0, 0.5, 2.0], [0.0, 1.0, 1.5, 1.6], [100.0, 110.0, 111.0, 500.0]])


class Drawn:
    """One individual, from the stated assumptions: a list of straight lines, then an exponential."""

    def __init__(self, levels, quantiles) -> None:
        times = sorted(float(q) for q in quantiles)
        thin = levels[0] * (times[1] - times[0]) / (levels[1] - levels[0])
        bottom = 0.0 if times[0] > 0 else times[0] - thin
        self.times, self.levels = [bottom, *times], [0.0, *levels]
        slope = (levels[-1] - levels[-2]) / (times[-1] - times[-2]) if times[-1] > times[-2] else math.inf
        self.rest, self.rate = 1 - levels[-1], slope / (1 - levels[-1])

    def cdf(self, t):
        if t > self.times[-1]:
            return 1 - self.rest * math.exp(-self.rate * (t - self.times[-1]))
        value = 0.0
        for (a, b), (low, high) in zip(itertools.pairwise(self.times), itertools.pairwise(self.levels), strict=True):
            if t >= b:
                value = high
            elif t > a:
                value = low + (high - low) * (t - a) / (b - a)
        return value

    def survival(self, t):
        if t > self.times[-1]:
            return self.rest * math.exp(-self.rate * (t - self.times[-1]))
        return 1 - self.cdf(t)

    def density(self, t):
        if t > self.times[-1]:
            return self.rest * self.rate * math.exp(-self.rate * (t - self.times[-1]))
        for (a, b), (low, high) in zip(itertools.pairwise(self.times), itertools.pairwise(self.levels), strict=True):
            if a < t < b:
                return (high - low) / (b - a)
        return 0.0

    def area(self, function, start, stop):
        places = sorted({start, stop, *(t for t in self.times if start < t < stop)})
        return sum(
            integrate.quad(function, a, b, epsabs=1e-14, epsrel=1e-12, limit=200)[0]
            for a, b in itertools.pairwise(places)
            if b > a
        )

    @property
    def end(self):
        return self.times[-1] + 45.0 / self.rate if self.rate < math.inf else self.times[-1]

    def mean(self):
        return self.times[0] + self.area(self.survival, self.times[0], self.end)

    def variance(self):
        center, bottom = self.mean(), self.times[0]
        return 2 * self.area(lambda t: (t - bottom) * self.survival(t), bottom, self.end) - (center - bottom) ** 2


def pairs(levels=LEVELS, rows=ROWS):
    return QuantileKnots(levels, rows), [Drawn(levels, row) for row in rows]


def test_the_cdf_passes_through_the_given_quantiles_exactly():
    d, _ = pairs()
    assert_allclose(d.cdf(ROWS), np.tile(LEVELS, (4, 1)), rtol=4e-16)
    assert_allclose(d.survival(ROWS), 1 - np.tile(LEVELS, (4, 1)), rtol=1e-15)
    assert_allclose(d.quantile(LEVELS), ROWS, rtol=1e-13, atol=1e-13)


def test_functions_of_time_against_the_definition():
    d, rows = pairs()
    times = np.concatenate([np.linspace(-8, 130, 277), [499.0, 501.0, 2000.0]])
    assert_allclose(d.cdf(times), [[row.cdf(t) for t in times] for row in rows], rtol=1e-12, atol=1e-15)
    assert_allclose(d.survival(times), [[row.survival(t) for t in times] for row in rows], rtol=1e-12)
    away = np.array([t for t in times if not np.any(np.isclose(t, [p for row in rows for p in row.times]))])
    assert_allclose(d.density(away), [[row.density(t) for t in away] for row in rows], rtol=1e-12)
    with np.errstate(divide="ignore"):
        assert_allclose(d.log_cdf(times), np.log(d.cdf(times)), rtol=1e-12, atol=1e-15)
    assert_allclose(np.exp(d.log_density(away)), d.density(away), rtol=1e-12)
    assert_allclose(np.exp(d.log_survival(times)), d.survival(times), rtol=1e-12)
    # Far beyond the last knot the survival underflows, its logarithm does not.
    far = 1e5
    expected = [math.log(row.rest) - row.rate * (far - row.times[-1]) for row in rows]
    assert_allclose(d.log_survival(far), expected, rtol=1e-13)


def test_below_the_first_quantile_probability_is_spread_evenly_down_to_zero():
    d = QuantileKnots([0.2, 0.6], [[5.0, 10.0]])
    assert_allclose(d.cdf([-1.0, 0.0, 1.0, 2.5, 5.0]), [[0.0, 0.0, 0.04, 0.1, 0.2]], rtol=1e-14)
    assert_array_equal(d.probability_negative(), 0.0)
    assert_allclose(d.quantile([0.0, 0.1]), [[0.0, 2.5]], rtol=1e-13)


@pytest.mark.parametrize("first", [0.0, -2.0])
def test_a_first_quantile_that_is_not_positive_is_left_at_the_slope_of_the_next_stretch(first):
    d = QuantileKnots([0.2, 0.6], [[first, first + 4.0]])
    bottom = first - 0.2 * 4.0 / 0.4
    assert_allclose(d.quantile(0.0), bottom, rtol=1e-14)
    assert_allclose(d.cdf([bottom - 1, bottom, first - 1.0, first]), [[0.0, 0.0, 0.1, 0.2]], atol=1e-15)
    assert_allclose(d.density([first - 1.0, first + 1.0]), 0.1, rtol=1e-13)
    assert_allclose(d.probability_negative(), 0.2 + 0.1 * -first, rtol=1e-13)


def test_the_tail_continues_the_density_of_the_last_stretch():
    d = QuantileKnots([0.25, 0.5, 0.75], [[2.0, 4.0, 8.0]])
    assert_allclose(d.density([7.9, 8.0, 8.0 + 1e-9]), 0.25 / 4, rtol=1e-8)
    hazard = 0.25 / 4 / 0.25
    assert_allclose(d.hazard([8.0, 20.0, 1e4]), hazard, rtol=1e-12)
    assert_allclose(d.survival(12.0), 0.25 * math.exp(-hazard * 4.0), rtol=1e-13)
    assert_allclose(d.mean_residual_life([8.0, 100.0, 1e4]), 1 / hazard, rtol=1e-12)
    levels = [0.9, 1 - 1e-12]
    assert_allclose(d.quantile(levels)[0], 8.0 - np.log(4 * (1 - np.array(levels))) / hazard, rtol=1e-13)
    assert_array_equal(d.quantile(1.0), math.inf)


def test_crossing_quantiles_are_sorted_and_noted():
    d = QuantileKnots(LEVELS, [[4.0, 1.0, 10.0, 2.0], [1.0, 2.0, 4.0, 10.0], [1.0, 1.0, 4.0, 10.0]])
    assert_array_equal(d.crossed, [True, False, False])
    assert_array_equal(d[0].survival([0.5, 3.0, 50.0]), d[1].survival([0.5, 3.0, 50.0]))
    assert_array_equal(d[[2, 0]].crossed, [False, True])
    assert_array_equal(SurvivalDistribution.concatenate([d[1], d[0]]).crossed, [False, True])
    assert_array_equal(d.scaled(2.0).crossed, d.crossed)
    assert_array_equal(d.shifted(2.0).crossed, d.crossed)


# ---- ties


def test_tied_quantiles_are_a_jump():
    d = QuantileKnots([0.2, 0.4, 0.7, 0.8], [[2.0, 5.0, 5.0, 6.0]])
    assert_allclose(d.cdf([4.0, np.nextafter(5.0, 0), 5.0, 5.5]), [[1 / 3, 0.4, 0.7, 0.75]], rtol=1e-12)
    assert_array_equal(d.quantile([0.4, 0.5, 0.69]), 5.0)
    assert_allclose(d.quantile(0.7), 5.0, rtol=1e-14)
    assert_allclose(d.probability(4.999999, 5.0), 0.3, rtol=1e-5)
    assert_array_equal(d.mode(), 5.0)


def test_ties_at_the_last_quantile_put_the_rest_there_too():
    d = QuantileKnots([0.2, 0.6, 0.8], [[2.0, 5.0, 5.0]])
    assert_allclose(d.cdf([4.999999999, 5.0, 5.000001]), [[0.6, 0.8, 1.0]], rtol=1e-8)
    assert_allclose(d.quantile([0.7, 0.9, 0.999]), 5.0, rtol=1e-12)
    assert_allclose(d.mean(), 0.2 * 1.0 + 0.4 * 3.5 + 0.4 * 5.0, rtol=1e-12)
    assert_allclose(d.restricted_mean(9.0), d.mean(), rtol=1e-12)


@pytest.mark.parametrize("first", [0.0, -1.0])
def test_ties_at_a_first_quantile_that_is_not_positive(first):
    d = QuantileKnots([0.1, 0.5, 0.9], [[first, first, first + 6.0]])
    before = [first - 5.0, np.nextafter(first, -math.inf)]
    assert_array_equal(d.cdf(before), 0.0)
    assert_array_equal(d.survival(before), 1.0)
    assert_array_equal(d.log_cdf(before), -math.inf)
    assert_array_equal(d.density(before), 0.0)
    assert_allclose(d.cdf([first, first + 3.0]), [[0.5, 0.7]], rtol=1e-14)
    assert_array_equal(d.quantile([0.05, 0.3, 0.5]), first)
    tail = 0.1 * 6.0 / 0.4
    mean = 0.5 * first + 0.4 * (first + 3.0) + 0.1 * (first + 6.0 + tail)
    assert_allclose(d.mean(), mean, rtol=1e-13)
    assert_allclose(d.mean_residual_life(first - 5.0), mean - first + 5.0, rtol=1e-13)
    assert_allclose(d.conditional(first - 5.0).mean(), mean, rtol=1e-13)
    assert_allclose(d.shifted(7.0).restricted_mean(1e6), mean + 7.0, rtol=1e-12)
    at_start = d.crps(first)[0]
    assert_allclose(d.crps(first - 2.0), at_start + 2.0, rtol=1e-13)


def test_mode_is_the_largest_jump():
    d = QuantileKnots([0.1, 0.2, 0.5, 0.9], [[1.0, 1.0, 5.0, 5.0], [1.0, 2.0, 5.0, 5.0]])
    assert_array_equal(d.mode(), 5.0)


def test_a_first_stretch_too_short_for_the_spacing_of_numbers():
    d = QuantileKnots([1e-12, 0.5, 0.9], [[-1e6, -1e6 + 1.0, 1e6]])
    assert_array_equal(d.cdf([-2e6, -1e6 - 1.0]), 0.0)
    assert_array_equal(d.survival([-2e6, -1e6 - 1.0]), 1.0)


def test_all_quantiles_tied():
    d = QuantileKnots([0.25, 0.5], [[3.0, 3.0]])
    assert_allclose(d.cdf([1.5, 3.0, 3.0001]), [[0.125, 0.5, 1.0]], rtol=1e-12)
    assert_allclose(d.mean(), 0.25 * 1.5 + 0.75 * 3.0, rtol=1e-12)
    assert_allclose(d.median(), 3.0, rtol=1e-13)
    assert np.all(np.isfinite(d.crps([0.0, 3.0, 10.0])))
    assert_allclose(d.crps(3.0), 3.0 * 0.25**2 / 3, rtol=1e-10)


# ---- integrals


@pytest.mark.parametrize("levels", [LEVELS, [0.02, 0.5, 0.51, 0.99]])
def test_moments_against_quadrature(levels):
    d, rows = pairs(levels)
    assert_allclose(d.mean(), [row.mean() for row in rows], rtol=1e-9)
    assert_allclose(d.variance(), [row.variance() for row in rows], rtol=1e-7)


def test_two_knots_are_enough():
    d, (row,) = pairs([0.3, 0.6], np.array([[2.0, 8.0]]))
    times = [0.0, 1.0, 2.0, 5.0, 8.0, 30.0]
    assert_allclose(d.cdf(times), [[row.cdf(t) for t in times]], rtol=1e-13)
    assert_allclose(d.mean(), row.mean(), rtol=1e-9)
    assert_allclose(d.variance(), row.variance(), rtol=1e-7)
    assert_allclose(d.mode(), 1.0)  # the middle of the first stretch: 0.15 a unit of time, against 0.05


def test_restricted_mean_and_residual_life_against_quadrature():
    d, rows = pairs()
    for horizon in (0.0, 0.3, 1.0, 3.0, 10.0, 105.0, 700.0):
        expected = [row.area(row.survival, 0.0, horizon) for row in rows]
        assert_allclose(d.restricted_mean(horizon), expected, rtol=1e-10, atol=1e-14)
    for row, one in zip(rows, d, strict=True):
        for since in (row.times[0], row.times[2], (row.times[3] + row.times[4]) / 2, row.times[4]):
            expected = row.area(row.survival, since, row.end) / row.survival(since)
            assert_allclose(one.mean_residual_life(since), expected, rtol=1e-9)
        assert_allclose(one.mean_residual_life(row.times[0] - 3.0), row.mean() - row.times[0] + 3.0, rtol=1e-9)


@pytest.mark.parametrize("horizon", [1e-12, 1e-6, 1e-3])
def test_a_short_horizon_keeps_its_digits(horizon):
    d = QuantileKnots([0.1, 0.5, 0.9], [[1000.0, 2000.0, 1e7]])
    assert_allclose(d.restricted_mean(horizon), horizon * (1 - 0.1 * horizon / 2000.0), rtol=1e-12)


def test_the_few_who_live_long_keep_their_digits():
    levels, times = [0.5, 1 - 1e-9, 1 - 1e-11], [1000.0, 4000.0, 4010.0]
    d = QuantileKnots(levels, [times])
    early, late = 1 - levels[1], 1 - levels[2]
    tail = late * late / ((early - late) / 10.0)
    for since in (4000.0, 4003.0, 4009.0):
        here = late + (early - late) * (4010.0 - since) / 10.0
        expected = ((here + late) / 2 * (4010.0 - since) + tail) / here
        assert_allclose(d.mean_residual_life(since), expected, rtol=1e-4)
    assert_allclose(d.mean_residual_life(4010.0), tail / late, rtol=1e-4)


def test_every_form_of_crps_against_quadrature():
    d, rows = pairs()
    for row, one in zip(rows, d, strict=True):
        bottom, top = row.times[0], row.end
        outcomes = [bottom - 1.0, bottom, row.times[1], (row.times[2] + row.times[3]) / 2, row.times[-1], top / 2 + 3]

        def before(y, row=row, bottom=bottom):
            return row.area(lambda t: row.cdf(t) ** 2, bottom, y) if y > bottom else 0.0

        def after(y, row=row, top=top):
            return row.area(lambda t: row.survival(t) ** 2, y, max(top, y))

        for y in outcomes:
            assert_allclose(one.crps(y), before(y) + after(y), rtol=1e-8)
            assert_allclose(one.crps(y, math.inf), before(y), rtol=1e-8, atol=1e-12)
            assert_allclose(one.crps(-math.inf, y), after(y), rtol=1e-8, atol=1e-12)
        for y, u in itertools.combinations(sorted(outcomes), 2):
            assert_allclose(one.crps(y, u), before(y) + after(u), rtol=1e-8, atol=1e-12)
    assert_array_equal(d.crps(-math.inf, math.inf), 0.0)
    assert_array_equal(d.crps(math.inf), math.inf)


@settings(max_examples=settings.default.max_examples * 3)
@given(data=st.data())
def test_random_knots(data):
    m = data.draw(st.integers(2, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    levels = np.sort(rng.choice(np.arange(1, 100), m, replace=False)) / 100
    quantiles = rng.normal(2.0, 5.0) + rng.gamma(0.7, 2.0, (1, m)).cumsum(axis=1)
    d, row = QuantileKnots(levels, quantiles), Drawn(list(levels), quantiles[0])
    times = np.concatenate([rng.uniform(row.times[0] - 1, row.end, 8), row.times])
    assert_allclose(d.cdf(times), [[row.cdf(t) for t in times]], rtol=1e-10, atol=1e-14)
    inner = np.append(rng.uniform(size=5), levels)
    found = d.quantile(inner)[0]
    assert_allclose([row.cdf(t) for t in found], inner, rtol=1e-10, atol=1e-12)
    assert_allclose(d.mean(), row.mean(), rtol=1e-8, atol=1e-10)
    assert_allclose(d.variance(), row.variance(), rtol=1e-6)
    y = float(times[0])
    below = row.area(lambda t: row.cdf(t) ** 2, row.times[0], y) if y > row.times[0] else 0.0
    above = row.area(lambda t: row.survival(t) ** 2, y, max(row.end, y))
    assert_allclose(d.crps(y), below + above, rtol=1e-7)


def test_a_change_of_unit_moves_the_knots():
    d, _ = pairs()
    scaled = d.scaled([2.0, 3.0, 0.1, 1.0])
    assert isinstance(scaled, QuantileKnots)
    factors = np.array([[2.0], [3.0], [0.1], [1.0]])
    assert_allclose(scaled.quantile([0.05, 0.5, 0.99]), factors * d.quantile([0.05, 0.5, 0.99]), rtol=1e-13)
    assert_allclose(d.shifted(-7.0).quantile([0.05, 0.99]), d.quantile([0.05, 0.99]) - 7.0, rtol=1e-12)


def test_joining_rows_with_different_levels():
    a, b = QuantileKnots([0.1, 0.5], [[1.0, 2.0]]), QuantileKnots([0.3, 0.6], [[4.0, 5.0], [6.0, 8.0]])
    joined = SurvivalDistribution.concatenate([a, b])
    times = [0.5, 1.5, 4.5, 20.0]
    assert_array_equal(joined.survival(times), np.concatenate([a.survival(times), b.survival(times)]))
    with pytest.raises(ParameterError, match="numbers of knots"):
        SurvivalDistribution.concatenate([a, QuantileKnots([0.1, 0.5, 0.6], [[1.0, 2.0, 3.0]])])


# ---- what cannot be drawn


@pytest.mark.parametrize(
    ("levels", "quantiles", "words"),
    [
        ([0.5], [[1.0]], ["two levels"]),
        ([0.1, 0.5], [[1.0, 2.0, 3.0]], ["levels", "3 columns", "(2,)"]),
        ([[0.1, 0.5]], [[1.0, 2.0]], ["levels", "vector"]),
        ([0.5, 0.1], [[1.0, 2.0]], ["levels", "increasing"]),
        ([0.5, 0.5], [[1.0, 2.0]], ["levels", "increasing"]),
        ([0.0, 0.5], [[1.0, 2.0]], ["levels", "between 0 and 1"]),
        ([0.5, 1.0], [[1.0, 2.0]], ["levels", "between 0 and 1"]),
        ([10, 50], [[1.0, 2.0]], ["levels", "between 0 and 1", "0.1"]),
        ([0.1, np.nan], [[1.0, 2.0]], ["levels"]),
        ([0.1, 0.5], [[1.0, 2.0], [np.nan, 3.0]], ["quantiles", "finite", "row 1", "column 0", "nan"]),
        ([0.1, 0.5], [[1.0, np.inf]], ["quantiles", "finite", "row 0", "column 1", "inf"]),
        ([0.1, 0.5], [[]], ["quantiles", "shape"]),
        ([0.1, 0.5], [[[1.0, 2.0]]], ["quantiles", "shape"]),
        ([0.1, 0.5], [[1.0, 2.0], [3.0]], ["quantiles", "numbers"]),
        ([0.1, 0.5], "ab", ["quantiles", "numbers"]),
        ("ab", [[1.0, 2.0]], ["levels", "numbers"]),
    ],
)
def test_messages_name_what_was_found(levels, quantiles, words):
    with pytest.raises(ParameterError) as caught:
        QuantileKnots(levels, quantiles)
    for word in words:
        assert word in str(caught.value)


def test_arguments_are_neither_aliased_nor_changed():
    levels, quantiles = np.array([0.1, 0.5]), np.array([[3.0, 2.0]])
    d = QuantileKnots(levels, quantiles)
    assert_array_equal(quantiles, [[3.0, 2.0]])
    expected = d.cdf([1.0, 2.5])
    levels[:], quantiles[:] = 0.9, 77.0
    assert_array_equal(d.cdf([1.0, 2.5]), expected)
