"""What ``aldsurv check`` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aldsurv.cli.check.check_notes import next_command
from aldsurv.cli.shared.error_text import error_line
from aldsurv.cli.shared.number_text import format_count
from aldsurv.cli.shared.text_layout import join_names, printable, screen_width, two_columns, wrapped
from aldsurv.columns.column_entries import format_value
from aldsurv.plain_numbers import percent, plain_number

if TYPE_CHECKING:
    from aldsurv.cli.check.table_check import CheckedColumn, TableCheck
    from aldsurv.data.survival_data import SurvivalData

__all__ = ["check_facts", "check_text"]

_MOST_COLUMNS, _MOST_VALUES = 20, 8


def check_text(check: TableCheck, notes: Sequence[str]) -> str:
    """All of it for a terminal; the problem, if there is one, is the error that follows."""
    width, table = screen_width(), check.table
    counts = f"{format_count(len(table), 'row')}, {format_count(len(table.columns), 'column')}"
    blocks = [wrapped(f"{printable(table.path.name)}: {counts} ({printable(table.written)})", width, indent=2)]
    blocks.append(["Columns", *_column_lines(check.columns, width)])
    blocks.append(_outcome_lines(check, width))
    if notes:
        lines = [line for note in notes for line in _item(note, width)]
        blocks.append(["Look at", *lines])
    if check.obstacle is None and check.problem is None:
        blocks.append(["Next", *command_lines(next_command(check), width)])
    return "\n\n".join("\n".join(block) for block in blocks)


def check_facts(check: TableCheck, notes: Sequence[str]) -> dict[str, object]:
    """All of it as JSON has it."""
    table, data = check.table, check.data
    return {
        "table": str(table.path),
        "written": table.written,
        "rows": len(table),
        "columns": [column._asdict() for column in check.columns],
        "kinds": _kind_counts(check.columns),
        "outcome": check.outcome.given or None,
        "guessed": list(check.guess.guessed),
        "candidates": {"time": list(check.guess.times), "event": list(check.guess.events)},
        "event_values": [{"value": value, "rows": rows} for value, rows in check.event_counts.items()] or None,
        "summary": None if data is None else _outcome_facts(data),
        "suspicious": [
            {
                "column": suspect.column,
                "leak": suspect.is_leak,
                "signs": [sign._asdict() for sign in suspect.signs],
            }
            for suspect in check.suspects
        ],
        "notes": list(notes),
        "problem": None if check.problem is None else error_line(check.problem),
        "next": " ".join(next_command(check)) if check.obstacle is None and check.problem is None else None,
    }


def command_lines(words: Sequence[str], width: int) -> list[str]:
    """A command in lines that a shell joins."""
    lines, line = [], "  "
    for word in words:
        if line.strip() and len(line) + len(word) + 3 > width:
            lines.append(f"{line} \\")
            line = "   "
        line += word if line == "  " else f" {word}"
    return [printable(line) for line in [*lines, line]]


def _item(note: str, width: int) -> list[str]:
    first, *more = wrapped(note, width - 4)
    return [f"  - {first}", *(f"    {line}" for line in more)]


def _column_lines(columns: Sequence[CheckedColumn], width: int) -> list[str]:
    rows = [(column.name, _use(column)) for column in columns[:_MOST_COLUMNS]]
    lines = two_columns([(printable(name), printable(use)) for name, use in rows], width)
    rest = columns[_MOST_COLUMNS:]
    if rest:
        counts = ", ".join(f"{count} {kind}" for kind, count in _kind_counts(rest).items())
        lines += wrapped(f"  … and {len(rest)} more: {counts}", width, indent=4)
    return lines


def _use(column: CheckedColumn) -> str:
    """The use, with examples where it shows none."""
    shows_values = column.kind in ("category", "codes")
    examples = "" if shows_values or not column.examples else f"; such as {', '.join(column.examples)}"
    gaps = f"; {format_count(column.gaps, 'gap')}" if column.gaps and " gap" not in column.use else ""
    use = column.use.replace("category:", "codes:", 1) if column.kind == "codes" else column.use
    return f"{use}{gaps}{examples}"


def _kind_counts(columns: Sequence[CheckedColumn]) -> dict[str, int]:
    return dict(Counter(column.kind for column in columns).most_common())


def _outcome_lines(check: TableCheck, width: int) -> list[str]:
    guess, data = check.guess, check.data
    if not check.outcome.given:
        unclear = "not clear from the names of the columns"
        why = unclear if check.obstacle is None else "the columns that may be it cannot be read as they are"
        lines = ["Outcome", *wrapped(f"  not named, and {why}", width, indent=2)]
        for option, names in (("--time", guess.times), ("--event", guess.events)):
            if names:
                lines += wrapped(f"  {option} may be {printable(', '.join(names))}", width, indent=4)
        return lines
    heading = "Outcome"
    guessed = [role for role in guess.guessed if role in check.outcome.columns]
    if guessed:
        options = join_names([f"--{role}" for role in guessed])
        heading += f" (a guess: name other columns by {options})"
    roles = [(role.replace("_", " "), printable(name)) for role, name in check.outcome.columns.items()]
    rows = [(role, f"column {name}") for role, name in roles]
    if check.event_counts:
        rows.append(("values", _value_text(check)))
    if data is not None:
        rows += _summary_rows(data)
    return [*wrapped(heading, width, indent=2), *two_columns(rows, width)]


def _value_text(check: TableCheck) -> str:
    counts = list(check.event_counts.items())
    shown = [
        f"{'a gap' if value is None else printable(format_value(value))} in {format_count(rows, 'row')}"
        for value, rows in counts[:_MOST_VALUES]
    ]
    more = f", and {len(counts) - _MOST_VALUES} more" if len(counts) > _MOST_VALUES else ""
    value = check.outcome.event_value
    return f"{', '.join(shown)}{more}" + (f"; {printable(value)} is the event" if value else "")


def _summary_rows(data: SurvivalData) -> list[tuple[str, str]]:
    facts = _outcome_facts(data)
    persons = data.n_persons
    share = f" ({percent(facts['events'] / persons)})" if persons else ""
    of = f"{format_count(persons, 'person' if data.person is not None else 'row')}{share}"
    rows = [("events", f"{facts['events']} of {of}, {facts['censored']} censored")]
    if facts["causes"]:
        rows.append(("causes", ", ".join(f"{printable(name)} {rows}" for name, rows in facts["causes"].items())))
    rows.append(
        ("times", f"{_time(facts['first_time'])} to {_time(facts['last_time'])}, median {_time(facts['median_time'])}")
    )
    if facts["median_follow_up"] is not None:
        rows.append(("follow-up", f"median {_time(facts['median_follow_up'])}, by reverse Kaplan-Meier"))
    if facts["tied_events"] is not None:
        tied = facts["tied_events"]
        rows.append(("ties", f"{tied} of the events have the time of another" if tied else "none among the events"))
    if facts["at_time_0"]:
        rows.append(("time 0", format_count(facts["at_time_0"], "row")))
    return rows


def _outcome_facts(data: SurvivalData) -> dict[str, Any]:
    import numpy as np

    persons = data.persons()
    event = ~persons.right_censored
    time = np.where(event, persons.upper, persons.lower)
    _, counts = np.unique(time[event], return_counts=True)
    causes = None
    if persons.cause is not None and persons.causes is not None:
        rows = np.bincount(persons.cause, minlength=len(persons.causes) + 1)[1:].tolist()
        causes = dict(zip(persons.causes, rows, strict=True))
    return {
        "events": int(event.sum()),
        "censored": int((~event).sum()),
        "causes": causes,
        "first_time": float(time.min()),
        "last_time": float(time.max()),
        "median_time": float(np.median(time)),
        "median_follow_up": _median_follow_up(persons, time, event),
        "tied_events": int(counts[counts > 1].sum()) if (persons.exact == event).all() else None,
        "at_time_0": int((time == 0).sum()),
    }


def _median_follow_up(persons: SurvivalData, time: Any, event: Any) -> float | None:
    """The median time to the end of observation, by Kaplan-Meier with events as censored; None beyond the last."""
    import numpy as np

    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.nonparametric import kaplan_meier

    if event.all() or persons.entry is not None:
        return None
    curve = kaplan_meier(SurvivalData.right(time, ~event))
    below = np.flatnonzero(curve.survival <= 0.5)
    return float(curve.times[below[0]]) if below.size else None


def _time(value: float) -> str:
    return plain_number(value, 4)
