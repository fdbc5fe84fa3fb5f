"""Values that stand for causes, as they are typed."""

from __future__ import annotations

import pytest

from aldsurv.cli.causes.event_values import (
    cause_names,
    complete_event_values,
    describe_event_values,
    format_event_values,
    in_order_of,
    parse_event_values,
    possible_mappings,
)
from aldsurv.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1=relapse,2=death", {"1": "relapse", "2": "death"}),
        (" relapse , death ", {"relapse": "relapse", "death": "death"}),
        ("1=relapse,2=death,0=Censored", {"1": "relapse", "2": "death", "0": "censored"}),
        ("1=relapse,2=death,=censored,9=censored", {"1": "relapse", "2": "death", "": "censored", "9": "censored"}),
        ('"A, local=relapse, local",a=b=death', {"A, local": "relapse, local", "a=b": "death"}),
    ],
)
def test_texts_are_read_and_written(text, expected):
    assert parse_event_values(text) == expected
    assert parse_event_values(format_event_values(expected)) == expected
    assert "censored" not in cause_names(expected)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1=relapse", "must name two causes or more, but names 'relapse'.*--event-value"),
        ("0=censored,=censored", "but names none"),
        ("1=death,2=death", "gives the name 'death' to '1' and '2'"),
        ("1=relapse,1=death", "names the value '1' twice"),
        ("1=,2=death", "no name for '1'"),
        ("=relapse,2=death", "no value for 'relapse'"),
    ],
)
def test_wrong_texts(text, told):
    with pytest.raises(ParameterError, match=told):
        parse_event_values(text)


def test_numbers_come_before_text():
    assert possible_mappings(None) == [None]
    assert possible_mappings("relapse,death") == [{"relapse": "relapse", "death": "death"}]
    assert possible_mappings("1=relapse,2.0=death,=censored") == [
        {1: "relapse", 2: "death", None: "censored"},
        {"1": "relapse", "2.0": "death", None: "censored"},
    ]


def test_values_without_a_cause_are_kept_as_censored():
    assert parse_event_values(complete_event_values("1=relapse,2=death", [0, 1, 2, 7])) == {
        "1": "relapse", "2": "death", "0": "censored", "7": "censored"
    }  # fmt: skip
    assert complete_event_values("relapse,death", ["relapse", *map(str, range(50))]) == "relapse,death"


def test_causes_in_the_order_of_a_model():
    ordered = in_order_of(("relapse", "death"), "2=death,1=relapse,0=censored")
    assert cause_names(parse_event_values(ordered)) == ("relapse", "death")
    with pytest.raises(ParameterError, match=r"names 'relapse', 'other', but the model tells 'relapse', 'death' apart"):
        in_order_of(("relapse", "death"), "1=relapse,2=other")


def test_what_is_said_of_them():
    assert describe_event_values("1=relapse,2=death") == "1 relapse, 2 death; others censored"
    assert describe_event_values("relapse,death,0=censored,=censored") == "relapse, death; 0, gaps censored"
