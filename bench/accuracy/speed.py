"""Seconds of a fit beside those of boosting: in turns in one process, so that what slows one slows the other."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

from bench.accuracy.data import Part, parts
from bench.accuracy.models import COMPARED
from bench.accuracy.tables import markdown
from bench.study_runs import keep

__all__ = ["speed"]

_TIMED = ("default", "xgb_cox x5", "xgb_aft x5", "xgb_cox", "paper")
_AGAINST = "xgb_cox x5"


def speed(folder: Path, dataset: str = "metabric", repetitions: int = 5) -> str:
    """A table of the median seconds of a fit to the training part, and the median ratio within a turn.

    It is kept in the folder, for the report. Every fit has one thread; seconds of the processor are shown beside those
    of the clock, which other work on the machine makes longer.
    """
    import torch

    torch.set_num_threads(1)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in _TIMED}
    # The first turn also imports, and is not counted.
    for turn in range(repetitions + 1):
        learn, _ = parts("test", dataset, turn % 10)
        for name in _TIMED:
            seconds = _seconds(COMPARED[name](turn), learn)
            if turn:
                taken[name].append(seconds)
    rows, ratio = [], {}
    for name, own in taken.items():
        clock, processor = (median(turn[kind] for turn in own) for kind in range(2))
        ratio[name] = [
            median(mine[kind] / other[kind] for mine, other in zip(own, taken[_AGAINST], strict=True))
            for kind in range(2)
        ]
        rows.append([name, f"{clock:.2f}", f"{ratio[name][0]:.2f}", f"{processor:.2f}", f"{ratio[name][1]:.2f}"])
    times = f"times {_AGAINST}"
    table = markdown([f"{dataset}, {repetitions} turns", "seconds", times, "of the processor", times], rows)
    keep(folder, "speed", {"ratio": ratio["default"][0], "table": table})
    return table


def _seconds(model: Any, learn: Part) -> tuple[float, float]:
    """Of the clock and of the processor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start, processor = time.perf_counter(), time.process_time()
        model.fit(learn.x, learn.y)
        return time.perf_counter() - start, time.process_time() - processor
