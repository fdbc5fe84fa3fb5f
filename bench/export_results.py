"""Results of a benchmark as one small CSV: ``python -m bench.export_results FOLDER FILE.csv``.

Mean, standard deviation and number of the seeds, of every series and metric; the first lines tell plan and versions.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from aldsurv.benchmark import Series, Store

LEFT_OUT = ("f0_p50", "f0_p75", "f0_p95", "epochs")


def main(folder: str, path: str) -> None:
    store = Store(folder)
    values: dict[tuple[Series, str, str], list[float]] = defaultdict(list)
    for row in store.results():
        if row.metric not in LEFT_OUT:
            values[row.series, row.metric, row.point].append(row.value)
    told = ", ".join(f"{name} {version}" for name, version in store.versions.items())
    part = Path(path).with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# plan {store.plan.hash}\n# {told}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Series._fields, "metric", "point", "mean", "sd", "seeds"])
        for (series, metric, point), found in sorted(values.items()):
            sd = np.std(found, ddof=1) if len(found) > 1 else float("nan")
            writer.writerow([*series, metric, point, f"{np.mean(found):.5g}", f"{sd:.3g}", len(found)])
    part.replace(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
