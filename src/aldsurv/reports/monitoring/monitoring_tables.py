"""Tables of the page about a model over calendar periods."""

from __future__ import annotations

import math

from aldsurv.monitoring import ColumnDrift, Monitoring
from aldsurv.reports.page.number_format import fixed, interval, number, percent, signed
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["alarm_table", "drift_table", "evidence_text", "period_table"]

_MOST_ROWS = 400


def alarm_table(monitoring: Monitoring) -> PageTable:
    """All alarms, in order of time."""
    columns = (
        PageColumn("period", "Period"),
        PageColumn("test", "Test"),
        PageColumn("column", "Column"),
        PageColumn("since", "Since", meaning="the period at which most of the evidence begins"),
        PageColumn("value", "Value", numeric=True, meaning="from then on; of covariates the stability index"),
        PageColumn("limits", "Limits"),
        PageColumn("evidence", "Evidence", numeric=True, meaning="of covariates the p-value"),
    )
    cells = tuple(
        (
            PageCell(alarm.period),
            PageCell(alarm.test),
            PageCell(alarm.column or ""),
            PageCell(alarm.since),
            PageCell(fixed(alarm.value, 2), alarm.value),
            PageCell("" if math.isnan(alarm.lower) else interval(alarm.lower, alarm.upper)),
            PageCell(_small(alarm.evidence) if alarm.column else evidence_text(alarm.evidence), alarm.evidence),
        )
        for alarm in monitoring.alarms
    )
    return PageTable("alarms", "Alarms", columns, cells)


def period_table(monitoring: Monitoring) -> PageTable:
    """A row per period."""
    columns = (
        PageColumn("period", "Period"),
        PageColumn("rows", "Rows", numeric=True),
        PageColumn("events", "Events", numeric=True),
        PageColumn("expected", "Expected", numeric=True),
        PageColumn("ratio", "O/E", numeric=True, meaning="observed over expected events"),
        PageColumn("ratio_limits", "Limits"),
        PageColumn("slope", "Slope", numeric=True, meaning="calibration slope"),
        PageColumn("slope_limits", "Limits"),
        PageColumn("concordance", "C", numeric=True, meaning="Harrell's C"),
        PageColumn("concordance_limits", "Limits"),
        PageColumn("ratio_evidence", "Evidence, O/E", numeric=True),
        PageColumn("slope_evidence", "Evidence, slope", numeric=True),
        PageColumn("notes", "Note"),
    )
    cells = tuple(
        (
            PageCell(each.period),
            PageCell(f"{each.rows:,}", each.rows),
            PageCell(number(each.events, 6), each.events),
            PageCell(number(each.expected), each.expected),
            PageCell(fixed(each.ratio, 2), each.ratio),
            PageCell(interval(each.ratio_lower, each.ratio_upper)),
            PageCell(fixed(each.slope, 2), each.slope),
            PageCell(interval(each.slope_lower, each.slope_upper)),
            PageCell(fixed(each.concordance, 3), each.concordance),
            PageCell(interval(each.concordance_lower, each.concordance_upper, 3)),
            PageCell(evidence_text(each.ratio_evidence), each.ratio_evidence),
            PageCell(evidence_text(each.slope_evidence), each.slope_evidence),
            PageCell("; ".join(each.notes), tone="wraps"),
        )
        for each in monitoring.periods
    )
    about = f"Limits have {percent(monitoring.confidence)} confidence, each period by itself."
    return PageTable("periods", "The model by period", columns, cells, about)


def drift_table(monitoring: Monitoring) -> PageTable:
    """A row per column and period; of many, those that moved furthest."""
    columns = (
        PageColumn("column", "Column", filtered=True),
        PageColumn("period", "Period", filtered=True),
        PageColumn("psi", "Stability index", numeric=True),
        PageColumn("difference", "Difference", numeric=True, meaning="of the means, in standard deviations"),
        PageColumn("p_value", "p", numeric=True),
        PageColumn("limit", "Limit of p", numeric=True),
        PageColumn("outside", "Beyond training", numeric=True, meaning="outside the range, or a level not seen"),
        PageColumn("gaps", "Gaps", numeric=True),
        PageColumn("alarm", "Alarm", filtered=True),
    )
    shown = list(monitoring.drift)
    cut = len(shown) > _MOST_ROWS
    if cut:
        shown = sorted(shown, key=_farthest)[:_MOST_ROWS]
    cells = tuple(
        (
            PageCell(each.column),
            PageCell(each.period),
            PageCell(fixed(each.psi), each.psi),
            PageCell(signed(each.difference), each.difference),
            PageCell(_small(each.p_value), each.p_value),
            PageCell(_small(each.limit), each.limit),
            PageCell(percent(each.outside), each.outside),
            PageCell(percent(each.gaps), each.gaps),
            PageCell("alarm" if each.drifted else "no", tone="bad" if each.drifted else ""),
        )
        for each in shown
    )
    about = f"The {_MOST_ROWS} of {len(monitoring.drift)} that moved furthest." if cut else ""
    return PageTable("drift", "Columns by period", columns, cells, about)


def evidence_text(value: float) -> str:
    """Evidence; what is beyond a million is as clear as it can be."""
    return "over a million" if value > 1e6 else number(value)


def _farthest(drift: ColumnDrift) -> tuple[bool, float]:
    return not drift.drifted, -drift.psi if math.isfinite(drift.psi) else math.inf


def _small(value: float) -> str:
    return "< 0.00001" if value < 1e-5 else number(value, 2)
