"""What ``aldsurv fit`` prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, final

import click

from aldsurv.cli.causes.cause_scores import ANY_CAUSE, cause_lines
from aldsurv.cli.causes.chosen_cause import count_causes
from aldsurv.cli.fit.held_out_scores import CONFIDENCE, HeldOutScores
from aldsurv.cli.scores.metric_table import MetricLine, cens_dcal_hint, metric_table, shown_metrics
from aldsurv.cli.shared.column_uses import column_lines
from aldsurv.cli.shared.number_text import format_count, format_limits, format_number
from aldsurv.cli.shared.text_layout import printable, screen_width, wrapped
from aldsurv.files.writing import is_stream
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.cli.fit.fit_request import FitRequest
    from aldsurv.cli.fit.fit_run import FitResult, TableSummary, TuningResult
    from aldsurv.models.wrappers.stack_table import StackTable

__all__ = [
    "Printer",
    "fit_facts",
    "held_out_facts",
    "held_out_text",
    "saved_text",
    "show_note",
    "stack_text",
    "table_text",
    "tuning_text",
]


@final
class Printer:
    """Prints paragraphs with an empty line between them.

    Parameters
    ----------
    silent
        Print nothing.
    to_stderr
        Print to the standard error stream: the model goes to standard output.
    """

    def __init__(self, *, silent: bool, to_stderr: bool) -> None:
        self._silent, self._to_stderr, self._is_first = silent, to_stderr, True

    def show(self, text: str) -> None:
        """Print a paragraph."""
        if not self._silent:
            click.echo(text if self._is_first else f"\n{text}", err=self._to_stderr)
            self._is_first = False


def show_note(text: str) -> None:
    """Print a note at once."""
    click.echo(f"aldsurv: note: {text}", err=True)


def table_text(summary: TableSummary, unit: str | None) -> str:
    """Rows, events, times and columns of the table."""
    table, width = summary.table, screen_width()
    counts = f"{format_count(len(table), 'row')}, {format_count(len(table.columns), 'column')}"
    lines = wrapped(f"{printable(table.path.name)}: {counts} ({table.written})", width, indent=2)
    if table.y is not None:
        # "n=…" is in the line above.
        _, events, times, *more = table.y.with_group(None).summary().split(", ")
        outcome = ", ".join([events, f"{times}{f' {printable(unit)}' if unit else ''}", *more])
        lines += wrapped(f"  {printable(outcome)}", width, indent=2)
        persons = [column.name for column in table.columns if column.use == "group"]
        if persons:
            counts = f"{format_count(len(table), 'row')} of {format_count(table.y.n_groups, 'person')}"
            lines += wrapped(f"  {counts} ({printable(persons[0])}), kept together", width, indent=2)
    return "\n".join([*lines, *column_lines(summary.columns, width)])


def tuning_text(result: TuningResult) -> str:
    """What a search found, and whether it replaces the default."""
    tuning = result.tuning
    parts = [tuning.describe()]
    if tuning.best:
        settings = ", ".join(f"{name} {_setting_text(value)}" for name, value in tuning.best.items())
        parts.append(f"  settings: {settings}")
    parts.append(f"  trials in {printable(result.journal)}")
    return "\n".join(line for part in parts for line in wrapped(part, screen_width(), indent=4))


def held_out_text(scores: HeldOutScores, rows: int, *, has_causes: bool = False) -> str:
    """Metrics on the held-out rows: one line per metric with value, limits, and what is good.

    Parameters
    ----------
    scores
        The metrics.
    rows
        How many the model was fitted to.
    has_causes
        Whether events are of several causes, so that it is said which are scored.
    """
    persons = "" if scores.persons is None else f" of {format_count(scores.persons, 'person')}"
    heading = (
        f"Fitted to {format_count(rows, 'row')}; on {scores.rows}{persons} held out "
        f"({format_count(scores.events, 'event')}):"
    )
    log_likelihood = scores.metrics.get("log_likelihood")
    shown = shown_metrics(scores.metrics, [] if log_likelihood is None else [log_likelihood.value])
    hints = {name: METRICS[name].hint for name in shown} | {"cens_dcal": cens_dcal_hint(scores.cens_dcal_by_chance)}
    lines = [
        MetricLine(METRICS[name].title, format_number(score.value), format_limits(score.lower, score.upper), hint)
        for name, score, hint in ((name, scores.metrics[name], hints[name]) for name in shown)
    ]
    blocks = [[*wrapped(heading, screen_width()), *([ANY_CAUSE] * has_causes), *metric_table(lines, CONFIDENCE)]]
    blocks += [cause_lines(each, CONFIDENCE, None) for each in scores.causes]
    return "\n\n".join("\n".join(block) for block in blocks)


def stack_text(table: StackTable) -> str:
    """The members of a stack: their weights, and how many seconds each took."""
    lines = [part for line in table.lines() for part in wrapped(printable(line), screen_width(), indent=2)]
    return "\n".join(["The stack of the model that is saved:", *(f"  {line}" for line in lines)])


def saved_text(request: FitRequest, result: FitResult, rows: int, seconds: float) -> str:
    """What was saved, and what the scores are of."""
    which = f"all {rows} rows" if result.rows == rows else f"the {result.rows} rows that were not held out"
    saved = f"Saved {printable(request.target)}: fitted to {which}"
    if result.interrupted:
        saved += ", until training was interrupted"
    parts = [f"{saved} ({seconds:.1f} s)"]
    if result.scores is not None and not result.interrupted:
        parts.append("The scores come from the same settings fitted without the held-out rows.")
    if result.page is not None:
        parts.append(f"Report {printable(request.report)}: of that model, on the held-out rows")
    elif request.report is not None:
        parts.append("No report: training was interrupted.")
    if not is_stream(request.target):
        parts.append(f"Next: aldsurv info {printable(request.target)}")
    return "\n".join(line for part in parts for line in wrapped(part, screen_width(), indent=2))


def fit_facts(
    request: FitRequest, summary: TableSummary, result: FitResult, seconds: float, notes: list[str]
) -> dict[str, object]:
    """All of it as JSON has it."""
    from aldsurv.cli.info_command import shown_settings

    table, scores, tuning = summary.table, result.scores, result.tuning
    stack = result.model.stack_table_
    return {
        "model": request.model,
        "file": str(request.target),
        "report": None if result.page is None else str(request.report),
        "table": str(table.path),
        "rows": len(table),
        "events": None if table.y is None else table.y.n_events,
        "causes": None if table.y is None else count_causes(table.y),
        "persons": None if table.y is None or table.y.group is None else table.y.n_groups,
        "columns": [column._asdict() for column in summary.columns],
        "settings": shown_settings(result.model),
        "stack": None if stack is None else [model._asdict() for model in stack.models],
        "tuning": None if tuning is None else _tuning_facts(tuning),
        "held_out": None if scores is None else held_out_facts(scores),
        "fitted_to": result.rows,
        "interrupted": result.interrupted,
        "seconds": round(seconds, 2),
        "notes": list(notes),
    }


def _tuning_facts(result: TuningResult) -> dict[str, object]:
    tuning = result.tuning
    return {
        "result": tuning.describe(),
        "metric": tuning.metric,
        "confirmed": tuning.confirmed,
        "best": tuning.best,
        "score": tuning.score,
        "gain": tuning.gain,
        "standard_error": tuning.standard_error,
        "trials": [asdict(trial) for trial in tuning.trials],
        "finalists": [asdict(finalist) for finalist in tuning.finalists],
        "journal": str(result.journal),
    }


def held_out_facts(scores: HeldOutScores) -> dict[str, object]:
    """The metrics of the held-out rows, as JSON has them."""
    return {
        "rows": scores.rows,
        "events": scores.events,
        "confidence": CONFIDENCE,
        "metrics": {name: score._asdict() for name, score in scores.metrics.items()},
        "cens_dcal_by_chance": scores.cens_dcal_by_chance,
        "causes": {each.cause: each.to_dict() for each in scores.causes} or None,
    }


def _setting_text(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
