"""How each column of a model becomes numbers, as a table: what a reader needs to make the inputs."""

from __future__ import annotations

from aldsurv.columns.column_entries import format_value
from aldsurv.columns.column_plans import ColumnPlan, Levels, Number
from aldsurv.columns.features import Features
from aldsurv.reports.model.specification.specification import Specification
from aldsurv.reports.page.number_format import name_list, number, value_text
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["encoding_table"]

_MOST_COLUMNS, _MOST_LEVELS = 200, 50
_DIGITS = 6


def encoding_table(spec: Specification, features: Features) -> PageTable:
    """Column, how it becomes numbers, its values in training, and what becomes of gaps."""
    columns = (
        PageColumn("column", "Column"),
        PageColumn("encoding", "Input of the model"),
        PageColumn("training", "In training"),
        PageColumn("gaps", "Gaps are"),
    )
    strata = set(spec.model.strata_columns_)
    cells = tuple(
        (
            PageCell(spec.labels.column(plan.name)),
            PageCell(_encoding(spec, plan, features.clip, stratum=bool({plan.name, place} & strata)), tone="wraps"),
            PageCell(_training(spec, plan), tone="wraps"),
            PageCell(plan.gap_rule),
        )
        for place, plan in enumerate(features.columns[:_MOST_COLUMNS])
    )
    more = f" The first {_MOST_COLUMNS} of {features.n_features_in:,}." if len(cells) < features.n_features_in else ""
    unknown = "the reference" if spec.coefficients is not None else "none of the levels"
    about = f"A level that training had not shown is read as {unknown}.{more}"
    return PageTable("inputs", "Columns and how they become numbers", columns, cells, about)


def _encoding(spec: Specification, plan: ColumnPlan, clip: float | None, *, stratum: bool) -> str:
    if stratum:
        return "each level has a baseline of its own"
    if isinstance(plan, Number):
        labels = spec.labels.columns.get(plan.name)
        values = "" if labels is None else ", ".join(f"{value}: {label}" for value, label in labels.levels.items())
        text = _number_encoding(plan, clip, in_user_unit=spec.coefficients is not None)
        return f"{text} ({values})" if values else text
    if isinstance(plan, Levels):
        levels = [format_value(spec.labels.level(plan.name, level)) for level in plan.levels]
        # Coefficients of a category are against its first level.
        lines = () if spec.coefficients is None else spec.coefficients.names
        first = plan.names_out[0]
        reference = bool(lines) and not any(name == first or name.endswith(f": {first}") for name in lines)
        shown = name_list(levels[1:] if reference else levels, _MOST_LEVELS)
        start = f"reference {levels[0]}; " if reference else ""
        return f"{start}0 or 1 for each of: {shown}" + (", and one for all others" if plan.other else "")
    return plan.use


def _number_encoding(plan: Number, clip: float | None, *, in_user_unit: bool) -> str:
    indicator = ", and 1 where it is missing, else 0" if plan.gaps else ""
    if in_user_unit or (plan.mean, plan.scale) == (0.0, 1.0):
        text = "the number"
    else:
        text = f"(value − {number(plan.mean, _DIGITS)}) / {number(plan.scale, _DIGITS)}".replace("− −", "+ ")
        text += "" if clip is None else f", cut at ±{number(clip)}"
    if plan.knots:
        ends = ", ".join(number(knot, _DIGITS) for knot in plan.knots)
        indicator += f", and how far it is through each piece between {ends}, from 0 to 1"
    return text + indicator


def _training(spec: Specification, plan: ColumnPlan) -> str:
    if isinstance(plan, Number):
        return f"{value_text(plan.low)} to {value_text(plan.high)}"
    if isinstance(plan, Levels):
        levels = [format_value(spec.labels.level(plan.name, level)) for level in plan.levels]
        return name_list(levels, _MOST_LEVELS)
    return "–"
