"""Reports of rows with delayed entry, or whose events are known only within bounds."""

from __future__ import annotations

import numpy as np
import pytest
from inspection.known_causes import KnownCauses, drawn_rows
from lifelines import KaplanMeierFitter

from aldsurv import SurvivalData, metrics
from aldsurv.errors import DataError
from aldsurv.reports.model.model_page import model_report
from reports.known_model import KnownScale, even_rows
from reports.undrawn import leave_pictures_undrawn

# What each kind of rows is not defined for, by the anchor of its section.
UNDEFINED = {
    "late": {"calibration_at", "discrimination", "decisions", "observed", "groups"},
    "interval": {"calibration_at", "discrimination", "decisions", "observed", "groups", "average", "risk_groups"},
    "left": {"calibration_at", "discrimination", "decisions", "observed", "groups", "average", "risk_groups"},
}


def rows_of(kind, n=300):
    x, y = even_rows(n)
    if kind == "late":
        entry = np.where(np.arange(n) % 2, 0.5 * y.time, 0.0)
        return x, SurvivalData.right(y.time, y.event, entry=entry)
    if kind == "interval":
        return x, SurvivalData.interval(np.floor(y.time), np.floor(y.time) + 1)
    visit = np.random.default_rng(1).exponential(4.0, n)
    came = y.time <= visit
    return x, SurvivalData.interval(np.where(came, -np.inf, visit), np.where(came, visit, np.inf))


@pytest.fixture(scope="module", params=UNDEFINED)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def report(kind):
    with pytest.MonkeyPatch.context() as patch:
        leave_pictures_undrawn(patch)
        return model_report(KnownScale(), *rows_of(kind))


def test_sections_are_there_and_say_what_is_not_defined(report, kind):
    texts = {section.anchor: section.blocks[0].text for section in report.page.sections if section.anchor != "cite"}
    assert {anchor for anchor, text in texts.items() if "not defined here:" in text} == UNDEFINED[kind]
    assert {"glance", "participants", "data", "people", "calibration", "effects", "numbers", "model"} <= set(texts)
    reason = "delayed entry" if kind == "late" else "within bounds"
    assert all(reason in texts[anchor] for anchor in UNDEFINED[kind])


def test_metrics_that_are_defined_are_those_of_the_library(report, kind):
    predicted, data = report.subject.predicted, report.subject.data
    assert report.findings.value("log_likelihood") == pytest.approx(metrics.log_likelihood(predicted, data))
    assert report.findings.d_calibration.p_value == pytest.approx(metrics.d_calibration(predicted, data).p_value)
    assert report.findings.value("cal_s_slope") == pytest.approx(metrics.survival_calibration(predicted, data).slope)
    overall = report.findings.scores["observed_expected_ratio"]
    if kind == "late":
        assert overall.value == pytest.approx(metrics.observed_expected_ratio(predicted, data).ratio)
    else:
        assert np.isnan(overall.value)
    for name in ("harrell_c", "ibs", "mae", "calibration_slope_at"):
        assert np.isnan(report.findings.value(name))
        assert report.findings.scores[name].reason


def test_delayed_entry_counts_in_the_kaplan_meier_curve(report, kind):
    if kind != "late":
        assert np.isnan(report.findings.km_survival)
        assert report.at_times.risk_groups == ()
        return
    data, at = report.subject.data, report.findings.horizon
    curve = KaplanMeierFitter().fit(data.time, data.event, entry=data.entry)
    assert report.findings.km_survival == pytest.approx(float(curve.predict(at)))
    assert report.at_times.findings == ()
    (divided,) = report.at_times.risk_groups
    assert sum(group.rows for group in divided.groups) == len(data)


def test_columns_matter_by_their_likelihood(report):
    section = next(section for section in report.page.sections if section.anchor == "effects")
    assert "important if the log-likelihood decreases" in section.blocks[0].text
    assert "Most important here: scale" in section.blocks[0].text


def test_causes_with_delayed_entry_make_a_page(monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    x, y = drawn_rows(200)
    late = SurvivalData.competing(y.time, y.cause, names=list(y.causes), entry=0.5 * y.time)
    report = model_report(KnownCauses(), x, late, people=2)
    anchors = {section.anchor for section in report.page.sections}
    assert {"causes", "cause_people"} <= anchors
    assert report.causes == ()


def test_rows_without_any_known_event_are_refused(monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    x, y = even_rows(60)
    late = SurvivalData.right(y.time, np.zeros(60, bool), entry=0.5 * y.time)
    with pytest.raises(DataError, match="none of the 60 rows has an event"):
        model_report(KnownScale(), x, late)


def test_training_rows_with_bounds_give_no_censoring_but_participants(monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    x, y = even_rows(200)
    report = model_report(KnownScale(), x, y, train=rows_of("interval")[1], train_X=rows_of("interval")[0])
    assert not report.subject.has_train
    assert (report.participants.train.rows, report.participants.train.bounded) == (300, 300)
    assert report.at_times.findings
