"""The study's datasets, folds and published scores, read from a folder of the layout that docs/neutral.md describes."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from aldsurv import SurvivalData

__all__ = ["Study", "Table"]

IntArray = NDArray[np.int64]
# Names the folder, as ALDSURV_DATA names that of the other datasets.
_VARIABLE = "ALDSURV_NEUTRAL"


@final
class Table:
    """One dataset: covariates, outcomes, and which rows every iteration holds out."""

    def __init__(self, name: str, x: pd.DataFrame, y: SurvivalData, held: NDArray[np.bool_]) -> None:
        self.name, self.x, self.y, self.held = name, x, y, held

    @property
    def iterations(self) -> int:
        """Folds times repetitions."""
        return self.held.shape[1]

    def split(self, iteration: int) -> tuple[IntArray, IntArray]:
        """Training and test rows of an iteration, counted from 1 as the study does."""
        test = self.held[:, iteration - 1]
        return np.flatnonzero(~test), np.flatnonzero(test)

    def part(self, rows: IntArray) -> tuple[pd.DataFrame, SurvivalData]:
        """Covariates and outcomes of rows."""
        return self.x.iloc[rows].reset_index(drop=True), self.y[rows]


@final
class Study:
    """A folder with ``datasets/NAME.csv``, ``folds/NAME.csv.gz`` and ``scores.csv.gz``."""

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder = Path(folder or os.environ.get(_VARIABLE, "neutral"))
        if not (self.folder / "datasets").is_dir():
            raise FileNotFoundError(f"there is no folder {self.folder}/datasets: name it by --data or {_VARIABLE}")

    @cached_property
    def names(self) -> list[str]:
        """Datasets of the folder."""
        return sorted(file.stem for file in (self.folder / "datasets").glob("*.csv"))

    def table(self, name: str) -> Table:
        """A dataset with its folds."""
        rows = pd.read_csv(self.folder / "datasets" / f"{name}.csv")
        # Text is a category, also where some of it looks like numbers.
        rows = rows.astype({column: "category" for column in rows.columns if rows[column].dtype == object})
        y = SurvivalData.right(rows.pop("time").to_numpy(float), rows.pop("status").to_numpy() == 1)
        held = pd.read_csv(self.folder / "folds" / f"{name}.csv.gz").to_numpy() == 1
        if len(held) != len(rows):
            raise ValueError(f"{name} has {len(rows)} rows, but its folds have {len(held)}")
        return Table(name, rows, y, held)

    @cached_property
    def published(self) -> pd.DataFrame:
        """The study's own scores: a line per dataset, learner, measure it was tuned for, and iteration."""
        return pd.read_csv(self.folder / "scores.csv.gz")
