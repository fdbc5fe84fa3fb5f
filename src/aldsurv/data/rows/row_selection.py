"""Rows of survival data chosen, and parts joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.outcome_columns import Outcome
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData

__all__ = ["chosen_rows", "concatenated_outcome", "row_index", "spread_rows"]


def spread_rows(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the rows, evenly spread over them, the first and the last among them."""
    if len(rows) <= most:
        return rows
    return np.asarray(rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)])


def row_index(rows: Any, n: int) -> slice | NDArray[Any]:
    """Rows of n as a slice, or an array of integers or bools (k,)."""
    if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
        # How scikit-learn asks for rows of anything that has a shape.
        rows = rows[0]
    if isinstance(rows, slice):
        return rows
    index = np.asarray(rows)
    if index.size == 0 and index.dtype.kind == "f":
        index = index.astype(np.intp)
    if index.ndim > 1:
        problem = f"rows must be one column of integers or bools, but have shape {index.shape}."
        raise ParameterError(problem, argument="rows")
    if index.dtype.kind == "b" and index.shape != (n,):
        problem = f"a mask must have one value per row, but it has {index.size} for {n} rows."
        raise ParameterError(problem, argument="rows")
    return np.atleast_1d(index)


def chosen_rows(outcome: Outcome, rows: Any) -> Outcome:
    """Some rows of all columns, by slice, integer (one row), integers or bool mask."""
    index = row_index(rows, len(outcome.lower))
    columns: dict[str, Any] = {
        name: values[index] for name, values in outcome._asdict().items() if isinstance(values, np.ndarray)
    }
    return outcome._replace(**columns)


def concatenated_outcome(parts: list[SurvivalData]) -> Outcome:
    """The rows of all parts, of which there is at least one, one part after the other."""
    causes = {part.causes for part in parts}
    if len(causes) > 1:
        names = " and ".join("none" if each is None else repr(each) for each in sorted(causes, key=str))
        raise ParameterError(
            f"parts must have the same causes, but have {names}",
            argument="parts",
            advice="Give the same names=, or of_cause.",
        )
    if len({part.person is None for part in parts}) > 1:
        raise ParameterError(
            "parts must be either all of episodes or none",
            argument="parts",
            advice="Take one row per person by persons().",
        )
    entry = weight = cause = group = person = None
    if any(part.entry is not None for part in parts):
        entries = [np.full(len(part), -np.inf) if part.entry is None else part.entry for part in parts]
        entry = np.concatenate(entries)
    if any(part.weight is not None for part in parts):
        weight = np.concatenate([part.weights for part in parts])
    if parts[0].cause is not None:
        cause = np.concatenate([part.cause for part in parts if part.cause is not None])
    if any(part.group is not None for part in parts):
        groups = [np.full(len(part), -1, np.int64) if part.group is None else part.group for part in parts]
        group = np.concatenate(groups)
    if parts[0].person is not None:
        person = np.concatenate([part.person for part in parts if part.person is not None])
    lower, upper = (np.concatenate([getattr(part, name) for part in parts]) for name in ("lower", "upper"))
    return Outcome(lower, upper, entry, weight, cause, parts[0].causes, group, person)
