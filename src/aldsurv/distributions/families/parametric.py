"""Families whose rows are columns of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace
from aldsurv.distributions.time_zero import with_log_times
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["POSITIVE", "REAL", "Parametric", "as_parameter", "parameter_columns"]

# By domain: what is allowed, and which values of a column are not, given its namespace.
_DOMAINS: dict[str, tuple[str, Callable[[Any, Array], Array]]] = {
    "real": ("finite", lambda xp, column: ~xp.isfinite(column)),
    "positive": ("positive and finite", lambda xp, column: ~xp.isfinite(column) | (column <= 0)),
    "share": ("between 0 and 1, both excluded", lambda _, column: ~((column > 0) & (column < 1))),
}
# What a family declares of a parameter, with its field: the domain, and the link by which a network gives it.
REAL = {"domain": "real", "link": "identity"}
POSITIVE = {"domain": "positive", "link": "exp"}


class Parametric(SurvivalDistribution):
    """A family given by columns ``(n, 1)`` of parameters.

    Parameters may be given as numbers, vectors of n or columns; lists and numpy arrays become float64, torch
    tensors keep their precision and device, so a network trains in the precision it has.

    **A new family** is a frozen dataclass (``eq=False, repr=False``) in a file of its own, with one record in
    `aldsurv.registry`. It declares its parameters as fields, ``scale: Array = field(metadata=POSITIVE)``, of domain
    `REAL` or `POSITIVE`; another link than identity or exp is ``{**POSITIVE, "link": "softplus"}``. If the logarithm of
    the time has a distribution that is a family already, subclass `LogTime` and provide ``_log_family`` and
    ``_scaled``. Otherwise provide, for arguments that broadcast against ``(n, 1)`` on numpy and on torch:

    - ``_log_survival``, ``_log_cdf`` and ``_log_density`` at any time. Below the support survival is 1 and the density
      0; at infinity both are 0. At 0 the density is its limit from above, which may be infinite.
    - ``_scaled``: the distribution of the time multiplied by a positive column.
    - ``_lower`` if the support has a lower end; the default is the whole real line.
    - ``events_at_zero = True`` if the density at time 0 is finite and above 0 whatever the parameters are. Otherwise an
      event at time 0 has no likelihood, and a model reads it as one before the first later time (`training_rows`).

    All else is computed from these. Where there is a closed form, override ``_inverse_log_survival``, ``_residual``,
    ``_mean``, ``_variance``, ``_mode`` and ``_crps``, and ``_kinks`` where the density is not smooth; the numerical
    answers stay as a check.
    """

    events_at_zero: ClassVar[bool] = False

    def __post_init__(self) -> None:
        domains = self.parameters()
        for name, column in parameter_columns({name: getattr(self, name) for name in domains}, domains).items():
            object.__setattr__(self, name, column)

    @classmethod
    def parameters(cls) -> dict[str, str]:
        """Name and domain (``"real"`` or ``"positive"``) of each parameter."""
        return {field.name: field.metadata["domain"] for field in fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def links(cls) -> tuple[str, ...]:
        """For each parameter the link by which a network gives it, unless a model asks for another."""
        return tuple(field.metadata["link"] for field in fields(cls))  # type: ignore[arg-type]

    @classmethod
    def training_rows(cls, data: SurvivalData) -> SurvivalData:
        """The rows as a likelihood of this family reads them: events at time 0 only if they have a density."""
        return data if cls.events_at_zero else with_log_times(data)

    def _columns(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in self.parameters()}

    @property
    def _column(self) -> Array:
        return next(iter(self._columns().values()))

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(**{name: change(column) for name, column in self._columns().items()})

    def _join(self, others: Sequence[Self]) -> Self:
        xp = namespace(self._column)
        columns = {
            name: xp.concat([column, *(other._columns()[name] for other in others)], axis=0)
            for name, column in self._columns().items()
        }
        return self.from_checked(**columns)

    def __repr__(self) -> str:
        parts = [f"n={len(self)}"]
        if len(self):
            for name, column in self._columns().items():
                low, high = float(column.min()), float(column.max())
                parts.append(f"{name}={low:.4g}" if low == high else f"{name}={low:.4g}…{high:.4g}")
        return f"{type(self).__name__}({', '.join(parts)})"


def parameter_columns(values: Mapping[str, Any], domains: Mapping[str, str]) -> dict[str, Array]:
    """Parameters as columns of one backend, precision and length.

    Parameters
    ----------
    values
        By name; numbers, vectors or columns.
    domains
        By name: ``"real"``, ``"positive"`` or ``"share"``, a number between 0 and 1. Others raise `ParameterError`.
    """
    columns = _broadcast({name: as_parameter(value, name) for name, value in values.items()})
    for name, column in columns.items():
        _check_domain(column, name, domains[name])
    return columns


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
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ParameterError(f"parameters must have one length, but they differ: {shown}.")
    n = different[0] if different else 1
    return {
        name: namespace(column).broadcast_to(column, (n, 1)) if column.shape[0] != n else column
        for name, column in columns.items()
    }


def _check_domain(column: Array, name: str, domain: str) -> None:
    xp = namespace(column)
    allowed, outside = _DOMAINS[domain]
    bad = outside(xp, column)
    count = int(xp.sum(bad))
    if count:
        row = int(xp.argmax(xp.reshape(xp.astype(bad, xp.int64), (-1,))))
        value = float(column[row, 0])
        shown = "NaN" if math.isnan(value) else f"{value:g}"
        raise ParameterError(
            f"{name} must be {allowed}, but {count} of {len(column)} values are not (first: row {row}, {shown})."
        )
