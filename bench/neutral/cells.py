"""One fit of the study: a model on the training rows of one iteration, judged by its test rows or by inner ones."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData
from bench.accuracy.models import fingerprint
from bench.neutral.models import model_named
from bench.neutral.scores import scores
from bench.neutral.study import Study

__all__ = ["INNER_PARTS", "STAGES", "Cell", "inner_split", "run_cell"]

# Into how many parts the training rows are divided, of which each is held out once. With thirds, models learn from less
# than half of a dataset, which may favour what helps smaller tables.
INNER_PARTS = {"inner": 3, "eighths": 8}
# Whether the rows that judge are the study's test rows, or parts of its training rows.
STAGES = ("folds", *INNER_PARTS)


class Cell(NamedTuple):
    """What is fitted to what; `fold` counts inner folds from 1 and is 0 in stage ``folds``."""

    stage: str
    model: str
    dataset: str
    iteration: int
    fold: int
    settings: str
    folder: str

    @classmethod
    def of(cls, stage: str, model: str, dataset: str, iteration: int, fold: int, folder: Path | str) -> Cell:
        """The cell of a model as it is set today."""
        return cls(stage, model, dataset, iteration, fold, fingerprint(model_named(model, 0)), str(folder))

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.stage} {self.model} / {self.dataset} / {self.iteration}" + (f".{self.fold}" if self.fold else "")


def run_cell(cell: Cell) -> dict[str, Any]:
    """The cell with its scores and seconds, or with the error that it ended with, on one line."""
    line: dict[str, Any] = cell._asdict()
    try:
        table = Study(cell.folder).table(cell.dataset)
        train, test = table.split(cell.iteration)
        if cell.stage in INNER_PARTS:
            train, test = inner_split(table.y, train, cell.iteration, cell.fold, INNER_PARTS[cell.stage])
        (x, y), (test_x, test_y) = table.part(train), table.part(test)
        model = model_named(cell.model, cell.iteration)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _one_thread()
            processor = time.process_time()
            model.fit(x, y)
            line["seconds"] = time.process_time() - processor
            line |= scores(model, test_x, test_y, y)
    except Exception as error:
        message = " ".join(str(error).split())
        line["error"] = f"{type(error).__name__}: {message}"[:500]
    return line


def inner_split(
    y: SurvivalData, train: NDArray[np.int64], iteration: int, fold: int, parts: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training rows of an iteration in parts, stratified by status as the study does, one of them held out."""
    order = np.random.default_rng(iteration).permutation(train)
    order = order[np.argsort(~y.event[order], kind="stable")]
    held = np.arange(len(order)) % parts == fold - 1
    return np.sort(order[~held]), np.sort(order[held])


def _one_thread() -> None:
    from threadpoolctl import threadpool_limits

    with suppress(ImportError):
        import torch

        torch.set_num_threads(1)
    threadpool_limits(1)
