"""The paper's table of datasets: features, sizes of both parts, and the share of censored rows."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

__all__ = ["PublishedDataset", "published_datasets"]


class PublishedDataset(NamedTuple):
    """A row of the table, as printed."""

    features: int
    n_train: int
    n_test: int
    censored: float


@cache
def published_datasets() -> Mapping[str, PublishedDataset]:
    """The 21 rows by name of the dataset."""
    file = resources.files("aldsurv") / "benchmark" / "paper" / "numbers" / "datasets.csv"
    rows = csv.DictReader(file.read_text(encoding="ascii").splitlines())
    return {
        row["dataset"]: PublishedDataset(
            int(row["features"]), int(row["n_train"]), int(row["n_test"]), float(row["censored"])
        )
        for row in rows
    }
