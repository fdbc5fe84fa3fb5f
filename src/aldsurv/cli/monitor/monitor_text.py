"""What ``aldsurv monitor`` prints, as text and as JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from aldsurv.cli.shared.number_text import format_count, format_number
from aldsurv.cli.shared.text_layout import paragraph, printable

if TYPE_CHECKING:
    from aldsurv.monitoring import Monitoring

__all__ = ["monitor_facts", "monitor_text"]

_HEADINGS = ("period", "rows", "events", "expected", "O/E", "slope", "C")


def monitor_facts(result: Monitoring, *, model: str, table: str, page: Path) -> dict[str, object]:
    """A monitoring as JSON has it."""
    return {"model": model, "table": table, "page": str(page), **result.to_dict()}


def monitor_text(result: Monitoring, *, model: str, table: str, page: Path) -> str:
    """The verdict, a line per period, alarms, and where the page is."""
    head = f"{model} on {table}: {format_count(result.rows, 'row')}, {len(result.periods)} {result.period_kind}s"
    verdict = [f"{result.verdict}."] if not result.alarms else [
        f"Alarm in {alarm.period}: {alarm.describe()}." for alarm in result.alarms
    ]  # fmt: skip
    advice = []
    if any(alarm.column is None for alarm in result.alarms):
        advice = [
            paragraph(printable(f"If this is no error in the data: aldsurv update {model} with the rows since then."))
        ]
    return "\n".join(
        [
            paragraph(printable(head)),
            "",
            *_period_lines(result),
            "",
            *(paragraph(printable(line)) for line in verdict),
            *advice,
            paragraph(printable(f"Page: {page}")),
        ]
    )


def _period_lines(result: Monitoring) -> list[str]:
    rows = [_HEADINGS] + [
        (
            printable(each.period),
            str(each.rows),
            f"{each.events:.6g}",
            f"{each.expected:.1f}",
            _two_digits(each.ratio),
            _two_digits(each.slope),
            format_number(each.concordance),
        )
        for each in result.periods
    ]
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEADINGS))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


def _two_digits(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "–"
