"""What ``aldsurv check`` warns of, and the command that it suggests."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aldsurv.cli.shared.command_options import format_names
from aldsurv.cli.shared.error_text import error_line
from aldsurv.cli.shared.leak_notes import leak_notes
from aldsurv.cli.shared.number_text import format_count
from aldsurv.cli.shared.table_notes import censoring_note, copies_note, person_notes
from aldsurv.cli.shared.text_layout import join_names
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.cli.check.gap_values import GapValue
    from aldsurv.cli.check.table_check import TableCheck
    from aldsurv.cli.shared.notes import Notes

__all__ = ["add_notes", "next_command"]

# Fewer events per column than this make coefficients uncertain, by a rule of thumb of the field.
_EVENTS_PER_COLUMN = 10
# More values than these are hardly causes.
_MOST_CAUSES = 6
# Files whose columns are not separated by a delimiter.
_NO_TEXT = (".xlsx", ".xlsm", ".parquet")


def add_notes(check: TableCheck, notes: Notes) -> None:
    """Add what the user should know to the warnings of reading."""
    names = check.table.columns
    if len(names) == 1 and check.table.path.suffix.lower() not in _NO_TEXT:
        name = quoted(names[0].name)
        notes.add(f"there is one column, {name}: if it holds several, name what is between them by --delimiter.")
    if check.obstacle is not None:
        roles = [f"{role} {quoted(name)}" for role, name in check.guess.outcome.columns.items()]
        notes.add(f"{join_names(roles)} may be the outcome, but fit would stop: {error_line(check.obstacle)}")
    for error in check.refused.values():
        notes.add(f"fit stops at this: {error_line(error)}")
    _add_event_notes(check, notes)
    for note in leak_notes([suspect for suspect in check.suspects if suspect.is_leak], check.request.drop):
        notes.add(note)
    for value, columns in check.gap_values.items():
        notes.add(_gap_note(value, columns))
    if check.data is None:
        return
    copies = copies_note(check.table)
    if copies is not None:
        notes.add(copies)
    for note in person_notes(check.table) if check.outcome.id is None else ():
        notes.add(note)
    events, width = int((~check.data.right_censored).sum()), 0 if check.features is None else check.features.width
    if 0 < events < _EVENTS_PER_COLUMN * width:
        notes.add(
            f"{format_count(events, 'event')} for {format_count(width, 'column')} of numbers: with fewer than "
            f"{_EVENTS_PER_COLUMN} events per column, coefficients are uncertain. Leave columns out by --drop, or take "
            "a model that does so, as by aldsurv fit --model coxnet."
        )
    at_zero = int((~check.data.right_censored & (check.data.upper == 0)).sum())
    if at_zero:
        notes.add(f"{format_count(at_zero, 'event')} at time 0: is it known that they came after the start?")


def _gap_note(value: str, columns: Sequence[GapValue]) -> str:
    """That a number may stand for a gap."""
    first = columns[0]
    side = "at least" if first.limit > float(value) else "at most"
    more = f", and in {format_count(len(columns) - 1, 'other column')}" if len(columns) > 1 else ""
    return (
        f"{value} in {format_count(first.rows, 'row')} of column {quoted(first.column)}, whose other values are {side} "
        f"{plain_number(first.limit)}{more}, may stand for a gap: if so, give --missing {value}."
    )


def _add_event_notes(check: TableCheck, notes: Notes) -> None:
    """Say what about the column of events should be looked at."""
    # Imported here, so that help is shown at once.
    from aldsurv.data.event_columns import fold_text

    outcome = check.outcome
    values = {
        fold_text(value) if isinstance(value, str) else value for value in check.event_counts if value is not None
    }
    if outcome.event is None or outcome.event_values:
        return
    if outcome.event_value and not check.request.outcome.event_value:
        notes.add(
            f"{quoted(outcome.event_value)} is taken for the event in column {quoted(outcome.event)}, all else for "
            "censored: give another --event-value if that is wrong."
        )
    if not check.request.outcome.event_value and 3 <= len(values) <= _MOST_CAUSES:
        notes.add(
            f"column {quoted(outcome.event)} has {len(values)} values: if several of them are events of different "
            'kinds, name them, as in --event-values "1=relapse,2=death".'
        )
    if "cens" in outcome.event.lower() and len(values) == 2 and not outcome.event_value:
        notes.add(censoring_note(outcome.event))


def next_command(check: TableCheck) -> list[str]:
    """The words of the command to run next, each option with its value as one."""
    request, outcome = check.request, check.outcome
    path = str(request.table)
    words = ["aldsurv", "fit", shlex.quote(path)]
    roles = outcome.given or {"time": "COLUMN", "event": "COLUMN"}
    words += [f"--{role.replace('_', '-')} {shlex.quote(name)}" for role, name in roles.items()]
    if request.unit and not outcome.unit:
        words.append(f"--unit {shlex.quote(request.unit)}")
    reading = request.reading
    for option in ("delimiter", "decimal", "encoding", "sheet"):
        value = reading.arguments[option]
        if value is not None:
            words.append(f"--{option} {shlex.quote(str(value))}")
    missing = tuple(dict.fromkeys([*(reading.missing or ()), *check.gap_words, *check.gap_values]))
    drop = [*request.drop, *(name for name in check.unusable if name not in request.drop)]
    drop += [
        str(suspect.column)
        for suspect in check.suspects
        # Constant columns are left out in any case.
        if any(sign.kind != "constant" for sign in suspect.signs)
    ]
    for option, names in (("missing", missing), ("categorical", request.categorical), ("drop", drop)):
        if names:
            words.append(f"--{option} {format_names(list(dict.fromkeys(names)))}")
    return words
