"""CRPS of mixtures of asymmetric Laplace components in closed form, against mpmath."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv.distributions import (
    AsymmetricLaplace,
    LogAsymmetricLaplace,
    MixedAsymmetricLaplace,
    Mixture,
    PositiveAsymmetricLaplace,
)

FAMILIES = {"real": AsymmetricLaplace, "positive": PositiveAsymmetricLaplace, "log": LogAsymmetricLaplace}
every_support = pytest.mark.parametrize("support", FAMILIES)

# theta, sigma, kappa, weights of the components of one row.
ROWS = {
    "three": ([0.4, 1.0, 1.9], [0.5, 0.3, 0.8], [0.8, 1.3, 0.6], [0.5, 0.2, 0.3]),
    "two in one place": ([0.7, 0.7], [0.5, 0.2], [1.0, 0.4], [0.3, 0.7]),
    "needle and haystack": ([0.5, 1.5], [1e-4, 1.2], [1.5, 0.9], [0.9, 0.1]),
    "slow and fast": ([0.2, 0.9, 1.0], [1e-3, 0.5, 1e-2], [0.7, 2.0, 1.1], [0.1, 0.6, 0.3]),
    "lopsided": ([0.3, 1.2], [0.4, 0.4], [0.02, 30.0], [0.4, 0.6]),
    "before zero": ([-2.0, -0.5, 0.5], [0.5, 0.9, 0.7], [1.0, 0.8, 1.0], [0.3, 0.3, 0.4]),
}


class Oracle:
    """Cdf and survival of one row on the scale on which its components are, from the definition."""

    def __init__(self, row, support):
        self.parts = [tuple(map(mpmath.mpf, part)) for part in zip(*row, strict=True)]
        self.support = support

    def values(self, y):
        below = above = mpmath.mpf(0)
        for theta, sigma, kappa, weight in self.parts:
            cdf, survival = self.component(y, theta, sigma, kappa)
            if self.support == "positive":
                cdf0, survival0 = self.component(mpmath.mpf(0), theta, sigma, kappa)
                # Differences of 30 digits.
                cdf, survival = (cdf - cdf0) / survival0, survival / survival0
            below, above = below + weight * cdf, above + weight * survival
        return below, above

    @staticmethod
    def component(y, theta, sigma, kappa):
        if y < theta:
            cdf = kappa**2 / (1 + kappa**2) * mpmath.exp(mpmath.sqrt(2) / (sigma * kappa) * (y - theta))
            return cdf, 1 - cdf
        survival = mpmath.exp(-mpmath.sqrt(2) * kappa / sigma * (y - theta)) / (1 + kappa**2)
        return 1 - survival, survival

    def area(self, which, start, stop):
        """Integral of a square over time from start to stop, both on the scale of the components."""
        marks = {start, stop}
        for theta, sigma, kappa, _ in self.parts:
            for fold in (0, 1, 4, 12, 40, 160):
                marks |= {theta - fold * sigma * kappa, theta + fold * sigma / kappa}
        marks = sorted(mark for mark in marks if start <= mark <= stop)
        weight = mpmath.exp if self.support == "log" else lambda y: 1
        return mpmath.quad(
            lambda y: self.values(y)[which] ** 2 * weight(y), marks, method="gauss-legendre", maxdegree=4
        )

    def crps(self, lower, upper):
        scale = mpmath.log if self.support == "log" else mpmath.mpf
        ends = [theta for theta, *_ in self.parts]
        reach = 200 * max(sigma * max(kappa, 1 / kappa) for _, sigma, kappa, _ in self.parts)
        total = mpmath.mpf(0)
        if lower > -math.inf:
            first = mpmath.mpf(0) if self.support == "positive" else min([*ends, scale(lower)]) - reach
            total += self.area(0, first, scale(lower)) if scale(lower) > first else 0
        if upper < math.inf:
            total += self.area(1, scale(upper), max([*ends, scale(upper)]) + reach)
        return total


@every_support
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_crps_against_mpmath(row, support):
    d = MixedAsymmetricLaplace(*row, support=support)
    bounds = [(1.1, 1.1), (0.05, math.inf), (-math.inf, 2.5)]
    lower, upper = (np.array(side) for side in zip(*bounds, strict=True))
    found = d.crps(lower, upper)[0]
    heavy = support == "log" and max(s / k for s, k in zip(row[1], row[2], strict=True)) / math.sqrt(2) >= 2
    with mpmath.workdps(30):
        oracle = Oracle(row, support)
        for value, low, high in zip(found, lower, upper, strict=True):
            if heavy and high < math.inf:
                assert value == math.inf
            else:
                assert_allclose(value, float(oracle.crps(low, high)), rtol=1e-10, err_msg=f"{low} {high}")


@every_support
def test_extremes_are_finite_and_accurate(support):
    # Far from all components the score is nearly the distance, or nearly nothing.
    d = MixedAsymmetricLaplace([[1.0, 2.0]], [[0.01, 0.5]], [[1.0, 0.9]], [[0.2, 0.8]], support=support)
    # E|T - t| - E|T - T'|/2 with t far to the right.
    far = d.crps([1e12])[0, 0]
    assert_allclose(far, 1e12, rtol=1e-9)
    assert d.crps([1e12], np.inf)[0, 0] <= far
    # Times far to the left of a narrow distribution.
    narrow = MixedAsymmetricLaplace([[50.0, 60.0]], [[1e-3, 1e-3]], 1.0, support=support)
    early = narrow.crps([1.0], np.inf)[0, 0]
    assert 0 <= early < 1e-300
    assert narrow.crps([-np.inf], np.inf)[0, 0] == 0
    steep = MixedAsymmetricLaplace([[0.0, 3.0]], [[1e-8, 1.0]], [[1e-4, 1.0]], support="real")
    assert np.isfinite(steep.crps([-1.0, 0.0, 1e-9, 2.0, 5.0])).all()


def test_infinite_exactly_where_the_tail_of_log_time_is_too_heavy():
    # The square of survival falls as t^(-2κ√2/σ): it has an area only beyond the power 1.
    sigma = np.array([[0.5, 2.8], [0.5, 2.9], [0.5, 2.9]])
    d = MixedAsymmetricLaplace(0.0, sigma, 1.0, [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]], support="log")
    assert_array_equal(np.isinf(d.crps(1.0)), [False, True, False])
    assert np.isfinite(d.crps([1.0], [math.inf])).all()


@every_support
def test_ensembles_of_plain_components_have_the_same(support):
    rng = np.random.default_rng(1)
    theta, sigma, kappa = rng.normal(1.0, 0.5, (20, 4)), rng.uniform(0.1, 0.6, (20, 4)), rng.uniform(0.7, 1.5, (20, 4))
    flat = MixedAsymmetricLaplace(theta, sigma, kappa, rng.dirichlet(np.ones(4), 20), support=support)
    parts = [FAMILIES[support](theta[:, k], sigma[:, k], kappa[:, k]) for k in range(4)]
    same = Mixture(parts, flat.weights)
    nested = Mixture(
        [
            MixedAsymmetricLaplace(theta[:, s], sigma[:, s], kappa[:, s], flat.weights[:, s], support=support)
            for s in (slice(0, 1), slice(1, 4))
        ],
        np.stack([flat.weights[:, 0], flat.weights[:, 1:].sum(axis=1)], axis=1),
    )
    times, level = np.array([0.3, 2.0, 9.0]), np.array([0.01, 0.5, 0.99])
    for other in (same, nested):
        assert_allclose(other.crps(times), flat.crps(times), rtol=1e-12)
        assert_allclose(other.crps(times, np.inf), flat.crps(times, np.inf), rtol=1e-12)
        assert_allclose(other.quantile(level), flat.quantile(level), rtol=1e-12)
        assert_allclose(other.cdf(other.quantile(level)[:, 1:2]), 0.5, rtol=1e-12)


@every_support
def test_one_component_is_its_own_closed_form(support):
    rng = np.random.default_rng(2)
    given = rng.normal(0.5, 1.0, 200), np.exp(rng.normal(-1, 0.5, 200)), np.exp(rng.normal(0, 0.5, 200))
    times = rng.exponential(2.0, (200, 1))
    one, mixed = FAMILIES[support](*given), MixedAsymmetricLaplace(*(g[:, None] for g in given), support=support)
    for upper in (times, np.full_like(times, np.inf), times + 1):
        assert_allclose(mixed.crps(times, upper), one.crps(times, upper), rtol=1e-9, atol=1e-15)


@every_support
def test_up_to_a_horizon_it_is_the_difference_of_two(support):
    d = MixedAsymmetricLaplace(*ROWS["three"], support=support)
    lower, upper, horizon = np.array([[0.5, 2.0, 1.0]]), np.array([[0.5, 3.0, 8.0]]), np.array([[8.0]])
    whole = d.crps(lower, upper) - d.crps([[-np.inf]], horizon)
    assert_allclose(d.crps_until(lower, upper, horizon), whole, rtol=1e-9)


@every_support
def test_gradients_against_finite_differences(support):
    given = [torch.tensor([column], dtype=torch.float64, requires_grad=True) for column in ROWS["three"]]
    lower, upper = torch.tensor([[0.5, 2.0]]).double(), torch.tensor([[0.7, 2.0]]).double()

    def score(*columns):
        d = MixedAsymmetricLaplace.from_checked(
            **dict(zip(("theta", "sigma", "kappa", "weights"), columns, strict=True)), support=support
        )
        return d.crps_until(lower, upper, torch.tensor([[5.0]]).double())

    assert torch.autograd.gradcheck(score, given, rtol=1e-5)
