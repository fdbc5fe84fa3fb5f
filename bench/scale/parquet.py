"""Drawn tables as folders of Parquet files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.scale.drawn_rows import Block, blocks

__all__ = ["EVENT", "TIME", "write_parquet"]

TIME, EVENT = "time", "event"
_ROW_GROUP = 2**17


def write_parquet(
    folder: Path,
    rows: int,
    columns: int,
    seed: int,
    *,
    rows_per_file: int = 2**20,
    law: str = "log-normal",
    text: bool = False,
) -> list[Path]:
    """Write a drawn table, one file of `rows_per_file` rows after the other; return the files in order.

    Each file holds the columns, `TIME` and `EVENT` (bool). A file that is there with as many rows is kept: an
    interrupted call goes on. No more than one file's rows are in memory.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for block in blocks(rows, columns, seed, rows_per_file, law=law, text=text):
        path = folder / f"part-{block.first_row // rows_per_file:05d}.parquet"
        if not (path.exists() and pq.read_metadata(path).num_rows == len(block.y)):
            part = path.with_suffix(".part")
            pq.write_table(as_arrow(block), part, row_group_size=_ROW_GROUP)
            part.replace(path)
        written.append(path)
    return written


def as_arrow(block: Block) -> pa.Table:
    """Columns, times and events of a block."""
    return pa.table({**block.x, TIME: block.y.time, EVENT: block.y.event})
