"""Every ALD method against scipy where scipy is accurate and against 120 digits everywhere else."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf, quad
from numpy.testing import assert_allclose
from scipy import stats

from aldsurv.distributions import AsymmetricLaplace, PositiveAsymmetricLaplace
from distributions.ald_oracle import ExactALD

# The range that must be exact, with its corners and values between.
KAPPAS = [1e-4, 3e-3, 0.5, 1.0, 1.0 + 1e-9, 2.0, 300.0, 1e4]
SIGMAS = [1e-8, 1.0, 1e8]
DISTANCES = [0.0, 1e-9, 1e-3, 0.7, 30.0, 1e4]  # |y - θ|/σ
SIGNS = [-1.0, 1.0]
CORNERS = list(itertools.product(KAPPAS, SIGMAS, DISTANCES, SIGNS))
LEVELS = [1e-300, 1e-12, 1e-4, 0.1, 0.49, 0.5, 0.51, 0.9, 1 - 1e-4, 1 - 1e-12]
THETAS = [0.0, 3.0, -2.0]

kappas = st.floats(math.log(1e-4), math.log(1e4)).map(math.exp)
sigmas = st.floats(math.log(1e-8), math.log(1e8)).map(math.exp)
distances = st.one_of(st.just(0.0), st.floats(-20, 9.2).map(math.exp), st.floats(1e-3, 1e4))


def relative_error(found: float, exact) -> float:
    """|found - exact|/|exact|; a number too small for a float may come out as anything up to the smallest one."""
    found = float(found)
    if abs(exact) < mpf("1e-300"):
        return 0.0 if abs(found) <= 1e-299 else math.inf
    if abs(exact) > mpf("1e308"):
        return 0.0 if math.isinf(found) else math.inf
    return float(abs(mpf(found) - exact) / abs(exact))


FUNCTIONS_OF_TIME = [
    "survival", "cdf", "density", "log_survival", "log_cdf", "log_density", "hazard", "cumulative_hazard",
    "mean_residual_life", "crps",
]  # fmt: skip


@pytest.mark.parametrize("method", FUNCTIONS_OF_TIME)
@pytest.mark.parametrize("theta_in_sigmas", [0.0, 5.0, -5.0])
def test_functions_of_time_at_the_extremes(method, theta_in_sigmas):
    worst = 0.0
    for kappa, sigma, distance, sign in CORNERS:
        theta = theta_in_sigmas * sigma
        time = theta + sign * distance * sigma
        d, exact = AsymmetricLaplace(theta, sigma, kappa), ExactALD(theta, sigma, kappa)
        error = relative_error(getattr(d, method)(time)[0], getattr(exact, method)(time))
        assert error < 1e-10, (method, kappa, sigma, distance * sign, error)
        worst = max(worst, error)
    assert worst < 1e-10


@settings(max_examples=settings.default.max_examples * 8)
@given(kappa=kappas, sigma=sigmas, distance=distances, sign=st.sampled_from(SIGNS), theta=st.floats(-1e3, 1e3))
def test_functions_of_time_everywhere(kappa, sigma, distance, sign, theta):
    theta *= sigma
    time = theta + sign * distance * sigma
    d, exact = AsymmetricLaplace(theta, sigma, kappa), ExactALD(theta, sigma, kappa)
    for method in FUNCTIONS_OF_TIME:
        error = relative_error(getattr(d, method)(time)[0], getattr(exact, method)(time))
        assert error < 1e-10, (method, error)
    censored = relative_error(d.crps(time, math.inf)[0], exact.censored_crps(time))
    assert censored < 1e-10, ("censored crps", censored)


@settings(max_examples=settings.default.max_examples * 8)
@given(kappa=kappas, sigma=sigmas, theta=st.floats(-1e3, 1e3), horizon=distances)
def test_restricted_mean_everywhere(kappa, sigma, theta, horizon):
    theta, horizon = theta * sigma, horizon * sigma
    d, exact = AsymmetricLaplace(theta, sigma, kappa), ExactALD(theta, sigma, kappa)
    if horizon > 0:
        assert relative_error(d.restricted_mean(horizon)[0], exact.restricted_mean(horizon)) < 1e-10


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("theta", THETAS)
def test_quantiles_and_moments_at_the_extremes(kappa, sigma, theta):
    theta = theta * sigma
    d, exact = AsymmetricLaplace(theta, sigma, kappa), ExactALD(theta, sigma, kappa)
    for level in LEVELS:
        time = exact.quantile(level)
        # A quantile that happens to be near zero is as exact as the scale it was added up from.
        error = abs(mpf(float(d.quantile(level)[0])) - time) / max(abs(time), mpf(sigma) * mpf("1e-4"))
        assert error < 1e-10, (level, float(error))
    for method in ("variance", "entropy", "skewness"):
        exact_value = getattr(exact, method)()
        scale = max(abs(exact_value), mpf("1e-8"))
        assert abs(mpf(float(getattr(d, method)()[0])) - exact_value) / scale < 1e-10, method
    mean = exact.mean()
    assert abs(mpf(float(d.mean()[0])) - mean) <= mpf("1e-10") * max(abs(mean), mpf("1e-5") * mpf(sigma))
    assert d.mode()[0] == theta


@settings(max_examples=settings.default.max_examples * 5)
@given(
    kappa=kappas,
    sigma=sigmas,
    start=st.floats(-50, 50),
    width=st.floats(-20, 4).map(math.exp),
)
def test_probability_of_an_interval_keeps_its_digits(kappa, sigma, start, width):
    lower = start * sigma
    upper = lower + width * sigma
    if upper > lower:
        d, exact = AsymmetricLaplace(0.0, sigma, kappa), ExactALD(0.0, sigma, kappa)
        assert relative_error(d.probability(lower, upper)[0], exact.probability(lower, upper)) < 1e-10


def test_the_oracle_itself_by_quadrature():
    exact = ExactALD(2.0, 1.5, 0.7)
    mp.dps = 40
    points = [0, 2, 5]
    assert abs(quad(exact.survival, points) - exact.restricted_mean(5)) < mpf("1e-30")
    squared = quad(lambda t: exact.cdf(t) ** 2, [-200, 2, 3.5])
    assert abs(squared - exact.squared_cdf(3.5)) < mpf("1e-30")
    rest = quad(lambda t: exact.survival(t) ** 2, [3.5, 10, 400])
    assert abs(squared + rest - exact.crps(3.5)) < mpf("1e-30")
    moment = quad(lambda t: (t - exact.mean()) ** 3 * exact.density(t), [-300, 2, 10, 500])
    assert abs(moment / exact.variance() ** mpf("1.5") - exact.skewness()) < mpf("1e-25")
    entropy = quad(lambda t: -exact.density(t) * exact.log_density(t), [-300, 2, 10, 500])
    assert abs(entropy - exact.entropy()) < mpf("1e-25")


@settings(max_examples=settings.default.max_examples * 8)
@given(
    theta=st.floats(-50, 50),
    sigma=st.floats(0.01, 100),
    kappa=st.floats(0.1, 10),
    level=st.floats(1e-6, 1 - 1e-6),
)
@np.errstate(over="ignore")  # scipy computes both sides of θ and lets one overflow
def test_against_scipy(theta, sigma, kappa, level):
    d = AsymmetricLaplace(theta, sigma, kappa)
    reference = stats.laplace_asymmetric(kappa=kappa, loc=theta, scale=sigma / math.sqrt(2))
    time = reference.ppf(level)
    close = {"rtol": 1e-9, "atol": 1e-12 * sigma}
    assert_allclose(d.quantile(level), time, rtol=1e-9, atol=1e-9 * sigma)
    assert_allclose(d.density(time), reference.pdf(time), rtol=1e-9)
    assert_allclose(d.log_density(time), reference.logpdf(time), rtol=1e-9, atol=1e-11)
    assert_allclose(d.cdf(time), reference.cdf(time), rtol=1e-9)
    assert_allclose(d.survival(time), reference.sf(time), rtol=1e-9)
    assert_allclose(d.mean(), reference.mean(), **close)
    assert_allclose(d.variance(), reference.var(), rtol=1e-9)
    assert_allclose(d.std(), reference.std(), rtol=1e-9)
    assert_allclose(d.skewness(), reference.stats("s"), rtol=1e-8, atol=1e-10)
    assert_allclose(d.entropy(), reference.entropy(), rtol=1e-9, atol=1e-12)
    assert_allclose(d.median(), reference.median(), rtol=1e-9, atol=1e-9 * sigma)
    assert_allclose(d.interval(0.8)[0], reference.interval(0.8), rtol=1e-9, atol=1e-9 * sigma)


@settings(max_examples=settings.default.max_examples * 3)
@given(
    theta=st.floats(-30, 60),
    sigma=st.floats(0.1, 20),
    kappa=st.floats(0.1, 10),
    level=st.floats(1e-4, 1 - 1e-4),
)
def test_truncation_to_positive_times_against_high_precision(theta, sigma, kappa, level):
    d = PositiveAsymmetricLaplace(theta, sigma, kappa)
    exact = ExactALD(theta, sigma, kappa)
    rest = exact.survival(0)
    time = float(d.quantile(level)[0])
    assert time >= 0
    assert relative_error(d.survival(time)[0], exact.survival(time) / rest) < 1e-10
    assert relative_error(d.density(time)[0], exact.density(time) / rest) < 1e-10
    cdf = exact.probability(0, time) / rest
    assert abs(cdf - mpf(level)) < 1e-12
    assert relative_error(d.mean()[0], exact.excess(0) / rest) < 1e-10
    horizon = 2 * time
    assert relative_error(d.restricted_mean(horizon)[0], exact.restricted_mean(horizon) / rest) < 1e-10
    assert relative_error(d.mean_residual_life(time)[0], exact.mean_residual_life(time)) < 1e-10


NODES, WEIGHTS = np.polynomial.legendre.leggauss(30)


@pytest.mark.parametrize("theta", [-3.0, 0.0, 1e-3, 2.0, 40.0])
@pytest.mark.parametrize("kappa", [0.2, 1.0, 5.0])
def test_truncated_moments_and_crps_against_quadrature(theta, kappa):
    d = PositiveAsymmetricLaplace(theta, 1.3, kappa)
    far = float(d.quantile(1 - 1e-15)[0])

    def area(function, start, stop):
        corners = [p for p in (theta, float(d.median()[0]), float(d.quantile(0.999)[0])) if start < p < stop]
        # Between corners they are exponentials, at most five of whose lengths are in each of forty parts.
        places = np.unique([np.linspace(a, b, 41) for a, b in itertools.pairwise([start, *sorted(corners), stop])])
        half = np.diff(places)[:, None] / 2
        times = places[:-1, None] + half * (1 + NODES)
        return float((function(times.ravel()).reshape(times.shape) * half * WEIGHTS).sum())

    mean = area(lambda t: d.survival(t)[0], 0, far)
    assert_allclose(d.mean(), mean, rtol=1e-10)
    variance = area(lambda t: (t - mean) ** 2 * d.density(t)[0], 0, far)
    assert_allclose(d.variance(), variance, rtol=1e-8)
    for outcome in (0.0, 0.4, theta, far / 3):
        if outcome >= 0:
            before = area(lambda t: d.cdf(t)[0] ** 2, 0, outcome) if outcome else 0.0
            after = area(lambda t: d.survival(t)[0] ** 2, outcome, far)
            assert_allclose(d.crps(outcome), before + after, rtol=1e-8)
            assert_allclose(d.crps(outcome, math.inf), before, rtol=1e-8, atol=1e-12)
    # An outcome that cannot be is scored by its distance too.
    assert_allclose(d.crps(-2.0), d.crps(0.0) + 2.0, rtol=1e-12)


def test_fast_and_exact_survival_agree_where_they_meet():
    rows = np.geomspace(5, 200, 400)  # 1/(1+κ²) crosses the threshold between the two ways to compute
    d = AsymmetricLaplace(10.0, 2.0, rows)
    times = np.linspace(0, 30, 61)
    together = d.survival(times)
    apart = np.concatenate([row.survival(times) for row in d])
    assert_allclose(together, apart, rtol=1e-12)
