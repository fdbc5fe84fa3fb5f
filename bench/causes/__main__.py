"""Models with competing causes beside peers: ``python -m bench.causes FOLDER [--python PYTHON] [--models A,B]``.

Five drawn tables of 10,000 rows, whose incidences are known, and three splits of a real one. Each fit is a line in
FOLDER, from which a run that was ended goes on; at the end all lines go to docs/results/causes.json and
docs/competing_accuracy.md. PYTHON is an interpreter that has comprisk and hazardous, which need not be this one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Any

# Before anything loads a library of matrix products: one thread per process.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from bench.causes.cells import MODELS, REAL, Cell, run_cell
from bench.causes.drawn_tables import LAWS, ROWS
from bench.pages import listing
from bench.pages.competing_accuracy import DRAWN, FILE, REAL_TABLE
from bench.pages.results import store_section, today
from bench.study_runs import Lines, run

_STAGE = "causes"
_KEPT = ("seconds", "ibs", "excess", "kind", "events")
_RECIPES = ("ald", "boosted_ald", "cause_specific_cox", "deephit", "fine_gray", "lognormal")
# Splits of the real table.
_SPLITS = 3


def main(arguments: list[str]) -> int:
    """Run what is left, and write results and page."""
    parser = argparse.ArgumentParser("python -m bench.causes", description=__doc__)
    parser.add_argument("folder", help="where the lines are kept")
    parser.add_argument("--python", default=sys.executable, help="interpreter with the peers")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--tables", default=",".join([*LAWS, REAL]))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-page", action="store_true", help="run only; write neither results nor page")
    given = parser.parse_args(arguments)
    models, tables = given.models.split(","), given.tables.split(",")
    unknown = [name for name in models if name not in MODELS] + [name for name in tables if name not in (*LAWS, REAL)]
    if unknown:
        parser.error(f"{unknown[0]!r} is unknown; models are {', '.join(MODELS)}, tables {', '.join([*LAWS, REAL])}")
    seeds = {table: range(_SPLITS) if table == REAL else [given.seed] for table in tables}
    cells = [
        Cell(_STAGE, model, table, seed, 0 if table == REAL else given.rows, given.python)
        for model in models
        for table in tables
        for seed in seeds[table]
    ]
    failed = run(cells, run_cell, given.folder, shown="largest", jobs=given.jobs)
    if failed:
        print(f"{failed} fits failed; their errors are in {given.folder}", file=sys.stderr)
    if not given.no_page:
        _store(given.folder, given.seed, given.rows)
    return 1 if failed else 0


def _store(folder: str, seed: int, rows: int) -> None:
    """The lines of one seed and size, and those of the real table, to the results file, and from there to the page."""
    drawn: dict[str, dict[str, object]] = {table: {} for table in LAWS}
    real: dict[str, list[dict[str, object]]] = {}
    for line in Lines(folder).read(_STAGE):
        kept = {name: line[name] for name in _KEPT if name in line}
        if "error" in line:
            continue
        if line["table"] == REAL:
            real.setdefault(line["model"], []).append(kept)
        elif (line["seed"], line["rows"]) == (seed, rows):
            drawn[line["table"]][line["model"]] = kept
    recipes = [f"{name}/default" for name in _RECIPES]
    for section, values in ((DRAWN, drawn), (REAL_TABLE, real)):
        ordered = (
            {table: _in_order(models) for table, models in values.items()} if section == DRAWN else _in_order(real)
        )
        store_section(FILE, section, ordered, today("python -m bench.causes FOLDER", recipes))
    listing.write([page for page in listing.PAGES if page.module == "bench.pages.competing_accuracy"])


def _in_order(models: Mapping[str, Any]) -> dict[str, Any]:
    return {name: models[name] for name in MODELS if name in models}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
