"""Columns of events whose values stand for causes."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv import SurvivalData
from aldsurv.data.event_columns import event_values_column
from aldsurv.data.frame_columns import Column
from aldsurv.datasets import read_table
from aldsurv.errors import DataError, EventValueWarning, ParameterError

VALUES = {1: "relapse", 2: "death"}


def from_values(values: object, event_values: object) -> SurvivalData:
    frame = {"t": np.arange(1.0, 1 + len(values)), "e": values}
    return SurvivalData.from_frame(frame, time="t", event="e", event_values=event_values)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_all_other_values_are_censored(codes):
    if not {1, 2} & set(codes):
        return
    kept = [code if code in (1, 2) else 0 for code in codes]
    expected = SurvivalData.competing(np.arange(1.0, 1 + len(codes)), kept, names=["relapse", "death"])
    names = np.array(["no", "local", "gone", "left", "lost", "x"], object)
    for values, event_values in (
        (np.array(codes), VALUES),
        (np.array(codes, float), VALUES),
        (names[codes], {"local": "relapse", "gone": "death"}),
        (pd.Series(names[codes], dtype="category"), {"local": "relapse", "gone": "death"}),
    ):
        data = from_values(values, event_values)
        np.testing.assert_array_equal(data.cause, expected.cause)
        np.testing.assert_array_equal(data.upper, expected.upper)
        assert data.causes == ("relapse", "death")


def test_causes_are_numbered_in_the_order_of_the_names():
    data = from_values([0, 1, 2], {2: "death", 1: "relapse"})
    assert (data.causes, data.cause.tolist()) == (("death", "relapse"), [0, 2, 1])
    assert from_values([True, False], {True: "dead", False: "alive"}).cause.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("values", "event_values", "kind", "told"),
    [
        (
            [0, 1, 3],
            {**VALUES, 0: "censored"},
            DataError,
            r"does not name 3, .* but only 1 \(relapse\)",
        ),
        (
            [0, 3, 4],
            VALUES,
            DataError,
            r"names 1, 2, and none of them occurs in event, which holds 0 \(1 row\), 3 \(1 row\), 4",
        ),
        ([1, np.nan], VALUES, DataError, "must be known in every row, but 1 of 2 values are not"),
        (["a", None], {"a": "x", "b": "y"}, DataError, "must be known in every row"),
        ([1, 2], {1: "a", 2: "a"}, ParameterError, "must name different causes, but has 'a', 'a'"),
        ([1, 2], {0: "censored"}, ParameterError, "but has none"),
        ([1, 2], ["a", "b"], ParameterError, "must be a dict"),
        ([1, 2], {1: 5}, ParameterError, "must be a dict"),
        (np.array([[1], [[]]], dtype=object)[:, 0], VALUES, DataError, "must hold plain values"),
    ],
)
def test_errors(values, event_values, kind, told):
    with pytest.raises(kind, match=told):
        from_values(values, event_values)


def test_gaps_may_be_censored():
    data = from_values(["a", None, "b"], {"a": "x", "b": "y", None: "censored"})
    assert data.cause.tolist() == [1, 0, 2]
    assert from_values([1, np.nan, 2], {**VALUES, None: "censored"}).cause.tolist() == [1, 0, 2]


def test_values_that_look_like_a_cause_are_mentioned():
    with pytest.warns(EventValueWarning, match=r"'Death' \(1 row\) counts as 'death', too"):
        data = from_values(["death", "Death", "relapse"], {"death": "death", "relapse": "relapse"})
    assert data.cause.tolist() == [1, 1, 2]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_values(["death", "Death", "DEATH"], {"death": "death", "Death": "relapse"})
    assert "'DEATH' in 1 row beside 'death'" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_values(["death", "Death"], {"death": "death", "Death": "relapse"})


def test_values_are_matched_without_regard_to_case():
    values = ["dead ", "DEAD", "relapse", "alive", "Alive"]
    with pytest.warns(EventValueWarning, match=r"'dead ' \(1 row\), 'DEAD' \(1 row\) count as 'Dead'"):
        data = from_values(values, {"Dead": "death", "relapse": "relapse"})
    assert data.cause.tolist() == [1, 1, 2, 0, 0]
    with pytest.warns(EventValueWarning, match="count as 'ALIVE'"):
        kept = from_values([*values[1:4], "Alive"], {"DEAD": "death", "relapse": "relapse", "ALIVE": "censored"})
    assert kept.cause.tolist() == [1, 2, 0, 0]
    # Two names that differ in capital letters only are meant to the letter.
    with pytest.raises(DataError, match="none of them occurs"):
        from_values(["DEAD", "x"], {"dead": "a", "Dead": "b"})


def test_arguments_that_do_not_go_together():
    frame = {"t": [1.0, 2.0], "e": [1, 2], "u": [3.0, 4.0]}
    with pytest.raises(ParameterError, match="event_values cannot be combined with event_value"):
        SurvivalData.from_frame(frame, time="t", event="e", event_value=1, event_values=VALUES)
    with pytest.raises(ParameterError, match="event_values cannot be combined with lower and upper"):
        SurvivalData.from_frame(frame, lower="t", upper="u", event_values=VALUES)


def test_columns_are_read_as_such():
    codes, names = event_values_column(Column([2, 0, 1], "event"), VALUES)
    assert (codes.tolist(), names) == ([2, 0, 1], ("relapse", "death"))


def test_tables_have_the_values_of_their_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("t,e,x\n1,2,0\n2,0,1\n3,1,0\n4,9,1\n")
    table = read_table(path, time="t", event="e", event_values=VALUES)
    assert table.y is not None
    assert table.y.cause.tolist() == [2, 0, 1, 0]
    assert table.event_values == (2, 0, 1, 9)
    assert table[:2].event_values == (2, 0, 1, 9)
    assert read_table(path, time="t", event="e", event_value=1).event_values == ()
    with pytest.raises(DataError, match=r"does not name 9.*line 5"):
        read_table(path, time="t", event="e", event_values={**VALUES, 0: "censored"})
