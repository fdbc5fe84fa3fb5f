"""A table in parts that need not be in memory: its rows are read block by block, as often as they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number, WholeNumber, check
from aldsurv.data.rows.row_hashes import chosen_share, row_hashes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.tables.arrow_columns import kind_of_type
from aldsurv.tables.parts.block_reading import BlockReading
from aldsurv.tables.parts.part_source import PartSource
from aldsurv.tables.table import TableColumn

__all__ = ["Block", "PartedCovariates", "PartedOutcome", "PartedTable", "RowChoice", "TablePart", "table_in_parts"]

IntArray = NDArray[np.int64]

_ROWS = 1 << 16


class Block(NamedTuple):
    """Some rows of a part.

    Attributes
    ----------
    numbers
        Number of each row (n,) in the whole table, counted from 0 in the order of its parts.
    x
        Covariates: columns (n,) by name, as `aldsurv.tables.Table` has them.
    y
        Outcomes; None if no columns were named for them.
    """

    numbers: IntArray
    x: dict[str, NDArray[Any]]
    y: SurvivalData | None

    @property
    def first_row(self) -> int:
        """Number of its first row in the whole table."""
        return int(self.numbers[0])

    @property
    def outcome(self) -> SurvivalData:
        """`y` of a table that has one."""
        if self.y is None:
            raise DataError("the table has no outcome", argument="time", advice="Name its columns in open_table.")
        return self.y

    def __len__(self) -> int:
        return len(self.numbers)


@final
@dataclass(frozen=True)
class RowChoice:
    """Rows chosen by a random number of their own, or of their group: see `aldsurv.data.rows.row_hashes`.

    Attributes
    ----------
    seed
        From which the random numbers come.
    low, high
        The stretch of them that is chosen: from which share of the rows up to which.
    """

    seed: int
    low: float
    high: float

    def of(self, numbers: IntArray, group: IntArray | None) -> NDArray[np.bool_]:
        """Which rows are chosen."""
        return chosen_share(row_hashes(numbers, group, self.seed), self.low, self.high)


@final
@dataclass(frozen=True)
class TablePart:
    """One part: a file, a fragment or a partition. It can be pickled, and read by any process.

    Attributes
    ----------
    source
        Where its rows come from.
    first_row
        Number of its first row in the whole table.
    reading
        How its columns are read.
    choices
        Which of its rows belong to the table: those that all of these choose.
    """

    source: PartSource
    first_row: int
    reading: BlockReading
    choices: tuple[RowChoice, ...] = ()

    @property
    def label(self) -> str:
        """What messages call it: its file or partition."""
        return self.source.label

    def __str__(self) -> str:
        return self.label

    @property
    def n_rows(self) -> int:
        """How many rows the file or partition has, all of them counted."""
        return self.source.n_rows

    def blocks(self, rows: int = _ROWS) -> Iterator[Block]:
        """Its rows in order, at most so many at a time; none for a part without rows."""
        check("rows", rows, WholeNumber(1))
        reading, start = self.reading, 0
        for columns in self._read(reading.names, rows):
            n = next(iter(columns.values())).size
            numbers = np.arange(self.first_row + start, self.first_row + start + n)
            with self.located(numbers):
                y = reading.outcome(columns)
            block = Block(numbers, {name: columns[name] for name in reading.covariates}, y)
            start += n
            if self.choices:
                block = self._chosen(block)
            if len(block):
                yield block

    def count_values(self, name: str) -> dict[Any, int]:
        """How many rows have each value of a column of few different ones; None stands for gaps."""
        from aldsurv.data.event_columns import column_values
        from aldsurv.data.frame_columns import Column

        counts: dict[Any, int] = {}
        for columns in self._read([name], _ROWS):
            values = columns[name]
            if values.dtype.kind in "biuf":
                distinct, times = np.unique(values, return_counts=True)
                pairs = zip(column_values(Column(distinct, "event", name)), times.tolist(), strict=True)
            else:
                pairs = ((value, 1) for value in column_values(Column(values, "event", name)))  # type: ignore[assignment]
            for value, count in pairs:
                counts[value] = counts.get(value, 0) + count
        return counts

    @contextmanager
    def located(self, numbers: IntArray) -> Iterator[None]:
        """Errors about rows of a block with these numbers, with the name of the part and the row in it."""
        try:
            yield
        except (DataError, ParameterError, UnknownNameError) as error:
            row = None if error.row is None else int(numbers[error.row]) - self.first_row
            raise error.in_file(self.label, row=row) from None

    def _read(self, names: Sequence[str], rows: int) -> Iterator[dict[str, NDArray[Any]]]:
        if not self.n_rows:
            return
        count = 0
        for columns in self.source.read(names, rows, self.reading.missing):
            count += next(iter(columns.values())).size
            yield columns
        if count != self.n_rows:
            raise DataError(
                f"{self.label!r} has {count} rows, but had {self.n_rows} when the table was opened",
                advice="Open the table again when nothing writes to it.",
            )

    def _chosen(self, block: Block) -> Block:
        group = None if block.y is None else block.y.group
        rows = np.ones(len(block), np.bool_)
        for choice in self.choices:
            rows &= choice.of(block.numbers, group)
        if rows.all():
            return block
        x = {name: column[rows] for name, column in block.x.items()}
        return Block(block.numbers[rows], x, None if block.y is None else block.y[rows])


@final
@dataclass(frozen=True, eq=False, repr=False)
class PartedTable:
    """A table in parts, made by `aldsurv.datasets.open_table`: ``model.fit(table.x, table.y)``.

    Nothing is in memory but the names of files and columns. It can be pickled.

    Parameters
    ----------
    parts
        The parts, in their order.
    columns
        Every column and its use.
    categorical
        Covariates whose values are codes: named so, or of a type that says so.
    label
        What messages call the table.
    n_rows
        How many rows it has.
    """

    parts: tuple[TablePart, ...]
    columns: tuple[TableColumn, ...]
    categorical: tuple[str, ...]
    label: str
    n_rows: int

    @property
    def x(self) -> PartedCovariates:
        """The covariates, for ``fit``."""
        return PartedCovariates(self)

    @property
    def y(self) -> PartedOutcome:
        """The outcome, for ``fit``."""
        if not self.reading.roles:
            raise DataError("the table has no outcome", argument="time", advice="Name its columns in open_table.")
        return PartedOutcome(self)

    @property
    def reading(self) -> BlockReading:
        """How columns are read."""
        return self.parts[0].reading

    @property
    def feature_names(self) -> list[str]:
        """Names of the covariates, in the order of the table."""
        return list(self.reading.covariates)

    @property
    def date_columns(self) -> list[str]:
        """Covariates whose type says that they are dates, which no model takes."""
        types = self.parts[0].source.types()
        return [name for name in self.feature_names if kind_of_type(types[name]) == "dates"]

    def without(self, names: Sequence[str]) -> PartedTable:
        """The table without some of its covariates."""
        left = tuple(name for name in self.reading.covariates if name not in names)
        if not left:
            raise DataError(f"{self.label!r} has no other covariates", argument="drop", advice="Drop fewer columns.")
        reading = replace(self.reading, covariates=left)
        parts = tuple(replace(part, reading=reading) for part in self.parts)
        columns = tuple(TableColumn(name, "left out" if name in names else use) for name, use in self.columns)
        return replace(self, parts=parts, columns=columns, categorical=tuple(n for n in self.categorical if n in left))

    def __len__(self) -> int:
        return self.n_rows

    def blocks(self, rows: int = _ROWS) -> Iterator[Block]:
        """All rows in order, at most so many at a time."""
        for part in self.parts:
            yield from part.blocks(rows)

    def collect(self) -> tuple[dict[str, NDArray[Any]], SurvivalData | None]:
        """Covariates and outcome of all rows in memory."""
        blocks = list(self.blocks())
        if not blocks:
            raise DataError(f"{self.label!r} has no rows", advice="Give at least one.")
        x = {name: np.concatenate([block.x[name] for block in blocks]) for name in blocks[0].x}
        y = None if blocks[0].y is None else SurvivalData.concatenate([block.outcome for block in blocks])
        return x, y

    def split(self, test: float = 0.2, *, seed: int = 0) -> tuple[PartedTable, PartedTable]:
        """A training and a test part, by a random number of each row or of its group.

        The same rows in the same order are split in the same way however they are divided into files. Groups stay
        whole; without a column of groups, copies of a row may come on both sides.

        Parameters
        ----------
        test
            Share of the rows, or of the groups, in the test part: up to chance.
        seed
            Another one splits otherwise.
        """
        check("test", test, Number(0, 1, above=True, below=True))
        check("seed", seed, WholeNumber(0))
        return self._chosen(RowChoice(seed, test, 1.0)), self._chosen(RowChoice(seed, 0.0, test))

    def summary(self) -> str:
        """Rows, parts and how each column is used."""
        n = len(self.parts)
        lines = [f"{self.label}: {self.n_rows:,} rows in {n} part{'s' * (n != 1)}, {len(self.columns)} columns"]
        width = min(max(len(column.name) for column in self.columns), 40)
        lines += [f"  {column.name:<{width}}  {column.use}" for column in self.columns[:60]]
        return "\n".join(lines)

    __str__ = summary

    def __repr__(self) -> str:
        return f"PartedTable(n={self.n_rows}, parts={len(self.parts)}, features={len(self.feature_names)})"

    def _chosen(self, choice: RowChoice) -> PartedTable:
        parts = tuple(replace(part, choices=(*part.choices, choice)) for part in self.parts)
        return replace(self, parts=parts, n_rows=sum(map(_count_chosen, parts)))


def _count_chosen(part: TablePart) -> int:
    """How many rows of a part are chosen: by their numbers alone if there are no groups."""
    if "group" in part.reading.roles:
        only_groups = replace(part.reading, covariates=())
        return sum(len(block) for block in replace(part, reading=only_groups).blocks())
    count = 0
    for start in range(0, part.n_rows, 1 << 20):
        numbers = np.arange(part.first_row + start, part.first_row + min(start + (1 << 20), part.n_rows))
        rows = np.ones(numbers.size, np.bool_)
        for choice in part.choices:
            rows &= choice.of(numbers, None)
        count += int(np.count_nonzero(rows))
    return count


@final
@dataclass(frozen=True)
class PartedCovariates:
    """The covariates of a `PartedTable`: they stand for it where ``fit`` takes ``X``."""

    table: PartedTable

    def collect(self) -> dict[str, NDArray[Any]]:
        """The columns of all rows in memory."""
        return self.table.collect()[0]


@final
@dataclass(frozen=True)
class PartedOutcome:
    """The outcome of a `PartedTable`: it stands for it where ``fit`` takes ``y``."""

    table: PartedTable

    def collect(self) -> SurvivalData:
        """The outcome of all rows in memory."""
        y = self.table.collect()[1]
        if y is None:
            raise DataError("the table has no outcome", argument="time")
        return y


def table_in_parts(X: object, y: object, sample_weight: object = None, groups: object = None) -> PartedTable | None:
    """The table that the arguments of ``fit`` stand for if it is one in parts, else None.

    It is an error if only one of them is in parts, or if weights or groups are given that are not columns of the table.
    """
    if isinstance(X, PartedTable) or isinstance(y, PartedTable):
        raise DataError(
            "a table in parts has two sides", argument="X", advice="Give both of them, as in fit(table.x, table.y)."
        )
    if not isinstance(X, PartedCovariates) and not isinstance(y, PartedOutcome):
        return None
    if not isinstance(X, PartedCovariates) or not isinstance(y, PartedOutcome) or X.table is not y.table:
        raise DataError(
            "X and y must be of one table in parts, or both in memory",
            argument="y",
            advice="Give fit(table.x, table.y) of one open_table(...).",
        )
    for name, value, role in (("sample_weight", sample_weight, "weight"), ("groups", groups, "group")):
        if value is not None:
            raise ParameterError(
                f"{name} cannot be given beside a table in parts",
                argument=name,
                advice=f"Name a column of the table, as in open_table(…, {role}=…).",
            )
    return X.table
