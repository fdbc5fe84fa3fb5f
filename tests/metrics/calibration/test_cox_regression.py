from __future__ import annotations

import numpy as np
import pytest

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.calibration.cox_regression import RiskSets, fit_cox
from aldsurv.nonparametric.censoring_weights import censoring_distribution


def rows(seed, n=60):
    """Rows in descending order of tied times, and who had an event of another cause."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.integers(1, 15, n).astype(float))[::-1]
    status = rng.integers(0, 3, n)
    return SurvivalData.right(time, status > 0, weight=rng.integers(1, 4, n)), status == 2


@pytest.mark.parametrize("seed", range(3))
def test_sums_over_risk_sets_and_over_events_by_hand(seed):
    data, other = rows(seed)
    sets, rng = RiskSets.of(data, other), np.random.default_rng(seed)
    events = np.flatnonzero(data.event & ~other)
    before = censoring_distribution(data).survival_before(data.time)
    # What each row counts at each event.
    at_risk = np.where(data.time[:, None] >= data.time[events], 1.0, 0.0)
    stays = other[:, None] & (data.time[:, None] < data.time[events])
    at_risk = np.where(stays, before[events] / before[:, None], at_risk)
    values, of_events = rng.normal(size=(60, 2)), rng.normal(size=(events.size, 2))
    np.testing.assert_allclose(sets.sums(values), at_risk.T @ values, atol=1e-9)
    np.testing.assert_allclose(sets.sums_over_events(of_events), at_risk @ of_events, atol=1e-9)


def test_weights_are_numbers_of_rows():
    data, other = rows(4)
    x = np.random.default_rng(4).normal(size=(60, 1))
    copies = np.repeat(np.arange(60), data.weights.astype(int))
    found = fit_cox(RiskSets.of(data, other), x)
    again = fit_cox(RiskSets.of(data[copies].with_weight(None), other[copies]), x[copies])
    np.testing.assert_allclose(found.coefficients, again.coefficients, rtol=1e-9)
    np.testing.assert_allclose(found.variance, again.variance, rtol=1e-9)


def test_separated_rows_have_no_solution():
    data = SurvivalData.right([4.0, 3.0, 2.0, 1.0], [True, True, True, True])
    assert fit_cox(RiskSets.of(data, np.zeros(4, bool)), np.array([[-1.5], [-0.5], [0.5], [1.5]])) is None
