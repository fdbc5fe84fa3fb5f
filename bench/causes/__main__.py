"""Models with competing causes beside peers: ``python -m bench.causes FOLDER [--python PYTHON] [--models A,B]``.

Five drawn tables of 10,000 rows, whose incidences are known. Each fit is a line in FOLDER, from which a run that was
ended goes on; at the end all lines go to docs/results/causes.json and docs/competing_accuracy.md. PYTHON is an
interpreter that has comprisk and hazardous, which need not be this one.
"""

from __future__ import annotations

import argparse
import os
import sys

# Before anything loads a library of matrix products: one thread per process.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from bench.causes.cells import MODELS, Cell, run_cell
from bench.causes.drawn_tables import LAWS, ROWS
from bench.pages import listing
from bench.pages.competing_accuracy import FILE, SECTION
from bench.pages.results import store_section, today
from bench.study_runs import Lines, run

_STAGE = "causes"
_KEPT = ("seconds", "ibs", "excess", "kind", "events")


def main(arguments: list[str]) -> int:
    """Run what is left, and write results and page."""
    parser = argparse.ArgumentParser("python -m bench.causes", description=__doc__)
    parser.add_argument("folder", help="where the lines are kept")
    parser.add_argument("--python", default=sys.executable, help="interpreter with the peers")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--tables", default=",".join(LAWS))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-page", action="store_true", help="run only; write neither results nor page")
    given = parser.parse_args(arguments)
    models, tables = given.models.split(","), given.tables.split(",")
    unknown = [name for name in models if name not in MODELS] + [name for name in tables if name not in LAWS]
    if unknown:
        parser.error(f"{unknown[0]!r} is unknown; models are {', '.join(MODELS)}, tables {', '.join(LAWS)}")
    cells = [Cell(_STAGE, model, table, given.seed, given.rows, given.python) for model in models for table in tables]
    failed = run(cells, run_cell, given.folder, shown="largest", jobs=given.jobs)
    if failed:
        print(f"{failed} fits failed; their errors are in {given.folder}", file=sys.stderr)
    if not given.no_page:
        _store(given.folder, given.seed, given.rows)
    return 1 if failed else 0


def _store(folder: str, seed: int, rows: int) -> None:
    """The lines of one seed and size to the results file, and from there to the page."""
    values: dict[str, dict[str, object]] = {table: {} for table in LAWS}
    for line in Lines(folder).read(_STAGE):
        if "error" not in line and (line["seed"], line["rows"]) == (seed, rows):
            values[line["table"]][line["model"]] = {name: line[name] for name in _KEPT}
    recipes = ["ald/default", "boosted_ald/default", "deephit/default", "lognormal/default"]
    store_section(FILE, SECTION, values, today("python -m bench.causes FOLDER", recipes))
    listing.write([page for page in listing.PAGES if page.module == "bench.pages.competing_accuracy"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
