"""Times, bounds, delayed entries and weights as checked arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aldsurv.data.event_columns import CauseNames, cause_column, event_column
from aldsurv.data.frame_columns import BoolArray, Column, FloatArray, IntArray, number_column
from aldsurv.data.rows.row_checks import require_equal_length, require_rows
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

__all__ = [
    "Outcome",
    "bounded_outcome",
    "competing_outcome",
    "entry_and_weight",
    "left_outcome",
    "optional_column",
    "right_outcome",
    "scaled_outcome",
    "weight_column",
]


class Outcome(NamedTuple):
    """Checked columns (n,) of `SurvivalData`, and the names of the causes."""

    lower: FloatArray
    upper: FloatArray
    entry: FloatArray | None = None
    weight: FloatArray | None = None
    cause: IntArray | None = None
    causes: tuple[str, ...] | None = None
    group: IntArray | None = None
    person: IntArray | None = None


def optional_column(values: object, name: str) -> Column | None:
    """A column that may be left out."""
    return None if values is None else Column(values, name)


def entry_and_weight(entry: object, weight: object) -> tuple[Column | None, Column | None]:
    """The two optional columns; None where nothing was given."""
    return optional_column(entry, "entry"), optional_column(weight, "weight")


def right_outcome(
    time: Column, event: Column, entry: Column | None, weight: Column | None, event_value: object = None
) -> Outcome:
    """Right-censored data."""
    times = number_column(time)
    events = _checked_events(time, times, event, event_column(event, event_value))
    return _with_entry_and_weight(time, time, times, np.where(events, times, np.inf), entry, weight)


def left_outcome(
    time: Column, event: Column, entry: Column | None, weight: Column | None, event_value: object = None
) -> Outcome:
    """Left-censored data."""
    times = number_column(time)
    events = _checked_events(time, times, event, event_column(event, event_value))
    return _with_entry_and_weight(time, time, np.where(events, times, -np.inf), times, entry, weight)


def bounded_outcome(lower: Column, upper: Column, entry: Column | None, weight: Column | None) -> Outcome:
    """Data of any kind: bounds in order, not both infinite; neither is negative unless it is -inf."""
    low, high = number_column(lower), number_column(upper)
    require_equal_length(lower, low, upper, high)
    rule = "finite and not negative, or -inf where left-censored"
    require_rows(_not_negative_or_minus_infinite(low), lower, rule, {"": low})
    require_rows(high >= 0, upper, "not negative, and inf where right-censored", {"": high})
    both = {lower.argument: low, upper.argument: high}
    informative = np.isfinite(low) | np.isfinite(high)
    advice = "Drop those rows: they say nothing about the time of the event."
    require_rows(informative, lower, f"finite where {upper.argument} is infinite", both, advice)
    require_rows(low <= high, lower, f"at most {upper.argument}", both)
    return _with_entry_and_weight(lower, upper, low, high, entry, weight)


def competing_outcome(
    time: Column,
    cause: Column,
    entry: Column | None,
    weight: Column | None,
    censored: object = None,
    names: CauseNames | None = None,
) -> Outcome:
    """Right-censored data with events of several causes."""
    codes, causes = cause_column(cause, censored=censored, names=names)
    times = number_column(time)
    events = _checked_events(time, times, cause, codes > 0)
    outcome = _with_entry_and_weight(time, time, times, np.where(events, times, np.inf), entry, weight)
    return outcome._replace(cause=codes, causes=causes)


def scaled_outcome(outcome: Outcome, factor: float) -> Outcome:
    """The same outcome in another unit; times that differ must go on to differ."""
    with np.errstate(over="ignore"):
        lower, upper = outcome.lower * factor, outcome.upper * factor
    entry = None if outcome.entry is None else outcome.entry * factor
    exact, open_end = outcome.lower == outcome.upper, np.isinf(outcome.upper)
    same = ((lower == upper) == exact) & (np.isinf(upper) == open_end)
    if entry is not None:
        same &= entry < np.where(np.isposinf(outcome.upper), lower, upper)
    if not same.all():
        raise ParameterError(
            f"a={quoted(factor)} gives times that a float cannot distinguish",
            argument="a",
            advice="Choose another unit.",
        )
    return outcome._replace(lower=lower, upper=upper, entry=entry)


def weight_column(weight: Column, time: Column, times: FloatArray) -> FloatArray:
    """Weights, finite, not negative and not all zero, as many as there are times."""
    weights = number_column(weight)
    require_equal_length(time, times, weight, weights)
    require_rows(np.isfinite(weights) & (weights >= 0), weight, "finite and not negative", {"": weights})
    if not 0 < weights.sum() < np.inf:
        raise weight.error(
            f"must have a finite and positive sum, but the sum of its {weights.size} values is {weights.sum():g}",
            advice="Rescale them or leave them out.",
        )
    return weights


def _checked_events(time: Column, times: FloatArray, event: Column, events: BoolArray) -> BoolArray:
    """The events, once they are as many as the times, and the times finite and not negative."""
    require_equal_length(time, times, event, events)
    require_rows(np.isfinite(times) & (times >= 0), time, "finite and not negative", {"": times})
    return events


def _with_entry_and_weight(
    low: Column, high: Column, lower: FloatArray, upper: FloatArray, entry: Column | None, weight: Column | None
) -> Outcome:
    """The outcome, once entry and weight are checked against the bounds; `low` and `high` say what these are called."""
    entries = None if entry is None else _entry_column(entry, low, high, lower, upper)
    weights = None if weight is None else weight_column(weight, low, lower)
    return Outcome(lower, upper, entries, weights)


def _entry_column(entry: Column, low: Column, high: Column, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Entries that leave every row some time at risk."""
    entries = number_column(entry)
    require_equal_length(low, lower, entry, entries)
    rule = "finite and not negative, or -inf where observed from the start"
    require_rows(_not_negative_or_minus_infinite(entries), entry, rule, {"": entries})
    point = (lower == upper) | np.isposinf(upper)
    left = np.isneginf(lower)
    never = "Drop or correct those rows: they were never at risk."
    inside = f"In such a row the event came after entry: give {entry.argument} as {low.argument}."
    for good, rule, bound, values, advice in (
        (~point | (entries < lower), "before", low, lower, never),
        (~left | (entries < upper), "before", high, upper, never),
        (point | left | (entries <= lower), "at or before", low, lower, inside),
    ):
        shown = {entry.argument: entries, bound.argument: values}
        require_rows(good, entry, f"{rule} {bound.argument}", shown, advice)
    return entries


def _not_negative_or_minus_infinite(values: FloatArray) -> BoolArray:
    return ((values >= 0) & (values < np.inf)) | np.isneginf(values)
