"""The cells of a learning curve in a file, from which one that was stopped goes on."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from pathlib import Path
from typing import Any

from aldsurv import __version__
from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError
from aldsurv.files.writing import write_text
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.rows.training_rows import data_fingerprint
from aldsurv.planning.growing_parts import LearningCell

__all__ = ["curve_fingerprint", "read_cells", "write_cells"]

_KIND = "aldsurv learning curve"


def curve_fingerprint(
    estimator: SurvivalEstimator, X: object, y: SurvivalData, *, held_out: float, random_state: int
) -> str:
    """SHA-256 of what a cell depends on beside its number of rows and its repetition."""
    parameters = estimator.get_params(deep=False)
    with warnings.catch_warnings():
        # The fits give the same warnings.
        warnings.simplefilter("ignore")
        numbers = Features.learn(X, categorical=parameters.get("categorical")).transform_exactly(X)
    model = [type(estimator).__name__, repr(sorted(parameters.items(), key=lambda item: item[0]))]
    everything = json.dumps([__version__, data_fingerprint(numbers, y), *model, held_out, random_state])
    return hashlib.sha256(everything.encode()).hexdigest()


def write_cells(path: Path, fingerprint: str, cells: list[LearningCell]) -> None:
    """Write the cells as a whole: a file that was there is replaced."""
    entries = [
        {
            "repeat": cell.repeat,
            "rows": cell.rows,
            "events": cell.events,
            "scores": {name: value if math.isfinite(value) else None for name, value in cell.scores.items()},
        }
        for cell in cells
    ]
    write_text(path, json.dumps({"kind": _KIND, "fingerprint": fingerprint, "cells": entries}, indent=1))


def read_cells(path: Path, fingerprint: str) -> list[LearningCell]:
    """The cells of a file; none if there is no file, an error if it is of something else."""
    if not path.exists():
        return []
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        is_curve = document["kind"] == _KIND
        cells = [_cell(entry) for entry in document["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        is_curve, document, cells = False, {}, []
    if not is_curve or document.get("fingerprint") != fingerprint:
        what = "of another table, model or seed" if is_curve else "not a learning curve"
        raise DataError(f"{str(path)!r} is {what}", argument="record", advice="Name another file, or remove this one.")
    return cells


def _cell(entry: dict[str, Any]) -> LearningCell:
    scores = {str(name): math.nan if value is None else float(value) for name, value in entry["scores"].items()}
    return LearningCell(int(entry["repeat"]), int(entry["rows"]), int(entry["events"]), scores)
