"""Tables whose files have a column per number, and whose rows on the page have several numbers in one cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aldsurv.benchmark.tables import BenchmarkTable, NumberCell, format_cell
from aldsurv.benchmark.tables.benchmark_table import NO_VALUE
from aldsurv.reports.benchmark.table_files import write_table
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["DATASET_COLUMNS", "VERDICT_COLUMNS", "MergedColumn", "write_merged_table"]


class MergedColumn(NamedTuple):
    """A column of the page.

    Attributes
    ----------
    key, title, meaning
        As in `PageColumn`.
    places
        Which columns of the table it shows; it is sorted by the first.
    """

    key: str
    title: str
    places: tuple[int, ...]
    meaning: str = ""


_COUNTS = "better / worse / same"
VERDICT_COLUMNS = (
    MergedColumn("metric", "Metric", (0,)),
    MergedColumn("versus", "Versus", (1,)),
    MergedColumn("ours", "Ours", (2, 3, 4), _COUNTS),
    MergedColumn("published", "Published", (5, 6, 7), _COUNTS),
    MergedColumn("recomputed", "Recomputed", (8, 9, 10), f"{_COUNTS}, by the paper's test from its printed means"),
)
_PAIR = "ours / published"
DATASET_COLUMNS = (
    MergedColumn("dataset", "Dataset", (0,)),
    MergedColumn("kind", "Kind", (1, 2), "and unit of time"),
    MergedColumn("features", "Features", (3, 4), _PAIR),
    MergedColumn("training", "Training", (5, 6), f"rows of the training part, {_PAIR}"),
    MergedColumn("test", "Test", (7, 8), f"rows of the test part, {_PAIR}"),
    MergedColumn("censored", "Censored", (9, 10), f"share of the rows, {_PAIR}"),
    MergedColumn("copies", "Copies", (11,), "rows equal to an earlier one"),
    MergedColumn("patients", "Patients", (12,), "where several rows are of one patient"),
    MergedColumn("at_zero", "At 0", (13,), "rows with time 0"),
)


def write_merged_table(
    table: BenchmarkTable, folder: Path, columns: Sequence[MergedColumn], *, reading: str = ""
) -> PageTable:
    """Write a table as files with all its columns; returns it for the page with the given ones.

    Parameters
    ----------
    table, folder
        As in `write_table`.
    columns
        Columns of the page.
    reading
        How to read cells with several numbers, before the note of the table.
    """
    numeric = [table.align[column.places[0]] == "r" for column in columns]
    return PageTable(
        table.name,
        table.title,
        tuple(
            PageColumn(column.key, column.title, numeric=number, meaning=column.meaning)
            for column, number in zip(columns, numeric, strict=True)
        ),
        tuple(tuple(_cell([row[place] for place in column.places]) for column in columns) for row in table.rows),
        about=f"{reading} {table.note}".strip(),
        files=write_table(table, folder).files,
    )


def _cell(parts: Sequence[NumberCell | str]) -> PageCell:
    texts, first = [format_cell(part) for part in parts], parts[0]
    if isinstance(first, str):
        return PageCell(", ".join(text for text in texts if text != NO_VALUE) or NO_VALUE)
    # One dash stands for all.
    return PageCell(NO_VALUE if set(texts) == {NO_VALUE} else " / ".join(texts), first.value)
