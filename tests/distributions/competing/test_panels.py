"""Incidences from hazards against dense quadrature, where a coarse rule would miss something."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aldsurv.distributions import (
    AsymmetricLaplace,
    CauseHazards,
    CauseMixture,
    Exponential,
    LogNormal,
    MixedAsymmetricLaplace,
    Weibull,
)

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def dense(d: CauseHazards, times: np.ndarray) -> np.ndarray:
    """Incidences (causes, times) of one row by 40 nodes on each of many panels between quantiles of all parts."""
    early = 10.0 ** np.arange(-14.0, -2.0, 0.05)
    levels = np.concatenate([early, np.linspace(0.01, 0.99, 150), 1 - early[early > 1e-12]])
    marks = np.concatenate([part.quantile(levels)[0] for part in d.parts] + [part.kinks()[0] for part in d.parts])
    marks = marks[np.isfinite(marks)]
    values = []
    for time in times:
        edges = np.unique(np.append(marks[marks < time], time))
        width = np.diff(edges)
        places = edges[:-1, None] + width[:, None] * (NODES + 1) / 2
        slopes = d.density(places.ravel())[:, 0].reshape(len(d.parts), *places.shape)
        values.append((slopes @ WEIGHTS / 2 * width).sum(axis=1))
    return np.array(values).T


CASES = {
    "spike before the end of a panel": [
        AsymmetricLaplace([1.0], [0.009], [0.12]),
        AsymmetricLaplace([1.2], [0.8], [1.1]),
    ],
    "narrow components": [
        MixedAsymmetricLaplace([[0.0, 0.7]], [[0.01, 0.3]], [[1.0, 0.8]], [[0.4, 0.6]], support="log"),
        LogNormal([0.4], [0.6]),
    ],
    "pole at the beginning": [Weibull([2.0], [0.3]), LogNormal([0.0], [3.0])],
    "constant hazards": [Exponential([1.0]), Exponential([30.0])],
}


@pytest.mark.parametrize("parts", CASES.values(), ids=CASES)
def test_incidences_are_those_of_dense_quadrature(parts):
    d = CauseHazards(parts)
    times = d.overall().quantile([0.001, 0.1, 0.4, 0.7, 0.95, 0.9999])[0]
    assert_allclose(d.incidence(times)[:, 0], dense(d, times), atol=1e-7)


def test_the_time_to_one_cause_is_a_distribution_like_others():
    d = CauseMixture([Exponential([2.0, 4.0]), Exponential([5.0, 1.0])], [[0.3, 0.5], [0.6, 0.4]], ["a", "b"])
    hazards = CauseHazards([Exponential([2.0, 4.0]), Exponential([5.0, 1.0])], ["a", "b"])
    for one, horizon in ((d, 6.0), (hazards, 3.0)):
        time = one.subdistribution("b")
        grid = np.linspace(0.0, horizon, 20_001)
        area = np.trapezoid(1 - one.incidence(grid, "b"), grid, axis=1)
        assert_allclose(time.restricted_mean(horizon), area, rtol=1e-6)
        drawn = time.sample(4000, random_state=0)
        assert_allclose(np.mean(drawn <= horizon, axis=1), one.incidence(horizon, "b"), atol=0.04)
        assert_allclose(time[1].cdf(2.0), time.cdf(2.0)[1:], rtol=1e-12)
        joined = type(time).concatenate([time[:1], time[1:]])
        assert_allclose(joined.survival([1.0, 9.0]), time.survival([1.0, 9.0]), rtol=1e-12)
        assert np.isinf(time.mean()).all()
