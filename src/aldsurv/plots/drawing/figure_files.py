"""Writing figures to files, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

import matplotlib
from matplotlib.figure import Figure, SubFigure

from aldsurv.errors import ParameterError
from aldsurv.files.writing import whole_file

__all__ = ["AnyFigure", "save_figure", "whole_figure"]

# The ``figure`` of axes.
AnyFigure: TypeAlias = Figure | SubFigure

# Without dates, the same figure gives the same file.
_METADATA: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float = 150) -> Path:
    """Write a figure and return its path; if writing fails, an old file stays as it was.

    Parameters
    ----------
    figure
        Figure to write.
    path
        Name of the file, ending in .png, .svg or .pdf; the folder must exist.
    dpi
        Dots per inch of a PNG.
    """
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        endings = ", ".join(f".{ending}" for ending in _METADATA)
        raise ParameterError(f"path must end in {endings}, but is {str(path)!r}.", argument="path")
    with whole_file(target) as file, matplotlib.rc_context({"svg.hashsalt": "aldsurv"}):
        figure.savefig(file, format=kind, dpi=dpi, bbox_inches="tight", metadata=_METADATA[kind])
    return target


def whole_figure(figure: AnyFigure) -> Figure:
    """The figure itself, or the one that a part belongs to."""
    return figure if isinstance(figure, Figure) else whole_figure(figure.figure)
