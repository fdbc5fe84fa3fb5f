"""The rows on which columns are compared with the outcome, and how often a column has pairs of them in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData

__all__ = ["Concordance", "KnownOutcome"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

# Rows of which all pairs are counted, and pairs that stand for all in a first look at many columns.
_PAIRED_ROWS, _PAIRS = 1500, 2000


class Concordance(NamedTuple):
    """The share of pairs whose values are in the order of their times, its standard error, and the events it is of."""

    share: float
    error: float
    events: int


class Pairs(NamedTuple):
    """Places of the earlier and the later row of each pair."""

    earlier: IntArray
    later: IntArray


@final
@dataclass(frozen=True, eq=False)
class KnownOutcome:
    """Some rows of the data, with events and censored rows sampled apart, so that rare events are there.

    Attributes
    ----------
    rows
        Their numbers (m,), ascending.
    time, event, entry
        When the event came or the observation ended, whether it came, and from when on the row was at risk. Of a time
        that is known within bounds it is the last.
    causes
        For each of several causes, which rows had it.
    weight
        How many rows of the data each stands for.
    pairs
        Pairs of places of which it is known whose event came first.
    event_pairs
        Pairs of places of events at different times.
    """

    rows: IntArray
    time: FloatArray
    event: BoolArray
    entry: FloatArray
    causes: tuple[BoolArray, ...]
    weight: FloatArray
    pairs: Pairs
    event_pairs: Pairs

    def across(self, target: BoolArray) -> Pairs:
        """Some pairs of a row of the target and one that is not, every time the same."""
        inside, outside = np.flatnonzero(target), np.flatnonzero(~target)
        steps = np.arange(_PAIRS // 8)
        # Steps of different lengths, so that not the same rows meet.
        return Pairs(inside[steps * 7919 % inside.size], outside[steps * 104729 % outside.size])

    @classmethod
    def of(cls, data: SurvivalData, most: int, generator: np.random.Generator) -> KnownOutcome:
        """At most so many rows of the data, drawn by the generator if there are more."""
        had_event = ~data.right_censored
        rows, weight = _sampled(had_event, most, generator)
        event, time = had_event[rows], np.where(had_event, data.upper, data.lower)[rows]
        entry = np.full(rows.size, -np.inf) if data.entry is None else data.entry[rows]
        numbers = range(1, 1 + len(data.causes or ()))
        causes = () if data.cause is None else tuple(data.cause[rows] == number for number in numbers)
        some = np.sort(generator.permutation(rows.size)[:_PAIRED_ROWS])
        first, later = np.nonzero(_comparable(time[some], event[some], entry[some]))
        chosen = generator.integers(0, max(first.size, 1), min(_PAIRS, first.size))
        pairs = Pairs(some[first[chosen]], some[later[chosen]])
        return cls(rows, time, event, entry, causes, weight, pairs, _event_pairs(time, event, generator))

    def __len__(self) -> int:
        return int(self.rows.size)

    def concordance(self, values: FloatArray) -> Concordance:
        """Harrell's C of a column (m,) as times, higher is later, among the rows where it is known.

        The standard error is that of the jackknife over rows. Of many rows some are counted.
        """
        known = np.flatnonzero(~np.isnan(values))
        if known.size > _PAIRED_ROWS:
            known = known[np.linspace(0, known.size - 1, _PAIRED_ROWS).astype(np.int64)]
        value, time, event = values[known], self.time[known], self.event[known]
        counted = _comparable(time, event, self.entry[known]) * np.outer(self.weight[known], self.weight[known])
        in_order = counted * ((value[:, None] < value) + 0.5 * (value[:, None] == value))
        total, right = counted.sum(), in_order.sum()
        # Without one row, and without the pairs it is in.
        left = total - counted.sum(0) - counted.sum(1)
        if total == 0 or not (left > 0).all():
            return Concordance(np.nan, np.nan, 0)
        shares = (right - in_order.sum(0) - in_order.sum(1)) / left
        error = np.sqrt((known.size - 1) * np.var(shares))
        return Concordance(float(right / total), float(error), int(event.sum()))


def _sampled(had_event: BoolArray, most: int, generator: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Row numbers, about as many of events as of censored rows if there are more rows than `most`, and weights."""
    n = had_event.size
    if n <= most:
        return np.arange(n), np.ones(n)
    parts = [np.flatnonzero(had_event), np.flatnonzero(~had_event)]
    counts = [min(part.size, max(most // 2, most - other.size)) for part, other in zip(parts, parts[::-1], strict=True)]
    drawn = [generator.choice(part, count, replace=False) for part, count in zip(parts, counts, strict=True)]
    weights = [np.full(rows.size, part.size / max(rows.size, 1)) for rows, part in zip(drawn, parts, strict=True)]
    rows, weight = np.concatenate(drawn), np.concatenate(weights)
    order = np.argsort(rows)
    return rows[order], weight[order]


def _comparable(time: FloatArray, event: BoolArray, entry: FloatArray) -> BoolArray:
    """Pairs (m, m) of an event and a row that was at risk then and had it later."""
    outlived = (time[:, None] < time) | ((time[:, None] == time) & ~event)
    return np.asarray(event[:, None] & outlived & (entry < time[:, None]))


def _event_pairs(time: FloatArray, event: BoolArray, generator: np.random.Generator) -> Pairs:
    events = np.flatnonzero(event)
    if events.size < 2:
        return Pairs(events[:0], events[:0])
    first, second = generator.choice(events, (2, _PAIRS // 4))
    earlier = np.where(time[first] < time[second], first, second)
    later = np.where(time[first] < time[second], second, first)
    differ = time[first] != time[second]
    return Pairs(earlier[differ], later[differ])
