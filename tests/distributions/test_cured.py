"""A share that never has the event: closed forms from those of the others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aldsurv.distributions import Cured, Exponential, Mixture, QuantileKnots
from aldsurv.errors import ParameterError


def test_an_exponential_with_a_cured_share():
    share, scale = np.array([0.0, 0.2, 0.7]), np.array([1.0, 2.0, 3.0])
    d = Cured(Exponential(scale), share)
    times = np.array([0.5, 2.0, 50.0])
    survival = share[:, None] + (1 - share)[:, None] * np.exp(-times / scale[:, None])
    assert_allclose(d.survival(times), survival, rtol=1e-12)
    assert_allclose(d.cure_probability(), share)
    horizon = 4.0
    expected = share * horizon + (1 - share) * scale * -np.expm1(-horizon / scale)
    assert_allclose(d.restricted_mean(horizon), expected, rtol=1e-12)
    assert_allclose(d.approximate_restricted_mean(horizon), expected, rtol=1e-12)
    with np.errstate(divide="ignore"):
        median = np.where(share < 0.5, -scale * np.log(np.maximum(0.5 - share, 0) / (1 - share)), np.inf)
    assert_allclose(d.median(), median, rtol=1e-12)
    assert np.isinf(d.mean()[1:]).all()
    assert_allclose(d.base.mean(), scale)


def test_quantiles_beyond_the_share_are_infinite_for_a_bounded_base():
    base = QuantileKnots([0.1, 0.5, 0.9], [[1.0, 2.0, 3.0]])
    assert_allclose(Cured(base, 0.4).quantile([0.3, 0.61, 0.99]), [[2.0, np.inf, np.inf]])


def test_a_mixture_of_cured_ones_is_cured():
    d = Mixture([Cured(Exponential([1.0]), 0.2), Cured(Exponential([1.0]), 0.6)])
    assert_allclose(d.cure_probability(), 0.4)
    assert_allclose(d.survival(1.0), 0.4 + 0.6 * np.exp(-1.0))


@pytest.mark.parametrize("cure", [-0.1, 1.1, np.nan])
def test_a_share_is_a_probability(cure):
    with pytest.raises(ParameterError, match="cure must"):
        Cured(Exponential([1.0, 2.0]), cure)
