"""What the study has found so far, by model and dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from statistics import fmean
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.benchmark.statistics import as_loss
from bench.accuracy.models import ALL, fingerprint
from bench.study_runs import Lines

__all__ = ["Found", "loss"]

FloatArray = NDArray[np.float64]
_TEXT = ("model", "dataset", "seed")


def loss(metric: str, values: Any) -> FloatArray:
    """Values turned so that lower is better; slopes by their distance from 1, intercepts from 0."""
    return as_loss(metric, values)


@final
class Found:
    """The lines of one stage that belong to the models as they are set today; of two of a cell, the later.

    Parameters
    ----------
    folder
        Of the results.
    stage
        Which stage.
    """

    def __init__(self, folder: Path | str, stage: str) -> None:
        known: dict[str, str] = {}
        self.cells: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
        self.failures: dict[tuple[str, str, int], str] = {}
        for line in Lines(folder).read(stage):
            if line["model"] in ALL and line["model"] not in known:
                known[line["model"]] = fingerprint(ALL[line["model"]](0))
            if known.get(line["model"]) != line["settings"]:
                continue
            key = line["model"], line["dataset"], line["seed"]
            if "error" in line:
                self.failures[key] = line["error"]
                continue
            self.failures.pop(key, None)
            self.cells.setdefault(key[:2], {})[line["seed"]] = line

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, str]]) -> Found:
        """The same of the rows of docs/results/accuracy.csv; what a cell does not have is empty there."""
        found = cls.__new__(cls)
        found.cells, found.failures = {}, {}
        for row in rows:
            scores = {name: float(text) for name, text in row.items() if name not in _TEXT and text}
            found.cells.setdefault((row["model"], row["dataset"]), {})[int(row["seed"])] = scores
        return found

    def first(self, seeds: int) -> Found:
        """The same of the first seeds only: what is compared must be of the same splits."""
        fewer = copy(self)
        fewer.cells = {
            key: {seed: line for seed, line in runs.items() if seed < seeds} for key, runs in self.cells.items()
        }
        fewer.cells = {key: runs for key, runs in fewer.cells.items() if runs}
        return fewer

    def models(self, datasets: Sequence[str]) -> list[str]:
        """Those that have a result on each of the datasets, in the order of the study's tables."""
        return [name for name in ALL if all((name, dataset) in self.cells for dataset in datasets)]

    def values(self, model: str, dataset: str, metric: str) -> dict[int, float]:
        """By seed."""
        runs = self.cells.get((model, dataset), {})
        return {seed: float(runs[seed][metric]) for seed in sorted(runs) if metric in runs[seed]}

    def mean(self, model: str, dataset: str, metric: str) -> float:
        """Over the seeds."""
        values = list(self.values(model, dataset, metric).values())
        return fmean(values) if values else float("nan")

    def over(self, model: str, datasets: Sequence[str], metric: str) -> float:
        """The mean over datasets of the mean over seeds."""
        return fmean(self.mean(model, dataset, metric) for dataset in datasets)

    def count(self, model: str, datasets: Sequence[str]) -> int:
        """How many cells there are."""
        return sum(len(self.cells.get((model, dataset), {})) for dataset in datasets)

    def paired(self, model: str, other: str, dataset: str, metric: str) -> tuple[FloatArray, FloatArray]:
        """Losses of two models on the seeds that both have."""
        first, second = self.values(model, dataset, metric), self.values(other, dataset, metric)
        seeds = [seed for seed in first if seed in second]
        return loss(metric, [first[seed] for seed in seeds]), loss(metric, [second[seed] for seed in seeds])
