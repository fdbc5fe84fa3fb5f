"""Columns of a table whose levels are strata: taken out of the covariates, and numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.columns.column_entries import distinct_levels, format_value, level_order
from aldsurv.columns.covariates import read_covariates
from aldsurv.data.frame_columns import require_column, table_names
from aldsurv.errors import DataError, ParameterError
from aldsurv.quoting import quoted

__all__ = [
    "Stratum",
    "covariates",
    "has_names",
    "named_columns",
    "ordered_strata",
    "strata_numbers",
    "strata_of",
    "stratum_names",
]

# The levels of one stratum, one per column; None is a gap.
Stratum: TypeAlias = tuple[str | int | float | bool | None, ...]


def covariates(X: Any, columns: Sequence[str | int]) -> Any:
    """The table without the columns of strata, of the same type."""
    if not columns:
        return X
    strata = set(_positions(X, columns))
    names = table_names(X)
    if names is None:
        array = X if isinstance(X, np.ndarray) else np.asarray(X, object if _holds_text(X) else None)
        return array[:, [j for j in range(array.shape[1]) if j not in strata]]
    keys = [key for j, key in enumerate(names) if j not in strata]
    if isinstance(X, Mapping):
        return {key: X[key] for key in keys}
    return X.select(keys) if "select" in dir(X) else X[keys]


def strata_of(X: object, columns: Sequence[str | int]) -> tuple[list[Stratum], NDArray[np.int64]]:
    """The strata of some rows, and the number of each row's."""
    table = read_covariates(X)
    columns_levels = [distinct_levels(table.read(j), table.keys[j]) for j in _positions(X, columns)]
    rows, numbers = np.unique(np.stack([inverse for _, inverse in columns_levels]), axis=1, return_inverse=True)
    strata = [
        tuple(levels[code] for (levels, _), code in zip(columns_levels, row, strict=True)) for row in rows.T.tolist()
    ]
    # A column may write the same level, a gap above all, in several ways; their order is that of the levels.
    distinct = ordered_strata(set(strata))
    place = {stratum: k for k, stratum in enumerate(distinct)}
    return distinct, np.array([place[stratum] for stratum in strata], np.int64)[numbers.reshape(-1)]


def ordered_strata(strata: Set[Stratum]) -> list[Stratum]:
    """Strata in the order of their levels, gaps last."""
    return sorted(
        strata,
        key=lambda stratum: [(level is None, level_order(0 if level is None else level)) for level in stratum],
    )


def stratum_names(columns: Sequence[str | int], strata: Sequence[Stratum]) -> tuple[str, ...]:
    """Each stratum in words, such as "sex=f, grade=2"."""
    names = [column if isinstance(column, str) else f"x{column}" for column in columns]
    return tuple(
        ", ".join(
            f"{name} {'missing' if level is None else '=' + format_value(level)}".replace(" =", "=")
            for name, level in zip(names, stratum, strict=True)
        )
        for stratum in strata
    )


def strata_numbers(X: object, columns: Sequence[str | int], trained: Sequence[Stratum]) -> NDArray[np.int64]:
    """Number of each row's stratum among those of training; another one is an error."""
    strata, numbers = strata_of(X, columns)
    place = {stratum: k for k, stratum in enumerate(trained)}
    for stratum in strata:
        if stratum not in place:
            raise DataError(
                f"stratum {_format_stratum(stratum, columns)} was not in the training data, so it has no baseline "
                f"hazard. Known: {listed([_format_stratum(one, columns) for one in trained], 12)}.",
                argument="X",
            )
    return np.array([place[stratum] for stratum in strata], np.int64)[numbers]


def _format_stratum(stratum: Stratum, columns: Sequence[str | int]) -> str:
    levels = ["a gap" if level is None else format_value(level) for level in stratum]
    return ", ".join(f"{column}={level}" for column, level in zip(columns, levels, strict=True))


def named_columns(X: object, columns: Sequence[str | int]) -> tuple[str | int, ...]:
    """Columns by their names where the table has some: later rows may have them in another order."""
    names = read_covariates(X).names
    positions = _positions(X, columns)
    return tuple(columns) if names is None else tuple(names[position] for position in positions)


def has_names(X: object) -> bool:
    """Whether the columns of a table have names."""
    return table_names(X) is not None


def _holds_text(X: object) -> bool:
    return isinstance(X, (list, tuple)) and np.asarray(X).dtype.kind in "US"


def _positions(X: object, columns: Sequence[str | int]) -> list[int]:
    n_columns = len(read_covariates(X).keys)
    keys = table_names(X) or []
    positions = []
    for column in columns:
        if isinstance(column, str):
            if not keys:
                raise ParameterError(f"strata names the column {quoted(column)}, but X has no names. Give its number.")
            require_column(column, keys, "strata")
            positions.append(keys.index(column))
        elif 0 <= column < n_columns:
            positions.append(int(column))
        else:
            raise ParameterError(f"strata must be columns from 0 to {n_columns - 1} of X, but {quoted(column)} is not.")
    if len(set(positions)) < len(positions):
        raise ParameterError(f"strata must be different columns, but {quoted(columns)} names one twice.")
    return positions
