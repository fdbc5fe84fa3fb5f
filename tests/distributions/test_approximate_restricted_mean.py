"""Areas under survival curves for ranking: close to the exact ones, and those where there is no need to approximate."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv.distributions import Exponential, LogNormal, Mixture, Weibull
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.distributions.wrappers.recalibrated import Recalibrated

MAP = LevelMap.through([0.1, 0.25, 0.5, 0.75, 0.9], [0.05, 0.3, 0.45, 0.85, 0.95])
HORIZONS = [0.02, 1.0, 50.0]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def area(distribution, row, horizon):
    """By Gauss-Legendre, in parts: curves fall within the first thousandth of some of these horizons."""
    ends = horizon * np.append(0.0, np.geomspace(1e-5, 1.0, 30))
    half = np.diff(ends)[:, None] / 2
    times = ends[:-1, None] + half * (1 + NODES)
    survival = distribution[row : row + 1].survival(times.ravel()).reshape(times.shape)
    return float((survival * half * WEIGHTS).sum())


@pytest.mark.parametrize("horizon", HORIZONS)
@pytest.mark.parametrize(
    "base",
    [Exponential([0.5, 3.0]), LogNormal([-1.0, 1.0], [0.3, 2.0]), Weibull([1.0, 4.0], [0.7, 3.0])],
    ids=["exponential", "log-normal", "weibull"],
)
def test_recalibrated(base, horizon):
    found = Recalibrated(base, MAP).approximate_restricted_mean(horizon)
    expected = [area(Recalibrated(base, MAP), row, horizon) for row in range(2)]
    assert_allclose(found, expected, rtol=2e-3)


@pytest.mark.parametrize("horizon", HORIZONS)
def test_a_mixture_is_the_sum_of_its_parts(horizon):
    parts = [Exponential([0.5, 3.0]), Recalibrated(Exponential([1.0, 2.0]), MAP)]
    mixture = Mixture(parts, [0.25, 0.75])
    expected = 0.25 * parts[0].restricted_mean(horizon) + 0.75 * parts[1].approximate_restricted_mean(horizon)
    assert_allclose(mixture.approximate_restricted_mean(horizon), expected, rtol=1e-12)


def test_others_are_exact():
    d = Weibull([1.0, 4.0], [0.7, 3.0])
    assert_array_equal(d.approximate_restricted_mean(2.0), d.restricted_mean(2.0))
