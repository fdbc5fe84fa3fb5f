"""Normal, log-normal, Weibull, exponential and log-ALD against scipy, published formulas, 50 digits and quadrature."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

from aldsurv.distributions import Exponential, LogAsymmetricLaplace, LogNormal, Normal, Weibull

LEVELS = np.array([1e-250, 1e-100, 1e-12, 1e-4, 0.1, 0.3, 0.5, 0.8, 0.99, 1 - 1e-6, 1 - 1e-12])
TAILS = np.array([1e-250, 1e-100, 1e-30, 1e-9, 1e-3, 0.2, 0.5, 0.9])
FUNCTIONS = {
    "density": "pdf",
    "log_density": "logpdf",
    "cdf": "cdf",
    "log_cdf": "logcdf",
    "survival": "sf",
    "log_survival": "logsf",
}


def normal(mu, sigma):
    return Normal(mu, sigma), stats.norm(mu, sigma)


def log_normal(mu, sigma):
    return LogNormal(mu, sigma), stats.lognorm(s=sigma, scale=math.exp(mu))


def weibull(scale, shape):
    return Weibull(scale, shape), stats.weibull_min(c=shape, scale=scale)


def exponential(scale):
    return Exponential(scale), stats.expon(scale=scale)


PAIRS = [
    *(normal(*p) for p in [(0.0, 1.0), (3.0, 2.0), (-5.0, 0.1), (1e3, 1e-2), (0.0, 1e6)]),
    *(log_normal(*p) for p in [(0.0, 1.0), (2.0, 0.3), (-1.0, 3.0), (5.0, 1e-2), (0.0, 8.0)]),
    *(weibull(*p) for p in [(1.0, 1.0), (10.0, 2.0), (3.0, 0.3), (0.1, 20.0), (1e5, 0.8)]),
    *(exponential(s) for s in [1.0, 1e-5, 400.0]),
]
POSITIVE = [
    LogNormal(0.5, 0.8),
    Weibull(2.0, 0.5),
    Weibull(2.0, 1.0),
    Weibull(2.0, 3.0),
    Exponential(2.0),
    LogAsymmetricLaplace(0.3, 0.5, 1.2),
    LogAsymmetricLaplace(0.3, 4.0, 1.0),
]
EVERY = [Normal(1.0, 2.0), *POSITIVE]


def label(value):
    return repr(value[0] if isinstance(value, tuple) else value)


def relative_error(found, exact) -> float:
    """|found - exact|/|exact|; what is too small for a float may come out as anything up to the smallest one."""
    found, exact = float(found), mpf(exact)
    if abs(exact) < mpf("1e-300"):
        return 0.0 if abs(found) <= 1e-299 else math.inf
    return float(abs(mpf(found) - exact) / abs(exact))


def area(function, *places) -> float:
    """Integral over neighbouring places by scipy."""
    return sum(
        integrate.quad(function, a, b, epsabs=0, epsrel=1e-12, limit=400)[0]
        for a, b in itertools.pairwise(places)
        if b > a
    )


# ---- scipy


@pytest.mark.parametrize("pair", PAIRS, ids=label)
def test_functions_of_time_against_scipy(pair):
    d, reference = pair
    times = np.unique(np.concatenate([reference.ppf(LEVELS), reference.isf(TAILS)]))
    with np.errstate(divide="ignore"):
        for ours, theirs in FUNCTIONS.items():
            expected = getattr(reference, theirs)(times)
            found = getattr(d, ours)(times)[0]
            # Where the probability is almost 1, scipy's logarithm of it has lost digits; the test below has them.
            atol = 1e-15 if theirs in ("logsf", "logcdf") else 1e-300
            assert_allclose(found, expected, rtol=1e-10, atol=atol, err_msg=ours)


@pytest.mark.parametrize("pair", PAIRS, ids=label)
def test_quantiles_against_scipy(pair):
    d, reference = pair
    size = float(reference.std()) if math.isfinite(reference.std()) else 0.0
    atol = 1e-12 * size if isinstance(d, Normal) else 0.0
    assert_allclose(d.quantile(LEVELS)[0], reference.ppf(LEVELS), rtol=1e-10, atol=atol)
    # From the far side: quantiles of probabilities that 1 - q cannot express.
    assert_allclose(d._inverse_log_survival(np.log(TAILS)[None, :])[0], reference.isf(TAILS), rtol=1e-10, atol=atol)
    low, high = reference.support()
    assert d.quantile(0.0)[0] == low
    assert d.quantile(1.0)[0] == high


@pytest.mark.parametrize("pair", PAIRS, ids=label)
def test_moments_against_scipy(pair):
    d, reference = pair
    assert_allclose(d.mean(), reference.mean(), rtol=1e-12)
    assert_allclose(d.median(), reference.median(), rtol=1e-12, atol=1e-300)
    # scipy subtracts moments: it, too, has lost digits where the spread is small.
    assert_allclose(d.variance(), reference.var(), rtol=1e-9)
    assert_allclose(d.std(), reference.std(), rtol=1e-9)
    assert_allclose(d.interval(0.8)[0], reference.interval(0.8), rtol=1e-11)


# ---- 50 digits, from the definitions


class ExactNormal:
    def __init__(self, mu, sigma):
        mp.dps = 50
        self.mu, self.sigma = mpf(mu), mpf(sigma)

    def z(self, t):
        return (mpf(t) - self.mu) / self.sigma

    def survival(self, t):
        return mp.erfc(self.z(t) / mp.sqrt(2)) / 2

    def cdf(self, t):
        return mp.erfc(-self.z(t) / mp.sqrt(2)) / 2

    def density(self, t):
        return mp.exp(-(self.z(t) ** 2) / 2) / (self.sigma * mp.sqrt(2 * mp.pi))

    def excess(self, t):
        """``∫ S`` from t on."""
        return self.sigma * (self.sigma * self.density(t) - self.z(t) * self.survival(t))

    def restricted(self, t):
        """``∫ S`` from 0 to t."""
        with mp.workdps(400):
            return self.excess(0) - self.excess(t)


class ExactLogNormal:
    def __init__(self, mu, sigma):
        mp.dps = 50
        self.log = ExactNormal(mu, sigma)
        self.mean = mp.exp(self.log.mu + self.log.sigma**2 / 2)

    def survival(self, t):
        return self.log.survival(mp.log(t)) if t > 0 else mpf(1)

    def cdf(self, t):
        return self.log.cdf(mp.log(t)) if t > 0 else mpf(0)

    def density(self, t):
        return self.log.density(mp.log(t)) / mpf(t)

    def excess(self, t):
        """``E[T; T > t] - t·S(t)``."""
        if t == 0:
            return self.mean
        beyond = mp.erfc((self.log.z(mp.log(t)) - self.log.sigma) / mp.sqrt(2)) / 2
        return self.mean * beyond - mpf(t) * self.survival(t)

    def restricted(self, t):
        return self.mean * mp.erfc((self.log.sigma - self.log.z(mp.log(t))) / mp.sqrt(2)) / 2 + t * self.survival(t)


class ExactWeibull:
    def __init__(self, scale, shape=1.0):
        mp.dps = 50
        self.scale, self.shape = mpf(scale), mpf(shape)

    def hazard_integral(self, t):
        return (mpf(t) / self.scale) ** self.shape

    def survival(self, t):
        return mp.exp(-self.hazard_integral(t))

    def cdf(self, t):
        return -mp.expm1(-self.hazard_integral(t))

    def density(self, t):
        return self.shape / mpf(t) * self.hazard_integral(t) * self.survival(t)

    def excess(self, t):
        order = 1 / self.shape
        return self.scale * order * mp.gammainc(order, self.hazard_integral(t))

    def restricted(self, t):
        order, hazard = 1 / self.shape, self.hazard_integral(t)
        if hazard > 1000:  # e^-1000 is beyond all digits asked for, and the series would never end
            return self.scale * mp.gamma(1 + order)
        return self.scale * order * mp.gammainc(order, 0, hazard)


EXACT = [
    *((Normal(*p), ExactNormal(*p)) for p in [(0.0, 1.0), (3.0, 2.0), (-5.0, 0.1), (0.0, 1e6)]),
    *((LogNormal(*p), ExactLogNormal(*p)) for p in [(0.0, 1.0), (2.0, 0.3), (-1.0, 3.0), (5.0, 1e-2)]),
    *((Weibull(*p), ExactWeibull(*p)) for p in [(1.0, 1.0), (10.0, 2.0), (3.0, 0.3), (0.1, 20.0)]),
    (Exponential(4.0), ExactWeibull(4.0)),
]


def places(d):
    """Times of one row from survival 1e-250 over the bulk to a cdf of 1e-250."""
    far = d._inverse_log_survival(np.log(TAILS)[None, :])[0]
    found = np.unique(np.concatenate([d.quantile(LEVELS)[0], far]))
    return found[found != 0]


@pytest.mark.parametrize("pair", EXACT, ids=label)
def test_functions_of_time_to_the_far_tails(pair):
    d, exact = pair
    for t in places(d):
        expected = {name: getattr(exact, name)(t) for name in ("survival", "cdf", "density")}
        expected["log_survival"] = mp.log1p(-expected["cdf"]) if expected["cdf"] < 0.5 else mp.log(expected["survival"])
        expected["log_cdf"] = mp.log1p(-expected["survival"]) if expected["survival"] < 0.5 else mp.log(expected["cdf"])
        expected["hazard"] = expected["density"] / expected["survival"]
        expected["cumulative_hazard"] = -expected["log_survival"]
        for name, value in expected.items():
            error = relative_error(getattr(d, name)(t)[0], value)
            assert error < 1e-10, (name, t, error)
        log_density = mp.log(expected["density"])  # crosses zero
        assert abs(mpf(float(d.log_density(t)[0])) - log_density) < 1e-12 * max(1, abs(log_density)), t


@pytest.mark.parametrize("z", [-30.0, -12.0, 12.0, 30.0])
def test_the_normal_thirty_deviations_out(z):
    d, exact = Normal(2.0, 3.0), ExactNormal(2.0, 3.0)
    t = 2.0 + 3.0 * z
    assert relative_error(d.survival(t)[0], exact.survival(t)) < 1e-11
    assert relative_error(d.cdf(t)[0], exact.cdf(t)) < 1e-11
    assert relative_error(d.density(t)[0], exact.density(t)) < 1e-11
    log_tail = d.log_survival(t)[0] if z > 0 else d.log_cdf(t)[0]
    assert relative_error(log_tail, mp.log(min(exact.survival(t), exact.cdf(t)))) < 1e-14


@pytest.mark.parametrize("pair", EXACT, ids=label)
def test_mean_residual_life_to_the_far_tail(pair):
    d, exact = pair
    for t in places(d):
        error = relative_error(d.mean_residual_life(t)[0], exact.excess(t) / exact.survival(t))
        assert error < 1e-8, (t, error)


@pytest.mark.parametrize("pair", EXACT, ids=label)
def test_restricted_mean_at_every_horizon(pair):
    d, exact = pair
    size = float(d.std()[0])
    for horizon in [*(t for t in places(d) if t > 1e-3 * size), *(size * np.geomspace(1e-3, 1e3, 7))]:
        error = relative_error(d.restricted_mean(horizon)[0], exact.restricted(horizon))
        assert error < 1e-9, (horizon, error)
    assert_array_equal(d.restricted_mean(0.0), 0.0)
    assert relative_error(d.restricted_mean(math.inf)[0], exact.excess(0)) < 1e-11


@pytest.mark.parametrize("pair", EXACT, ids=label)
@pytest.mark.parametrize("share", [1e-5, 1e-9, 1e-13])
def test_a_short_horizon_keeps_its_digits(pair, share):
    d, exact = pair
    for horizon in (share * float(d.std()[0]), float(d.quantile(share)[0])):
        if horizon > 0:
            assert relative_error(d.restricted_mean(horizon)[0], exact.restricted(horizon)) < 1e-9, horizon


def test_the_exact_integrals_themselves_by_quadrature():
    for exact, start in [
        (ExactNormal(3.0, 2.0), 1.0),
        (ExactLogNormal(2.0, 0.3), 6.0),
        (ExactWeibull(10.0, 2.0), 4.0),
        (ExactWeibull(3.0, 0.3), 4.0),
    ]:
        mp.dps = 25
        found = mp.quad(exact.survival, [start, 2 * start, 10 * start, 100 * start, mp.inf])
        assert abs(found / exact.excess(start) - 1) < mpf("1e-12")
        found = mp.quad(exact.survival, [mpf("1e-30"), start / 4, start])
        assert abs(found / exact.restricted(start) - 1) < mpf("1e-8")


# ---- mode


@pytest.mark.parametrize(
    ("d", "mode"),
    [
        (Normal(3.0, 2.0), 3.0),
        (LogNormal(2.0, 0.3), math.exp(2.0 - 0.09)),
        (LogNormal(0.0, 2.0), math.exp(-4.0)),
        (Weibull(10.0, 2.0), 10.0 * math.sqrt(0.5)),
        (Weibull(10.0, 1.0), 0.0),
        (Weibull(10.0, 0.4), 0.0),
        (Weibull(10.0, 1.0001), 10.0 * (0.0001 / 1.0001) ** (1 / 1.0001)),
        (Exponential(2.0), 0.0),
    ],
    ids=label,
)
def test_mode_by_formula_and_on_a_grid(d, mode):
    found = float(d.mode()[0])
    assert_allclose(found, mode, rtol=1e-11)
    grid = d.quantile(np.linspace(0.0005, 0.9995, 4001))[0]
    assert d.density(found)[0] >= d.density(grid)[0].max()


# ---- CRPS


def published_normal_crps(mu, sigma, y):
    """Gneiting and Raftery 2007, equation 21."""
    z = (y - mu) / sigma
    return sigma * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / math.sqrt(math.pi))


def published_log_normal_crps(mu, sigma, y):
    """Baran and Lerch 2015."""
    z = (np.log(y) - mu) / sigma
    mean = math.exp(mu + sigma**2 / 2)
    phi = stats.norm.cdf
    return y * (2 * phi(z) - 1) - 2 * mean * (phi(z - sigma) + phi(sigma / math.sqrt(2)) - 1)


@pytest.mark.parametrize(("mu", "sigma"), [(0.0, 1.0), (-3.0, 0.2), (50.0, 7.0), (0.0, 1e-6)])
def test_normal_crps_against_the_published_formula(mu, sigma):
    y = mu + sigma * np.array([-40.0, -8.0, -1.0, 0.0, 0.3, 2.0, 9.0, 1e6])
    assert_allclose(Normal(mu, sigma).crps(y)[0], published_normal_crps(mu, sigma, y), rtol=1e-10)


@pytest.mark.parametrize(("mu", "sigma"), [(0.0, 1.0), (2.0, 0.3), (-3.0, 1.7), (4.0, 0.05), (1.0, 1e-3), (6.0, 2.5)])
def test_log_normal_crps_against_the_published_formula(mu, sigma):
    y = np.exp(mu + sigma * np.array([-9.0, -3.0, -1.0, 0.0, 0.5, 2.0, 5.0]))
    y = np.concatenate([y, math.exp(mu) * np.array([1e-3, 0.1, 2.0, 5.0, 100.0])])
    mean = math.exp(mu + sigma**2 / 2)
    expected = published_log_normal_crps(mu, sigma, y)
    # The published form subtracts numbers of the size of the mean.
    assert_allclose(LogNormal(mu, sigma).crps(y)[0], expected, rtol=1e-9, atol=1e-13 * mean)


@pytest.mark.parametrize(
    "d",
    [
        Normal(3.0, 2.0),
        LogNormal(1.0, 0.7),
        LogNormal(0.0, 2.0),
        Weibull(10.0, 2.0),
        Weibull(3.0, 0.5),
        Weibull(1.0, 8.0),
        Exponential(4.0),
        LogAsymmetricLaplace(1.0, 0.4, 0.8),
        LogAsymmetricLaplace(0.0, 0.9, 3.0),
    ],
    ids=label,
)
def test_every_form_of_crps_against_quadrature(d):
    inner = d.quantile([1e-13, 1e-6, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 1e-6, 1 - 1e-12])[0]
    corners = [*inner, float(d.quantile(d.cdf(np.exp(1.0))[0])[0])]
    if isinstance(d, LogAsymmetricLaplace):
        corners.append(math.exp(d.theta[0, 0]))
    lowest = inner[0] if isinstance(d, Normal) else 0.0

    def before(y):
        return area(lambda t: d.cdf(t)[0] ** 2, *sorted({lowest, y, *(c for c in corners if lowest < c < y)}))

    def after(y):
        if isinstance(d, LogAsymmetricLaplace):
            # Over the logarithm a power of time becomes an exponential.
            logs = sorted({math.log(y), 60.0, *(math.log(c) for c in corners if c > y)})
            return area(lambda s: math.exp(s) * d.survival(math.exp(s))[0] ** 2, *logs)
        return area(lambda t: d.survival(t)[0] ** 2, *sorted({y, *(c for c in corners if c > y)}), 40 * inner[-1])

    for y, u in itertools.pairwise(d.quantile([0.02, 0.3, 0.6, 0.97])[0]):
        low, high = before(y), after(y)
        assert_allclose(d.crps(y), low + high, rtol=1e-8)
        assert_allclose(d.crps(y, math.inf), low, rtol=1e-8)
        assert_allclose(d.crps(-math.inf, y), high, rtol=1e-8)
        assert_allclose(d.crps(y, u), low + after(u), rtol=1e-8)
    assert_array_equal(d.crps(-math.inf, math.inf), 0.0)


@pytest.mark.parametrize(
    ("d", "exact"),
    [(Weibull(10.0, 2.0), ExactWeibull(10.0, 2.0)), (Exponential(4.0), ExactWeibull(4.0))],
    ids=["Weibull", "Exponential"],
)
@pytest.mark.parametrize("y", [1e-3, 1e-2, 0.1, 1.0])
def test_an_early_censored_crps_keeps_its_digits(d, exact, y):
    mp.dps = 30
    squared = mp.quad(lambda t: exact.cdf(t) ** 2 if t > 0 else mpf(0), [0, y])
    assert relative_error(d.crps(y, math.inf)[0], squared) < 1e-8


@pytest.mark.parametrize("d", EVERY, ids=label)
def test_crps_of_an_outcome_that_never_comes_is_infinite(d):
    assert_array_equal(d.crps(math.inf), math.inf)


@pytest.mark.parametrize("d", POSITIVE[:-1], ids=label)
def test_crps_of_impossible_outcomes_counts_the_distance(d):
    at_zero = d.crps(0.0)[0]
    assert math.isfinite(at_zero)
    assert_allclose(d.crps([-2.0, -0.5]), [[at_zero + 2.0, at_zero + 0.5]], rtol=1e-12)
    assert_allclose(d.crps(-3.0, -1.0), at_zero + 1.0, rtol=1e-12)
    assert_allclose(d.crps([-2.0, 0.0], math.inf), 0.0, atol=1e-15)


# ---- outside the support


@pytest.mark.parametrize("d", POSITIVE, ids=label)
@pytest.mark.parametrize("t", [-math.inf, -1e300, -1.0, -1e-300, -0.0, 0.0])
def test_before_the_first_possible_time(d, t):
    assert_array_equal(d.survival(t), 1.0)
    assert_array_equal(d.cdf(t), 0.0)
    assert_array_equal(d.log_survival(t), 0.0)
    assert_array_equal(d.log_cdf(t), -math.inf)
    assert_array_equal(d.cumulative_hazard(t), 0.0)
    if t < 0:
        assert_array_equal(d.density(t), 0.0)
        assert_array_equal(d.log_density(t), -math.inf)
        assert_array_equal(d.hazard(t), 0.0)
        assert_allclose(d.mean_residual_life(t), d.mean() - t, rtol=1e-12)
    else:
        assert_allclose(d.mean_residual_life(t), d.mean(), rtol=1e-12)
    assert_array_equal(d.probability_negative(), 0.0)
    assert_array_equal(d.probability(-math.inf, t), 0.0)


@pytest.mark.parametrize("d", EVERY, ids=label)
def test_at_the_ends_of_time(d):
    assert_array_equal(d.survival(math.inf), 0.0)
    assert_array_equal(d.cdf(math.inf), 1.0)
    assert_array_equal(d.log_survival(math.inf), -math.inf)
    assert_array_equal(d.log_cdf(math.inf), 0.0)
    assert_array_equal(d.density(math.inf), 0.0)
    assert_array_equal(d.log_density(math.inf), -math.inf)
    assert_array_equal(d.survival(-math.inf), 1.0)
    assert_array_equal(d.log_cdf(-math.inf), -math.inf)
    assert_array_equal(d.density(-math.inf), 0.0)
    assert_array_equal(d.mean_residual_life(-math.inf), math.inf)
    assert_allclose(d.probability(-math.inf, math.inf), 1.0, rtol=1e-15)


@pytest.mark.parametrize(
    ("d", "at_zero"),
    [
        (Weibull(2.0, 0.5), math.inf),
        (Weibull(2.0, 1.0), 0.5),
        (Weibull(2.0, 1.5), 0.0),
        (Exponential(2.0), 0.5),
        (LogNormal(0.0, 1.0), 0.0),
        # left = σκ/√2 is 2, exactly 1, and 1/2.
        (LogAsymmetricLaplace(0.3, 2.0, math.sqrt(2.0)), math.inf),
        (LogAsymmetricLaplace(0.3, math.sqrt(2.0), 1.0), math.exp(-0.3) / 2),
        (LogAsymmetricLaplace(0.3, 0.5, math.sqrt(2.0)), 0.0),
    ],
    ids=label,
)
def test_density_at_zero_is_the_limit_from_the_right(d, at_zero):
    assert_allclose(d.density(0.0), at_zero, rtol=1e-12)
    assert_allclose(d.log_density(0.0), math.log(at_zero) if at_zero else -math.inf, rtol=1e-12)
    nearby = d.density([1e-100, 1e-200])[0]
    if math.isinf(at_zero):
        assert np.all(nearby > 1e40)
    elif at_zero:
        assert_allclose(nearby, at_zero, rtol=1e-10)
    else:
        assert np.all(nearby < 1e-40)


# ---- random parameters


@settings(max_examples=settings.default.max_examples * 4)
@given(mu=st.floats(-20, 20), sigma=st.floats(0.05, 5), level=st.floats(1e-9, 1 - 1e-9))
def test_normal_and_log_normal_against_scipy_anywhere(mu, sigma, level):
    for d, reference in (normal(mu, sigma), log_normal(mu, sigma)):
        t = reference.ppf(level)
        assert_allclose(d.quantile(level), t, rtol=1e-9, atol=1e-12)
        for ours, theirs in FUNCTIONS.items():
            assert_allclose(getattr(d, ours)(t), getattr(reference, theirs)(t), rtol=1e-8, atol=1e-12, err_msg=ours)
    crps = published_log_normal_crps(mu, sigma, t)
    assert_allclose(d.crps(t), crps, rtol=1e-8, atol=1e-12 * math.exp(mu + sigma**2 / 2))


@settings(max_examples=settings.default.max_examples * 4)
@given(scale=st.floats(1e-3, 1e3), shape=st.floats(0.1, 30), level=st.floats(1e-9, 1 - 1e-9))
def test_weibull_against_scipy_and_incomplete_gamma_anywhere(scale, shape, level):
    d, reference = weibull(scale, shape)
    exact = ExactWeibull(scale, shape)
    t = float(reference.ppf(level))
    assert_allclose(d.quantile(level), t, rtol=1e-9)
    for ours, theirs in FUNCTIONS.items():
        assert_allclose(getattr(d, ours)(t), getattr(reference, theirs)(t), rtol=1e-9, atol=1e-12, err_msg=ours)
    assert relative_error(d.restricted_mean(t)[0], exact.restricted(t)) < 1e-10
    assert relative_error(d.mean_residual_life(t)[0], exact.excess(t) / exact.survival(t)) < 1e-9


@pytest.mark.parametrize("shape", [0.005, 0.02, 0.05, 50.0, 200.0, 1e4])
def test_weibull_of_extreme_shape(shape):
    d, exact = Weibull(3.0, shape), ExactWeibull(3.0, shape)
    for horizon in (1e-6, 0.5, 3.0, 40.0):
        expected = exact.restricted(horizon)
        assert relative_error(d.restricted_mean(horizon)[0], expected) < 1e-9, horizon
    if shape > 1:
        g1, g2 = mp.gamma(1 + 1 / mpf(shape)), mp.gamma(1 + 2 / mpf(shape))
        assert relative_error(d.variance()[0], 9 * (g2 - g1**2)) < 1e-6


# ---- the log-ALD

LOG_ALD = [(0.0, 1.0, 1.0), (2.0, 0.3, 0.5), (-1.0, 0.4, 3.0), (0.7, 2.0, 0.4), (1.0, 5.0, 5.0)]


@pytest.mark.parametrize("parameters", LOG_ALD, ids=str)
def test_log_ald_against_scipy_of_log_time(parameters):
    theta, sigma, kappa = parameters
    d = LogAsymmetricLaplace(*parameters)
    reference = stats.laplace_asymmetric(kappa=kappa, loc=theta, scale=sigma / math.sqrt(2))
    with np.errstate(over="ignore"):  # scipy computes both sides of θ and lets one overflow
        y = reference.ppf([1e-9, 1e-3, 0.1, 0.4, 0.5, 0.9, 0.999])
        t = np.exp(y)
        assert_allclose(d.survival(t)[0], reference.sf(y), rtol=1e-10)
        assert_allclose(d.cdf(t)[0], reference.cdf(y), rtol=1e-10)
        assert_allclose(d.density(t)[0], reference.pdf(y) / t, rtol=1e-10)
        assert_allclose(d.log_density(t)[0], reference.logpdf(y) - y, rtol=1e-10, atol=1e-12)
        assert_allclose(d.quantile(reference.cdf(y))[0], t, rtol=1e-10)
        assert_allclose(d.hazard(t)[0], reference.pdf(y) / t / reference.sf(y), rtol=1e-10)
        far = theta + sigma / (kappa * math.sqrt(2)) * 500.0
        if far < 700:
            assert_allclose(d.log_survival(math.exp(far)), -500.0 - math.log1p(kappa**2), rtol=1e-12)


def log_ald(theta, left, right):
    """By its scales on either side: left = σκ/√2, right = σ/(κ√2)."""
    return LogAsymmetricLaplace(theta, math.sqrt(2 * left * right), math.sqrt(left / right))


@pytest.mark.parametrize("theta", [-2.0, 0.0, 3.0])
@pytest.mark.parametrize(("left", "right"), [(0.5, 0.2), (2.0, 0.45), (1e-3, 2e-3), (0.3, 0.499), (1.0, 0.9)])
def test_log_ald_moments_against_50_digits(theta, left, right):
    d = log_ald(theta, left, right)
    mp.dps = 30
    sigma, kappa = mpf(float(d.sigma[0, 0])), mpf(float(d.kappa[0, 0]))
    left, right = sigma * kappa / mp.sqrt(2), sigma / (kappa * mp.sqrt(2))

    def moment(order):
        below = mp.quad(lambda u: mp.exp(order * (theta - left * u) - u), [0, 1, 5, 20, 100])
        above = mp.quad(lambda u: mp.exp(order * theta - (1 - order * right) * u), [0, 10, 100, 1000, mp.inf])
        return (left * below + right * above) / (left + right)

    mean = moment(1)
    assert relative_error(d.mean()[0], mean) < 1e-11
    if right < 0.5:
        assert relative_error(d.variance()[0], moment(2) - mean**2) < 1e-10
    else:
        assert d.variance()[0] == math.inf


def test_log_ald_moments_exist_exactly_where_they_should():
    right = np.array([0.3, 0.4999999, 0.5000001, 0.9999999, 1.0000001, 3.0])
    d = LogAsymmetricLaplace(1.0, math.sqrt(2.0) * right, 1.0)
    assert_array_equal(np.isinf(d.mean()), right > 1)
    assert_array_equal(np.isinf(d.variance()), right > 0.5)
    assert_array_equal(np.isinf(d.mean_residual_life([0.0, 1.0, 50.0])).all(axis=1), right > 1)
    assert_array_equal(np.isinf(d.restricted_mean(math.inf)), right > 1)
    assert np.all(np.isfinite(d.restricted_mean([1.0, 1e100])))
    assert np.all(np.isfinite(d.crps([0.0, 1.0, 1e6])) == (right[:, None] < 2))
    assert np.all(np.isfinite(d.crps([0.0, 1.0, 1e6], math.inf)))
    # At the limit itself: infinite.
    at_limit = LogAsymmetricLaplace(0.0, [math.sqrt(2.0), math.sqrt(2.0) / 2], 1.0)
    assert_array_equal(at_limit._log_family._right[:, 0], [1.0, 0.5])
    assert at_limit.mean()[0] == math.inf
    assert at_limit.variance()[1] == math.inf


@pytest.mark.parametrize("right", [1.0, 1.0 + 1e-15, 1.0 - 1e-12, 1.0 + 1e-9, 1.0 - 1e-6, 1.001, 0.999, 2.0, 0.25])
def test_log_ald_restricted_mean_around_the_power_that_integrates_to_a_logarithm(right):
    theta, horizon = 0.5, 40.0
    d = LogAsymmetricLaplace(theta, math.sqrt(2.0) * right, 1.0)
    mp.dps = 40
    scale = mpf(float(d.sigma[0, 0])) / mp.sqrt(2)
    kink = mp.exp(mpf(theta))
    # Below the kink S = 1 - (t/kink)^(1/s)/2, above it (t/kink)^(-1/s)/2.
    below = kink - kink / 2 / (1 + 1 / scale)
    power = 1 - 1 / scale
    ratio = mpf(horizon) / kink
    above = kink / 2 * (mp.log(ratio) if power == 0 else (ratio**power - 1) / power)
    assert relative_error(d.restricted_mean(horizon)[0], below + above) < 1e-12
    # And from the definition, without thinking.
    counted = area(lambda t: d.survival(t)[0], 0.0, float(kink), horizon)
    assert_allclose(d.restricted_mean(horizon), counted, rtol=1e-10)


@pytest.mark.parametrize("parameters", LOG_ALD, ids=str)
def test_log_ald_residual_life_against_quadrature_in_logs(parameters):
    d = LogAsymmetricLaplace(*parameters)
    theta = parameters[0]
    right = parameters[1] / (parameters[2] * math.sqrt(2))
    for t in d.quantile([0.001, 0.2, 0.5, 0.9, 1 - 1e-9])[0]:
        found = d.mean_residual_life(t)[0]
        if right >= 1:
            assert found == math.inf
            continue
        stops = sorted({math.log(t), *(p for p in (theta, theta + 5, theta + 50, theta + 300) if p > math.log(t))})
        counted = area(lambda s: math.exp(s + d.log_survival(math.exp(s))[0]), *stops)
        assert_allclose(found * d.survival(t)[0], counted, rtol=1e-8)


@pytest.mark.parametrize(
    ("left", "mode"), [(0.5, math.exp(0.7)), (0.999999, math.exp(0.7)), (1.000001, 0.0), (3.0, 0.0)]
)
def test_log_ald_mode_is_the_kink_unless_the_density_falls_from_zero(left, mode):
    d = log_ald(0.7, left, 0.4)
    assert_allclose(d.mode(), mode, rtol=1e-12)
    grid = np.geomspace(1e-6, 1e3, 4001)
    best = grid[np.argmax(d.density(grid)[0])]
    assert_allclose(best, mode if mode else grid[0], rtol=1e-2)
