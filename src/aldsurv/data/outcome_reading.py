"""The outcome out of frames, structured arrays and whatever else ``fit(X, y)`` takes for `y`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.data.dates.date_columns import time_between
from aldsurv.data.episode_columns import episode_outcome
from aldsurv.data.event_columns import CauseNames, EventValues, event_values_column
from aldsurv.data.frame_columns import Column, column_names, frame_column
from aldsurv.data.group_column import group_column
from aldsurv.data.outcome_columns import Outcome, bounded_outcome, competing_outcome, right_outcome
from aldsurv.errors import DataError, ParameterError

__all__ = ["frame_outcome", "structured_outcome", "target_outcome"]

_PAIRS = (["time", "event"], ["time", "cause"], ["lower", "upper"])
_EPISODES = ("id", "start", "stop")
_FROM_FRAME = "Use SurvivalData.from_frame(y, time=..., event=..., event_value=...)."

# In the name of a column a unit outranks an event ("days_to_death" is a time), an event outranks "survival"
# ("survival_status" is an event). "censored" is in neither list: half of all files mean the opposite by it.
_TIME_WORDS = {"time", "times", "t", "duration", "durations", "days", "weeks", "months", "years"}
_STATUS_WORDS = {"event", "events", "e", "status", "delta", "death", "dead", "died", "deceased", "observed"}
_SURVIVAL_WORDS = {"survival", "surv", "os", "pfs", "dfs", "rfs", "followup", "futime", "lenfol", "tte", "y"}


def frame_outcome(
    frame: object,
    roles: Mapping[str, object],
    *,
    event_value: object = None,
    event_values: EventValues | None = None,
    censored: object = None,
    names: CauseNames | None = None,
    gaps: str = "refuse",
    unit: str | None = None,
    date_format: str | None = None,
) -> Outcome:
    """The outcome in columns of a frame; `roles` has the name of the column, or None, for each argument."""
    named = {role: name for role, name in roles.items() if name is not None}
    dates = _date_columns(frame, named)
    if dates is None and (unit is not None or date_format is not None):
        argument = "unit" if date_format is None else "date_format"
        problem = f"{argument} can only be combined with dates, the columns start and end."
        raise ParameterError(problem, argument=argument)
    if dates is None and set(_EPISODES) & set(named):
        if event_values is not None:
            raise ParameterError(
                "event_values cannot be combined with the columns of episodes",
                argument="event_values",
                advice="Name a column of causes by cause=, or one value by event_value=.",
            )
        return _frame_episodes(frame, named, event_value=event_value, censored=censored, names=names, gaps=gaps)
    if dates is not None:
        named = {"time": named["end"], **{role: name for role, name in named.items() if role not in ("start", "end")}}
    pair = [role for role in named if role not in ("entry", "weight", "group")]
    if pair not in _PAIRS:
        raise ParameterError(
            "from_frame needs the columns time and event (or cause), or lower and upper, but got "
            f"{' and '.join(pair) or 'neither'}",
            argument=pair[0] if pair else "time",
            advice="Name one pair, such as time='months', event='status'.",
        )
    columns = {role: frame_column(frame, name, role) for role, name in named.items()}
    if dates is not None:
        columns["time"] = Column(time_between(*dates, unit or "days", date_format), "time", dates[1].name)
    for argument, given in (("event_value", event_value), ("event_values", event_values)):
        if given is not None and pair[1] != "event":
            raise ParameterError(
                f"{argument} cannot be combined with {' and '.join(pair)}, which say where events were observed.",
                argument=argument,
            )
    if event_value is not None and event_values is not None:
        raise ParameterError(
            "event_values cannot be combined with event_value: it names the events of all causes.",
            argument="event_values",
        )
    if (censored is not None or names is not None) and pair[1] != "cause":
        raise ParameterError(
            "censored and names cannot be used without cause",
            argument="names" if censored is None else "censored",
            advice="For the event use event_value.",
        )
    entry, weight = columns.get("entry"), columns.get("weight")
    first, second = (columns[role] for role in pair)
    if event_values is not None:
        codes, causes = event_values_column(second, event_values)
        outcome = competing_outcome(
            first, Column(codes, second.argument, second.name), entry, weight, names=list(causes)
        )
    elif pair[1] == "event":
        outcome = right_outcome(first, second, entry, weight, event_value)
    elif pair[1] == "cause":
        outcome = competing_outcome(first, second, entry, weight, censored, names)
    else:
        outcome = bounded_outcome(first, second, entry, weight)
    if "group" in columns:
        outcome = outcome._replace(group=group_column(columns["group"], first, outcome.lower))
    return outcome


def _date_columns(frame: object, named: Mapping[str, object]) -> tuple[Column, Column] | None:
    """The columns of the dates of start and end; None if there are none."""
    if "end" not in named:
        return None
    others = [role for role in ("time", "lower", "upper", "id", "stop") if role in named]
    if "start" not in named or others:
        raise ParameterError(
            "end, a date, needs the date of the start, but start is missing"
            if "start" not in named
            else f"{others[0]} cannot be combined with the dates start and end",
            argument="start" if "start" not in named else others[0],
            advice="Name the columns of both dates and of the event, such as start='diagnosis', end='last_seen', "
            "event='died'.",
        )
    return frame_column(frame, named["start"], "start"), frame_column(frame, named["end"], "end")


def _frame_episodes(frame: object, named: Mapping[str, object], **options: Any) -> Outcome:
    """Episodes in columns of a frame."""
    others = [role for role in named if role not in (*_EPISODES, "event", "cause", "weight")]
    missing = [role for role in _EPISODES if role not in named]
    if missing or others:
        raise ParameterError(
            f"episodes need the columns id, start, stop and event (or cause), but {missing[0]} is missing"
            if missing
            else f"{others[0]} cannot be combined with the columns of episodes",
            argument=(missing or others)[0],
            advice="Name all of them, such as id='person', start='from', stop='to', event='status'.",
        )
    columns = {role: frame_column(frame, name, role) for role, name in named.items()}
    required = (columns[role] for role in _EPISODES)
    return episode_outcome(*required, *(columns.get(role) for role in ("event", "cause", "weight")), **options)


def structured_outcome(array: object) -> Outcome:
    """The outcome in scikit-survival's structured array."""
    names = column_names(array) if _is_structured(array) else []
    roles = ["event" if cast("NDArray[Any]", array).dtype[name].kind == "b" else "time" for name in names]
    if sorted(roles) != ["event", "time"]:
        raise DataError(
            "a structured array must have one field of bool and one of numbers, but "
            f"{getattr(array, 'dtype', type(array).__name__)} was given",
            argument="array",
            advice="Use SurvivalData.from_frame(array, time=..., event=...) to name the two.",
        )
    fields = dict(zip(roles, names, strict=True))
    return frame_outcome(array, {"time": fields["time"], "event": fields["event"]})


def target_outcome(y: object, event_value: object = None) -> Outcome:
    """The outcome in a pair, a structured array or a frame of two columns."""
    if isinstance(y, tuple) and len(y) == 2:
        return right_outcome(Column(y[0], "time"), Column(y[1], "event"), None, None, event_value)
    if event_value is None and _is_structured(y) and "b" in [y.dtype[name].kind for name in y.dtype.names or ()]:
        return structured_outcome(y)
    try:
        names = column_names(y)
    except DataError:
        shape = f" of shape {y.shape}" if isinstance(y, np.ndarray) else ""
        raise DataError(
            f"y must say what is time and what is event, but {type(y).__name__}{shape} does not",
            argument="y",
            advice="Give SurvivalData.right(time, event), a tuple (time, event) such as (y[:, 0], y[:, 1]), "
            "or a frame of two named columns (a lazy one collected).",
        ) from None
    time, event = _time_and_event_names(y, names, event_value)
    return frame_outcome(y, {"time": time, "event": event}, event_value=event_value)


def _time_and_event_names(frame: object, names: list[Any], event_value: object) -> tuple[Any, Any]:
    """Which of two columns is the time and which the event: by their names, else by what they hold.

    A column named after censoring is refused unless `event_value` says what its values mean.
    """
    if len(names) != 2:
        problem = f"y must have two columns, but it has {len(names)} ({listed(names, 5)})"
        raise DataError(problem, argument="y", advice=_FROM_FRAME)
    if event_value is None and any("cens" in str(name).lower() for name in names):
        problem = f"columns {listed(names)}: it is not clear whether 1 means censored or not"
        raise DataError(problem, argument="y", advice=_FROM_FRAME)
    columns = [np.asarray(frame_column(frame, name, "y").values) for name in names]
    for is_event in (  # the first sign that tells the two apart counts
        [_role(name) == "event" for name in names],
        [_role(name) != "time" for name in names],
        [column.dtype.kind == "b" for column in columns],
        [len(set(column.ravel().tolist())) <= 2 for column in columns],
    ):
        if is_event[0] != is_event[1]:
            return (names[1], names[0]) if is_event[0] else (names[0], names[1])
    problem = f"columns {listed(names)}: it is not clear which is the time and which the event"
    raise DataError(problem, argument="y", advice=_FROM_FRAME)


def _role(name: object) -> str | None:
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", str(name))}
    for role, vocabulary in (("time", _TIME_WORDS), ("event", _STATUS_WORDS), ("time", _SURVIVAL_WORDS)):
        if words & vocabulary:
            return role
    return None


def _is_structured(array: object) -> TypeGuard[NDArray[Any]]:
    return isinstance(array, np.ndarray) and array.dtype.names is not None
