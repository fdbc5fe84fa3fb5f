"""How each column of a table is used, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aldsurv.cli.causes.event_values import describe_event_values
from aldsurv.cli.shared.number_text import format_count
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.text_layout import printable, two_columns
from aldsurv.plain_numbers import plain_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aldsurv.columns.column_plans import ColumnPlan
    from aldsurv.columns.features import Features
    from aldsurv.tables.table import Table

__all__ = ["ColumnText", "column_lines", "count_gaps", "model_columns", "table_columns"]

_MOST_LEVELS = 6
_REASONS = {
    "constant": "one value only",
    "no values": "no values",
    "identifier": "text that differs in every row, as an identifier does",
    "nearly unique": "text that differs in most rows, as names and notes do",
}


class ColumnText(NamedTuple):
    """A column and how it is used."""

    name: str
    use: str


def table_columns(table: Table, features: Features, outcome: OutcomeColumns) -> list[ColumnText]:
    """Every column of a file, in its order.

    Parameters
    ----------
    table
        The rows.
    features
        What was learned of the covariates.
    outcome
        The columns of the outcome.
    """
    plans = {plan.name: plan for plan in features.columns}
    roles = {name: role for role, name in outcome.columns.items()}
    value = f", observed where {printable(outcome.event_value)}" if outcome.event_value else ""
    if outcome.event_values:
        value = f", {describe_event_values(outcome.event_values)}"
    columns = []
    for column in table.columns:
        if column.name in plans:
            use = _use(plans[column.name], count_gaps(table.x[column.name]))
        elif column.use == "left out":
            use = "left out"
        elif column.use in ("group", "id"):
            use = "persons, whose rows stay together"
        else:
            use = f"outcome: {roles.get(column.name, column.use)}{value if column.use == 'event' else ''}"
        columns.append(ColumnText(printable(column.name.strip() or "(no name)"), use))
    return columns


def model_columns(features: Features) -> list[ColumnText]:
    """The columns that a fitted model reads."""
    return [ColumnText(printable(plan.name), _use(plan, 0)) for plan in features.columns]


def column_lines(columns: Sequence[ColumnText], width: int, *, most: int = 30) -> list[str]:
    """Lines for the first `most` of them, and how many more there are."""
    lines = two_columns(columns[:most], width)
    left = len(columns) - most
    return [*lines, f"  … and {left} more"] if left > 0 else lines


def _use(plan: ColumnPlan, gaps: int) -> str:
    from aldsurv.columns.column_entries import format_value
    from aldsurv.columns.column_plans import LeftOut, Levels, Number

    if isinstance(plan, LeftOut):
        return f"left out: {_REASONS[plan.reason]}"
    if isinstance(plan, Number):
        text = f"number, {plain_number(plan.low, 4)} to {plain_number(plan.high, 4)}"
        filled = f"filled with {plain_number(plan.median, 4)}"
        has_gaps = plan.gaps
    elif isinstance(plan, Levels):
        levels = [printable(format_value(level)) for level in plan.levels]
        shown = ", ".join(levels[:_MOST_LEVELS]) + (
            f", … and {len(levels) - _MOST_LEVELS} more" if len(levels) > _MOST_LEVELS else ""
        )
        text, filled = f"category: {shown}" + (", and all others as one" if plan.other else ""), "a level of their own"
        has_gaps = plan.gaps
    else:
        return plan.use
    if gaps:
        return f"{text}; {format_count(gaps, 'gap')} {filled}"
    return f"{text}; gaps {filled}" if has_gaps else text


def count_gaps(values: NDArray[Any]) -> int:
    """Missing values of a column: None among objects, NaN or NaT among numbers and dates."""
    if values.dtype == object:
        return sum(value is None for value in values.tolist())
    return int((values != values).sum()) if values.dtype.kind in "fMm" else 0
