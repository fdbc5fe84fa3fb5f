"""Step functions against explicit loops over their atoms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv.distributions import Step, SurvivalDistribution
from aldsurv.errors import ParameterError


class Atoms:
    """One individual as a list of atoms and what is left at infinity."""

    def __init__(self, times, survival, tail="hold") -> None:
        curve = [1.0, *map(float, survival)]
        if tail == "drop":
            curve[-1] = 0.0
        self.times = [float(t) for t in times]
        self.masses = [before - after for before, after in itertools.pairwise(curve)]
        self.never = curve[-1]
        self.curve = curve

    def survival(self, t):
        value = 1.0
        for time, after in zip(self.times, self.curve[1:], strict=True):
            if time <= t:
                value = after
        return value

    def quantile(self, level):
        # Values of the curve are taken as they were given: 0.3 has been reached where survival is 0.7.
        for time, after in zip(self.times, self.curve[1:], strict=True):
            if 1 - after >= level - 1e-14:
                return time
        return math.inf

    def mean(self):
        if self.never > 0:
            return math.inf
        return math.fsum(m * t for m, t in zip(self.masses, self.times, strict=True))

    def variance(self):
        if self.never > 0:
            return math.inf
        center = self.mean()
        return math.fsum(m * (t - center) ** 2 for m, t in zip(self.masses, self.times, strict=True))

    def area(self, start, stop, function):
        """Integral of a function of the cdf, piece by piece."""
        if stop <= start:
            return 0.0
        places = [start, *(t for t in self.times if start < t < stop), stop]
        total = 0.0
        for a, b in itertools.pairwise(places):
            height = function(1.0 - self.survival(a))
            total += height * (b - a) if height else 0.0
        return total

    def restricted_mean(self, horizon):
        return math.fsum(m * max(0.0, min(t, horizon)) for m, t in zip(self.masses, self.times, strict=True)) + (
            self.never * horizon if self.never else 0.0
        )

    def mean_residual_life(self, since):
        alive = self.survival(since)
        if alive == 0:
            return 0.0
        if self.never > 0:
            return math.inf
        return math.fsum(m * (t - since) for m, t in zip(self.masses, self.times, strict=True) if t > since) / alive

    def crps(self, lower, upper):
        first = min(self.times[0], lower, upper) - 1.0
        if lower == -math.inf:
            first, before = 0.0, 0.0
        else:
            before = self.area(first, lower, lambda f: f**2)
        if upper == math.inf:
            return before
        after = self.area(upper, max(self.times[-1], upper), lambda f: (1 - f) ** 2)
        return before + after + (math.inf if self.never > 0 else 0.0)


TIMES = [1.0, 2.0, 2.5, 4.0, 7.0]
CURVES = [[0.9, 0.7, 0.7, 0.3, 0.1], [1.0, 1.0, 0.5, 0.25, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0] * 5]
GRID = [-math.inf, -1.0, 0.0, 0.5, 1.0, np.nextafter(1.0, 0), 1.5, 2.0, 2.25, 2.5, 3.0, 4.0, 6.9, 7.0, 8.0, 1e9]
tails = pytest.mark.parametrize("tail", ["hold", "drop"])


def both(times, curves, tail):
    curves = np.atleast_2d(curves)
    rows = np.broadcast_to(times, curves.shape)
    return Step(times, curves, tail=tail), [Atoms(t, c, tail) for t, c in zip(rows, curves, strict=True)]


@tails
def test_survival_is_right_continuous(tail):
    d, rows = both(TIMES, CURVES, tail)
    expected = np.array([[row.survival(t) for t in GRID] for row in rows])
    assert_array_equal(d.survival(GRID), expected)
    assert_array_equal(d.cdf(GRID), 1 - expected)
    with np.errstate(divide="ignore"):
        assert_allclose(d.log_survival(GRID), np.log(expected), rtol=1e-15)
        assert_allclose(d.log_cdf(GRID), np.log1p(-expected), rtol=1e-15)
        assert_allclose(d.cumulative_hazard(GRID), -np.log(expected), rtol=1e-15)
    at_infinity = np.array([row.never for row in rows])
    assert_array_equal(d.survival(math.inf), at_infinity)


@tails
def test_probability_of_an_interval_counts_its_atoms(tail):
    d, rows = both(TIMES, CURVES, tail)
    for low, high in [(1.0, 2.0), (0.9, 2.0), (1.0, 1.9), (2.0, 2.5), (-1.0, 0.5), (4.0, 7.0), (-math.inf, 4.0)]:
        expected = [sum(m for m, t in zip(r.masses, r.times, strict=True) if low < t <= high) for r in rows]
        assert_allclose(d.probability(low, high), expected, rtol=1e-13, atol=1e-16)


@tails
def test_quantiles_and_ties(tail):
    d, rows = both(TIMES, CURVES, tail)
    levels = [1e-9, 0.05, 0.1, 0.3, 1 - 0.7, 0.1 + 0.2, 0.5, 0.7, 0.75, 0.9, 0.95, 1.0]
    expected = [[row.quantile(level) for level in levels] for row in rows]
    assert_array_equal(d.quantile(levels), expected)
    assert_array_equal(d.median(), [row.quantile(0.5) for row in rows])


@pytest.mark.parametrize("steps", [3, 7, 10, 20, 49, 50, 100, 1000])
def test_a_level_that_equals_a_value_of_the_curve_is_reached_there(steps):
    # Survival 1 - k/steps and level k/steps, however either was rounded.
    order = np.arange(1, steps)
    width = 1 / steps
    curves = {"ratios": np.arange(steps - 1, -1, -1) / steps, "products": np.cumprod(1 - 1 / np.arange(steps, 0.0, -1))}
    levels = {
        "ratios": order / steps,
        "complements": 1 - order[::-1] / steps,
        "linspace": np.linspace(0, 1, steps + 1)[1:-1],
        "arange": np.arange(width, 1 - width / 2, width),
    }
    for (curve, values), (kind, asked) in itertools.product(curves.items(), levels.items()):
        found = Step(np.arange(1.0, steps + 1), values).quantile(asked)[0]
        assert_array_equal(found, order, err_msg=f"{curve} at {kind}")


@tails
def test_moments(tail):
    d, rows = both(TIMES, CURVES, tail)
    assert_allclose(d.mean(), [row.mean() for row in rows], rtol=1e-14)
    assert_allclose(d.variance(), [row.variance() for row in rows], rtol=1e-13, atol=1e-300)
    assert_allclose(d.std(), np.sqrt([row.variance() for row in rows]), rtol=1e-13, atol=1e-300)


@tails
def test_restricted_mean(tail):
    d, rows = both(TIMES, CURVES, tail)
    horizons = [0.0, 0.3, 1.0, 1.7, 2.0, 4.0, 7.0, 50.0]
    assert_allclose(
        d.restricted_mean(horizons), [[r.restricted_mean(h) for h in horizons] for r in rows], rtol=1e-14, atol=1e-300
    )
    forever = [math.inf if row.never else row.mean() for row in rows]
    assert_allclose(d.restricted_mean(math.inf), forever, rtol=1e-14)


@tails
def test_mean_residual_life(tail):
    d, rows = both(TIMES, CURVES, tail)
    times = [-3.0, 0.0, 0.5, 1.0, 2.2, 2.5, 5.0, 6.999, 7.0, 12.0]
    expected = [[row.mean_residual_life(t) for t in times] for row in rows]
    assert_allclose(d.mean_residual_life(times), expected, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("horizon", [1e-12, 1e-6, 1e-3])
def test_a_short_horizon_keeps_its_digits(horizon):
    # What comes after must not round away the little that is counted.
    d = Step([1000.0, 2000.0, 1e7], [[0.5, 0.25, 0.0], [1.0, 1.0, 0.5]])
    assert_allclose(d.restricted_mean(horizon), horizon, rtol=1e-12)
    by_row = Step([[1000.0, 2000.0], [1e6, 1e7]], [[0.5, 0.25], [1.0, 0.5]])
    assert_allclose(by_row.restricted_mean(horizon), horizon, rtol=1e-12)


def test_the_few_who_live_long_keep_their_digits():
    # What is left of the area under the curve is tiny beside what has gone before.
    times, curve = [100.0, 1000.0, 1500.0, 1700.0, 3000.0], [0.5, 1e-9, 1e-12, 2e-14, 0.0]
    d, (row,) = both(times, curve, "hold")
    for since in (1000.0, 1200.0, 1500.0, 1699.0, 1700.0, 2999.0):
        counted = [s * (b - max(a, since)) for s, a, b in zip(curve, times, times[1:], strict=False) if b > since]
        expected = math.fsum(counted) / row.survival(since)
        assert_allclose(d.mean_residual_life(since), expected, rtol=1e-9)
        assert_allclose(d.conditional(since).mean(), since + expected, rtol=1e-9)


@tails
@pytest.mark.parametrize("curve", CURVES)
def test_crps_in_all_its_forms(tail, curve):
    d, (row,) = both(TIMES, curve, tail)
    outcomes = [-2.0, 0.0, 0.4, 1.0, 2.0, 3.3, 7.0, 9.0]
    for y in outcomes:
        assert_allclose(d.crps(y), row.crps(y, y), rtol=1e-13, atol=1e-15)
        assert_allclose(d.crps(y, math.inf), row.crps(y, math.inf), rtol=1e-13, atol=1e-15)
        assert_allclose(d.crps(-math.inf, y), row.crps(-math.inf, y), rtol=1e-13, atol=1e-15)
    for y, u in itertools.combinations(outcomes, 2):
        assert_allclose(d.crps(y, u), row.crps(y, u), rtol=1e-13, atol=1e-15)
    assert_array_equal(d.crps(-math.inf, math.inf), 0.0)
    # Nothing was said about ever having the event: only a curve that says "never" is right about infinity.
    assert_array_equal(d.crps(math.inf), math.inf if row.never < 1 else 0.0)


def test_what_hold_means_for_the_rest():
    d = Step([1.0, 2.0], [[0.5, 0.2], [0.5, 0.0]], tail="hold")
    assert_array_equal(d.mean(), [math.inf, 1.5])
    assert_array_equal(d.variance(), [math.inf, 0.25])
    assert_array_equal(d.crps(1.5), [math.inf, 0.25 * 0.5 + 0.25 * 0.5])
    assert_array_equal(d.quantile([0.8, 0.81]), [[2.0, math.inf], [2.0, 2.0]])
    assert_array_equal(d.mean_residual_life([0.0, 2.0, 9.0]), [[math.inf] * 3, [1.5, 0.0, 0.0]])
    assert_array_equal(Step([1.0, 2.0], [0.5, 0.2], tail="drop").values, [[0.5, 0.0]])
    drawn = d.sample(4000, random_state=0)
    assert_allclose(np.isinf(drawn).mean(axis=1), [0.2, 0.0], atol=0.03)


@settings(max_examples=settings.default.max_examples * 4)
@given(data=st.data())
def test_random_grids_against_the_loops(data):
    m, n = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    per_row = data.draw(st.booleans())
    tail = data.draw(st.sampled_from(["hold", "drop"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = (n, m) if per_row else (m,)
    times = data.draw(st.sampled_from([-4.0, 0.0, 1.5])) + np.cumsum(rng.integers(1, 4, size=shape), axis=-1) - 1.0
    # Tenths make ties between rows, levels and curves.
    curves = -np.sort(-rng.integers(0, 11, size=(n, m)) / 10, axis=1)
    d, rows = both(times, curves, tail)
    where = np.concatenate([np.unique(times), rng.uniform(-6, 20, 5)])
    assert_array_equal(d.survival(where), [[row.survival(t) for t in where] for row in rows])
    levels = np.append(np.arange(1, 11) / 10, rng.uniform(size=3))
    assert_array_equal(d.quantile(levels), [[row.quantile(level) for level in levels] for row in rows])
    assert_allclose(d.mean(), [row.mean() for row in rows], rtol=1e-12, atol=1e-13)
    assert_allclose(d.variance(), [row.variance() for row in rows], rtol=1e-12, atol=1e-13)
    horizons = np.abs(where)
    expected = [[row.restricted_mean(h) for h in horizons] for row in rows]
    assert_allclose(d.restricted_mean(horizons), expected, rtol=1e-12, atol=1e-13)
    expected = [[row.mean_residual_life(t) for t in where] for row in rows]
    assert_allclose(d.mean_residual_life(where), expected, rtol=1e-11, atol=1e-13)
    expected = [[row.crps(t, t) for t in where] for row in rows]
    assert_allclose(d.crps(where), expected, rtol=1e-12, atol=1e-13)
    expected = [[row.crps(t, math.inf) for t in where] for row in rows]
    assert_allclose(d.crps(where, math.inf), expected, rtol=1e-12, atol=1e-13)
    modes = d.mode()
    for row, mode in zip(rows, modes, strict=True):
        assert row.masses[row.times.index(mode)] >= max(row.masses) - 1e-12


# ---- a grid for each row


def test_each_row_may_have_its_grid():
    times = [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [0.5, 2.0, 50.0]]
    curves = [[0.8, 0.4, 0.2], [0.8, 0.4, 0.2], [0.9, 0.5, 0.0]]
    d, rows = both(np.array(times), curves, "hold")
    where = [0.5, 1.0, 2.0, 10.0, 25.0, 60.0]
    assert_array_equal(d.survival(where), [[row.survival(t) for t in where] for row in rows])
    assert_array_equal(d.survival(np.array(times)), curves)
    assert_array_equal(d.quantile([0.2, 0.6]), [[1.0, 2.0], [10.0, 20.0], [2.0, 50.0]])
    # More values than grid times goes another way through the search.
    many = np.linspace(0, 60, 200)
    assert_array_equal(d.survival(many), [[row.survival(t) for t in many] for row in rows])
    assert_array_equal(d[1].survival(where), d.survival(where)[1:2])
    assert_array_equal(d[[2, 0]].survival(where), d.survival(where)[[2, 0]])
    assert_array_equal(d[1:].mean(), d.mean()[1:])


# ---- joining


def test_join_on_one_grid():
    a = Step([1.0, 2.0], [[0.5, 0.2]])
    b = Step([1.0, 2.0], [[0.9, 0.8], [0.7, 0.6]])
    joined = SurvivalDistribution.concatenate([a, b])
    assert joined.times.shape == (1, 2)
    assert_array_equal(joined.values, [[0.5, 0.2], [0.9, 0.8], [0.7, 0.6]])


@tails
def test_join_on_the_union_of_grids(tail):
    parts = [
        Step([1.0, 3.0], [[0.5, 0.2]], tail=tail),
        Step([2.0, 3.0, 4.0], [[0.9, 0.8, 0.1], [0.7, 0.6, 0.0]], tail=tail),
        Step([0.5], [[0.3]], tail=tail),
    ]
    joined = SurvivalDistribution.concatenate(parts)
    assert_array_equal(joined.times, [[0.5, 1.0, 2.0, 3.0, 4.0]])
    where = [0.0, 0.5, 0.7, 1.0, 2.0, 2.9, 3.0, 3.5, 4.0, 9.0]
    apart = [part.survival(where) for part in parts]
    assert_array_equal(joined.survival(where), np.concatenate(apart))
    assert_array_equal(joined.mean(), np.concatenate([part.mean() for part in parts]))
    assert_array_equal(joined.quantile([0.3, 0.9]), np.concatenate([part.quantile([0.3, 0.9]) for part in parts]))
    assert_allclose(joined.crps(2.5, math.inf), np.concatenate([part.crps(2.5, math.inf) for part in parts]))


def test_different_tails_cannot_be_joined():
    with pytest.raises(ParameterError, match="tails"):
        SurvivalDistribution.concatenate([Step([1.0], [0.5]), Step([1.0], [0.5], tail="drop")])


def test_grids_by_row_and_of_different_lengths_cannot_be_joined():
    by_row = Step([[1.0, 2.0], [1.0, 3.0]], [[0.5, 0.2], [0.6, 0.1]])
    with pytest.raises(ParameterError, match="grid of times for each row"):
        SurvivalDistribution.concatenate([by_row, Step([1.0, 2.0, 4.0], [[0.5, 0.2, 0.1]])])


def test_equal_grids_by_row_join_to_what_they_were():
    by_row = Step([[1.0, 2.0], [1.0, 3.0]], [[0.5, 0.2], [0.6, 0.1]])
    joined = SurvivalDistribution.concatenate([by_row, by_row])
    where = [0.5, 1.0, 2.0, 2.5, 3.0]
    assert_array_equal(joined.survival(where), np.tile(by_row.survival(where), (2, 1)))
    assert_array_equal(joined[3].times, [[1.0, 3.0]])


def test_blocks_of_grids_by_row_join_to_what_they_were():
    by_row = Step([[1.0, 2.0], [1.0, 3.0], [4.0, 5.0]], [[0.5, 0.2], [0.6, 0.1], [0.9, 0.4]])
    joined = SurvivalDistribution.concatenate(list(by_row.blocks(2)))
    where = [0.5, 1.0, 2.0, 2.5, 3.0, 4.5]
    assert_array_equal(joined.survival(where), by_row.survival(where))


def test_repeated_single_row_joins_with_another_grid():
    one = Step([1.0, 3.0], [0.5, 0.2])
    joined = SurvivalDistribution.concatenate([one[[0, 0]], Step([2.0, 4.0], [[0.9, 0.1]])])
    assert_array_equal(joined.survival([1.0, 2.0, 4.0]), [[0.5, 0.5, 0.2], [0.5, 0.5, 0.2], [1.0, 0.9, 0.1]])


# ---- between the times


def test_density_spreads_each_jump_over_the_stretch_before_it():
    d = Step([1.0, 3.0], [0.6, 0.1])
    assert_allclose(d.density([-0.5, 0.5, 1.0, 1.5, 3.0, 3.5]), [[0.0, 0.4, 0.4, 0.25, 0.25, 0.0]], rtol=1e-15)
    assert_allclose(d.hazard([0.5, 2.0]), [[0.4, 0.25 / 0.6]], rtol=1e-15)
    with np.errstate(divide="ignore"):
        assert_allclose(d.log_density([0.5, 9.0]), np.log([[0.4, 0.0]]), rtol=1e-15)


def test_smoothed_is_linear_between_the_times():
    times, curve = [1.0, 2.0, 4.0], [0.8, 0.5, 0.2]
    smooth = Step(times, curve).smoothed()
    where = np.linspace(0, 4, 81)
    assert_allclose(smooth.survival(where)[0], np.interp(where, [0.0, *times], [1.0, *curve]), rtol=1e-14)
    # Beyond the last time: exponential, with the density of the last stretch.
    assert_allclose(smooth.survival(7.0), 0.2 * math.exp(-3.0 * (0.15 / 0.2)), rtol=1e-14)
    assert_allclose(smooth.density([3.0, 4.0 + 1e-12]), 0.15, rtol=1e-10)
    assert math.isfinite(smooth.mean()[0])
    assert_allclose(Step(times, curve).density([0.5, 1.7, 3.3]), smooth.density([0.5, 1.7, 3.3]), rtol=1e-14)


def test_smoothed_rows_and_tails():
    d = Step([1.0, 2.0], [[0.8, 0.5], [0.6, 0.0]], tail="hold")
    smooth = d.smoothed()
    assert len(smooth) == 2
    assert_allclose(smooth.survival([0.5, 1.5]), [[0.9, 0.65], [0.8, 0.3]], rtol=1e-14)
    assert_allclose(smooth.survival(2.5)[1], 0.0, atol=1e-300)
    assert_allclose(smooth[1].mean(), 0.4 * 0.5 + 0.6 * 1.5, rtol=1e-13)
    dropped = Step([1.0, 2.0], [0.8, 0.5], tail="drop").smoothed()
    assert_allclose(dropped.survival([1.5, 2.0, 3.0]), [[0.4, 0.0, 0.0]], atol=1e-15)
    assert_array_equal(dropped.quantile(1.0), 2.0)


def test_smoothed_with_flat_stretches():
    # Nothing happens between 1 and 2, nor after 3.
    smooth = Step([1.0, 2.0, 3.0, 4.0], [0.5, 0.5, 0.25, 0.25]).smoothed()
    assert_allclose(smooth.survival([1.0, 1.5, 2.0, 2.5, 3.5]), [[0.5, 0.5, 0.5, 0.375, 0.25]], rtol=1e-14)
    assert_array_equal(smooth.density([1.5, 3.5]), 0.0)
    assert_allclose(smooth.quantile([0.25, 0.6]), [[0.5, 2.4]], rtol=1e-14)
    assert smooth.survival(1e9)[0] < 1e-6  # the tail still comes to an end
    # A level that is held over a stretch is reached where the stretch begins.
    assert_array_equal(smooth.median(), 1.0)


# ---- where the grid begins


def test_a_grid_that_begins_at_zero():
    d = Step([0.0, 1.0], [0.9, 0.4])
    assert_array_equal(d.survival([-1e-9, 0.0, 0.5, 1.0]), [[1.0, 0.9, 0.9, 0.4]])
    assert_array_equal(d.probability_negative(), 0.0)
    assert_allclose(d.restricted_mean(1.0), 0.9)
    assert_array_equal(d.quantile([0.05, 0.1, 0.2]), [[0.0, 0.0, 1.0]])
    assert_array_equal(Step([0.0, 1.0], [0.9, 0.4], tail="drop").mean(), 0.9)
    # A grid step wide, as the next one.
    assert_allclose(d.density([-0.5, 0.5]), [[0.1, 0.5]], rtol=1e-14)
    assert_array_equal(d.smoothed().survival([-1.0, -0.5, 0.0]), [[1.0, 0.95, 0.9]])


def test_a_grid_that_begins_before_zero():
    d = Step([-2.0, 1.0], [0.75, 0.0])
    assert_array_equal(d.probability_negative(), 0.25)
    assert_array_equal(d.survival([-3.0, -2.0, 0.0]), [[1.0, 0.75, 0.75]])
    assert_array_equal(d.mean(), -2.0 * 0.25 + 0.75)
    assert_array_equal(d.restricted_mean([0.5, 3.0]), [[0.375, 0.75]])
    assert_array_equal(d.mean_residual_life([-4.0, -2.0]), [[4.25, 3.0]])
    assert_array_equal(d.crps([-4.0, 0.0]), [[2.0 + 3 * 0.75**2, 2 * 0.25**2 + 0.75**2]])
    assert_array_equal(d.conditional(0.0).survival([0.0, 0.5, 1.0]), [[1.0, 1.0, 0.0]])


@pytest.mark.parametrize("time", [-3.0, 0.0, 5.0])
def test_a_single_time(time):
    d = Step([time], [0.25])
    assert_array_equal(d.survival([time - 1, time, time + 1]), [[1.0, 0.25, 0.25]])
    assert_array_equal(d.quantile([0.5, 0.75, 0.8]), [[time, time, math.inf]])
    certain = Step([time], [0.25], tail="drop")
    assert_array_equal(certain.mean(), time)
    assert_array_equal(certain.variance(), 0.0)
    assert_array_equal(certain.mode(), time)
    assert_array_equal(certain.crps([time - 2, time, time + 3]), [[2.0, 0.0, 3.0]])
    assert_allclose(d.density(time), 0.75 / (5.0 if time == 5.0 else 1.0), rtol=1e-14)


def test_scaled_and_shifted_stay_steps():
    d = Step([1.0, 2.0], [[0.5, 0.2], [0.9, 0.0]])
    scaled = d.scaled([2.0, 10.0])
    assert isinstance(scaled, Step)
    assert_array_equal(scaled.times, [[2.0, 4.0], [10.0, 20.0]])
    assert_array_equal(scaled.median(), [2.0, 20.0])
    moved = d.shifted(-1.5)
    assert_array_equal(moved.times, [[-0.5, 0.5]])
    assert_array_equal(moved.survival(0.0), [0.5, 0.9])


# ---- what cannot be a step function


@pytest.mark.parametrize(
    ("times", "survival", "words"),
    [
        ([1.0, 2.0, 3.0], [[0.9, 0.5, 0.2], [0.9, 0.5, 0.6]], ["survival", "rise", "row 1", "column 2", "0.6"]),
        ([1.0, 2.0], [[0.5, 1.2]], ["survival", "between 0 and 1", "row 0", "column 1", "1.2"]),
        ([1.0, 2.0], [[0.5, -0.1]], ["survival", "between 0 and 1", "column 1", "-0.1"]),
        ([1.0, 2.0], [[0.5, np.nan], [0.5, 0.2]], ["survival", "finite", "row 0", "column 1", "nan"]),
        ([1.0, 2.0], [[np.inf, 0.2]], ["survival", "finite", "inf"]),
        ([2.0, 1.0], [[0.5, 0.2]], ["times", "increasing", "column 1"]),
        ([1.0, 1.0], [[0.5, 0.2]], ["times", "increasing"]),
        ([[1.0, 2.0], [3.0, 2.0]], [[0.5, 0.2], [0.5, 0.2]], ["times", "increasing", "row 1", "column 1"]),
        ([1.0, np.nan], [[0.5, 0.2]], ["times", "finite", "nan"]),
        ([1.0, np.inf], [[0.5, 0.2]], ["times", "finite", "inf"]),
        ([1.0, 2.0, 3.0], [[0.5, 0.2]], ["times", "shape", "(2,)", "(3,)"]),
        ([[1.0, 2.0]] * 3, [[0.5, 0.2]] * 2, ["times", "shape", "(2, 2)", "(3, 2)"]),
        (1.0, [[0.5]], ["times", "shape"]),
        ([], [[]], ["survival", "shape"]),
        ([1.0], [[[0.5]]], ["survival", "shape", "(1, 1, 1)"]),
        ([1.0], 0.5, ["survival", "shape"]),
        ([1.0, 2.0], [[0.5, 0.2], [0.5]], ["survival", "numbers", "one length"]),
        ([1.0, 2.0], ["high", "low"], ["survival", "numbers"]),
        (["early", "late"], [0.5, 0.2], ["times", "numbers"]),
        ([[1.0, 2.0], [1.0]], [[0.5, 0.2]] * 2, ["times"]),
    ],
)
def test_messages_name_what_was_found(times, survival, words):
    with pytest.raises(ParameterError) as caught:
        Step(times, survival)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("tail", ["keep", "HOLD", "", None, 3])
def test_unknown_tails(tail):
    with pytest.raises(ParameterError, match="'hold' or 'drop'") as caught:
        Step([1.0], [0.5], tail=tail)
    assert repr(tail) in str(caught.value)


def test_rises_of_rounding_size_are_levelled():
    d = Step([1.0, 2.0, 3.0, 4.0], [[1.0 + 1e-12, 0.5, 0.5 + 1e-12, -1e-12]])
    assert np.all(np.diff(d.values) <= 0)
    assert d.values.min() >= 0
    assert d.values.max() <= 1
    assert_allclose(d.values, [[1.0, 0.5, 0.5, 0.0]], atol=1e-11)
    assert_array_equal(d.mean() < math.inf, True)


def test_neither_argument_is_aliased_nor_changed():
    times, survival = np.array([1.0, 2.0]), np.array([[0.5, 0.2]])
    d = Step(times, survival, tail="drop")
    assert_array_equal(survival, [[0.5, 0.2]])
    times[0], survival[0, 0] = -99.0, 0.9
    assert_array_equal(d.survival([0.5, 1.0, 2.0]), [[1.0, 0.5, 0.0]])
