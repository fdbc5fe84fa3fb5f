"""The default model and elastic nets on tables with more columns than rows, beside scikit-survival and Kaplan-Meier.

``python -m bench.wide [--sizes 100x1000,200x20000] [--seeds 100,101] [--signals sparse,dense,none] [--breast-cancer]``:
C on rows of their own, by how much the integrated Brier score is below Kaplan-Meier's, seconds of the processor, and
the largest memory of the process so far, all kept in docs/results/models.json. Settings were chosen on seeds 0 to 2.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from aldsurv import ALDSurvival, ElasticNetAFT, ElasticNetCox, SurvivalData, metrics
from aldsurv.distributions import Step
from aldsurv.nonparametric import kaplan_meier
from bench.elastic_net import COLUMNS, SIGNALS, SIZES, Table, coxnet, drawn
from bench.pages.results import MODELS, ResultsError, read_section, store_section, today

SECTION = "wide tables"
PEER = "scikit-survival"
OURS: dict[str, type[Any]] = {
    "ALDSurvival": ALDSurvival,
    "ElasticNetCox": ElasticNetCox,
    "ElasticNetAFT": ElasticNetAFT,
}
_FOLDS = 5


def measure(name: str, table: Table) -> dict[str, float]:
    """C, gain in the integrated Brier score (of ours), seconds and megabytes."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == PEER:
            lasting, distributions = coxnet(table)
            seconds = time.process_time() - start
        else:
            model = OURS[name](random_state=0).fit(table.x, table.y)
            seconds = time.process_time() - start
            lasting, distributions = -model.predict(table.test_x), model.predict_distribution(table.test_x)
    scores = {"C": float(metrics.concordance_harrell(lasting, table.test_y)), "seconds": seconds}
    if distributions is not None:
        curve = kaplan_meier(table.y).distribution
        flat = Step(curve.times, np.repeat(np.atleast_2d(curve.values), len(table.test_y), axis=0))
        without, own = (
            metrics.integrated_brier_score(each, table.test_y, train=table.y) for each in (flat, distributions)
        )
        scores["gain"] = float(without - own)
        scores["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return scores


def breast_cancer(seed: int) -> Iterator[Table]:
    """Parts of scikit-survival's breast cancer set (198 rows, 80 columns), each held out once."""
    from sksurv.datasets import load_breast_cancer

    frame, target = load_breast_cancer()
    numbers = frame.select_dtypes("number").to_numpy(float)
    grades = np.column_stack([frame[name] == level for name in ("er", "grade") for level in frame[name].cat.categories])
    x = np.column_stack([numbers, grades[:, 1:]])
    y = SurvivalData.right(target["t.tdm"], target["e.tdm"])
    part = np.random.default_rng(seed).permutation(len(x)) % _FOLDS
    for k in range(_FOLDS):
        yield Table(x[part != k], y[part != k], x[part == k], y[part == k])


def tables(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Table]]:
    """Kind of a table, its seed, and the table."""
    if arguments.breast_cancer:
        for seed in arguments.seeds:
            for k, table in enumerate(breast_cancer(int(seed))):
                yield "198 x 80, breast cancer", f"{seed}.{k}", table
        return
    for (rows, columns), seed, kind, signal in product(arguments.sizes, arguments.seeds, COLUMNS, arguments.signals):
        yield f"{rows} x {columns}, {kind}, {signal}", seed, drawn(rows, columns, kind, signal, int(seed))


def stored() -> dict[str, Any]:
    """By kind of table, model and seed what was measured before."""
    try:
        return dict(read_section(MODELS, SECTION))
    except ResultsError:
        return {}


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(f"{rows}x{columns}" for rows, columns in SIZES))
    parser.add_argument("--seeds", default="100")
    parser.add_argument("--signals", default=",".join(SIGNALS))
    parser.add_argument("--models", default=",".join([*OURS, PEER]))
    parser.add_argument("--breast-cancer", action="store_true")
    arguments = parser.parse_args(given)
    arguments.sizes = [tuple(map(int, size.split("x"))) for size in arguments.sizes.split(",")]
    arguments.seeds, arguments.signals = arguments.seeds.split(","), arguments.signals.split(",")
    for kind, seed, table in tables(arguments):
        for name in arguments.models.split(","):
            scores = measure(name, table)
            print(kind, seed, name, {key: round(value, 4) for key, value in scores.items()}, flush=True)
            values = stored()
            values.setdefault(kind, {}).setdefault(name, {})[seed] = scores
            store_section(MODELS, SECTION, values, today("python -m bench.wide", ["ald/default"]))


if __name__ == "__main__":
    main()
