"""What X-CAL and CRPS bring as training terms, on rows held out of the training part, never on test rows.

Needs the publishers' files of the real datasets (``aldsurv datasets fetch --all``). Each result is appended to a file,
from which an interrupted study goes on: ``python -m bench.training_terms FILE``.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import SurvivalData, metrics
from aldsurv.models import ALDSurvival, fit_together
from aldsurv.models.preparation import with_log_times
from bench.paper_data import available
from bench.recipes import parts

SEEDS = range(3)
DATASETS = ("metabric", "whas", "breastmsk", "gbsg", "support")
TERMS: dict[str, dict[str, float]] = {
    "none": {},
    "calibration 0.3": {"calibration": 0.3},
    "calibration 3": {"calibration": 3.0},
    "crps 0.25": {"crps": 0.25},
    "crps 0.75": {"crps": 0.75},
}
KEYS = ("log_loss", "ibs", "c", "cens_dcal", "seconds")


def results(components: int, terms: str, name: str) -> list[dict[str, Any]]:
    pairs = [parts(name, seed) for seed in SEEDS]
    settings: dict[str, Any] = {"components": components, **TERMS[terms]}
    models = [ALDSurvival(**settings, random_state=seed, progress=False) for seed in SEEDS]
    start = time.process_time()
    fit_together(models, [(learn.x, (learn.time, learn.event)) for learn, _ in pairs])
    seconds = (time.process_time() - start) / len(models)
    found = []
    for seed, model, (learn, held) in zip(SEEDS, models, pairs, strict=True):
        predicted = model.predict_distribution(held.x)
        data, train = SurvivalData.right(held.time, held.event), SurvivalData.right(learn.time, learn.event)
        early = with_log_times(data)
        log_loss = -metrics.log_likelihood(predicted, early) - early.exact.mean() * np.log(np.std(learn.time))
        found.append(
            {
                "components": components,
                "terms": terms,
                "dataset": name,
                "seed": seed,
                "log_loss": float(log_loss),
                "ibs": float(metrics.integrated_brier_score(predicted, data, train=train)),
                "c": float(metrics.concordance_harrell(predicted, data, point=model.settings_["point"])),
                "cens_dcal": float(metrics.censored_d_calibration(predicted, data)),
                "seconds": seconds,
            }
        )
    return found


def table(lines: list[dict[str, Any]]) -> str:
    """Means over the datasets that every row of the table has."""
    text = [f"| {' | '.join(('components', 'terms', *KEYS))} |", "| --- " * (2 + len(KEYS)) + "|"]
    for components in (1, 3):
        own = [line for line in lines if line["components"] == components]
        there = [{line["dataset"] for line in own if line["terms"] == terms} for terms in TERMS]
        names = sorted(set.intersection(*there))
        for terms in TERMS if names else ():
            cells = []
            for key in KEYS:
                chosen = [[o[key] for o in own if (o["terms"], o["dataset"]) == (terms, name)] for name in names]
                cells.append(f"{np.mean([np.mean(values) for values in chosen]):.3f}")
            text.append(f"| {components} | {terms} | {' | '.join(cells)} |")
        text.append(f"\nDatasets: {', '.join(names)}\n")
    return "\n".join(text)


def main(file: Path) -> None:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    done = {(line["components"], line["terms"], line["dataset"]) for line in lines}
    for components, name, terms in itertools.product((1, 3), DATASETS, TERMS):
        if (components, terms, name) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            new = results(components, terms, name)
        lines += new
        with file.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in new)
    print(table(lines))


if __name__ == "__main__":
    if not available():
        sys.exit("the real datasets are not in the data folder: aldsurv datasets fetch --all")
    main(Path(sys.argv[1]))
