"""What in the values of a column gives an outcome away: each sign by a rule that chance and honest covariates miss."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.inspection.known_outcome import KnownOutcome, Pairs
from aldsurv.plain_numbers import percent

__all__ = ["NOTE_KINDS", "Sign", "SignKind", "block_signs"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

SignKind = Literal["name", "event", "time", "gaps", "order", "numbering", "constant"]
# Kinds that say nothing about the outcome.
NOTE_KINDS: frozenset[SignKind] = frozenset({"numbering", "constant"})

# Of all columns together, how often chance alone may show a sign.
_CHANCE = 0.001
# Gaps: how far the share of known values must differ between events and censored rows; the second where one of them
# has none at all.
_GAP_DIFFERENCE, _ONE_SIDED_DIFFERENCE = 0.8, 0.3
_FEWEST_OF_A_KIND = 5
# Levels: the distance between their shares among events and among censored rows, 1 where they tell all rows apart.
_COPY_DISTANCE, _MOST_LEVELS, _ROWS_PER_LEVEL = 0.95, 20, 5
_OFTEN_EQUAL = 0.15
# Concordance: strong covariates reach 0.85, and in small tables by chance some more. So the lower limit (99.5 %, one
# side) must be above that, too. By chance alone no column is beyond 0.9 with so many events.
_CONCORDANCE, _HONEST_CONCORDANCE, _LIMIT, _FEWEST_EVENTS = 0.9, 0.85, 2.58, 30
# A first look at some pairs, which errs by less than the difference.
_LOOKED_AT, _MOST_EXAMINED = 0.85, 500
# Times: rank correlation, or an order without exception of at least so many different values.
_RANK_CORRELATION, _TIME_EVENTS, _TIME_VALUES = 0.999, 20, 5
_FIRST_LEVELS = 64


class Sign(NamedTuple):
    """One sign that a column gives the outcome away, or is no covariate.

    Attributes
    ----------
    kind
        ``"name"``, ``"event"``, ``"time"``, ``"gaps"``, ``"order"``, ``"numbering"`` or ``"constant"``.
    description
        A part of a sentence about the column.
    strength
        A concordance, correlation or share between 0 and 1; 1 for a sign that is there or not.
    """

    kind: SignKind
    description: str
    strength: float = 1.0


def block_signs(
    block: FloatArray, ordered: BoolArray, outcome: KnownOutcome, n_columns: int
) -> Iterator[tuple[int, Sign]]:
    """Signs in the values of some columns, with the position of the column.

    Parameters
    ----------
    block
        Columns by row (k, m) at the rows of the outcome, NaN for gaps.
    ordered
        Which of them hold numbers with an order (k,), not codes.
    outcome
        What they are compared with.
    n_columns
        How many columns there are in all: the more, the more of them chance makes look suspicious.
    """
    gaps = np.isnan(block)
    yield from _gap_signs(gaps, outcome, n_columns)
    yield from _event_signs(block, gaps, outcome, n_columns)
    numbers = np.flatnonzero(ordered)
    yield from ((int(numbers[k]), sign) for k, sign in _time_signs(block[numbers], outcome))
    yield from ((int(numbers[k]), sign) for k, sign in _order_signs(block[numbers], outcome))


def _gap_signs(gaps: BoolArray, outcome: KnownOutcome, n_columns: int) -> Iterator[tuple[int, Sign]]:
    """Columns that are known where the event came and not where it did not, or the other way round."""
    event = outcome.event
    n_events, n_censored = int(event.sum()), int((~event).sum())
    candidates = np.flatnonzero(gaps.any(axis=1))
    if min(n_events, n_censored) < _FEWEST_OF_A_KIND or not candidates.size:
        return
    among_events = 1 - gaps[candidates][:, event].mean(axis=1)
    among_censored = 1 - gaps[candidates][:, ~event].mean(axis=1)
    overall = (among_events * n_events + among_censored * n_censored) / len(outcome)
    error = np.sqrt(overall * (1 - overall) * (1 / n_events + 1 / n_censored))
    difference = np.abs(among_events - among_censored)
    one_sided = (np.minimum(among_events, among_censored) == 0) & (difference >= _ONE_SIDED_DIFFERENCE)
    beyond_chance = difference > NormalDist().inv_cdf(1 - _CHANCE / 2 / n_columns) * error
    for k in np.flatnonzero(beyond_chance & (one_sided | (difference >= _GAP_DIFFERENCE))):
        shares = f"{percent(among_events[k])} of the events and {percent(among_censored[k])} of the censored rows"
        yield int(candidates[k]), Sign("gaps", f"has values in {shares}", float(difference[k]))


def _event_signs(
    block: FloatArray, gaps: BoolArray, outcome: KnownOutcome, n_columns: int
) -> Iterator[tuple[int, Sign]]:
    """Columns of few levels which are those of the event: copies, also reversed or in words."""
    # Most columns of numbers show many different values in their first rows.
    first = np.sort(block[:, :_FIRST_LEVELS], axis=1)
    few = np.flatnonzero((np.diff(first, axis=1) > 0).sum(axis=1) < _MOST_LEVELS)
    values = np.where(gaps[few], np.inf, block[few])
    reported: set[int] = set()
    for target in (outcome.event, *outcome.causes):
        if target.all() or not target.any():
            continue
        pairs = outcome.across(target)
        # Levels that tell rows apart are rarely those of both rows of such a pair.
        equal = (values[:, pairs.earlier] == values[:, pairs.later]).mean(axis=1)
        for k in np.flatnonzero(equal < _OFTEN_EQUAL):
            levels, codes = np.unique(values[k], return_inverse=True)
            if few[k] in reported or not 1 < levels.size <= min(_MOST_LEVELS, len(outcome) / _ROWS_PER_LEVEL):
                continue
            distance = _distance(codes, target, levels.size)
            if distance >= _COPY_DISTANCE and _chance_of_copy(target, levels.size, n_columns) < math.log(_CHANCE):
                reported.add(few[k])
                which = "every row" if distance == 1 else f"{percent(distance)} of the rows"
                yield int(few[k]), Sign("event", f"says in {which} whether the event came", distance)


def _distance(codes: NDArray[np.intp], target: BoolArray, n_levels: int) -> float:
    """Total variation distance between the levels of rows with and without an event."""
    among_events = np.bincount(codes[target], minlength=n_levels) / target.sum()
    among_others = np.bincount(codes[~target], minlength=n_levels) / (~target).sum()
    distance = float(np.abs(among_events - among_others).sum() / 2)
    return 1.0 if not np.any((among_events > 0) & (among_others > 0)) else distance


def _chance_of_copy(target: BoolArray, n_levels: int, n_columns: int) -> float:
    """Logarithm of a bound on the probability that some column separates events from others by chance."""
    n, events = target.size, int(target.sum())
    likelihood = events * math.log(events / n) + (n - events) * math.log(1 - events / n)
    return likelihood + n_levels * math.log(2) + math.log(n_columns)


def _time_signs(block: FloatArray, outcome: KnownOutcome) -> Iterator[tuple[int, Sign]]:
    """Columns that have the order of the times of the events: the time in another unit, or the date of the event."""
    up, down = _shares(block, outcome.event_pairs)
    for k in np.flatnonzero((np.minimum(up, down) < 0.02) & (np.maximum(up, down) > 0)):
        known = outcome.event & ~np.isnan(block[k])
        time, value = outcome.time[known], block[k][known]
        if time.size < _TIME_EVENTS or np.unique(value).size < _TIME_VALUES or np.unique(time).size < _TIME_VALUES:
            continue
        value = value if up[k] > down[k] else -value
        in_order = bool((np.diff(value[np.lexsort((value, time))]) >= 0).all())
        correlation = 1.0 if in_order else _rank_correlation(time, value)
        if correlation >= _RANK_CORRELATION:
            yield int(k), Sign("time", "has the order of the times of the events", correlation)


def _order_signs(block: FloatArray, outcome: KnownOutcome) -> Iterator[tuple[int, Sign]]:
    """Columns that alone predict who has the event first better than covariates do."""
    up, down = _shares(block, outcome.pairs)
    # Equal values count one half on either side.
    strength = 0.5 + np.abs(up - down) / 2
    candidates = np.flatnonzero(strength > _LOOKED_AT)
    for k in candidates[np.argsort(-strength[candidates], kind="stable")][:_MOST_EXAMINED]:
        concordance = outcome.concordance(block[k])
        value = max(concordance.share, 1 - concordance.share)
        lower = value - _LIMIT * concordance.error
        if concordance.events >= _FEWEST_EVENTS and value > _CONCORDANCE and lower > _HONEST_CONCORDANCE:
            direction = "later" if concordance.share > 0.5 else "earlier"
            description = f"alone predicts the order of events with C = {math.floor(100 * value) / 100:.2f}"
            yield int(k), Sign("order", f"{description} (higher is {direction})", value)


def _shares(block: FloatArray, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
    """Of the pairs that a column knows, the shares in which the later row has the higher and the lower value."""
    first, second = block[:, pairs.earlier], block[:, pairs.later]
    up, down = (first < second).sum(axis=1), (first > second).sum(axis=1)
    known = np.maximum(up + down + (first == second).sum(axis=1), 1)
    return up / known, down / known


def _rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Spearman's correlation; neither is constant."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: FloatArray) -> FloatArray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]
