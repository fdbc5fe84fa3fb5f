"""Pieces of SQL: names, numbers, and a column's part of a linear predictor."""

from __future__ import annotations

import math

from aldsurv.columns.column_entries import Level
from aldsurv.columns.column_plans import ColumnPlan, Levels, Number
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

__all__ = ["column_term", "identifier", "is_level", "literal", "number"]


def identifier(name: str) -> str:
    """A name of a column or table, in quotation marks."""
    if not name or "\0" in name:
        raise ParameterError(f"{quoted(name)} cannot be a name in SQL.", argument="name")
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Text as a value."""
    if "\0" in text:
        raise ParameterError(f"the level {quoted(text)} cannot be written in SQL.", argument="model")
    return "'" + text.replace("'", "''") + "'"


def number(value: float) -> str:
    """A number with all its digits; with an exponent, without which some databases would round it to a decimal."""
    if not math.isfinite(value):
        raise ParameterError("numbers that are not finite cannot be written in SQL.", argument="model")
    text = repr(float(value)).removesuffix(".0")
    return text if "e" in text else f"{text}e0"


def is_level(name: str, level: Level | None) -> str:
    """The condition that a column holds a level; None is a gap."""
    if level is None:
        return f"{identifier(name)} IS NULL"
    if isinstance(level, str):
        return f"{identifier(name)} = {literal(level)}"
    return f"CAST({identifier(name)} AS DOUBLE PRECISION) = {number(float(level))}"


def column_term(plan: ColumnPlan, slopes: list[float]) -> list[str]:
    """What a column adds to a linear predictor, given a slope for each of its numbers; nothing if all are 0."""
    if isinstance(plan, Number):
        return _number_terms(plan, slopes)
    return _level_terms(plan, slopes) if isinstance(plan, Levels) and any(slopes) else []


def _number_terms(plan: Number, slopes: list[float]) -> list[str]:
    terms = []
    if slopes[0]:
        value = f"COALESCE(CAST({identifier(plan.name)} AS DOUBLE PRECISION), {number(plan.median)})"
        terms.append(f"{number(slopes[0] / plan.scale)} * ({value} - {number(plan.mean)})")
    if plan.gaps and slopes[1]:
        terms.append(f"CASE WHEN {is_level(plan.name, None)} THEN {number(slopes[1])} ELSE 0e0 END")
    return terms


def _level_terms(plan: Levels, slopes: list[float]) -> list[str]:
    shown: list[tuple[Level | None, float]] = list(zip(plan.levels, slopes, strict=False))
    if plan.gaps or plan.other:
        # A gap is none of the rest.
        shown.append((None, slopes[-1] if plan.gaps else 0.0))
    rest = slopes[len(plan.levels)] if plan.other else 0.0
    cases = [f"WHEN {is_level(plan.name, level)} THEN {number(slope)}" for level, slope in shown if slope != rest]
    return [f"CASE {' '.join(cases)} ELSE {number(rest)} END"] if cases else [number(rest)]
