"""Tables in text files: as a whole in the type that each column needs, or block by block as text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from typing import IO, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow, open_arrow_file
from aldsurv.tables.gap_markers import GapMarkers
from aldsurv.tables.parse_numbers import parse_numbers
from aldsurv.tables.table_file import ArrowBatch, TableFile
from aldsurv.tables.table_format import DELIMITERS, TextFormat
from aldsurv.tables.text_column import text_numbers

__all__ = ["MISSING", "TextFile"]

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "Null", ".", "?")

# Bytes that are read and split at once. A record must fit into such a piece: where one does not, the larger size is
# tried.
_PIECES = (1 << 20, 1 << 26)
# The same where rows are handed out in blocks: for each column, some thousand rows, and the most of all columns. Arrow
# reads several pieces ahead.
_PIECE_PER_COLUMN, _LARGEST_PIECE = 1 << 15, 1 << 24
_ROWS = 1 << 16
# Reading once more in another type costs a pass; after so many passes Arrow finds the types by itself,
# for which it keeps all of the text in memory until the end.
_MOST_PASSES = 6
_CONVERSION = re.compile(r"In CSV column #(\d+): .*CSV conversion error to ([a-z]+)")


@final
class TextFile(TableFile):
    """A text file; its size is the number of its bytes.

    Parameters
    ----------
    text_format
        How it is written down.
    missing
        Values that stand for gaps, beside `MISSING`.
    """

    is_text: ClassVar[bool] = True

    def __init__(self, text_format: TextFormat, missing: GapMarkers) -> None:
        # Half of the rows cannot be read in another encoding: it must be right to the end.
        self._format = text_format.in_its_encoding()
        self.path = text_format.path
        self.size = self.path.stat().st_size
        self.missing, self._gaps = missing, [*MISSING, *missing.texts]
        for piece in _PIECES:
            try:
                self.names = list(self._open(piece).schema.names)
                return
            except _failures() as error:  # noqa: PERF203
                self._raise_unless_too_long(error, piece)

    @property
    def description(self) -> str:
        """Delimiter, decimal mark, encoding, and whether it is gzipped."""
        delimiter = DELIMITERS.get(self._format.delimiter, repr(self._format.delimiter))
        mark = "comma" if self._format.decimal == "," else "point"
        zipped = ", gzipped" if self._format.compressed else ""
        return f"text, delimiter {delimiter}, decimal {mark}, {self._format.encoding}{zipped}"

    def columns(self, names: Sequence[str], *, as_text: Collection[str]) -> Iterator[tuple[str, ColumnBuilder]]:
        """Whole columns in the types that the text shows; each is forgotten here when it is handed out."""
        builders = self._builders(names, as_text)
        if self.missing:
            self._look_for_markers(names)
        for name in names:
            yield name, builders.pop(name)

    def as_numbers(self, values: NDArray[Any], name: str, *, mixed: bool) -> NDArray[Any]:
        """A column of text as numbers if all of it is, and if `mixed`, those of its values that are."""
        return parse_numbers(values, name, self._format.decimal, mixed=mixed)

    def copy_rows(self, parts: NDArray[np.intp], files: Sequence[IO[bytes]]) -> None:
        """Write each row into one of several files, in this encoding, with its quotation marks and ends of lines."""
        encoding = self._format.encoding
        texts = [io.TextIOWrapper(file, encoding, newline="") for file in files]
        records = self._format.records_as_written()
        header = next(records)
        end = header[len(header.rstrip("\r\n")) :] or "\n"
        for text in texts:
            text.write(header)
        try:
            for part, record in zip(parts.tolist(), records, strict=True):
                # The last one may have no end.
                texts[part].write(record if record.endswith(("\n", "\r")) else record + end)
        except (csv.Error, ValueError):
            problem = f"{str(self.path)!r} has rows of which it is not clear where they end"
            raise DataError(problem, advice="Close quotation marks, or save the table as Parquet.") from None
        for text in texts:
            text.flush()
            text.detach()

    def line_of(self, row: int) -> int | None:
        """Line in which a row begins; None if the file is too damaged to know."""
        return self._format.line_of(row)

    def _builders(self, names: Sequence[str], as_text: Collection[str]) -> dict[str, ColumnBuilder]:
        text = import_arrow("pyarrow").string()
        for piece in _PIECES:
            try:
                # The first piece shows the types.
                schema = self._open(piece).schema
                types = {name: text if name in as_text else self._wider(schema.field(name).type) for name in names}
                return self._read_whole(types, piece)
            except _failures() as error:  # noqa: PERF203
                self._raise_unless_too_long(error, piece)
        raise AssertionError("the last piece returns or raises")  # pragma: no cover

    def _read_whole(self, types: dict[str, Any], piece: int) -> dict[str, ColumnBuilder]:
        arrow = import_arrow("pyarrow")
        for _ in range(_MOST_PASSES):
            builders = {name: ColumnBuilder(kind, name) for name, kind in types.items()}
            try:
                for batch in self._open(piece, types):
                    for builder, values in zip(builders.values(), batch.columns, strict=True):
                        builder.add(values)
            except arrow.ArrowInvalid as error:
                conversion = _CONVERSION.match(str(error))
                if conversion is None or conversion[2] == "string":
                    raise
                # The first piece has not shown all that the column holds.
                name = self.names[int(conversion[1])]
                types[name] = arrow.float64() if types[name] == arrow.int64() else arrow.string()
            else:
                return builders
        return self._read_at_once(types, piece)

    def _read_at_once(self, types: dict[str, Any], piece: int) -> dict[str, ColumnBuilder]:
        text = {name: kind for name, kind in types.items() if kind == import_arrow("pyarrow").string()}
        table = _csv().read_csv(self._stream()[0], **self._options(piece, text, list(types)))
        builders = {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            kind = self._wider(column.type)
            builders[name] = ColumnBuilder(kind, name)
            for values in column.cast(kind).chunks:
                builders[name].add(values)
        return builders

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[ArrowBatch]:
        types = dict.fromkeys(list(names) or self.names[:1], import_arrow("pyarrow").string())
        done = 0
        for piece in (min(_PIECE_PER_COLUMN * len(self.names), _LARGEST_PIECE), _PIECES[-1]):
            try:
                # A record that is longer than a piece: go on behind the rows that are done, in longer ones.
                for batch, position in self._slices(types, rows, piece, done):
                    yield ArrowBatch({name: batch.column(name) for name in names}, batch.num_rows, position)
                    done += batch.num_rows
                return
            except _failures() as error:  # noqa: PERF203
                self._raise_unless_too_long(error, piece)

    def _slices(self, types: dict[str, Any], rows: int, piece: int, skip: int) -> Iterator[tuple[Any, int]]:
        options = self._options(piece, types, list(types))
        # Gaps are looked for later: columns that are handed through stay as they are written.
        options["convert_options"].strings_can_be_null = False
        text, file = self._stream()
        for batch in _csv().open_csv(text, **options):
            first, skip = min(skip, batch.num_rows), max(0, skip - batch.num_rows)
            for start in range(first, batch.num_rows, rows):
                yield batch.slice(start, rows), file.tell()

    def _look_for_markers(self, names: Sequence[str]) -> None:
        """Notice which values that stand for gaps occur: Arrow puts gaps in their place without saying so."""
        for batch in self._batches(names, _ROWS):
            for piece in batch.arrays.values():
                self.missing.look_for_text(piece)
            if not self.missing.unseen:
                return

    def _values(self, piece: Any, name: str, *, number: bool) -> NDArray[Any]:
        self.missing.look_for_text(piece)
        if number:
            return self.missing.without(text_numbers(piece, name, self._format.decimal, self._gaps))
        arrow, compute = import_arrow("pyarrow"), import_arrow("pyarrow.compute")
        gaps = compute.is_in(piece, value_set=arrow.array(self._gaps))
        builder = ColumnBuilder(piece.type, name)
        builder.add(compute.if_else(gaps, arrow.scalar(None, piece.type), piece))
        return self.missing.without(builder.finish())

    def _open(self, piece: int, types: dict[str, Any] | None = None) -> Any:
        """Arrow's reader of some columns in these types; without types, of all columns in those of the first piece."""
        columns = None if types is None else list(types)
        return _csv().open_csv(self._stream()[0], **self._options(piece, types, columns))

    def _stream(self) -> tuple[Any, Any]:
        """The text for Arrow to read, and the file below it, which knows how far it has been read.

        Neither is to be closed: Arrow reads ahead in threads of its own, which would then go on with the next file
        that gets the number of the closed one, and rows of that would be missing. Arrow closes it when nothing reads
        any more.
        """
        file = open_arrow_file(self.path)
        compressed = self._format.compressed
        return (import_arrow("pyarrow").CompressedInputStream(file, "gzip") if compressed else file), file

    def _options(self, piece: int, types: dict[str, Any] | None, columns: list[str] | None) -> dict[str, Any]:
        encoding = "utf8" if self._format.encoding in ("utf-8", "utf-8-sig") else self._format.encoding
        return {
            "read_options": _csv().ReadOptions(block_size=piece, encoding=encoding),
            "parse_options": _csv().ParseOptions(delimiter=self._format.delimiter, newlines_in_values=True),
            "convert_options": _csv().ConvertOptions(
                column_types=types,
                include_columns=columns,
                decimal_point=self._format.decimal,
                null_values=self._gaps,
                strings_can_be_null=True,
                true_values=["true", "True", "TRUE"],
                false_values=["false", "False", "FALSE"],
            ),
        }

    def _wider(self, kind: Any) -> Any:
        """The type of a column of which the first piece is known."""
        arrow, types = import_arrow("pyarrow"), import_arrow("pyarrow.types")
        if types.is_binary(kind):
            raise self._encoding_error()
        if types.is_null(kind):
            return arrow.float64()
        # A time of day is no number here; Arrow makes one of "12:30".
        return arrow.string() if types.is_time(kind) else kind

    def _raise_unless_too_long(self, error: Exception, piece: int) -> None:
        """Say what is wrong with the file, unless a record was too long for this piece and there is a larger one."""
        cause, path = str(error), str(self.path)
        if isinstance(error, MemoryError):
            raise error
        if "straddling" in cause:
            if piece < _PIECES[-1]:
                return
            problem = f"{path!r} has a line of more than {_PIECES[-1]} bytes"
            raise DataError(problem, advice="Is a quotation mark left open?") from None
        if "invalid UTF8" in cause or isinstance(error, UnicodeError):
            raise self._encoding_error() from None
        if "Expected" in cause and "columns, got" in cause:
            raise self._ragged_rows_error() from None
        if "Empty CSV" in cause:
            raise self.no_rows_error() from None
        if isinstance(error, OSError) and not self._format.compressed:
            raise error
        raise DataError(f"{path!r} cannot be read as a table: {' '.join(cause.split())[:200]}.") from None

    def _encoding_error(self) -> DataError:
        problem = f"{str(self.path)!r} is not text in {self._format.encoding}"
        return DataError(problem, argument="encoding", advice="Name its encoding.")

    def _ragged_rows_error(self) -> DataError:
        """An error about the first row that has not as many fields as the header."""
        path, width, previous = str(self.path), None, None
        try:
            for line, fields in self._format.records():
                if width is None:
                    width = len(fields)
                elif len(fields) != width:
                    count = f"{len(fields)} field{'s' * (len(fields) != 1)}"
                    advice = "Quote fields that hold the delimiter, close quotation marks, or name another delimiter."
                    if previous is None and len(fields) == width + 1:
                        advice = "If rows begin with a name, give that column a name in the header."
                    problem = f"{path!r} has {count} in line {line}, but {width} in its header"
                    return DataError(problem, argument="delimiter", advice=advice)
                else:
                    previous = line
        except csv.Error:
            problem = f"{path!r} has a field of more than {csv.field_size_limit()} characters"
            return DataError(problem, advice="Is a quotation mark left open?")
        problem = f"{path!r} has rows of different lengths"
        return DataError(problem, advice="Give every row as many fields as the header has.")


def _csv() -> Any:
    return import_arrow("pyarrow.csv")


def _failures() -> tuple[type[Exception], ...]:
    """What reading by Arrow may raise."""
    return import_arrow("pyarrow").ArrowException, UnicodeError, OSError
