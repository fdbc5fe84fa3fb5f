"""Datasets by name: the 21 of the paper, synthetic ones with their true distributions, and any table of yours."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aldsurv.datasets.catalogue import DATASETS
from aldsurv.datasets.dataset import Dataset
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.loading import describe, load, load_split, names

if TYPE_CHECKING:
    from aldsurv.datasets.download import fetch
    from aldsurv.tables.parts.opening import open_table
    from aldsurv.tables.table_reading import read_blocks, read_table

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetInfo",
    "describe",
    "fetch",
    "load",
    "load_split",
    "names",
    "open_table",
    "read_blocks",
    "read_table",
]

# What downloads and reads files is loaded on first use: the synthetic datasets need none of it.
_HOMES = {
    "fetch": "aldsurv.datasets.download",
    "open_table": "aldsurv.tables.parts.opening",
    "read_blocks": "aldsurv.tables.table_reading",
    "read_table": "aldsurv.tables.table_reading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aldsurv.datasets' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
