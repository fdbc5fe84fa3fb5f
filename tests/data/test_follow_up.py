"""The end of follow-up: a quantile of the times, by its definition."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.data.follow_up import end_of_follow_up


def first_time_by_which(share, times):
    """The smallest of the times by which at least that share of the rows has come, by counting."""
    return next(t for t in sorted(times) if 10 * np.count_nonzero(times <= t) >= 10 * share * len(times) - 1e-9)


@pytest.mark.parametrize("n", [1, 2, 4, 5, 7, 10, 35, 61, 200])
def test_it_is_the_quantile(n):
    rng = np.random.default_rng(n)
    # With ties.
    time = np.round(rng.exponential(20, n)) + 1
    event = np.append(True, rng.random(n - 1) < 0.4)
    event[np.argmin(time)] = True
    assert end_of_follow_up(SurvivalData.right(time, event)) == first_time_by_which(0.8, time)


def test_a_row_of_weight_three_is_three_rows():
    rng = np.random.default_rng(0)
    for _ in range(20):
        time, weight = rng.exponential(20, 40), rng.integers(0, 5, 40)
        event = np.ones(40, bool)
        repeated = first_time_by_which(0.8, np.repeat(time, weight))
        assert end_of_follow_up(SurvivalData.right(time, event, weight=weight)) == repeated


def test_rows_of_weight_zero_count_as_absent():
    y = SurvivalData.right([1, 2, 3, 4, 5, 90], [True] * 6, weight=[1, 1, 1, 1, 1, 0])
    assert end_of_follow_up(y) == 4
    assert end_of_follow_up(y[[5]]) == 0


def test_rows_with_bounds_have_the_last_finite_one():
    lower, upper = [0.0, 1.0, 2.0, 3.0, 9.0], [2.0, 3.0, 4.0, 5.0, np.inf]
    assert end_of_follow_up(SurvivalData.interval(lower, upper)) == 5
    # Left-censored: the event came at some time up to 7.
    assert end_of_follow_up(SurvivalData.left([7.0, 1.0, 2.0, 3.0, 4.0], [False, True, True, True, True])) == 4
    assert end_of_follow_up(SurvivalData.left([7.0, 7.0, 2.0, 3.0, 4.0], [False, False, True, True, True])) == 7


def test_it_is_the_largest_time_where_nothing_earlier_tells_rows_apart():
    # All events come after the quantile, and a quantile of 0.
    assert end_of_follow_up(SurvivalData.right([1, 1, 1, 1, 8], [False] * 4 + [True])) == 8
    assert end_of_follow_up(SurvivalData.right([0, 0, 0, 0, 6], [False] * 4 + [True])) == 6


def test_it_is_in_the_unit_of_the_data():
    rng = np.random.default_rng(1)
    y = SurvivalData.right(rng.exponential(20, 50), rng.random(50) < 0.5)
    assert end_of_follow_up(y.scaled(8.0)) == 8 * end_of_follow_up(y)
