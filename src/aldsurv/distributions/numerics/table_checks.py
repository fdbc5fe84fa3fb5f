"""Checks for distributions that come as tables: grids of times, survival curves, quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace
from aldsurv.errors import ParameterError

__all__ = ["checked_curves", "checked_grid", "checked_levels", "checked_table"]

# Survival computed by exponentials and products may rise by rounding; more than this is a mistake.
_ROUNDING = 1e-9


def checked_table(values: Any, name: str) -> Array:
    """``values`` as an array (n, m) of finite numbers with m ≥ 1."""
    xp = namespace(values)
    table = _numbers(values, name)
    if table.ndim == 1:
        table = table[None, :]
    if table.ndim != 2 or table.shape[1] == 0:
        raise ParameterError(f"{name} must have shape (n, m) with m ≥ 1, but has {tuple(table.shape)}.")
    _refuse(~xp.isfinite(table), table, f"{name} must be finite")
    return table


def checked_curves(survival: Any, name: str) -> Array:
    """Survival curves in rows: between 0 and 1, falling; a rise by rounding is levelled."""
    curves = checked_table(survival, name)
    xp = namespace(curves)
    _refuse((curves < -_ROUNDING) | (curves > 1 + _ROUNDING), curves, f"{name} must lie between 0 and 1")
    curves = xp.clip(curves, 0.0, 1.0)
    rises = xp.concat([xp.zeros_like(curves[:, :1], dtype=xp.bool), curves[:, 1:] > curves[:, :-1] + _ROUNDING], axis=1)
    _refuse(rises, curves, f"{name} must not rise with time")
    if is_numpy(xp):
        return np.minimum.accumulate(curves, axis=1)
    return curves.cummin(dim=1).values


def checked_grid(given: Any, curves: Array) -> Array:
    """Times of a grid as (1, m) or (n, m), strictly increasing."""
    times = as_like(_numbers(given, "times"), curves)
    xp = namespace(times)
    grid = times[None, :] if times.ndim == 1 else times
    n, m = curves.shape
    if grid.ndim != 2 or grid.shape[0] not in (1, n) or grid.shape[1] != m:
        raise ParameterError(
            f"times must have shape ({m},) or ({n}, {m}) to match the table's ({n}, {m}), but has {tuple(times.shape)}."
        )
    _refuse(~xp.isfinite(grid), grid, "times must be finite")
    stalls = xp.concat([xp.zeros_like(grid[:, :1], dtype=xp.bool), grid[:, 1:] <= grid[:, :-1]], axis=1)
    _refuse(stalls, grid, "times must be strictly increasing")
    return grid


def checked_levels(levels: Any, count: int) -> np.ndarray:
    """Probabilities strictly between 0 and 1, strictly increasing, ``count`` of them."""
    array = np.asarray(_numbers(levels, "levels"))
    if array.ndim != 1 or array.size != count:
        raise ParameterError(
            f"levels must be a vector with one level for each of {count} columns, but has shape {array.shape}."
        )
    if not (np.all((array > 0) & (array < 1)) and np.all(np.diff(array) > 0)):
        raise ParameterError("levels must be strictly increasing and between 0 and 1, as in [0.1, 0.5, 0.9].")
    return array


def _numbers(values: Any, name: str) -> Array:
    """A copy as float64, or the tensor itself in a floating precision."""
    xp = namespace(values)
    if not is_numpy(xp):
        return values if xp.isdtype(values.dtype, "real floating") else xp.astype(values, xp.float64)
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be numbers in rows of one length, but: {error}.") from None


def _refuse(bad: Array, table: Array, rule: str) -> None:
    xp = namespace(bad)
    count = int(xp.sum(xp.astype(bad, xp.int64)))
    if count:
        first = int(xp.argmax(xp.reshape(xp.astype(bad, xp.int64), (-1,))))
        row, column = divmod(first, bad.shape[1])
        value = float(table[row, column])
        total = bad.shape[0] * bad.shape[1]
        raise ParameterError(
            f"{rule}, but {count} of {total} values break that (first: row {row}, column {column}, {value:g})."
        )
