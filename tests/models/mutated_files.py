"""Model files in which one thing was changed, with a checksum that is right: read, or refused."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import aldsurv
from aldsurv.errors import DataError, ModelFileError
from aldsurv.files.model_file import write_model_file
from aldsurv.registry import MODELS

NUMBERS = (1e308, -1e308, 5e-324, 1e30, -1e30, 1e-30, 0, -1, 0.5, 3, 10**18, 10**400)
OTHERS = ("1", None, True, [], {})
VALUES = (1e308, -1e308, 5e-324, 1e30, -1e30, 1e14, 1e8, -1e8, 0.0, -1.0, 300.0, np.nan, np.inf, -np.inf)
LEVELS = (0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999)


def leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the plain values of a document are."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def changed_documents(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in leaves(document):
        value: Any = document
        for key in path:
            value = value[key]
        for new in (*(NUMBERS if isinstance(value, (int, float)) else ()), *OTHERS):
            changed = copy.deepcopy(document)
            inner: Any = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = new
            yield f"{'.'.join(map(str, path))}={str(new)[:20]}", changed


def changed_arrays(arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    for name, array in arrays.items():
        for value in VALUES:
            for where in ("all", 0, -1) if array.size > 1 else ("all",):
                new = array.copy()
                with np.errstate(all="ignore"):
                    new.reshape(-1)[slice(None) if where == "all" else where] = np.asarray(value).astype(array.dtype)
                yield f"{name}[{where}]={value}", {**arrays, name: new}
        for label, new in (
            ("shorter", array[:-1]),
            ("doubled", np.concatenate([array, array])),
            ("flat", array.reshape(-1)),
            ("backwards", np.ascontiguousarray(array[::-1])),
            ("float32", array.astype(np.float32)),
        ):
            yield f"{name} {label}", {**arrays, name: new}
        yield f"without {name}", {key: value for key, value in arrays.items() if key != name}


def mutations(model: Any) -> Iterator[tuple[str, dict[str, Any], dict[str, np.ndarray]]]:
    """A name for each change, and the changed content of the model's file."""
    document, arrays = model._to_file()
    name = MODELS.name_of(type(model))
    document = {
        "kind": "fitted model",
        "model": MODELS.name_of(type(model)),
        "version": aldsurv.__version__,
        **document,
    }
    # As JSON has it.
    document = copy.deepcopy({**document})
    for name, changed in changed_documents(document):
        yield name, changed, arrays
    for name, changed_values in changed_arrays(arrays):
        yield name, document, changed_values


def flaw(path: Path, document: dict[str, Any], arrays: dict[str, np.ndarray], X: Any) -> str | None:
    """What is wrong with the predictions of a file; None if it was refused or keeps the laws."""
    try:
        write_model_file(path, document, arrays)
        model = aldsurv.load(path)
    except ModelFileError as error:
        told = str(error)
        return None if told.isprintable() and len(told) < 800 else "the message is not one short line"
    except aldsurv.AldsurvError:
        # The writer refuses what no file can hold.
        return None
    try:
        with np.errstate(all="ignore"):
            distribution = model.predict_distribution(X)
    except DataError as error:
        # Columns of other names are no fault of the file.
        return None if "feature names" in str(error) else str(error)
    with np.errstate(all="ignore"):
        last = float(model.unique_times_[-1])
        survival = np.asarray(distribution.survival(np.linspace(0, 3 * abs(last), 40)))
        quantiles = np.asarray(distribution.quantile(np.array(LEVELS)))
    if not ((survival >= 0) & (survival <= 1)).all():
        return f"survival is {survival[~((survival >= 0) & (survival <= 1))][0]}"
    if (np.diff(survival, axis=1) > 1e-9).any():
        return "survival rises"
    if np.isnan(quantiles).any():
        return "a quantile is NaN"
    with np.errstate(invalid="ignore"):
        steps = np.diff(quantiles, axis=1)
    if (steps < -1e-9 * np.abs(quantiles[:, 1:])).any():
        return "quantiles are out of order"
    return None
