"""Mixtures against sums over scipy's distributions, root searches and quadrature by scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, optimize, stats

from aldsurv.distributions import (
    AsymmetricLaplace,
    Exponential,
    LogAsymmetricLaplace,
    LogNormal,
    Mixture,
    Normal,
    PositiveAsymmetricLaplace,
    QuantileKnots,
    Step,
    SurvivalDistribution,
    Weibull,
)
from aldsurv.errors import ParameterError

SQRT2 = math.sqrt(2.0)


class Jumps:
    """A step function as scipy would have it."""

    def __init__(self, times, survival) -> None:
        self.times, self.curve = np.asarray(times), np.append(1.0, survival)

    def sf(self, t):
        return self.curve[np.searchsorted(self.times, t, side="right")]

    def cdf(self, t):
        return 1 - self.sf(t)


class Lines:
    """Straight lines through quantiles, all positive, and an exponential tail."""

    def __init__(self, levels, quantiles) -> None:
        self.levels, self.times = np.append(0.0, levels), np.append(0.0, quantiles)
        self.rest = 1 - levels[-1]
        self.rate = (levels[-1] - levels[-2]) / (quantiles[-1] - quantiles[-2]) / self.rest

    def sf(self, t):
        beyond = np.clip(np.asarray(t) - self.times[-1], 0.0, None)
        inner = 1 - np.interp(t, self.times, self.levels)
        return np.where(beyond > 0, self.rest * np.exp(-self.rate * beyond), inner)

    def cdf(self, t):
        beyond = np.clip(np.asarray(t) - self.times[-1], 0.0, None)
        return np.where(beyond > 0, 1 - self.rest * np.exp(-self.rate * beyond), np.interp(t, self.times, self.levels))


class OfLogTime:
    """``exp(Y)`` for a distribution of scipy's."""

    def __init__(self, log) -> None:
        self.log = log

    def _at(self, method, t, outside):
        t = np.asarray(t, dtype=float)
        with np.errstate(over="ignore"):
            return np.where(t > 0, getattr(self.log, method)(np.log(np.where(t > 0, t, 1.0))), outside)

    def sf(self, t):
        return self._at("sf", t, 1.0)

    def cdf(self, t):
        return self._at("cdf", t, 0.0)

    def pdf(self, t):
        return self._at("pdf", t, 0.0) / np.where(np.asarray(t) > 0, t, 1.0)


def ald(theta, sigma, kappa):
    return AsymmetricLaplace(theta, sigma, kappa), stats.laplace_asymmetric(kappa, loc=theta, scale=sigma / SQRT2)


def log_ald(theta, sigma, kappa):
    log = stats.laplace_asymmetric(kappa, loc=theta, scale=sigma / SQRT2)
    return LogAsymmetricLaplace(theta, sigma, kappa), OfLogTime(log)


def normal(mu, sigma):
    return Normal(mu, sigma), stats.norm(mu, sigma)


def log_normal(mu, sigma):
    return LogNormal(mu, sigma), stats.lognorm(sigma, scale=math.exp(mu))


def weibull(scale, shape):
    return Weibull(scale, shape), stats.weibull_min(shape, scale=scale)


def exponential(scale):
    return Exponential(scale), stats.expon(scale=scale)


def step(times, survival):
    return Step(times, survival), Jumps(times, survival)


def knots(levels, quantiles):
    return QuantileKnots(levels, [quantiles]), Lines(np.array(levels), np.array(quantiles))


class Sum:
    """The mixture of scipy's distributions, one term after another."""

    def __init__(self, parts, weights) -> None:
        self.parts, self.weights = parts, np.asarray(weights, dtype=float) / math.fsum(weights)

    def _sum(self, method, t):
        with np.errstate(over="ignore"):
            return sum(w * getattr(p, method)(t) for p, w in zip(self.parts, self.weights, strict=True) if w > 0)

    def sf(self, t):
        return self._sum("sf", t)

    def cdf(self, t):
        return self._sum("cdf", t)

    def pdf(self, t):
        return self._sum("pdf", t)


def both(pairs, weights):
    return Mixture([ours for ours, _ in pairs], weights), Sum([theirs for _, theirs in pairs], weights)


SMOOTH = {
    "two normals": ([normal(0.0, 1.0), normal(5.0, 2.0)], [0.3, 0.7]),
    "asymmetric Laplace": ([ald(2.0, 1.0, 0.5), ald(6.0, 3.0, 2.0), ald(2.5, 0.1, 1.0)], [0.2, 0.5, 0.3]),
    "positive": ([weibull(3.0, 0.7), log_normal(1.0, 0.5), exponential(10.0)], [1.0, 1.0, 2.0]),
    "real and positive": ([normal(2.0, 4.0), weibull(3.0, 2.0)], [0.5, 0.5]),
    "heavy": ([log_ald(0.5, 1.0, 0.9), log_normal(0.0, 2.0)], [0.6, 0.4]),
}
SHAPES = pytest.mark.parametrize("name", list(SMOOTH))
LEVELS = np.array([1e-12, 1e-6, 0.01, 0.2, 0.5, 0.77, 0.99, 1 - 1e-6, 1 - 1e-12])


@SHAPES
def test_functions_of_time_are_sums(name):
    d, reference = both(*SMOOTH[name])
    times = d.quantile(LEVELS)[0]
    assert_allclose(d.survival(times)[0], reference.sf(times), rtol=1e-11)
    assert_allclose(d.cdf(times)[0], reference.cdf(times), rtol=1e-11)
    assert_allclose(d.density(times)[0], reference.pdf(times), rtol=1e-11)
    assert_allclose(d.log_survival(times)[0], np.log(reference.sf(times)), rtol=1e-11, atol=1e-15)
    assert_allclose(d.log_cdf(times)[0], np.log(reference.cdf(times)), rtol=1e-11, atol=1e-15)
    assert_allclose(d.log_density(times)[0], np.log(reference.pdf(times)), rtol=1e-11, atol=1e-13)
    assert_allclose(d.hazard(times)[0], reference.pdf(times) / reference.sf(times), rtol=1e-10)
    assert_allclose(d.probability(times[:-1], times[1:])[0], np.diff(reference.cdf(times)), rtol=1e-9, atol=1e-15)


def test_logarithms_far_beyond_underflow():
    d = Mixture([Exponential(1.0), Exponential(2.0)], [0.75, 0.25])
    assert_allclose(d.log_survival(1e5), math.log(0.25) - 5e4, rtol=1e-14)
    # Near 1 the logarithm keeps its digits.
    assert_allclose(d.log_survival(1e-15), -1e-15 * (0.75 + 0.125), rtol=1e-12)
    real = Mixture([AsymmetricLaplace(0.0, 1.0, 1.0), AsymmetricLaplace(1.0, 1.0, 1.0)])
    assert_allclose(real.log_cdf(-1e4), math.log(0.25 * (1 + math.exp(-SQRT2))) - 1e4 * SQRT2, rtol=1e-12)


# ---- quantiles


def root(reference, level, low, high):
    """Quantile by scipy's root search on the logarithm of whichever probability is the smaller one."""
    method, target = ("cdf", level) if level < 0.5 else ("sf", 1 - level)

    def miss(t):
        return math.log(getattr(reference, method)(t)) - math.log(target)

    if low > 0:
        return math.exp(optimize.brentq(lambda y: miss(math.exp(y)), math.log(low), math.log(high), rtol=1e-15))
    return optimize.brentq(miss, low, high, xtol=1e-300, rtol=1e-15)


@SHAPES
@pytest.mark.parametrize("level", LEVELS)
def test_quantiles_against_a_root_search(name, level):
    d, reference = both(*SMOOTH[name])
    alone = [float(part.quantile(level)[0]) for part in d.components]
    expected = root(reference, level, min(alone) - 1e-9 * abs(min(alone)), max(alone) + 1e-9 * abs(max(alone)))
    found = float(d.quantile(level)[0])
    size = float(d.quantile(0.75)[0] - d.quantile(0.25)[0]) if min(alone) < 0 else 0.0
    # Where the curve is flat, the last digit of the probability is worth more than one of the time.
    slack = 4e-16 * min(level, 1 - level) / float(reference.pdf(expected))
    assert abs(found - expected) <= 1e-12 * (abs(expected) + size) + slack


def assert_is_quantile(d, reference, level, found):
    """The cdf has not reached the level just before ``found`` and has just after."""
    if math.isinf(found):
        assert reference.sf(1e290) > (1 - level) * (1 - 1e-12)
        return
    little = 1e-12 * (abs(found) + 1.0)
    before, after = found - little, found + little
    assert reference.cdf(before) <= level * (1 + 1e-11) + 4e-16
    assert reference.cdf(after) >= level * (1 - 1e-11) - 4e-16
    assert reference.sf(after) <= (1 - level) * (1 + 1e-11) + 4e-16


def random_pair(rng):
    family = rng.integers(8)
    place, size, skew = rng.uniform(-2, 12), math.exp(rng.uniform(-2, 1)), math.exp(rng.uniform(-1, 1))
    if family == 0:
        return ald(place, size, skew)
    if family == 1:
        return normal(place, size)
    if family == 2:
        return log_normal(place / 4, size)
    if family == 3:
        return weibull(1 + abs(place), skew)
    if family == 4:
        return exponential(size)
    if family == 5:
        return log_ald(place / 4, size / 2, skew)
    m = rng.integers(2, 6)
    times = np.cumsum(rng.gamma(1.0, 2.0, m) + 0.1)
    if family == 6:
        return step(times, -np.sort(-rng.uniform(size=m)))
    return knots(list(np.sort(rng.choice(np.arange(1, 100), m, replace=False)) / 100), times)


@settings(max_examples=settings.default.max_examples * 2)
@given(seed=st.integers(0, 2**32 - 1), level=st.floats(1e-9, 1 - 1e-9))
def test_quantiles_of_random_mixtures_of_every_family(seed, level):
    rng = np.random.default_rng(seed)
    pairs = [random_pair(rng) for _ in range(rng.integers(1, 5))]
    weights = rng.dirichlet(np.ones(len(pairs)))
    d, reference = both(pairs, weights)
    for q in (level, 1e-12, 0.5, 1 - 1e-12):
        assert_is_quantile(d, reference, q, float(d.quantile(q)[0]))


def test_quantiles_on_jumps_and_flat_stretches():
    d, reference = both([step([1.0, 2.0, 5.0], [0.8, 0.4, 0.0]), step([1.5, 2.0], [0.5, 0.0])], [0.5, 0.5])
    # Atoms: 0.1 at 1, 0.25 at 1.5, 0.2 + 0.25 at 2, 0.2 at 5.
    levels = [0.05, 0.09, 0.11, 0.34, 0.36, 0.79, 0.81, 0.999, 1.0]
    assert_allclose(d.quantile(levels)[0], [1.0, 1.0, 1.5, 1.5, 2.0, 2.0, 5.0, 5.0, 5.0], rtol=1e-14)
    for level in levels[:-1]:
        assert_is_quantile(d, reference, level, float(d.quantile(level)[0]))


def test_quantiles_that_are_never_reached():
    d = Mixture([Step([1.0, 2.0], [0.6, 0.4]), Exponential(1.0)], [0.5, 0.5])
    assert_array_equal(np.isinf(d.quantile([0.5, 0.79, 0.81, 0.9, 1.0])), [[False, False, True, True, True]])
    time = float(d.quantile(0.79)[0])
    assert_allclose(0.5 * 0.4 + 0.5 * math.exp(-time), 0.21, rtol=1e-12)
    assert_array_equal(d.mean(), math.inf)
    assert_allclose(np.isinf(d.sample(5000, random_state=0)).mean(), 0.2, atol=0.03)


def test_extreme_quantiles_where_components_differ_by_orders_of_magnitude():
    d, reference = both([weibull(1.0, 0.05), weibull(1.0, 0.06), exponential(1e6)], [0.3, 0.3, 0.4])
    for level in (1e-12, 1e-6, 0.01, 0.4, 0.9, 1 - 1e-9):
        found = float(d.quantile(level)[0])
        alone = [float(part.quantile(level)[0]) for part in d.components]
        expected = root(reference, level, 0.9 * min(alone), 1.1 * max(alone))
        assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("far", [1000.0, 1e5])
def test_quantiles_around_a_flat_valley(far):
    # In the middle of the wider one the density is nothing at all.
    d, reference = both([ald(0.0, 1.0, 1.0), ald(far, 1.0, 0.5)], [0.25, 0.75])
    for level in (1e-9, 0.1, 0.2499, 0.25 - 1e-9, 0.25 + 1e-9, 0.2501, 0.5, 1 - 1e-9):
        assert_is_quantile(d, reference, level, float(d.quantile(level)[0]))
    assert d.quantile(0.25 - 1e-9)[0] < 20
    assert far - 20 < d.quantile(0.25 + 1e-9)[0] < far
    assert 0 < d.quantile(0.25)[0] < far


def test_areas_over_a_flat_valley():
    d = Mixture([AsymmetricLaplace(0.0, 1.0, 1.0), AsymmetricLaplace(1000.0, 1.0, 0.5)], [0.25, 0.75])
    assert_allclose(d.mean(), 0.75 * (1000.0 + 1.5 / SQRT2), rtol=1e-13)
    assert_allclose(d.survival(500.0), 0.75, rtol=1e-15)
    assert d.density(500.0)[0] < 1e-150
    # F is a quarter all over it.
    assert_allclose(d.crps(900.0, math.inf) - d.crps(100.0, math.inf), 800 / 16, rtol=1e-9)
    assert_allclose(d.crps(-math.inf, 100.0) - d.crps(-math.inf, 900.0), 800 * 0.75**2, rtol=1e-9)
    assert_allclose(d.restricted_mean(900.0) - d.restricted_mean(100.0), 600.0, rtol=1e-12)


# ---- moments


@SHAPES
def test_moments_are_those_of_the_sum(name):
    pairs, weights = SMOOTH[name]
    d, reference = both(pairs, weights)
    if name == "heavy":
        right = 1.0 / (0.9 * SQRT2)
        left = 0.9 / SQRT2
        means = [math.exp(0.5) / ((1 + left) * (1 - right)), math.exp(2.0)]
        assert_allclose(d.mean(), np.dot(reference.weights, means), rtol=1e-12)
        assert_array_equal(d.variance(), math.inf)
        return
    means = np.array([theirs.mean() for _, theirs in pairs])
    variances = np.array([theirs.var() for _, theirs in pairs])
    mean = np.dot(reference.weights, means)
    assert_allclose(d.mean(), mean, rtol=1e-12)
    assert_allclose(d.variance(), np.dot(reference.weights, variances + (means - mean) ** 2), rtol=1e-11)


def test_infinite_components():
    heavy = LogAsymmetricLaplace(0.0, 3.0, 1.0)
    no_variance = LogAsymmetricLaplace(0.0, 1.0, 1.0)
    light = Exponential(2.0)
    assert_array_equal(Mixture([heavy, light]).mean(), math.inf)
    assert_array_equal(Mixture([heavy, light]).variance(), math.inf)
    assert_array_equal(Mixture([heavy, light]).mean_residual_life([0.0, 5.0]), math.inf)
    assert np.all(np.isfinite(Mixture([heavy, light]).restricted_mean([1.0, 1e6])))
    assert math.isfinite(Mixture([no_variance, light]).mean()[0])
    assert_array_equal(Mixture([no_variance, light]).variance(), math.inf)
    assert_array_equal(Mixture([heavy, heavy]).crps([0.5, 4.0]), math.inf)


NOT_COUNTED = pytest.mark.parametrize(
    "other",
    [
        LogAsymmetricLaplace(0.0, 3.0, 1.0),
        Step([1.0, 2.0], [0.5, 0.2]),
        Weibull(1.0, 0.5),
        Normal(-50.0, 1.0),
    ],
    ids=repr,
)


@NOT_COUNTED
@pytest.mark.parametrize("method", ["survival", "cdf", "density", "log_survival", "log_cdf", "log_density", "hazard"])
def test_a_component_of_weight_zero_does_not_count_at_any_time(other, method):
    d, light = Mixture([other, Exponential(2.0)], [0.0, 1.0]), Exponential(2.0)
    times = [0.0, 0.7, 3.0, 40.0]
    assert_allclose(getattr(d, method)(times), getattr(light, method)(times), rtol=1e-12)


@NOT_COUNTED
def test_a_component_of_weight_zero_does_not_count_in_moments_and_quantiles(other):
    d, light = Mixture([other, Exponential(2.0)], [0.0, 1.0]), Exponential(2.0)
    times = [0.0, 0.7, 3.0, 40.0]
    for method in ("mean", "variance", "median"):
        assert_allclose(getattr(d, method)(), getattr(light, method)(), rtol=1e-12, err_msg=method)
    assert_allclose(d.quantile(LEVELS), light.quantile(LEVELS), rtol=1e-11)
    assert_allclose(d.mean_residual_life(times), light.mean_residual_life(times), rtol=1e-12)
    assert_allclose(d.restricted_mean(times), light.restricted_mean(times), rtol=1e-12)


@NOT_COUNTED
def test_a_component_of_weight_zero_does_not_count_in_the_crps(other):
    d, light = Mixture([other, Exponential(2.0)], [0.0, 1.0]), Exponential(2.0)
    times = [0.0, 0.7, 3.0, 40.0]
    assert_allclose(d.crps(times), light.crps(times), rtol=1e-9)
    assert_allclose(d.crps(times, math.inf), light.crps(times, math.inf), rtol=1e-9, atol=1e-14)


# ---- areas


def area(function, *places):
    return sum(
        integrate.quad(function, a, b, epsabs=1e-13, epsrel=1e-11, limit=400)[0]
        for a, b in itertools.pairwise(sorted(set(places)))
    )


@SHAPES
def test_restricted_mean_and_residual_life_against_quadrature(name):
    d, reference = both(*SMOOTH[name])
    inner = list(d.quantile([0.05, 0.25, 0.5, 0.75, 0.95])[0]) + [
        float(p._kinks()[0, 0]) for p in d.components if p._kinks().size
    ]
    for horizon in (0.5, 4.0, 30.0):
        counted = area(reference.sf, 0.0, horizon, *(p for p in inner if 0 < p < horizon))
        assert_allclose(d.restricted_mean(horizon), counted, rtol=1e-9)
    if name != "heavy":
        far = float(d.quantile(1 - 1e-15)[0])
        for since in (-1.0, 0.0, 2.0, float(d.quantile(0.99)[0])):
            counted = area(reference.sf, since, far, *(p for p in inner if since < p < far))
            assert_allclose(d.mean_residual_life(since), counted / reference.sf(since), rtol=1e-7)


def test_residual_life_far_in_the_tail_is_that_of_the_longest_lived():
    d = Mixture([Exponential(1.0), Exponential(3.0), Normal(0.0, 1.0)], [0.9, 0.05, 0.05])
    assert_allclose(d.mean_residual_life([2000.0, 1e5]), 3.0, rtol=1e-12)
    alive = 0.9 * math.exp(-20.0), 0.05 * math.exp(-20.0 / 3)
    assert_allclose(d.mean_residual_life(20.0), (alive[0] * 1 + alive[1] * 3) / sum(alive), rtol=1e-12)


def normal_mixture_crps(mus, sigmas, weights, y):
    """Grimit, Gneiting, Berrocal and Johnson 2006."""

    def a(mu, sigma):
        return 2 * sigma * stats.norm.pdf(mu / sigma) + mu * (2 * stats.norm.cdf(mu / sigma) - 1)

    first = sum(w * a(y - m, s) for w, m, s in zip(weights, mus, sigmas, strict=True))
    terms = itertools.product(zip(weights, mus, sigmas, strict=True), repeat=2)
    return first - sum(wi * wj * a(mi - mj, math.hypot(si, sj)) for (wi, mi, si), (wj, mj, sj) in terms) / 2


@pytest.mark.parametrize(
    ("mus", "sigmas", "weights"),
    [
        ([0.0, 1.0], [1.0, 1.0], [0.5, 0.5]),
        ([0.0, 10.0, 11.0], [1.0, 0.1, 3.0], [0.2, 0.3, 0.5]),
        ([0.0, 100.0], [1e-2, 1e-2], [0.1, 0.9]),
        ([0.0, 1.0], [1e-3, 1.0], [0.5, 0.5]),
        ([5.0], [0.01], [1.0]),
    ],
)
@pytest.mark.parametrize("y", [-100.0, -1.0, 0.0, 0.5, 10.0, 99.0, 300.0])
def test_crps_of_normals_against_the_published_formula(mus, sigmas, weights, y):
    d = Mixture([Normal(m, s) for m, s in zip(mus, sigmas, strict=True)], weights)
    assert_allclose(d.crps(y), normal_mixture_crps(mus, sigmas, weights, y), rtol=2e-6)


@SHAPES
def test_crps_in_all_its_forms_against_quadrature(name):
    d, reference = both(*SMOOTH[name])
    grid = d.quantile([1e-14, 1e-9, 1e-5, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-5, 1 - 1e-9])[0]
    kinks = [float(p._kinks()[0, 0]) for p in d.components if p._kinks().size]
    bottom = float(max(grid[0], d._lower()[0, 0]))
    if name == "heavy":
        bottom, top = 0.0, 0.0
    else:
        top = float(d.quantile(1 - 1e-15)[0])
    places = [*grid, *kinks, 0.0]

    def before(y):
        return area(lambda t: float(reference.cdf(t)) ** 2, bottom, y, *(p for p in places if bottom < p < y))

    def after(y):
        if top:
            return area(lambda t: float(reference.sf(t)) ** 2, y, top, *(p for p in places if y < p < top))
        logs = [math.log(y), 40.0, *(math.log(p) for p in places if p > y)]
        return area(lambda s: math.exp(s) * float(reference.sf(math.exp(s))) ** 2, *logs)

    for low, high in itertools.pairwise(d.quantile([0.05, 0.4, 0.8])[0]):
        assert_allclose(d.crps(low), before(low) + after(low), rtol=1e-7)
        assert_allclose(d.crps(low, math.inf), before(low), rtol=1e-7, atol=1e-11)
        assert_allclose(d.crps(-math.inf, low), after(low), rtol=1e-7)
        assert_allclose(d.crps(low, high), before(low) + after(high), rtol=1e-7)
    assert_array_equal(d.crps(-math.inf, math.inf), 0.0)


def test_crps_of_an_outcome_that_never_comes_is_infinite():
    assert_array_equal(Mixture([Exponential(1.0), Normal(3.0, 1.0)]).crps(math.inf), math.inf)


def test_crps_of_steps_is_a_sum_over_stretches():
    d = Mixture([Step([1.0, 2.0], [0.5, 0.0]), Step([1.5, 3.0], [0.8, 0.0])], [0.5, 0.5])
    # The cdf is 0.25 from 1, 0.35 from 1.5, 0.6 from 2, 1 from 3.
    assert_allclose(d.crps(1.5), 0.5 * 0.25**2 + 0.5 * 0.65**2 + 0.4**2, rtol=1e-10)
    assert_allclose(d.crps(5.0, math.inf), 0.5 * 0.25**2 + 0.5 * 0.35**2 + 0.6**2 + 2.0, rtol=1e-10)
    assert_allclose(d.crps(0.0), 1.0 + 0.5 * 0.75**2 + 0.5 * 0.65**2 + 0.4**2, rtol=1e-10)


def test_crps_where_some_never_have_the_event_is_infinite():
    d = Mixture([Step([1.0, 2.0], [0.5, 0.2]), Exponential(1.0)])
    assert_array_equal(d.crps([0.5, 1.5, 3.0]), math.inf)
    # What comes before the outcome still counts.
    counted = area(lambda t: (0.5 * (0.5 * (t >= 1) + 0.3 * (t >= 2)) + 0.5 * -math.expm1(-t)) ** 2, 0.0, 1.0, 2.0, 3.0)
    assert_allclose(d.crps(3.0, math.inf), counted, rtol=1e-9)


def test_crps_of_an_outcome_far_before_all_components():
    # F there is below the smallest number: what it adds is nothing.
    parts = [AsymmetricLaplace(100.0, 2.0, 0.05), AsymmetricLaplace(101.0, 2.0, 0.05)]
    d = Mixture(parts)
    assert_allclose(d.crps(40.0) - d.crps(90.0), 50.0, rtol=1e-9)
    assert_allclose(d.crps([40.0, 0.0], math.inf), 0.0, atol=1e-300)
    normals = Mixture([Normal(0.0, 1.0), Normal(1.0, 1.0)])
    assert_allclose(normals.crps(-60.0), normal_mixture_crps([0.0, 1.0], [1.0, 1.0], [0.5, 0.5], -60.0), rtol=1e-9)


# ---- the rest of the interface


def test_mode_of_two_peaks_is_the_higher():
    d = Mixture([AsymmetricLaplace(1.0, 1.0, 1.0), AsymmetricLaplace(20.0, 0.5, 1.0)], [0.6, 0.4])
    assert_allclose(d.mode(), 20.0, rtol=1e-9)
    narrow = Mixture([Normal(0.0, 1.0), Normal(3.0, 1e-4)], [0.99, 0.01])
    assert_allclose(narrow.mode(), 3.0, atol=1e-6)


@pytest.mark.parametrize("place", [0.0, 0.5, -7.0])
@pytest.mark.parametrize("distance", [2.5, 4.0])
def test_mode_of_overlapping_peaks_lies_between_them(place, distance):
    d = Mixture([Normal(place, 1.0), Normal(place + distance, 1.0)], [0.6, 0.4])
    found = optimize.minimize_scalar(
        lambda t: -0.6 * stats.norm.pdf(t, place) - 0.4 * stats.norm.pdf(t, place + distance),
        bounds=(place - 0.5, place + 1.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert_allclose(d.mode(), found.x, atol=1e-6)


@SHAPES
def test_conditional_is_the_mixture_of_those_still_event_free(name):
    d, reference = both(*SMOOTH[name])
    since = float(d.quantile(0.6)[0])
    later = d.conditional(since)
    times = d.quantile([0.6, 0.7, 0.9, 0.999])[0]
    assert_allclose(later.survival(times)[0], reference.sf(times) / reference.sf(since), rtol=1e-10)
    assert_allclose(later.density(times[1:])[0], reference.pdf(times[1:]) / reference.sf(since), rtol=1e-10)
    assert_array_equal(later.survival([since - 1.0, since]), 1.0)
    levels = np.array([0.1, 0.5, 0.9])
    expected = [
        root(reference, 1 - reference.sf(since) * (1 - q), since, float(d.quantile(1 - 1e-9)[0])) for q in levels
    ]
    assert_allclose(later.quantile(levels)[0], expected, rtol=1e-8)
    assert_allclose(later.mean(), since + d.mean_residual_life(since), rtol=1e-9)


def test_weights_by_row_and_slices():
    parts = [Exponential([1.0, 2.0, 3.0]), Weibull([4.0, 5.0, 6.0], 2.0)]
    weights = np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 3.0]])
    d = Mixture(parts, weights)
    expected = [1.0, 0.5 * 2 + 0.5 * 5 * math.gamma(1.5), 0.25 * 3 + 0.75 * 6 * math.gamma(1.5)]
    assert_allclose(d.mean(), expected, rtol=1e-13)
    assert_allclose(d[[2, 0]].mean(), [expected[2], expected[0]], rtol=1e-13)
    assert_allclose(d[1].survival(2.0), 0.5 * math.exp(-1.0) + 0.5 * math.exp(-4 / 25), rtol=1e-13)
    joined = SurvivalDistribution.concatenate([d[1:], d[:1]])
    assert_allclose(joined.quantile([0.1, 0.9]), d.quantile([0.1, 0.9])[[1, 2, 0]], rtol=1e-12)
    assert_allclose(d.scaled([2.0, 3.0, 4.0]).median(), d.median() * [2.0, 3.0, 4.0], rtol=1e-12)
    assert_allclose(d.shifted(-1.0).median(), d.median() - 1.0, rtol=1e-12)
    assert len(d[:0]) == 0
    assert d[:0].survival([1.0, 2.0]).shape == (0, 2)


def test_weights_are_divided_by_their_sum_and_equal_by_default():
    parts = [Exponential(1.0), Exponential(5.0)]
    assert_allclose(Mixture(parts).mean(), 3.0)
    assert_allclose(Mixture(parts, [3, 1]).mean(), 2.0)
    assert_allclose(Mixture(parts, [3e-200, 1e-200]).mean(), 2.0)
    assert_array_equal(Mixture(parts, [30, 10]).weights, [[0.75, 0.25]])
    given_weights = np.array([1.0, 1.0])
    d = Mixture(parts, given_weights)
    given_weights[:] = [1.0, 0.0]
    assert_allclose(d.mean(), 3.0)


def test_a_mixture_of_mixtures():
    inner = Mixture([Exponential(1.0), Exponential(2.0)], [0.5, 0.5])
    d = Mixture([inner, Exponential(4.0)], [0.5, 0.5])
    flat = Mixture([Exponential(1.0), Exponential(2.0), Exponential(4.0)], [0.25, 0.25, 0.5])
    times = [0.1, 1.0, 10.0]
    assert_allclose(d.survival(times), flat.survival(times), rtol=1e-14)
    assert_allclose(d.quantile(LEVELS), flat.quantile(LEVELS), rtol=1e-11)
    assert_allclose(d.mean(), flat.mean(), rtol=1e-14)
    assert_allclose(d.variance(), flat.variance(), rtol=1e-13)
    assert_allclose(d.crps(times), flat.crps(times), rtol=1e-9)


@pytest.mark.parametrize(
    ("components", "weights", "words"),
    [
        ([], None, ["at least one component"]),
        ([Exponential([1.0, 2.0]), Exponential(1.0)], None, ["same rows", "[1, 2]"]),
        ([Exponential(1.0), Exponential(2.0)], [1.0], ["weights", "shape", "(2,)", "(1, 1)"]),
        ([Exponential(1.0), Exponential(2.0)], [[1.0, 1.0]] * 2, ["weights", "shape"]),
        ([Exponential(1.0)], 1.0, ["weights", "shape"]),
        ([Exponential(1.0), Exponential(2.0)], [1.0, -0.1], ["weights", "not negative"]),
        ([Exponential(1.0), Exponential(2.0)], [0.0, 0.0], ["weights", "zero"]),
        ([Exponential([1.0, 2.0])] * 2, [[1.0, 1.0], [0.0, 0.0]], ["weights", "zero"]),
        ([Exponential(1.0), Exponential(2.0)], [1.0, np.nan], ["weights", "NaN"]),
        ([Exponential(1.0), Exponential(2.0)], [1.0, np.inf], ["weights", "finite"]),
        ([Exponential(1.0), Exponential(2.0)], ["much", "little"], ["weights", "numbers"]),
    ],
)
def test_messages_name_what_was_found(components, weights, words):
    with pytest.raises(ParameterError) as caught:
        Mixture(components, weights)
    for word in words:
        assert word in str(caught.value)


def test_mixtures_of_different_size_cannot_be_joined():
    one, two = Mixture([Exponential(1.0)]), Mixture([Exponential(1.0), Exponential(2.0)])
    with pytest.raises(ParameterError, match="numbers of components"):
        SurvivalDistribution.concatenate([one, two])


# ---- single precision


def in_both_precisions():
    def build(values):
        return Mixture([AsymmetricLaplace(values, 1.0, 0.5), Weibull(values, 1.5)], [0.3, 0.7])

    return build(torch.tensor([1.0, 4.0], dtype=torch.float32)), build(np.array([1.0, 4.0]))


@pytest.mark.parametrize("method", ["survival", "mean_residual_life", "restricted_mean", "crps"])
def test_functions_of_time_in_single_precision(method):
    single, double = in_both_precisions()
    found = getattr(single, method)([0.0, 1.0, 10.0])
    assert found.dtype == torch.float32
    assert_allclose(found.numpy(), getattr(double, method)([0.0, 1.0, 10.0]), rtol=2e-3)


def test_quantiles_in_single_precision():
    single, double = in_both_precisions()
    levels = [1e-4, 0.1, 0.5, 0.9, 0.999]
    assert_allclose(single.quantile(levels).numpy(), double.quantile(levels), rtol=2e-3)
    assert_allclose(single.mode().numpy(), double.mode(), rtol=2e-2)
    never = Mixture([Exponential(torch.tensor([1.0])), Step(torch.tensor([1.0, 2.0]), torch.tensor([0.6, 0.4]))])
    assert never.quantile([0.5, 0.9]).isinf().tolist() == [[False, True]]


# ---- gradients


@pytest.mark.parametrize("method", ["survival", "log_survival", "restricted_mean", "mean_residual_life", "crps"])
@pytest.mark.parametrize("time", [0.0, 0.8])
def test_gradients_by_the_weights_are_finite(method, time):
    logits = torch.tensor([[0.3, -0.2]], dtype=torch.float64, requires_grad=True)
    scale = torch.tensor([1.5], dtype=torch.float64, requires_grad=True)

    def value(logits, scale):
        parts = [Weibull(scale, 2.0), PositiveAsymmetricLaplace(scale, 1.0, 0.8)]
        return getattr(Mixture(parts, torch.softmax(logits, dim=-1)), method)(time)

    by_logits, by_scale = torch.autograd.grad(value(logits, scale).sum(), [logits, scale], allow_unused=True)
    assert torch.isfinite(by_logits).all()
    assert torch.isfinite(by_scale).all()
    step = 1e-6
    for k in range(2):
        shift = torch.zeros_like(logits)
        shift[0, k] = step
        with torch.no_grad():
            slope = (value(logits + shift, scale) - value(logits - shift, scale)) / (2 * step)
        assert_allclose(by_logits[0, k].item(), slope.item(), rtol=1e-5, atol=1e-7)


def test_quantile_gradient_is_that_of_the_implicit_function():
    scale = torch.tensor([1.5], dtype=torch.float64, requires_grad=True)

    def value(scale):
        return Mixture([Weibull(scale, 2.0), Exponential(2 * scale)], [0.3, 0.7]).quantile([0.1, 0.5, 0.99])

    torch.autograd.gradcheck(value, [scale], rtol=1e-5)
    # All components scale with it, and so do the quantiles.
    (slope,) = torch.autograd.grad(value(scale)[0, 1], [scale])
    assert_allclose(slope.item(), value(scale)[0, 1].item() / 1.5, rtol=1e-9)
