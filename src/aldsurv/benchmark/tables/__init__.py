"""The tables of a benchmark: our results, and our results beside the published ones."""

from aldsurv.benchmark.tables.benchmark_table import BenchmarkTable, NumberCell, TableCell, format_cell
from aldsurv.benchmark.tables.dataset_table import datasets_table
from aldsurv.benchmark.tables.ledger_tables import agreement_table, deviations_table, switches_table
from aldsurv.benchmark.tables.published_tables import (
    calibration_columns_table,
    mass_below_zero_table,
    summary_table,
    verdict_table,
)
from aldsurv.benchmark.tables.result_tables import (
    definitions_table,
    full_table,
    grouping_table,
    infinite_time_table,
    ranking_table,
    recipes_table,
    seconds_table,
)
from aldsurv.benchmark.tables.table_rendering import to_csv, to_latex, to_markdown

__all__ = [
    "BenchmarkTable",
    "NumberCell",
    "TableCell",
    "agreement_table",
    "calibration_columns_table",
    "datasets_table",
    "definitions_table",
    "deviations_table",
    "format_cell",
    "full_table",
    "grouping_table",
    "infinite_time_table",
    "mass_below_zero_table",
    "ranking_table",
    "recipes_table",
    "seconds_table",
    "summary_table",
    "switches_table",
    "to_csv",
    "to_latex",
    "to_markdown",
    "verdict_table",
]
