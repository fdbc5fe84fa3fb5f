"""Files of predictions: written block by block, and given their name only when they are complete."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast, final

from aldsurv.errors import DataError, ParameterError
from aldsurv.files.writing import whole_file

__all__ = ["ALL_DIGITS", "FORMATS", "RowWriter", "output_file", "output_format", "writes_to_terminal"]

FORMATS = ("csv", "parquet", "jsonl")
# So many digits tell any two numbers apart.
ALL_DIGITS = 17

# Rows of a group in a Parquet file: what readers take in at once.
_GROUP = 1 << 19
_SPECIAL = '[",\\r\\n]'
_ESCAPED = r'[\x00-\x1f"\\]'


def output_format(path: Path | None, chosen: str | None) -> str:
    """The format that was chosen, else the one that the name of the file ends in; CSV without a file."""
    if chosen is not None:
        return chosen
    if path is None:
        return "csv"
    name = path.name.lower().removesuffix(".gz")
    for form in FORMATS:
        if name.endswith(f".{form}"):
            return form
    raise ParameterError(
        f"--out must end in .csv, .csv.gz, .parquet or .jsonl, but is {str(path)!r}. Rename it, or give --format csv."
    )


@contextmanager
def output_file(path: Path | None) -> Iterator[IO[bytes]]:
    """A file to write to, which has its name only if the block ends well; without a path standard output."""
    if path is None:
        stream = sys.stdout.buffer
        yield stream
        stream.flush()
        return
    with whole_file(path, durable=True) as plain, _zipped(plain, path) as file:
        yield file


@contextmanager
def _zipped(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    if path.suffix.lower() != ".gz":
        yield file
        return
    # Without a name and a time in it the same rows give the same file.
    with gzip.GzipFile("", "wb", 5, file, mtime=0) as zipped:
        yield cast("IO[bytes]", zipped)


class RowWriter(ABC):
    """Writes batches of rows that have all the same columns."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    @staticmethod
    def of(form: str, file: IO[bytes]) -> RowWriter:
        """A writer of the format."""
        made: dict[str, Callable[[IO[bytes]], RowWriter]] = {
            "csv": _CsvWriter,
            "parquet": _ParquetWriter,
            "jsonl": _JsonLinesWriter,
        }
        return made[form](file)

    @abstractmethod
    def write(self, batch: Any) -> None:
        """Append a record batch of Arrow."""

    @abstractmethod
    def finish(self) -> None:
        """Write what is left: the file is not complete before."""


@final
class _CsvWriter(RowWriter):
    _begun = False

    def write(self, batch: Any) -> None:
        import pyarrow as arrow
        import pyarrow.csv as arrow_csv

        if not self._begun:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerow(batch.schema.names)
            self._file.write(text.getvalue().encode())
            self._begun = True
        plain = arrow.record_batch([_writable(column) for column in batch.columns], names=batch.schema.names)
        # Arrow either quotes all text or none.
        style = "needed" if any(_matches(column, _SPECIAL) for column in plain.columns) else "none"
        buffer = arrow.BufferOutputStream()
        arrow_csv.write_csv(plain, buffer, arrow_csv.WriteOptions(include_header=False, quoting_style=style))
        self._file.write(buffer.getvalue())
        self._file.flush()

    def finish(self) -> None:
        """Nothing is left."""


@final
class _JsonLinesWriter(RowWriter):
    def write(self, batch: Any) -> None:
        import pyarrow as arrow
        import pyarrow.compute as compute

        parts: list[Any] = []
        for position, (name, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
            parts += [f"{', ' if position else '{'}{json.dumps(name)}: ", _json(column)]
        lines = compute.binary_join_element_wise(*parts, "}", "")
        # One value after the other is how Arrow lays out text: joined by the ends of lines it is the file.
        whole = arrow.ListArray.from_arrays(arrow.array([0, len(lines)], arrow.int32()), lines)
        self._file.write(compute.binary_join(whole, "\n")[0].as_buffer())
        self._file.write(b"\n")
        self._file.flush()

    def finish(self) -> None:
        """Nothing is left."""


@final
class _ParquetWriter(RowWriter):
    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._writer: Any = None
        self._waiting: list[Any] = []

    def write(self, batch: Any) -> None:
        import pyarrow as arrow
        import pyarrow.parquet as parquet

        if self._writer is None:
            # Numbers that all differ gain nothing from a dictionary of them.
            coded = [field.name for field in batch.schema if not arrow.types.is_floating(field.type)]
            self._writer = parquet.ParquetWriter(self._file, batch.schema, use_dictionary=coded)
        self._waiting.append(batch)
        if sum(waiting.num_rows for waiting in self._waiting) >= _GROUP:
            self._write_group()

    def finish(self) -> None:
        if self._writer is not None:
            self._write_group()
            self._writer.close()

    def _write_group(self) -> None:
        import pyarrow as arrow

        if self._waiting:
            self._writer.write_table(arrow.Table.from_batches(self._waiting))
            self._waiting = []


def _writable(column: Any) -> Any:
    """A column of a type that can be written as text; others raise `DataError`."""
    import pyarrow as arrow

    kind = column.type
    if arrow.types.is_dictionary(kind):
        return _writable(column.dictionary_decode())
    if arrow.types.is_string_view(kind):
        # Arrow neither searches nor joins text of this kind.
        return column.cast(arrow.large_string())
    if (
        arrow.types.is_binary_view(kind)
        or arrow.types.is_nested(kind)
        or arrow.types.is_binary(kind)
        or arrow.types.is_large_binary(kind)
    ):
        raise DataError(
            f"a kept column holds {kind}, which is neither numbers nor text. Keep others, or write Parquet."
        )
    return column


def _is_text(kind: Any) -> bool:
    import pyarrow as arrow

    return bool(arrow.types.is_string(kind) or arrow.types.is_large_string(kind) or arrow.types.is_string_view(kind))


def _matches(column: Any, pattern: str) -> bool:
    import pyarrow.compute as compute

    return _is_text(column.type) and bool(compute.any(compute.match_substring_regex(column, pattern)).as_py())


def _json(column: Any) -> Any:
    """The values of a column as JSON has them; numbers that JSON does not have are null."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    column = _writable(column)
    if arrow.types.is_floating(column.type):
        finite = compute.if_else(compute.is_finite(column), column, arrow.scalar(None, column.type))
        written = compute.cast(finite, arrow.string())
    elif arrow.types.is_integer(column.type) or arrow.types.is_boolean(column.type):
        written = compute.cast(column, arrow.string())
    else:
        text = compute.cast(column, arrow.string())
        if _matches(text, _ESCAPED):
            pieces = [None if value is None else json.dumps(value, ensure_ascii=False) for value in text.to_pylist()]
            written = arrow.array(pieces, arrow.string())
        else:
            written = compute.binary_join_element_wise('"', text, '"', "")
    return compute.fill_null(written, "null")


def writes_to_terminal(path: Path | None) -> bool:
    """Whether rows go to a terminal."""
    return path is None and bool(sys.stdout) and sys.stdout.isatty()
