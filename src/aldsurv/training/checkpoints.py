"""A run on disk: tensors and numbers in the same kind of file as a model, never code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.errors import DataError
from aldsurv.files.model_file import read_model_file, write_model_file

__all__ = ["read_checkpoint", "write_checkpoint"]

_KIND = "training checkpoint"


def write_checkpoint(
    path: Path, fingerprint: str, progress: Mapping[str, NDArray[Any]], tensors: Mapping[str, Tensor]
) -> None:
    """Write all that a run needs to go on to the same bits.

    Parameters
    ----------
    path
        The file; replaced as a whole.
    fingerprint
        What the run depends on.
    progress
        Losses and best epochs so far.
    tensors
        Present and best weights, and what the optimiser remembers.
    """
    arrays = {f"progress.{name}": np.asarray(values) for name, values in progress.items()}
    arrays |= {name: value.detach().cpu().numpy() for name, value in tensors.items()}
    write_model_file(path, {"kind": _KIND, "fingerprint": fingerprint}, arrays)


def read_checkpoint(path: Path, fingerprint: str, tensors: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Copy what was written into `tensors`, and return the progress.

    `DataError` if the file is of another run: other data, settings or seed.
    """
    document, arrays = read_model_file(path)
    start = "progress."
    others = {name for name in arrays if not name.startswith(start)}
    if document.get("kind") != _KIND or document.get("fingerprint") != fingerprint or others != set(tensors):
        raise DataError(
            f"{path} is no checkpoint of this run: data, settings or random_state differ. "
            "Remove the file to start again, or name another one."
        )
    for name, tensor in tensors.items():
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(arrays[name].copy()))
    return {name.removeprefix(start): values.copy() for name, values in arrays.items() if name.startswith(start)}
