from __future__ import annotations

import datetime

import numpy as np
import pytest

from aldsurv.errors import DataError, ParameterError
from aldsurv.monitoring.periods import read_periods

DATES = ["2024-01-31", "2023-12-01", "2024-04-30", "2024-01-01"]


@pytest.mark.parametrize(
    ("period", "names", "place"),
    [
        (None, ("2023-12", "2024-01", "2024-04"), [1, 0, 2, 1]),
        ("month", ("2023-12", "2024-01", "2024-04"), [1, 0, 2, 1]),
        ("quarter", ("2023-Q4", "2024-Q1", "2024-Q2"), [1, 0, 2, 1]),
        ("year", ("2023", "2024"), [1, 0, 1, 1]),
    ],
)
@pytest.mark.parametrize(
    "kind", [list, lambda d: np.array(d, "datetime64[D]"), lambda d: [datetime.date.fromisoformat(x) for x in d]]
)
def test_dates_are_cut(period, names, place, kind):
    found = read_periods(kind(DATES), period=period)
    assert found.names == names
    assert found.place.tolist() == place


def test_dates_before_1970_and_in_other_writing():
    assert read_periods(["31.12.1969", "1.1.1970"], period="quarter").names == ("1969-Q4", "1970-Q1")
    assert read_periods(["03/04/2020", "04/03/2020"], date_format="day-first").names == ("2020-03", "2020-04")


def test_numbers_are_in_order_of_size_and_text_of_letters():
    assert read_periods([10, 9, 10]).names == ("9", "10")
    assert read_periods(["10", "9"]).names == ("9", "10")
    assert read_periods(["2024-03", "2023-11", "2024-03"]).names == ("2023-11", "2024-03")
    assert read_periods([2024.0, 2023.0]).names == ("2023", "2024")


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        (["2024", None], {}, "known in every row"),
        (["a", "a"], {}, "two periods or more"),
        (["a", "b"], {"period": "month"}, "must be dates"),
        (["a", 1], {}, "all of one kind"),
        (list(map(str, range(600))), {}, "at most 500"),
    ],
)
def test_what_is_no_column_of_periods(by, options, message):
    with pytest.raises(DataError, match=message):
        read_periods(by, **options)


def test_a_wrong_period():
    with pytest.raises(ParameterError, match="period must be"):
        read_periods(["a", "b"], period="week")


@pytest.mark.parametrize(
    ("by", "kind"),
    [
        (["2024-03", "2024-11"], "month"),
        (["2024-13", "2024-11"], "period"),
        (["2024-Q1", "2023Q4"], "quarter"),
        ([2023, 2024], "year"),
        ([1, 2], "period"),
        (DATES, "month"),
    ],
)
def test_what_a_period_is_called(by, kind):
    assert read_periods(by).kind == kind
