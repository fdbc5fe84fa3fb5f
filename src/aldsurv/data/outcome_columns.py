"""Columns as users have them, read into checked arrays.

Every refusal names the column, how many values are wrong, the first of them with its row (counted from 0),
what is allowed and what to do. Neither pandas nor polars is imported: `numpy.asarray` reads their columns.
"""

from __future__ import annotations

import datetime
import re
import warnings
from collections import Counter
from collections.abc import Hashable, Mapping, Sized
from decimal import Decimal
from difflib import get_close_matches
from numbers import Number, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError, EventValueWarning, ParameterError, UnknownNameError
from aldsurv.quoting import quoted

__all__ = [
    "BoolArray",
    "Column",
    "FloatArray",
    "IntArray",
    "bound_columns",
    "cause_column",
    "cause_number",
    "column_names",
    "entry_column",
    "event_column",
    "frame_column",
    "is_numeric_text",
    "listed",
    "number_column",
    "one_column",
    "time_and_event_columns",
    "time_and_event_names",
    "weight_column",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


class Column(NamedTuple):
    """Values as a user gave them, and what messages call them."""

    values: Any
    label: str


# What is met in place of numbers, by type, and what to do about it. Bools and spans come before the numbers
# because Python and numpy count them among the integers.
_KINDS: tuple[tuple[tuple[type, ...], str, str], ...] = (
    ((bool, np.bool_), "the bool", "If this is the event column, pass it as event."),
    (
        (datetime.timedelta, np.timedelta64),
        "the time span",
        "Divide by one unit of time, such as one day, and give the number.",
    ),
    ((Real, Decimal), "", ""),
    ((str, bytes), "the text", "Give numbers in one unit."),
    (
        (datetime.date, np.datetime64),
        "the date",
        "Subtract the start date and give the difference as a number in one unit, such as days.",
    ),
)
_EVENT_VALUES = ("dead", "deceased", "died", "death", "event", "relapse", "fail", "yes", "true", "1")

# In the name of a column a unit outranks an event ("days_to_death" is a time), an event outranks "survival"
# ("survival_status" is an event). "censored" is in neither list: half of all files mean the opposite by it.
_TIME_WORDS = {"time", "times", "t", "duration", "durations", "days", "weeks", "months", "years"}
_STATUS_WORDS = {"event", "events", "e", "status", "delta", "death", "dead", "died", "deceased", "observed"}
_SURVIVAL_WORDS = {"survival", "surv", "os", "pfs", "dfs", "rfs", "followup", "futime", "lenfol", "tte", "y"}
_CORRECT = "Drop or correct those rows."
_MOST_CAUSES = 100


def number_column(column: Column) -> FloatArray:
    """A fresh float64 column of shape (n,): missing values become NaN, what is no number is refused."""
    raw = one_column(column)
    if raw.dtype.kind not in "iuf":
        raw = _numbers_among_objects(raw, column.label)
    # Adding zero copies, so that nothing the caller does later reaches the data, and turns -0.0 into 0.0.
    fresh: FloatArray = np.add(raw, 0.0, dtype=np.float64)
    return fresh


def event_column(column: Column, event_value: Any = None) -> BoolArray:
    """A fresh bool column of shape (n,), True = the event was observed.

    Without `event_value` the column must hold True/False or 0/1. With it, rows equal to it are events and all
    others are censored.
    """
    raw, label = one_column(column), column.label
    remedy = "Drop those rows, or say whether the event was observed."
    if raw.dtype.kind in "biuf":
        _require_rows(~np.isnan(raw), label, "known in every row", {label: raw}, remedy)
        if event_value is None and bool(((raw == 0) | (raw == 1)).all()):
            return raw.astype(np.bool_)
        if isinstance(event_value, (Number, np.bool_)) and bool((raw == event_value).any()):
            return np.asarray(raw == event_value)
        distinct = [_integer_if_whole(value) for value in np.unique(raw).tolist()]
    else:
        items = raw.tolist()
        known = np.array([not _is_missing(item) for item in items], np.bool_)
        _require_rows(known, label, "known in every row", {label: raw}, remedy)
        try:
            distinct = list(dict.fromkeys(items))
        except TypeError:
            row = next(row for row, item in enumerate(items) if not isinstance(item, Hashable))
            raise DataError(
                f"{label} must hold plain values, but row {row} holds {quoted(items[row])}. Give one value a row."
            ) from None
        if event_value is None and all(value in (0, 1) for value in distinct):
            return np.array([bool(item) for item in items], np.bool_)
        if event_value is not None and event_value in distinct:
            _warn_of_lookalikes(items, event_value, label)
            return np.array([item == event_value for item in items], np.bool_)
    raise DataError(_event_refusal(distinct, label, event_value))


def _warn_of_lookalikes(items: list[Any], event_value: Any, label: str) -> None:
    """Say which values differ from the event by capital letters and spaces only, and count as censored."""
    if not isinstance(event_value, str):
        return
    event = _folded(event_value)
    alike = Counter(item for item in items if isinstance(item, str) and item != event_value and _folded(item) == event)
    if alike:
        found = ", ".join(
            f"{quoted(value)} in {count} row{'s' * (count != 1)}" for value, count in alike.most_common(5)
        )
        warnings.warn(
            f"{label} holds {found} beside {quoted(event_value)} in {items.count(event_value)}: only values written as "
            f"{quoted(event_value)} are events, the others count as censored. Write them in one way if they mean the "
            "same.",
            EventValueWarning,
            stacklevel=5,
        )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def time_and_event_columns(time: Column, event: Column, event_value: Any = None) -> tuple[FloatArray, BoolArray]:
    """Times, finite and not negative, and whether the event was observed."""
    times, events = number_column(time), event_column(event, event_value)
    _require_equal_length({time.label: times, event.label: events})
    good = np.isfinite(times) & (times >= 0)
    _require_rows(good, time.label, "finite and not negative", {time.label: times}, _CORRECT)
    return times, events


def cause_column(column: Column, *, censored: Any = None, names: Any = None) -> tuple[IntArray, tuple[str, ...]]:
    """Causes (n,) from 1 on, 0 for censored, and their names; what is allowed is said at `SurvivalData.competing`."""
    raw, label = one_column(column), column.label
    if raw.dtype.kind in "biuf":
        _require_rows(~np.isnan(raw), label, "known in every row", {label: raw}, "Give 0 where no event was observed.")
        whole = np.equal(raw, np.floor(raw)) & np.isfinite(raw) & (raw >= 0)
        _require_rows(whole, label, "whole numbers from 0 on or text", {label: raw}, _CORRECT)
        values: list[Any] = raw.astype(np.int64).tolist()
        none = {0 if censored is None else censored}
    else:
        values = [None if _is_missing(item) else item for item in raw.tolist()]
        none = {None, censored}
        if censored is None:
            none |= {item for item in set(values) if str(item).lower() == "censored"}
    if censored is not None and censored not in values:
        found = listed(sorted(set(values), key=str), 5)
        raise DataError(
            f"censored={quoted(censored)} does not occur in {label}, which holds {found}. Give one of these."
        )
    events = sorted({value for value in values if value not in none}, key=lambda value: (str(type(value)), value))
    labels = _cause_labels(events, label, names, censored, some_censored=any(value in none for value in values))
    number = {value: k for k, value in enumerate(labels, start=1)}
    codes = np.array([0 if value in none else number[value] for value in values], np.int64)
    return codes, tuple(labels.values())


def cause_number(cause: Any, names: tuple[str, ...]) -> int:
    """Number of a cause, given as such or by its name."""
    if cause in names:
        return names.index(cause) + 1
    whole = isinstance(cause, (int, np.integer)) and not isinstance(cause, (bool, np.bool_))
    if not whole or not 1 <= cause <= len(names):
        raise ParameterError(
            f"cause must be a number from 1 to {len(names)} or one of {listed(list(names), 12)}, "
            f"but is {quoted(cause)}."
        )
    return int(cause)


def _cause_labels(events: list[Any], label: str, names: Any, censored: Any, *, some_censored: bool) -> dict[Any, str]:
    """The name of each value that is a cause, in the order of their numbers."""
    numbers = all(isinstance(value, int) for value in events)
    plain = numbers and censored in (None, 0) and all(value > 0 for value in events)
    if isinstance(names, Mapping):
        labels = {value: str(name) for value, name in names.items()}
    elif names is not None and (isinstance(names, str) or not all(isinstance(name, Hashable) for name in names)):
        raise ParameterError(f"names must be a list with a name for each cause, but is {names!r:.60}.")
    elif names is not None:
        labels = {k if plain else name: str(name) for k, name in enumerate(names, start=1)}
    elif plain:
        # A number says which cause it is, also where another has no rows.
        labels = {k: str(k) for k in range(1, max(events, default=1) + 1)}
    elif not numbers and not some_censored:
        raise DataError(
            f"{label} holds {listed(events, 5)}, and none of them says that no event was observed. Say which does by "
            "censored=; if every row had an event, list the causes by names=."
        )
    else:
        labels = {value: str(value) for value in events}
    unknown = [value for value in events if value not in labels]
    if unknown:
        raise DataError(
            f"{label} holds {listed(unknown, 5)}, which names does not know: {listed(list(labels), 12)}. "
            "Name every cause, and by censored= the value for no event."
        )
    if len(set(labels.values())) < len(labels):
        raise ParameterError(f"names must differ, but are {listed(list(labels.values()), 12)}.")
    if len(labels) > _MOST_CAUSES:
        raise DataError(f"{label} holds {len(labels)} causes, and {_MOST_CAUSES} are allowed. Is it the time?")
    return labels


def bound_columns(lower: Column, upper: Column) -> tuple[FloatArray, FloatArray]:
    """Bounds in order, not both infinite; neither is negative unless it is -inf."""
    low, high = number_column(lower), number_column(upper)
    both = {lower.label: low, upper.label: high}
    _require_equal_length(both)
    rule = "finite and not negative, or -inf where left-censored"
    _require_rows(_not_negative_or_minus_infinite(low), lower.label, rule, {lower.label: low}, _CORRECT)
    rule = "not negative, and inf where right-censored"
    _require_rows(high >= 0, upper.label, rule, {upper.label: high}, _CORRECT)
    informative = np.isfinite(low) | np.isfinite(high)
    remedy = "Drop those rows: they say nothing about the time of the event."
    _require_rows(informative, f"{lower.label} or {upper.label}", "finite", both, remedy)
    _require_rows(low <= high, lower.label, f"at most {upper.label}", both, _CORRECT)
    return low, high


def entry_column(entry: Column, lower: FloatArray, upper: FloatArray, labels: tuple[str, str]) -> FloatArray:
    """Entries that leave every row some time at risk; `labels` are what messages call the bounds."""
    entries = number_column(entry)
    _require_equal_length({labels[0]: lower, entry.label: entries})
    rule = "finite and not negative, or -inf where observed from the start"
    good = _not_negative_or_minus_infinite(entries)
    _require_rows(good, entry.label, rule, {entry.label: entries}, _CORRECT)
    point = (lower == upper) | np.isposinf(upper)
    left = np.isneginf(lower)
    never = "Drop or correct those rows: they were never at risk."
    inside = f"In such a row the event came after entry: give {entry.label} as {labels[0]}."
    for good, rule, label, bound, remedy in (
        (~point | (entries < lower), "before", labels[0], lower, never),
        (~left | (entries < upper), "before", labels[1], upper, never),
        (point | left | (entries <= lower), "at or before", labels[0], lower, inside),
    ):
        shown = {entry.label: entries, label: bound}
        _require_rows(good, entry.label, f"{rule} {label}", shown, remedy)
    return entries


def weight_column(weight: Column, time: FloatArray, label: str) -> FloatArray:
    """Weights, finite, not negative and not all zero; `label` is what messages call `time`."""
    weights = number_column(weight)
    _require_equal_length({label: time, weight.label: weights})
    good = np.isfinite(weights) & (weights >= 0)
    _require_rows(good, weight.label, "finite and not negative", {weight.label: weights}, _CORRECT)
    if not 0 < weights.sum() < np.inf:
        raise DataError(
            f"{weight.label} must have a finite and positive sum, but the sum of its {weights.size} values "
            f"is {weights.sum():g}. Rescale them or leave them out."
        )
    return weights


def column_names(frame: Any) -> list[Any]:
    """Names of the columns of a pandas or polars frame, a mapping of arrays or a structured array."""
    if isinstance(frame, Mapping):
        return list(frame)
    if isinstance(frame, np.ndarray):
        names = frame.dtype.names
    else:
        # "columns" is the one word on which data frame libraries agree; a lazy frame has no length yet.
        names = getattr(frame, "columns", None) if isinstance(frame, Sized) else None
    if names is None:
        raise DataError(
            f"a frame must have named columns and rows, but {type(frame).__name__} has not. Give a pandas or "
            "polars frame (a lazy one collected), a dict of arrays or a structured array."
        )
    return list(names)


def frame_column(frame: Any, name: Any) -> Any:
    """One column of a frame; a name that is not there is answered with those that are."""
    names = column_names(frame)
    if name not in names:
        near = get_close_matches(str(name), [str(known) for known in names], n=1, cutoff=0.5)
        hint = f"Did you mean {quoted(near[0])}? " if near else ""
        there = listed(names, 12) or "none"
        raise UnknownNameError(f"there is no column {quoted(name)}. {hint}Columns: {there}.")
    return frame[name]


def time_and_event_names(frame: Any, event_value: Any = None) -> tuple[Any, Any]:
    """Which of two columns is the time and which the event: by their names, else by what they hold.

    A column named after censoring is refused unless `event_value` says what its values mean.
    """
    names = column_names(frame)
    explicit = "SurvivalData.from_frame(y, time=..., event=..., event_value=...)"
    if len(names) != 2:
        raise DataError(f"y must have two columns, but it has {len(names)} ({listed(names, 5)}). Use {explicit}.")
    if event_value is None and any("cens" in str(name).lower() for name in names):
        raise DataError(f"columns {listed(names, 2)}: it is not clear whether 1 means censored or not. Use {explicit}.")
    for is_event in (  # the first sign that tells the two apart counts
        [_role(name) == "event" for name in names],
        [_role(name) != "time" for name in names],
        [np.asarray(frame[name]).dtype.kind == "b" for name in names],
        [len(set(np.asarray(frame[name]).ravel().tolist())) <= 2 for name in names],
    ):
        if is_event[0] != is_event[1]:
            return (names[1], names[0]) if is_event[0] else (names[0], names[1])
    raise DataError(
        f"columns {listed(names, 2)}: it is not clear which is the time and which the event. Use {explicit}."
    )


def _require_rows(good: BoolArray, subject: str, rule: str, shown: Mapping[str, NDArray[Any]], remedy: str) -> None:
    """Raise `DataError` unless all rows are good; `shown` are the columns told of the first bad row."""
    if good.all():
        return
    bad = np.flatnonzero(~good)
    row = int(bad[0])
    values = [quoted(column[row : row + 1].tolist()[0]) for column in shown.values()]
    if len(values) > 1:
        values = [f"{label} {value}" for label, value in zip(shown, values, strict=True)]
    raise DataError(
        f"{subject} must be {rule}, but {_count(bad.size, good.size)} not "
        f"(first: row {row}, {' and '.join(values)}). {remedy}"
    )


def _require_equal_length(columns: Mapping[str, NDArray[Any]]) -> None:
    """Raise `DataError` unless the columns are equally long and not empty."""
    (first, reference), *others = columns.items()
    for label, column in others:
        if column.size != reference.size:
            raise DataError(
                f"{first} has {reference.size} values, but {label} has {column.size}. "
                "Give columns of equal length: one value a row."
            )
    if reference.size == 0:
        raise DataError(f"{first} has no rows. Give at least one.")


def _role(name: Any) -> str | None:
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", str(name))}
    for role, known in (("time", _TIME_WORDS), ("event", _STATUS_WORDS), ("time", _SURVIVAL_WORDS)):
        if words & known:
            return role
    return None


def one_column(column: Column) -> NDArray[Any]:
    """The values as an array (n,) of whatever type they have; a mask becomes None, text keeps its gaps."""
    values, label = column
    if isinstance(values, np.ma.MaskedArray):
        # numpy.asarray would hand out what lies under the mask.
        mask, values = np.ma.getmaskarray(values), values.data.astype(object)
        values[mask] = None
    try:
        raw = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{label} cannot be read as a column ({error}). Give one value a row.") from None
    if raw.dtype.kind in "US" and isinstance(values, (list, tuple)):
        # Among text numpy writes a missing value as the text "nan" or "None".
        raw = np.array(values, dtype=object)
    if raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if raw.ndim != 1:
        raise DataError(
            f"{label} must be one column, but its shape is {raw.shape} (type {type(values).__name__}). "
            "Give one value a row."
        )
    return raw


def _numbers_among_objects(raw: NDArray[Any], label: str) -> FloatArray:
    items = list(raw) if raw.dtype.kind in "Mm" else raw.tolist()
    missing = [_is_missing(item) for item in items]
    kinds = [("", "") if gone else _kind_of(item) for item, gone in zip(items, missing, strict=True)]
    wrong = [row for row, (kind, _) in enumerate(kinds) if kind]
    if wrong:
        row = wrong[0]
        kind, remedy = kinds[row]
        told = quoted(items[row] if isinstance(items[row], (bool, bytes, complex)) else str(items[row]))
        raise DataError(
            f"{label} must be numbers, but {_count(len(wrong), len(items))} not "
            f"(first: row {row}, {kind} {told}). {remedy}"
        )
    pairs = zip(items, missing, strict=True)
    return np.array([np.nan if gone else float(item) for item, gone in pairs], np.float64)


def _kind_of(item: Any) -> tuple[str, str]:
    """What an object is when it is no number, and the remedy; both are empty for a number."""
    for types, kind, remedy in _KINDS:
        if isinstance(item, types):
            if isinstance(item, str) and is_numeric_text(item):
                return kind, "It looks like a number: convert the column to float first."
            return kind, remedy
    return f"the {type(item).__name__}", "Give plain real numbers."


def is_numeric_text(text: str) -> bool:
    """Whether Python would read the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_missing(item: Any) -> bool:
    """None, any NaN or NaT, and pandas' NA, which refuses to be compared."""
    try:
        return item is None or bool(item != item)
    except (TypeError, ValueError):
        return True


def _event_refusal(distinct: list[Any], label: str, event_value: Any) -> str:
    held = listed(distinct, 5)
    if event_value is not None:
        return f"event_value={quoted(event_value)} does not occur in {label}, which holds {held}. Give one of these."
    start = f"{label} must be True/False or 0/1, but it holds"
    if not all(isinstance(value, Real) for value in distinct):
        likely = (value for word in _EVENT_VALUES for value in distinct if word in str(value).lower())
        guess = next(likely, distinct[-1])
    elif len(distinct) > 5 or any(isinstance(value, float) for value in distinct):
        return (
            f"{start} {len(distinct)} different numbers: {held}. Were time and event exchanged? "
            "If not, say by event_value which of them is the event."
        )
    else:
        # 1/2 is the old coding of alive/dead; in 0/1/2/… the 1 is the event of interest.
        guess = 1 if 0 in distinct and 1 in distinct else max(distinct)
    return (
        f"{start} {held}. Say which value is the event, such as event_value={quoted(guess)}; "
        "every other value then counts as censored."
    )


def _count(bad: int, total: int) -> str:
    return f"{bad} of {total} values {'is' if bad == 1 else 'are'}"


def listed(values: list[Any], most: int) -> str:
    """The first few values for a message."""
    return ", ".join(quoted(value) for value in values[:most]) + (", …" if len(values) > most else "")


def _integer_if_whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _not_negative_or_minus_infinite(values: FloatArray) -> BoolArray:
    return ((values >= 0) & (values < np.inf)) | np.isneginf(values)
