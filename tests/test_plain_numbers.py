"""Numbers and percentages as people write them."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv.plain_numbers import percent, plain_number


@given(value=st.floats(1e-5, 9e11), sign=st.sampled_from([-1, 1]), digits=st.integers(1, 12))
def test_ordinary_numbers_have_neither_exponent_nor_marks(value: float, sign: int, digits: int) -> None:
    text = plain_number(sign * value, digits)
    assert re.fullmatch(r"-?\d+(\.\d+)?", text)
    assert float(text) == pytest.approx(sign * value, rel=5.001 * 10.0**-digits)
    assert "." not in text or len(Decimal(text).as_tuple().digits) <= digits


@given(year=st.integers(1, 10**12 - 1))
def test_whole_numbers_stay_as_they_are(year: int) -> None:
    assert plain_number(float(year), 3 if year >= 1000 else 4) == str(year)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1995.0, "1995"), (-0.0, "0"), (1e-30, "1e-30"), (2.5e20, "2.5e+20"), (math.inf, "inf"), (math.nan, "NaN")],
)
def test_numbers_of_any_size(value: float, text: str) -> None:
    assert plain_number(value) == text


@given(part=st.integers(0, 5000), whole=st.integers(1, 5000))
def test_a_percentage_is_right_to_its_last_digit_and_only_all_is_all(part: int, whole: int) -> None:
    part = min(part, whole)
    text = percent(part / whole)
    assert (text == "0 %") == (part == 0)
    assert (text == "100 %") == (part == whole)
    match = re.fullmatch(r"(below |above )?(\d{1,3})(\.\d)? %", text)
    assert match
    if not match[1]:
        decimals = 1 if match[3] else 0
        error = abs(float(f"{match[2]}{match[3] or ''}") - 100 * part / whole)
        assert error <= 0.5 * 10.0**-decimals + 1e-9
        assert 0 <= float(match[2]) <= 100


def test_percentages_that_were_written_with_an_exponent() -> None:
    assert [percent(share) for share in (3 / 3, 1, 0.998, 0.995, math.nan)] == [
        "100 %",
        "100 %",
        "99.8 %",
        "99.5 %",
        "–",
    ]
