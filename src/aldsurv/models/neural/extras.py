"""What a model knows beside its networks: numbers, arrays and texts, as typed fields that a file can hold."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import ParameterError
from aldsurv.models.file_entries import Arrays, Document, from_portable, portable

__all__ = ["Extras"]

ExtrasT = TypeVar("ExtrasT", bound="Extras")


@dataclass(frozen=True)
class Extras:
    """Nothing: a model whose network is all there is. Others add fields.

    A field is a number (annotated ``float``), an array, or text and tuples of text, of numbers or of such tuples. None
    is not yet known, or not needed.
    """

    @classmethod
    def of(cls: type[ExtrasT], extras: Extras) -> ExtrasT:
        """Extras that are of this kind."""
        if not isinstance(extras, cls):
            raise ParameterError(f"the model needs {cls.__name__}, but has {type(extras).__name__}.")
        return extras

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Numbers and arrays by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        found = {name: np.array([value]) if isinstance(value, float) else value for name, value in values.items()}
        return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}

    def to_dict(self) -> dict[str, Any]:
        """The rest, as JSON can hold it."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: portable(value)
            for name, value in values.items()
            if value is not None and not isinstance(value, (float, np.ndarray))
        }

    @classmethod
    def from_file(cls: type[ExtrasT], arrays: Arrays, document: Document) -> ExtrasT:
        """The inverse of `to_arrays` and `to_dict`, for a file that may hold anything."""
        kinds = {field.name: str(field.type) for field in fields(cls)}
        unknown = sorted(({*arrays, *document} - set(kinds)) | (set(arrays) & set(document)))
        if unknown:
            raise ParameterError(f"this model has no {unknown[0]} beside its network.")
        values: dict[str, Any] = {name: from_portable(value) for name, value in document.items()}
        for name, array in arrays.items():
            if not kinds[name].startswith("float"):
                values[name] = array
            elif array.shape == (1,) and array.dtype == np.float64:
                values[name] = float(array[0])
            else:
                raise ParameterError(f"{name} must be one number, but is {array!r:.60}.")
        return cls(**values)
