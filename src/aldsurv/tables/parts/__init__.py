"""Tables in parts that need not be in memory: files of Parquet, datasets of pyarrow, dataframes of Dask."""

from aldsurv.tables.parts.opening import open_table
from aldsurv.tables.parts.parted_table import (
    Block,
    PartedCovariates,
    PartedOutcome,
    PartedTable,
    RowChoice,
    TablePart,
    table_in_parts,
)
from aldsurv.tables.parts.row_sample import SAMPLE_ROWS, RowSample, rank_error

__all__ = [
    "SAMPLE_ROWS",
    "Block",
    "PartedCovariates",
    "PartedOutcome",
    "PartedTable",
    "RowChoice",
    "RowSample",
    "TablePart",
    "open_table",
    "rank_error",
    "table_in_parts",
]
