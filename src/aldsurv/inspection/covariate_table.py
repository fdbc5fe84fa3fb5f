"""Covariates of any kind as columns that can be chosen from, repeated and replaced."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.frame_columns import Column, column_array, table_names
from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.quoting import quoted

__all__ = ["CovariateTable"]


@final
@dataclass(frozen=True, eq=False)
class CovariateTable:
    """Columns of the covariates a model takes.

    Attributes
    ----------
    keys
        What the columns are called: names, or positions from 0 on.
    columns
        Their values (n,), one array per column.
    whole
        The array they came from, if they came from one: a model gets an array again, not columns with names.
    titles
        What the columns are called in print; None: as their keys.
    """

    keys: tuple[Hashable, ...]
    columns: tuple[NDArray[Any], ...]
    whole: NDArray[Any] | None = None
    titles: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any) -> CovariateTable:
        """The columns of a dict, a pandas or polars frame, a table of Arrow or a 2-D array."""
        keys = table_names(X)
        if keys is None:
            return cls._of_array(X)
        return cls(tuple(keys), tuple(column_array(Column(X[key], "X", key)) for key in keys))

    @classmethod
    def _of_array(cls, X: object) -> CovariateTable:
        array = np.asarray(X)
        if array.dtype.kind in "US":
            array = np.array(X, dtype=object)
        if array.ndim != 2:
            raise ParameterError(
                f"X must have rows and columns, but has shape {array.shape}: effects are those of columns."
            )
        return cls(tuple(range(array.shape[1])), tuple(array.T), array)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called in print."""
        return self.key_names if self.titles is None else self.titles

    @property
    def key_names(self) -> tuple[str, ...]:
        """The keys as text, whatever the columns are called in print."""
        return tuple(f"x{key}" if isinstance(key, int) else str(key) for key in self.keys)

    def place(self, column: Any) -> int:
        """Position of a column, given as its name or its position."""
        if column in self.keys:
            return self.keys.index(column)
        if isinstance(column, (int, np.integer)) and 0 <= column < len(self.keys):
            return int(column)
        raise UnknownNameError(f"X has no column {quoted(column)}. Columns: {', '.join(map(quoted, self.keys[:12]))}.")

    def rows(self, chosen: NDArray[np.intp]) -> CovariateTable:
        """Some of the rows, in the order given and as often as given."""
        whole = None if self.whole is None else self.whole[chosen]
        return replace(self, columns=tuple(column[chosen] for column in self.columns), whole=whole)

    def replaced(self, place: int, values: NDArray[Any]) -> CovariateTable:
        """The same with other values in one column."""
        columns = tuple(values if k == place else column for k, column in enumerate(self.columns))
        if self.whole is None:
            return replace(self, columns=columns)
        # A grid between whole numbers need not be whole.
        whole = self.whole.astype(np.result_type(self.whole.dtype, values.dtype))
        whole[:, place] = values
        return replace(self, columns=columns, whole=whole)

    @property
    def given(self) -> Any:
        """What a model takes as X."""
        return dict(zip(self.keys, self.columns, strict=True)) if self.whole is None else self.whole
