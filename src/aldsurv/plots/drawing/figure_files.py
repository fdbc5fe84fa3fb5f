"""Writing figures to files that are either whole or not there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from aldsurv.errors import ParameterError
from aldsurv.files.writing import whole_file

__all__ = ["save_figure"]

# Without dates, the same figure gives the same file.
_METADATA: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float = 150) -> Path:
    """Write a figure and return its path, which holds the old file or the whole new one, never a part.

    Parameters
    ----------
    figure
        What to write.
    path
        Where to, ending in .png, .svg or .pdf; the folder must exist.
    dpi
        Dots per inch of a PNG.
    """
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        raise ParameterError(f"path must end in {', '.join('.' + known for known in _METADATA)}, but is {str(path)!r}.")
    with whole_file(target) as file, matplotlib.rc_context({"svg.hashsalt": "aldsurv"}):
        figure.savefig(file, format=kind, dpi=dpi, bbox_inches="tight", metadata=_METADATA[kind])
    return target
