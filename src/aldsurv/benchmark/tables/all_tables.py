"""All tables of the benchmark."""

from aldsurv.benchmark.tables.comparison_tables import (
    calibration_columns_table,
    published_table,
    ranking_table,
    verdict_table,
)
from aldsurv.benchmark.tables.result_tables import (
    IBS_NOTE,
    at_zero_table,
    beyond_table,
    definitions_table,
    full_table,
    grouping_table,
    recipes_table,
    seconds_table,
    summary_table,
)
from aldsurv.benchmark.tables.table_value import Cell, Number, Table, cell_text

__all__ = [
    "IBS_NOTE",
    "Cell",
    "Number",
    "Table",
    "at_zero_table",
    "beyond_table",
    "calibration_columns_table",
    "cell_text",
    "definitions_table",
    "full_table",
    "grouping_table",
    "published_table",
    "ranking_table",
    "recipes_table",
    "seconds_table",
    "summary_table",
    "verdict_table",
]
