"""Does tuning help or hurt? The default, the best of a search and the rule of `aldsurv.tuning`, on rows not searched.

``python -m bench.tuning [--model ald] [--trials 8] [--rows 250] [--draws 2] [--datasets gbsg,metabric,norm_linear]``.
For each dataset and draw: settings are searched on a few rows of the training part, all three models are fitted to
these rows, and scored on up to 1000 other rows of the same part; the test parts are not touched. "Before" is how
settings were chosen when the best trial of one cross-validation with one member won.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple, cast

import numpy as np

from aldsurv import datasets, metrics
from aldsurv.columns.covariates import take_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.point_estimates import RankingPoint
from aldsurv.models.base import SurvivalEstimator
from aldsurv.registry import MODELS
from aldsurv.tuning import tune
from aldsurv.tuning.record import TrialRecord
from aldsurv.tuning.score import Task, mean_score


class Part(NamedTuple):
    """Covariates and times of some rows."""

    x: Any
    y: SurvivalData


class Held(NamedTuple):
    """Scores on rows that were not searched."""

    log_likelihood: float
    concordance: float


def draw_parts(name: str, rows: int, seed: int) -> tuple[Part, Part]:
    """Rows to search on, and up to 1000 others of the training part."""
    train, _ = datasets.load(name).split(seed=0)
    order = np.random.default_rng(seed).permutation(len(train.y))
    few, others = order[:rows], order[rows : rows + 1000]
    return Part(take_rows(train.x, few), train.y[few]), Part(take_rows(train.x, others), train.y[others])


def search_before(kind: type[SurvivalEstimator], part: Part, trials: int, seed: int) -> dict[str, Any]:
    """The best trial of four folds and one member, whatever the noise."""
    space = kind.SEARCH_SPACE
    if space is None:
        return {}
    alone = {"members": 1} if "members" in kind.parameter_defaults() else {}
    task = Task(kind, alone, part.x, part.y, space.score, 4, seed)
    record, folds, tried = TrialRecord(space, seed, None, "before"), task.draw_folds(0), []
    while len(tried) < trials:
        draw = record.next_draws(1)[0]
        settings = {key: space.entries[key].value(value) for key, value in draw.items()}
        scores = task.score(settings, folds)
        score = None if scores is None else mean_score(scores, folds.parts, part.y.weights)
        record.add(draw, score, {})
        tried.append((-np.inf if score is None else score, settings))
    return max(tried, key=lambda one: one[0])[1]


def score(kind: type[SurvivalEstimator], settings: dict[str, Any], part: Part, others: Part, seed: int) -> Held:
    """Fit to the few rows, and score the others."""
    given = {"random_state": seed, "progress": False}
    options = {name: value for name, value in given.items() if name in kind.parameter_defaults()}
    model = kind(**{**settings, **options}).fit(part.x, part.y)
    predicted = model.predict_distribution(others.x)
    return Held(
        metrics.bounded_log_likelihood(predicted, others.y, train=part.y),
        metrics.concordance_harrell(
            predicted, others.y, point=cast("RankingPoint", model.ranking_point_), train=part.y
        ),
    )


def main() -> None:
    """Print a line per dataset and draw, and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="ald")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--rows", type=int, default=250)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--datasets", default="gbsg,metabric,norm_linear,lognorm_heavy")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    kind = MODELS.load(asked.model)
    differences = []
    print("differences from the default: log-likelihood per row and C of rows not searched", flush=True)
    for name in asked.datasets.split(","):
        for seed in range(asked.draws):
            start = time.process_time()
            part, others = draw_parts(name, asked.rows, seed)
            found = tune(kind, part.x, part.y, trials=asked.trials, random_state=seed)
            middle = time.process_time()
            before = search_before(kind, part, asked.trials, seed)
            seconds = middle - start, time.process_time() - middle
            default, *tuned = (score(kind, one, part, others, seed) for one in ({}, before, found.best))
            both = [np.subtract(one, default) for one in tuned]
            differences.append(both)
            print(
                f"{name} {seed}: default {default.log_likelihood:.4f} C {default.concordance:.4f}; "
                f"before {both[0][0]:+.4f} C {both[0][1]:+.4f} ({seconds[1]:.0f} s); "
                f"now {both[1][0]:+.4f} C {both[1][1]:+.4f} ({seconds[0]:.0f} s) | {found.describe()}",
                flush=True,
            )
    for place, label in enumerate(("before", "now")):
        values = np.array([both[place] for both in differences])
        mean, worst, hurt = values.mean(axis=0), values.min(axis=0), (values < 0).sum(axis=0)
        print(
            f"{label}: mean {mean[0]:+.4f}, C {mean[1]:+.4f}; worst {worst[0]:+.4f}, C {worst[1]:+.4f}; "
            f"worse than the default in {hurt[0]} and {hurt[1]} of {len(values)}"
        )


if __name__ == "__main__":
    main()
