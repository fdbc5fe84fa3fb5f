"""The distinct times of events of all parts of a table, as numbered slots of time, and rows sorted by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.models.linear.cox_baseline import require_right_censored
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.problems.parted_rows import encoded_rows, outcome_of
from aldsurv.models.parted.engine import Arrays, Engine
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline
from aldsurv.tables.parts.parted_table import PartedTable, TablePart

__all__ = ["RiskSlots", "risk_slots", "slotted_rows"]

FloatArray = NDArray[np.float64]


class WeightsAtTimes(NamedTuple):
    """Distinct times (m,), ascending, each with the number and the weight of its rows.

    Attributes
    ----------
    times, rows, weight
        Each of shape (m,).
    """

    times: FloatArray
    rows: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, times: FloatArray, weight: FloatArray, rows: FloatArray | None = None) -> WeightsAtTimes:
        """Of rows in any order."""
        distinct, place = np.unique(times, return_inverse=True)
        counted = (np.ones(place.size) if rows is None else rows, weight)
        sums = [np.asarray(np.bincount(place, values, minlength=distinct.size), np.float64) for values in counted]
        return cls(distinct, sums[0], sums[1])

    @classmethod
    def merged(cls, parts: Iterable[WeightsAtTimes]) -> WeightsAtTimes:
        """All of them."""
        every = list(parts)
        times, rows, weight = (np.concatenate(values) for values in zip(*every, strict=True))
        return cls.of(times, weight, rows)


@final
@dataclass(frozen=True)
class RiskSlots:
    """Slots of time: the distinct times of events of one stratum after the other.

    Attributes
    ----------
    times, count, weight
        Of each slot (m,): its time, the number of its events and the sum of their weights.
    starts
        The first slot of each stratum, and the number of all slots.
    last_times
        The last time of each stratum, of a row with or without an event.
    """

    times: FloatArray
    count: FloatArray
    weight: FloatArray
    starts: tuple[int, ...]
    last_times: tuple[float, ...]

    @property
    def size(self) -> int:
        """How many slots there are."""
        return self.times.size

    def before(self, times: FloatArray, codes: NDArray[np.int64] | None) -> NDArray[np.intp]:
        """The last slot up to each time (n,), in the stratum of each; -1 if there is none."""
        slot = np.full(times.size, -1, np.intp)
        for code in range(len(self.starts) - 1):
            start, stop = self.starts[code : code + 2]
            rows = slice(None) if codes is None else codes == code
            place = np.searchsorted(self.times[start:stop], times[rows], side="right")
            slot[rows] = np.where(place > 0, start + place - 1, -1)
        return slot

    def cumulative(self, steps: FloatArray) -> FloatArray:
        """Sums of what is in the slots (m, …), from the first of each stratum on."""
        strata = self._strata(0, self.size)
        return np.concatenate([np.cumsum(steps[start:stop], axis=0) for start, stop in strata] or [steps])

    def sums_from_the_last(self, values: FloatArray, low: int, later: FloatArray) -> FloatArray:
        """Sums of the values (m, …) of slots from `low` on over the slots from each to the last of its stratum.

        `later` is what the slot after them has, which counts if it is of the same stratum.
        """
        sums = np.empty_like(values)
        high = low + len(values)
        for start, stop in self._strata(low, high):
            part = np.cumsum(values[start - low : stop - low][::-1], axis=0)[::-1]
            sums[start - low : stop - low] = part if stop < high or stop in self.starts else part + later
        return sums

    def baseline(self, log_cumulative: FloatArray, *, stratified: bool) -> BaselineHazard | StratifiedBaseline:
        """The baseline with these logarithms of the cumulative hazard (m,)."""
        parts = []
        for code, last in enumerate(self.last_times):
            start, stop = self.starts[code : code + 2]
            if start == stop:
                parts.append(BaselineHazard(np.array([last]), np.array([-np.inf])))
            else:
                parts.append(BaselineHazard(self.times[start:stop].copy(), log_cumulative[start:stop].copy()))
        return StratifiedBaseline(np.arange(len(parts)), tuple(parts)) if stratified else parts[0]

    def _strata(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """First and last slots of the strata between two slots."""
        cuts = [low, *(start for start in self.starts if low < start < high), high]
        return ((start, stop) for start, stop in pairwise(cuts) if start < stop)


def risk_slots(table: PartedTable, design: Design, owner: str, engine: Engine) -> RiskSlots:
    """The slots of all parts, by a pass over their outcomes (and columns of strata)."""
    strata = len(design.strata) if design.columns else 1
    times = [WeightsAtTimes(*np.zeros((3, 0)))] * strata
    last = [0.0] * strata
    for part_times, part_last in engine.map(partial(_event_times, design, owner, strata), table.parts):
        times = [WeightsAtTimes.merged(pair) for pair in zip(times, part_times, strict=True)]
        last = [max(pair) for pair in zip(last, part_last, strict=True)]
    sizes = np.cumsum([0, *(part.times.size for part in times)]).tolist()
    every = [np.concatenate(values) for values in zip(*times, strict=True)]
    return RiskSlots(every[0], every[1], every[2], starts=tuple(sizes), last_times=tuple(last))


def _event_times(design: Design, owner: str, strata: int, part: TablePart) -> tuple[list[WeightsAtTimes], list[float]]:
    found: list[list[WeightsAtTimes]] = [[] for _ in range(strata)]
    last = [0.0] * strata
    # The columns of strata are among the covariates.
    for block in (part if design.columns else replace(part, reading=replace(part.reading, covariates=()))).blocks():
        data, codes = block.outcome, design.codes(block.x) if design.columns else None
        require_right_censored(data, owner)
        present = data.weights > 0
        for code in range(strata):
            rows = present if codes is None else present & (codes == code)
            event = rows & data.exact
            found[code].append(WeightsAtTimes.of(data.time[event], data.weights[event]))
            last[code] = max(last[code], float(data.time[rows].max(initial=0.0)))
    return [WeightsAtTimes.merged(parts) for parts in found], last


def slotted_rows(design: Design, owner: str, part: TablePart, slots: RiskSlots) -> Iterator[Arrays]:
    """Blocks of a part, sorted by the slot in which a row leaves: those of `encoded_rows` of positive weight.

    A row is at risk in the slots after ``entered`` up to ``slot``; ``by_entry`` is the order of its entries.
    """
    for block in encoded_rows(design, owner, part):
        data = outcome_of(block)
        present = data.weights > 0
        slot = slots.before(data.time, block.get("codes"))
        order = np.flatnonzero(present)[np.argsort(slot[present], kind="stable")]
        arrays = {
            "x": block["x"][order],
            "weight": data.weights[order],
            "slot": slot[order],
            "event": data.exact[order],
        }
        if data.group is not None:
            arrays["group"] = data.group[order]
        if data.entry is not None:
            entered = slots.before(data.entry[order], None if "codes" not in block else block["codes"][order])
            arrays |= {"entered": entered, "by_entry": np.argsort(entered, kind="stable")}
        yield arrays
