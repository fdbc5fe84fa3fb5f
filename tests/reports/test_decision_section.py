"""Decision curves and calibration of a report at chosen times."""

from __future__ import annotations

import numpy as np
import pytest
from inspection.known_causes import KnownCauses, drawn_rows

from aldsurv import SurvivalData, metrics
from aldsurv.reports.model.at_times import time_findings
from aldsurv.reports.model.at_times.decision_section import decision_section, describe_decision, helpful_range
from aldsurv.reports.model.at_times.time_findings import compute_time_findings
from aldsurv.reports.model.at_times.time_sections import calibration_at_section, discrimination_table
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.page_tables import PageTable
from reports.known_model import KnownScale, even_rows
from reports.undrawn import leave_pictures_undrawn

TIMES = (1.0, 3.0)


@pytest.fixture(scope="module")
def subject():
    x, y = even_rows(400)
    censoring = np.random.default_rng(3).exponential(12.0, 400)
    data = SurvivalData.right(np.minimum(y.time, censoring), y.time <= censoring)
    return EvaluatedModel.on_rows(KnownScale(), x, data, train=None, unit=None, seed=0)


@pytest.fixture(scope="module")
def findings(subject):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_findings, "RESAMPLES", 20)
        return compute_time_findings(subject, TIMES)


@pytest.fixture
def undrawn(monkeypatch):
    leave_pictures_undrawn(monkeypatch)


def table_of(section):
    (table,) = (block for block in section.blocks if isinstance(block, PageTable))
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, row, strict=True)) for row in table.cells]


def test_net_benefits_are_those_of_the_metric(undrawn, subject, findings):
    rows = table_of(decision_section(subject, findings))
    assert [(row["time"].value, row["threshold"].value) for row in rows] == [
        (time, threshold) for time in TIMES for threshold in (0.05, 0.1, 0.2, 0.3, 0.5)
    ]
    for row in rows:
        threshold = row["threshold"].value
        value = metrics.net_benefit(subject.predicted, subject.data, row["time"].value, threshold=threshold)
        assert row["benefit"].value == pytest.approx(value, abs=1e-12)
        curve = metrics.decision_curve(subject.predicted, subject.data, row["time"].value, thresholds=[threshold])
        assert row["all"].value == pytest.approx(curve.treat_all.value[0], abs=1e-12)
        assert row["treated"].value == pytest.approx(curve.treated[0])
        assert row["gain"].value == pytest.approx(value - max(curve.treat_all.value[0], 0.0), abs=1e-12)


def test_the_range_that_helps_is_the_longest_run(findings):
    curve = findings[0].decision
    first, last = helpful_range(curve)
    inside = (curve.thresholds >= first) & (curve.thresholds <= last)
    assert curve.is_best[inside].all()
    certain = helpful_range(curve, certain=True)
    assert first <= certain[0] < certain[1] <= last
    assert f"from {100 * first:.0f} % to {100 * last:.0f} %; by more than chance" in describe_decision(curve)
    _, y = even_rows(60)
    useless = metrics.decision_curve(np.full(60, 0.3), y, 1.0)
    assert helpful_range(useless) is None
    assert "At no threshold" in describe_decision(useless)
    risk = np.linspace(0.05, 0.6, 60)
    single = metrics.decision_curve(risk, y, 1.0, thresholds=[0.3])
    assert "a threshold of 30 %," in describe_decision(single)


def test_calibration_and_discrimination_at_times_are_those_of_the_metrics(undrawn, subject, findings):
    predicted, data = subject.predicted, subject.data
    for row in table_of(calibration_at_section(subject, findings)):
        at = row["time"].value
        assert row["slope"].value == pytest.approx(metrics.calibration_slope(predicted, data, at).slope)
        assert row["ratio"].value == pytest.approx(metrics.observed_expected_ratio(predicted, data, at).ratio)
        large = metrics.calibration_in_the_large(predicted, data, at)
        assert row["large"].value == pytest.approx(large.difference)
        assert row["large"].text == f"{large[0]:.3f} ({large[1]:.3f} to {large[2]:.3f})".replace("-", "−")
        index = metrics.integrated_calibration_index(predicted, data, at)
        assert [row[name].value for name in ("ici", "e50", "e90")] == pytest.approx(index)
        assert row["events"].value == np.count_nonzero(data.event & (data.time <= at))
    table = discrimination_table(subject, findings)
    for each, row in zip(findings, table.cells, strict=True):
        area = metrics.cumulative_dynamic_auc(predicted, data, [each.time], train=data).auc[0]
        assert row[1].value == pytest.approx(area)
        # Exponential curves do not cross: all ranks are those of the scale.
        assert each.c.value == pytest.approx(metrics.concordance_uno(predicted, data, train=data, tau=each.time))
        assert each.auc.lower <= area <= each.auc.upper
        marginal = metrics.brier_skill_score(predicted, data, train=data, times=[each.time, each.time * (1 + 1e-9)])
        assert each.scaled_brier == pytest.approx(marginal, abs=1e-6)


def test_with_causes_there_are_numbers_of_each(undrawn, monkeypatch):
    monkeypatch.setattr(time_findings, "RESAMPLES", 4)
    x, y = drawn_rows(200)
    subject = EvaluatedModel.on_rows(KnownCauses(), x, y, train=None, unit=None, seed=0)
    findings = compute_time_findings(subject, [5.0])
    assert [each.cause for each in findings] == [None, "relapse", "death"]
    rows = table_of(decision_section(subject, findings))
    assert {row["event"].text for row in rows} == {"relapse", "death"}
    for row in rows:
        value = metrics.net_benefit(
            subject.incidence, y, 5.0, threshold=row["threshold"].value, cause=row["event"].text
        )
        assert row["benefit"].value == pytest.approx(value, abs=1e-12)
    calibration = table_of(calibration_at_section(subject, findings))
    assert [row["event"].text for row in calibration] == ["any", "relapse", "death"]
    ratio = metrics.observed_expected_ratio(subject.incidence, y, 5.0, cause="death").ratio
    assert calibration[2]["ratio"].value == pytest.approx(ratio)
