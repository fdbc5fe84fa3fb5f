"""Inputs of encoders, and the library that runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError, MissingDependencyError

__all__ = ["encode_rows", "encoded", "raw_inputs", "require_torch"]

_ROWS_AT_ONCE = 1024


def raw_inputs(X: object) -> NDArray[Any]:
    """Inputs for an encoder: numbers of any shape (n, ...), floats as float32, whole numbers as int64."""
    x = np.asarray(X)
    if x.ndim < 2 or not len(x):
        raise DataError(f"with an encoder X must have shape (n, ...) and at least one row, but has {x.shape}.")
    if x.dtype.kind in "iub":
        return np.ascontiguousarray(x, np.int64)
    if x.dtype.kind != "f":
        raise DataError(f"with an encoder X must be numbers, but is of type {x.dtype}.")
    x = np.ascontiguousarray(x, np.float32)
    if not np.isfinite(x).all():
        raise DataError("with an encoder X must be finite, but has gaps or infinite values. Fill or drop them.")
    return x


def encode_rows(encoders: list[Any], x: NDArray[Any]) -> NDArray[np.float32]:
    """What the encoders of all members make of the rows (members, rows, numbers), some rows at a time."""
    import torch

    blocks = []
    with torch.no_grad():
        for start in range(0, len(x), _ROWS_AT_ONCE):
            block = torch.from_numpy(x[start : start + _ROWS_AT_ONCE])
            blocks.append(np.stack([encoded(encoder, block).numpy() for encoder in encoders]))
    return np.concatenate(blocks, axis=1).astype(np.float32)


def encoded(encoder: Any, x: Any) -> Any:
    """What an encoder makes of `x`, or an error that says that it cannot take it."""
    try:
        return encoder(x)
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        raise DataError(
            f"the encoder cannot take X of type {str(x.dtype).removeprefix('torch.')} and shape {tuple(x.shape)}: "
            f"{' '.join(str(error).split())[:160]}. Give floats to compute with, or whole numbers to look up."
        ) from None


def require_torch(owner: str) -> Any:
    """The module torch, or an error that says how to get it."""
    try:
        import torch
    except ImportError:
        raise MissingDependencyError(
            f"{owner} needs torch to train (not to predict). Install it with: pip install 'aldsurv[torch]'."
        ) from None
    return torch
