"""Tables from CSV, Parquet and Excel files, whole or in blocks."""

from aldsurv.tables.table import Table, TableColumn
from aldsurv.tables.table_file import TableBlock, TableFile
from aldsurv.tables.table_reading import read_blocks, read_table

__all__ = ["Table", "TableBlock", "TableColumn", "TableFile", "read_blocks", "read_table"]
