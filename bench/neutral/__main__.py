"""The neutral benchmark on the command line.

``python -m bench.neutral folds FOLDER --data NEUTRAL`` runs what is left of models on the study's folds, ``inner`` and
``eighths`` likewise on splits of its training rows into three and eight parts, ``report`` writes docs/results,
the pages and the picture, ``proof`` compares Cox and Kaplan-Meier with the published scores.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

# Before anything loads a library of matrix products: one thread per process.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from bench.neutral.cells import INNER_PARTS, STAGES, Cell, run_cell
from bench.neutral.models import model_named
from bench.neutral.proof import LIMITS, compare
from bench.neutral.report import STUDY, standing, store, store_tried
from bench.neutral.study import Study
from bench.neutral.tried import DEFAULT
from bench.pages import listing
from bench.pages.neutral import tables
from bench.pages.pictures import write_pictures
from bench.pages.results import store_section, today
from bench.study_runs import run


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    if given.command == "tried":
        return _store_tried(given.folder)
    try:
        study = Study(given.data)
        if given.command == "proof":
            return _prove(study, given.iterations, given.store)
        if given.command == "report":
            return _report(study, given.folder, given.iterations)
        names = given.datasets.split(";") if given.datasets else study.names
        models = given.models.split(";")
        for model in models:
            model_named(model, 0)
    except (FileNotFoundError, KeyError, ValueError) as error:
        print(error.args[0], file=sys.stderr)
        return 2
    folds = range(1, INNER_PARTS[given.command] + 1) if given.command in INNER_PARTS else (0,)
    cells = [
        Cell.of(given.command, model, name, iteration, fold, study.folder)
        for model in models
        for name in names
        for iteration in range(1, min(given.iterations, study.table(name).iterations) + 1)
        for fold in folds
    ]
    failed = run(cells, run_cell, given.folder, shown="isbs", jobs=given.jobs, cluster=given.cluster)
    if failed:
        print(f"{failed} cells failed; their errors are in {given.folder}", file=sys.stderr)
    return 1 if failed else 0


def _prove(study: Study, iterations: int | None, put: bool) -> int:
    """Print the largest differences by dataset; 1 if one of them is beyond the limit."""
    found = {}
    for name in study.names:
        found[name] = one = compare(study, name, iterations)
        shown = "".join(f"  {measure} {value:.1e}" for measure, value in one.differences.max().items())
        print(f"{name:20s}{shown}  of {len(one.iterations)} iterations", flush=True)
    far = [name for name, one in found.items() if not one.agrees]
    if far:
        print(f"differences beyond {LIMITS}: {', '.join(far)}", file=sys.stderr)
    elif put:
        values = {
            "differences": {name: one.differences.to_dict("index") for name, one in found.items()},
            "iterations": sum(len(one.iterations) for one in found.values()),
            "left_out": sum(len(one.left_out) for one in found.values()),
            "beyond": {name: one.beyond for name, one in found.items() if one.beyond},
        }
        store_section(STUDY, "proof", values, today("python -m bench.neutral proof --store", ["cox/default"]))
    return 1 if far else 0


def _report(study: Study, folder: Path, iterations: int) -> int:
    found = standing(folder, study, iterations)
    for model, count in found.missing.items():
        print(f"{model} is left out: {count} fits of the first {iterations} iterations are missing", file=sys.stderr)
    if DEFAULT not in found.models:
        print(f"{folder} has not all fits of {DEFAULT} as it is set today, which the page is about", file=sys.stderr)
        return 2
    store(found, study, folder)
    print("\n\n".join(tables().values()))
    listing.write()
    write_pictures()
    return 0


def _store_tried(folder: Path) -> int:
    if not store_tried(folder):
        print(f"{folder} has no results on inner splits", file=sys.stderr)
        return 2
    listing.write()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench.neutral", description="Models on the folds of a neutral study.")
    commands = parser.add_subparsers(dest="command", required=True)
    for stage in STAGES:
        one = commands.add_parser(stage, help=f"run what is left of stage {stage}")
        one.add_argument("folder", type=Path, help="where the results are kept")
        one.add_argument("--data", type=Path, help="folder of the study ($ALDSURV_NEUTRAL)")
        one.add_argument("--models", default="ald", help="names separated by semicolons")
        one.add_argument("--datasets", help="names separated by semicolons (all of the folder)")
        one.add_argument("--iterations", type=int, default=6, help="of each dataset, from the first (6)")
        one.add_argument("--jobs", type=int, default=1, help="processes of one thread each")
        one.add_argument("--cluster", help="a Dask scheduler whose workers do it; local:4 starts four processes here")
    one = commands.add_parser("report", help="print tables; write docs/results, pages and picture")
    one.add_argument("folder", type=Path, help="where the results are kept")
    one.add_argument("--data", type=Path, help="folder of the study ($ALDSURV_NEUTRAL)")
    one.add_argument("--iterations", type=int, default=6, help="that a model must have of each dataset (6)")
    one = commands.add_parser("tried", help="write what was compared on inner splits into docs/results and the page")
    one.add_argument("folder", type=Path, help="where the results are kept")
    one = commands.add_parser("proof", help="compare Cox and Kaplan-Meier with the published scores")
    one.add_argument("--data", type=Path, help="folder of the study ($ALDSURV_NEUTRAL)")
    one.add_argument("--iterations", type=int, help="of each dataset, from the first (all)")
    one.add_argument("--store", action="store_true", help="put the differences into docs/results")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
