"""Rows of a request, found by the names of their columns in any order, as columns that a model takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, final

from numpy.typing import NDArray

from aldsurv.quoting import quoted
from aldsurv.serving.requests.problems import RowProblem

if TYPE_CHECKING:
    from aldsurv.serving.requests.input_columns import InputColumn, KnownStrata

__all__ = ["RowTable", "read_rows"]

# Names of columns that an answer lists as not used.
_MOST_IGNORED = 100


@final
@dataclass(frozen=True)
class RowTable:
    """Rows that were read.

    Attributes
    ----------
    columns
        By name; empty if there are problems.
    problems
        What is wrong, by row and in the order of the columns.
    ignored
        Names of columns that are not of the model, sorted.
    """

    columns: dict[str, NDArray[Any]]
    problems: list[RowProblem]
    ignored: list[str]


def read_rows(rows: Sequence[Any], columns: Sequence[InputColumn], strata: KnownStrata) -> RowTable:
    """Read rows, each an object by column name.

    Parameters
    ----------
    rows
        What JSON holds, or dicts of the values of CSV.
    columns
        The columns to read; those that are not used are not looked at.
    strata
        Combinations of levels that may occur.
    """
    problems = [
        RowProblem(place, None, f"must be an object with a value by column name, but is {_kind(row)}")
        for place, row in enumerate(rows)
        if type(row) is not dict
    ]
    if problems:
        return RowTable({}, problems, [])
    names = set().union(*rows) if len(rows) > 1 else set(rows[0])
    ignored = sorted(names.difference(column.name for column in columns if column.used))
    read: dict[str, NDArray[Any]] = {}
    for column in columns:
        if not column.used:
            continue
        try:
            values = [row[column.name] for row in rows]
        except KeyError:
            problems += _missing(rows, column.name, ignored)
            continue
        read[column.name], bad = column.read(values)
        problems += [RowProblem(place, column.name, problem) for place, problem in bad]
    if not problems:
        problems = [RowProblem(place, strata.names[0], problem) for place, problem in strata.unknown(read)]
    problems.sort(key=lambda problem: problem.row)
    return RowTable({} if problems else read, problems, ignored[:_MOST_IGNORED])


def _missing(rows: Sequence[dict[str, Any]], name: str, ignored: Sequence[str]) -> list[RowProblem]:
    near = get_close_matches(name, ignored[:_MOST_IGNORED], n=1, cutoff=0.6)
    hint = f"is it {quoted(near[0])}?" if near else "give null where a value is not known"
    return [RowProblem(place, name, f"is missing; {hint}") for place, row in enumerate(rows) if name not in row]


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {str: "text", list: "a list", bool: "true or false"}.get(type(value), "a number")
