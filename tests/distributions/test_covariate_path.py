"""Distributions along covariate paths: brute-force integration of hazards, and what must stay as it was."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from contracts.families import DISCRETE, NAMES, members
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq

from aldsurv import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, CovariatePath, Exponential, LogNormal, Mixture, Step, Weibull
from aldsurv.distributions.wrappers.covariate_path import along_paths
from aldsurv.errors import ParameterError

PARTS = (Weibull(4.0, 1.5), LogNormal(1.0, 0.6), Mixture([Exponential(2.0), Weibull(6.0, 3.0)]))
STARTS = (0.0, 1.2, 3.5)


def hazard(t: float) -> float:
    return float(PARTS[int(np.searchsorted(STARTS, t, side="left")) - 1].hazard(t)[0])


def cumulative(t: float) -> float:
    edges = [0.0, *(cut for cut in STARTS[1:] if cut < t), t]
    return sum(quad(hazard, a, b, epsrel=1e-11)[0] for a, b in pairwise(edges))


def test_against_the_integral_of_the_hazard():
    path = CovariatePath(PARTS, STARTS)
    times = np.array([0.3, 1.2, 1.9, 3.5, 4.0, 9.0])
    expected = np.array([cumulative(t) for t in times])
    assert_allclose(path.cumulative_hazard(times)[0], expected, rtol=1e-9)
    assert_allclose(path.density(times)[0], [hazard(t) * np.exp(-cumulative(t)) for t in times], rtol=1e-9)
    for level in (0.1, 0.6, 0.97):
        root = brentq(lambda t, level=level: cumulative(t) + np.log1p(-level), 1e-3, 20.0, xtol=1e-10)
        assert path.quantile(level)[0] == pytest.approx(root, rel=1e-8)


def test_restricted_mean_and_mean_against_integrals_of_the_survival():
    path = CovariatePath(PARTS, STARTS)

    def area(stop: float) -> float:
        edges = [0.0, *(cut for cut in STARTS[1:] if cut < stop), stop]
        return sum(quad(lambda t: float(path.survival(t)[0]), a, b, epsrel=1e-11)[0] for a, b in pairwise(edges))

    for horizon in (1.0, 2.5, 8.0):
        assert path.restricted_mean(horizon)[0] == pytest.approx(area(horizon), rel=1e-8)
    assert path.mean()[0] == pytest.approx(area(40.0), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(data=st.data())
def test_one_distribution_all_along_is_that_distribution(name, data):
    d = data.draw(members(name, rows=2))
    middle = d.quantile(0.4)
    if not np.isfinite(middle).all():
        return
    starts = np.stack([np.full(2, -np.inf), middle], axis=1)
    path = CovariatePath([d, d], starts)
    times = np.sort(np.concatenate([d.quantile([0.1, 0.39, 0.41, 0.8]), middle[:, None]], axis=1))
    times = np.where(np.isfinite(times), times, 100.0)
    assert_allclose(path.survival(times), d.survival(times), rtol=1e-9, atol=1e-12)
    if name not in DISCRETE:
        assert_allclose(path.density(times), d.density(times), rtol=1e-7, atol=1e-12)
        assert_allclose(path.quantile([0.2, 0.7]), d.quantile([0.2, 0.7]), rtol=1e-7, atol=1e-9)


def test_given_survival_only_what_follows_matters():
    path = CovariatePath(PARTS, STARTS)
    later, alone = path.conditional(5.0), PARTS[2].conditional(5.0)
    assert_allclose(later.survival([6.0, 9.0]), alone.survival([6.0, 9.0]), rtol=1e-12)
    assert_allclose(later.median(), alone.median(), rtol=1e-10)


def test_delayed_entry_is_a_condition_and_time_zero_is_none():
    real = AsymmetricLaplace([3.0], [1.0], [0.8])
    late = SurvivalData.episodes([1], [2.0], [4.0], [1])
    path, person = along_paths(real, late)
    assert_allclose(path.survival([3.0, 5.0]), real.conditional(2.0).survival([3.0, 5.0]), rtol=1e-12)
    assert_allclose(path.log_likelihood(person), real.log_likelihood(late), rtol=1e-12)
    early = SurvivalData.episodes([1], [0.0], [4.0], [1])
    path, person = along_paths(real, early)
    assert_allclose(path.survival([-1.0, 3.0]), real.survival([-1.0, 3.0]), rtol=1e-15)


def test_the_likelihood_of_a_person_is_the_sum_over_its_episodes():
    data = SurvivalData.episodes(["a", "b", "a", "b", "a"], [0, 1, 2, 3, 4], [2, 3, 4, 6, 5], [0, 0, 0, 0, 1])
    rows = Weibull([2.0, 3.0, 4.0, 5.0, 6.0], 1.4)
    path, persons = along_paths(rows, data)
    each = rows.log_likelihood(data)
    assert_allclose(path.log_likelihood(persons), [each[[0, 2, 4]].sum(), each[[1, 3]].sum()], rtol=1e-12)


def test_where_nobody_is_left_the_event_comes_at_once():
    ended = Step([1.0, 2.0], [[0.5, 0.0]])
    path = CovariatePath([Exponential(5.0), ended], [0.0, 3.0])
    assert_allclose(path.survival([3.0, 3.1]), [[np.exp(-0.6), 0.0]])
    assert path.quantile(0.9)[0] == 3.0


def test_rows_are_chosen_joined_scaled_and_shifted():
    two = CovariatePath([Weibull([2.0, 3.0], 1.5), Exponential([4.0, 5.0])], [[0.0, 1.0], [0.0, np.inf]])
    one = CovariatePath([Exponential(5.0)], [0.0])
    assert_allclose(two[1].survival([0.5, 4.0]), Weibull(3.0, 1.5).survival([0.5, 4.0]))
    joined = CovariatePath.concatenate([CovariatePath([Exponential(5.0)] * 2, [0.0, 1.0]), one])
    assert_allclose(joined.survival(3.0), np.exp([-0.6, -0.6]))
    assert_allclose(two.scaled(2.0).survival(3.0), two.survival(1.5))
    assert_allclose(two.shifted(1.0).survival(2.5), two.survival(1.5))
    assert "episodes=2" in repr(two)


@pytest.mark.parametrize("starts", [[0.0], [1.0, 0.5], [np.inf, np.inf], [[0.0, 1.0], [0.0, 1.0]]])
def test_bad_starts(starts):
    with pytest.raises(ParameterError, match="starts"):
        CovariatePath([Exponential(1.0), Exponential(2.0)], starts)


def test_bad_parts():
    with pytest.raises(ParameterError, match="at least one"):
        CovariatePath([], [])
    with pytest.raises(ParameterError, match="same rows"):
        CovariatePath([Exponential([1.0]), Exponential([1.0, 2.0])], [0.0, 1.0])


def test_many_episodes_against_the_sum_over_them():
    rng = np.random.default_rng(0)
    parts = [Weibull(rng.uniform(2, 9, 30), rng.uniform(0.7, 2, 30)) for _ in range(12)]
    starts = np.sort(rng.uniform(0.1, 6, (30, 12)), axis=1)
    starts[:, 0], starts[::3, 7:] = -np.inf, np.inf
    path, times = CovariatePath(parts, starts), np.linspace(0.05, 8, 40)
    ends = np.concatenate([starts[:, 1:], np.full((30, 1), np.inf)], axis=1)
    hazard = np.zeros((30, 40))
    for k, part in enumerate(parts):
        begin = np.where(np.isfinite(starts[:, [k]]), starts[:, [k]], 0.0)
        until = np.clip(times, begin, np.maximum(ends[:, [k]], begin))
        passed = part.cumulative_hazard(until) - part.cumulative_hazard(begin)
        hazard += np.where(starts[:, [k]] < np.inf, passed, 0.0)
    assert_allclose(path.cumulative_hazard(times), hazard, rtol=1e-10)
    # Between two times whose episodes are far apart, and back from a level to its time.
    assert_allclose(-path.log_conditional_survival(times[30], times[5]), (hazard[:, 30] - hazard[:, 5]), rtol=1e-9)
    levels = np.array([0.05, 0.3, 0.7, 0.99])
    assert_allclose(path.cdf(path.quantile(levels)), np.broadcast_to(levels, (30, 4)), rtol=1e-10)
    grid = np.linspace(0, 5, 200_001)
    area = np.trapezoid(path[:2].survival(grid), grid, axis=1)
    assert_allclose(path[:2].restricted_mean(5.0), area, rtol=1e-6)
