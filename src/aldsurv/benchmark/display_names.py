"""How datasets, models and metrics are called where people read them."""

from __future__ import annotations

from aldsurv.registry import METRICS, MODELS, PEERS

__all__ = ["dataset_title", "metric_title", "model_title"]

# Columns of a benchmark besides the metrics.
_COLUMNS = {"f0_p50": "F(0|x), 50 %", "f0_p75": "F(0|x), 75 %", "f0_p95": "F(0|x), 95 %", "epochs": "epochs"}
_DATASETS = {
    "norm_linear": "Norm linear",
    "norm_nonlinear": "Norm non-linear",
    "exponential": "Exponential",
    "weibull": "Weibull",
    "lognorm": "LogNorm",
    "norm_uniform": "Norm uniform",
    "norm_heavy": "Norm heavy",
    "norm_med": "Norm med.",
    "norm_light": "Norm light",
    "norm_same": "Norm same",
    "lognorm_heavy": "LogNorm heavy",
    "lognorm_med": "LogNorm med.",
    "lognorm_light": "LogNorm light",
    "lognorm_same": "LogNorm same",
    "metabric": "METABRIC",
    "whas": "WHAS",
    "support": "SUPPORT",
    "gbsg": "GBSG",
    "tmbimmuno": "TMBImmuno",
    "breastmsk": "BreastMSK",
    "lgggbm": "LGGGBM",
}


def metric_title(name: str) -> str:
    """Name of a metric in print; an unknown one as it is."""
    return METRICS[name].short_title if name in METRICS else _COLUMNS.get(name, name)


def model_title(name: str) -> str:
    """Name of a model in print; an unknown one as it is."""
    return PEERS.title(name) if name in PEERS else MODELS.title(name)


def dataset_title(name: str) -> str:
    """Name of a dataset in print; an unknown one as it is."""
    return _DATASETS.get(name, name)
