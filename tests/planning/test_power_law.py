from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from aldsurv.planning.power_law import extrapolate, missed_last, power_law

ROWS = np.array([50.0, 100, 200, 400, 800])


@given(st.floats(-5, 5), st.floats(0.01, 3), st.sampled_from([0.1, 0.5, 1.0, 2.0]))
def test_recovers_a_power_law(level, size, exponent):
    scores = level - size * (ROWS / 800) ** -exponent
    at = np.array([1600.0, 3200.0])
    np.testing.assert_allclose(power_law(ROWS, scores, at), level - size * (at / 800) ** -exponent, atol=1e-8)
    change = extrapolate(ROWS, np.stack([scores] * 3), [1600], 0)[0]
    assert change.change == pytest.approx(size * (1 - 2**-exponent), abs=1e-8)
    assert change.value == pytest.approx(scores[-1] + change.change)
    assert missed_last(ROWS, np.stack([scores] * 3), 0) == pytest.approx((0, 0), abs=1e-8)


def test_fits_as_well_as_an_optimiser():
    scores = np.array([0.60, 0.63, 0.638, 0.651, 0.652])

    def error(parameters):
        level, size, exponent = parameters
        return ((level - np.exp(size) * (ROWS / 800) ** -exponent - scores) ** 2).sum()

    best = min(minimize(error, [0.66, -3, c], method="Nelder-Mead", options={"maxiter": 4000}).fun for c in (0.3, 1.0))
    ours = ((power_law(ROWS, scores, ROWS) - scores) ** 2).sum()
    assert ours == pytest.approx(best, rel=0.01)


def test_a_score_that_falls_is_taken_for_constant():
    scores = np.array([0.7, 0.69, 0.66, 0.65, 0.6])
    np.testing.assert_allclose(power_law(ROWS, scores, np.array([1600.0])), scores.mean())


def test_several_curves_at_once():
    curves = np.random.default_rng(0).normal(size=(7, 5)).cumsum(axis=1)
    at = np.array([1000.0, 2000.0])
    each = np.stack([power_law(ROWS, curve, at) for curve in curves])
    np.testing.assert_allclose(power_law(ROWS, curves, at), each)


def test_limits_hold_the_truth_about_as_often_as_they_say():
    truth = -((ROWS / 800) ** -0.7)
    expected = 1 - 2**-0.7
    hits = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        # What makes held-out rows hard is common to all sizes of a repetition.
        scores = truth + rng.normal(0, 0.5, (8, 1)) + rng.normal(0, 0.1, (8, 5))
        one = extrapolate(ROWS, scores, [1600], seed)[0]
        assert one.lower <= one.change <= one.upper
        hits += one.lower <= expected <= one.upper
    assert hits >= 85
