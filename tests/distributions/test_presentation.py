from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from child_process import WARNING_OPTIONS, machine_variables
from contracts.families import NAMES, members
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aldsurv.distributions import CauseMixture, Exponential, Step, SurvivalDistribution, Weibull
from aldsurv.errors import ParameterError

ROWS = Exponential([2.0, 5.0, 9.0])
SCALE = np.array([2.0, 5.0, 9.0])[:, None]
CAUSES = CauseMixture([ROWS, Exponential([1.0, 2.0, 3.0])], [0.25, 0.75], ["relapse", "death"])


def test_curves_are_those_of_scipy():
    times, law = [1.0, 4.0], stats.expon(scale=SCALE)
    values = {
        "survival": law.sf(times), "cdf": law.cdf(times), "density": law.pdf(times),
        "cumulative_hazard": -law.logsf(times), "hazard": law.pdf(times) / law.sf(times),
    }  # fmt: skip
    for kind, expected in values.items():
        frame = ROWS.to_frame(times, kind=kind)
        np.testing.assert_allclose(frame, expected, rtol=1e-12)
        assert list(frame.columns) == times
        assert frame.columns.name == "time"
        assert list(frame.index) == [0, 1, 2]


def test_without_times_it_is_quantiles():
    frame = ROWS.to_frame()
    assert list(frame) == ["q10", "q25", "median", "q75", "q90"]
    np.testing.assert_allclose(frame, stats.expon(scale=SCALE).ppf([0.1, 0.25, 0.5, 0.75, 0.9]), rtol=1e-12)


@pytest.mark.parametrize("index", [["a", "b", "c"], np.array([7, 8, 9]), pd.Index([1.5, 2.5, 3.5], name="id"), "abc"])
def test_rows_have_the_labels_given(index):
    frame = ROWS.to_frame(3, index=index)
    assert list(frame.index) == list(index)
    assert frame.index.name == getattr(index, "name", None)
    assert frame.shape == (3, 1)


def test_a_frame_can_be_read_back():
    times = [1.0, 4.0, 9.0]
    again = SurvivalDistribution.from_frame(ROWS.to_frame(times).T)
    np.testing.assert_allclose(again.survival(times), ROWS.survival(times), rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"times": [[1.0, 2.0]]}, r"times must be a number or a list of different numbers, but is \[\[1.0, 2.0\]\]"),
        ({"times": []}, "times must be a number or a list of different numbers"),
        ({"times": [1.0, 1.0]}, "times must be a number or a list of different numbers"),
        ({"times": "soon"}, "times must be a number or a list of different numbers, but is 'soon'"),
        ({"times": [1.0, None]}, "times must be a number or a list of different numbers"),
        ({"times": 1, "kind": "mean"}, "kind must be one of 'survival', 'cdf'"),
        ({"kind": "cdf"}, "times must be given for kind 'cdf', but is None"),
        ({"index": ["a"]}, "index must have one label for each of 3 rows, but has 1"),
        ({"index": 4}, "index must be a list of labels, but is of type int"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        ROWS.to_frame(**arguments)


def test_incidences_by_cause_and_time():
    frame = CAUSES.to_frame([1.0, 4.0], index=["a", "b", "c"])
    assert list(frame.columns) == [("relapse", 1.0), ("relapse", 4.0), ("death", 1.0), ("death", 4.0)]
    assert frame.columns.names == ["cause", "time"]
    np.testing.assert_allclose(frame["relapse"], 0.25 * stats.expon(scale=SCALE).cdf([1.0, 4.0]), rtol=1e-12)
    np.testing.assert_allclose(1 - frame.T.groupby("time").sum().T, CAUSES.survival([1.0, 4.0]), rtol=1e-9)
    short = CAUSES.to_frame()
    np.testing.assert_allclose(short["death", "probability"], 0.75)
    np.testing.assert_allclose(short["relapse", "median"], stats.expon(scale=SCALE[:, 0]).median(), rtol=1e-9)
    with pytest.raises(ParameterError, match="kind must be one of 'incidence'"):
        CAUSES.to_frame(1, kind="survival")


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=3)
@given(data=st.data())
def test_every_family_has_a_frame_and_a_picture(name, data):
    rows = data.draw(members(name))
    frame = rows.to_frame([1.0, 2.0])
    np.testing.assert_array_equal(frame.to_numpy(), np.asarray(rows.survival([1.0, 2.0]), np.float64))
    text = rows._repr_html_()
    assert f"{type(rows).__name__}, {len(rows)} row" in text
    assert text.count("<polyline") == min(5, len(rows))


def test_a_notebook_sees_the_first_rows():
    text = Weibull(np.full(40, 2.0), np.linspace(1.0, 40.0, 40))._repr_html_()
    assert "first 5 of 40 rows" in text
    assert text.count("<tr>") == 6
    # Survival never goes below 0: what never happens ends without a number.
    assert "∞" in Step([1.0], [[0.7]], tail="hold")._repr_html_()
    assert "<polyline" not in ROWS[:0]._repr_html_()
    text = CAUSES._repr_html_()
    assert re.findall("probability of [a-z]+|median of [a-z]+", text) == [
        "probability of relapse", "median of relapse", "probability of death", "median of death",
    ]  # fmt: skip
    assert text.count("<polyline") == 2


def test_the_line_that_says_what_to_install():
    code = """
import sys
sys.modules["pandas"] = None
from aldsurv.distributions import Exponential
try:
    Exponential([1.0]).to_frame()
except ImportError as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, *WARNING_OPTIONS, "-c", code], capture_output=True, text=True, env=machine_variables()
    )
    assert run.stdout == "to_frame needs pandas, which is not installed. Install it with: pip install pandas.\n", run
