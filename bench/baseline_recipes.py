"""Settings of CQRNN and LogNormalSurvival compared on rows held out of the training part, never on test rows.

``python -m bench.baseline_recipes lognormal | cqrnn`` stores the means in docs/results/models.json. It needs the
publishers' files of the real datasets (``aldsurv datasets fetch --all``).
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from aldsurv.models import fit_together
from aldsurv.models.paper_settings import paper_settings
from aldsurv.registry import MODELS as REGISTERED
from bench.cqrnn_sensitivity import levels
from bench.pages.results import MODELS, store_section, today
from bench.recipes import SEEDS, held_out_scores, parts

DATASETS = ("gbsg", "metabric", "tmbimmuno", "lgggbm", "lognorm", "norm_linear")
OTHERS = {
    "LogNormalSurvival, for comparison": ("lognormal", {}),
    "ALDSurvival, for comparison": ("ald", {"recipe": "large"}),
}
RECIPES: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "lognormal": {
        "paper": ("lognormal", {"recipe": "paper"}),
        "**default**": ("lognormal", {}),
        "default, 1 member": ("lognormal", {"members": 1}),
        "default, dropout 0.2": ("lognormal", {"dropout": 0.2}),
        "default, random start": ("lognormal", {"start": "random"}),
        "ALDSurvival, for comparison": OTHERS["ALDSurvival, for comparison"],
    },
    "cqrnn": {
        "paper": ("cqrnn", {"recipe": "paper"}),
        "**default**": ("cqrnn", {}),
        "default, y* 1.2": ("cqrnn", {"y_star": 1.2}),
        "default, sorted": ("cqrnn", {"crossing": "sorted"}),
        "default, 9 quantiles": ("cqrnn", {"quantiles": levels(9)}),
        "default, 49 quantiles": ("cqrnn", {"quantiles": levels(49)}),
        "default, nearest level": ("cqrnn", {"censored_level": "nearest"}),
        "default, of time itself": ("cqrnn", {"support": "real"}),
        "default, dropout 0.2": ("cqrnn", {"dropout": 0.2}),
        **OTHERS,
    },
}


def results(model: str, settings: dict[str, Any], dataset: str) -> dict[str, float]:
    """Means over the splits."""
    pairs = [parts(dataset, seed) for seed in SEEDS]
    by_dataset = paper_settings(model, dataset) if settings.get("recipe") == "paper" else {}
    kind = REGISTERED.load(model)
    models = [kind(**settings, **by_dataset, random_state=seed, progress=False) for seed in SEEDS]
    fit_together(models, [(learn.x, (learn.time, learn.event)) for learn, _ in pairs])
    scores = [held_out_scores(fitted, *pair) for fitted, pair in zip(models, pairs, strict=True)]
    return {metric: float(np.mean([one[metric] for one in scores])) for metric in scores[0]}


def study(name: str) -> dict[str, dict[str, float]]:
    """Means over the datasets, by recipe and metric."""
    means = {}
    for recipe, (model, settings) in RECIPES[name].items():
        scores = [results(model, settings, dataset) for dataset in DATASETS]
        means[recipe] = {metric: float(np.mean([one[metric] for one in scores])) for metric in scores[0]}
        print(recipe, means[recipe], flush=True)
    return means


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for chosen in sys.argv[1:]:
        recipes = {f"{model}/{settings.get('recipe', 'default')}" for model, settings in RECIPES[chosen].values()}
        origin = today(f"python -m bench.baseline_recipes {chosen}", recipes)
        store_section(MODELS, f"{chosen} recipes", study(chosen), origin)
