"""What ``aldsurv update`` prints, as text and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from aldsurv.cli.shared.number_text import format_count, format_number
from aldsurv.cli.shared.text_layout import paragraph, printable

if TYPE_CHECKING:
    from aldsurv.tuning.model_update import ModelUpdate, RungScore

__all__ = ["update_facts", "update_text"]

_CHANGES = {
    "none": "the model stays as it is",
    "intercept": "all hazards are multiplied by one factor",
    "slope": "all hazards are multiplied by one factor, and the differences between people by another",
    "levels": "hazards and differences between people are changed, then levels are mapped",
    "last_layer": "the last layer was learned from the new table, pulled towards what it was",
    "refit": "the same model was fitted to the new table alone",
}
_HEADINGS = ("rung", "log-likelihood", "difference", "standard error", "")


def update_facts(result: ModelUpdate, *, model: str, table: str, target: Path) -> dict[str, object]:
    """An update as JSON has it."""
    change = result.model.adjustment_
    return {
        "model": model,
        "table": table,
        "out": str(target),
        "rows": result.rows,
        "events": result.events,
        "rung": result.rung,
        "intercept": change.intercept,
        "slope": change.slope,
        "reference_time": change.time if result.rung in ("slope", "levels") else None,
        "levels": {"knots": change.level_map.knots.tolist(), "values": change.level_map.values.tolist()},
        "folds": result.folds,
        "repeats": result.repeats,
        "rungs": [asdict(score) for score in result.rungs],
        "ancestry": [step.to_dict() for step in result.model.ancestry_],
    }


def update_text(result: ModelUpdate, *, model: str, table: str, target: Path) -> str:
    """The table of rungs, what was chosen, and why."""
    rows = format_count(result.rows, "row")
    head = f"{model} on {table}: {rows}, {format_count(result.events, 'event')}"
    return "\n".join(
        [
            paragraph(printable(head)),
            "",
            *_rung_table(result),
            "",
            paragraph(printable(f"Chosen: {result.rung}. {_sentence(_change_text(result))} {_reason(result)}")),
            paragraph(printable(f"Written to {target}.")),
        ]
    )


def _rung_table(result: ModelUpdate) -> list[str]:
    cells = [_HEADINGS, *(_cells(score) for score in result.rungs)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(_HEADINGS))]
    return [
        "  ".join(
            row[k].ljust(widths[k]) if k in (0, len(_HEADINGS) - 1) else row[k].rjust(widths[k]) for k in range(5)
        ).rstrip()
        for row in cells
    ]


def _cells(score: RungScore) -> tuple[str, str, str, str, str]:
    numbers = (score.log_likelihood, score.gain, score.standard_error)
    shown = ["" if number is None else format_number(number) for number in numbers]
    verdict = "" if score.verdict == "start" else score.verdict
    if score.compared_with is not None and score.verdict in ("better", "not better"):
        verdict = f"{verdict} than {score.compared_with}"
    return score.rung, shown[0], shown[1], shown[2], verdict


def _change_text(result: ModelUpdate) -> str:
    change, text = result.model.adjustment_, _CHANGES[result.rung]
    if result.rung == "intercept":
        return f"{text}, {math.exp(change.intercept):.3g}"
    if result.rung in ("slope", "levels"):
        return f"{text} (factor {math.exp(change.intercept):.3g}, slope {change.slope:.3g})"
    return text


def _reason(result: ModelUpdate) -> str:
    """Why this rung, in plain words."""
    verdicts = {score.rung: score.verdict for score in result.rungs}
    if "named" in verdicts.values():
        return "It was named by --rung."
    if len(result.rungs) == 1:
        return "It was named by --rung."
    few = [score for score in result.rungs if score.verdict == "too few events"]
    tried = [score for score in result.rungs if score.verdict in ("better", "not better")]
    parts = []
    if result.rung != "none":
        parts.append("On held-out rows it is more likely than the smaller change by more than noise.")
    larger = [score.rung for score in tried if score.compared_with == result.rung]
    if larger:
        parts.append("No larger change is better beyond noise.")
    if few:
        listed = ", ".join(f"{score.rung} (from {score.least_events} on)" for score in few)
        parts.append(f"Too few events to try {listed}.")
    parts += [f"{score.rung}: {score.reason.rstrip('.')}." for score in result.rungs if score.reason]
    return " ".join(parts)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
