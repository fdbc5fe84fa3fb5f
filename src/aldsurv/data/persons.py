"""Episodes seen as persons: one row for each, and what is known of them at a landmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from aldsurv.data.frame_columns import FloatArray, IntArray
from aldsurv.data.group_column import group_numbers
from aldsurv.data.outcome_columns import Outcome
from aldsurv.errors import DataError, ParameterError

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData

__all__ = [
    "EpisodeOrder",
    "episode_order",
    "first_rows",
    "landmark_rows",
    "person_outcome",
    "require_whole_persons",
    "starts_of",
]


@final
class EpisodeOrder(NamedTuple):
    """Rows of episodes in the order of persons and time.

    Attributes
    ----------
    rows
        All rows, person by person in the order of their first rows, and each person's by time.
    first, last
        Where in these the episodes of each person begin and end (persons,).
    """

    rows: IntArray
    first: IntArray
    last: IntArray


def starts_of(data: SurvivalData) -> FloatArray:
    """Start of each episode (n,), 0 for one that was observed from the start."""
    return np.zeros(len(data)) if data.entry is None else np.maximum(data.entry, 0.0)


def episode_order(data: SurvivalData) -> EpisodeOrder:
    """How the rows of data of episodes follow each other."""
    if data.person is None:
        raise ParameterError(
            "these rows are not episodes of persons", argument="data", advice="Make them by SurvivalData.episodes."
        )
    number, start = group_numbers(data.person), starts_of(data)
    rows = np.lexsort((start, number)).astype(np.int64)
    ends = np.flatnonzero(np.diff(number[rows], append=-1) != 0).astype(np.int64)
    first = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    follows = np.diff(number[rows]) == 0
    twice = follows & (start[rows[1:]] < data.lower[rows[:-1]])
    if twice.any():
        row = int(rows[1:][np.argmax(twice)])
        raise DataError(
            f"a person is in two episodes at once, one of which begins at {start[row]:g}",
            row=row,
            advice="Rows of episodes cannot be drawn with replacement: draw persons, from data.persons().",
        )
    return EpisodeOrder(rows, first, ends)


def first_rows(data: SurvivalData) -> IntArray:
    """Row number of the first episode of each person (persons,), in the order of `persons`."""
    order = episode_order(data)
    return order.rows[order.first]


def person_outcome(data: SurvivalData) -> Outcome:
    """One row per person: when the first episode began, and how and when the last ended."""
    order = episode_order(data)
    first, last = order.rows[order.first], order.rows[order.last]
    entry = None if data.entry is None or not np.isfinite(data.entry[first]).any() else data.entry[first]
    group = None
    if data.group is not None and not np.array_equal(group_numbers(data.group), group_numbers(data.person)):  # type: ignore[arg-type]
        group = data.group[last]
    return Outcome(
        data.lower[last],
        data.upper[last],
        entry,
        None if data.weight is None else data.weight[last],
        None if data.cause is None else data.cause[last],
        data.causes,
        group,
    )


def landmark_rows(data: SurvivalData, time: float) -> tuple[IntArray, Outcome]:
    """The episode in which each person is at `time`, and the time from then on, of those still event-free."""
    order, start = episode_order(data), starts_of(data)
    inside = (start[order.rows] <= time) & (data.lower[order.rows] > time)
    number = np.repeat(np.arange(order.first.size), order.last - order.first + 1)
    rows = order.rows[inside]
    if not rows.size:
        raise ParameterError(
            f"time must leave persons at risk after it, but at {time:g} there are none",
            argument="time",
            advice="Choose an earlier landmark.",
        )
    later = person_outcome(data)
    persons = number[inside]
    chosen: dict[str, Any] = {
        name: values[persons] for name, values in later._asdict().items() if isinstance(values, np.ndarray)
    }
    chosen |= {"lower": chosen["lower"] - time, "upper": chosen["upper"] - time, "entry": None}
    return rows, later._replace(**chosen)


def require_whole_persons(person: IntArray, group: IntArray) -> None:
    """Raise `DataError` unless all episodes of a person are of one group."""
    number, groups = group_numbers(person), group_numbers(group)
    _, first = np.unique(number, return_index=True)
    split = groups != groups[first][number]
    if split.any():
        raise DataError(
            "a group must hold all episodes of a person, but some are of another",
            argument="group",
            row=int(np.argmax(split)),
            advice="Give every episode of a person the same label.",
        )
