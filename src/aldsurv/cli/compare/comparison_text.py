"""What ``aldsurv compare`` prints: the scores, the differences, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

from aldsurv.cli.causes.cause_scores import ANY_CAUSE
from aldsurv.cli.compare.comparison import (
    ComparedModel,
    Comparison,
    Difference,
    best_places,
    log_likelihoods,
    not_compared,
)
from aldsurv.cli.scores.metric_table import shown_metrics
from aldsurv.cli.shared.input_files import time_unit
from aldsurv.cli.shared.number_text import format_limits, format_number, format_p_value
from aldsurv.cli.shared.text_layout import join_names, paragraph, printable, screen_width
from aldsurv.registry import METRICS, MODELS

__all__ = ["comparison_facts", "comparison_text"]

# By which models of any kind are judged: the log-likelihood depends on how a curve is interpolated.
_MAIN = ("ibs", "log_likelihood", "bounded_log_likelihood")


def comparison_text(comparison: Comparison) -> str:
    """All of it."""
    models, first = comparison.models, comparison.models[0]
    kinds = ", ".join(f"{model.name} ({MODELS.title_of(type(model.predictions.model))})" for model in models)
    lines = [
        paragraph(printable(f"{kinds} on {first.predictions.table.path}")),
        paragraph(printable(first.predictions.rows.summary()), indent="  "),
        *_scored_event(comparison),
        "",
        *_score_table(models),
    ]
    for name, differences in comparison.differences.items():
        lines += ["", *_difference_table(name, first.name, differences, comparison.settings.confidence)]
    return "\n".join([*lines, "", *(paragraph(sentence) for sentence in _verdict(comparison))])


def comparison_facts(comparison: Comparison) -> dict[str, object]:
    """All of it as JSON has it."""
    models, settings, first = comparison.models, comparison.settings, comparison.models[0].predictions
    units = [time_unit(model.predictions.model) for model in models]
    return {
        "table": str(first.table.path),
        "rows": len(first.rows),
        "events": first.rows.n_events,
        "summary": first.rows.summary(),
        "unit": next((unit for unit in units if unit), None),
        "cause": comparison.cause,
        "confidence": settings.confidence if settings.bootstrap else None,
        "bootstrap": settings.bootstrap,
        "models": [
            {
                "name": model.name,
                "path": model.predictions.path,
                "kind": type(model.predictions.model).__name__,
                "point": settings.error_point(model.predictions.model),
                "ranking_point": settings.ranking_point(model.predictions.model),
                "metrics": {key: score.value for key, score in model.metrics.items()},
            }
            for model in models
        ],
        "first": models[0].name,
        "differences": {
            name: {one.metric: _difference_facts(one) for one in differences}
            for name, differences in comparison.differences.items()
        },
        "not_compared": not_compared(models),
        "verdict": _verdict(comparison),
    }


def _scored_event(comparison: Comparison) -> list[str]:
    """Which event is scored, where there are several causes."""
    if comparison.cause is not None:
        return [paragraph(printable(f"incidence of {comparison.cause}"), indent="  ")]
    if comparison.models[0].predictions.incidence is None:
        return []
    return [paragraph(f"{ANY_CAUSE.lower()}; for one of them give --cause", indent="  ")]


def _difference_facts(difference: Difference) -> dict[str, object]:
    return {name: value for name, value in asdict(difference).items() if name != "metric"}


def _verdict(comparison: Comparison) -> list[str]:
    """Sentences: which model is best by the main score, and in what each differs clearly from the first."""
    models, confidence = comparison.models, comparison.settings.confidence
    main = next((key for key in _MAIN if all(_is_finite(model, key) for model in models)), None)
    if main is None:
        return ["No verdict: the main scores have no finite value for these rows.", *_undefined(models)]
    first = _main__verdict(comparison, main)
    differences = comparison.differences.items()
    summaries = [_summary(name, models[0].name, values, confidence) for name, values in differences]
    return [first, *summaries, *_undefined(models)]


def _undefined(models: Sequence[ComparedModel]) -> list[str]:
    """Which metrics are infinite, and for which models."""
    return [
        f"Not compared: {METRICS[key].title} of {join_names(names)}, which is infinite."
        for key, names in not_compared(models).items()
    ]


def _is_finite(model: ComparedModel, key: str) -> bool:
    return key in model.metrics and math.isfinite(model.metrics[key].value)


def _main__verdict(comparison: Comparison, main: str) -> str:
    models, title = comparison.models, METRICS[main].title
    names, values = [model.name for model in models], [model.metrics[main].value for model in models]
    best = best_places(main, values)
    leader = f"{join_names([names[k] for k in best])} {'has' if len(best) == 1 else 'have'} the best {title}"
    leader = f"Verdict: {leader} ({format_number(values[best[0]])})"
    if not comparison.differences:
        return f"{leader}; without intervals it may be chance."
    differences = comparison.differences.items()
    by_name = {name: next(one for one in values if one.metric == main) for name, values in differences}
    sides = {name: one.side(comparison.settings.confidence) for name, one in by_name.items()}
    if len(names) == 2:
        p_value, side = by_name[names[1]].p_value, sides[names[1]]
        numbers = f"({format_number(values[1])} against {format_number(values[0])}, p {format_p_value(p_value)})"
        if not side:
            return f"Verdict: no clear difference between {names[1]} and {names[0]} by {title} {numbers}."
        return f"Verdict: {names[1]} is clearly {side} than {names[0]} by {title} {numbers}."
    parts = []
    for side in ("better", "worse"):
        those = [name for name, clear_side in sides.items() if clear_side == side]
        parts += [f"clearly {side} than {names[0]}: {join_names(those)}"] if those else []
    if not parts:
        return f"{leader}, but by this score no model differs clearly from {names[0]}."
    return f"{leader}; {'; '.join(parts)}."


def _summary(name: str, first: str, differences: Sequence[Difference], confidence: float) -> str:
    sides: dict[str, list[str]] = {"better": [], "worse": [], "": []}
    for one in differences:
        sides[one.side(confidence)].append(METRICS[one.metric].title)
    parts = [f"{side} in {join_names(sides[side])}" for side in ("better", "worse") if sides[side]]
    if sides[""]:
        parts.append(f"no clear difference in {join_names(sides[''])}")
    return f"{name} against {first}: {'; '.join(parts)}."


def _score_table(models: Sequence[ComparedModel]) -> list[str]:
    """The metrics of all models, the best marked by a star; in as many blocks of columns as the terminal needs."""
    keys = shown_metrics(models[0].metrics, log_likelihoods(models))
    values = {key: [model.metrics[key].value for model in models] for key in keys}
    best = {key: best_places(key, values[key]) for key in keys}
    room = screen_width()
    label = max(len(METRICS[key].title) for key in keys)
    names = [_shortened(model.name, max(8, room - label - 4)) for model in models]
    widths = [max(len(name), 8) + 1 for name in names]
    blocks: list[list[int]] = [[]]
    for place, width in enumerate(widths):
        if blocks[-1] and label + sum(2 + widths[k] for k in blocks[-1]) + 2 + width > room:
            blocks.append([])
        blocks[-1].append(place)
    lines: list[str] = []
    for block in blocks:
        lines += [""] if lines else []
        lines.append(f"{'* best':<{label}}" + "".join(f"  {names[k]:>{widths[k] - 1}} " for k in block).rstrip())
        for key in keys:
            cells = (f"{format_number(values[key][k])}{'*' if k in best[key] else ' '}" for k in block)
            line = "".join(f"  {cell:>{widths[k]}}" for k, cell in zip(block, cells, strict=True))
            lines.append(f"{METRICS[key].title:<{label}}{line}".rstrip())
    return lines


def _difference_table(name: str, first: str, differences: Sequence[Difference], confidence: float) -> list[str]:
    """By how much each metric of a model exceeds that of the first one."""
    rows = [("", "difference", f"{100 * confidence:g} % interval", "p", "")]
    for one in differences:
        limits = format_limits(one.lower, one.upper, more=1)
        p_value = format_p_value(one.p_corrected)
        value = format_number(one.difference, more=1)
        rows.append((METRICS[one.metric].title, value, limits, p_value, one.side(confidence)))
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    lines = [f"{name} minus {first}"]
    if sum(widths) + 8 > screen_width():
        for title, value, limits, p_value, side in rows[1:]:
            lines += [f"{title:<{widths[0]}}  {value}", f"    {limits}, p {p_value}{', ' if side else ''}{side}"]
        return lines
    for title, value, limits, p_value, side in rows:
        line = f"{title:<{widths[0]}}  {value:>{widths[1]}}  {limits:<{widths[2]}}  {p_value:>{widths[3]}}  {side}"
        lines.append(line.rstrip())
    return lines


def _shortened(name: str, room: int) -> str:
    return name if len(name) <= room else f"…{name[1 - room :]}"
