"""Values of docs/cqrnn.md: recipes compared, and how much the model depends on y*, the grid and the algorithm."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from bench.pages.markdown import table
from bench.pages.model_studies import Scores, dates, recipe_table
from bench.pages.results import MODELS, read_section

__all__ = ["values"]

_METRICS = ("C", "CensDcal", "IBS", "MAE")
_DATASETS = {"synthetic": ("norm_linear", "lognorm_heavy"), "real": ("metabric", "gbsg")}
_AS_IT_IS, _NEAREST, _SEQUENTIAL = "as it is", "y* 1.05", "sequential"
# By change of the recipe, dataset and metric.
Study = Mapping[str, Scores]


def values() -> dict[str, str]:
    """By name."""
    recipes: Scores = read_section(MODELS, "cqrnn recipes")
    texts = {"recipes": recipe_table(recipes), "other changes, log-loss": _other_changes(recipes), **dates("cqrnn")}
    for recipe in ("paper", "default"):
        study: Study = read_section(MODELS, f"cqrnn sensitivity, {recipe}")
        for kind, datasets in _DATASETS.items():
            texts[f"sensitivity, {recipe}, {kind}"] = _sensitivity(recipe, study, datasets)
        texts |= {f"{name}, {recipe}": text for name, text in _findings(study).items()}
    return texts


def _other_changes(recipes: Scores) -> str:
    """The most by which a change of the default moves the log-loss, except quantiles of time itself, rounded up."""
    usual = recipes["**default**"]["log_loss"]
    others = [name for name in recipes if name.startswith("default, ") and name != "default, of time itself"]
    most = max(abs(recipes[name]["log_loss"] - usual) for name in others)
    return f"{math.ceil(100 * most) / 100:.2f}"


def _sensitivity(recipe: str, study: Study, datasets: tuple[str, ...]) -> str:
    head = [f"{dataset}: {metric}" if metric == "C" else metric for dataset in datasets for metric in _METRICS]
    rows = [
        [change, *(f"{own[dataset][metric]:.3f}" for dataset in datasets for metric in _METRICS)]
        for change, own in study.items()
    ]
    return table([recipe, *head], rows)


def _findings(study: Study) -> dict[str, str]:
    """Numbers of sentences about a study."""
    names = [dataset for datasets in _DATASETS.values() for dataset in datasets]
    texts = {}
    by_y_star = [own for change, own in study.items() if change.startswith("y*") or change == _AS_IT_IS]
    for dataset in names:
        for metric in _METRICS:
            scores = [own[dataset][metric] for own in by_y_star]
            texts[f"y*, lowest {metric} on {dataset}"] = f"{min(scores):.2f}"
            texts[f"y*, highest {metric} on {dataset}"] = f"{max(scores):.2f}"
            texts[f"y*, times in {metric} on {dataset}"] = f"{max(scores) / min(scores):.1f}"
    far = [own for own in by_y_star if own is not study[_NEAREST]]
    ranges = [np.ptp([own[dataset][metric] for own in far]) for dataset in names for metric in ("C", "IBS")]
    texts["y* from 1.2 on, range of C and IBS"] = f"{math.ceil(1000 * max(ranges)) / 1000:.3f}"
    seconds = {change: sum(scores["seconds"] for scores in own.values()) for change, own in study.items()}
    usual = float(np.median([value for change, value in seconds.items() if change != _SEQUENTIAL]))
    texts["sequential, times the time"] = f"{seconds[_SEQUENTIAL] / usual:.0f}"
    return texts
