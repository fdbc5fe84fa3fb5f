"""A dataset as somebody adds it: a function that reads its rows, and a record that says where the function is."""

from __future__ import annotations

import numpy as np

from aldsurv import SurvivalData
from aldsurv.datasets import Dataset, DatasetInfo


def load_line(info: DatasetInfo) -> Dataset:
    """Times on a straight line, every third row censored."""
    x = np.linspace(0.0, 1.0, info.rows)[:, None]
    return Dataset(x, SurvivalData.right(1.0 + x[:, 0], np.arange(info.rows) % 3 > 0), info)


LINE = DatasetInfo(
    name="line",
    location="datasets.added_dataset:load_line",
    title="The Line",
    purpose="times on a straight line",
    kind="clinical",
    n_train=80,
    n_test=20,
    feature_names=("x",),
    censored=0.34,
    unit="days",
    source="computed",
    licence="none needed",
    citation="none",
)
