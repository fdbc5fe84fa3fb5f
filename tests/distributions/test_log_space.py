"""Each elementary function against 60 digits over its whole range, on numpy and torch, and its gradient on torch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv.distributions.numerics import log_space

LOG2 = math.log(2.0)


def around(*points: float) -> list[float]:
    """Each point with its neighbours and a little to either side: where one formula takes over from another."""
    found = []
    for p in points:
        found += [p * (1 - 1e-3), p * (1 - 1e-9), math.nextafter(p, -math.inf), p]
        found += [math.nextafter(p, math.inf), p * (1 + 1e-9), p * (1 + 1e-3)]
    return found


POSITIVE = [0.0, 5e-324, 1e-200, 1e-100, 1e-20, 1e-8, 1e-3, 0.1, 0.3, 0.5, *around(0.7, 1.0), 2.0, 5.0, 30.0, 600.0]
POSITIVE += [699.0, 700.0, 701.0, 800.0, 1e4, 1e18, 1e300]


# The definitions, without regard to cancellation: at this precision none survives.


def remainder(x):
    return x + mp.expm1(-x)


def squared(x):
    return x + 2 * mp.expm1(-x) - mp.expm1(-2 * x) / 2


def growth(x):
    return mp.exp(-2 * x) * ((mp.expm1(2 * x)) / 2 - 2 * mp.expm1(x) + x)


def truncated_mean(x):
    return 1 - x / mp.expm1(x)


def truncated_variance(x):
    return 1 - x**2 * mp.exp(x) / mp.expm1(x) ** 2


def log1mexp(x):
    return mp.log(-mp.expm1(x))


UNARY = {
    "exponential_remainder": (log_space.exponential_remainder, remainder, 0.0),
    "squared_remainder": (log_space.squared_remainder, squared, 0.0),
    "growth_remainder": (log_space.growth_remainder, growth, 0.0),
    "truncated mean": (lambda x: log_space.truncated_exponential_moments(x)[0], truncated_mean, 0.0),
    "truncated variance": (lambda x: log_space.truncated_exponential_moments(x)[1], truncated_variance, 0.0),
}
every_unary = pytest.mark.parametrize("name", list(UNARY))


def exact_value(definition, x: float):
    """The definition with enough digits for its cancellation."""
    with mp.workdps(1000 if x < 1e-100 else 300):
        return definition(mpf(x))


def close(found: float, exact, rtol: float = 1e-13) -> bool:
    if abs(exact) < mpf("1e-305"):
        return abs(found) <= 1e-305
    return abs(mpf(float(found)) - exact) <= rtol * abs(exact)


@every_unary
def test_over_the_whole_range(name):
    function, definition, at_zero = UNARY[name]
    grid = [x for x in POSITIVE if x <= 1e4]
    found = function(np.array(grid))
    on_torch = function(torch.tensor(grid, dtype=torch.float64)).numpy()
    for x, ours, theirs in zip(grid, found, on_torch, strict=True):
        exact = exact_value(definition, x) if x > 0 else mpf(at_zero)
        assert close(ours, exact), (name, x, ours, float(exact))
        assert close(theirs, exact), (name, "torch", x, theirs, float(exact))


@every_unary
@settings(max_examples=settings.default.max_examples * 4)
@given(x=st.one_of(st.floats(-60, 6).map(math.exp), st.floats(0.6, 1.1), st.floats(0, 750)))
def test_anywhere(name, x):
    function, definition, _ = UNARY[name]
    if x > 0:
        found = float(function(np.array([x]))[0])
        assert close(found, exact_value(definition, x)), (name, x, found)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("exponential_remainder", math.inf),
        ("squared_remainder", math.inf),
        ("growth_remainder", 0.5),
        ("truncated mean", 1.0),
        ("truncated variance", 1.0),
    ],
)
def test_at_infinity(name, limit):
    with np.errstate(all="ignore"):
        assert_array_equal(UNARY[name][0](np.array([math.inf])), [limit])
        huge = UNARY[name][0](np.array([1e18, 1e300]))
    assert_allclose(huge, [1e18, 1e300] if math.isinf(limit) else limit, rtol=1e-14)


@every_unary
def test_gradients_are_finite_and_right(name):
    function, definition, _ = UNARY[name]
    grid = [x for x in POSITIVE if x <= 1e4]
    x = torch.tensor(grid, dtype=torch.float64, requires_grad=True)
    function(x).sum().backward()
    assert torch.isfinite(x.grad).all(), list(zip(grid, x.grad.tolist(), strict=True))
    for place, slope in zip(grid, x.grad.tolist(), strict=True):
        if 1e-8 <= place <= 600:
            with mp.workdps(300):
                exact = mp.diff(definition, mpf(place), h=mpf(10) ** -60)
            assert abs(mpf(slope) - exact) <= 1e-9 * abs(exact) + mpf("1e-11"), (name, place, slope, float(exact))


# ---- log1mexp


LOG1MEXP = [-5e-324, -1e-300, -1e-20, -1e-10, -0.1, *(-x for x in around(LOG2)), -1.0, -5.0, -36.0, -37.0, -40.0]
LOG1MEXP += [-300.0, -700.0, -740.0]


@pytest.mark.parametrize("x", LOG1MEXP)
def test_log1mexp(x):
    with mp.workdps(400):
        exact = mp.log(-mp.expm1(mpf(x)))
    assert close(log_space.log1mexp(np.array([x]))[0], exact, 1e-14)
    assert close(float(log_space.log1mexp(torch.tensor([x], dtype=torch.float64))[0]), exact, 1e-14)


def test_log1mexp_at_the_ends():
    with np.errstate(all="raise"):
        found = log_space.log1mexp(np.array([0.0, -0.0, -math.inf]))
    assert_array_equal(found, [-math.inf, -math.inf, 0.0])


def test_log1mexp_gradient():
    x = torch.tensor([-1e-10, -0.1, -LOG2, -1.0, -40.0, -700.0, -math.inf], dtype=torch.float64, requires_grad=True)
    log_space.log1mexp(x).sum().backward()
    expected = [float(-mp.exp(mpf(v)) / -mp.expm1(mpf(v))) for v in x.detach().tolist()[:-1]]
    assert_allclose(x.grad[:-1].numpy(), expected, rtol=1e-10)
    assert x.grad[-1] == 0


def test_log1mexp_at_zero_has_no_nan_gradient():
    x = torch.tensor([0.0, -1.0], dtype=torch.float64, requires_grad=True)
    log_space.log1mexp(x)[1:].sum().backward()
    assert torch.isfinite(x.grad).all()


@given(x=st.floats(-745, -1e-300))
def test_log1mexp_adds_up(x):
    assert_allclose(math.exp(x) + math.exp(log_space.log1mexp(np.array([x]))[0]), 1.0, rtol=4e-16)


# ---- or_complement


@pytest.mark.parametrize("log_small", [-745.0, -300.0, -40.0, -1.0, *(-x for x in around(LOG2)), -0.5, -1e-3, -1e-12])
def test_or_complement_takes_the_better_way(log_small):
    with mp.workdps(400):
        exact = mp.log1p(-mp.exp(mpf(log_small)))
    # What is known of the large one has been rounded to zero where it is that close to 1.
    rounded = float(np.log(-np.expm1(log_small)))
    found = log_space.or_complement(np.array([rounded]), np.array([log_small]))[0]
    assert close(found, exact, 1e-13)


def test_or_complement_at_the_ends():
    found = log_space.or_complement(np.array([0.0, -math.inf, -3.0]), np.array([-math.inf, 0.0, -0.1]))
    assert_array_equal(found, [0.0, -math.inf, -3.0])


# ---- log_sum_exp


@pytest.mark.parametrize(
    "terms",
    [
        [0.0, 0.0],
        [-1000.0, -1000.5, -999.0],
        [1000.0, 999.0],
        [-math.inf, 3.0],
        [-1e308, -1.0],
        [-5.0],
        [0.0, -745.0],
    ],
)
def test_log_sum_exp(terms):
    exact = mp.log(mp.fsum(mp.exp(mpf(t)) for t in terms))
    array = np.array([terms, terms])
    with np.errstate(divide="ignore"):
        found = log_space.log_sum_exp(array)
        assert found.shape == (2,)
        assert_allclose(found, float(exact), rtol=1e-14, atol=1e-15)
        assert_allclose(log_space.log_sum_exp(array.T, axis=0), found, rtol=1e-15)
    assert_allclose(log_space.log_sum_exp(torch.tensor(array)).numpy(), found, rtol=1e-14)


def test_log_sum_exp_of_nothing_and_of_everything():
    with np.errstate(all="ignore"):
        assert_array_equal(log_space.log_sum_exp(np.array([[-math.inf, -math.inf]])), [-math.inf])
        assert_array_equal(log_space.log_sum_exp(np.array([[math.inf, 1.0]])), [math.inf])


def test_log_sum_exp_gradient_is_a_softmax():
    x = torch.tensor([[1.0, 2.0, -math.inf], [-900.0, -901.0, -2000.0]], dtype=torch.float64, requires_grad=True)
    log_space.log_sum_exp(x).sum().backward()
    assert_allclose(x.grad.numpy(), torch.softmax(x.detach(), dim=-1).numpy(), rtol=1e-12, atol=1e-300)


def test_log_sum_exp_of_impossible_events_has_a_finite_gradient():
    x = torch.full((1, 2), -math.inf, dtype=torch.float64, requires_grad=True)
    log_space.log_sum_exp(x).sum().backward()
    assert torch.isfinite(x.grad).all()


# ---- saturation


@pytest.mark.parametrize("distance", [0.0, 1e-300, 1e-18, 1e-3, 1.0, 30.0, 1e5])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_saturation(distance, scale):
    with mp.workdps(400):
        exact = -mp.expm1(-mpf(distance) / mpf(scale))
    assert close(log_space.saturation(np.array([distance]), np.array([scale]))[0], exact, 1e-14)


def test_saturation_at_infinity_with_its_gradient():
    distance = torch.tensor([math.inf, 2.0, 0.0], dtype=torch.float64, requires_grad=True)
    scale = torch.tensor([3.0, 3.0, 3.0], dtype=torch.float64, requires_grad=True)
    value = log_space.saturation(distance, scale)
    assert_allclose(value.detach().numpy(), [1.0, -math.expm1(-2 / 3), 0.0], rtol=1e-15)
    value.sum().backward()
    assert_allclose(distance.grad.numpy(), [0.0, math.exp(-2 / 3) / 3, 1 / 3], rtol=1e-14)
    assert_allclose(scale.grad.numpy(), [0.0, -math.exp(-2 / 3) * 2 / 9, 0.0], rtol=1e-14, atol=1e-300)


# ---- power_integral

EXPONENTS = [0.0, 1e-300, -1e-300, 1e-16, -1e-16, 1e-9, -1e-9, 1e-3, -0.5, 0.999, 1.0, 2.0, -3.0, -1e4, 1e4]
LOG_RATIOS = [0.0, 1e-300, 1e-12, 1e-3, 0.7, 1.0, 3.0, 30.0, 700.0]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_power_integral(exponent):
    with np.errstate(over="ignore"):
        found = log_space.power_integral(np.array([exponent]), np.array(LOG_RATIOS))
    for log_ratio, value in zip(LOG_RATIOS, found, strict=True):
        with mp.workdps(700):
            product = mpf(exponent) * mpf(log_ratio)
            exact = mp.expm1(product) / mpf(exponent) if exponent else mpf(log_ratio)
        if product > 709:
            assert value == math.inf or close(value, exact, 1e-12)
        elif abs(product) > 1e-300 or product == 0:  # below, the product is not a normal number
            # exp loses as many digits as its argument has before the point.
            assert close(value, exact, 1e-15 * (4 + abs(float(product)))), (log_ratio, value, float(exact))


def test_power_integral_is_the_integral():
    mp.dps = 30
    for exponent in (-2.5, 0.0, 0.3, 1.0):
        exact = mp.quad(lambda t, power=exponent: t ** (mpf(power) - 1), [1, 2, 7])
        found = log_space.power_integral(np.array([exponent]), np.array([math.log(7.0)]))[0]
        assert_allclose(found, float(exact), rtol=1e-13)


def test_power_integral_gradients_are_finite():
    exponent = torch.tensor([[0.0], [1e-3], [-0.5], [2.0]], dtype=torch.float64, requires_grad=True)
    log_ratio = torch.tensor([[0.0, 1e-6, 1.0, 20.0]], dtype=torch.float64, requires_grad=True)
    log_space.power_integral(exponent, log_ratio).sum().backward()
    assert torch.isfinite(exponent.grad).all()
    assert torch.isfinite(log_ratio.grad).all()
    # ∂/∂(log r) is r^exponent.
    powers = sum(np.exp(e * log_ratio.detach().numpy()) for e in (0.0, 1e-3, -0.5, 2.0))
    assert_allclose(log_ratio.grad.numpy(), powers, rtol=1e-10)
