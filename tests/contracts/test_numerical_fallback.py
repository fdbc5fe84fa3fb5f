"""The numerical answers of the base class against the closed forms of every family that has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from aldsurv.distributions import SurvivalDistribution
from contracts.families import CONDITIONED, DISCRETE, NAMES, members
from contracts.stripped import Stripped

LEVELS = np.array([1e-9, 0.02, 0.4, 0.8, 0.999])
# Proportional hazards have the curves of a step function, and take longer to search.
every_family = pytest.mark.parametrize("name", [name for name in NAMES if name != "proportional_hazards"])


def agree(found: np.ndarray, expected: np.ndarray, rtol: float) -> None:
    assert_allclose(found, expected, rtol=rtol, atol=1e-300)


@every_family
@given(data=st.data())
def test_quantiles_by_root_search(name, data):
    d = data.draw(members(name))
    levels = LEVELS[1:] if name in CONDITIONED else LEVELS
    agree(Stripped(d).quantile(levels), d.quantile(levels), 1e-11)


@every_family
@settings(max_examples=settings.default.max_examples // 6)  # integrals take their time
@given(data=st.data())
def test_moments_and_areas_by_quadrature(name, data):
    d = data.draw(members(name))
    numeric = Stripped(d)
    mean, variance = d.mean(), d.variance()
    tame = np.isfinite(variance)
    if name == "log_asymmetric_laplace" or getattr(d, "support", None) == "log":
        # Close to where a moment ceases to exist quadrature cannot tell huge from infinite.
        tame &= (d.sigma / d.kappa)[:, 0] < 0.35 * math.sqrt(2)
    assert_allclose(numeric.mean()[tame], mean[tame], rtol=1e-9, atol=1e-12)
    assert_allclose(numeric.variance()[tame], variance[tame], rtol=1e-9, atol=1e-12)
    agree(numeric.restricted_mean([0.3, 2.0, 9.0]), d.restricted_mean([0.3, 2.0, 9.0]), 1e-8)
    times = d.quantile([0.1, 0.7])
    assume(np.all(np.isfinite(times)) and np.all(d.survival(times) > 0))
    assert_allclose(numeric.mean_residual_life(times)[tame], d.mean_residual_life(times)[tame], rtol=1e-8, atol=1e-9)


@every_family
@settings(max_examples=settings.default.max_examples // 6)  # integrals take their time
@given(data=st.data())
def test_crps_by_quadrature(name, data):
    d = data.draw(members(name))
    numeric = Stripped(d)
    times = np.nan_to_num(d.quantile([0.05, 0.5, 0.9]), posinf=2.0)
    exact = d.crps(times)
    assume(np.all(np.isfinite(exact)))
    if name == "log_asymmetric_laplace":
        # A tail so heavy that S² hardly has an integral: quadrature calls it infinite.
        assume(np.all(d.sigma / d.kappa < math.sqrt(2)))
    assert_allclose(numeric.crps(times), exact, rtol=1e-8, atol=1e-12)
    assert_allclose(numeric.crps(times, np.inf), d.crps(times, np.inf), rtol=1e-7, atol=1e-11)
    assert_allclose(numeric.crps(times - 0.1, times), d.crps(times - 0.1, times), rtol=1e-8, atol=1e-12)


@every_family
@settings(max_examples=settings.default.max_examples // 3)
@given(data=st.data())
def test_mode_by_search(name, data):
    d = data.draw(members(name))
    if name not in DISCRETE:  # its mode is the largest jump, not the highest interpolated density
        found, exact = Stripped(d).mode()[:, None], d.mode()[:, None]
        assert_allclose(d.log_density(found), d.log_density(exact), rtol=1e-9, atol=1e-9)
        grid = d.quantile(np.linspace(0.001, 0.999, 300))
        assert np.all(d.log_density(grid).max(axis=1) <= d.log_density(exact)[:, 0] + 1e-9)


class Gamma(SurvivalDistribution):
    """A family the library does not have, with nothing but what a family must provide."""

    def __init__(self, shape):
        self.shape = np.reshape(np.asarray(shape, dtype=float), (-1, 1))

    @property
    def _column(self):
        return self.shape

    def _map_rows(self, change):
        return Gamma(change(self.shape))

    def _join(self, others):
        return Gamma(np.concatenate([self.shape, *(other.shape for other in others)]))

    def _scaled(self, factor):
        raise AssertionError("not used here")

    def _log_survival(self, t):
        return stats.gamma.logsf(t, self.shape)

    def _log_cdf(self, t):
        return stats.gamma.logcdf(t, self.shape)

    def _log_density(self, t):
        return stats.gamma.logpdf(t, self.shape)

    def _lower(self):
        return 0 * self.shape


def test_a_family_of_three_logarithms_has_every_method():
    shapes = np.array([0.4, 1.0, 3.7, 40.0])
    d, reference = Gamma(shapes), stats.gamma(shapes)
    agree(d.quantile(LEVELS), reference.ppf(LEVELS[:, None]).T, 1e-10)
    agree(d.mean(), reference.mean(), 1e-10)
    agree(d.variance(), reference.var(), 1e-10)
    agree(d.std(), reference.std(), 1e-10)
    assert_allclose(d.mode(), np.maximum(shapes - 1, 0), atol=1e-6)
    # E[min(T, τ)] of a gamma: k·F_{k+1}(τ) + τ·S_k(τ)
    horizon = 2.5
    area = shapes * stats.gamma.cdf(horizon, shapes + 1) + horizon * reference.sf(horizon)
    agree(d.restricted_mean(horizon), area, 1e-10)
    # CRPS of a gamma in closed form (Möller and Scheuerer 2015)
    outcome = 1.7
    from scipy.special import beta

    crps = outcome * (2 * reference.cdf(outcome) - 1) - shapes * (2 * stats.gamma.cdf(outcome, shapes + 1) - 1)
    agree(d.crps(outcome), crps - 1 / beta(0.5, shapes), 1e-9)
    later = d.conditional(1.0)
    agree(later.survival([2.0, 5.0]), d.survival([2.0, 5.0]) / d.survival([1.0]), 1e-10)
    assert np.all(later.sample(50, random_state=0) >= 1)
