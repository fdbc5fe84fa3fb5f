"""Rows to which a prediction gives no probability are named, with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Step
from aldsurv.metrics.error.impossible_rows import find_impossible_rows

INF = np.inf


@pytest.mark.parametrize(
    ("lower", "upper", "reason"),
    [
        (7.0, 7.0, "event at 7, after the last step of its curve"),
        (2000000.0, 2000000.0, "event at 2000000, after the last step of its curve"),
        (3.5, 3.5, "event at 3.5, between two steps of its curve"),
        (-INF, 1.5, "event by 1.5, before the first step of its curve"),
        (3.2, 3.8, "event between 3.2 and 3.8, between two steps of its curve"),
        (8.0, INF, "censored at 8, when its predicted survival is 0"),
    ],
)
def test_the_reason(lower: float, upper: float, reason: str) -> None:
    # No mass comes at 4: the curve is flat from 3 to 5.
    curve = Step([2.0, 3.0, 4.0, 5.0, 6.0], [[0.8, 0.5, 0.5, 0.3, 0.0]] * 2)
    data = SurvivalData.interval([1.5, lower], [INF, upper])
    impossible = find_impossible_rows(curve, data)
    assert impossible.text() == f"1 of 2 rows has no probability under the prediction: row 1 ({reason})"


def test_a_curve_that_ends_above_0() -> None:
    curve = Step([2.0, 3.0], [[0.8, 0.5]] * 2)
    impossible = find_impossible_rows(curve, SurvivalData.right([9.0, 9.0], [True, False]))
    assert impossible.text([11, 12]).endswith(": row 11 (event at 9, after the last step of its curve)")


@given(late=st.lists(st.booleans(), min_size=1, max_size=12))
def test_rows_are_those_of_the_definition(late: list[bool]) -> None:
    rows = np.flatnonzero(late).tolist()
    curve = Step([2.0, 3.0], np.array([[0.8, 0.5]] * len(late)))
    data = SurvivalData.right(np.where(late, 9.0, 2.5), np.ones(len(late), bool))
    impossible = find_impossible_rows(curve, data)
    assert impossible.rows.tolist() == rows
    text = impossible.text(range(100, 100 + len(late)))
    assert text.startswith(f"{len(rows)} of {len(late)} rows ha")
    assert text.count("(event at 9") == min(len(rows), 3)
    assert all(f"row {100 + row} (" in text for row in rows[:3])
    assert text.endswith(f" and {len(rows) - 3} more") == (len(rows) > 3)


def test_nothing_is_impossible_to_all_times() -> None:
    assert find_impossible_rows(Exponential([1.0]), SurvivalData.right([900.0], [True])).rows.size == 0
