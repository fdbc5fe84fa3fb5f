"""Titles of datasets, models and metrics, from their records."""

from __future__ import annotations

from aldsurv.datasets.catalogue import DATASETS
from aldsurv.registry import METRICS, MODELS, PEERS

__all__ = ["dataset_title", "metric_title", "model_title"]

# Values that a benchmark records besides metrics.
_OTHER_VALUES = {"f0_p50": "F(0|x), 50 %", "f0_p75": "F(0|x), 75 %", "f0_p95": "F(0|x), 95 %"}


def metric_title(name: str) -> str:
    """Short title of a metric; an unknown name is its own title."""
    return METRICS[name].short_title if name in METRICS else _OTHER_VALUES.get(name, name)


def model_title(name: str) -> str:
    """Title of a model; an unknown name is its own title."""
    return PEERS.title(name) if name in PEERS else MODELS.title(name)


def dataset_title(name: str) -> str:
    """Title of a dataset; an unknown name is its own title."""
    return DATASETS.title(name)
