from __future__ import annotations

import re

import numpy as np
import pytest

from aldsurv import SurvivalData, WeibullAFT, metrics
from aldsurv.cli.shared.error_text import error_line, errors_in_file, errors_of_model
from aldsurv.errors import AldsurvError, DataError, ParameterError, UnknownNameError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DataError("there is nothing to learn."), "there is nothing to learn."),
        (
            DataError("time must not be negative, but is -1", column="months", row=3, advice="Correct the table."),
            "time must not be negative, but is -1 (column 'months', row 4 below the header). Correct the table.",
        ),
        (
            DataError("time must not be negative", file="t.csv", column="months", row=3, line=7),
            "'t.csv': time must not be negative (column 'months', line 7).",
        ),
        (
            DataError(
                "event must be 0/1, but it holds 'a', 'b'",
                argument="event_value",
                column="status",
                suggestion="b",
                advice="Say event_value='b'.",
            ),
            "event must be 0/1, but it holds 'a', 'b' (column 'status'). "
            "Name the value that is the event, such as --event-value 'b'.",
        ),
        (
            DataError("event_value=7 does not occur in event", argument="event_value", advice="Give one of these."),
            "--event-value 7 does not occur in event. Name the value that is the event by --event-value.",
        ),
        (
            ParameterError("members must be a whole number, but is 0.", argument="members"),
            "--members must be a whole number, but is 0.",
        ),
        (
            ParameterError("this model has one member", argument="members", advice="Take ALDSurvival(members=5)."),
            "this model has one member. Fit an ensemble, as by --members 5.",
        ),
        # A name that is not known comes with the nearest one, which is better than advice on the option.
        (
            UnknownNameError("there is no column 'x'", argument="drop", advice="Did you mean 'xx'?"),
            "there is no column 'x'. Did you mean 'xx'?",
        ),
        (
            ParameterError("level must be below 1", argument="level", advice="Give 0.9."),
            "level must be below 1. Give 0.9.",
        ),
    ],
)
def test_a_line_is_made_of_the_parts_of_an_error(error: AldsurvError, line: str) -> None:
    assert error_line(error) == line


def test_files_and_models_are_named() -> None:
    with pytest.raises(ParameterError) as caught, errors_in_file("t.csv"):
        raise ParameterError("drop lists 'x'", argument="drop", row=0, advice="Take it out.")
    assert error_line(caught.value) == (
        "'t.csv': --drop lists 'x' (row 1 below the header). Change --drop, or the columns of the table."
    )
    # An error about a row of the table concerns every model.
    with pytest.raises(ParameterError) as about_row, errors_in_file("other.csv"), errors_of_model("m.aldsurv"):
        raise caught.value
    assert about_row.value is caught.value
    with pytest.raises(UnknownNameError) as about_model, errors_in_file("t.csv"), errors_of_model("m.aldsurv"):
        raise UnknownNameError("there is no column 'x'", argument="time", advice="Did you mean 'xx'?")
    assert error_line(about_model.value) == "'t.csv': model 'm.aldsurv': there is no column 'x'. Did you mean 'xx'?"


def python_words(text: str) -> list[str]:
    """Names of Python's arguments that a text speaks of."""
    return re.findall(r"\b[a-z]+_?[a-z]*=|\bridge\b|sample_weight", text)


@pytest.mark.parametrize("name", ["members", "sample_weight", "train"])
def test_advice_of_the_library_names_options(name: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), SurvivalData.right(rng.exponential(5.0, 30), np.arange(30) % 3 > 0)
    model = WeibullAFT().fit(x, y)
    actions = {
        "members": lambda: model.predict_spread(x),
        "sample_weight": lambda: WeibullAFT().fit(x, y, sample_weight=np.zeros(30)),
        "train": lambda: metrics.bootstrap("ibs", model.predict_distribution(x), y, samples=10),
    }
    with pytest.raises(AldsurvError) as error:
        actions[name]()
    assert error.value.argument == name
    assert python_words(error.value.advice)
    assert not python_words(error_line(error.value))
