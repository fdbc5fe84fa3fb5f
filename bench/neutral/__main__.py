"""The neutral benchmark on the command line.

``python -m bench.neutral folds FOLDER --data NEUTRAL`` runs what is left of models on the study's folds, ``inner``
likewise on splits of its training rows, ``report`` prints the tables and writes docs/results and the pages.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

# Before anything loads a library of matrix products: one thread per process.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from bench.neutral.cells import STAGES, Cell, run_cell
from bench.neutral.models import model_named
from bench.neutral.study import Study
from bench.study_runs import run


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    try:
        study = Study(given.data)
        names = given.datasets.split(";") if given.datasets else study.names
        models = given.models.split(";")
        for model in models:
            model_named(model, 0)
    except (FileNotFoundError, KeyError) as error:
        print(error.args[0], file=sys.stderr)
        return 2
    folds = (0,) if given.command == "folds" else (1, 2, 3)
    cells = [
        Cell.of(given.command, model, name, iteration, fold, study.folder)
        for model in models
        for name in names
        for iteration in range(1, min(given.iterations, study.table(name).iterations) + 1)
        for fold in folds
    ]
    failed = run(cells, run_cell, given.folder, shown="isbs", jobs=given.jobs)
    if failed:
        print(f"{failed} cells failed; their errors are in {given.folder}", file=sys.stderr)
    return 1 if failed else 0


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
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
