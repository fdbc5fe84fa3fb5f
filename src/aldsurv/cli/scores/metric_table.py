"""Metrics as a table: their titles, values, limits, and a few words on what is good."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aldsurv.cli.shared.number_text import format_number
from aldsurv.cli.shared.text_layout import paragraph, screen_width
from aldsurv.registry import METRICS

__all__ = ["MetricLine", "cens_dcal_hint", "metric_table", "shown_metrics"]

# Narrower terminals have the hints in lines of their own.
_NARROW = 66


class MetricLine(NamedTuple):
    """One metric as text, its limits (empty where there are none) and a hint on what is good."""

    title: str
    value: str
    limits: str
    hint: str


def shown_metrics(names: Iterable[str], log_likelihoods: Iterable[float]) -> list[str]:
    """Names of metrics to print: the bounded log-likelihood only where a log-likelihood is not finite."""
    bounded = any(not math.isfinite(value) for value in log_likelihoods)
    return [name for name in names if bounded or name != "bounded_log_likelihood"]


def metric_table(lines: Sequence[MetricLine], confidence: float | None) -> list[str]:
    """Lines of text, aligned; on a narrow terminal limits and hint come under the title.

    Parameters
    ----------
    lines
        The metrics.
    confidence
        Confidence of the limits, named above them; None if there are none.
    """
    wide = screen_width() >= _NARROW
    heading = "" if confidence is None else f"{100 * confidence:g} % interval"
    widths = [max(len(line[k]) for line in lines) for k in range(3)]
    widths[1], widths[2] = max(widths[1], 5), max(widths[2], len(heading))
    rows = [f"{'':<{widths[0]}}  {'value':>{widths[1]}}" + (f"  {heading}" if wide and heading else "")]
    for title, value, limits, hint in lines:
        first = f"{title:<{widths[0]}}  {value:>{widths[1]}}"
        if wide:
            limited = f"{first}  {limits:<{widths[2]}}" if heading else first
            rows.append(f"{limited}  {hint}".rstrip())
            continue
        below = "; ".join(part for part in (limits, hint) if part)
        rows += [first, *([paragraph(below, indent="    ")] if below else [])]
    if heading and not wide:
        rows.insert(0, f"below each: {heading}")
    return rows


def cens_dcal_hint(by_chance: float) -> str:
    """What is good: right predictions have a CensDcal above 0 by chance, the larger the fewer the rows."""
    hint = METRICS["cens_dcal"].hint
    return hint if math.isnan(by_chance) else f"{hint}, {format_number(by_chance)} by chance"
