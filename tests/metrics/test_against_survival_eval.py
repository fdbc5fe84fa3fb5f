"""D-calibration against SurvivalEVAL, whose licence lets it be an oracle here and nothing more."""

from __future__ import annotations

import numpy as np
import pytest
import SurvivalEVAL

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import AsymmetricLaplace


@pytest.fixture(params=[0, 1, 2])
def rows(request) -> tuple[AsymmetricLaplace, SurvivalData]:
    rng = np.random.default_rng(request.param)
    n = 700
    predicted = AsymmetricLaplace(rng.uniform(5, 15, n), rng.uniform(1, 4, n), rng.uniform(0.4, 2, n))
    # Drawn from something else, so that the test has something to find; rounded, so that times tie.
    event, censoring = rng.gamma(4, 3, n).round(1), rng.uniform(0, [20, 6, 60][request.param], n).round(1)
    return predicted, SurvivalData.right(np.minimum(event, censoring), event <= censoring)


@pytest.mark.parametrize("bins", [10, 4])
def test_right_censored(rows, bins):
    predicted, data = rows
    survival = predicted.survival(data.time[:, None])[:, 0]
    statistic, p_value, counts = SurvivalEVAL.d_calibration(survival, data.event.astype(int), bins)
    found = metrics.d_calibration(predicted, data, bins=bins)
    assert found.statistic == pytest.approx(statistic, rel=1e-10)
    assert found.p_value == pytest.approx(p_value, rel=1e-8, abs=1e-300)
    # Their bins are of survival, from 1 down; ours of its complement.
    np.testing.assert_allclose(found.counts, counts, rtol=1e-10)
    squares = 100 * np.sum((1 / bins - np.asarray(counts) / len(data)) ** 2)
    assert metrics.censored_d_calibration(predicted, data, bins=bins) == pytest.approx(squares, rel=1e-10)


def test_interval_censored(rows):
    predicted, data = rows
    rng = np.random.default_rng(9)
    lower = np.maximum(data.time - rng.uniform(0, 4, len(data)), 0.0)
    bounds = SurvivalData.interval(lower, np.where(data.event, data.time + 0.5, np.inf))
    left, right = (predicted.survival(bound[:, None])[:, 0] for bound in (bounds.lower, bounds.upper))
    statistic, _, counts = SurvivalEVAL.d_cal_ic(left, right, 10)
    found = metrics.d_calibration(predicted, bounds)
    assert found.statistic == pytest.approx(statistic, rel=1e-10)
    np.testing.assert_allclose(found.counts, counts, rtol=1e-10)
