"""Tables in Parquet files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow, open_arrow_file, piece_values
from aldsurv.tables.gap_markers import GapMarkers
from aldsurv.tables.table_file import ArrowBatch, TableFile

__all__ = ["ParquetFile"]

_BUFFER = 1 << 20
_ROWS, _COPIED_ROWS = 1 << 16, 1 << 19


@final
class ParquetFile(TableFile):
    """A Parquet file; its size is the number of its rows.

    Parameters
    ----------
    path
        The file.
    missing
        Values that stand for gaps.
    """

    def __init__(self, path: Path, missing: GapMarkers) -> None:
        arrow, parquet = import_arrow("pyarrow"), import_arrow("pyarrow.parquet")
        self.path, self.missing = path, missing
        try:
            # With a buffer and without reading ahead, neither all columns nor a row group as long as the table is in
            # memory as it is in the file.
            self._file = parquet.ParquetFile(open_arrow_file(path), pre_buffer=False, buffer_size=_BUFFER)
            self._schema = self._file.schema_arrow
            self.names, self.size = list(self._schema.names), self._file.metadata.num_rows
        except (arrow.ArrowException, OSError) as error:
            raise self._damage(error) from None

    @property
    def description(self) -> str:
        """The name of the format."""
        return "Parquet"

    @property
    def types(self) -> dict[str, Any]:
        """The type of Arrow of each column."""
        return dict(zip(self._schema.names, self._schema.types, strict=True))

    def columns(self, names: Sequence[str], *, as_text: Collection[str]) -> Iterator[tuple[str, ColumnBuilder]]:
        """Whole columns in the types of the file, each read when it is asked for."""
        for name in names:
            builder = ColumnBuilder(self._schema.field(name).type, name)
            for batch in self._batches([name], _ROWS):
                builder.add(batch.arrays[name])
            yield name, builder

    def as_numbers(self, values: NDArray[Any], name: str, *, mixed: bool) -> NDArray[Any]:
        """The column as it is: its type says what it was meant as."""
        return values

    def copy_rows(self, parts: NDArray[np.intp], files: Sequence[IO[bytes]]) -> None:
        """Write each row into one of several files with the same schema."""
        arrow, parquet = import_arrow("pyarrow"), import_arrow("pyarrow.parquet")
        writers = [parquet.ParquetWriter(file, self._schema) for file in files]
        start = 0
        try:
            for batch in self._file.iter_batches(batch_size=_COPIED_ROWS):
                here = parts[start : start + batch.num_rows]
                for part, writer in enumerate(writers):
                    writer.write_batch(batch.filter(arrow.array(here == part)))
                start += batch.num_rows
        except (arrow.ArrowException, OSError) as error:
            raise self._damage(error) from None
        finally:
            for writer in writers:
                writer.close()

    def line_of(self, row: int) -> int | None:
        """None: there are no lines."""
        return None

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[ArrowBatch]:
        arrow, position = import_arrow("pyarrow"), 0
        try:
            # Without any column the number of rows of a batch would be unknown.
            for batch in self._file.iter_batches(batch_size=rows, columns=list(names) or self.names[:1]):
                # Arrow takes a name for the beginning of a path, too: "a" also asks for "a.b".
                arrays = {name: batch.column(batch.schema.get_field_index(name)) for name in names}
                position += batch.num_rows
                if batch.num_rows:
                    yield ArrowBatch(arrays, batch.num_rows, position)
        except (arrow.ArrowException, OSError) as error:
            raise self._damage(error) from None

    def _values(self, piece: Any, name: str, *, number: bool) -> NDArray[Any]:
        return self.missing.without(piece_values(piece, name))

    def _damage(self, error: Exception) -> DataError:
        if isinstance(error, MemoryError):
            raise error
        cause = " ".join(str(error).split())[:200]
        return DataError(
            f"{str(self.path)!r} begins like a Parquet file, but is damaged ({cause})",
            advice="Copy or write it again.",
        )
