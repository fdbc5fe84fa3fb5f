"""One cell of the study: a model, a dataset and a seed, fitted alone and judged."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from typing import Any, NamedTuple

from bench.accuracy.data import Part, parts
from bench.accuracy.models import ALL, fingerprint
from bench.accuracy.scores import measured

__all__ = ["Cell", "run_cell"]

# Models that this process has fitted before.
_WARM: set[str] = set()
_FEW = 100


class Cell(NamedTuple):
    """What is fitted, to what; `settings` is the fingerprint of the model's."""

    stage: str
    model: str
    dataset: str
    seed: int
    settings: str

    @classmethod
    def of(cls, stage: str, model: str, dataset: str, seed: int) -> Cell:
        """The cell of a model as it is set today."""
        return cls(stage, model, dataset, seed, fingerprint(ALL[model](seed)))

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.stage} {self.model} / {self.dataset} / {self.seed}"


def run_cell(cell: Cell) -> dict[str, Any]:
    """The cell with its scores and seconds, or with the error that it ended with, on one line."""
    found: dict[str, Any] = cell._asdict()
    try:
        learn, held = parts(cell.stage, cell.dataset, cell.seed)
        model = ALL[cell.model](cell.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _warm_up(cell.model, learn)
            start, processor = time.perf_counter(), time.process_time()
            model.fit(learn.x, learn.y)
            found["seconds"] = time.perf_counter() - start
            found["processor_seconds"] = time.process_time() - processor
            found |= measured(model, learn, held)
    except Exception as error:
        told = " ".join(str(error).split())
        found["error"] = f"{type(error).__name__}: {told}"[:500]
    return found


def _warm_up(model: str, learn: Part) -> None:
    """What a process does once, such as importing a library, is no part of the time of a fit."""
    from threadpoolctl import threadpool_limits

    # As fast for networks as small as these, and the same bits on any number of cores.
    with suppress(ImportError):
        import torch

        torch.set_num_threads(1)
    threadpool_limits(1)
    if model not in _WARM:
        _WARM.add(model)
        # All of it fails, or none: the fit that counts says why.
        with suppress(Exception):
            ALL[model](0).fit(learn.x[:_FEW], learn.y[:_FEW])
