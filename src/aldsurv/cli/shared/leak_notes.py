"""Columns that may give the outcome away, as notes with the option that leaves them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aldsurv.cli.shared.command_options import format_names
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.inspection.suspicious_columns import SuspiciousColumn
    from aldsurv.tables.table import Table

__all__ = ["find_leaks", "leak_notes"]

_MOST_LINES = 12


def find_leaks(table: Table) -> list[SuspiciousColumn]:
    """The covariates of a table that may give its outcome away."""
    # Imported here: models need not be looked into to show help.
    from aldsurv.inspection.suspicious_columns import suspicious_columns

    if table.y is None or not table.x:
        return []
    return [column for column in suspicious_columns(table.x, table.y) if column.is_leak]


def leak_notes(leaks: Sequence[SuspiciousColumn], dropped: Sequence[str] = ()) -> list[str]:
    """One line per column, and one suggestion for all of them.

    Parameters
    ----------
    leaks
        The columns.
    dropped
        Columns that are left out already.
    """
    if not leaks:
        return []
    lines = [f"column {quoted(leak.column)} may give the outcome away: it {leak.description}." for leak in leaks]
    more = len(lines) - _MOST_LINES
    if more > 0:
        lines = [*lines[:_MOST_LINES], f"so may {more} more column{'s' * (more != 1)}."]
    option = f"--drop {format_names([*dropped, *(str(leak.column) for leak in leaks)])}"
    if len(leaks) == 1:
        return [f"{lines[0]} If it is not known when predictions are made, leave it out by {option}."]
    return [*lines, f"if these columns are not known when predictions are made, leave them out by {option}."]
