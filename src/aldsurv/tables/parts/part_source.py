"""Where the rows of one part of a table come from: a file, a fragment of a dataset, a partition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from numpy.typing import NDArray

from aldsurv.errors import DataError
from aldsurv.tables.arrow_columns import import_arrow, piece_values
from aldsurv.tables.gap_markers import GapMarkers
from aldsurv.tables.parquet_file import ParquetFile
from aldsurv.tables.table_format import file_kind

__all__ = ["DatasetFragment", "FilePart", "FramePart", "PartSource"]


class PartSource(ABC):
    """Rows that are read on request; it can be pickled.

    Attributes
    ----------
    label
        What messages call it.
    n_rows
        How many rows it has.
    """

    label: str
    n_rows: int

    @abstractmethod
    def types(self) -> dict[str, Any]:
        """The type of Arrow of each column, in their order."""

    @abstractmethod
    def read(self, names: Sequence[str], rows: int, missing: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Columns as numpy has them, at most so many rows at a time, without the values that stand for gaps."""


@final
@dataclass(frozen=True)
class FilePart(PartSource):
    """A Parquet file.

    Attributes
    ----------
    path
        Where it is.
    n_rows
        How many rows it has.
    """

    path: Path
    n_rows: int

    @classmethod
    def of(cls, path: Path) -> FilePart:
        """Open a file; an error if it is none, or damaged."""
        if file_kind(path) != "parquet":
            raise DataError(
                f"{str(path)!r} is no Parquet file",
                argument="source",
                advice="Write the table as Parquet: only such files are read in parts.",
            )
        return cls(path, ParquetFile(path, GapMarkers(())).size)

    @property
    def label(self) -> str:  # type: ignore[override]
        """The path."""
        return str(self.path)

    def types(self) -> dict[str, Any]:
        """Those in the file."""
        return ParquetFile(self.path, GapMarkers(())).types

    def read(self, names: Sequence[str], rows: int, missing: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Column by column, without a whole row group in memory."""
        for block in ParquetFile(self.path, GapMarkers(missing)).blocks(text=names, rows=rows):
            yield block.x


@final
@dataclass(frozen=True)
class DatasetFragment(PartSource):
    """A fragment of a dataset of pyarrow.

    Attributes
    ----------
    fragment, schema
        The fragment, and the schema of the dataset, which may have columns that folders are named after.
    label, n_rows
        Its path, and how many rows it has.
    """

    fragment: Any
    schema: Any
    label: str
    n_rows: int

    def types(self) -> dict[str, Any]:
        """Those of the fragment, and for columns of folders those of the dataset."""
        own = self.fragment.physical_schema
        inside = dict(zip(own.names, own.types, strict=True))
        of_folders = _partition_columns(self.fragment)
        return {
            name: inside.get(name, kind)
            for name, kind in zip(self.schema.names, self.schema.types, strict=True)
            if name in inside or name in of_folders
        } | inside

    def read(self, names: Sequence[str], rows: int, missing: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """As Arrow scans it."""
        arrow = import_arrow("pyarrow")
        try:
            batches = self.fragment.to_batches(
                schema=self.schema, columns=list(names), batch_size=rows, batch_readahead=1, use_threads=False
            )
            for batch in batches:
                if batch.num_rows:
                    yield _columns_of(batch, names, missing)
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, MemoryError):
                raise
            cause = " ".join(str(error).split())[:200]
            raise DataError(f"{self.label!r} cannot be read ({cause})", advice="Copy or write it again.") from None


@final
@dataclass(frozen=True)
class FramePart(PartSource):
    """A partition of a Dask dataframe, computed when it is read.

    Attributes
    ----------
    partition
        Something with ``compute()`` that gives a pandas frame.
    columns
        The type of Arrow of each column, by the frame's description of itself.
    label, n_rows
        Which partition it is, and how many rows it has.
    """

    partition: Any
    columns: Mapping[str, Any]
    label: str
    n_rows: int

    def types(self) -> dict[str, Any]:
        """Those of the whole frame."""
        return dict(self.columns)

    def read(self, names: Sequence[str], rows: int, missing: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """One partition, which is in memory as a whole while it is read."""
        arrow = import_arrow("pyarrow")
        # Here and now: this may itself run inside a task of a cluster.
        frame = self.partition.compute(scheduler="synchronous")
        try:
            table = arrow.Table.from_pandas(frame[list(names)], preserve_index=False)
        except KeyError as error:
            raise DataError(f"{self.label} has no column {error}", column=str(error.args[0])) from None
        except (arrow.ArrowException, TypeError) as error:
            cause = " ".join(str(error).split())[:200]
            raise DataError(f"{self.label} cannot be read ({cause})") from None
        for batch in table.combine_chunks().to_batches(max_chunksize=rows):
            yield _columns_of(batch, names, missing)


def _columns_of(batch: Any, names: Sequence[str], missing: Sequence[str]) -> dict[str, NDArray[Any]]:
    markers = GapMarkers(missing)
    return {name: markers.without(piece_values(batch.column(name), name)) for name in names}


def _partition_columns(fragment: Any) -> set[str]:
    keys: Any = import_arrow("pyarrow.dataset").get_partition_keys(fragment.partition_expression)
    return set(keys)
