"""Values of an event column that stand for causes, as they are typed: ``1=relapse,2=death``."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from aldsurv.checks import listed
from aldsurv.cli.shared.number_text import format_count
from aldsurv.errors import DataError, ParameterError
from aldsurv.quoting import printable, quoted

if TYPE_CHECKING:
    from aldsurv.tables.table import Table

__all__ = [
    "EventValue",
    "cause_names",
    "complete_event_values",
    "describe_event_values",
    "format_event_values",
    "in_order_of",
    "parse_event_values",
    "possible_mappings",
    "possible_values",
    "require_events_of_causes",
]

EventValue = str | int | float | bool | None

_EXAMPLE = '--event-values "1=relapse,2=death"'
_CENSORED = "censored"
_TRUTH_VALUES = {"true": True, "false": False}
# More values than these are not codes: then those that no cause has are not kept with the model.
_MOST_KEPT = 20


def parse_event_values(text: str) -> dict[str, str]:
    """The name of each value, as text.

    An entry is ``value=name``, or a value that is its own name. The name ``censored`` stands for no event, an empty
    value for gaps. An entry that holds a comma is put in double quotes.
    """
    names: dict[str, str] = {}
    for entry in next(csv.reader([text], skipinitialspace=True), []):
        if not entry.strip():
            continue
        value, equals, name = (part.strip() for part in entry.rpartition("="))
        value = value if equals else name
        if not name:
            raise ParameterError(f"--event-values has no name for {quoted(value)}. Give {_EXAMPLE}.")
        name = _CENSORED if name.lower() == _CENSORED else name
        if value in names:
            raise ParameterError(f"--event-values names the value {quoted(value)} twice. Give {_EXAMPLE}.")
        if name in names.values() and name != _CENSORED:
            other = next(known for known in names if names[known] == name)
            raise ParameterError(
                f"--event-values gives the name {quoted(name)} to {quoted(other)} and {quoted(value)}. Give each cause "
                "one value, and one name."
            )
        if not value and name != _CENSORED:
            raise ParameterError(f"--event-values has no value for {quoted(name)}. Give {_EXAMPLE}.")
        names[value] = name
    if len(cause_names(names)) < 2:
        raise ParameterError(
            f"--event-values must name two causes or more, but names {listed(cause_names(names)) or 'none'}. Give "
            f"{_EXAMPLE}; for events of one kind use --event-value."
        )
    return names


def cause_names(names: Mapping[str, str]) -> tuple[str, ...]:
    """The causes, in the order of their numbers."""
    return tuple(name for name in names.values() if name != _CENSORED)


def format_event_values(names: Mapping[str, str]) -> str:
    """The inverse of `parse_event_values`."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([f"{value}={name}" for value, name in names.items()])
    return text.getvalue()


def describe_event_values(text: str) -> str:
    """What each value stands for, in words."""
    names = parse_event_values(text)
    censored = [value for value, name in names.items() if name == _CENSORED]
    parts = [name if value == name else f"{value} {name}" for value, name in names.items() if name != _CENSORED]
    rest = ", ".join(value or "gaps" for value in censored) if censored else "others"
    return printable(f"{', '.join(parts)}; {rest} censored")


def complete_event_values(text: str, values: Collection[object]) -> str:
    """The text with every value that no cause has as censored, so that one which is new later on is noticed.

    Parameters
    ----------
    text
        What `parse_event_values` reads.
    values
        The values of the column.
    """
    # Imported here, so that help is shown at once.
    from aldsurv.data.event_columns import fold_text

    names = parse_event_values(text)
    known = {candidate for value in names for candidate in possible_values(value)}
    # What differs in capital letters and spaces only counts as the value that was named.
    counts = Counter(fold_text(value) for value in names)
    folded = {word for word, count in counts.items() if count == 1}
    others = [
        str(value)
        for value in values
        if value is not None and value not in known and fold_text(str(value)) not in folded
    ]
    if len(others) > _MOST_KEPT:
        return text
    return format_event_values({**names, **dict.fromkeys(others, _CENSORED)})


def in_order_of(causes: Iterable[str], text: str) -> str:
    """The text with its causes in the order of a model's; raises `ParameterError` if they are others."""
    names = parse_event_values(text)
    value_of = {name: value for value, name in names.items() if name != _CENSORED}
    causes = tuple(causes)
    if set(value_of) != set(causes):
        raise ParameterError(
            f"--event-values names {listed(value_of)}, but the model tells {listed(causes)} apart. Give these names to "
            "the values of the column."
        )
    ordered = {value_of[cause]: cause for cause in causes}
    return format_event_values({**ordered, **{value: name for value, name in names.items() if name == _CENSORED}})


def possible_values(text: str) -> list[EventValue]:
    """What a value that was typed can be: a number or truth value first, else the text itself; gaps as None."""
    if not text:
        return [None]
    values: list[EventValue] = []
    try:
        number = float(text)
        values.append(int(number) if number.is_integer() else number)
    except (ValueError, OverflowError):
        pass
    if text.lower() in _TRUTH_VALUES:
        values.append(_TRUTH_VALUES[text.lower()])
    return [*values, text]


def possible_mappings(text: str | None) -> list[dict[EventValue, str] | None]:
    """What the values that were typed can be, all of a kind: numbers first, else text."""
    if not text:
        return [None]
    names = parse_event_values(text)
    mappings: list[dict[EventValue, str] | None] = []
    for place in (0, -1):
        mapping = {possible_values(value)[place]: name for value, name in names.items()}
        if mapping not in mappings:
            mappings.append(mapping)
    return mappings


def require_events_of_causes(table: Table, text: str) -> None:
    """Raise `DataError` unless every cause has events in the table."""
    names, data = parse_event_values(text), table.y
    if data is None or data.cause is None or data.causes is None:
        return
    there = set(data.cause.tolist())
    missing = [name for number, name in enumerate(data.causes, start=1) if number not in there]
    if missing:
        value = next(value for value, name in names.items() if name == missing[0])
        held = sorted((held for held in table.event_values if held is not None), key=str)
        raise DataError(
            f"{str(table.path)!r}: no row has the event value {quoted(value)}, of {quoted(missing[0])}, in "
            f"{format_count(len(table), 'row')}; the column holds {listed(held, 8)}",
            advice="Leave it out of --event-values, or check how it is written.",
        )
