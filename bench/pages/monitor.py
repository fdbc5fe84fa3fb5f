"""Values of docs/monitor.md: false alarms of quiet streams, and events until a change is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aldsurv.monitoring.model_monitoring import ALPHA_SHARES
from bench.pages.markdown import table
from bench.pages.results import origins, read_section

__all__ = ["values"]

FILE, SECTION = "monitor.json", "streams"


def values() -> dict[str, str]:
    """By name."""
    measured: Mapping[str, Any] = read_section(FILE, SECTION)
    return {
        "streams": f"{measured['streams']:,}",
        "periods": str(measured["periods"]),
        "rows": str(measured["rows"]),
        "false alarms": _false_alarms(measured["false alarms"], measured["alpha"]),
        "changes": _changes(measured["changes"]),
        "shifts": _shifts(measured["shifts"]),
        "date": origins(FILE)[SECTION].date,
    }


def _false_alarms(shares: Mapping[str, float], alpha: float) -> str:
    """A row per test: the share of quiet streams with an alarm."""
    rows = [[test, f"{100 * alpha * ALPHA_SHARES[test]:.3g}", f"{100 * share:.1f}"] for test, share in shares.items()]
    rows.append(["any, at most the sum", f"{100 * alpha:.3g}", f"{100 * sum(shares.values()):.1f}"])
    return table(["test", "allowed, %", "false alarms, %"], rows)


def _changes(changes: list[Mapping[str, Any]]) -> str:
    """A row per change: how long its test takes."""
    rows = [
        [
            each["change"],
            str(each["before"]),
            f"{100 * each['found']:.0f}",
            f"{each['events']:.0f}",
            "" if each["events 90 %"] is None else f"{each['events 90 %']:.0f}",
            f"{each['periods']:.0f}",
        ]
        for each in changes
    ]
    head = ["change", "quiet periods before", "found, %", "events until the alarm, median", "90 %", "periods, median"]
    return table(head, rows)


def _shifts(shifts: list[Mapping[str, float]]) -> str:
    """A row per shift of a column: how often it is found."""
    rows = [[f"{each['shift']:g}", f"{100 * each['at once']:.0f}", f"{100 * each['six']:.0f}"] for each in shifts]
    return table(["shift, standard deviations", "found in the first period, %", "within six, %"], rows)
