"""Rows in the order of their times and of their predictions, which is all that a concordance depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.checked_arguments import FloatArray
from aldsurv.metrics.discrimination.key_order import Flags, Indices, changes, float_keys, key_order
from aldsurv.metrics.discrimination.pair_counting import Places, sum_of_pairs

__all__ = ["PairOrder", "share_in_order"]

# For many weights of few rows a product with a table of all pairs is faster, if they make up for the table.
_MOST_IN_TABLE = 1000
_ROWS_PER_TABLE = 50


@final
@dataclass(frozen=True, eq=False, repr=False)
class PairOrder:
    """A place by time and a rank by prediction for each row, no two alike; made by `of`.

    Pairs go from an event to any row of a later time, or to one censored at the same time. Rows that are no pair, two
    events at one time, are placed against their ranks, and so are rows of equal prediction. So a row behind another in
    place and in rank is a pair in the right order, and there are no others.

    Parameters
    ----------
    rows
        Row at each place (n,).
    places
        Place at each rank (n,).
    pair_start
        For each place, the first place that can be the later of its pairs (n,). None: the next.
    ties
        For each rank, the first and one behind the last of the ranks of equal prediction and later time (n,) each.
        None: no two predictions are equal.
    """

    rows: Indices
    places: Places
    pair_start: Indices | None
    ties: tuple[Indices, Indices] | None

    @classmethod
    def of(cls, estimate: FloatArray, data: SurvivalData) -> PairOrder:
        """The order of exact and right-censored rows and of one prediction each."""
        # The bits of a float that is not negative are in the order of integers; the sign makes room for the event.
        moment = data.time.view(np.uint64) << np.uint64(1)
        moment |= ~data.event
        (rows, new_moment), (by_estimate, new_estimate) = key_order(moment), key_order(float_keys(estimate))
        place_of_row = np.empty(rows.size, dtype=np.int32)
        place_of_row[rows] = np.arange(rows.size, dtype=np.int32)
        places = place_of_row[by_estimate]
        if not new_estimate.all():
            places = _last_first(new_estimate, places)
        if new_moment.all():
            return cls(rows, places, None, _ties(new_estimate, places, None))
        ranks = np.empty(rows.size, dtype=np.int32)
        ranks[places] = np.arange(rows.size, dtype=np.int32)
        ranks = _last_first(new_moment, ranks)
        rows = rows[places[ranks]]
        places[ranks] = np.arange(rows.size, dtype=np.int32)
        pair_start = np.append(np.flatnonzero(new_moment), rows.size)[np.cumsum(new_moment)]
        return cls(rows, places, pair_start, _ties(new_estimate, places, new_moment))

    def share(self, importance: FloatArray, weight: FloatArray | None = None) -> float:
        """Share of the pairs in the right order, equal predictions one half; NaN without a pair.

        Parameters
        ----------
        importance, weight
            As in `sums`.
        """
        concordant, comparable = self.sums(importance, weight)
        # Two sums of weights may differ in their last digit where they should be equal.
        return min(max(concordant / comparable, 0.0), 1.0) if comparable else float("nan")

    def sums(self, importance: FloatArray, weight: FloatArray | None = None) -> tuple[float, float]:
        """Weight of the pairs in the right order, equal predictions one half, and of all pairs.

        Parameters
        ----------
        importance
            Weight of a row as the earlier of a pair (n,), by place; 0 where it is censored.
        weight
            Weight of a row as the later of a pair (n,), by place. None: one.
        """
        comparable = float(importance @ self._sum_behind(weight))
        if comparable == 0:
            return 0.0, 0.0
        concordant = sum_of_pairs(self.places, importance, weight)
        if self.ties is not None:
            first, last = self.ties
            tied = (last - first).astype(np.float64)
            if weight is not None:
                running = np.concatenate([[0.0], np.cumsum(weight[self.places])])
                tied = running[last] - running[first]
            concordant += float(importance[self.places] @ tied) / 2
        return concordant, comparable

    def shares(self, importance: FloatArray, weights: FloatArray) -> FloatArray:
        """`share` (b,) for many weights (b, n), which multiply the importance (n,) too."""
        n = self.rows.size
        if n > _MOST_IN_TABLE or n > _ROWS_PER_TABLE * len(weights):
            return np.array([self.share(importance * weight, weight) for weight in weights])
        earlier = weights * importance
        comparable = (earlier * self._sum_behind(weights)).sum(axis=1)
        concordant = ((earlier @ self._score_table()) * weights).sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.clip(concordant / comparable, 0.0, 1.0))

    def _score_table(self) -> FloatArray:
        """Score of each pair (n, n), the earlier in the row, by place: 1, one half or 0."""
        place = np.arange(self.rows.size)
        rank = np.empty_like(place)
        rank[self.places] = place
        score = ((place[:, None] < place) & (rank[:, None] < rank)).astype(np.float64)
        if self.ties is not None:
            first, last = (end[rank][:, None] for end in self.ties)
            score += 0.5 * ((first <= rank) & (rank < last))
        return score

    def _sum_behind(self, weight: FloatArray | None) -> FloatArray:
        """Weight of all rows later than each place; for weights (b, n) as many."""
        n = self.rows.size
        start = np.arange(1, n + 1) if self.pair_start is None else self.pair_start
        if weight is None:
            return (n - start).astype(np.float64)
        behind = np.zeros((*weight.shape[:-1], n + 1))
        behind[..., :n] = np.cumsum(weight[..., ::-1], axis=-1)[..., ::-1]
        return np.asarray(behind[..., start])


def share_in_order(later: FloatArray, case: FloatArray, control: FloatArray) -> float:
    """Weighted share of the pairs of case and control of which the control has the larger value, ties one half.

    Parameters
    ----------
    later
        Value of each row (n,).
    case, control
        Weight of each row as one and as the other (n,).
    """
    rank = np.unique(later, return_inverse=True)[1]
    cases, controls = np.bincount(rank, case), np.bincount(rank, control)
    above = np.cumsum(controls[::-1])[::-1]
    share = (cases * (above - controls / 2)).sum() / (cases.sum() * above[0])
    return min(max(float(share), 0.0), 1.0)


def _last_first(new: Flags, numbers: Places) -> Places:
    """Numbers 0 … n-1 in each run of equal values in descending order, by one sort of integers."""
    top = new.size - 1
    packed = (np.cumsum(new) << 32) | (top - numbers)
    packed.sort()
    return (top - (packed & 0xFFFFFFFF)).astype(np.int32)


def _ties(new_estimate: Flags, places: Places, new_moment: Flags | None) -> tuple[Indices, Indices] | None:
    """Equal predictions stand with the last first: those of later time are before a row, behind where theirs begin."""
    if new_estimate.all():
        return None
    new_row = np.ones_like(new_estimate)
    if new_moment is not None:
        new_row = new_estimate | changes(np.cumsum(new_moment)[places])
    first, last = (np.maximum.accumulate(np.where(new, np.arange(new.size), 0)) for new in (new_estimate, new_row))
    return first, last
