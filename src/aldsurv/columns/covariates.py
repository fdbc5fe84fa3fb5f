"""Covariates of any kind, read one column at a time.

Neither pandas nor polars is imported: `numpy.asarray` reads their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import ColumnKey, NotPlainError
from aldsurv.data.frame_columns import Column, column_array, table_names
from aldsurv.errors import DataError
from aldsurv.quoting import quoted

__all__ = ["Covariates", "covariate_arrays", "read_covariates", "table_size", "take_rows"]

_CATEGORICAL_TYPES = {"CategoricalDtype", "Categorical", "Enum", "DictionaryType"}


class Covariates(NamedTuple):
    """A table of covariates, not yet read.

    Attributes
    ----------
    names
        The names of its columns if all are text.
    keys
        What errors call its columns: their names or positions.
    n_rows
        Number of rows.
    column
        Gives a column by its position.
    """

    names: tuple[str, ...] | None
    keys: tuple[ColumnKey, ...]
    n_rows: int
    column: Callable[[int], Any]

    @property
    def labels(self) -> list[str]:
        """What warnings call the columns."""
        return [f"column {quoted(key)}" for key in self.keys]

    def read(self, j: int) -> NDArray[Any]:
        """Column j as a one-dimensional array."""
        column = Column(self.column(j), "X", self.keys[j])
        raw = column_array(column)
        if raw.size != self.n_rows:
            raise column.error(
                f"has {raw.size} values, but column {quoted(self.keys[0])} has {self.n_rows}",
                advice="Give columns of equal length: one value per row.",
            )
        return raw

    def is_categorical(self, j: int) -> bool:
        """Whether the type of column j says that it holds categories."""
        column = self.column(j)
        kinds = (getattr(column, name, None) for name in ("dtype", "type"))
        return any(type(kind).__name__ in _CATEGORICAL_TYPES for kind in kinds)


def read_covariates(X: Any) -> Covariates:
    """A pandas or polars frame, a table of Arrow, a dict of columns, a 2-D array or a list of rows; nothing else."""
    if any("sparse" in base.__module__.split(".") for base in type(X).__mro__):
        raise DataError(
            "X must be dense, but is a sparse matrix",
            argument="X",
            advice="Convert it to a dense array, as by X.toarray().",
        )
    if not isinstance(X, Sized) and "collect" in dir(type(X)):
        problem = f"X must hold rows, but is a {type(X).__name__}, which has not read them yet"
        raise DataError(problem, argument="X", advice="Collect it first, by X.collect().")
    keys = table_names(X)
    if keys is None:
        return _array_covariates(X)
    if isinstance(X, Mapping):
        n_rows = column_array(Column(X[keys[0]], "X", _column_key(keys[0]))).size if keys else 0
    else:
        n_rows = len(X)
    _require_shape(n_rows, len(keys))
    return Covariates(_text_names(keys), tuple(map(_column_key, keys)), n_rows, lambda j: X[keys[j]])


def covariate_arrays(X: object) -> Iterator[NDArray[Any]]:
    """The columns (n,) of covariates as they are, one at a time; of an array of more axes its numbers."""
    if isinstance(X, np.ndarray) and X.ndim > 2:
        X = X.reshape(len(X), -1)
    table = read_covariates(X)
    for j in range(len(table.keys)):
        yield table.read(j)


def table_size(X: object) -> tuple[int, int] | None:
    """How many rows and columns a table has, without reading it; None for what is no table."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and len(shape) > 1:
        return int(shape[0]), int(shape[1])
    if isinstance(X, Mapping):
        first = next(iter(X.values()), None)
        return (len(first), len(X)) if isinstance(first, Sized) else None
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], Sized):
        return len(X), len(X[0])
    return None


def take_rows(X: Any, rows: NDArray[np.int64]) -> object:
    """Some rows of covariates of any kind, by their numbers, in the same kind."""
    if isinstance(X, Mapping):
        return {name: np.asarray(column)[rows] for name, column in X.items()}
    try:
        return X.iloc[rows]
    except AttributeError:
        if table_names(X) is not None and "take" in dir(X):
            return X.take(rows)
        return (X if isinstance(X, np.ndarray) or "columns" in dir(X) else np.asarray(X))[rows]


def _array_covariates(X: object) -> Covariates:
    try:
        array = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
        if array.dtype.kind in "US" and isinstance(X, (list, tuple)):
            # Among text numpy would write numbers and gaps as text, too.
            array = np.array(X, dtype=object)
    except (TypeError, ValueError, RuntimeError) as error:
        problem = f"X cannot be read as a table: {error}"
        raise DataError(problem, argument="X", advice="Give rows of equal length.") from None
    if array.dtype.kind == "V":
        raise DataError(
            "X must not be a structured array",
            argument="X",
            advice="Give a frame, or a dict of columns such as {'age': X['age']}.",
        )
    if array.ndim < 2:
        shape = f"{'1D' if array.ndim else 'scalar'} array instead (shape {array.shape})"
        raise DataError(
            f"Expected 2D array, got {shape}",
            argument="X",
            advice="Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample.",
        )
    if array.ndim > 2:
        problem = f"Found array with dim {array.ndim}, but X must have 2: rows and columns"
        raise DataError(problem, argument="X", advice="Reshape your data.")
    _require_shape(*array.shape)
    return Covariates(None, tuple(range(array.shape[1])), array.shape[0], lambda j: array[:, j])


def _column_key(key: object) -> ColumnKey:
    return key if isinstance(key, (str, int)) else str(key)


def _require_shape(n_rows: int, n_columns: int) -> None:
    # scikit-learn's words, by which its users and its checks know these errors.
    for count, what in ((n_rows if n_columns else 1, "sample"), (n_columns, "feature")):
        if count == 0:
            raise DataError(
                f"Found array with 0 {what}(s) (shape=({n_rows}, {n_columns})) while a minimum of 1 is required.",
                argument="X",
            )


def _text_names(keys: list[Any]) -> tuple[str, ...] | None:
    """The names if all are text, None if none is."""
    if not all(isinstance(key, Hashable) for key in keys):
        raise DataError(
            "X must be a frame of a known kind, but the names of its columns are not hashable",
            argument="X",
            advice="Give a pandas or polars frame or a dict of columns.",
        )
    if len(set(keys)) < len(keys):
        twice = next(key for position, key in enumerate(keys) if key in keys[:position])
        raise DataError(
            f"the columns of X must have different names, but {quoted(twice)} occurs twice",
            argument="X",
            advice="Rename one of them.",
        )
    text = [isinstance(key, str) for key in keys]
    if all(text):
        return tuple(str(key) for key in keys)
    if any(text):
        types = sorted({type(key).__name__ for key in keys})
        raise NotPlainError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types",
            argument="X",
            advice="Convert them by X.columns = X.columns.astype(str).",
        )
    return None
