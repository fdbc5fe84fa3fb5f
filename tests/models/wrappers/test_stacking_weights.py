"""Weights of mixtures of fixed components: by another optimiser, and by the conditions of a maximum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from aldsurv import SurvivalData
from aldsurv.distributions import Exponential
from aldsurv.models.wrappers.stacking_weights import effective_counts, event_knots, likelihoods, most_likely_weights


def objective(weights, table, counts, prior):
    return counts @ np.log(np.exp(table) @ weights) + prior * np.log(weights).mean()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.integers(1, 6),
    st.sampled_from([0.03, 0.5, 4.0]),
    st.sampled_from([0.5, 5.0, 30.0]),
)
def test_no_other_weights_are_more_likely(seed, n, k, spread, prior):
    rng = np.random.default_rng(seed)
    table, counts = spread * rng.normal(size=(n, k)), rng.gamma(2.0, size=n)
    weights = most_likely_weights(table, counts, prior=prior)
    assert (weights > 0).all()
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    # Stationary: the slope in every direction is the same.
    share = np.exp(table)
    slope = counts @ (share / (share @ weights)[:, None]) + prior / k / weights
    assert_allclose(slope, counts.sum() + prior, rtol=1e-7)
    best = objective(weights, table, counts, prior)
    for other in (*np.eye(k), *rng.dirichlet(np.ones(k), 5)):
        mixed = 0.9 * other + 0.1 / k
        assert best >= objective(mixed, table, counts, prior) - 1e-9


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_same_weights_as_another_optimiser(k):
    rng = np.random.default_rng(k)
    table = rng.normal(size=(80, k)) + 0.3 * rng.normal(size=k)
    weights = most_likely_weights(table, np.ones(80), prior=2.0)
    found = minimize(
        lambda w: -objective(w, table, np.ones(80), 2.0),
        np.full(k, 1 / k),
        method="SLSQP",
        bounds=[(1e-9, 1)] * k,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert_allclose(weights, found.x, atol=1e-4)


def test_one_component_without_a_prior_to_speak_of():
    # By hand: the slope of 3·log w + log(1 - w) is 0 at 3/4, for components that exclude each other.
    with np.errstate(divide="ignore"):
        table = np.log([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert_allclose(most_likely_weights(table, np.ones(4), prior=1e-9), [0.75, 0.25], atol=1e-8)
    # Pseudo-counts: two rows more, one for each.
    assert_allclose(most_likely_weights(table, np.ones(4), prior=2.0), [4 / 6, 2 / 6], atol=1e-10)
    # A row that is impossible for all, and one that does not count, change nothing.
    more = np.vstack([table, [[-np.inf, -np.inf], [0.0, -np.inf]]])
    assert_allclose(most_likely_weights(more, [1, 1, 1, 1, 1, 0] * np.ones(6), prior=2.0), [4 / 6, 2 / 6], atol=1e-10)


def test_components_that_are_alike_share_evenly():
    same = np.random.default_rng(0).normal(size=(40, 1))
    assert_allclose(most_likely_weights(np.tile(same, (1, 3)), np.ones(40), prior=1.0), np.full(3, 1 / 3), atol=1e-9)


def test_counts_do_not_depend_on_the_unit_of_weights():
    weights = np.array([1.0, 1.0, 2.0, 0.0])
    assert_allclose(effective_counts(7 * weights), effective_counts(weights))
    assert effective_counts(weights).sum() == pytest.approx(4**2 / 6)
    assert_allclose(effective_counts(np.full(5, 0.3)), np.ones(5))


def test_likelihoods_by_hand():
    """Every kind of row; a five-hundredth of each probability is spread evenly over the intervals."""
    knots = np.array([1.0, 2.0])
    lower = np.array([0.5, 2.0, 3.0, 1.5, -np.inf, 0.7, 1.2, 1.2])
    upper = np.array([0.5, 2.0, 3.0, np.inf, 0.8, 1.9, 1.2, np.inf])
    entry = np.array([-np.inf] * 6 + [1.1, 1.1])
    data = SurvivalData.interval(lower, upper, entry=entry)

    def survival(t):
        return np.exp(-np.asarray(t) / 3)

    chance = [
        1 - survival(1),
        survival(1) - survival(2),
        survival(2),
        survival(1.5),
        1 - survival(0.8),
        survival(0.7) - survival(1.9),
        # Who entered at 1.1 was not watched in the part of the interval before.
        survival(1.1) - survival(2),
        survival(1.2),
    ]
    at_entry = np.where(entry > 0, 0.998 * survival(np.maximum(entry, 0)) + 0.002, 1.0)
    expected = np.log((0.998 * np.array(chance) + 0.002 / 3) / at_entry)
    assert_allclose(likelihoods([(Exponential(np.full(8, 3.0)), data)], knots), expected, rtol=1e-12)


def test_knots_are_quantiles_of_the_events():
    time = np.arange(1.0, 101.0)
    y = SurvivalData.right(time, time % 2 == 0)
    assert_allclose(event_knots(y), [20, 40, 60, 80, 100])
    assert len(event_knots(SurvivalData.right(np.arange(1.0, 1001.0), np.ones(1000)))) == 30
    assert_allclose(event_knots(SurvivalData.right([0.0, 3.0], [True, False])), [3.0])
    assert_allclose(event_knots(SurvivalData.interval([1.0, 2.0], [4.0, 6.0])), [6.0])
