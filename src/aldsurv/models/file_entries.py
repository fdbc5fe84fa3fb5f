"""Entries of a model file: what JSON can hold, and checks of untrusted input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import ModelFileError

__all__ = [
    "LARGEST_NUMBER",
    "NOT_SAVED",
    "Arrays",
    "Document",
    "FileContent",
    "finite_floats",
    "from_portable",
    "portable",
    "require",
    "saved_parameters",
    "text",
    "with_parameters",
]

# Entries and arrays of a model file, as they are read and as a model writes them.
Document: TypeAlias = Mapping[str, Any]
Arrays: TypeAlias = Mapping[str, NDArray[Any]]
FileContent: TypeAlias = tuple[dict[str, Any], dict[str, NDArray[Any]]]

# Of numbers in a file: beyond it, or below its inverse, times and their squares overflow.
LARGEST_NUMBER = 1e150

# Not part of a model: where and how it happened to be trained.
NOT_SAVED = {"encoder", "callbacks", "checkpoint", "progress", "device"}


def saved_parameters(model: Any) -> dict[str, Any]:
    """The constructor's parameters of an estimator, those that belong to the model."""
    return {name: portable(value) for name, value in model.get_params().items() if name not in NOT_SAVED}


def with_parameters(kind: Any, parameters: Any) -> Any:
    """An estimator of that class with the parameters of a file."""
    require(isinstance(parameters, dict), "parameters must be named")
    # An untrusted file must not name a path to write to, or a device.
    names = set(kind.parameter_defaults()) - NOT_SAVED
    given = set(parameters)
    require(names - kind.LATER_PARAMETERS <= given <= names, "its parameters are not those of this model")
    return kind(**{name: from_portable(value) for name, value in parameters.items()})


def portable(value: object) -> Any:
    """A parameter as JSON can hold it; None in place of a random generator."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [portable(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else None


def from_portable(value: object) -> Any:
    """The inverse of `portable`: lists were tuples."""
    return tuple(from_portable(item) for item in value) if isinstance(value, list) else value


def require(holds: bool, complaint: str) -> None:
    """Raise `ModelFileError` with the complaint unless it holds."""
    if not holds:
        raise ModelFileError(f"the file cannot be used: {complaint}.")


def text(value: object, name: str) -> str:
    """A text of a file."""
    require(isinstance(value, str), f"{name} must be text")
    return str(value)


def finite_floats(arrays: Arrays, name: str) -> NDArray[np.float64]:
    """An array of a file that must be there and hold finite numbers."""
    if name not in arrays:
        raise ModelFileError(f"the file cannot be used: {name} is missing.")
    array = arrays[name]
    require(array.dtype == np.float64 and bool(np.isfinite(array).all()), f"{name} must be finite numbers")
    require(bool((np.abs(array) <= LARGEST_NUMBER).all()), f"{name} must be numbers of at most {LARGEST_NUMBER:g}")
    return array
