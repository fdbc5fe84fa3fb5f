"""Hazards multiplied by a number: closed forms, powers of curves, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from aldsurv.distributions import Mixture, ProportionalHazards, ScaledHazard, Step, Weibull
from aldsurv.distributions.wrappers.cause_curves import SummedHazards
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.distributions.wrappers.recalibrated import recalibrated
from aldsurv.distributions.wrappers.scaled_hazard import scaled_hazard
from aldsurv.errors import ParameterError

TIMES = np.array([1e-6, 0.1, 0.8, 2.0, 7.0, 40.0])


def test_a_weibull_keeps_its_shape():
    scale, shape, factor = np.array([1.0, 3.0, 8.0]), np.array([0.7, 1.5, 3.0]), np.array([0.2, 1.0, 5.0])
    found = ScaledHazard(Weibull(scale, shape), factor)
    oracle = stats.weibull_min(shape[:, None], scale=(scale * factor ** (-1 / shape))[:, None])
    assert_allclose(found.log_survival(TIMES), oracle.logsf(TIMES), rtol=1e-12)
    assert_allclose(found.log_density(TIMES), oracle.logpdf(TIMES), rtol=1e-10)
    assert_allclose(found.cdf(TIMES), oracle.cdf(TIMES), rtol=1e-10)
    assert_allclose(found.median(), oracle.median()[:, 0], rtol=1e-12)
    assert_allclose(found.mean(), oracle.mean()[:, 0], rtol=1e-7)
    # The tail beyond all that float64 can hold as a survival, and a start where the cdf is below what it can hold.
    assert_allclose(found.log_survival(1e4), oracle.logsf(1e4)[:, 0], rtol=1e-12)
    early = ScaledHazard(Weibull(1.0, 3.0), 2.0).log_cdf(1e-120)
    assert_allclose(early, 3 * np.log(1e-120) + np.log(2.0), rtol=1e-12)
    # Given survival to a time, twice over, and in another unit.
    again = scaled_hazard(found, 2.0)
    assert_allclose(again.survival(2.0), oracle.sf(2.0)[:, 0] ** 2, rtol=1e-12)
    later = found.conditional(0.5)
    assert_allclose(later.survival(2.0), (oracle.sf(2.0) / oracle.sf(0.5))[:, 0], rtol=1e-12)
    assert_allclose(found.scaled(3.0).survival(6.0), oracle.sf(2.0)[:, 0], rtol=1e-12)
    assert_allclose(found.shifted(1.0).survival(3.0), oracle.sf(2.0)[:, 0], rtol=1e-12)


def _curves():
    rng, times = np.random.default_rng(0), np.array([1.0, 2.0, 4.0, 5.0])
    hazard = np.log(rng.gamma(1.0, 0.4, (4, 2)).cumsum(axis=0))
    risk = rng.normal(size=(3, 2))
    return {
        "step": Step(times, np.array([[0.9, 0.6, 0.3, 0.0], [1.0, 0.8, 0.8, 0.1], [0.5, 0.4, 0.3, 0.2]])),
        "hazards": ProportionalHazards(times, hazard[:, :1], risk[:, :1]),
        "members": ProportionalHazards(times, hazard, risk),
        "causes": SummedHazards(times, hazard, risk),
        "mapped": recalibrated(
            ProportionalHazards(times, hazard[:, :1], risk[:, :1]), LevelMap.through([0.2, 0.6], [0.3, 0.5])
        ),
    }


@pytest.mark.parametrize("name", _curves())
def test_a_curve_stays_a_curve(name):
    curve, factor = _curves()[name], np.array([0.5, 1.0, 3.0])
    found = scaled_hazard(curve, factor)
    at = np.array([0.5, 1.0, 3.0, 5.0, 9.0])
    assert_allclose(found.survival(at), curve.survival(at) ** factor[:, None], rtol=1e-12)
    # Mass sits where it did: the density between two times is the fall of survival there over their distance.
    fall = (curve.survival(2.0) ** factor - curve.survival(4.0) ** factor) / 2
    assert_allclose(found.density(3.0), fall, rtol=1e-10, atol=1e-14)


def test_any_distribution_and_its_rows():
    base = Mixture([Weibull([1.0, 2.0], 1.5), Weibull([3.0, 1.0], 2.5)], np.full((2, 2), 0.5))
    found = scaled_hazard(base, 1.7)
    assert_allclose(found.survival(TIMES), base.survival(TIMES) ** 1.7, rtol=1e-12)
    assert_allclose(found[[1]].survival(2.0), found.survival(2.0)[[1]])
    assert_allclose(found.hazard(2.0), 1.7 * base.hazard(2.0), rtol=1e-12)
    assert_allclose(found.approximate_restricted_mean(4.0), found.restricted_mean(4.0), rtol=1e-6)


@pytest.mark.parametrize("factor", [0.0, -1.0, np.inf])
def test_factors_are_positive(factor):
    for make in (ScaledHazard, scaled_hazard):
        with pytest.raises(ParameterError, match="factor must be positive and finite"):
            make(Weibull([1.0, 2.0], 1.5), factor)
