"""Families whose rows are columns of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["POSITIVE", "REAL", "Parametric", "as_parameter"]

# A parameter's domain, kept with its field: read by the validation and by the tests of every family.
REAL = {"domain": "real"}
POSITIVE = {"domain": "positive"}


class Parametric(SurvivalDistribution):
    """A family given by columns ``(n, 1)`` of parameters, declared as dataclass fields with their domain.

    Parameters may be given as numbers, vectors of n or columns; lists and numpy arrays become float64, torch
    tensors keep their precision and device, so a network trains in the precision it has.
    """

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        columns = {name: as_parameter(value, name) for name, value in given.items()}
        columns = _broadcast(columns)
        for field in fields(self):  # type: ignore[arg-type]
            _check_domain(columns[field.name], field.name, field.metadata["domain"])
            object.__setattr__(self, field.name, columns[field.name])

    @classmethod
    def parameters(cls) -> dict[str, str]:
        """Name and domain (``"real"`` or ``"positive"``) of each parameter."""
        return {field.name: field.metadata["domain"] for field in fields(cls)}  # type: ignore[arg-type]

    def _columns(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in self.parameters()}

    @property
    def _column(self) -> Array:
        return next(iter(self._columns().values()))

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self._trusted(**{name: change(column) for name, column in self._columns().items()})

    def _join(self, others: Sequence[Self]) -> Self:
        xp = namespace(self._column)
        columns = {
            name: xp.concat([column, *(other._columns()[name] for other in others)], axis=0)
            for name, column in self._columns().items()
        }
        return self._trusted(**columns)

    def __repr__(self) -> str:
        parts = [f"n={len(self)}"]
        if len(self):
            for name, column in self._columns().items():
                low, high = float(column.min()), float(column.max())
                parts.append(f"{name}={low:.4g}" if low == high else f"{name}={low:.4g}…{high:.4g}")
        return f"{type(self).__name__}({', '.join(parts)})"


def as_parameter(value: Any, name: str) -> Array:
    """``value`` as a column: float64 on numpy, the tensor's own precision on torch."""
    xp = namespace(value)
    if is_numpy(xp):
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{name} must be numbers, but is {value!r:.60} ({error}).") from None
    else:
        array = value if xp.isdtype(value.dtype, "real floating") else xp.astype(value, xp.float64)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] != 1):
        raise ParameterError(
            f"{name} must be a number, a vector or a column (n, 1), but has shape {tuple(array.shape)}."
        )
    return xp.reshape(array, (-1, 1))


def _broadcast(columns: dict[str, Array]) -> dict[str, Array]:
    """All columns on one backend, of one precision and length."""
    tensors = [column for column in columns.values() if not is_numpy(namespace(column))]
    if tensors:
        columns = {name: as_like(column, tensors[0]) for name, column in columns.items()}
    lengths = {name: column.shape[0] for name, column in columns.items()}
    different = sorted(set(lengths.values()) - {1})
    if len(different) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ParameterError(f"parameters must have one length, but they differ: {told}.")
    n = different[0] if different else 1
    return {
        name: namespace(column).broadcast_to(column, (n, 1)) if column.shape[0] != n else column
        for name, column in columns.items()
    }


def _check_domain(column: Array, name: str, domain: str) -> None:
    xp = namespace(column)
    bad = ~xp.isfinite(column)
    allowed = "finite"
    if domain == "positive":
        bad = bad | (column <= 0)
        allowed = "positive and finite"
    count = int(xp.sum(bad))
    if count:
        row = int(xp.argmax(xp.reshape(xp.astype(bad, xp.int64), (-1,))))
        value = float(column[row, 0])
        shown = "NaN" if math.isnan(value) else f"{value:g}"
        raise ParameterError(
            f"{name} must be {allowed}, but {count} of {len(column)} values are not (first: row {row}, {shown})."
        )
