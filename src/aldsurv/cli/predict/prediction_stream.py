"""Predictions for a table of any length: read, predicted and handed on block by block, in order."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.outcome_columns import Column, number_column
from aldsurv.errors import DataError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.cli.predict.prediction_columns import Asked
    from aldsurv.cli.predict.prediction_inputs import ModelInputs
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table_blocks import TableBlock, TableBlocks

__all__ = ["BLOCK_ROWS", "PredictedBlock", "Prediction", "Surprises"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# Rows that are read and written at once, and of these the rows that go through the model at once: what a network has
# in between then stays in the processor's cache.
BLOCK_ROWS = 1 << 14
_AT_ONCE = 1 << 10
_KEPT_BYTES = 31 << 20


@final
@dataclass
class Surprises:
    """What rows hold that training had not shown: how many rows do in some column, and in each.

    Attributes
    ----------
    rows, outside
        Rows so far, and those with a value beyond the range or the levels of training.
    outside_by_column, gaps_by_column
        Rows beyond training, and rows with gaps where training had none.
    """

    rows: int = 0
    outside: int = 0
    outside_by_column: Counter[str] = field(default_factory=Counter)
    gaps_by_column: Counter[str] = field(default_factory=Counter)

    def add(self, other: Surprises) -> None:
        """Count rows of another block, too."""
        self.rows += other.rows
        self.outside += other.outside
        self.outside_by_column.update(other.outside_by_column)
        self.gaps_by_column.update(other.gaps_by_column)


@final
@dataclass(frozen=True)
class PredictedBlock:
    """Rows to write: a record batch of Arrow, what was unusual in them, and how far the table has been read."""

    batch: Any
    surprises: Surprises
    position: int


@final
@dataclass(frozen=True)
class Prediction:
    """All that is needed to predict for the rows of a table.

    Attributes
    ----------
    model, table, inputs
        The model, the table, and how the one finds its columns in the other.
    asked
        The columns to predict.
    kept
        Columns of the table to hand through.
    since
        The time until which a row is known to be event-free: a number, the name of a column, or None.
    """

    model: SurvivalEstimator
    table: TableBlocks
    inputs: ModelInputs
    asked: Asked
    kept: tuple[str, ...]
    since: float | str | None

    @property
    def names(self) -> list[str]:
        """Names of the columns that are written."""
        return [*self.kept, *self.asked.names, "outside"]

    def blocks(self, *, jobs: int) -> Iterator[PredictedBlock]:
        """Predictions in the order of the rows, by `jobs` threads; numpy lets them run at the same time."""
        numbers = [*self.inputs.numbers]
        if isinstance(self.since, str) and self.since not in numbers:
            numbers.append(self.since)
        text = [name for name in self.inputs.text if name not in numbers]
        blocks = self.table.blocks(numbers=numbers, text=text, kept=self.kept, rows=BLOCK_ROWS)
        _keep_memory()
        with warnings.catch_warnings():
            # Gaps and levels that training had not shown are counted here and told once.
            warnings.simplefilter("ignore", UserWarning)
            yield from _in_order(self._predicted, blocks, jobs)

    def _predicted(self, block: TableBlock) -> PredictedBlock:
        import pyarrow as arrow

        rows = len(next(iter(block.x.values()))) if block.x else len(next(iter(block.kept.values())))
        with self.table.located(block.start):
            beyond = self.inputs.outside(block.x)
            since = self._since(block)
        outside = np.logical_or.reduce(list(beyond.values())) if beyond else np.zeros(rows, np.bool_)
        surprises = Surprises(rows, int(outside.sum()))
        surprises.outside_by_column.update({name: int(own.sum()) for name, own in beyond.items() if own.any()})
        for name in self.inputs.without_gaps():
            count = _gaps(block.x[name])
            if count:
                surprises.gaps_by_column[name] += count
        values = self._values(block, rows, since)
        columns = {**block.kept, **{name: arrow.array(values[name]) for name in self.asked.names}}
        columns["outside"] = arrow.array(outside)
        batch = arrow.record_batch(list(columns.values()), names=list(columns))
        return PredictedBlock(batch, surprises, block.position)

    def _values(self, block: TableBlock, rows: int, since: NDArray[np.float64] | None) -> dict[str, Any]:
        frame = self.inputs.frame(block.x, rows)
        values = {name: np.empty(rows) for name in self.asked.names}
        for start in range(0, rows, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            with self.table.located(block.start + start):
                given = {key: column[part] for key, column in frame.items()}
                for name, column in self._columns(given, None if since is None else since[part]).items():
                    values[name][part] = column
        return values

    def _columns(self, given: dict[str, Any], since: NDArray[np.float64] | None) -> dict[str, Any]:
        predicted = self.model.predict_distribution(given)
        members = [] if self.asked.band is None else self.model.predict_members(given)
        if since is not None:
            predicted, members = predicted.conditional(since), [one.conditional(since) for one in members]
        found = self.asked.values(predicted)
        if members:
            found |= self.asked.limits(predicted, members, stretch=self.model.band_stretch(), since=since)
        return found

    def _since(self, block: TableBlock) -> NDArray[np.float64] | None:
        if self.since is None:
            return None
        if not isinstance(self.since, str):
            return np.full(len(next(iter(block.x.values()))), self.since)
        label = f"column {quoted(self.since)}"
        values = number_column(Column(block.x[self.since], label))
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            row = int(np.argmax(bad))
            found = "a gap" if np.isnan(values[row]) else f"{values[row]:g}"
            raise DataError(
                f"{label} of --given-survived must be a time from 0 on, but row {row} holds {found}. "
                "Give 0 where nothing is known."
            )
        return values


def _keep_memory() -> None:
    """Have the allocator keep what is freed for the next block.

    That of GNU learns from the largest array it was given back (up to 32 MB) how much to keep. Without it every block
    gets its memory from the system anew, which takes as long as the arithmetic. Elsewhere it does nothing.
    """
    np.empty(_KEPT_BYTES, np.uint8)


def _gaps(values: NDArray[Any]) -> int:
    if values.dtype == object:
        return sum(value is None for value in values.tolist())
    return int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0


def _in_order(function: Callable[[Item], Answer], items: Iterable[Item], jobs: int) -> Iterator[Answer]:
    """Answers in the order of the items, of which no more are taken than are soon needed."""
    if jobs == 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(jobs)
    waiting: deque[Future[Answer]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
