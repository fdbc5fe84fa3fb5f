"""The study on the command line.

``python -m bench.accuracy validation|test FOLDER`` runs what is left of a stage, ``speed FOLDER`` compares seconds in
one run, ``chance FOLDER`` computes what perfect predictions would score, and ``report FOLDER`` prints all tables and
writes docs/results and the pages. The real datasets must be in the data folder: ``aldsurv datasets fetch --all``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

# Before anything loads a library of matrix products: one thread a process.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from aldsurv.errors import AldsurvError
from bench.accuracy.cells import Cell, run_cell
from bench.accuracy.chance import chance
from bench.accuracy.data import DATASETS, DECISION, DISTINCT, SEEDS, STAGES
from bench.accuracy.models import ALL, COMPARED, STEPS
from bench.accuracy.report import PICTURE, report
from bench.accuracy.speed import speed
from bench.pages import listing
from bench.paper_data import available
from bench.study_runs import run


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    if not available():
        print("the real datasets are not in the data folder: aldsurv datasets fetch --all", file=sys.stderr)
        return 2
    if given.command == "report":
        print(report(given.folder, store=True, picture=PICTURE))
        listing.write()
        return 0
    if given.command == "speed":
        print(speed(given.folder, given.dataset, given.repetitions))
        return 0
    if given.command == "chance":
        print(chance(given.folder, given.seeds, given.draws))
        return 0
    allowed = DECISION if given.command == "validation" else (*DATASETS, DISTINCT)
    try:
        datasets = _chosen("dataset", given.datasets, {name: [name] for name in allowed}, allowed)
        groups = {"compared": list(COMPARED), "steps": list(STEPS), **{name: [name] for name in ALL}}
        models = _chosen("model", given.models, groups, ALL)
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    seeds = SEEDS[given.command] if given.seeds is None else range(given.seeds)
    # A model's datasets before the next model, a dataset's seeds before the next: a table fills from the top.
    cells = [Cell.of(given.command, model, name, seed) for model in models for name in datasets for seed in seeds]
    failed = run(cells, run_cell, given.folder, jobs=given.jobs)
    if failed:
        print(f"{failed} cells failed; their errors are in {given.folder}", file=sys.stderr)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench.accuracy", description="How good the predictions are.")
    commands = parser.add_subparsers(dest="command", required=True)
    for stage in STAGES:
        one = commands.add_parser(stage, help=f"run what is left of the {stage} stage")
        one.add_argument("folder", type=Path, help="where the results are kept")
        one.add_argument("--models", default="compared", help="names, compared or steps, separated by semicolons")
        one.add_argument("--datasets", help="names separated by semicolons; all that the stage may see by default")
        one.add_argument("--seeds", type=int, help=f"number of seeds from 0 on ({len(SEEDS[stage])})")
        one.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    one = commands.add_parser("report", help="tables as Markdown; writes docs/results, picture and pages")
    one.add_argument("folder", type=Path)
    one = commands.add_parser("speed", help="seconds of the default and of boosting, in turns")
    one.add_argument("folder", type=Path)
    one.add_argument("--dataset", default="metabric")
    one.add_argument("--repetitions", type=int, default=5)
    one = commands.add_parser("chance", help="what the default would score if its predictions were the truth")
    one.add_argument("folder", type=Path)
    one.add_argument("--seeds", type=int, default=10, help="number of seeds from 0 on (10)")
    one.add_argument("--draws", type=int, default=20, help="draws of each test part (20)")
    return parser


def _chosen(kind: str, text: str | None, known: dict[str, list[str]], every: Iterable[str]) -> list[str]:
    if text is None:
        return list(every)
    found: list[str] = []
    for name in (part.strip() for part in text.split(";")):
        if name not in known:
            raise KeyError(f"unknown {kind} {name!r} at this stage; there are {'; '.join(known)}")
        found += known[name]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except AldsurvError as error:
        sys.exit(str(error))
