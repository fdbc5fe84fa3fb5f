from __future__ import annotations

import copy
import dataclasses
import datetime
import pickle
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sksurv.util import Surv

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import AldsurvError, CensoringError, DataError, EventValueWarning, ParameterError, UnknownNameError

INF = np.inf
right, left, interval, from_frame, of = (
    SurvivalData.right,
    SurvivalData.left,
    SurvivalData.interval,
    SurvivalData.from_frame,
    SurvivalData.of,
)


def whole(message: str) -> str:
    return f"^{re.escape(message)}$"


def same(a: SurvivalData, b: SurvivalData) -> bool:
    return all(
        (x is None and y is None) or np.array_equal(x, y)
        for x, y in ((getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(SurvivalData))
    )


@st.composite
def survival_data(draw: st.DrawFn, right_only: bool = False, min_size: int = 1) -> SurvivalData:
    n = draw(st.integers(min_size, 25))
    grid = st.integers(1, 12).map(lambda k: k / 4)
    lower = np.array(draw(st.lists(grid, min_size=n, max_size=n)))
    kind = draw(st.lists(st.integers(0, 1 if right_only else 3), min_size=n, max_size=n))
    width = np.array(draw(st.lists(grid, min_size=n, max_size=n)))
    upper = np.choose(kind, [lower, np.full(n, INF), lower, lower + width])
    lower = np.where(np.array(kind) == 2, -INF, lower)
    entry = draw(st.sampled_from([None, np.full(n, 0.125), np.where(width > 1, 0.0, -INF)]))
    weight = draw(st.sampled_from([None, width]))
    return interval(lower, upper, entry=entry, weight=weight)


# ---- kinds of input


@pytest.mark.parametrize(
    "time",
    [
        [3, 1.5, 0],
        (3, 1.5, 0),
        np.array([3, 1.5, -0.0]),
        np.array([3, 1.5, 0], dtype=np.float32),
        np.array([[3], [1.5], [0]]),
        np.array([3, 1.5, 0], dtype=">f8"),
        np.array([9, 3, 9, 1.5, 9, 0])[1::2],
        np.ma.array([3, 1.5, 0], mask=[False, False, False]),
        [Decimal("3"), Fraction(3, 2), np.float32(0)],
        pd.Series([3, 1.5, 0], index=[7, 8, 9]),
        pd.Series([3, 1.5, 0], dtype="Float64"),
        pd.Series([3, 1.5, 0], dtype=object),
        pd.DataFrame({"t": [3, 1.5, 0]}),
        pl.Series([3, 1.5, 0], dtype=pl.Float64),
        pl.Series(["3", "1.5", "0"]).cast(pl.Decimal(10, 2)),
    ],
)
def test_time_is_read_from_any_column(time):
    data = right(time, [1, 0, 1])
    assert data.time.dtype == np.float64
    assert data.time.tolist() == [3, 1.5, 0]
    assert not np.signbit(data.time).any()


@pytest.mark.parametrize(
    ("event", "event_value"),
    [
        ([True, False, True], None),
        ([1, 0, 1], None),
        ([1.0, 0.0, 1.0], None),
        (np.array([1, 0, 1], dtype=np.uint8), None),
        (np.array([[1], [0], [1]]), None),
        ([Decimal(1), Decimal(0), Decimal(1)], None),
        (pd.Series([True, False, True], dtype="boolean"), None),
        (pd.Series([1, 0, 1], dtype="Int64"), None),
        (pd.Series([True, False, True], dtype=object), None),
        (pl.Series([True, False, True]), None),
        (pl.Series([1, 0, 1]), None),
        ([2, 1, 2], 2),
        ([2.0, 1.0, 2.0], 2),
        ([False, True, False], False),
        ([1, 0, 1], True),
        (["dead", "alive", "dead"], "dead"),
        ([1, 2, 1], 1),
        ([1, 3, 1], 1),
        (["1", "0", "1"], "1"),
        (pd.Series(["dead", "alive", "dead"], dtype="category"), "dead"),
        (pd.Series([2, 1, 2], dtype="category"), 2),
        (pd.Series(["dead", "alive", "dead"], dtype="string"), "dead"),
        (pl.Series(["dead", "alive", "dead"]), "dead"),
        (pl.Series(["dead", "alive", "dead"], dtype=pl.Categorical), "dead"),
        (["dead", 0, "dead"], "dead"),
    ],
)
def test_event_is_read_from_any_column(event, event_value):
    data = right([5, 6, 7], event, event_value=event_value)
    assert data.event.dtype == np.bool_
    assert data.event.tolist() == [True, False, True]


def test_all_other_values_than_the_event_are_censored():
    assert right([1, 2, 3, 4], [0, 1, 2, 1], event_value=1).event.tolist() == [False, True, False, True]


def test_bounds_encode_the_four_kinds():
    data = interval([1, 2, -INF, 4, 0], [1, INF, 3, 6, 2])
    assert data.exact.tolist() == [True, False, False, False, False]
    assert data.right_censored.tolist() == [False, True, False, False, False]
    assert data.left_censored.tolist() == [False, False, True, False, False]
    assert data.interval_censored.tolist() == [False, False, False, True, True]
    assert data.n_events == 1
    assert same(data, SurvivalData(data.lower, data.upper))


def test_right_and_left_in_bounds():
    a, b = right([1, 2], [True, False]), left([1, 2], [True, False])
    assert (a.lower.tolist(), a.upper.tolist()) == ([1, 2], [1, INF])
    assert (b.lower.tolist(), b.upper.tolist()) == ([1, -INF], [1, 2])


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pd.DataFrame,
        pl.DataFrame,
        lambda c: np.rec.fromarrays(list(c.values()), names=list(c)),
    ],
)
def test_from_frame(make):
    frame = make(
        {
            "months": np.array([5.0, 3.0]),
            "status": np.array(["dead", "alive"]),
            "start": np.array([1.0, 0.0]),
            "w": np.array([1, 2]),
            "to": np.array([5.0, INF]),
        }
    )
    data = from_frame(frame, time="months", event="status", event_value="dead", entry="start", weight="w")
    assert same(data, right([5, 3], [1, 0], entry=[1, 0], weight=[1, 2]))
    data = from_frame(frame, lower="months", upper="to", entry="start", weight="w")
    assert same(data, right([5, 3], [1, 0], entry=[1, 0], weight=[1, 2]))


def test_column_names_need_not_be_text():
    frame = pd.DataFrame({0: [5.0, 3.0], 1: [1, 0]})
    assert same(from_frame(frame, time=0, event=1), right([5, 3], [1, 0]))


def test_scikit_survival_array():
    array = Surv.from_arrays([True, False], [5.0, 3.0], name_event="cens", name_time="days")
    assert same(SurvivalData.from_structured(array), right([5, 3], [1, 0]))
    assert same(of(array), right([5, 3], [1, 0]))
    assert same(of(array[["days", "cens"]]), right([5, 3], [1, 0]))
    assert of(array, event_value=False).event.tolist() == [False, True]


@pytest.mark.parametrize("frame_type", [pd.DataFrame, pl.DataFrame, dict])
@pytest.mark.parametrize(
    ("time", "event"),
    [
        ("time", "event"),
        ("T", "E"),
        ("Survival_in_days", "Status"),
        ("Overall Survival (Months)", "Overall Survival Status"),
        ("days_to_death", "death"),
        ("eventTime", "eventObserved"),
        ("os", "dead"),
        ("a", "status"),
        ("duration", "b"),
        ("a", "b"),
    ],
)
def test_two_columns_are_told_apart(frame_type, time, event):
    columns = {time: [5.0, 3.0, 2.0], event: [1, 0, 1]}
    expected = right([5, 3, 2], [1, 0, 1])
    assert same(of(frame_type(columns)), expected)
    assert same(of(frame_type(dict(reversed(columns.items())))), expected)


def test_bools_are_the_event_when_names_say_nothing():
    frame = pd.DataFrame({"a": [True, False, True], "b": [1, 1, 1]})
    assert same(of(frame), right([1, 1, 1], [1, 0, 1]))


def test_of_other_inputs():
    data = right([5, 3], [1, 0])
    assert of(data) is data
    assert same(of(([5, 3], [1, 0])), data)
    assert same(of((pd.Series([5, 3]), pl.Series(["dead", "no"])), event_value="dead"), data)
    assert same(of({"time": [5, 3], "censored": [0, 1]}, event_value=0), data)
    ints = np.array([(5.0, 1), (3.0, 0)], dtype=[("time", "f8"), ("status", "i4")])
    assert same(of(ints), data)


# ---- refusals


CORRECT = "Drop or correct those rows."
ROW = "Give one value per row."
UNIT = "Give numbers in one unit."
CONVERT = "It looks like a number: convert the column to float first."
DATES = "Subtract the start date and give the difference as a number in one unit, such as days."
SPANS = "Divide by one unit of time, such as one day, and give the number."
EVENT = "If this is the event column, pass it as event."
PLAIN = "Give plain real numbers."
DAY = datetime.date(2020, 1, 1)


def refusal(subject: str, rule: str, count: str, first: str, remedy: str = CORRECT, column: str | None = None) -> str:
    verb = "is" if count.startswith("1 ") else "are"
    row, value = first.split(", ", 1)
    place = f"row {row}" if column is None else f"column {column!r}, row {row}"
    return f"{subject} must be {rule}, but {count} values {verb} not, first {value} ({place}). {remedy}"


@pytest.mark.parametrize(
    ("time", "count", "first"),
    [
        ([1, -2, -3], "2 of 3", "1, -2.0"),
        ([1, 2, INF], "1 of 3", "2, inf"),
        ([1, np.nan, 3], "1 of 3", "1, nan"),
        ([1, None, 3], "1 of 3", "1, nan"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "1 of 3", "1, nan"),
        (pd.Series([1, None, 3], dtype="Int64"), "1 of 3", "1, nan"),
        (pd.Series([1, pd.NA, 3]), "1 of 3", "1, nan"),
        (pl.Series([1, None, 3]), "1 of 3", "1, nan"),
        (pl.Series([1.0, None, 3.0]), "1 of 3", "1, nan"),
    ],
)
def test_times_must_be_finite_and_not_negative(time, count, first):
    with pytest.raises(DataError, match=whole(refusal("time", "finite and not negative", count, first))):
        right(time, [1, 0, 1])


@pytest.mark.parametrize(
    ("time", "count", "first", "remedy"),
    [
        (["1.5", "2", "3"], "3 of 3", "0, the text '1.5'", CONVERT),
        ([1, "n/a", 3], "1 of 3", "1, the text 'n/a'", UNIT),
        (pl.Series(["x", "y", "z"]), "3 of 3", "0, the text 'x'", UNIT),
        ([DAY] * 3, "3 of 3", "0, the date '2020-01-01'", DATES),
        (pl.Series([DAY] * 3), "3 of 3", "0, the date '2020-01-01'", DATES),
        (np.array([DAY] * 3, "M8[D]"), "3 of 3", "0, the date '2020-01-01'", DATES),
        (
            pd.Series(pd.to_datetime(["2020-01-01"] * 3, utc=True)),
            "3 of 3",
            "0, the date '2020-01-01 00:00:00+00:00'",
            DATES,
        ),
        ([datetime.timedelta(3)] * 3, "3 of 3", "0, the time span '3 days, 0:00:00'", SPANS),
        (np.array([3, 4, 5], "m8[D]"), "3 of 3", "0, the time span '3 days'", SPANS),
        ([True, False, True], "3 of 3", "0, the bool True", EVENT),
        ([1j, 2, 3], "3 of 3", "0, the complex 1j", PLAIN),
        (pd.Series(pd.period_range("2020", periods=3, freq="Y")), "3 of 3", "0, the Period '2020'", PLAIN),
    ],
)
def test_times_must_be_numbers(time, count, first, remedy):
    with pytest.raises(DataError, match=whole(refusal("time", "numbers", count, first, remedy))):
        right(time, [1, 0, 1])


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([[1, 2], [3, 4]], f"time must be one column, but its shape is (2, 2) (type list). {ROW}"),
        (5, f"time must be one column, but its shape is () (type int). {ROW}"),
        ([1, 2], "time has 2 values, but event has 3. Give columns of equal length: one value per row."),
    ],
)
def test_times_must_be_one_column(time, message):
    with pytest.raises(DataError, match=whole(message)):
        right(time, [1, 0, 1])


def test_ragged_lists_are_refused():
    with pytest.raises(DataError, match=r"^time cannot be read as a column \(.*\)\. Give one value per row\.$"):
        right([[1], [2, 3]], [1, 0])


@pytest.mark.parametrize("empty", [[], np.array([], dtype=str), pd.Series([], dtype=object)])
def test_no_rows(empty):
    with pytest.raises(DataError, match=whole("time has no rows. Give at least one.")):
        right(empty, empty)


@pytest.mark.parametrize(
    ("event", "found", "guess"),
    [
        ([1, 2, 1], "1 (2 rows), 2 (1 row)", "2"),
        ([1.0, 2.0, 1.0], "1 (2 rows), 2 (1 row)", "2"),
        ([0, 1, 2], "0 (1 row), 1 (1 row), 2 (1 row)", "1"),
        ([2, 2, 2], "2 (3 rows)", "2"),
        (["lost", "dead", "alive"], "'lost' (1 row), 'dead' (1 row), 'alive' (1 row)", "'dead'"),
        (["0:LIVING", "1:DECEASED", "0:LIVING"], "'0:LIVING' (2 rows), '1:DECEASED' (1 row)", "'1:DECEASED'"),
        (["a", "b", "b"], "'a' (1 row), 'b' (2 rows)", "'b'"),
        (["0", "1", "1"], "'0' (1 row), '1' (2 rows)", "'1'"),
        (["yes", "no", "lost"], "'yes' (1 row), 'no' (1 row), 'lost' (1 row)", "'yes'"),
        (["no", "no", "no"], "'no' (3 rows)", "'no'"),
    ],
)
def test_events_must_be_two_valued(event, found, guess):
    message = (
        f"event must be True/False or 0/1, but it holds {found}. Say which value is the event, such as "
        f"event_value={guess}; every other value then counts as censored."
    )
    with pytest.raises(DataError, match=whole(message)):
        right([1, 2, 3], event)


@pytest.mark.parametrize(
    ("time", "event", "found"),
    [
        ([1, 0, 1], [0.5, 1, 2], "3 different numbers: 0.5, 1, 2"),
        ([0, 1] * 4, range(8), "8 different numbers: 0, 1, 2, 3, 4 and 3 more"),
    ],
)
def test_exchanged_columns(time, event, found):
    message = (
        f"event must be True/False or 0/1, but it holds {found}. Were time and event exchanged? "
        "If not, say by event_value which of them is the event."
    )
    with pytest.raises(DataError, match=whole(message)):
        right(time, event)


@pytest.mark.parametrize(
    ("event", "event_value", "found"),
    [
        (["dead", "alive", "dead"], "died", "'dead' (2 rows), 'alive' (1 row)"),
        ([0, 1, 1], "1", "0 (1 row), 1 (2 rows)"),
        ([0, 1, 1], 2, "0 (1 row), 1 (2 rows)"),
        ([False, True, True], "dead", "False (1 row), True (2 rows)"),
        (list("aabcdefgh"), "z", ", ".join(["'a' (2 rows)", *(f"'{letter}' (1 row)" for letter in "bcdefgh")])),
        (
            list("abbcdefghij"),
            "z",
            "'b' (2 rows), 'a' (1 row), 'c' (1 row), 'd' (1 row), 'e' (1 row), 'f' (1 row), "
            "'g' (1 row), 'h' (1 row) and 2 more",
        ),
    ],
)
def test_event_value_must_occur(event, event_value, found):
    message = f"event_value={event_value!r} does not occur in event, which holds {found}. Give one of these."
    with pytest.raises(DataError, match=whole(message)):
        right(range(len(event)), event, event_value=event_value)


@pytest.mark.parametrize(
    ("event", "event_value", "found"),
    [
        ([0, np.nan, 1], None, "nan"),
        ([0, np.nan, 1], 1, "nan"),
        ([True, None, False], None, "None"),
        (["dead", None, "alive"], "dead", "None"),
        (["dead", np.nan, "alive"], "dead", "nan"),
        (pd.Series([True, None, False], dtype="boolean"), None, "<NA>"),
        (pd.Series(["dead", None, "alive"], dtype="category"), "dead", "nan"),
        (pl.Series([True, None, False]), None, "None"),
        (pl.Series(["dead", None, "alive"]), "dead", "None"),
    ],
)
def test_events_must_be_known(event, event_value, found):
    remedy = "Drop those rows, or say whether the event was observed."
    message = refusal("event", "known in every row", "1 of 3", f"1, {found}", remedy)
    with pytest.raises(DataError, match=whole(message)):
        right([1, 2, 3], event, event_value=event_value)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (pd.Series([1, [2], 3]), f"event must hold plain values, but holds [2] (row 1). {ROW}"),
        ([[1, 0]] * 3, f"event must be one column, but its shape is (3, 2) (type list). {ROW}"),
    ],
)
def test_events_must_be_one_column(event, message):
    with pytest.raises(DataError, match=whole(message)):
        right([1, 2, 3], event)


NEVER = "Drop or correct those rows: they were never at risk."
INSIDE = "In such a row the event came after entry: give entry as lower."
FROM_START = "finite and not negative, or -inf where observed from the start"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: right([1, 2], [1, 0], entry=[0, 2]),
            refusal("entry", "before time", "1 of 2", "1, entry 2.0 and time 2.0", NEVER),
        ),
        (
            lambda: left([1, 2], [1, 0], entry=[0, 2]),
            refusal("entry", "before time", "1 of 2", "1, entry 2.0 and time 2.0", NEVER),
        ),
        (
            lambda: interval([1, 2], [1, INF], entry=[1, 0]),
            refusal("entry", "before lower", "1 of 2", "0, entry 1.0 and lower 1.0", NEVER),
        ),
        (
            lambda: interval([-INF, 2], [1, INF], entry=[1, 0]),
            refusal("entry", "before upper", "1 of 2", "0, entry 1.0 and upper 1.0", NEVER),
        ),
        (
            lambda: interval([1, 2], [3, 4], entry=[2, 2]),
            refusal("entry", "at or before lower", "1 of 2", "0, entry 2.0 and lower 1.0", INSIDE),
        ),
        (
            lambda: right([1, 2], [1, 0], entry=[0, np.nan]),
            refusal("entry", FROM_START, "1 of 2", "1, nan"),
        ),
        (lambda: right([1, 2], [1, 0], entry=[-1, 0]), refusal("entry", FROM_START, "1 of 2", "0, -1.0")),
        *(
            (
                lambda name=name: right([1, 2], [1, 0], **{name: [1]}),
                f"time has 2 values, but {name} has 1. Give columns of equal length: one value per row.",
            )
            for name in ("entry", "weight")
        ),
        *(
            (
                lambda w=w: right([1, 2], [1, 0], weight=[1, w]),
                refusal("weight", "finite and not negative", "1 of 2", f"1, {float(w)}"),
            )
            for w in (-1, np.nan, INF)
        ),
        (
            lambda: right([1, 2], [1, 0], weight=[0, 0]),
            "weight must have a finite and positive sum, but the sum of its 2 values is 0. "
            "Rescale them or leave them out.",
        ),
        (
            lambda: interval([1, 3], [2, 1]),
            refusal("lower", "at most upper", "1 of 2", "1, lower 3.0 and upper 1.0"),
        ),
        (
            lambda: interval([1, -INF], [2, INF]),
            refusal(
                "lower",
                "finite where upper is infinite",
                "1 of 2",
                "1, lower -inf and upper inf",
                "Drop those rows: they say nothing about the time of the event.",
            ),
        ),
        (
            lambda: interval([1, INF], [2, INF]),
            refusal("lower", "finite and not negative, or -inf where left-censored", "1 of 2", "1, inf"),
        ),
        (
            lambda: interval([1, 2], [2, np.nan]),
            refusal("upper", "not negative, and inf where right-censored", "1 of 2", "1, nan"),
        ),
        (
            lambda: interval([1, 2], [2]),
            "lower has 2 values, but upper has 1. Give columns of equal length: one value per row.",
        ),
        (
            lambda: SurvivalData(np.array([5, 3]), np.array([True, False])),
            refusal("upper", "numbers", "2 of 2", "0, the bool True", EVENT),
        ),
    ],
)
def test_bounds_entries_and_weights_that_are_refused(make, message):
    with pytest.raises(DataError, match=whole(message)):
        make()


def test_entry_may_equal_the_lower_end_of_an_interval_and_be_minus_infinite():
    data = interval([2, 1, -INF], [3, 1, 4], entry=[2, -INF, 3])
    assert data.entry.tolist() == [2, -INF, 3]


FRAME = pd.DataFrame({"os_months": [5.0, -1.0], "status": ["dead", "alive"], "w": [1.0, 2.0]})
EXPLICIT = "Use SurvivalData.from_frame(y, time=..., event=..., event_value=...)."


FRAMES = [FRAME, pl.DataFrame(FRAME), dict(FRAME), FRAME.to_records(index=False)]
DEAD = {"event": "status", "event_value": "dead"}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"time": "os_months", **DEAD},
            refusal("time", "finite and not negative", "1 of 2", "1, -1.0", column="os_months"),
        ),
        (
            {"time": "w", **DEAD, "weight": "os_months"},
            refusal("weight", "finite and not negative", "1 of 2", "1, -1.0", column="os_months"),
        ),
        (
            {"time": "w", **DEAD, "entry": "os_months"},
            refusal("entry", FROM_START, "1 of 2", "1, -1.0", column="os_months"),
        ),
        (
            {"time": "w", "event": "status"},
            "event must be True/False or 0/1, but it holds 'dead' (1 row), 'alive' (1 row) (column 'status'). Say "
            "which value is the event, such as event_value='dead'; every other value then counts as censored.",
        ),
        (
            {"lower": "w", "upper": "os_months"},
            refusal("upper", "not negative, and inf where right-censored", "1 of 2", "1, -1.0", column="os_months"),
        ),
    ],
)
def test_messages_name_the_column(frame, columns, message):
    with pytest.raises(DataError, match=whole(message)):
        from_frame(frame, **columns)


def test_errors_have_parts():
    with pytest.raises(DataError) as caught:
        from_frame(FRAME, time="os_months", **DEAD)
    error = caught.value
    assert (error.argument, error.column, error.row, error.advice) == ("time", "os_months", 1, CORRECT)
    with pytest.raises(DataError) as caught:
        from_frame(FRAME, time="w", event="status")
    error = caught.value
    assert (error.argument, error.column, error.row, error.suggestion) == ("event_value", "status", None, "dead")
    with pytest.raises(UnknownNameError) as caught:
        from_frame(FRAME, time="w", event="state")
    assert (caught.value.argument, caught.value.suggestion) == ("event", "status")


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("name", "hint"), [("os_month", "Did you mean 'os_months'? "), ("zzz", "")])
def test_a_column_that_is_not_there(frame, name, hint):
    message = f"there is no column {name!r}. {hint}Columns: 'os_months', 'status', 'w'."
    with pytest.raises(UnknownNameError, match=whole(message)):
        from_frame(frame, time=name, event="status")


@pytest.mark.parametrize("names", [[], ["time"], ["lower"], ["time", "upper"], ["time", "event", "lower"]])
def test_a_frame_needs_one_pair_of_columns(names):
    message = (
        "from_frame needs the columns time and event (or cause), or lower and upper, but got "
        f"{' and '.join(names) or 'neither'}. Name one pair, such as time='months', event='status'."
    )
    with pytest.raises(ParameterError, match=whole(message)):
        from_frame(FRAME, **dict.fromkeys(names, "w"))


@pytest.mark.parametrize("frame", [[1, 2], np.zeros((2, 2)), pd.Series([1]), pl.DataFrame(FRAME).lazy(), None])
def test_what_is_no_frame(frame):
    message = (
        f"a frame must have named columns and rows, but {type(frame).__name__} has not. Give a pandas or "
        "polars frame (a lazy one collected), a dict of arrays or a structured array."
    )
    with pytest.raises(DataError, match=whole(message)):
        from_frame(frame, time="a", event="b")


def test_a_column_name_that_stands_twice():
    twice = pd.concat([FRAME, FRAME], axis=1)
    message = "time must be one column, but its shape is (2, 2) (type DataFrame) (column 'w'). Give one value per row."
    with pytest.raises(DataError, match=whole(message)):
        from_frame(twice, time="w", event="status")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (FRAME, f"y must have two columns, but it has 3 ('os_months', 'status', 'w'). {EXPLICIT}"),
        ({}, f"y must have two columns, but it has 0 (). {EXPLICIT}"),
        (
            {"a": [1, 2], "b": [1, 0]},
            f"columns 'a', 'b': it is not clear which is the time and which the event. {EXPLICIT}",
        ),
        (
            {"time1": [1, 2, 3], "time2": [1, 5, 7]},
            f"columns 'time1', 'time2': it is not clear which is the time and which the event. {EXPLICIT}",
        ),
        (
            {"time": [1, 2], "Censored": [1, 0]},
            f"columns 'time', 'Censored': it is not clear whether 1 means censored or not. {EXPLICIT}",
        ),
    ],
)
def test_targets_that_are_refused(y, message):
    with pytest.raises(DataError, match=whole(message)):
        of(y)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (np.zeros((3, 2)), "ndarray of shape (3, 2)"),
        (np.zeros(3), "ndarray of shape (3,)"),
        ([[1, 0], [2, 1]], "list"),
        (([1], [0], [1]), "tuple"),
        (pd.Series([1]), "Series"),
        (pl.DataFrame(FRAME).lazy(), "LazyFrame"),
        (None, "NoneType"),
    ],
)
def test_targets_without_names_are_refused(y, kind):
    message = (
        f"y must say what is time and what is event, but {kind} does not. Give SurvivalData.right(time, "
        "event), a tuple (time, event) such as (y[:, 0], y[:, 1]), or a frame of two named columns "
        "(a lazy one collected)."
    )
    with pytest.raises(DataError, match=whole(message)):
        of(y)


def test_event_value_for_data_that_know_their_events():
    with pytest.raises(ParameterError, match="event_value cannot be combined with lower and upper"):
        from_frame(FRAME, lower="w", upper="w", event_value=1)
    with pytest.raises(
        ParameterError, match="event_value cannot be combined with SurvivalData, whose events are already marked"
    ):
        of(right([1], [1]), event_value=1)


@pytest.mark.parametrize(
    ("array", "found"),
    [
        (np.zeros(2, [("e", "i4"), ("t", "f8")]), "[('e', '<i4'), ('t', '<f8')]"),
        (np.zeros(2, [("e", "?"), ("t", "f8"), ("u", "f8")]), "[('e', '?'), ('t', '<f8'), ('u', '<f8')]"),
        (np.zeros(2), "float64"),
        ([1, 2], "list"),
    ],
)
def test_structured_arrays_that_are_refused(array, found):
    message = (
        f"a structured array must have one field of bool and one of numbers, but {found} was given. "
        "Use SurvivalData.from_frame(array, time=..., event=...) to name the two."
    )
    with pytest.raises(DataError, match=whole(message)):
        SurvivalData.from_structured(array)


def test_every_refusal_is_an_aldsurv_error_and_a_value_error():
    assert issubclass(DataError, AldsurvError)
    assert issubclass(DataError, ValueError)


# ---- what the data can do


def test_input_is_copied_and_arrays_are_read_only():
    time, event, entry, weight = np.array([5.0, 3.0]), np.array([True, False]), np.zeros(2), np.ones(2)
    data = right(time, event, entry=entry, weight=weight)
    for array in (time, entry, weight):
        array += 1
    event[:] = ~event
    assert same(data, right([5, 3], [1, 0], entry=[0, 0], weight=[1, 1]))
    reloaded = pickle.loads(pickle.dumps(data))  # noqa: S301
    for part in (data, data[:1], reloaded, copy.deepcopy(data)):
        for field in ("lower", "upper", "entry", "weight"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(part, field)[0] = 9
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.lower = time


@given(survival_data(), st.data())
def test_slicing_is_slicing_of_the_columns(data, drawn):
    n = len(data)
    rows = drawn.draw(
        st.one_of(
            st.slices(n),
            st.lists(st.integers(-n, n - 1)),
            st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
        )
    )
    part = data[rows]
    for field in dataclasses.fields(data):
        column, found = getattr(data, field.name), getattr(part, field.name)
        if column is None:
            assert found is None
        else:
            expected = column[rows] if isinstance(rows, slice) or len(rows) else column[:0]
            np.testing.assert_array_equal(found, expected)


def test_one_row_and_iteration():
    data = right([5, 3, 2], [1, 0, 1])
    assert len(data[-1]) == 1
    assert data[np.int64(1)].time.tolist() == [3]
    assert [row.time[0] for row in data] == [5, 3, 2]
    assert data[pd.Series([True, False, True])].time.tolist() == [5, 2]
    assert str(data[[]]) == "n=0"


def test_rows_that_are_not_there():
    data = right([5, 3, 2], [1, 0, 1])
    with pytest.raises(IndexError):
        data[3]
    with pytest.raises(IndexError):
        data[[0.5]]
    with pytest.raises(ParameterError, match=whole("a mask must have one value per row, but it has 2 for 3 rows.")):
        data[[True, False]]
    with pytest.raises(ParameterError, match=re.escape("but have shape (1, 2)")):
        data[[[0, 1]]]


@given(survival_data())
def test_each_row_is_of_one_kind(data):
    kinds = np.array([data.exact, data.right_censored, data.left_censored, data.interval_censored])
    assert (kinds.sum(axis=0) == 1).all()
    assert data.total_weight == pytest.approx(data.weights.sum())


def test_time_and_event_exist_for_right_censored_rows_only():
    data = interval([1, -INF, 2], [1, 3, 4])
    message = (
        "time and event exist for exact and right-censored rows only, but 2 of 3 rows have left- or "
        "interval-censoring, first (-inf, 3] (row 1). Use lower and upper, or only the rows "
        "data[data.exact | data.right_censored]."
    )
    for name in ("time", "event"):
        with pytest.raises(CensoringError, match=whole(message)):
            getattr(data, name)
    with pytest.raises(CensoringError):
        data.to_structured()
    assert data[data.exact | data.right_censored].time.tolist() == [1]


@given(survival_data(), st.sampled_from([0.25, 2.0, 365.25]))
def test_scaled(data, a):
    scaled = data.scaled(a)
    np.testing.assert_array_equal(scaled.lower, data.lower * a)
    np.testing.assert_array_equal(scaled.upper, data.upper * a)
    if data.entry is not None:
        np.testing.assert_array_equal(scaled.entry, data.entry * a)
    assert scaled.weight is data.weight


@pytest.mark.parametrize("a", [0, -1, np.nan, INF, "2", None])
def test_scale_that_is_no_scale(a):
    with pytest.raises(ParameterError, match="a must be a number above 0"):
        right([1], [1]).scaled(a)


@pytest.mark.parametrize(
    ("data", "a"),
    [
        (right([10], [1]), 1e308),
        (interval([5e-324], [1e-323]), 0.1),
        (right([1e-323], [0], entry=[5e-324]), 0.1),
    ],
)
def test_scale_must_not_change_the_kind_of_a_row(data, a):
    message = f"a={a!r} gives times that a float cannot distinguish. Choose another unit."
    with pytest.raises(ParameterError, match=whole(message)):
        data.scaled(a)


def test_concatenate_fills_what_a_part_lacks():
    a = right([1, 2], [1, 0])
    b = right([3], [1], entry=[2], weight=[5])
    joined = SurvivalData.concatenate(part for part in (a, b))
    assert same(joined, right([1, 2, 3], [1, 0, 1], entry=[-INF, -INF, 2], weight=[1, 1, 5]))
    assert SurvivalData.concatenate([a]).entry is None
    for parts, found in (([], "none"), ([a, 1], "SurvivalData, int")):
        with pytest.raises(ParameterError, match=f"but got {found}"):
            SurvivalData.concatenate(parts)


@given(
    survival_data(min_size=2),
    st.floats(0.05, 0.95),
    st.integers(0, 99),
    st.booleans(),
)
def test_split(data, test, seed, stratify):
    n, n_test = len(data), round(test * len(data))
    if n_test in (0, n):
        with pytest.raises(ParameterError, match="Choose a share that leaves both some rows"):
            data.split(test, random_state=seed)
        return
    train_rows, test_rows = data.split_rows(test, random_state=seed, stratify=stratify)
    assert len(test_rows) == n_test
    np.testing.assert_array_equal(np.sort(np.concatenate([train_rows, test_rows])), np.arange(n))
    train_part, test_part = data.split(test, random_state=np.random.default_rng(seed), stratify=stratify)
    assert same(train_part, data[train_rows])
    assert same(test_part, data[test_rows])
    joined = SurvivalData.concatenate([train_part, test_part])
    assert same(joined, data[np.concatenate([train_rows, test_rows])])
    if stratify:
        for part in (train_part, test_part):
            assert abs(part.n_events - len(part) * data.n_events / n) < 1


def test_split_is_random_but_repeatable():
    data = right(np.arange(100), np.arange(100) % 2)
    a, b, c = (data.split_rows(random_state=seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert set(a) != set(c)
    assert len(a) == 20
    # Without stratification the number of events varies with the seed.
    counts = {data.split(random_state=seed, stratify=False)[1].n_events for seed in range(10)}
    assert len(counts) > 1


@pytest.mark.parametrize("test", [0, 1, 1.0, 20, -0.2, np.nan, "0.2", None])
def test_share_that_is_no_share(test):
    with pytest.raises(ParameterError, match="test must be a share between 0 and 1, but is"):
        right([1, 2], [1, 0]).split(test)


@pytest.mark.parametrize("seed", ["a", -1, 0.5])
def test_seed_that_is_no_seed(seed):
    with pytest.raises(ParameterError, match="random_state must be an integer from 0, a numpy Generator or None"):
        right([1, 2], [1, 0]).split(0.5, random_state=seed)


@given(survival_data(right_only=True))
def test_structured_round_trip(data):
    array = data.to_structured()
    expected = Surv.from_arrays(data.event, data.time, name_event="event", name_time="time")
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)
    bare = interval(data.lower, data.upper)
    assert same(SurvivalData.from_structured(array), bare)
    assert same(of(data.to_structured("dead", "days")), bare)


def test_structured_needs_two_names():
    with pytest.raises(ParameterError, match="must have different names, but both are 'x'"):
        right([1], [1]).to_structured("x", "x")


def test_summary():
    event = np.arange(1904) < 1103
    data = right(np.linspace(0, 355.2, 1904), event)
    assert str(data) == data.summary() == "n=1904, 1103 events (58 %), time 0–355"
    assert repr(data) == "SurvivalData(n=1904)"
    data = interval([1, -INF, 2.25, 0.5], [1, 3, 12.5, INF], entry=[0, 1, 2, -INF], weight=[0.5, 1, 3, 1195.5])
    assert (
        str(data) == "n=4, 1 exact event (25 %), time 0.5–12.5, 1 left-censored, 1 interval-censored, entry 0–2, "
        "weights 0.5–1196 (total 1200)"
    )
    assert str(right([1e-4, 1e12], [0, 0], entry=[-INF, -INF])) == "n=2, 0 events (0 %), time 0.0001–1e+12"


# ---- competing causes

competing = SurvivalData.competing
CAUSES = [2, 0, 1, 2, 0, 1]
TIMES = [5.0, 3.0, 8.0, 2.0, 2.0, 7.0]


def test_causes_by_number_and_by_text():
    plain = competing(TIMES, CAUSES)
    assert plain.causes == ("1", "2")
    np.testing.assert_array_equal(plain.cause, CAUSES)
    np.testing.assert_array_equal(plain.event, np.array(CAUSES) > 0)
    np.testing.assert_array_equal(plain.time, TIMES)
    words = np.array(["alive", "death", "relapse"], dtype=object)[CAUSES]
    named = competing(TIMES, words, censored="alive")
    assert named.causes == ("death", "relapse")
    np.testing.assert_array_equal(named.cause, CAUSES)
    gaps = np.array([None, "death", "relapse"], dtype=object)[CAUSES]
    stated = [
        competing(TIMES, gaps),
        competing(TIMES, pd.Series(gaps)),
        competing(TIMES, pl.Series(gaps.tolist())),
        competing(TIMES, np.array(["Censored", "death", "relapse"])[CAUSES]),
        competing(TIMES, CAUSES, names=["death", "relapse"]),
        competing(TIMES, np.array(CAUSES, float), names={1: "death", 2: "relapse"}),
        competing(TIMES, np.array([9, 4, 7])[CAUSES], censored=9, names={4: "death", 7: "relapse"}),
        from_frame({"t": TIMES, "what": words}, time="t", cause="what", censored="alive"),
        SurvivalData(named.lower, named.upper, None, None, named.cause, named.causes),
    ]
    assert all(same(named, other) for other in stated)
    # The order of the names is that of the numbers; a cause may have no rows.
    turned = competing(TIMES, words, censored="alive", names=["relapse", "other", "death"])
    np.testing.assert_array_equal(turned.cause, np.array([0, 3, 1])[CAUSES])
    # Other codes than 0, 1, 2, … keep their order.
    assert competing([1, 2, 3], [1, 3, 2], censored=1).causes == ("2", "3")
    assert competing([1, 2], [True, False]).causes == ("1",)


def test_causes_stay_with_their_rows():
    data = competing(TIMES, CAUSES, names=["death", "relapse"], weight=[1, 2, 3, 4, 5, 6], entry=[1, 1, 1, 1, 1, 1])
    chosen = np.array([4, 0, 2])
    for part, rows in (
        (data[chosen], chosen),
        (data[::-2], np.arange(6)[::-2]),
        (data[np.array(CAUSES) > 0], np.flatnonzero(CAUSES)),
        (data[-1], [5]),
        (data.scaled(7.0), np.arange(6)),
        (data.with_weight(np.ones(6)), np.arange(6)),
        (data.with_weight(None), np.arange(6)),
        (pickle.loads(pickle.dumps(data)), np.arange(6)),  # noqa: S301
        (copy.deepcopy(data), np.arange(6)),
        (SurvivalData.concatenate([data[:2], data[2:]]), np.arange(6)),
        (SurvivalData.of(data), np.arange(6)),
    ):
        np.testing.assert_array_equal(part.cause, np.array(CAUSES)[rows])
        assert part.causes == ("death", "relapse")
        np.testing.assert_array_equal(part.cause > 0, part.event)
        with pytest.raises(ValueError, match="read-only"):
            part.cause[0] = 1
    train, test = data.split(0.5, random_state=0)
    assert sorted(np.concatenate([train.cause, test.cause])) == sorted(CAUSES)
    other = data.with_weight([6, 5, 4, 3, 2, 1])
    np.testing.assert_array_equal(other.weight, [6, 5, 4, 3, 2, 1])
    np.testing.assert_array_equal(other.entry, data.entry)
    assert data.with_weight(None).weight is None


def test_one_cause_of_several():
    data = competing(TIMES, CAUSES, names=["death", "relapse"], weight=[1, 2, 3, 4, 5, 6], entry=[1, 1, 1, 1, 1, 1])
    expected = right(TIMES, np.array(CAUSES) == 2, weight=[1, 2, 3, 4, 5, 6], entry=[1, 1, 1, 1, 1, 1])
    assert same(data.of_cause("relapse"), expected)
    assert same(data.of_cause(2), expected)
    assert str(data[[0, 1, 2]].with_weight(None)) == (
        "n=3, 2 events (67 %), time 3–8, causes death (1), relapse (1), entry 1–1"
    )
    assert repr(data) == "SurvivalData(n=6, causes=['death', 'relapse'])"
    with pytest.raises(ParameterError, match="a number from 1 to 2 or one of 'death', 'relapse', but is 3"):
        data.of_cause(3)
    with pytest.raises(ParameterError, match="but is 'deth'"):
        data.of_cause("deth")
    with pytest.raises(ParameterError, match="one kind only"):
        right([1], [1]).of_cause(1)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"cause": [1, np.nan, 0]}, DataError, "cause must be known in every row, but 1 of 3 values is not"),
        (
            {"cause": [1, 0.5, 0]},
            DataError,
            "numbers from 0 on or text, but 1 of 3 values is not, first 0.5 \\(row 1\\)",
        ),
        ({"cause": [1, 0]}, DataError, "time has 3 values, but cause has 2"),
        ({"cause": ["a", "b", "a"]}, DataError, "none of them says that no event was observed"),
        ({"cause": ["a", "b", "a"], "censored": "c"}, DataError, "censored='c' does not occur in cause"),
        ({"cause": [1, 2, 0], "names": ["a"]}, DataError, "cause holds 2, which is not in names: 1"),
        ({"cause": [1, 2, 0], "names": ["a", "a"]}, ParameterError, "names must differ"),
        ({"cause": [1, 2, 0], "names": "ab"}, ParameterError, "names must be a list"),
        ({"cause": [-1, 2, 0]}, DataError, "cause must be whole numbers from 0 on or text, but 1 of 3 values is not"),
        ({"cause": [0, 1, 365]}, DataError, "holds 365 causes, and 100 are allowed"),
    ],
)
def test_causes_that_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        competing([1, 2, 3], **arguments)


def test_causes_that_do_not_fit_together():
    data = competing(TIMES, CAUSES)
    with pytest.raises(ParameterError, match="parts must have the same causes"):
        SurvivalData.concatenate([data, right([1], [1])])
    with pytest.raises(ParameterError, match="parts must have the same causes"):
        SurvivalData.concatenate([data, competing(TIMES, CAUSES, names=["a", "b"])])
    with pytest.raises(ParameterError, match="cause and causes must be given together"):
        SurvivalData([1.0], [1.0], cause=np.array([1]))
    with pytest.raises(DataError, match="cause must be positive in the rows with an exactly observed event"):
        SurvivalData([1.0, 2.0], [1.0, INF], cause=np.array([1, 1]), causes=("a",))
    with pytest.raises(ParameterError, match="event_value cannot be combined with time and cause"):
        from_frame({"t": TIMES, "c": CAUSES}, time="t", cause="c", event_value=1)
    with pytest.raises(ParameterError, match="cannot be used without cause"):
        from_frame({"t": TIMES, "c": CAUSES}, time="t", event="c", censored=0)
    with pytest.raises(DataError, match="weight must be finite"):
        data.with_weight([1, 1, 1, 1, 1, -1])


def test_values_that_look_like_the_event_are_named():
    status = np.array(["dead", "Dead", "alive", " dead", "dead", "DEAD", "Dead"], object)
    alike = r"event: 'Dead' \(2 rows\), ' dead' \(1 row\), 'DEAD' \(1 row\) count as 'dead', too"
    with pytest.warns(EventValueWarning, match=f"{alike}: only capital letters and spaces differ") as caught:
        data = SurvivalData.right(np.arange(1, 8), status, event_value="dead")
    assert len(caught) == 1
    assert data.event.tolist() == [True, True, False, True, True, True, True]
    frame = {"t": [1.0, 2.0], "status": ["yes", "Yes"]}
    with pytest.warns(EventValueWarning, match=r"column 'status': 'yes' \(1 row\) counts as 'Yes', too"):
        SurvivalData.from_frame(frame, time="t", event="status", event_value="Yes")


def test_other_values_than_the_event_need_no_warning():
    # Warnings are errors here.
    assert SurvivalData.right([1, 2, 3], ["dead", "alive", "deadly"], event_value="dead").n_events == 1
    assert SurvivalData.right([1, 2, 3], [2, 1, 1], event_value=2).n_events == 1


SPELLINGS = st.sampled_from(["dead", "Dead", " dead", "DEAD ", "dEad"])


@given(st.lists(SPELLINGS | st.sampled_from(["alive", "lost", "deadly"]), min_size=1, max_size=12), SPELLINGS)
def test_events_are_matched_without_regard_to_case_after_saying_so(values, event_value):
    def data():
        return SurvivalData.right(range(1, 1 + len(values)), values, event_value=event_value)

    alike = [value.strip().lower() == "dead" for value in values]
    if any(like and value != event_value for like, value in zip(alike, values, strict=True)):
        itself = ", too" if event_value in values else ", which does not occur itself"
        with pytest.warns(EventValueWarning, match=f"{itself}: only capital letters and spaces differ"):
            assert data().event.tolist() == alike
    elif any(alike):
        # Warnings are errors here.
        assert data().event.tolist() == alike
    else:
        with pytest.raises(DataError, match="does not occur in event, which holds"):
            data()


@pytest.mark.parametrize("name", ["alive", "is_censored", "EventFree", "survived"])
def test_yes_is_not_the_event_in_a_column_of_survivors(name):
    frame = {"t": [1.0, 2.0, 3.0], name: ["yes", "no", "no"]}
    with pytest.raises(DataError, match=r"'yes'.*1 row.*'no'.*2 rows"):
        SurvivalData.from_frame(frame, time="t", event=name)
    data = SurvivalData.from_frame(frame, time="t", event=name, event_value="no")
    assert data.event.tolist() == [False, True, True]


@pytest.mark.parametrize("words", [("yes", "no"), ("Yes", "NO "), ("TRUE", "false"), ("y", "N")])
def test_words_for_yes_and_no(words):
    yes, no = words
    with pytest.warns(EventValueWarning) as caught:
        data = SurvivalData.right([1, 2, 3], [yes, no, yes])
    assert data.event.tolist() == [True, False, True]
    assert str(caught[0].message) == f"event: {yes!r} (2 rows) counts as the event, for no value was named."
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SurvivalData.right([1, 2, 3], [yes, no, yes], event_value=yes).n_events == 2
