"""Survivors and shifts against their definitions: S(t)/S(since), and the same distribution elsewhere."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

from aldsurv.distributions import (
    AsymmetricLaplace,
    Exponential,
    LeftTruncated,
    LogAsymmetricLaplace,
    LogNormal,
    Mixture,
    Normal,
    PositiveAsymmetricLaplace,
    QuantileKnots,
    Shifted,
    Step,
    SurvivalDistribution,
    Weibull,
)
from aldsurv.errors import ParameterError
from distributions.ald_oracle import ExactALD

SQRT2 = math.sqrt(2.0)
FAMILIES = {
    "ald": AsymmetricLaplace(3.0, 2.0, 0.6),
    "positive ald": PositiveAsymmetricLaplace(3.0, 2.0, 0.6),
    "log ald": LogAsymmetricLaplace(1.0, 0.4, 0.9),
    "normal": Normal(3.0, 2.0),
    "log-normal": LogNormal(1.0, 0.6),
    "weibull": Weibull(4.0, 1.7),
    "weibull with a pole": Weibull(4.0, 0.6),
    "exponential": Exponential(4.0),
    "knots": QuantileKnots([0.1, 0.4, 0.7, 0.9], [[1.0, 3.0, 4.0, 9.0]]),
    "mixture": Mixture([Weibull(4.0, 2.0), Normal(6.0, 1.0)], [0.4, 0.6]),
    "shifted": Shifted(Weibull(4.0, 1.7), 1.5),
    "truncated": LeftTruncated(Normal(3.0, 2.0), 1.0),
}
every_family = pytest.mark.parametrize("name", list(FAMILIES))
LEVELS = [1e-9, 0.01, 0.3, 0.5, 0.9, 0.999]


def area(function, *places):
    return sum(
        integrate.quad(function, a, b, epsabs=1e-14, epsrel=1e-11, limit=400)[0]
        for a, b in itertools.pairwise(sorted(set(places)))
    )


# ---- by definition


@every_family
@pytest.mark.parametrize("level", [0.02, 0.5, 0.97])
def test_functions_of_time_are_ratios(name, level):
    base = FAMILIES[name]
    since = float(base.quantile(level)[0])
    d = LeftTruncated(base, since)
    times = since + np.array([0.0, 1e-3, 0.5, 3.0, 20.0])
    alive = base.survival(since)[0]
    survival = base.survival(times)[0] / alive
    assert_allclose(d.survival(times)[0], survival, rtol=1e-11)
    assert_allclose(d.cdf(times)[0], 1 - survival, rtol=1e-9, atol=1e-15)
    assert_allclose(d.density(times[1:])[0], base.density(times[1:])[0] / alive, rtol=1e-11)
    assert_allclose(d.hazard(times[1:])[0], base.hazard(times[1:])[0], rtol=1e-10)
    assert_allclose(d.log_survival(times)[0], np.log(survival), rtol=1e-10, atol=1e-15)
    before = since - np.array([1e-9, 1.0, 1e6])
    assert_array_equal(d.survival(before), 1.0)
    assert_array_equal(d.cdf(before), 0.0)
    assert_array_equal(d.log_cdf(before), -math.inf)
    assert_array_equal(d.density(before), 0.0)
    assert_array_equal(d.hazard(before), 0.0)
    assert_array_equal(d.survival(math.inf), 0.0)


@every_family
def test_at_the_end_of_time(name):
    d = LeftTruncated(FAMILIES[name], float(FAMILIES[name].quantile(0.4)[0]))
    assert_array_equal(d.cdf(math.inf), 1.0)
    assert_array_equal(d.log_survival(math.inf), -math.inf)
    assert_array_equal(d.density([1e200, math.inf]), 0.0)
    assert_array_equal(d.log_density(math.inf), -math.inf)
    assert_array_equal(d.crps(math.inf), math.inf)


@every_family
@pytest.mark.parametrize("level", [0.02, 0.97])
def test_quantiles_are_those_of_the_base_at_a_higher_level(name, level):
    base = FAMILIES[name]
    since = float(base.quantile(level)[0])
    d = base.conditional(since)
    alive = base.survival(since)[0]
    found = d.quantile(LEVELS)[0]
    assert_allclose(base.survival(found)[0] / alive, 1 - np.array(LEVELS), rtol=1e-9)
    assert np.all(found >= since)
    assert_allclose(d.quantile(0.0), since, rtol=1e-14)


@every_family
@pytest.mark.parametrize("level", [0.1, 0.8])
def test_moments_and_crps_against_quadrature(name, level):
    base = FAMILIES[name]
    since = float(base.quantile(level)[0])
    d = LeftTruncated(base, since)
    alive = base.survival(since)[0]
    grid = [since, *base._kinks()[0], *d.quantile([0.1, 0.5, 0.9, 0.99, 1 - 1e-5, 1 - 1e-9, 1 - 1e-13])[0]]
    grid = [p for p in grid if p >= since]
    top = max(grid)

    def survival(t):
        return base.survival(t)[0] / alive

    rest = top * survival(top)
    mean = since + area(survival, *grid)
    assert_allclose(d.mean(), mean, rtol=1e-8 + rest)
    if name == "log ald":  # a power of time: over its logarithm
        places = math.log(since), *(q for q in (1.0, 5.0, 20.0, 60.0) if q > math.log(since))
        second = area(lambda u: (math.exp(u) - since) * survival(math.exp(u)) * math.exp(u), *places)
    else:
        second = area(lambda t: (t - since) * survival(t), *grid)
    assert_allclose(d.variance(), 2 * second - (mean - since) ** 2, rtol=1e-6)
    for y in d.quantile([0.2, 0.7])[0]:
        below = area(lambda t: (1 - survival(t)) ** 2, y, *(p for p in grid if p <= y))
        above = area(lambda t: survival(t) ** 2, y, *(p for p in grid if p >= y))
        assert_allclose(d.crps(y), below + above, rtol=1e-7)
        assert_allclose(d.crps(y, math.inf), below, rtol=1e-7, atol=1e-12)
        assert_allclose(d.crps(-math.inf, y), above, rtol=1e-7)
    assert_allclose(d.crps(since - 5.0), d.crps(since) + 5.0, rtol=1e-9)
    horizon = float(d.quantile(0.6)[0])
    if since >= 0:
        expected = since + area(survival, horizon, *(p for p in grid if p < horizon))
        assert_allclose(d.restricted_mean(horizon), expected, rtol=1e-8)
        assert_allclose(d.restricted_mean(since / 2), since / 2, rtol=1e-14)
    assert_allclose(d.mean_residual_life([since - 1.0, horizon])[0, 0], mean - since + 1.0, rtol=1e-8 + rest)
    assert_allclose(d.mean_residual_life(horizon), base.mean_residual_life(horizon), rtol=1e-9)


def test_a_step_function_among_survivors():
    base = Step([1.0, 2.0, 4.0], [0.8, 0.4, 0.0])
    d = base.conditional(1.0)
    assert_array_equal(d.survival([0.5, 1.0, 1.9, 2.0, 3.0, 4.0]), [[1.0, 1.0, 1.0, 0.5, 0.5, 0.0]])
    assert_allclose(d.mean(), 3.0, rtol=1e-14)
    assert_allclose(d.variance(), 1.0, rtol=1e-9)
    assert_allclose(d.quantile([0.3, 0.5, 0.6]), [[2.0, 2.0, 4.0]])
    assert_allclose(d.crps(3.0), 0.25 + 0.25, rtol=1e-9)
    assert_allclose(d.mean_residual_life([0.0, 2.5]), [[3.0, 1.5]], rtol=1e-13)
    # Nobody is left at 4, but the density of those who had the event just before is still there.
    times = [0.5, 1.5, 2.0, 3.0, 4.0, 4.5, math.inf]
    assert_allclose(d.density(times), [[0.0, 0.5, 0.5, 0.25, 0.25, 0.0, 0.0]], rtol=1e-13)
    assert_allclose(d.log_density([1.5, 4.0, 4.5]), [[math.log(0.5), math.log(0.25), -math.inf]], rtol=1e-13)


def test_survivors_of_a_step_function_that_holds():
    base = Step([1.0, 2.0], [0.5, 0.2])
    d = base.conditional(1.0)
    assert_allclose(d.survival([1.5, 2.0, 1e6]), [[1.0, 0.4, 0.4]], rtol=1e-14)
    assert_array_equal(d.mean(), math.inf)
    assert_array_equal(d.variance(), math.inf)
    assert_allclose(d.crps(3.0, math.inf), 0.36, rtol=1e-9)
    assert_array_equal(d.quantile([0.6, 0.7]), [[2.0, math.inf]])
    assert_array_equal(d.crps([0.5, 1.5, 3.0]), math.inf)


@pytest.mark.parametrize(
    "base",
    [Step([1.0, 2.0], [0.5, 0.0]), Step([1.0, 2.0], [0.5, 0.3], tail="drop").smoothed()],
    ids=["step", "smoothed"],
)
def test_a_survival_of_zero_is_refused(base):
    with pytest.raises(ParameterError, match="cannot be event-free until 3: its survival is 0") as error:
        base.conditional(3.0)
    assert (error.value.argument, error.value.row) == ("since", 0)


# ---- far in the tail


def exact_log_survival(name, t):
    """As many digits of the logarithm as mpmath is asked for: a difference of two of them loses nothing that counts."""
    t = mpf(t)
    if name == "normal":
        return mp.log(mp.erfc((t - 3) / 2 / mp.sqrt(2)) / 2)
    if name == "log-normal":
        return mp.log(mp.erfc((mp.log(t) - 1) / mpf(0.6) / mp.sqrt(2)) / 2)
    if name == "weibull":
        return -((t / 4) ** mpf(1.7))
    if name == "weibull with a pole":
        return -((t / 4) ** mpf(0.6))
    if name == "exponential":
        return -t / 4
    theta, sigma, kappa, y = (3, 2.0, 0.6, t) if name == "ald" else (1, 0.4, 0.9, mp.log(t))
    return -mp.log(1 + mpf(kappa) ** 2) - mp.sqrt(2) * mpf(kappa) / mpf(sigma) * (y - theta)


FAR = ["normal", "log-normal", "weibull", "weibull with a pole", "exponential", "ald", "log ald"]


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("log_alive", [-460.0, -650.0, -2000.0])
def test_since_far_in_the_tail(name, log_alive):
    base = FAMILIES[name]
    since = float(base._inverse_log_survival(np.array([[log_alive]]))[0, 0])
    assert_allclose(base.log_survival(since), log_alive, rtol=1e-9)
    d = base.conditional(since)
    mp.dps = 30
    start = exact_log_survival(name, since)
    residual = float(d.mean_residual_life(since)[0])
    times = since + residual * np.array([1e-3, 0.3, 1.0, 5.0])
    for t in times:
        exact = mp.exp(exact_log_survival(name, t) - start)
        # The logarithms are as large as log S(since); their difference is what is left of them.
        assert abs(float(d.survival(t)[0]) - float(exact)) < 3e-16 * abs(log_alive) * 4 + 1e-12, t
        assert abs(float(d.cdf(t)[0]) - float(1 - exact)) < 3e-16 * abs(log_alive) * 4 + 1e-12, t
    median = float(d.median()[0])
    assert_allclose(float(mp.exp(exact_log_survival(name, median) - start)), 0.5, rtol=1e-9)
    counted = mp.quad(
        lambda t: mp.exp(exact_log_survival(name, t) - start),
        [since + residual * k for k in (0, 0.5, 2, 6, 15, 40, 200, 4000)],
    )
    # Normal and log-normal subtract what is nearly equal.
    assert_allclose(residual, float(counted), rtol=1e-7)
    assert_allclose(d.mean() - since, residual, rtol=1e-9 + 1e-15 * since / residual)
    if residual < 1e150:  # beyond, a variance is more than a float can hold
        assert 0.1 * residual**2 < float(d.variance()[0]) < 10 * residual**2
    if name in ("exponential", "ald"):
        assert_allclose(d.variance(), residual**2, rtol=1e-9)
    drawn = d.sample(50, random_state=0)
    assert np.all(np.isfinite(drawn))
    assert np.all(drawn >= since)


def test_normal_survivors_against_scipys_truncated_normal():
    since = np.array([-4.0, 0.0, 2.0, 6.0])
    d = LeftTruncated(Normal(np.full(4, 1.0), 2.0), since)
    for k, start in enumerate(since):
        reference = stats.truncnorm((start - 1.0) / 2.0, np.inf, loc=1.0, scale=2.0)
        times = reference.ppf([0.01, 0.5, 0.99])
        assert_allclose(d[k].survival(times)[0], reference.sf(times), rtol=1e-9)
        assert_allclose(d[k].density(times)[0], reference.pdf(times), rtol=1e-9)
        assert_allclose(d[k].mean(), reference.mean(), rtol=1e-8)
        assert_allclose(d[k].variance(), reference.var(), rtol=1e-6)
        assert_allclose(d[k].mode(), max(1.0, start), atol=1e-6)


# ---- where since lies


@every_family
def test_since_before_everything_changes_nothing(name):
    base = FAMILIES[name]
    lowest = float(base._lower()[0, 0])
    since = lowest - 3.0 if math.isfinite(lowest) else float(base._inverse_log_survival(np.array([[-1e-290]]))[0, 0])
    times = base.quantile(LEVELS)
    for d in (LeftTruncated(base, since), base.conditional(since)):
        assert_allclose(d.survival(times), base.survival(times), rtol=1e-12)
        assert_allclose(d.density(times), base.density(times), rtol=1e-12)
        assert_allclose(d.quantile(LEVELS), times, rtol=1e-11)
        assert_allclose(d.mean(), base.mean(), rtol=1e-10)
        assert_allclose(d.variance(), base.variance(), rtol=1e-7)
        assert_allclose(d.crps(times[:, 2:]), base.crps(times[:, 2:]), rtol=1e-7)


@every_family
def test_since_minus_infinity_changes_nothing(name):
    base = FAMILIES[name]
    times = base.quantile(LEVELS)
    for d in (LeftTruncated(base, -math.inf), base.conditional(-math.inf)):
        assert_allclose(d.survival(times), base.survival(times), rtol=1e-12)
        assert_allclose(d.cdf(times), base.cdf(times), rtol=1e-6)
        assert_allclose(d.density(times), base.density(times), rtol=1e-12)
        assert_allclose(d.quantile(LEVELS), times, rtol=1e-11)
        assert_allclose(d.median(), base.median(), rtol=1e-12)
        assert_allclose(d.restricted_mean([0.5, 9.0]), base.restricted_mean([0.5, 9.0]), rtol=1e-9)


@every_family
@pytest.mark.parametrize("since", [-math.inf, -1e15])
def test_moments_of_everybody_are_those_of_the_base(name, since):
    base = FAMILIES[name]
    d = base.conditional(since)
    assert_allclose(d.mean(), base.mean(), rtol=1e-10)
    assert_allclose(d.variance(), base.variance(), rtol=1e-7)
    assert_allclose(d.density(d.mode()), base.density(base.mode()), rtol=1e-9)


def test_one_since_for_each_row():
    base = Normal([1.0, 2.0, 3.0], [1.0, 2.0, 0.5])
    since = np.array([-math.inf, 2.5, 4.0])
    d = base.conditional(since)
    times = [[-1.0], [3.0], [4.2]]
    expected = base.survival(times) / base.survival(since[:, None])
    assert_allclose(d.survival(times), expected, rtol=1e-12)
    assert_allclose(d[[2, 1]].survival(times[:0:-1]), expected[:0:-1], rtol=1e-12)
    joined = SurvivalDistribution.concatenate([d[1:], d[:1]])
    assert_allclose(joined.median(), d.median()[[1, 2, 0]], rtol=1e-13)
    as_column = base.conditional(since[:, None])
    assert_array_equal(as_column.survival(times), d.survival(times))


def test_a_change_of_unit_and_origin_moves_since_along():
    d = Normal([1.0, 2.0, 3.0], [1.0, 2.0, 0.5]).conditional([-math.inf, 2.5, 4.0])
    assert_allclose(d.scaled(10.0).median(), 10 * d.median(), rtol=1e-12)
    assert_allclose(d.scaled(10.0).survival(26.0), d.survival(2.6), rtol=1e-12)
    assert_allclose(d.shifted([1.0, 2.0, 3.0]).median(), d.median() + np.array([1.0, 2.0, 3.0]), rtol=1e-12)


@pytest.mark.parametrize("since", [math.inf, math.nan, [1.0, math.nan], [1.0, 2.0, 3.0], "noon", [[1.0, 2.0]]])
def test_impossible_since(since):
    with pytest.raises(ParameterError, match="since"):
        Exponential([1.0, 2.0]).conditional(since)
    with pytest.raises(ParameterError, match="since"):
        LeftTruncated(Exponential([1.0, 2.0]), since)


# ---- conditions on conditions


@every_family
def test_the_later_of_two_conditions_counts(name):
    base = FAMILIES[name]
    early, late = (float(t) for t in base.quantile([0.3, 0.7])[0])
    times = base.quantile([0.75, 0.9, 0.99])
    once = base.conditional(late)
    for d in (base.conditional(early).conditional(late), base.conditional(late).conditional(early)):
        assert_allclose(d.survival(times), once.survival(times), rtol=1e-12)
        assert_allclose(d.quantile(LEVELS), once.quantile(LEVELS), rtol=1e-12)
        assert_allclose(d.mean(), once.mean(), rtol=1e-11)
    nested = LeftTruncated(LeftTruncated(base, early), late)
    assert_allclose(nested.survival(times), once.survival(times), rtol=1e-12)
    assert_allclose(nested.mean(), once.mean(), rtol=1e-11)
    assert_allclose(nested.quantile(LEVELS), once.quantile(LEVELS), rtol=1e-10)
    assert_allclose(nested.crps(times), once.crps(times), rtol=1e-7)


# ---- the ALD among survivors, in closed form


@given(
    theta=st.floats(-5, 30),
    sigma=st.floats(0.2, 5),
    kappa=st.floats(0.2, 5),
    since=st.floats(0, 40),
    level=st.floats(0.01, 0.99),
)
def test_closed_forms_of_the_ald_equal_the_numeric_ones(theta, sigma, kappa, since, level):
    base = AsymmetricLaplace(theta, sigma, kappa)
    closed, numeric = base.conditional(since), LeftTruncated(base, since)
    assert not isinstance(closed, LeftTruncated)
    time = closed.quantile(level)[0]
    assert_allclose(numeric.quantile(level), time, rtol=1e-9)
    for method in ("survival", "density", "hazard"):
        assert_allclose(getattr(closed, method)(time), getattr(numeric, method)(time), rtol=1e-9, err_msg=method)
    assert_allclose(closed.cdf(time), numeric.cdf(time), rtol=1e-8)
    assert_allclose(closed.mean(), numeric.mean(), rtol=1e-9)
    assert_allclose(closed.variance(), numeric.variance(), rtol=1e-6)
    assert_allclose(closed.crps(time), numeric.crps(time), rtol=1e-6)
    assert_allclose(closed.crps(time, math.inf), numeric.crps(time, math.inf), rtol=1e-6, atol=1e-10)
    assert_allclose(closed.crps(-math.inf, time), numeric.crps(-math.inf, time), rtol=1e-6, atol=1e-10)
    assert_allclose(closed.mean_residual_life(time), numeric.mean_residual_life(time), rtol=1e-9)
    assert_allclose(closed.restricted_mean(time), numeric.restricted_mean(time), rtol=1e-9)
    assert_allclose(closed.mode(), numeric.mode(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kappa", [1e-4, 0.5, 1.0, 50.0, 1e4])
@pytest.mark.parametrize("distance", [10.0, 1e4])
def test_far_beyond_theta_the_ald_is_exponential(kappa, distance):
    right = 1 / (kappa * SQRT2)
    for d, since in (
        (PositiveAsymmetricLaplace(-distance, 1.0, kappa), 0.0),
        (AsymmetricLaplace(0.0, 1.0, kappa).conditional(distance), distance),
    ):
        # Few enough digits for the sum with `since` to be exact.
        wait = 2.0 ** np.round(np.log2(right * np.array([1e-3, 0.1, 1.0, 10.0])))
        times = since + wait
        assert_array_equal(times - since, wait)
        assert_allclose(d.survival(times)[0], np.exp(-wait / right), rtol=1e-10)
        assert_allclose(d.cdf(times)[0], -np.expm1(-wait / right), rtol=1e-10)
        assert_allclose(d.log_cdf(times)[0], np.log(-np.expm1(-wait / right)), rtol=1e-10, atol=1e-12)
        assert_allclose(d.density(times)[0], np.exp(-wait / right) / right, rtol=1e-10)
        assert_allclose(d.quantile([0.1, 0.9])[0] - since, -right * np.log([0.9, 0.1]), rtol=1e-10, atol=4e-16 * since)
        assert_allclose(d.variance(), right**2, rtol=1e-10)
        assert_allclose(d.mean_residual_life(times), right, rtol=1e-10)


def test_the_ald_conditional_on_a_negative_time():
    base = AsymmetricLaplace(2.0, 3.0, 0.8)
    d = base.conditional(-1.0)
    exact = ExactALD(2.0, 3.0, 0.8)
    for t in (-1.0, 0.0, 2.0, 9.0):
        assert_allclose(d.survival(t), float(exact.survival(t) / exact.survival(-1)), rtol=1e-12)
    assert_allclose(d.mean(), -1.0 + float(exact.excess(-1) / exact.survival(-1)), rtol=1e-12)
    mixed = AsymmetricLaplace([2.0, 2.0], 3.0, 0.8).conditional([-1.0, 1.0])
    assert_allclose(mixed.mean()[0], d.mean()[0], rtol=1e-12)
    assert_allclose(mixed.mean()[1], base.conditional(1.0).mean()[0], rtol=1e-12)


# ---- shifts

POSITIVE = {
    "log ald": LogAsymmetricLaplace(1.0, 0.4, 0.9),
    "log-normal": LogNormal(1.0, 0.6),
    "weibull": Weibull(4.0, 1.7),
    "exponential": Exponential(4.0),
    "positive ald": PositiveAsymmetricLaplace(3.0, 2.0, 0.6),
}


@pytest.mark.parametrize("name", list(POSITIVE))
@pytest.mark.parametrize("offset", [-2.5, 0.0, 7.0])
def test_a_shift_moves_everything(name, offset):
    base = POSITIVE[name]
    d = base.shifted(offset)
    assert isinstance(d, Shifted)
    # Times with few digits: adding and subtracting the offset is exact.
    times = np.array([-3.0, 0.0, 0.5, 2.0, 5.25, 40.0])
    for method in ("survival", "cdf", "density", "log_survival", "log_cdf", "log_density", "crps"):
        expected = getattr(base, method)(times)
        assert_array_equal(getattr(d, method)(times + offset), expected, err_msg=method)
    assert_array_equal(d.crps(times + offset, math.inf), base.crps(times, math.inf))
    assert_array_equal(d.crps(-math.inf, times + offset), base.crps(-math.inf, times))
    assert_array_equal(d.probability(offset + 1.0, offset + 3.0), base.probability(1.0, 3.0))
    assert_allclose(d.mean_residual_life(times + offset), base.mean_residual_life(times), rtol=1e-13)
    assert_array_equal(d.quantile(LEVELS), base.quantile(LEVELS) + offset)
    assert_array_equal(d.mean(), base.mean() + offset)
    assert_array_equal(d.mode(), base.mode() + offset)
    assert_array_equal(d.variance(), base.variance())
    assert_allclose(d.probability_negative(), base.cdf(-offset), rtol=1e-12)
    # Only what lies after zero counts towards the restricted mean.
    counted = area(lambda t: base.survival(t - offset)[0], 0.0, *(p for p in (max(offset, 0.0), 3.0) if p < 9), 9.0)
    assert_allclose(d.restricted_mean(9.0), counted, rtol=1e-9)
    assert_allclose(d.scaled(3.0).quantile(LEVELS), 3 * d.quantile(LEVELS), rtol=1e-13)
    assert_allclose(d.shifted(1.25).quantile(LEVELS), d.quantile(LEVELS) + 1.25, rtol=1e-13)
    since = float(d.quantile(0.4)[0])
    later = d.conditional(since)
    assert_allclose(later.survival(since + 1.0), d.survival(since + 1.0) / d.survival(since), rtol=1e-12)
    assert_allclose(later.mean(), since + d.mean_residual_life(since), rtol=1e-9)


def test_a_shift_for_each_row():
    base = Weibull([1.0, 2.0, 3.0], 2.0)
    offsets = np.array([0.0, 10.0, -1.0])
    d = base.shifted(offsets)
    assert_allclose(d.mean(), base.mean() + offsets, rtol=1e-14)
    assert_allclose(d[[2, 1]].median(), (base.median() + offsets)[[2, 1]], rtol=1e-13)
    joined = SurvivalDistribution.concatenate([d[2], d[:2]])
    assert_array_equal(joined.mean(), d.mean()[[2, 0, 1]])
    assert_array_equal(d.survival([[0.5], [10.5], [0.5]]), base.survival([[0.5], [0.5], [1.5]]))
    assert_array_equal(d.sample(3, random_state=1), base.sample(3, random_state=1) + offsets[:, None])


def test_shifted_there_and_back():
    base = LogNormal(1.0, 0.6)
    back = base.shifted(5.0).shifted(-5.0)
    times = [0.5, 2.0, 9.0]
    assert_array_equal(back.survival(times), base.survival(times))
    assert_array_equal(back.density([-1.0, 0.0]), 0.0)
