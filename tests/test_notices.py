"""Notes reach people as warnings, and services as records of the logger ``aldsurv``: each once, in every thread."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from child_process import WARNING_OPTIONS, machine_variables

import aldsurv
from aldsurv import ALDSurvival, CoxRegression, StackedSurvival, SurvivalData, WeibullAFT, metrics
from aldsurv.distributions import Exponential
from aldsurv.errors import (
    AldsurvWarning,
    IgnoredColumnsWarning,
    ParameterError,
    UndefinedMetricWarning,
    UnseenValuesWarning,
)
from aldsurv.notices import muted, warn

RNG = np.random.default_rng(1)
X = {"age": RNG.normal(60, 9, 80), "grade": np.array(["I", "II"])[RNG.integers(0, 2, 80)]}
Y = SurvivalData.right(RNG.exponential(np.exp((X["age"] - 60) / 20)), RNG.random(80) < 0.8)
# A gap, an unknown level and a column too many.
NEW = {"id": [1, 2], "grade": ["II", "IV"], "age": [50.0, None]}
EXPECTED = [
    ("INFO", "IgnoredColumnsWarning", "X has columns that {} was not fitted to, which are not used: column 'id'."),
    ("WARNING", "UnseenValuesWarning", "gaps where training had none: column 'age' in 1 of 2 rows"),
    ("WARNING", "UnseenValuesWarning", "levels that training had not shown"),
]


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.INFO, logger="aldsurv")
    aldsurv.log_warnings()
    yield caplog
    aldsurv.log_warnings(False)


def assert_expected(records, owner):
    assert [(record.levelname, record.category) for record in records] == [(level, kind) for level, kind, _ in EXPECTED]
    for record, (_, _, text) in zip(records, EXPECTED, strict=True):
        assert record.name == "aldsurv"
        assert record.getMessage().startswith(text.format(owner))


MODELS = {
    "CoxRegression": CoxRegression(),
    "ALDSurvival": ALDSurvival(members=2, max_epochs=2, random_state=0, progress=False),
    "WeibullAFT": StackedSurvival([WeibullAFT(), CoxRegression()], folds=2, random_state=0),
}


@pytest.mark.parametrize("owner", list(MODELS))
def test_every_note_of_a_prediction_arrives_once(owner, logged):
    model = MODELS[owner].fit(X, Y)
    logged.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            # The same text again is about another request.
            logged.clear()
            model.predict(NEW)
            assert_expected(logged.records, owner)
            assert {record.pathname for record in logged.records} == {__file__}
    assert caught == []


def test_without_a_service_they_are_warnings(caplog):
    model = CoxRegression().fit(X, Y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(NEW)
    assert [warning.category for warning in caught] == [IgnoredColumnsWarning, UnseenValuesWarning, UnseenValuesWarning]
    assert {warning.filename for warning in caught} == {__file__}
    assert caplog.records == []


def test_every_thread_is_heard_while_others_change_the_filters(logged):
    model = CoxRegression().fit(X, Y)
    logged.clear()
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(model.predict, [NEW] * 40))
    finally:
        stop.set()
        thread.join()
    assert len(logged.records) == 40 * len(EXPECTED)


def test_a_stack_in_threads_leaves_the_filters_as_they_are():
    # Its members give the same notes; hiding them must not touch what belongs to the process.
    model = StackedSurvival([WeibullAFT(), CoxRegression()], folds=2, random_state=0).fit(X, Y)
    before = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: model.predict({"age": [50.0], "grade": ["I"]}), range(200)))
    assert warnings.filters == before


def test_warnings_of_metrics_are_logged_where_they_would_be_shown(logged):
    one = SurvivalData.right([1.0, 2.0], [False, False])
    assert np.isnan(metrics.concordance_harrell(Exponential([1.0, 2.0]), one))
    assert [record.category for record in logged.records] == ["UndefinedMetricWarning"]
    # Who collects warnings in the usual way still does.
    with pytest.warns(UndefinedMetricWarning):
        metrics.concordance_harrell(Exponential([1.0, 2.0]), one)
    assert len(logged.records) == 1


def test_warnings_of_others_are_shown_as_before(monkeypatch, caplog):
    shown = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, category, *_: shown.append((str(message), category)))
    aldsurv.log_warnings()
    with warnings.catch_warnings():
        warnings.simplefilter("always", FutureWarning)
        warnings.warn("soon", FutureWarning, stacklevel=1)
    aldsurv.log_warnings(False)
    assert shown == [("soon", FutureWarning)]
    assert caplog.records == []


def test_it_can_be_turned_off_again_and_on_twice():
    shown_by, filters = warnings.showwarning, list(warnings.filters)
    for on in (True, True, False, False):
        aldsurv.log_warnings(on)
    assert warnings.showwarning is shown_by
    assert warnings.filters == filters
    with pytest.raises(ParameterError, match="on must be True or False, but is 'yes'"):
        aldsurv.log_warnings("yes")


def test_muted_blocks_give_none(logged):
    with muted():
        warn("nothing")
    warn("something", AldsurvWarning)
    assert [record.getMessage() for record in logged.records] == ["something"]


def test_a_service_without_configured_logging_still_says_it():
    code = """
import aldsurv, numpy as np
aldsurv.log_warnings()
model = aldsurv.CoxRegression().fit({"a": np.arange(9.0)}, (np.arange(9.0) % 4 + 1, np.ones(9)))
for _ in range(2): model.predict({"a": [None]})
"""
    run = subprocess.run(
        [sys.executable, *WARNING_OPTIONS, "-c", code], capture_output=True, text=True, env=machine_variables()
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr.splitlines() == ["gaps where training had none: column 'a' in 1 of 1 rows (filled with 4)."] * 2
