"""A table in a file, opened but not read: its columns as a whole, or its rows block by block."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import WholeNumber, check, listed
from aldsurv.data.frame_columns import require_column
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.quoting import quoted
from aldsurv.tables.arrow_columns import ColumnBuilder
from aldsurv.tables.gap_markers import GapMarkers

__all__ = ["ArrowBatch", "TableBlock", "TableFile", "is_row_name", "repeated_name_error"]

_ROWS = 1 << 16
# Of R, and of pandas.
_ROW_NAMES = re.compile(r"\s*|__index_level_\d+__")


def is_row_name(name: str) -> bool:
    """Whether a column of this name numbers the rows: it has no name, or the one that pandas gives to an index."""
    return _ROW_NAMES.fullmatch(name) is not None


def repeated_name_error(
    name: str, names: Sequence[str], label: str, advice: str, argument: str | None = None
) -> DataError:
    """An error about a name that several columns of the table `label` have."""
    places = [str(position + 1) for position, other in enumerate(names) if other == name]
    return DataError(
        f"{label!r} has the column {quoted(name)} more than once (columns {' and '.join(places)})",
        argument=argument,
        advice=advice,
    )


class TableBlock(NamedTuple):
    """Consecutive rows.

    Attributes
    ----------
    start
        Number of the first row in the table, counted from 0.
    x
        Columns (n,) by name: numbers with NaN for gaps, or text as objects with None for gaps.
    kept
        Arrow arrays by name, as they stand in the file.
    position
        How much of `TableFile.size` has been read.
    """

    start: int
    x: dict[str, NDArray[Any]]
    kept: dict[str, Any]
    position: int


class ArrowBatch(NamedTuple):
    """Arrow arrays by name, how many rows they have, and how much of `TableFile.size` has been read after them."""

    arrays: dict[str, Any]
    n_rows: int
    position: int


class TableFile(ABC):
    """A table whose rows are not read yet.

    Attributes
    ----------
    path, names
        The file, and all its columns in order.
    size
        How long it is, in the unit of `TableBlock.position`.
    missing
        Values that stand for gaps.
    """

    # Whether dates are text, so that how they are written may have to be said.
    is_text: ClassVar[bool] = False
    path: Path
    names: list[str]
    size: int
    missing: GapMarkers

    @property
    @abstractmethod
    def description(self) -> str:
        """How the table is written down."""

    @abstractmethod
    def columns(self, names: Sequence[str], *, as_text: Collection[str]) -> Iterator[tuple[str, ColumnBuilder]]:
        """Whole columns with their names, in types that are inferred; those `as_text` are text whatever they hold.

        Each may be freed once the next is asked for.
        """

    def blocks(
        self,
        *,
        numbers: Collection[str] = (),
        text: Collection[str] = (),
        kept: Collection[str] = (),
        rows: int = _ROWS,
    ) -> Iterator[TableBlock]:
        """The rows in order, at most `rows` of them at a time; at least one, or it is an error.

        The types of columns are given and not inferred: what the first block shows could be wrong in the last.

        Parameters
        ----------
        numbers
            Columns to read as numbers; anything else is an error, with its place.
        text
            Columns to read as categories: of a text file as they stand, with leading zeros.
        kept
            Columns to hand through, of a text file as text; they may be among the others.
        rows
            Most rows of a block.
        """
        check("rows", rows, WholeNumber(1))
        wanted = list(dict.fromkeys((*numbers, *text, *kept)))
        for name in wanted:
            self.require(name)
        start = 0
        for batch in self._batches(wanted, rows):
            x = {}
            with self.located(start):
                for name in (*numbers, *text):
                    x[name] = self._values(batch.arrays[name], name, number=name in numbers)
            yield TableBlock(start, x, {name: batch.arrays[name] for name in kept}, batch.position)
            start += batch.n_rows
        if not start:
            raise self.no_rows_error()

    def copy_rows(self, parts: NDArray[np.intp], files: Sequence[IO[bytes]]) -> None:
        """Write each row, as it is written here, into one of several files of the same format.

        Parameters
        ----------
        parts
            Position of the file of each row (n,).
        files
            What to write to; each gets the header, too.
        """
        raise DataError(
            f"{str(self.path)!r} has rows that cannot be copied as they are written",
            advice="Save the table as CSV or Parquet.",
        )

    def require(self, name: str, argument: str = "columns") -> None:
        """Raise unless there is exactly one column of that name."""
        with self.located():
            require_column(name, self.names, argument)
        if self.names.count(name) > 1:
            raise repeated_name_error(name, self.names, str(self.path), "Rename one of them.")

    def no_rows_error(self) -> DataError:
        """An error about a table that is empty."""
        return DataError(f"{str(self.path)!r} has a header but no rows", advice="Give at least one.")

    def describe_unseen_markers(self) -> str:
        """Which values named as gaps none of the columns read so far holds, for they may be misspelt; else empty."""
        if not self.missing.unseen:
            return ""
        values = listed(self.missing.unseen, 5)
        return f"{str(self.path)!r} does not hold {values}, named as missing: check how gaps are written."

    @abstractmethod
    def as_numbers(self, values: NDArray[Any], name: str, *, mixed: bool) -> NDArray[Any]:
        """A column of text as numbers if it was meant so; `mixed`: where some values are."""

    @abstractmethod
    def line_of(self, row: int) -> int | None:
        """Line of the file in which a row begins, counted from 1; None if there are no lines."""

    @contextmanager
    def located(self, start: int = 0) -> Iterator[None]:
        """Errors about rows counted from `start`, with the file's name and the place in the file."""
        try:
            yield
        except (DataError, ParameterError, UnknownNameError) as error:
            row = None if error.row is None else start + error.row
            line = None if row is None else self.line_of(row)
            raise error.in_file(str(self.path), row=row, line=line) from None

    @abstractmethod
    def _batches(self, names: Sequence[str], rows: int) -> Iterator[ArrowBatch]:
        """The rows of some columns, at most `rows` at a time."""

    @abstractmethod
    def _values(self, piece: Any, name: str, *, number: bool) -> NDArray[Any]:
        """A column of a block as numpy has it."""
