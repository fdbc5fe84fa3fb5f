"""Settings of the paper that differ by dataset, and are therefore not part of its recipe."""

from __future__ import annotations

from typing import Any

from aldsurv.errors import UnknownNameError
from aldsurv.quoting import quoted, suggest_names
from aldsurv.registry import MODELS

__all__ = ["paper_settings"]

_DROPOUT = 0.333
# Epochs of the synthetic datasets, the same for both models that have them by dataset.
_SYNTHETIC = {
    **dict.fromkeys(("norm_linear", "norm_nonlinear", "exponential", "weibull", "lognorm", "norm_uniform"), 100),
    **dict.fromkeys(("norm_heavy", "norm_med", "norm_light", "norm_same"), 20),
    **dict.fromkeys(("lognorm_heavy", "lognorm_med", "lognorm_light", "lognorm_same"), 10),
}
_EPOCHS: dict[str, dict[str, int]] = {
    "cqrnn": {
        **_SYNTHETIC,
        "metabric": 20,
        "whas": 100,
        "support": 10,
        "gbsg": 20,
        "tmbimmuno": 50,
        "breastmsk": 100,
        "lgggbm": 50,
    },
    "lognormal": {
        **_SYNTHETIC,
        "metabric": 10,
        "whas": 50,
        "support": 20,
        "gbsg": 10,
        "tmbimmuno": 50,
        "breastmsk": 50,
        "lgggbm": 20,
    },
}
_DROPPING = ("gbsg", "lgggbm")
# Where standardised columns are clipped earlier than elsewhere.
_CLIPPED = {"lgggbm": 3.0}


def paper_settings(model: str, dataset: str) -> dict[str, Any]:
    """Constructor arguments that the paper's recipe needs for one dataset, beside ``recipe="paper"``.

    Parameters
    ----------
    model
        Registered name of a model, such as ``"cqrnn"``. CQRNN and LogNorm have epochs and dropout by dataset (appendix
        B.3 of Sheng & Henao, 2025).
    dataset
        One of `aldsurv.datasets.names`.

    Examples
    --------
    >>> paper_settings("cqrnn", "gbsg")
    {'max_epochs': 20, 'dropout': 0.333}
    >>> paper_settings("ald", "lgggbm")
    {'clip_features': 3.0}
    """
    _ = MODELS[model]  # Raises an error for a name that is not registered.
    names = list(_EPOCHS["cqrnn"])
    if dataset not in names:
        raise UnknownNameError(f"unknown dataset {quoted(dataset)}. {suggest_names(dataset, names)}")
    settings: dict[str, Any] = {}
    if model in _EPOCHS:
        settings["max_epochs"] = _EPOCHS[model][dataset]
        settings["dropout"] = _DROPOUT if dataset in _DROPPING else 0.0
    if dataset in _CLIPPED:
        settings["clip_features"] = _CLIPPED[dataset]
    return settings
