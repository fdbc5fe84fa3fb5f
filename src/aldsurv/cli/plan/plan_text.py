"""What ``aldsurv plan`` prints, as text and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aldsurv.cli.shared.number_text import format_count, format_limits, format_number
from aldsurv.cli.shared.text_layout import paragraph, printable, screen_width
from aldsurv.registry import METRICS, MODELS

if TYPE_CHECKING:
    from aldsurv.cli.plan.curve_run import CurveResult
    from aldsurv.planning.growing_parts import LearningCurve
    from aldsurv.planning.sample_size import SampleSize

__all__ = ["curve_facts", "curve_text", "development_text", "size_facts", "validation_text"]

_FACTORS = {2: "twice", 4: "four times"}


def size_facts(size: SampleSize) -> dict[str, object]:
    """A sample size as JSON has it."""
    return {
        "people": size.rows,
        "events": size.events,
        "deciding": size.deciding.name,
        "criteria": [
            {"name": one.name, "purpose": one.purpose, "people": one.rows, "events": one.events}
            for one in size.criteria
        ],
        "facts": dict(size.facts),
    }


def development_text(size: SampleSize) -> str:
    """Criteria of development, and what follows."""
    facts = size.facts
    limits = format_limits(facts["overall_risk_lower"], facts["overall_risk_upper"])
    return "\n".join(
        [
            *_criterion_table(size),
            "",
            paragraph(
                f"{_needed(size)}, {facts['events_per_parameter']:.1f} events per parameter: the criterion "
                f"{size.deciding.name} decides."
            ),
            paragraph(
                f"R² of Cox and Snell {format_number(facts['cox_snell'])}, of at most "
                f"{format_number(facts['largest_cox_snell'])} with such events: Nagelkerke's is "
                f"{format_number(facts['nagelkerke'])}. The risk by {facts['horizon']:g} would be known as "
                f"{format_number(facts['overall_risk'])} ({limits})."
            ),
        ]
    )


def validation_text(size: SampleSize) -> str:
    """Criteria of validation, and what was assumed."""
    facts = size.facts
    lines = [
        *_criterion_table(size),
        "",
        paragraph(f"{_needed(size)}: the criterion {size.deciding.name} decides."),
        paragraph(
            f"Assumed: a calibrated model with C {format_number(facts['c_index'])}, D "
            f"{format_number(facts['d_statistic'])}, standard deviation of the linear predictor "
            f"{format_number(facts['spread'])}; the event is observed in {100 * facts['observed_events']:.3g} % of the "
            "people by the horizon."
        ),
    ]
    return "\n".join(lines)


def curve_facts(result: CurveResult) -> dict[str, object]:
    """A learning curve as JSON has it."""
    curve, request = result.curve, result.request
    metrics: dict[str, object] = {}
    for name in curve.metrics:
        missed = curve.missed(name)
        metrics[name] = {
            "title": METRICS[name].title,
            "points": [point._asdict() for point in curve.points(name)],
            "extrapolation": [one._asdict() for one in curve.extrapolation(name)],
            "missed": None if missed is None else {"difference": missed[0], "standard_error": missed[1]},
        }
    return {
        "table": str(request.table),
        "model": request.model,
        "rows": len(result.table),
        "events": result.table.y.n_events if result.table.y is not None else 0,
        "repeats": curve.repeats,
        "held_out": request.held_out,
        "seed": request.seed,
        "sizes": list(curve.sizes),
        "metrics": metrics,
        "record": str(result.record),
    }


def curve_text(result: CurveResult) -> str:
    """The curve as a table, and what more rows would bring."""
    curve, request = result.curve, result.request
    title, share = MODELS[request.model].title, 100 * request.held_out
    repeats = format_count(curve.repeats, "repetition")
    lines = [
        paragraph(printable(f"{title} on {request.table}: {format_count(len(result.table), 'row')}")),
        paragraph(f"scores on {share:g} % of the rows, held out; {repeats}", indent="  "),
        "",
        *_curve_table(curve),
        "",
    ]
    sentences = [sentence for name in curve.metrics for sentence in _outlook(curve, name)]
    if not sentences:
        sentences = [
            "What more rows would bring takes four sizes and three repetitions at least: give --sizes or --repeats."
        ]
    lines += [paragraph(sentence) for sentence in sentences]
    return "\n".join([*lines, "", paragraph(printable(f"The fits are recorded in {result.record}."))])


def _needed(size: SampleSize) -> str:
    return f"{size.rows} people with {format_count(math.ceil(size.events), 'event')} are needed"


def _criterion_table(size: SampleSize) -> list[str]:
    rows = [("criterion", "people", "events", "for")]
    rows += [(one.name, str(one.rows), str(math.ceil(one.events)), one.purpose) for one in size.criteria]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = []
    for name, people, events, purpose in rows:
        first = f"{name:<{widths[0]}}  {people:>{widths[1]}}  {events:>{widths[2]}}"
        wide = len(first) + 2 + max(len(row[3]) for row in rows) <= screen_width()
        lines += [f"{first}  {purpose}"] if wide else [first, *([f"    {purpose}"] if purpose != "for" else [])]
    return lines


def _curve_table(curve: LearningCurve) -> list[str]:
    events = {cell.rows: cell.events for cell in curve.cells}
    by_name = {name: {point.rows: point for point in curve.points(name)} for name in curve.metrics}
    header = ["rows", "events", *(METRICS[name].short_title for name in by_name)]
    rows = [header]
    for size in curve.sizes:
        cells = []
        for points in by_name.values():
            point = points.get(size)
            error = "" if point is None or math.isnan(point.standard_error) else f" ± {point.standard_error:.3f}"
            cells.append("–" if point is None else f"{point.value:.3f}{error}")
        rows.append([str(size), str(events[size]), *cells])
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _outlook(curve: LearningCurve, name: str) -> list[str]:
    """What more rows would bring to a metric, and how far to believe it."""
    ahead = curve.extrapolation(name)
    if not ahead:
        return []
    now, title = curve.points(name)[-1], METRICS[name].title
    parts = [
        f"{format_number(one.value)} with {_FACTORS[round(one.rows / now.rows)]} as many, a change of "
        f"{_signed(one.change)} ({_signed(one.lower)} to {_signed(one.upper)})"
        for one in ahead
    ]
    text = f"{title}: {format_number(now.value)} with {now.rows} rows; if it goes on so, {' and '.join(parts)}."
    missed = curve.missed(name)
    if missed is not None:
        said = format_number(now.value + missed[0])
        off = abs(missed[0]) > 2 * missed[1]
        text += f" From the smaller parts alone {said} would have been expected with {now.rows}"
        text += ": do not rely on it." if off else "."
    return [text]


def _signed(change: float) -> str:
    return f"{change:+.4f}" if abs(change) >= 0.00005 else "0"
