"""Columns of a table that a model need not use: those of subgroups, and the outcome of training rows."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from aldsurv.checks import listed
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.reading_options import ReadingOptions
from aldsurv.errors import UnknownNameError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aldsurv.tables.table import Table

__all__ = ["read_group_column", "training_columns"]


def read_group_column(
    name: str, table: Table, columns: OutcomeColumns, reading: ReadingOptions, option: str
) -> NDArray[Any]:
    """Values of a column, whether the model uses it or not.

    Parameters
    ----------
    name
        The column.
    table
        The table as it was read for the model.
    columns, reading
        The columns of the outcome, and how the file is written down.
    option
        What names the column on the command line.
    """
    from aldsurv.cli.shared.input_files import read_outcome_table

    if name in table.x:
        return table.x[name]
    whole = read_outcome_table(table.path, columns, reading=reading).x
    if name not in whole:
        near = get_close_matches(name, whole, n=1)
        hint = f"Did you mean {quoted(near[0])}?" if near else f"Columns: {listed(whole)}."
        raise UnknownNameError(
            f"{option} names {quoted(name)}, which is not a column of {str(table.path)!r} beside the outcome. {hint}"
        )
    return whole[name]


def training_columns(columns: OutcomeColumns) -> OutcomeColumns:
    """The outcome of the training rows: of episodes with the persons, else without, for nothing is held out."""
    return columns if columns.stop else replace(columns, id=None)
