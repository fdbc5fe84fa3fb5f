"""Parquet read column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from aldsurv.errors import DataError
from aldsurv.quoting import quoted
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow, open_arrow_file

__all__ = ["parquet_columns"]


def parquet_columns(path: Path, choose: Callable[[list[str]], list[str]]) -> Iterator[tuple[str, ColumnBuilder]]:
    """Names and columns, each read when it is asked for; `choose` is called with all names and says which."""
    arrow = import_arrow("pyarrow")
    parquet = import_arrow("pyarrow.parquet")
    try:
        # Read ahead, all columns would be in memory as they are in the file, too.
        file = parquet.ParquetFile(open_arrow_file(path), pre_buffer=False)
        schema = file.schema_arrow
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from None
    for name in choose(schema.names):
        builder = ColumnBuilder(schema.field(name).type, f"column {quoted(name)}")
        try:
            for batch in file.iter_batches(columns=[name]):
                # Arrow takes a name for the beginning of a path, too: "a" also asks for "a.b".
                builder.add(batch.column(batch.schema.get_field_index(name)))
        except (arrow.ArrowException, OSError) as error:
            raise _damaged(path, error) from None
        yield name, builder


def _damaged(path: Path, error: Exception) -> DataError:
    if isinstance(error, MemoryError):
        raise error
    told = " ".join(str(error).split())[:200]
    return DataError(f"{str(path)!r} begins like a Parquet file, but is damaged ({told}). Copy or write it again.")
