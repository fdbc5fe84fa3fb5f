"""Observed risks of groups of like predictions, with limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import Exponential
from aldsurv.metrics.calibration.risk_groups import calibration_groups, groups_by_risk, observed_risk
from aldsurv.nonparametric import aalen_johansen, kaplan_meier


def test_without_censoring_limits_are_those_of_clopper_and_pearson():
    time = np.arange(1.0, 31.0)
    rows = SurvivalData.right(time, np.ones(30, bool))
    found = observed_risk(rows, np.zeros(30, bool), 9.0)
    expected = binomtest(9, 30).proportion_ci(method="exact")
    assert found.observed == pytest.approx(9 / 30)
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_with_weights_limits_are_those_of_the_kaplan_meier_band():
    rng = np.random.default_rng(0)
    rows = SurvivalData.right(rng.exponential(5, 80), rng.random(80) < 0.7, weight=rng.integers(1, 4, 80))
    found = observed_risk(rows, np.zeros(80, bool), 4.0)
    curve = kaplan_meier(rows)
    place = int(np.searchsorted(curve.times, 4.0, side="right")) - 1
    lower, upper = (1 - limit[place] for limit in curve.band(0.95)[::-1])
    assert found == pytest.approx((1 - curve.survival[place], lower, upper))


def test_of_a_cause_they_are_those_of_aalen_johansen():
    rng = np.random.default_rng(1)
    data = SurvivalData.competing(rng.exponential(5, 90), rng.integers(0, 3, 90))
    found = observed_risk(data, data.cause == 2, 4.0)
    curves = aalen_johansen(data)
    place = int(np.searchsorted(curves.times, 4.0, side="right")) - 1
    lower, upper = (limit[place] for limit in curves.band(0.95, "complementary", cause=1))
    assert found == pytest.approx((curves.incidence[0, place], lower, upper))


def test_rows_that_end_before_have_no_estimate():
    rows = SurvivalData.right([1, 2, 3], [True, False, False])
    assert np.isnan(observed_risk(rows, np.zeros(3, bool), 4.0)).all()
    assert observed_risk(rows, np.zeros(3, bool), 2.0).observed == pytest.approx(1 / 3)


def test_groups_are_those_of_the_test_of_calibration():
    truth = Exponential(np.random.default_rng(0).uniform(1, 9, 300))
    data = SurvivalData.right(truth.sample(random_state=1).reshape(-1), np.ones(300, bool))
    groups, test = calibration_groups(truth, data, 4.0), metrics.one_calibration(truth, data, 4.0)
    np.testing.assert_allclose([group.predicted for group in groups], test.predicted)
    np.testing.assert_allclose([group.observed for group in groups], test.observed, atol=1e-12)
    assert sum(group.rows for group in groups) == 300
    assert all(group.lower <= group.observed <= group.upper for group in groups)


def test_ties_stay_together():
    assert groups_by_risk(np.array([0.1, 0.5, 0.5, 0.5, 0.9, 0.9]), np.ones(6), 3).tolist() == [0, 1, 1, 1, 2, 2]
