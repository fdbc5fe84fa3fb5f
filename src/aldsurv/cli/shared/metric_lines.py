"""How figures are told: their names, a word of help beside each, and lines that fit the terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from aldsurv.cli.shared.text_layout import screen_width

__all__ = [
    "FIGURES",
    "Figure",
    "Line",
    "as_json",
    "chance_words",
    "limits_text",
    "metric_table",
    "number_text",
    "p_text",
    "paragraph",
    "shown_figures",
]

# Of a table with a column of help; what is narrower has it in a line of its own.
_NARROW = 66
_NO_VALUE = "–"


class Figure(NamedTuple):
    """A metric for people: its name, what to know of its size, and the value it should have or the way it should go."""

    name: str
    help: str
    ideal: float


# Higher is better: inf; lower is better: 0 or -inf.
FIGURES = {
    "harrell_c": Figure("Harrell's C", "0.5 chance, 1 perfect", math.inf),
    "uno_c": Figure("Uno's C", "0.5 chance, 1 perfect", math.inf),
    "ibs": Figure("integrated Brier score", "0 perfect", 0.0),
    "mae": Figure("mean absolute error", "of the events; 0 perfect", 0.0),
    "log_likelihood": Figure("log-likelihood a row", "higher is better", math.inf),
    "bounded_log_likelihood": Figure("bounded log-likelihood", "higher is better", math.inf),
    "cens_dcal": Figure("CensDcal", "0 ideal", 0.0),
    "d_calibration": Figure("D-calibration p-value", "small: not calibrated", math.inf),
    "cal_s_slope": Figure("Cal[S] slope", "1 ideal", 1.0),
    "cal_s_intercept": Figure("Cal[S] intercept", "0 ideal", 0.0),
    "cal_f_slope": Figure("Cal[f] slope", "1 ideal", 1.0),
    "cal_f_intercept": Figure("Cal[f] intercept", "0 ideal", 0.0),
    "auc": Figure("AUC", "0.5 chance, 1 perfect", math.inf),
    "brier": Figure("Brier score", "0 perfect", 0.0),
    "ici": Figure("ICI", "0 ideal", 0.0),
}


def shown_figures(names: Iterable[str], log_likelihoods: Iterable[float]) -> list[str]:
    """Names of figures to print: the bounded log-likelihood only where a log-likelihood is not finite."""
    bounded = any(not math.isfinite(value) for value in log_likelihoods)
    return [name for name in names if bounded or name != "bounded_log_likelihood"]


class Line(NamedTuple):
    """One figure as text, its limits (empty where there are none) and the help beside it."""

    name: str
    value: str
    limits: str
    help: str


def metric_table(lines: Sequence[Line], confidence: float | None) -> list[str]:
    """Lines of text, aligned; on a narrow terminal limits and help come under the name.

    Parameters
    ----------
    lines
        What to tell.
    confidence
        Confidence of the limits, named above them; None if there are none.
    """
    wide = screen_width() >= _NARROW
    title = "" if confidence is None else f"{100 * confidence:g} % interval"
    widths = [max(len(line[k]) for line in lines) for k in range(3)]
    widths[1], widths[2] = max(widths[1], 5), max(widths[2], len(title))
    told = [f"{'':<{widths[0]}}  {'value':>{widths[1]}}" + (f"  {title}" if wide and title else "")]
    for name, value, limits, word in lines:
        first = f"{name:<{widths[0]}}  {value:>{widths[1]}}"
        if wide:
            told.append((f"{first}  {limits:<{widths[2]}}  {word}" if title else f"{first}  {word}").rstrip())
            continue
        below = "; ".join(part for part in (limits, word) if part)
        told += [first, *([paragraph(below, indent="    ")] if below else [])]
    if title and not wide:
        told.insert(0, f"below each: {title}")
    return told


def number_text(value: float, *, more: int = 0) -> str:
    """A number in four digits or so, and as many `more`; a dash where there is none, or none that is finite."""
    if not math.isfinite(value):
        return _NO_VALUE
    size = abs(value)
    if size >= 1e6:
        return f"{value:.{4 + more}g}"
    digits = more + (3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0)
    # What would be printed as 0 is not, and has no sign to lose.
    return f"{value:.{digits}f}" if size == 0 or size >= 0.5 * 10**-digits else f"{value:.1g}"


def chance_words(by_chance: float) -> str:
    """What to know of the size of CensDcal: right predictions have more than 0 of it, the fewer the rows."""
    word = FIGURES["cens_dcal"].help
    return word if math.isnan(by_chance) else f"{word}, {number_text(by_chance)} by chance"


def limits_text(lower: float, upper: float, *, more: int = 0) -> str:
    """Two limits, or nothing where there are none that are finite."""
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return ""
    return f"{number_text(lower, more=more)} to {number_text(upper, more=more)}"


def p_text(value: float) -> str:
    """A p-value; a tiny one as what it is below."""
    if math.isnan(value):
        return _NO_VALUE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def paragraph(text: str, *, indent: str = "") -> str:
    """Text in lines that fit the terminal."""
    return textwrap.fill(text, screen_width(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def as_json(found: Any) -> str:
    """JSON that every program can read: what is not finite is null."""
    import json

    return json.dumps(_plain(found), indent=2, allow_nan=False, ensure_ascii=False)


def _plain(found: Any) -> Any:
    if isinstance(found, Mapping):
        return {str(key): _plain(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [_plain(value) for value in found]
    if isinstance(found, np.generic):
        found = found.item()
    return None if isinstance(found, float) and not math.isfinite(found) else found
