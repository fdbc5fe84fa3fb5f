"""Metrics as a table: their titles, values, limits, and a few words on what is good."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aldsurv.cli.shared.number_text import format_number
from aldsurv.cli.shared.text_layout import paragraph, screen_width

__all__ = ["METRICS", "MetricLine", "MetricText", "cens_dcal_help", "metric_table", "shown_metrics"]

# Narrower terminals have the help in lines of its own.
_NARROW = 66


class MetricText(NamedTuple):
    """A metric: its title, what is good, and the value it should have or the way it should go."""

    title: str
    help: str
    ideal: float


# Higher is better: inf; lower is better: 0 or -inf.
METRICS = {
    "harrell_c": MetricText("Harrell's C", "0.5 chance, 1 perfect", math.inf),
    "uno_c": MetricText("Uno's C", "0.5 chance, 1 perfect", math.inf),
    "ibs": MetricText("integrated Brier score", "0 perfect", 0.0),
    "mae": MetricText("mean absolute error", "of the events; 0 perfect", 0.0),
    "log_likelihood": MetricText("log-likelihood per row", "higher is better", math.inf),
    "bounded_log_likelihood": MetricText("bounded log-likelihood", "higher is better", math.inf),
    "cens_dcal": MetricText("CensDcal", "0 ideal", 0.0),
    "d_calibration": MetricText("D-calibration p-value", "small: not calibrated", math.inf),
    "cal_s_slope": MetricText("Cal[S] slope", "1 ideal", 1.0),
    "cal_s_intercept": MetricText("Cal[S] intercept", "0 ideal", 0.0),
    "cal_f_slope": MetricText("Cal[f] slope", "1 ideal", 1.0),
    "cal_f_intercept": MetricText("Cal[f] intercept", "0 ideal", 0.0),
    "auc": MetricText("AUC", "0.5 chance, 1 perfect", math.inf),
    "brier": MetricText("Brier score", "0 perfect", 0.0),
    "ici": MetricText("ICI", "0 ideal", 0.0),
}


class MetricLine(NamedTuple):
    """One metric as text, its limits (empty where there are none) and the help beside it."""

    title: str
    value: str
    limits: str
    help: str


def shown_metrics(names: Iterable[str], log_likelihoods: Iterable[float]) -> list[str]:
    """Names of metrics to print: the bounded log-likelihood only where a log-likelihood is not finite."""
    bounded = any(not math.isfinite(value) for value in log_likelihoods)
    return [name for name in names if bounded or name != "bounded_log_likelihood"]


def metric_table(lines: Sequence[MetricLine], confidence: float | None) -> list[str]:
    """Lines of text, aligned; on a narrow terminal limits and help come under the title.

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
    for title, value, limits, help_text in lines:
        first = f"{title:<{widths[0]}}  {value:>{widths[1]}}"
        if wide:
            limited = f"{first}  {limits:<{widths[2]}}" if heading else first
            rows.append(f"{limited}  {help_text}".rstrip())
            continue
        below = "; ".join(part for part in (limits, help_text) if part)
        rows += [first, *([paragraph(below, indent="    ")] if below else [])]
    if heading and not wide:
        rows.insert(0, f"below each: {heading}")
    return rows


def cens_dcal_help(by_chance: float) -> str:
    """What is good: right predictions have a CensDcal above 0 by chance, the larger the fewer the rows."""
    help_text = METRICS["cens_dcal"].help
    return help_text if math.isnan(by_chance) else f"{help_text}, {format_number(by_chance)} by chance"
