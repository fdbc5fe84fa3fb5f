"""Log-loss by the number of pieces of a table, on validation rows: ``python -m bench.accuracy.piece_counts``.

Why the study takes at most 30 pieces with ten events or more in each; stored in docs/results/accuracy_study.json.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from aldsurv.distributions.time_zero import with_log_times
from bench.accuracy.data import DECISION, REAL, parts
from bench.accuracy.models import COMPARED
from bench.accuracy.pieces import is_table, pieces_of
from bench.accuracy.report import STUDY
from bench.pages.results import store_section, today

COUNTS: tuple[int | None, ...] = (None, 10, 15, 30, 60)
MODELS = ("cox", "xgb_cox x5", "kaplan_meier", "lognormal", "lognormal_aft")
SEEDS = range(3)
RECIPES = ("cox/default", "lognormal/default", "lognormal_aft/default")


def losses(name: str, dataset: str, seed: int) -> dict[str, float]:
    """Of one fit, by the number of pieces; of a model with a density also by that."""
    learn, held = parts("validation", dataset, seed)
    predicted = COMPARED[name](seed).fit(learn.x, learn.y).predict_distribution(held.x)
    rows = with_log_times(held.y)
    unit = rows.exact.mean() * np.log(np.std(learn.y.time))

    def loss(terms: Any) -> float:
        return float(-np.mean(np.asarray(terms)) - unit)

    scores = {
        "as in the study" if count is None else str(count): loss(
            pieces_of(predicted, learn.y, pieces=count).log_likelihood(rows)
        )
        for count in COUNTS
    }
    return scores if is_table(predicted) else {**scores, "own density": loss(predicted.log_likelihood(rows))}


def main() -> None:
    datasets = [name for name in REAL if name in DECISION]
    means: dict[str, dict[str, float]] = {}
    for model in MODELS:
        scores = [losses(model, dataset, seed) for dataset in datasets for seed in SEEDS]
        means[model] = {name: round(float(np.mean([one[name] for one in scores])), 4) for name in scores[0]}
        print(model, means[model], flush=True)
    store_section(STUDY, "pieces", means, today("python -m bench.accuracy.piece_counts", RECIPES))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
