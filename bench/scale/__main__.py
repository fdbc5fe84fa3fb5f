"""Large tables on the command line.

``python -m bench.scale draw FOLDER --rows 50000000 --columns 20 --seed 1`` writes a drawn table as Parquet; ``fit
JOURNAL`` measures fits in memory, by turns, into docs/results/scale.json: what the journal has is not measured again;
``trees JOURNAL`` those of boosted trees; ``ranks JOURNAL`` training by one process and by two.
``peers FOLDER`` fits drawn tables of 1,000 to 10 million rows by this library and by peers, by turns, and stores
seconds, memory and held-out log-likelihood there, too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from bench.scale import stream
from bench.scale.drawn_rows import LAWS
from bench.scale.fit import MODELS, store, store_trees
from bench.scale.parquet import write_parquet
from bench.scale.shared_training import store_shared
from bench.scale.tried import store_tried


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["stream"]:
        return stream.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("draw", help="write a drawn table as Parquet")
    draw.add_argument("folder", type=Path)
    draw.add_argument("--rows", type=int, required=True)
    draw.add_argument("--columns", type=int, default=20)
    draw.add_argument("--seed", type=int, default=0)
    draw.add_argument("--law", choices=LAWS, default=LAWS[0])
    draw.add_argument("--text", action="store_true", help="one of the columns is text")
    draw.add_argument("--rows-per-file", type=int, default=2**20)
    beside = commands.add_parser("peers", help="fits beside other libraries, from 1,000 to 10 million rows")
    beside.add_argument("folder", type=Path, help="where tables are written for the time of the run")
    beside.add_argument("--rows", default="", help="sizes, such as 1000,10000; all if not given")
    beside.add_argument("--models", default="", help="titles, separated by semicolons; all if not given")
    beside.add_argument("--seconds", type=float, default=600.0, help="by the clock after which a fit is given up")
    beside.add_argument("--gigabytes", type=float, default=12.0, help="of memory beyond which a fit is given up")
    beside.add_argument("--again", action="store_true", help="forget first what is stored")
    fit = commands.add_parser("fit", help="measure fits in memory")
    fit.add_argument("journal", type=Path)
    fit.add_argument("--rows", default="10000,100000,1000000", help="sizes, up to 10000000")
    fit.add_argument("--threads", type=int, default=2)
    fit.add_argument("--models", default=";".join(MODELS))
    trees = commands.add_parser("trees", help="measure fits of boosted trees in memory")
    trees.add_argument("journal", type=Path)
    trees.add_argument("--rows", default="10000,100000,1000000", help="sizes, up to 10000000")
    trees.add_argument("--threads", type=int, default=2)
    trees.add_argument("--before", type=Path, help="an older tree of the library, to be measured, too")
    tried = commands.add_parser("tried", help="fit what was tried before the recipes were settled")
    tried.add_argument("journal", type=Path)
    ranks = commands.add_parser("ranks", help="measure training by one process and by two")
    ranks.add_argument("journal", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "trees":
        store_trees(given.journal, [int(rows) for rows in given.rows.split(",")], given.threads, given.before)
        return 0
    if given.command == "ranks":
        store_shared(given.journal)
        return 0
    if given.command == "tried":
        store_tried(given.journal)
        return 0
    if given.command == "peers":
        return _peers(given)
    if given.command == "fit":
        sizes = [int(rows) for rows in given.rows.split(",")]
        store(given.journal, sizes, given.threads, given.models.split(";"))
        return 0
    files = write_parquet(
        given.folder,
        given.rows,
        given.columns,
        given.seed,
        rows_per_file=given.rows_per_file,
        law=given.law,
        text=given.text,
    )
    print(f"{given.rows} rows in {len(files)} files in {given.folder}")
    return 0


def _peers(given: argparse.Namespace) -> int:
    from bench.scale import peers

    chosen: dict[str, Any] = {"seconds": given.seconds, "gigabytes": given.gigabytes, "again": given.again}
    if given.rows:
        chosen["sizes"] = [int(rows) for rows in given.rows.split(",")]
    if given.models:
        chosen["models"] = given.models.split(";")
    peers.run(given.folder, **chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
