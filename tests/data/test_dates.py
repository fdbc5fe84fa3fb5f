"""Times between dates, beside brute force by the calendar of Python and dateutil's reading of text."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from dateutil import parser
from hypothesis import given
from hypothesis import strategies as st

from aldsurv import SurvivalData
from aldsurv.data.dates.date_texts import looks_like_date
from aldsurv.errors import DataError, ParameterError

DAYS = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
MOMENTS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0)
)
PER_UNIT = {"days": 1, "weeks": 7, "months": 365.25 / 12, "years": 365.25}
FORMATS = {
    "%Y-%m-%d": {},
    "%Y/%m/%d": {},
    "%Y%m%d": {},
    "%d.%m.%Y": {"dayfirst": True},
    "%d/%m/%Y": {"dayfirst": True},
    "%m/%d/%Y": {"dayfirst": False},
    "%d %B %Y": {},
    "%d-%b-%Y": {},
    "%B %d, %Y": {},
    "%Y-%m-%d %H:%M:%S": {},
    "%Y-%m-%dT%H:%M:%SZ": {},
    "%d.%m.%Y %H:%M": {"dayfirst": True},
    "%m/%d/%Y %I:%M %p": {"dayfirst": False},
}


@given(
    pairs=st.lists(st.tuples(MOMENTS, MOMENTS).map(sorted), min_size=1, max_size=8),
    unit=st.sampled_from(list(PER_UNIT)),
)
def test_times_are_differences_of_the_calendar(pairs, unit):
    starts, ends = zip(*pairs, strict=True)
    expected = [(end - start).total_seconds() / 86400 / PER_UNIT[unit] for start, end in pairs]
    ones = [1] * len(pairs)
    given_as = [
        (starts, ends),
        (np.array(starts, "datetime64[s]"), np.array(ends, "datetime64[ms]")),
        (pd.Series(starts), pd.to_datetime(pd.Series(ends)).dt.tz_localize("UTC")),
        (pl.Series(starts), pl.Series(ends)),
        ([str(start) for start in starts], [end.isoformat() for end in ends]),
    ]
    for start, end in given_as:
        np.testing.assert_allclose(SurvivalData.from_dates(start, end, ones, unit=unit).time, expected, rtol=1e-12)


@given(days=st.lists(DAYS, min_size=1, max_size=8), form=st.sampled_from(list(FORMATS)))
def test_text_is_read_as_dateutil_reads_it(days, form):
    # A day behind the twelfth shows which number is the month.
    texts = [day.strftime(form) for day in [*days, datetime.date(1999, 12, 31)]]
    expected = [parser.parse(text, **FORMATS[form]).replace(tzinfo=None) for text in texts]
    start = [datetime.datetime(1899, 1, 1)] * len(texts)
    times = SurvivalData.from_dates(start, texts, [1] * len(texts)).time
    np.testing.assert_allclose(times, [(date - start[0]).total_seconds() / 86400 for date in expected])
    assert looks_like_date(texts)


@given(days=st.lists(DAYS.filter(lambda day: day.day <= 12), min_size=1, max_size=8))
def test_dates_that_can_be_read_in_two_ways(days):
    texts = [f"{day.day}/{day.month}/{day.year}" for day in days]
    start, ones = ["1899-01-01"] * len(days), [1] * len(days)
    first = datetime.date(1899, 1, 1)
    for order, expected in (
        ("day-first", [(day - first).days for day in days]),
        ("month-first", [(datetime.date(day.year, day.day, day.month) - first).days for day in days]),
    ):
        assert SurvivalData.from_dates(start, texts, ones, date_format=order).time.tolist() == expected
    unclear = next((day for day in days if day.day != day.month), None)
    if unclear is None:
        assert SurvivalData.from_dates(start, texts, ones).time.tolist() == [(day - first).days for day in days]
        return
    with pytest.raises(DataError) as caught:
        SurvivalData.from_dates(start, texts, ones)
    other = datetime.date(unclear.year, unclear.day, unclear.month)
    assert f"is {unclear} if the day comes first, and {other} if the month does" in str(caught.value)
    assert caught.value.argument == "date_format"
    assert caught.value.row == days.index(unclear)


FIRST, SECOND = "2020-01-01", "2020-05-01"
LATER = ["2020-02-01", "2021-02-01"]


@pytest.mark.parametrize(
    ("start", "end", "message", "row"),
    [
        ([FIRST, SECOND], ["2020-02-01", "2020-04-30"], "but is in 1 of 2 rows, first 2020-04-30 before 2020-05-01", 1),
        ([FIRST, SECOND], ["2020-02-01", None], "end must be a date in every row, but 1 of 2 is missing", 1),
        ([None, SECOND], LATER, "start must be a date in every row", 0),
        ([FIRST, "1.5.20"], LATER, "years of two digits, such as '1.5.20'", 1),
        ([FIRST, "31.12.2020"], LATER, "'31.12.2020' is not a date like '2020-01-01' (ISO)", 1),
        ([FIRST, "2020-02-30"], LATER, "'2020-02-30' is not a date like", 1),
        ([FIRST, 17.5], LATER, "this is the number 17.5", 1),
        (["a", "b"], LATER, "start must be dates such as 2020-12-31", 0),
    ],
)
def test_what_is_wrong_is_named_with_its_row(start, end, message, row):
    with pytest.raises(DataError) as caught:
        SurvivalData.from_dates(start, end, [1, 0])
    assert message in str(caught.value)
    assert caught.value.row == row


def test_text_that_is_not_written_as_was_said():
    with pytest.raises(DataError, match="written as 'day-first', but this is 'soon'"):
        SurvivalData.from_dates([FIRST, "soon"], LATER, [1, 0], date_format="day-first")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "fortnights"}, "unit must be one of days, weeks, months, years"),
        ({"unit": 7}, "unit must be one of"),
        ({"date_format": "dd.mm.yyyy"}, "date_format must be 'day-first', 'month-first' or a format"),
        ({"date_format": "%d.%m"}, "date_format must be"),
        ({"date_format": "%d.%m.%Q"}, "date_format must be"),
        ({"date_format": 5}, "date_format must be"),
    ],
)
def test_arguments_that_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        SurvivalData.from_dates(["2020-01-01"], ["2020-02-01"], [1], **options)


def test_formats_that_are_named():
    data = SurvivalData.from_dates(
        ["01.02.98", "05.02.69"], ["01.02.21", "05.02.70"], [1, 1], date_format="%d.%m.%y", unit="years"
    )
    expected = [(datetime.date(2021, 2, 1) - datetime.date(1998, 2, 1)).days / 365.25, None]
    assert data.time[0] == expected[0]
    assert (SurvivalData.from_dates([20200131], [20200302], [1]).time == [31]).all()
    zones = SurvivalData.from_dates(["2020-01-01T00:00+02:00"], ["2020-01-01T00:00Z"], [1])
    assert zones.time.tolist() == [2 / 24]


def test_columns_of_a_frame():
    frame = {
        "diagnosis": ["31.12.2020", "1.1.2020"],
        "seen": ["31.01.2021", "1.3.2020"],
        "died": ["yes", "no"],
        "w": [1.0, 2.0],
        "person": ["a", "b"],
    }
    roles = {"start": "diagnosis", "end": "seen", "event": "died", "weight": "w", "group": "person"}
    data = SurvivalData.from_frame(frame, **roles, event_value="yes", unit="weeks")
    np.testing.assert_allclose(data.time, [31 / 7, 60 / 7])
    assert data.event.tolist() == [True, False]
    causes = SurvivalData.from_frame(
        frame, start="diagnosis", end="seen", event="died", event_values={"yes": "a", "no": "b"}
    )
    assert causes.causes == ("a", "b")
    with pytest.raises(ParameterError, match="end, a date, needs the date of the start"):
        SurvivalData.from_frame(frame, end="seen", event="died")
    with pytest.raises(ParameterError, match="time cannot be combined with the dates"):
        SurvivalData.from_frame(frame, time="w", start="diagnosis", end="seen", event="died")
    with pytest.raises(ParameterError, match="unit can only be combined with dates"):
        SurvivalData.from_frame(frame, time="w", event="died", event_value="yes", unit="weeks")
    with pytest.raises(DataError) as caught:
        SurvivalData.from_frame(
            {**frame, "seen": ["2021-01-01", "2019-01-01"]}, start="diagnosis", end="seen", event="died"
        )
    assert caught.value.column == "seen"


@pytest.mark.parametrize("texts", [["a", "2020-01-01"], [], ["12", "13"], ["1.5", "2.5"], ["10.20.30.40"]])
def test_text_that_is_no_date(texts):
    assert not looks_like_date(texts)
