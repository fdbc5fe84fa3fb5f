"""Results of a benchmark as one small CSV: ``python -m bench.export_results FOLDER FILE.csv``.

A line per series, metric and summary with the values of all seeds, so that every table can be made of it again; the
first lines say plan, command, date, versions and recipes.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from datetime import datetime, timezone
from pathlib import Path

from aldsurv.benchmark import Plan, Series, Store
from aldsurv.datasets import names
from aldsurv.registry import MODELS
from bench.pages.fingerprints import fingerprints
from bench.pages.results import Origin, comment_lines

LEFT_OUT = ("f0_p75", "f0_p95", "epochs")


def main(folder: str, path: str) -> None:
    store = Store(folder)
    values: dict[tuple[Series, str, str], dict[int, float]] = defaultdict(dict)
    results = store.results()
    for row in results:
        if row.metric not in LEFT_OUT:
            values[row.series, row.metric, row.point][row.seed] = row.value
    part = Path(path).with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# plan: {store.plan.hash}\n{comment_lines(origin(store, path))}")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Series._fields, "metric", "point", *(f"seed {seed}" for seed in results.seeds)])
        for (series, metric, point), scores in sorted(values.items()):
            texts = (f"{scores[seed]:.6g}" if seed in scores else "" for seed in results.seeds)
            writer.writerow([*series, metric, point, *texts])
    part.replace(path)


def origin(store: Store, path: str) -> Origin:
    """Of the results of a folder, which were finished when its file was last written."""
    series = {cell.series for cell in store.plan.cells() if cell.series.model in MODELS}
    recipes = {f"{one.model}/{'paper' if one.recipe == 'paper' else 'default'}" for one in series}
    date = datetime.fromtimestamp(store.path.stat().st_mtime, timezone.utc).date().isoformat()
    return Origin(command(store.plan, path), date, store.versions, fingerprints(recipes))


def command(plan: Plan, path: str) -> str:
    """What repeats the results."""
    usual = Plan(tuple(names(paper=True)))
    lists = (("datasets", "datasets"), ("models", "models"), ("recipes", "recipe"), ("definitions", "definition"))
    words = [
        f"--{option} {','.join(getattr(plan, field))}"
        for field, option in lists
        if getattr(plan, field) != getattr(usual, field)
    ]
    words += [] if plan.seeds == usual.seeds else [f"--seeds {plan.seeds}"]
    words += [] if plan.grouped else ["--no-grouped"]
    words += [f"--out FOLDER; python -m bench.export_results FOLDER docs/results/{Path(path).name}"]
    return " ".join(["aldsurv benchmark run", *words])


if __name__ == "__main__":
    main(*sys.argv[1:])
