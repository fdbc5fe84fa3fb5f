"""The page about a model in use: its numbers, its verdicts, and that nothing in it can run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from monitoring.watched import MONTHS, fitted, rows

from aldsurv.monitoring import monitor_model
from aldsurv.reports import write_monitoring_report
from reports.browser import CHROMIUM, opened_page
from reports.parsed import ParsedPage


@pytest.fixture(scope="module")
def result():
    model, train, _ = fitted()
    x, y, month = rows(60, 1, factor=2.5, shift=1.0)
    return monitor_model(model, x, y, by=month, reference=train, samples=2)


@pytest.fixture(scope="module")
def page_path(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "monitor.html"
    return write_monitoring_report(result, path, model="m.aldsurv", source="<b>t.csv")


def test_numbers_and_verdicts(result, page_path):
    html = page_path.read_text(encoding="utf-8")
    page = ParsedPage(html)
    assert "<b>t.csv" not in html
    records = page.tables["periods"].records()
    assert [row["period"].text for row in records] == list(MONTHS)
    assert [row["expected"].value for row in records] == pytest.approx([each.expected for each in result.periods])
    assert [row["period"].text for row in page.tables["alarms"].records()] == [each.period for each in result.alarms]
    assert len(page.tables["drift"].records()) == len(result.drift)
    assert {alarm.test for alarm in result.alarms} == {"observed/expected", "covariate drift"}
    main = result.main_alarm
    assert f"Alarm in {main.period}: {main.describe()}" in html
    assert f"the rows since {main.since}: aldsurv update" in html


def test_a_page_without_alarms_or_columns(result, tmp_path):
    quiet = replace(result, alarms=(), drift=())
    html = write_monitoring_report(quiet, tmp_path / "quiet.html").read_text(encoding="utf-8")
    page = ParsedPage(html)
    assert "No alarm in 18 months" in html
    assert set(page.tables) == {"periods"}


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_shows_all_rows_and_does_not_complain(page_path, result, tmp_path):
    page, complaints = opened_page(tmp_path / "profile", page_path)
    assert complaints == []
    assert len(page.tables["drift"].records()) == len(result.drift)
