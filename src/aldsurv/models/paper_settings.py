"""What the paper's recipe has beyond the recipe itself: settings that differ by dataset."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from aldsurv.errors import UnknownNameError
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
    _require_known("model", model, list(MODELS))
    _require_known("dataset", dataset, list(_EPOCHS["cqrnn"]))
    settings: dict[str, Any] = {}
    if model in _EPOCHS:
        settings["max_epochs"] = _EPOCHS[model][dataset]
        settings["dropout"] = _DROPOUT if dataset in _DROPPING else 0.0
    if dataset in _CLIPPED:
        settings["clip_features"] = _CLIPPED[dataset]
    return settings


def _require_known(kind: str, name: Any, known: list[str]) -> None:
    if isinstance(name, str) and name in known:
        return
    near = get_close_matches(str(name), known, n=3)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"Known: {', '.join(known)}."
    raise UnknownNameError(f"unknown {kind} {name!r}. {hint}")
