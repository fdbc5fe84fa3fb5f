"""``python -m bench.pages`` writes all pages from docs/results; ``--check`` only says which differ.

``--origins`` lists by which command and when the results were measured.
"""

from __future__ import annotations

import argparse
import sys

from bench.pages.listing import ROOT, changed, write
from bench.pages.markers import MarkerError
from bench.pages.pictures import write_pictures
from bench.pages.results import ResultsError, described_origins


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m bench.pages", description="Write pages from results files.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page differs")
    parser.add_argument("--origins", action="store_true", help="list command and date of all results, and no more")
    options = parser.parse_args(arguments)
    check = options.check
    if options.origins:
        print(described_origins())
        return 0
    try:
        paths = list(changed()) if check else [*write(), *write_pictures()]
    except (MarkerError, ResultsError) as error:
        print(error, file=sys.stderr)
        return 1
    for path in paths:
        print(
            f"{path.relative_to(ROOT)} {'differs from its results: run python -m bench.pages' if check else 'written'}"
        )
    return 1 if check and paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
