"""Whether the event was observed, and which of several causes it had: columns of bools, numbers or text."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Number, Real
from typing import Any, TypeAlias

import numpy as np

from aldsurv.checks import is_whole_number, listed
from aldsurv.data.frame_columns import BoolArray, Column, IntArray, column_array, is_missing
from aldsurv.data.rows.row_checks import require_rows
from aldsurv.errors import DataError, EventValueWarning, ParameterError
from aldsurv.quoting import quoted

__all__ = [
    "CauseNames",
    "EventValues",
    "cause_column",
    "cause_number",
    "column_values",
    "event_column",
    "event_values_column",
    "fold_text",
    "values_of_causes",
    "values_of_event",
]

# Names of the causes 1, 2, …, or names by value.
CauseNames: TypeAlias = Iterable[object] | Mapping[Any, object]
# Names of causes by value; the name "censored" stands for no event.
EventValues: TypeAlias = Mapping[Any, str]

_EVENT_VALUES = ("dead", "deceased", "died", "death", "event", "relapse", "fail", "yes", "true", "1")
_MOST_CAUSES = 100
_MOST_SHOWN = 8
# Words that say whether, without saying what: the event where they say yes.
_YES_OR_NO = ({"yes", "no"}, {"true", "false"}, {"y", "n"})
# In a column of such a name yes says that there was no event.
_NO_EVENT_NAME = re.compile(r"alive|living|censor|surviv|free", re.IGNORECASE)
_CENSORED = "censored"


def event_column(column: Column, event_value: object = None) -> BoolArray:
    """A fresh bool column of shape (n,), True = the event was observed.

    Without `event_value` the column must hold True/False or 0/1, or the words yes and no. With it, rows equal to it are
    events, and so are those that differ from it in capital letters and spaces only, with a warning; all others are
    censored.
    """
    raw = column_array(column)
    rule, advice = "known in every row", "Drop those rows, or say whether the event was observed."
    if raw.dtype.kind in "biuf":
        require_rows(~np.isnan(raw), column, rule, {"": raw}, advice)
        if event_value is None and bool(((raw == 0) | (raw == 1)).all()):
            return raw.astype(np.bool_)
        if isinstance(event_value, (Number, np.bool_)) and bool((raw == event_value).any()):
            return np.asarray(raw == event_value)
        raise _event_error(Counter(map(_integer_if_whole, np.sort(raw).tolist())), column, event_value)
    items = raw.tolist()
    present = np.array([not is_missing(item) for item in items], np.bool_)
    require_rows(present, column, rule, {"": raw}, advice)
    try:
        dict.fromkeys(items)
    except TypeError:
        row = next(row for row, item in enumerate(items) if not isinstance(item, Hashable))
        raise column.error(
            f"must hold plain values, but holds {quoted(items[row])}", row=row, advice="Give one value per row."
        ) from None
    events = values_of_event(Counter(items), column, event_value, stacklevel=7)
    return np.array([item in events for item in items], np.bool_)


def values_of_event(
    counts: Mapping[Any, int], column: Column, event_value: object = None, *, stacklevel: int = 3
) -> set[Any]:
    """Which of the values of a column mean that the event was observed, by `event_column`'s rules.

    Parameters
    ----------
    counts
        How many rows have each value, without gaps.
    column
        For messages: its values are not read.
    event_value
        As in `event_column`.
    stacklevel
        Of warnings, from the function that gives them.
    """
    if event_value is None and all(value in (0, 1) for value in counts):
        return {value for value in counts if value == 1}
    alike = _lookalikes(counts, event_value) if event_value is not None else _words_for_yes(list(counts), column.name)
    occurs = event_value is not None and event_value in counts
    others = {value: n for value, n in counts.items() if value in alike and value != event_value}
    if others:
        _warn_of_match(others, event_value, column, occurs=occurs, stacklevel=stacklevel)
    if alike or occurs:
        return {*alike, event_value} if occurs else set(alike)
    raise _event_error(counts, column, event_value)


def _words_for_yes(distinct: list[Any], name: str | int | None) -> set[str]:
    """Values of a column of yes and no that mean yes; empty if it holds others, or its name says the opposite."""
    if _NO_EVENT_NAME.search(str(name)):
        return set()
    words = {fold_text(value) for value in distinct if isinstance(value, str)}
    if not all(isinstance(value, str) for value in distinct) or not any(words <= pair for pair in _YES_OR_NO):
        return set()
    return {value for value in distinct if fold_text(value) in ("yes", "true", "y")}


def _lookalikes(distinct: Iterable[Any], event_value: object) -> set[str]:
    """Text that differs from a value in capital letters and spaces only."""
    if not isinstance(event_value, str):
        return set()
    event = fold_text(event_value)
    return {value for value in distinct if isinstance(value, str) and fold_text(value) == event}


def _warn_of_match(
    counts: Mapping[Any, int], event_value: object, column: Column, *, occurs: bool = False, stacklevel: int = 6
) -> None:
    """Say which values count as the event although they were not named as they are written."""
    subject = column.argument if column.name is None else f"column {quoted(column.name)}"
    what = "the event, for no value was named"
    if event_value is not None:
        itself = ", too" if occurs else ", which does not occur itself"
        what = f"{quoted(event_value)}{itself}: only capital letters and spaces differ"
    message = f"{subject}: {_counted(counts)} count{'s' * (len(counts) == 1)} as {what}."
    warnings.warn(message, EventValueWarning, stacklevel=stacklevel)


def _counted(counts: Mapping[Any, int]) -> str:
    """Values and how many rows have each; of many the most frequent."""
    shown = list(counts.items())
    if len(shown) > _MOST_SHOWN:
        shown = Counter(counts).most_common(_MOST_SHOWN)
    more = f" and {len(counts) - len(shown)} more" if len(counts) > len(shown) else ""
    return ", ".join(f"{quoted(value)} ({count} row{'s' * (count != 1)})" for value, count in shown) + more


def _warn_of_lookalikes(rows: Mapping[Any, int], event_value: object, column: Column) -> None:
    """Say which values differ from the event by capital letters and spaces only, and count as censored."""
    if not isinstance(event_value, str):
        return
    others = _lookalikes(rows, event_value) - {event_value}
    alike = Counter({item: count for item, count in rows.items() if item in others})
    if alike:
        counts = ", ".join(
            f"{quoted(value)} in {count} row{'s' * (count != 1)}" for value, count in alike.most_common(5)
        )
        subject = column.argument if column.name is None else f"column {quoted(column.name)}"
        warnings.warn(
            f"{subject} holds {counts} beside {quoted(event_value)} in {rows.get(event_value, 0)}: only values written "
            f"as {quoted(event_value)} are events, the others count as censored. Write them in one way if they mean "
            "the same.",
            EventValueWarning,
            stacklevel=6,
        )


def fold_text(text: str) -> str:
    """The text without regard to capital letters, and to spaces around it and their number within."""
    return " ".join(text.split()).casefold()


def _event_error(counts: Mapping[Any, int], column: Column, event_value: object) -> DataError:
    distinct, values = list(counts), _counted(counts)
    if event_value is not None:
        problem = f"event_value={quoted(event_value)} does not occur in {column.argument}, which holds {values}"
        return DataError(problem, argument="event_value", column=column.name, advice="Give one of these.")
    problem = f"{column.argument} must be True/False or 0/1, but it holds"
    if not all(isinstance(value, Real) for value in distinct):
        likely = (value for word in _EVENT_VALUES for value in distinct if word in str(value).lower())
        guess = next(likely, distinct[-1])
    elif len(distinct) > 5 or any(isinstance(value, float) for value in distinct):
        return DataError(
            f"{problem} {len(distinct)} different numbers: {listed(distinct, 5)}",
            argument="event_value",
            column=column.name,
            advice="Were time and event exchanged? If not, say by event_value which of them is the event.",
        )
    else:
        # 1/2 is the old coding of alive/dead; in 0/1/2/… the 1 is the event of interest.
        guess = 1 if 0 in distinct and 1 in distinct else max(distinct)
    return DataError(
        f"{problem} {values}",
        argument="event_value",
        column=column.name,
        suggestion=guess,
        advice=f"Say which value is the event, such as event_value={quoted(guess)}; "
        "every other value then counts as censored.",
    )


def cause_column(
    column: Column, *, censored: object = None, names: CauseNames | None = None
) -> tuple[IntArray, tuple[str, ...]]:
    """Causes (n,) from 1 on, 0 for censored, and their names; `SurvivalData.competing` says what is allowed."""
    raw = column_array(column)
    if raw.dtype.kind in "biuf":
        require_rows(~np.isnan(raw), column, "known in every row", {"": raw}, "Give 0 where no event was observed.")
        whole = np.equal(raw, np.floor(raw)) & np.isfinite(raw) & (raw >= 0)
        require_rows(whole, column, "whole numbers from 0 on or text", {"": raw})
        values: list[Any] = raw.astype(np.int64).tolist()
        no_event = {0 if censored is None else censored}
    else:
        values = [None if is_missing(item) else item for item in raw.tolist()]
        no_event = {None, censored}
        if censored is None:
            no_event |= {item for item in set(values) if str(item).lower() == "censored"}
    if censored is not None and censored not in values:
        distinct = listed(sorted(set(values), key=str), 5)
        raise DataError(
            f"censored={quoted(censored)} does not occur in {column.argument}, which holds {distinct}",
            argument="censored",
            column=column.name,
            advice="Give one of these.",
        )
    events = sorted({value for value in values if value not in no_event}, key=lambda value: (str(type(value)), value))
    some_censored = any(value in no_event for value in values)
    labels = _cause_labels(events, column, names, censored, some_censored=some_censored)
    number = {value: k for k, value in enumerate(labels, start=1)}
    codes = np.array([0 if value in no_event else number[value] for value in values], np.int64)
    return codes, tuple(labels.values())


def event_values_column(column: Column, event_values: EventValues) -> tuple[IntArray, tuple[str, ...]]:
    """Causes (n,) from 1 on, 0 for censored, and their names, from a column of events whose values stand for causes.

    Parameters
    ----------
    column
        Numbers, bools or text.
    event_values
        The cause that each value stands for. Without a value named ``"censored"`` all other values are censored; with
        one they are errors. The value None stands for gaps, which are errors otherwise.
    """
    values = column_values(column)
    number, causes = values_of_causes(Counter(values), column, event_values, row_of=values.index)
    return np.array([number[value] for value in values], np.int64), causes


def values_of_causes(
    counts: Mapping[Any, int],
    column: Column,
    event_values: EventValues,
    *,
    row_of: Callable[[Any], int | None] = lambda value: None,
) -> tuple[dict[Any, int], tuple[str, ...]]:
    """The number of the cause that each value of a column stands for, 0 for censored, and the names of the causes.

    Parameters
    ----------
    counts
        How many rows have each value, as `column_values` has them.
    column
        For messages: its values are not read.
    event_values
        As in `event_values_column`.
    row_of
        The first row with a value, for messages.
    """
    if not isinstance(event_values, Mapping) or not all(isinstance(name, str) for name in event_values.values()):
        raise ParameterError(
            f"event_values must be a dict from values to names of causes, but is {quoted(event_values, 60)}.",
            argument="event_values",
        )
    causes = {value: name for value, name in event_values.items() if name.lower() != _CENSORED}
    censored = [value for value in event_values if value not in causes]
    if not causes or len(set(causes.values())) < len(causes):
        problem = f"event_values must name different causes, but has {listed(causes.values()) or 'none'}."
        raise ParameterError(problem, argument="event_values")
    meant = _named_as(counts, event_values, column)
    named_counts: dict[Any, int] = {}
    for value, count in counts.items():
        named_counts[meant.get(value, value)] = named_counts.get(meant.get(value, value), 0) + count
    shown = _counted(dict(sorted(((value, n) for value, n in counts.items() if value is not None), key=_sort_key)))
    if None in counts and None not in event_values:
        raise DataError(
            f"{column.argument} must be known in every row, but {counts[None]} of {sum(counts.values())} values are "
            "not",
            argument="event_values",
            column=column.name,
            row=row_of(None),
            advice='If gaps mean that no event was observed, add {None: "censored"} to event_values.',
        )
    unknown = [value for value in named_counts if value not in event_values]
    if censored and unknown:
        named = ", ".join(f"{quoted(value)} ({name})" for value, name in event_values.items())
        raise DataError(
            f"event_values does not name {listed(unknown, 5)}, which {column.argument} holds, but only {named}",
            argument="event_values",
            column=column.name,
            row=row_of(unknown[0]),
            advice='Name it, by a cause or as "censored".',
        )
    if not any(value in causes for value in named_counts):
        problem = f"event_values names {listed(causes)}, and none of them occurs in {column.argument}"
        raise DataError(
            f"{problem}, which holds {shown}", argument="event_values", column=column.name, advice="Name some of these."
        )
    for value in causes:
        others = {item: n for item, n in named_counts.items() if item not in event_values or item == value}
        _warn_of_lookalikes(others, value, column)
    number = {value: k for k, value in enumerate(causes, start=1)}
    return {value: number.get(meant.get(value, value), 0) for value in counts}, tuple(causes.values())


def column_values(column: Column) -> list[Any]:
    """The values of a column of events as they are compared: whole numbers as such, gaps as None."""
    items = column_array(column).tolist()
    values = [None if is_missing(item) else _integer_if_whole(item) for item in items]
    for row, item in enumerate(values):
        if not isinstance(item, Hashable):
            raise column.error(f"must hold plain values, but holds {quoted(item)}", row=row)
    return values


def _named_as(counts: Mapping[Any, int], event_values: EventValues, column: Column) -> dict[Any, Any]:
    """The named value that each value of a column stands for although it is not written so, with a warning.

    Only capital letters and spaces may differ, and no other named value may be meant.
    """
    meant: dict[Any, Any] = {}
    for named in event_values:
        alike = _lookalikes(counts, named) - set(event_values)
        if alike and len(_lookalikes(event_values, named)) == 1:
            meant |= dict.fromkeys(alike, named)
            others = {value: n for value, n in counts.items() if value in alike}
            _warn_of_match(others, named, column, occurs=named in counts, stacklevel=7)
    return meant


def _sort_key(entry: tuple[Any, int]) -> tuple[str, Any]:
    value = entry[0]
    return ("", value) if isinstance(value, (int, float)) else ("text", str(value))


def _cause_labels(
    events: list[Any], column: Column, names: CauseNames | None, censored: object, *, some_censored: bool
) -> dict[Any, str]:
    """The name of each value that is a cause, in the order of their numbers."""
    numbers = all(isinstance(value, int) for value in events)
    numbered = numbers and censored in (None, 0) and all(value > 0 for value in events)
    if names is not None:
        labels = _named_causes(names, numbered)
    elif numbered:
        # A number says which cause it is, also where another has no rows.
        labels = {k: str(k) for k in range(1, max(events, default=1) + 1)}
    elif not numbers and not some_censored:
        raise DataError(
            f"{column.argument} holds {listed(events, 5)}, and none of them says that no event was observed",
            argument="censored",
            column=column.name,
            advice="Say which does by censored=; if every row had an event, list the causes by names=.",
        )
    else:
        labels = {value: str(value) for value in events}
    unknown = [value for value in events if value not in labels]
    if unknown:
        raise DataError(
            f"{column.argument} holds {listed(unknown, 5)}, which is not in names: {listed(labels)}",
            argument="names",
            column=column.name,
            advice="Name every cause, and by censored= the value for no event.",
        )
    if len(set(labels.values())) < len(labels):
        raise ParameterError(f"names must differ, but are {listed(labels.values())}.", argument="names")
    if len(labels) > _MOST_CAUSES:
        raise column.error(
            f"holds {len(labels)} causes, and {_MOST_CAUSES} are allowed", advice="Is it a column of times?"
        )
    return labels


def _named_causes(names: CauseNames, numbered: bool) -> dict[Any, str]:
    if isinstance(names, Mapping):
        return {value: str(name) for value, name in names.items()}
    if isinstance(names, str) or not all(isinstance(name, Hashable) for name in names):
        raise ParameterError(
            f"names must be a list with a name for each cause, but is {quoted(names, 60)}.", argument="names"
        )
    return {k if numbered else name: str(name) for k, name in enumerate(names, start=1)}


def cause_number(cause: object, names: tuple[str, ...]) -> int:
    """Number of a cause, given as such or by its name."""
    if isinstance(cause, str) and cause in names:
        return names.index(cause) + 1
    if is_whole_number(cause) and isinstance(cause, (int, np.integer)) and 1 <= cause <= len(names):
        return int(cause)
    raise ParameterError(
        f"cause must be a number from 1 to {len(names)} or one of {listed(names)}, but is {quoted(cause)}.",
        argument="cause",
    )


def _integer_if_whole(value: object) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
