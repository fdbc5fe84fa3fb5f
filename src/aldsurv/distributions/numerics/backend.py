"""The seam between formulas and arrays: one formula runs on numpy and on torch.

Formulas ask an array for its namespace and call that; this module has what the array API standard leaves
out. torch is never imported from here: it is reached only through tensors a caller brought along.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from array_api_compat import is_torch_array

__all__ = [
    "Array",
    "Namespace",
    "as_like",
    "is_numpy",
    "namespace",
    "random_exponential",
    "special",
    "without_gradient",
]

Array: TypeAlias = Any
Namespace: TypeAlias = Any


def namespace(array: Array) -> Namespace:
    """Array API namespace of ``array``: torch's for tensors, numpy's for everything else."""
    if is_torch_array(array):
        # array_api_compat.torch imports torch, which is loaded already if we hold a tensor.
        from array_api_compat import torch as torch_namespace

        return torch_namespace
    # numpy follows the array API standard itself; the compatible namespace would only add its import time.
    return np


def is_numpy(xp: Namespace) -> bool:
    """Whether ``xp`` works on numpy arrays."""
    return xp is np


def as_like(value: object, like: Array) -> Array:
    """Return ``value`` as an array of the kind, precision and device of ``like``."""
    xp = namespace(like)
    if is_numpy(xp):
        return np.asarray(value, dtype=like.dtype)
    if is_torch_array(value):
        return value.to(dtype=like.dtype, device=like.device)
    # Through float64: torch would copy a nested list number by number. A copy: torch warns of read-only arrays.
    return xp.asarray(np.array(value, dtype=np.float64), dtype=like.dtype, device=like.device)


def without_gradient(array: Array) -> Array:
    """Same values, cut off from the graph that torch would differentiate."""
    return array.detach() if is_torch_array(array) else array


def special(xp: Namespace) -> Any:
    """Special functions of the backend: ``scipy.special``, or ``torch.special``, which has the same names."""
    if is_numpy(xp):
        import scipy.special

        return scipy.special
    return xp.special


def random_exponential(shape: tuple[int, ...], random_state: Any, like: Array) -> Array:
    """Standard exponential draws, the same numbers on every backend for the same ``random_state``."""
    generator = np.random.default_rng(random_state)
    return as_like(generator.standard_exponential(shape), like)
