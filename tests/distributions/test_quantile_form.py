"""The form AL(θ, scale, q) against its own density in 120 digits, scipy, and the form with κ."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from numpy.testing import assert_allclose
from scipy import stats

from aldsurv.distributions import AsymmetricLaplace
from aldsurv.errors import ParameterError

mp.dps = 120

# From 1e-300 to the largest float64 below 1, dense at both ends.
LAST = 1 - 2**-53
levels = st.one_of(
    st.floats(math.log(1e-300), math.log(0.5)).map(math.exp),
    st.floats(math.log(2**-53), math.log(0.5)).map(lambda logarithm: 1 - math.exp(logarithm)),
    st.sampled_from([1e-300, 0.5, LAST]),
)
scales = st.floats(math.log(1e-8), math.log(1e8)).map(math.exp)
thetas = st.floats(-1e6, 1e6)


def check_loss(z: mpf, q: mpf) -> mpf:
    return z * (q - (1 if z < 0 else 0))


@given(theta=thetas, scale=scales, q=levels)
def test_theta_is_the_q_quantile(theta, scale, q):
    d = AsymmetricLaplace.from_quantile(theta, scale, q)
    assert_allclose(d.cdf(theta), q, rtol=1e-15)
    # The other side, which a float64 of q holds to few digits where q is near 1.
    assert_allclose(d.survival(theta), 1 - q, rtol=1e-15)
    assert_allclose(d.log_survival(theta), math.log1p(-q), rtol=1e-14, atol=0)
    assert d.theta[0, 0] == theta


@given(theta=thetas, scale=scales, q=levels)
def test_round_trip(theta, scale, q):
    d = AsymmetricLaplace.from_quantile(theta, scale, q)
    assert d.q.shape == d.quantile_scale.shape == (1, 1)
    assert_allclose(d.q, q, rtol=5e-16)
    assert_allclose(d.quantile_scale, scale, rtol=2e-15)


@given(sigma=scales, kappa=st.floats(math.log(1e-100), math.log(1e4)).map(math.exp), theta=st.floats(-1e3, 1e3))
def test_round_trip_by_kappa(sigma, kappa, theta):
    d = AsymmetricLaplace(theta, sigma, kappa)
    again = AsymmetricLaplace.from_quantile(d.theta, d.quantile_scale, d.q)
    lost = 1e-15 + 3e-16 * kappa**2
    assert_allclose(again.kappa, kappa, rtol=lost)
    assert_allclose(again.sigma, sigma, rtol=lost)


@given(
    scale=scales,
    # Where everything else is promised to ten digits, too.
    q=st.one_of(st.floats(1e-8, 1e-3), st.floats(1e-3, 1 - 1e-3), st.floats(1e-8, 1e-3).map(lambda rest: 1 - rest)),
    distance=st.floats(-30, 30),
)
def test_density_and_distribution_as_the_paper_writes_them(scale, q, distance):
    d = AsymmetricLaplace.from_quantile(0.0, scale, q)
    y = distance * scale
    z, s, level = mpf(y), mpf(scale), mpf(q)
    density = level * (1 - level) / s * mp.exp(-check_loss(z, level) / s)
    below = level * mp.exp((1 - level) * z / s) if z < 0 else 1 - (1 - level) * mp.exp(-level * z / s)
    assert_allclose(d.density(y), float(density), rtol=1e-10)
    assert_allclose(d.cdf(y), float(below), rtol=1e-10)


@pytest.mark.parametrize("q", [0.05, 0.3, 0.5, 0.9])
def test_against_scipy(q):
    theta, scale = 4.0, 1.7
    d = AsymmetricLaplace.from_quantile(theta, scale, q)
    # scipy's scale is σ/√2 of the form with κ, which is scale/√(q(1-q)) of this one.
    oracle = stats.laplace_asymmetric(math.sqrt(q / (1 - q)), loc=theta, scale=scale / math.sqrt(q * (1 - q)))
    times = np.linspace(-20, 40, 61)
    assert_allclose(d.density(times)[0], oracle.pdf(times), rtol=1e-12)
    assert_allclose(d.survival(times)[0], oracle.sf(times), rtol=1e-12)
    assert_allclose(d.quantile([0.1, q, 0.8])[0], oracle.ppf([0.1, q, 0.8]), rtol=1e-12)
    assert_allclose([d.mean()[0], d.variance()[0]], oracle.stats("mv"), rtol=1e-12)


def test_maximum_likelihood_at_a_fixed_level_is_quantile_regression():
    times = np.random.default_rng(0).gamma(2.0, 3.0, 401)
    for q in (0.1, 0.5, 0.75):
        d = AsymmetricLaplace.from_quantile(times, 1.3, q)
        total = d.log_density(times).sum(axis=1)
        # Of all rows the best location is the one that quantile regression without covariates gives.
        assert times[total.argmax()] == np.quantile(times, q, method="inverted_cdf")


def test_rows_and_shapes():
    d = AsymmetricLaplace.from_quantile([1.0, 2.0, 3.0], [[2.0], [2.0], [5.0]], 0.25)
    assert len(d) == 3
    assert_allclose(d.q, np.full((3, 1), 0.25))
    assert_allclose(d.quantile_scale[:, 0], [2, 2, 5])
    assert_allclose(d.quantile(0.25), [1, 2, 3])


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
def test_tensors(precision):
    q = torch.tensor([0.2, 0.7], dtype=precision, requires_grad=True)
    d = AsymmetricLaplace.from_quantile(3.0, 2.0, q)
    assert d.q.dtype == d.sigma.dtype == d.quantile_scale.dtype == precision
    assert_allclose(d.q.detach()[:, 0], [0.2, 0.7], rtol=1e-6)
    # At θ the distribution function is q itself, so that its slope is 1.
    d.cdf(3.0).sum().backward()
    assert_allclose(q.grad, [1.0, 1.0], rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": 0.0}, r"q must be between 0 and 1, both excluded, but 1 of 1 values are not \(first: row 0, 0\)"),
        ({"q": [0.5, 1.0]}, r"q must be between 0 and 1, both excluded, but 1 of 2 values are not \(first: row 1, 1\)"),
        ({"q": math.nan}, "q must be between 0 and 1, .* NaN"),
        ({"scale": -1.0}, "scale must be positive and finite"),
        ({"theta": math.inf}, "theta must be finite"),
        ({"theta": [1.0, 2.0], "q": [0.1, 0.2, 0.3]}, "one length, but they differ: theta 2, scale 1, q 3"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        AsymmetricLaplace.from_quantile(**{"theta": 1.0, "scale": 1.0, "q": 0.5, **given})
