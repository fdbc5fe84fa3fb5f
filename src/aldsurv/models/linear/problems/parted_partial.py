"""Cox's partial likelihood as sums over the parts of a table: exact, with ties, weights, delayed entry and strata.

The distinct times of events of all parts, in each stratum, number the slots of time. Who is at risk in a slot are the
rows that leave in it or later, less those that enter in it or later. An evaluation takes two passes over the rows: the
first sums the risks of those that leave and enter in each slot, from which follow the sums of those at risk, the value
and the hazards; the second sums each row's expected events and their products with its columns. Slots are taken in
stretches, so that no more than so many sums are in memory, however many times there are. Robust errors take the first
pass once more, and then one for the rows' score residuals, which need the sums of all slots at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError
from aldsurv.models.linear.linear_fit import LinearProblem
from aldsurv.models.linear.newton import Evaluation
from aldsurv.models.linear.problems.parted_rows import HeldRows, Moments, too_wide
from aldsurv.models.linear.problems.parted_sandwich import GroupScores, robust_covariance
from aldsurv.models.linear.problems.risk_slots import RiskSlots
from aldsurv.models.parted.engine import Arrays, Blocks

__all__ = ["PartedCoxProblem"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Sums that one message of a worker holds at most: 32 MB.
_MOST_SUMS = 1 << 22
# Steps of Efron's rule for tied events that are in memory together.
_MOST_STEPS = 1 << 20
# Sums of all slots that robust errors need at once: 400 MB.
_MOST_SCORE_SUMS = 5 * 10**7


class _Stretch(NamedTuple):
    """Slots from `low` up to `high`."""

    low: int
    high: int

    @property
    def slots(self) -> int:
        """How many."""
        return self.high - self.low


@final
class PartedCoxProblem(LinearProblem):
    """The partial likelihood of the columns of held rows, which `risk_slots.slotted_rows` has sorted.

    Parameters
    ----------
    rows
        The rows.
    names
        Of their columns.
    slots
        Times of events.
    ties
        ``"efron"`` or ``"breslow"``.
    events, n_rows
        How many events and rows there are.
    robust
        Whether to compute a robust covariance: ``True``, ``"auto"`` or ``False``.
    """

    def __init__(
        self,
        rows: HeldRows,
        names: list[str],
        slots: RiskSlots,
        *,
        ties: str,
        events: int,
        n_rows: int,
        robust: bool | str,
    ) -> None:
        self._rows, self._slots, self._ties, self._robust = rows, slots, ties, robust
        self.moments = Moments.merged(rows.engine.map(_moments, rows.parts))
        super().__init__(names, self.moments.spread, rows=n_rows, events=events)

    def select(self, kept: IntArray) -> IntArray:
        """As in the base: numbers of columns."""
        return kept

    def likelihood(self, columns: IntArray, ridge: float = 0.0) -> Callable[[FloatArray], Evaluation]:
        """As in the base."""
        return partial(self._evaluate, columns)

    def robust(self, columns: IntArray, point: FloatArray, covariance: FloatArray) -> FloatArray | None:
        """As in the base."""
        if self._robust is False:
            return None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            compensators = self._compensators(columns, point)
        function = partial(_group_scores, columns, point)
        parts = self._rows.engine.map(function, self._rows.parts, (compensators,))
        return robust_covariance(covariance, parts, self._robust)

    def too_many(self, every: IntArray) -> bool:
        """As in the base."""
        return True

    def reduced(self, every: IntArray) -> tuple[IntArray, int, FloatArray | None]:
        """As in the base."""
        raise too_wide(every.size, self.events)

    def start(self, columns: int) -> FloatArray:
        """As in the base."""
        return np.zeros(columns)

    def gram(self) -> tuple[FloatArray, FloatArray]:
        """As in the base: the information of the risk sets about the columns."""
        information = self._evaluate(np.arange(len(self.names)), np.zeros(len(self.names))).information
        return information, float(self._slots.weight.sum()) * self.spread**2

    def log_cumulative_hazard(self, point: FloatArray) -> FloatArray:
        """Logarithm of the baseline's cumulative hazard after each slot, where all columns are 0."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            *_, steps = self._risk_passes(np.arange(point.size), point)
            return np.log(self._slots.cumulative(steps.hazard))

    def _evaluate(self, kept: IntArray, point: FloatArray) -> Evaluation:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            value, gradient, second, steps = self._risk_passes(kept, point)
            if not np.isfinite(value):
                return Evaluation(value, gradient, second)
            hazard = self._slots.cumulative(steps.hazard)
            information = -second
            for stretch in self._stretches(kept.size):
                part = slice(stretch.low, stretch.high)
                function = partial(_expected, kept, point, stretch)
                first, products = self._rows.sum(function, (hazard[part], steps.gone[part]))
                gradient, information = gradient - first, information + products
            return Evaluation(value, gradient, information)

    def _risk_passes(self, kept: IntArray, point: FloatArray) -> tuple[float, FloatArray, FloatArray, _Steps]:
        """The value, the columns of the events, products of means at events, and the hazards' steps."""
        size = kept.size
        value, gradient, second = 0.0, np.zeros(size), np.zeros((size, size))
        steps = _Steps(*np.zeros((2, self._slots.size)))
        for sums in self._risk_sums(kept, point):
            shares = sums.shares
            value += sums.observed + shares.value
            gradient = gradient + sums.columns
            steps.hazard[sums.part], steps.gone[sums.part] = shares.hazard, shares.gone
            every, own = sums.at_risk[:, 1:], sums.tied[:, 1:]
            mixed = (shares.mixed[:, None] * every).T @ own
            second += every.T @ (shares.every[:, None] * every) - mixed - mixed.T
            second += own.T @ (shares.tied[:, None] * own)
        return value, gradient, second, steps

    def _risk_sums(self, kept: IntArray, point: FloatArray) -> Iterator[_RiskSums]:
        """The first pass, from the last stretch of slots to the first."""
        slots, later = self._slots, np.zeros(1 + kept.size)
        for stretch in reversed(list(self._stretches(kept.size))):
            observed, columns = 0.0, np.zeros(kept.size)
            leaving, tied = np.zeros((2, stretch.slots, 1 + kept.size))
            for own in self._rows.engine.map(partial(_risks, kept, point, stretch), self._rows.parts):
                observed, columns = observed + own.observed, columns + own.columns
                own.leaving.add_to(leaving)
                own.tied.add_to(tied)
            at_risk = slots.sums_from_the_last(leaving, stretch.low, later)
            later = at_risk[0].copy()
            # Those with the event are at risk: what rounding leaves of a difference is no less.
            at_risk[:, 0] = np.maximum(at_risk[:, 0], tied[:, 0])
            part = slice(stretch.low, stretch.high)
            shares = _shares(at_risk[:, 0], tied[:, 0], slots.count[part], slots.weight[part], self._ties)
            yield _RiskSums(part, observed, columns, at_risk, tied, shares)

    def _compensators(self, kept: IntArray, point: FloatArray) -> _Compensators:
        """What the score residuals of rows need of the risk sets."""
        slots, size = self._slots, kept.size
        if 3 * slots.size * (1 + size) > _MOST_SCORE_SUMS:
            raise DataError(
                f"robust standard errors of {size} columns at {slots.size} distinct times are too large for memory",
                argument="robust",
                advice="Round the times to what they were measured to, or give robust=False.",
            )
        rise, gone, mean = np.zeros((3, slots.size, 1 + size))
        for sums in self._risk_sums(kept, point):
            shares, every, own = sums.shares, sums.at_risk[:, 1:], sums.tied[:, 1:]
            rise[sums.part, 0], gone[sums.part, 0] = shares.hazard, shares.gone
            rise[sums.part, 1:] = shares.every[:, None] * every - shares.mixed[:, None] * own
            gone[sums.part, 1:] = shares.mixed[:, None] * every - shares.tied[:, None] * own
            weighted = shares.hazard[:, None] * every - shares.gone[:, None] * own
            mean[sums.part, 1:] = weighted / slots.weight[sums.part, None]
        return _Compensators(slots.cumulative(rise), gone, mean[:, 1:])

    def _stretches(self, columns: int) -> Iterator[_Stretch]:
        step = max(1, _MOST_SUMS // (2 * (columns + 1)))
        for low in range(0, self._slots.size, step):
            yield _Stretch(low, min(low + step, self._slots.size))


class _Steps(NamedTuple):
    """Of each slot (m,): by what the cumulative hazard rises, and by how much less for those with the event."""

    hazard: FloatArray
    gone: FloatArray


class _Shares(NamedTuple):
    """Of each slot what Efron's or Breslow's rule makes of its risks R and D, over steps k with ``u = 1/(R - f·D)``.

    Attributes
    ----------
    value
        ``Σ -w·log(R - f·D)`` of all slots.
    hazard, gone, every, mixed, tied
        ``Σ w·u``, ``Σ w·f·u``, ``Σ w·u²``, ``Σ w·f·u²`` and ``Σ w·f²·u²`` of each slot.
    """

    value: float
    hazard: FloatArray
    gone: FloatArray
    every: FloatArray
    mixed: FloatArray
    tied: FloatArray


def _shares(at_risk: FloatArray, tied: FloatArray, count: FloatArray, weight: FloatArray, ties: str) -> _Shares:
    if ties == "breslow":
        u, none = 1 / at_risk, np.zeros_like(at_risk)
        value = -float(weight @ np.log(at_risk))
        return _Shares(value, weight * u, none, weight * u**2, none, none)
    value, sums = 0.0, np.zeros((5, at_risk.size))
    # At least one slot at a time.
    cuts = np.flatnonzero(np.diff(np.cumsum(count) // _MOST_STEPS, prepend=-1))
    for low, high in zip(cuts, [*cuts[1:].tolist(), at_risk.size], strict=True):
        m = count[low:high].astype(np.intp)
        slot = np.repeat(np.arange(m.size), m)
        k = np.arange(slot.size) - np.repeat(np.cumsum(m) - m, m)
        f = k / m[slot]
        w = (weight[low:high] / m)[slot]
        left = at_risk[low:high][slot] - f * tied[low:high][slot]
        u = 1 / left
        value -= float(w @ np.log(left))
        for row, values in zip(sums, (w * u, w * f * u, w * u**2, w * f * u**2, w * f**2 * u**2), strict=True):
            row[low:high] = np.bincount(slot, values, minlength=m.size)
    return _Shares(value, *sums)


class _RiskSums(NamedTuple):
    """Of a stretch of slots: sums over its events, and of each slot (m,) who is at risk.

    Attributes
    ----------
    part
        The slots.
    observed, columns
        Sums of log risks and of columns (k,) over the events.
    at_risk, tied
        Sums of risks, and of risks times columns (m, 1 + k), of those at risk and of those with the event.
    shares
        What the rule for ties makes of them.
    """

    part: slice
    observed: float
    columns: FloatArray
    at_risk: FloatArray
    tied: FloatArray
    shares: _Shares


class _Compensators(NamedTuple):
    """Of each slot the hazard, and the hazard times the mean columns of those at risk.

    Attributes
    ----------
    until
        Sums of both from the first slot of the stratum on (m, 1 + k).
    gone
        How much less those with the event have (m, 1 + k).
    mean
        The mean columns of those at risk at an event (m, k): over the steps of Efron's rule.
    """

    until: FloatArray
    gone: FloatArray
    mean: FloatArray


def _moments(blocks: Blocks) -> Moments:
    return Moments.merged(Moments.of(block["x"], block["weight"]) for block in blocks)


class _Chosen(NamedTuple):
    """Rows of a block that leave in a stretch of slots, and those that enter in it."""

    x: FloatArray
    risk: FloatArray
    slot: IntArray
    event: NDArray[np.bool_]
    log_risk: FloatArray
    weight: FloatArray


def _leaving(kept: IntArray, point: FloatArray, stretch: _Stretch, blocks: Blocks) -> Iterator[_Chosen]:
    for block in blocks:
        first, last = np.searchsorted(block["slot"], [stretch.low, stretch.high])
        if first < last:
            rows = slice(first, last)
            x, weight = block["x"][rows][:, kept], block["weight"][rows]
            eta = x @ point
            risk = weight * np.exp(eta)
            yield _Chosen(x, risk, block["slot"][rows] - stretch.low, block["event"][rows], eta, weight)


def _entering(
    kept: IntArray, point: FloatArray, stretch: _Stretch, blocks: Blocks
) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
    """Columns, risks and slots of the rows that enter in a stretch."""
    for block in blocks:
        if "entered" in block:
            order = block["by_entry"]
            first, last = np.searchsorted(block["entered"][order], [stretch.low, stretch.high])
            rows = order[first:last]
            x = block["x"][rows][:, kept]
            yield x, block["weight"][rows] * np.exp(x @ point), block["entered"][rows] - stretch.low


class _SlotSums(NamedTuple):
    """Sums (m, 1 + k) of those slots (m,) that have any: of many times, a part has few."""

    slots: IntArray
    sums: FloatArray

    @classmethod
    def of(cls, sums: FloatArray, some: NDArray[np.bool_]) -> _SlotSums:
        """Of all slots, and which of them have any."""
        slots = np.flatnonzero(some)
        return cls(slots, sums[slots])

    def add_to(self, sums: FloatArray) -> None:
        """Add them to the sums of all slots."""
        sums[self.slots] += self.sums


class _PartRisks(NamedTuple):
    """Of a part: sums of log risks and columns over events; of slots the risks of those that leave, and of events."""

    observed: float
    columns: FloatArray
    leaving: _SlotSums
    tied: _SlotSums


def _risks(kept: IntArray, point: FloatArray, stretch: _Stretch, blocks: Blocks) -> _PartRisks:
    observed, columns = 0.0, np.zeros(kept.size)
    leaving, tied = np.zeros((2, stretch.slots, 1 + kept.size))
    left, happened = np.zeros((2, stretch.slots), np.bool_)
    for part in _leaving(kept, point, stretch, blocks):
        risks = np.column_stack([part.risk, part.risk[:, None] * part.x])
        _add_at(leaving, part.slot, risks)
        event = part.event
        _add_at(tied, part.slot[event], risks[event])
        left[part.slot] = True
        happened[part.slot[event]] = True
        weight = part.weight[event]
        observed += float(weight @ part.log_risk[event])
        columns = columns + weight @ part.x[event]
    for x, risk, slot in _entering(kept, point, stretch, blocks):
        _add_at(leaving, slot, -np.column_stack([risk, risk[:, None] * x]))
        left[slot] = True
    return _PartRisks(observed, columns, _SlotSums.of(leaving, left), _SlotSums.of(tied, happened))


def _expected(
    kept: IntArray, point: FloatArray, stretch: _Stretch, blocks: Blocks, hazard: FloatArray, gone: FloatArray
) -> list[FloatArray]:
    """Sums of expected events times columns (k,), and times their products (k, k)."""
    first, products = np.zeros(kept.size), np.zeros((kept.size, kept.size))
    for part in _leaving(kept, point, stretch, blocks):
        expected = part.risk * (hazard[part.slot] - part.event * gone[part.slot])
        first, products = first + expected @ part.x, products + part.x.T @ (expected[:, None] * part.x)
    for x, risk, slot in _entering(kept, point, stretch, blocks):
        before = risk * hazard[slot]
        first, products = first - before @ x, products - x.T @ (before[:, None] * x)
    return [first, products]


def _add_at(sums: FloatArray, slot: IntArray, values: FloatArray) -> None:
    """Add rows of values to the slots, which ascend."""
    if slot.size:
        starts = np.flatnonzero(np.diff(slot, prepend=-1))
        sums[slot[starts]] += np.add.reduceat(values, starts)


def _group_scores(kept: IntArray, point: FloatArray, blocks: Blocks, compensators: _Compensators) -> GroupScores:
    """Sums of score residuals ``∫(x - mean(t))·dM(t)``, M the observed less the expected events of a row."""
    return GroupScores.merged(_block_scores(kept, point, block, compensators) for block in blocks)


def _block_scores(kept: IntArray, point: FloatArray, block: Arrays, compensators: _Compensators) -> GroupScores:
    x = block["x"][:, kept]
    expected = _up_to(compensators.until, block["slot"])
    if "entered" in block:
        expected -= _up_to(compensators.until, block["entered"])
    event, slot = np.flatnonzero(block["event"]), block["slot"][block["event"]]
    expected[event] -= compensators.gone[slot]
    risk = block["weight"] * np.exp(x @ point)
    scores = risk[:, None] * (expected[:, 1:] - expected[:, :1] * x)
    scores[event] += block["weight"][event, None] * (x[event] - compensators.mean[slot])
    return GroupScores.of(scores, block.get("group"))


def _up_to(sums: FloatArray, slot: IntArray) -> FloatArray:
    """The sums up to each slot (n, 1 + k): none before the first."""
    return np.where(slot[:, None] >= 0, sums[slot], 0.0)
