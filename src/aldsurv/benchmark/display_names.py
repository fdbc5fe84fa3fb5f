"""How datasets, models and metrics are called where people read them."""

from __future__ import annotations

from aldsurv.datasets.catalogue import DATASETS
from aldsurv.registry import MODELS, PEERS

__all__ = ["dataset_title", "metric_title", "model_title"]

_METRICS = {
    "mae": "MAE",
    "ibs": "IBS",
    "harrell_c": "Harrell's C",
    "uno_c": "Uno's C",
    "cens_dcal": "CensDcal",
    "cal_s_slope": "Cal[S] slope",
    "cal_s_intercept": "Cal[S] intercept",
    "cal_f_slope": "Cal[f] slope",
    "cal_f_intercept": "Cal[f] intercept",
    "log_likelihood": "log-likelihood",
    "f0_p50": "F(0|x), 50 %",
    "f0_p75": "F(0|x), 75 %",
    "f0_p95": "F(0|x), 95 %",
    "epochs": "epochs",
}


def metric_title(name: str) -> str:
    """Name of a metric in print; an unknown one as it is."""
    return _METRICS.get(name, name)


def model_title(name: str) -> str:
    """Name of a model in print; an unknown one as it is."""
    return PEERS.title(name) if name in PEERS else MODELS.title(name)


def dataset_title(name: str) -> str:
    """Name of a dataset in print; an unknown one as it is."""
    return DATASETS.title(name)
