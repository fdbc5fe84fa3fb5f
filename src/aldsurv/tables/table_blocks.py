"""A table of any length gone through block by block, so that memory holds one block and not the table."""

from __future__ import annotations

import codecs
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, final

from numpy.typing import NDArray

from aldsurv.data.outcome_columns import frame_column
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.quoting import quoted
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow, open_arrow_file
from aldsurv.tables.csv_columns import _BLOCKS, MISSING, _csv, _NotUtf8Error, _options, _refuse, open_text
from aldsurv.tables.parquet_columns import _damaged
from aldsurv.tables.table_format import TextFormat, _open, is_parquet, text_format
from aldsurv.tables.text_column import text_numbers

__all__ = ["TableBlock", "TableBlocks", "read_blocks"]

_ROWS = 1 << 16
_ROW = re.compile(r"\b(first: |but |in )row (\d+)\b")
# Bytes of text for each column that are read and split at once, some thousand rows, and the most of all columns:
# Arrow reads several such blocks ahead.
_TEXT_PER_COLUMN, _TEXT_BLOCK = 1 << 15, 1 << 24
_PARQUET_BUFFER = 1 << 20
_SCAN = 1 << 22


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
        How much of `TableBlocks.size` has been read.
    """

    start: int
    x: dict[str, NDArray[Any]]
    kept: dict[str, Any]
    position: int


class TableBlocks(ABC):
    """A table whose rows are not read yet.

    Attributes
    ----------
    path, names
        The file, and all its columns in order.
    size
        How long it is, in the unit of `TableBlock.position`.
    """

    path: Path
    names: list[str]
    size: int

    def blocks(
        self,
        *,
        numbers: Collection[str] = (),
        text: Collection[str] = (),
        kept: Collection[str] = (),
        rows: int = _ROWS,
    ) -> Iterator[TableBlock]:
        """The rows in order, at most `rows` of them at a time; at least one, or it is an error.

        What a column holds is said and not guessed, since a guess from the first block could be wrong in the last.

        Parameters
        ----------
        numbers
            Columns to read as numbers; what is none is refused, with its place.
        text
            Columns to read as categories: of a text file as they stand, with leading zeros.
        kept
            Columns to hand through, of a text file as text; they may be among the others.
        rows
            Most rows of a block.
        """
        if rows < 1:
            raise ParameterError(f"rows must be at least 1, but is {rows}.")
        wanted = list(dict.fromkeys((*numbers, *text, *kept)))
        for name in wanted:
            self.require(name)
        start = 0
        for arrays, length, position in self._pieces(wanted, rows):
            x = {name: self._values(arrays[name], name, start, number=name in numbers) for name in (*numbers, *text)}
            yield TableBlock(start, x, {name: arrays[name] for name in kept}, position)
            start += length
        if not start:
            raise DataError(f"{str(self.path)!r} has a header but no rows. Give at least one.")

    def require(self, name: str) -> None:
        """Raise unless there is exactly one column of that name."""
        try:
            frame_column(dict.fromkeys(self.names), name)
        except UnknownNameError as error:
            raise UnknownNameError(f"{str(self.path)!r}: {error}") from None
        if self.names.count(name) > 1:
            at = [str(position + 1) for position, known in enumerate(self.names) if known == name]
            raise DataError(
                f"{str(self.path)!r} has the column {quoted(name)} more than once (columns {' and '.join(at)}). "
                "Rename one of them."
            )

    @abstractmethod
    def place(self, row: int) -> str:
        """What messages call a row of the table."""

    @contextmanager
    def located(self, start: int) -> Iterator[None]:
        """Errors about rows of a block that begins at `start`, with the file's name and the place in the file."""
        try:
            yield
        except (DataError, ParameterError, UnknownNameError) as error:
            told = _ROW.sub(lambda match: f"{match[1]}{self.place(start + int(match[2]))}", str(error), count=1)
            raise DataError(f"{str(self.path)!r}: {told}") from None

    @abstractmethod
    def _pieces(self, wanted: Sequence[str], rows: int) -> Iterator[tuple[dict[str, Any], int, int]]:
        """Arrow arrays by name, how many rows they have, and the position after them."""

    @abstractmethod
    def _values(self, piece: Any, name: str, start: int, *, number: bool) -> NDArray[Any]:
        """A column as numpy has it."""


@final
class _ParquetBlocks(TableBlocks):
    def __init__(self, path: Path) -> None:
        arrow, parquet = import_arrow("pyarrow"), import_arrow("pyarrow.parquet")
        self.path = path
        try:
            # With a buffer, a row group as long as the table is not read as a whole.
            self._file = parquet.ParquetFile(open_arrow_file(path), pre_buffer=False, buffer_size=_PARQUET_BUFFER)
            self.names, self.size = list(self._file.schema_arrow.names), self._file.metadata.num_rows
        except (arrow.ArrowException, OSError) as error:
            raise _damaged(path, error) from None

    def place(self, row: int) -> str:
        return f"row {row}"

    def _pieces(self, wanted: Sequence[str], rows: int) -> Iterator[tuple[dict[str, Any], int, int]]:
        arrow, done = import_arrow("pyarrow"), 0
        try:
            # Without any column there would be no telling how many rows a batch has.
            for batch in self._file.iter_batches(batch_size=rows, columns=list(wanted) or self.names[:1]):
                # Arrow takes a name for the beginning of a path, too: "a" also asks for "a.b".
                arrays = {name: batch.column(batch.schema.get_field_index(name)) for name in wanted}
                done += batch.num_rows
                if batch.num_rows:
                    yield arrays, batch.num_rows, done
        except (arrow.ArrowException, OSError) as error:
            raise _damaged(self.path, error) from None

    def _values(self, piece: Any, name: str, start: int, *, number: bool) -> NDArray[Any]:
        builder = ColumnBuilder(piece.type, f"column {quoted(name)}")
        builder.add(piece)
        with self.located(start):
            return builder.finish()


@final
class _TextBlocks(TableBlocks):
    def __init__(self, found: TextFormat, missing: Sequence[str]) -> None:
        self._found, self.path = _in_its_encoding(found), found.path
        self.size = self.path.stat().st_size
        self._gaps = [*MISSING, *missing]
        arrow = import_arrow("pyarrow")
        for block in _BLOCKS:
            try:
                options = _options(self._found, self._gaps, block=block)
                self.names = list(_csv().open_csv(open_text(self._found)[0], **options).schema.names)
                return
            except (arrow.ArrowException, UnicodeError, OSError) as error:  # noqa: PERF203
                if "straddling" not in str(error) or block == _BLOCKS[-1]:
                    self._fail(error)

    def place(self, row: int) -> str:
        line = self._found.line_of(row)
        return f"row {row}" if line is None else f"line {line}"

    def _pieces(self, wanted: Sequence[str], rows: int) -> Iterator[tuple[dict[str, Any], int, int]]:
        arrow, done = import_arrow("pyarrow"), 0
        for block in (min(_TEXT_PER_COLUMN * len(self.names), _TEXT_BLOCK), _BLOCKS[-1]):
            try:
                for piece, position in self._batches(wanted, rows, block, done):
                    yield {name: piece.column(name) for name in wanted}, piece.num_rows, position
                    done += piece.num_rows
                return
            except (arrow.ArrowException, UnicodeError, OSError) as error:  # noqa: PERF203
                # A record that is longer than a block: go on behind the rows that are done, in longer ones.
                if "straddling" not in str(error) or block == _BLOCKS[-1]:
                    self._fail(error)

    def _batches(self, wanted: Sequence[str], rows: int, block: int, skip: int) -> Iterator[tuple[Any, int]]:
        columns = list(wanted) or self.names[:1]
        types = dict.fromkeys(columns, import_arrow("pyarrow").string())
        options = _options(self._found, self._gaps, block=block, types=types, columns=columns)
        # Gaps are found later: what is handed through stays as it stands.
        options["convert_options"].strings_can_be_null = False
        stream, raw = open_text(self._found)
        for batch in _csv().open_csv(stream, **options):
            first, skip = min(skip, batch.num_rows), max(0, skip - batch.num_rows)
            for start in range(first, batch.num_rows, rows):
                yield batch.slice(start, rows), raw.tell()

    def _values(self, piece: Any, name: str, start: int, *, number: bool) -> NDArray[Any]:
        label = f"column {quoted(name)}"
        if number:
            with self.located(start):
                return text_numbers(piece, label, self._found.decimal, self._gaps)
        arrow, compute = import_arrow("pyarrow"), import_arrow("pyarrow.compute")
        gaps = compute.is_in(piece, value_set=arrow.array(self._gaps))
        builder = ColumnBuilder(piece.type, label)
        builder.add(compute.if_else(gaps, arrow.scalar(None, piece.type), piece))
        return builder.finish()

    def _fail(self, error: Exception) -> None:
        try:
            _refuse(self._found, error)
        except _NotUtf8Error:
            encoding = self._found.encoding
            raise DataError(f"{str(self.path)!r} is not text in {encoding}. Name its encoding.") from None


def read_blocks(
    path: str | os.PathLike[str],
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> TableBlocks:
    r"""Open a CSV, TSV or Parquet file to be gone through block by block; text may be gzipped.

    The parameters are those of `read_table`, which reads a table as a whole.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "people.csv"
    >>> _ = path.write_text("age,grade\n61,II\n48,III\n55,I\n")
    >>> for block in read_blocks(path).blocks(numbers=["age"], text=["grade"], rows=2):
    ...     print(block.x["age"], list(block.x["grade"]))
    [61. 48.] ['II', 'III']
    [55.] ['I']
    """
    if isinstance(missing, str) or not all(isinstance(name, str) for name in missing):
        raise ParameterError(f"missing must be a list of text, but is {quoted(missing)}.")
    source = Path(path)
    if is_parquet(source):
        return _ParquetBlocks(source)
    import_arrow("pyarrow")
    return _TextBlocks(text_format(source, delimiter=delimiter, decimal=decimal, encoding=encoding), missing)


def _in_its_encoding(found: TextFormat) -> TextFormat:
    """The format with an encoding that holds to the end: half of the rows cannot be read in another one."""
    if found.named or found.encoding != "utf-8":
        return found
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _open(found.path, found.compressed) as raw:
        try:
            while chunk := raw.read(_SCAN):
                decoder.decode(chunk)
        except UnicodeDecodeError:
            return found.in_western_encoding()
        except (EOFError, OSError):
            # Damaged further on: the reader says so.
            return found
    return found
