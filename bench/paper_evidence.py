"""Evidence beside the benchmark of the paper: ``python -m bench.paper_evidence truth | schedule``.

``truth``: the Brier score of the true distribution, which no model can beat, by the definition and the published way.
``schedule``: CQRNN with a constant learning rate, in place of the steps by which it was trained; about three minutes.
Both go to docs/results/paper_evidence.json.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from aldsurv import datasets
from aldsurv.benchmark import Plan
from aldsurv.benchmark.cells import run_cell
from aldsurv.benchmark.paper.published_evaluation import PublishedEvaluation
from aldsurv.benchmark.results import PAPER_METRICS, published_point
from bench.pages.results import store_section, today

FILE = "paper_evidence.json"
SEEDS = tuple(range(10))
# Of each, how S, F in place of S, and both with G of the events score the true distribution.
TRUTH = ("norm_linear", "weibull", "exponential")
WAYS: dict[str, tuple[str, ...]] = {
    "definition": (),
    "G of events": ("events_as_censoring",),
    "G of events, F for S": ("events_as_censoring", "failure_for_survival"),
}


def truth() -> dict[str, dict[str, float]]:
    """IBS of the true distribution by dataset and way, mean over ten draws."""
    scores: dict[str, dict[str, float]] = {}
    for name in TRUTH:
        splits = [datasets.load_split(name, seed=seed, definition="released") for seed in SEEDS]
        # LogNorm has all three switches; none of them reads the model.
        judged = [
            PublishedEvaluation("lognormal", test.truth, train.y, test.y)
            for train, test in splits
            if test.truth is not None
        ]
        scores[name] = {way: float(np.mean([one.value("ibs", on) for one in judged])) for way, on in WAYS.items()}
        print(name, scores[name], flush=True)
    return scores


def schedule() -> dict[str, dict[str, list[float]]]:
    """The nine metrics of CQRNN with a constant rate: by dataset and metric, a value per seed."""
    scores: dict[str, dict[str, list[float]]] = {}
    for cell in Plan(tuple(datasets.names(paper=True)), ("cqrnn",), seeds=len(SEEDS), grouped=False).cells():
        outcome = run_cell(cell, schedule="constant")
        if outcome.error is not None:
            sys.exit(outcome.error)
        point = published_point("cqrnn")
        by_metric: dict[str, list[float]] = {}
        for row in outcome.results:
            if row.metric in PAPER_METRICS and row.point in ("", point):
                by_metric.setdefault(row.metric, []).append(row.value)
        scores[cell.series.dataset] = by_metric
        print(cell.series.dataset, f"CensDcal {np.mean(by_metric['cens_dcal']):.3f}", flush=True)
    return scores


def main(names: list[str]) -> int:
    studies: dict[str, Any] = {"truth": (truth, ()), "schedule": (schedule, ("cqrnn/paper",))}
    if not names or not set(names) <= set(studies):
        print(__doc__, file=sys.stderr)
        return 2
    for name in names:
        study, recipes = studies[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            store_section(FILE, name, study(), today(f"python -m bench.paper_evidence {name}", recipes))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
