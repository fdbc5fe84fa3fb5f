"""Predictions for a table of any length: read, predicted and passed on block by block, in order."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.cli.predict.person_paths import Episodes, PathColumns, joined_blocks
from aldsurv.cli.predict.prediction_files import ALL_DIGITS
from aldsurv.cli.predict.significant_digits import rounded
from aldsurv.cli.shared.column_uses import count_gaps
from aldsurv.data.frame_columns import Column, number_column
from aldsurv.errors import DataError

if TYPE_CHECKING:
    from aldsurv.cli.predict.prediction_inputs import ModelInputs
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.models.prediction.prediction_request import PredictionRequest
    from aldsurv.tables.table_file import TableBlock, TableFile

__all__ = ["BLOCK_ROWS", "PredictedBlock", "Prediction", "Surprises"]

FloatArray = NDArray[np.float64]
Item = TypeVar("Item")
Result = TypeVar("Result")

# Rows that are read and written at once, and of these the rows that go through the model at once: what a network has
# in between then stays in the processor's cache.
BLOCK_ROWS = 1 << 14
_AT_ONCE = 1 << 10
_KEPT_BYTES = 31 << 20


@final
@dataclass
class Surprises:
    """How many rows hold values that training had not shown, in some column and in each.

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
        """Add the counts of another block."""
        self.rows += other.rows
        self.outside += other.outside
        self.outside_by_column.update(other.outside_by_column)
        self.gaps_by_column.update(other.gaps_by_column)


@final
@dataclass(frozen=True)
class PredictedBlock:
    """Rows to write: a record batch of Arrow, what was unusual in them, and how much of the table has been read."""

    batch: Any
    surprises: Surprises
    position: int


@final
@dataclass(frozen=True)
class Prediction:
    """What is needed to predict for the rows of a table.

    Attributes
    ----------
    model, table, inputs
        The model, the table, and which columns of the table the model reads.
    request
        The columns to predict.
    kept
        Columns of the table to copy.
    since
        The time until which a row is known to be event-free: a number, the name of a column, or None.
    path
        Columns of the person, start and end of episodes, of which there is a prediction per person; None: one per row.
    digits
        Most significant digits of what is predicted; kept columns stay as they are.
    """

    model: SurvivalEstimator
    table: TableFile
    inputs: ModelInputs
    request: PredictionRequest
    kept: tuple[str, ...]
    since: float | str | None
    path: PathColumns | None = None
    digits: int = ALL_DIGITS

    @property
    def names(self) -> list[str]:
        """Names of the columns that are written."""
        return [*self.kept, *self.request.names, "outside"]

    def blocks(self, *, jobs: int) -> Iterator[PredictedBlock]:
        """Predictions in the order of the rows, by `jobs` threads; numpy lets them run at the same time."""
        numbers = [*self.inputs.numbers]
        if isinstance(self.since, str) and self.since not in numbers:
            numbers.append(self.since)
        text = [name for name in self.inputs.text if name not in numbers]
        if self.path is not None:
            numbers = list(dict.fromkeys([*numbers, self.path.start, self.path.stop]))
            text = list(dict.fromkeys([*text, self.path.person]))
        blocks = self.table.blocks(numbers=numbers, text=text, kept=self.kept, rows=BLOCK_ROWS)
        if self.path is not None:
            # An episode of any person may stand in the last row.
            blocks = iter([joined_blocks(list(blocks))])
        _keep_memory()
        with warnings.catch_warnings():
            # Gaps and levels that training had not shown are counted here, for one note at the end.
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
        surprises.outside_by_column.update({name: int(mask.sum()) for name, mask in beyond.items() if mask.any()})
        for name in self.inputs.gap_rules():
            count = count_gaps(block.x[name])
            if count:
                surprises.gaps_by_column[name] += count
        kept = block.kept
        if self.path is None:
            values = self._values(block, rows, since)
        else:
            with self.table.located():
                episodes = Episodes.of(self.path, block.x)
            values = self._path_values(block, rows, since, episodes)
            kept = {name: column.take(episodes.last_rows) for name, column in kept.items()}
            outside = episodes.any_of(outside)
            surprises.rows, surprises.outside = len(outside), int(outside.sum())
        columns = {**kept, **{name: arrow.array(rounded(values[name], self.digits)) for name in self.request.names}}
        columns["outside"] = arrow.array(outside)
        batch = arrow.record_batch(list(columns.values()), names=list(columns))
        return PredictedBlock(batch, surprises, block.position)

    def _values(self, block: TableBlock, rows: int, since: FloatArray | None) -> dict[str, FloatArray]:
        frame = self.inputs.frame(block.x, rows)
        values = {name: np.empty(rows) for name in self.request.names}
        for start in range(0, rows, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            with self.table.located(block.start + start):
                x = {key: column[part] for key, column in frame.items()}
                known = None if since is None else since[part]
                for name, column in self.request.predict(self.model, x, since=known).items():
                    values[name][part] = column
        return values

    def _path_values(
        self, block: TableBlock, rows: int, since: FloatArray | None, episodes: Episodes
    ) -> dict[str, FloatArray]:
        frame = self.inputs.frame(block.x, rows)
        last = None if since is None else since[episodes.last_rows]
        with self.table.located():
            return self.request.predict(self.model, frame, since=last, along=episodes.path)

    def _since(self, block: TableBlock) -> FloatArray | None:
        if self.since is None:
            return None
        if not isinstance(self.since, str):
            return np.full(len(next(iter(block.x.values()))), self.since)
        times = number_column(Column(block.x[self.since], "--given-survived", self.since))
        bad = ~(np.isfinite(times) & (times >= 0))
        if bad.any():
            row = int(np.argmax(bad))
            value = "a gap" if np.isnan(times[row]) else f"{times[row]:g}"
            raise DataError(
                f"--given-survived must be a time from 0 on, but this is {value}",
                column=self.since,
                row=row,
                advice="Give 0 where nothing is known.",
            )
        return times


def _keep_memory() -> None:
    """Let the allocator keep freed memory for the next block.

    GNU's keeps as much as the largest array that was freed (up to 32 MB). Without that every block gets its memory from
    the system again, which takes as long as the arithmetic. Elsewhere this does nothing.
    """
    np.empty(_KEPT_BYTES, np.uint8)


def _in_order(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Results in the order of the items, of which only a few are taken in advance."""
    if jobs == 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(jobs)
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
