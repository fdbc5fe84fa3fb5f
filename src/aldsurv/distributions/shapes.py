"""Rows and shapes: what every distribution has in common before any probability is computed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Rows"]

Formula = Callable[..., Array]

# Values per block on numpy: intermediate arrays of this size stay in the processor's cache.
_BLOCK_VALUES = 1 << 15


class Rows(ABC):
    """Immutable rows, one per individual, that can be sliced and evaluated at times of several shapes."""

    @classmethod
    def from_checked(cls, **fields: Any) -> Self:
        """Build from fields known to be valid, without looking at them again."""
        made = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        return made

    @property
    @abstractmethod
    def _column(self) -> Array:
        """Some array of this distribution with one row per individual: it gives n, backend, precision, device."""

    @abstractmethod
    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        """Apply ``change`` to every array that has one row per individual."""

    def __len__(self) -> int:
        return int(self._column.shape[0])

    def __getitem__(self, rows: Any) -> Self:
        """Rows as numpy takes them: a slice, an index, indices or a mask; an index gives one row."""
        if isinstance(rows, (int, np.integer)):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"row {rows} of a distribution with {len(self)} rows")
            rows = slice(rows % len(self), rows % len(self) + 1)
        elif not isinstance(rows, slice):
            rows = self._row_index(rows)
        return self._map_rows(lambda array: array[rows])

    def _row_index(self, rows: Any) -> Any:
        if not is_numpy(namespace(rows)):
            return rows
        index = np.asarray(rows)
        if index.size == 0 and index.dtype.kind == "f":
            index = index.astype(np.intp)
        if index.ndim != 1 or index.dtype.kind not in "biu":
            raise ParameterError(
                f"rows must be a slice, an index, indices or a mask, but they are {type(rows).__name__}."
            )
        if index.dtype.kind == "b" and index.size != len(self):
            raise ParameterError(f"a mask of {index.size} values cannot choose among {len(self)} rows.")
        xp = namespace(self._column)
        return index if is_numpy(xp) else xp.asarray(index, device=self._column.device)

    def __iter__(self) -> Iterator[Self]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={len(self)})"

    def blocks(self, rows: int) -> Iterator[Self]:
        """Consecutive parts of at most ``rows`` rows, for answers too large to hold at once."""
        if rows < 1:
            raise ParameterError(f"rows must be at least 1, but is {rows}.")
        return (self[start : start + rows] for start in range(0, len(self), rows))

    def _as_column(self, value: object, name: str) -> Array:
        """``value`` as a column that broadcasts against the rows."""
        array = self._as_array(value, name)
        if array.ndim == 0 or (array.ndim == 1 and array.shape[0] in (1, len(self))):
            return namespace(array).reshape(array, (-1, 1))
        if array.ndim == 2 and array.shape[1] == 1 and array.shape[0] in (1, len(self)):
            return array
        raise ParameterError(
            f"{name} must be a number or have one value for each of {len(self)} rows, "
            f"but has shape {tuple(array.shape)}."
        )

    def _refuse(self, bad: Array, column: Array, rule: str) -> None:
        """Raise if any value of a column is bad, naming how many and the first."""
        xp = namespace(bad)
        count = int(xp.sum(xp.astype(bad, xp.int64)))
        if not count:
            return
        row = int(xp.argmax(xp.astype(bad, xp.int64)[:, 0]))
        found = f"is {float(column[row, 0]):g}"
        if len(column) > 1:
            found = f"{count} of {len(column)} values are not (first: row {row}, {float(column[row, 0]):g})"
        raise ParameterError(f"{rule}, but {found}.")

    def _as_array(self, value: object, name: str) -> Array:
        try:
            array = as_like(value, self._column)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{name} must be numbers, but is {value!r:.60} ({error}).") from None
        missing = int(namespace(array).sum(namespace(array).isnan(array)))
        if missing:
            raise ParameterError(f"{name} must not be NaN, but {missing} of {math.prod(array.shape)} values are.")
        return array

    def _evaluate(self, formula: Formula, *, cost: int = 1, **arguments: Any) -> Array:
        """Give ``formula`` two-dimensional arguments and its answer the documented shape.

        On numpy the rows go through in blocks, so that what is needed in between stays in the cache and
        memory holds little more than the answer; with a cost of 0 the formula sees to that itself.
        """
        arrays = [self._as_array(value, name) for name, value in arguments.items()]
        scalar = all(array.ndim == 0 for array in arrays)
        arrays = [self._two_axes(array, name) for array, name in zip(arrays, arguments, strict=True)]
        width = max((array.shape[1] for array in arrays), default=1)
        n = len(self)
        with np.errstate(all="ignore"):
            step = max(1, _BLOCK_VALUES // max(1, width * cost)) if cost else n
            if n <= step or not is_numpy(namespace(self._column)):
                answer = formula(self, *arrays) + namespace(self._column).zeros_like(self._column[:, :1])
            else:
                answer = np.empty((n, width), dtype=self._column.dtype)
                for start in range(0, n, step):
                    rows = slice(start, start + step)
                    parts = (array if array.shape[0] == 1 else array[rows] for array in arrays)
                    answer[rows] = formula(self[rows], *parts)
        return answer[:, 0] if scalar else answer

    def _two_axes(self, array: Array, name: str) -> Array:
        if array.ndim < 2:
            return namespace(array).reshape(array, (1, -1))
        if array.ndim == 2 and array.shape[0] in (1, len(self)):
            return array
        raise ParameterError(
            f"{name} must be a number, a vector (the same for every row) or an array with one row for each of "
            f"{len(self)} individuals, but has shape {tuple(array.shape)}."
        )
