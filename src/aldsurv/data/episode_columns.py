"""Episodes of persons whose covariates change: rows (start, stop] checked person by person."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, check
from aldsurv.data.event_columns import CauseNames
from aldsurv.data.frame_columns import BoolArray, Column, FloatArray, IntArray, column_array, number_column
from aldsurv.data.group_column import group_column, group_numbers
from aldsurv.data.outcome_columns import Outcome, competing_outcome, right_outcome
from aldsurv.data.rows.row_checks import require_equal_length, require_rows
from aldsurv.errors import DataError, ParameterError
from aldsurv.quoting import quoted

__all__ = ["Paths", "entries", "episode_outcome", "read_paths"]

_GAPS = Choice(("refuse", "allow"))
# Times that differ by a smaller share are the same.
_ROUNDING = 1e-9
# What -1 becomes as the label of a person: among groups it stands for a row that belongs to no other.
_MINUS_ONE = 2**62 - 1


@final
class Paths(NamedTuple):
    """Episodes, and how they follow each other.

    Attributes
    ----------
    labels
        What the user calls the person of each row (n,).
    person
        A number for each row, equal for rows of one person.
    start, stop
        The person is in the episode in (start, stop].
    order
        All rows, person by person in the order of their first rows, and each person's by time.
    follows
        For each row in that order but the first, whether it is of the same person as the one before.
    """

    labels: NDArray[Any]
    person: IntArray
    start: FloatArray
    stop: FloatArray
    order: IntArray
    follows: BoolArray

    def episode(self, row: int) -> str:
        """An episode as messages write it."""
        return f"({self.start[row]:g}, {self.stop[row]:g}]"

    def name(self, row: int) -> str:
        """The person of a row as the user calls it."""
        return quoted(self.labels[row : row + 1].tolist()[0])


def read_paths(identity: Column, start: Column, stop: Column, *, gaps: str = "refuse") -> Paths:
    """Episodes of which no two of one person overlap, and which follow each other without a gap unless allowed."""
    check("gaps", gaps, _GAPS)
    starts, stops, labels = number_column(start), number_column(stop), column_array(identity)
    require_equal_length(stop, stops, start, starts)
    person = group_column(identity, stop, stops)
    person = np.where(person < 0, _MINUS_ONE, person)
    shown = {identity.argument: labels, start.argument: starts, stop.argument: stops}
    require_rows(np.isfinite(starts) & (starts >= 0), start, "finite and not negative", shown)
    require_rows(stops > starts, stop, f"after {start.argument}", shown)
    number = group_numbers(person)
    order = np.lexsort((starts, number)).astype(np.int64)
    before, after, follows = order[:-1], order[1:], np.diff(number[order]) == 0
    # An end and a beginning that were computed in different ways, as 13 times 0.2 and 12 times 0.2 plus 0.2, are one.
    near = (
        follows & (np.abs(starts[after] - stops[before]) <= _ROUNDING * stops[before]) & (stops[before] < stops[after])
    )
    starts[after[near]] = stops[before[near]]
    paths = Paths(labels, person, starts, stops, order, follows)
    _require_pairs(
        paths,
        start,
        paths.follows & (starts[after] < stops[before]),
        f"must not be before the {stop.argument} of the same person's episode before",
        "A person is in one episode at a time: correct or drop one of them.",
    )
    if gaps == "refuse":
        _require_pairs(
            paths,
            start,
            paths.follows & (starts[after] > stops[before]),
            f"must be the {stop.argument} of the same person's episode before",
            "Fill the gap with an episode, or leave it out of the time at risk by gaps='allow'.",
            argument="gaps",
        )
    return paths


def episode_outcome(
    identity: Column,
    start: Column,
    stop: Column,
    event: Column | None,
    cause: Column | None,
    weight: Column | None,
    *,
    event_value: object = None,
    censored: object = None,
    names: CauseNames | None = None,
    gaps: str = "refuse",
) -> Outcome:
    """The outcome of episodes: rows that enter at `start`, of which only the last of a person may end in an event."""
    if event is not None and cause is None:
        known, outcome = event, right_outcome(stop, event, None, weight, event_value)
    elif cause is not None and event is None:
        known, outcome = cause, competing_outcome(stop, cause, None, weight, censored, names)
    else:
        raise ParameterError(
            "episodes need either event or cause, which say whether the person's event ended the episode",
            argument="event",
            advice="Give one of them.",
        )
    paths = read_paths(identity, start, stop, gaps=gaps)
    happened = np.isfinite(outcome.upper)
    before, after = paths.order[:-1], paths.order[1:]
    early = np.flatnonzero(paths.follows & happened[before])
    if early.size:
        k = early[np.argmin(before[early])]
        raise known.error(
            f"must come in the last episode of a person, but that of {identity.argument} {paths.name(before[k])} at "
            f"{paths.stop[before[k]]:g} is followed by {paths.episode(after[k])}",
            row=int(before[k]),
            advice="Drop what follows, or correct the event.",
        )
    return outcome._replace(entry=entries(paths.start), group=paths.person, person=paths.person)


def entries(start: FloatArray) -> FloatArray | None:
    """Delayed entries of episodes: someone whose first episode begins at 0 is observed from the start."""
    return np.where(start > 0, start, -np.inf) if (start > 0).any() else None


def _require_pairs(
    paths: Paths, start: Column, bad: BoolArray, rule: str, advice: str, argument: str = "start"
) -> None:
    """Raise `DataError` unless no pair of successive episodes is bad; `argument` is what would allow them."""
    if not bad.any():
        return
    pairs = np.flatnonzero(bad)
    k = pairs[np.argmin(paths.order[1:][pairs])]
    before, after = int(paths.order[k]), int(paths.order[k + 1])
    raise DataError(
        f"start {rule}, but id {paths.name(after)} has {paths.episode(before)} and {paths.episode(after)}",
        argument=argument,
        column=start.name,
        row=after,
        advice=advice,
    )
