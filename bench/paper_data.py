"""The paper's datasets as the studies here take them: arrays, one run of the paper a seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv import datasets
from aldsurv.errors import AldsurvError

FloatArray = NDArray[np.float64]
SYNTHETIC = [name for name in datasets.names(paper=True) if datasets.describe(name).kind == "synthetic"]
REAL = [name for name in datasets.names(paper=True) if name not in SYNTHETIC]


class Table(NamedTuple):
    """Covariates, times and events."""

    x: FloatArray
    time: FloatArray
    event: NDArray[np.bool_]

    def rows(self, chosen: NDArray[np.intp]) -> Table:
        """Some of the rows."""
        return Table(self.x[chosen], self.time[chosen], self.event[chosen])


def table(data: datasets.Dataset) -> Table:
    return Table(data.x, data.y.time, data.y.event)


def available() -> bool:
    """Whether the publishers' files are in the data folder."""
    try:
        datasets.load("metabric")
    except AldsurvError:
        return False
    return True


def split(name: str, seed: int, *, leak_free: bool = False) -> tuple[Table, Table]:
    """Training and test rows of a run, synthetic ones as the paper's numbers were made with.

    Leak-free: of rows that belong together (WHAS and BreastMSK have several of one patient) only the first.
    """
    if name in SYNTHETIC or not leak_free:
        train, test = datasets.load_split(name, seed=seed, definition="released")
    else:
        data = datasets.load(name)
        if data.groups is not None:
            data = data[np.sort(np.unique(data.groups, return_index=True)[1])]
        train, test = data.split(seed=seed)
    return table(train), table(test)
