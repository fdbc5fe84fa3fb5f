"""Run all benchmarks, or those named: ``python -m bench distributions imports``."""

from __future__ import annotations

import sys
from importlib import import_module

ALL = ["distributions", "kaplan_meier", "imports", "fit", "tables", "metrics", "predict", "whole_benchmark"]


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; there are {', '.join(ALL)}", file=sys.stderr)
        return 2
    for name in names or ALL:
        print(f"== {name}\n")
        import_module(f"bench.{name}").run()
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
