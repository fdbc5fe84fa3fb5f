"""Reading a table of ten million rows: seconds, and memory above what is held after the imports, beside peers.

Seconds are those of the processor, of all threads: what else runs on the machine counts little.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.pages.results import PERFORMANCE, store_section, today

ROWS, COLUMNS = 10_000_000, 6
READERS = {
    "aldsurv": "from aldsurv.datasets import read_table\nread = lambda path: read_table(path, time='c0', event='e')",
    "pyarrow": "import pyarrow.csv, pyarrow.parquet\nread = either(pyarrow.csv.read_csv, pyarrow.parquet.read_table)",
    "polars": "import polars\nread = either(polars.read_csv, polars.read_parquet)",
    "pandas": "import pandas\nread = either(pandas.read_csv, pandas.read_parquet)",
}
CODE = """
import sys, time
def either(text, binary):
    return lambda path: (text if path.endswith('csv') else binary)(path)
{reader}
def now(key):
    lines = open('/proc/self/status').read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))
read({warm!r})
open('/proc/self/clear_refs', 'w').write('5')
before, start = now('VmRSS'), time.process_time()
found = read({path!r})
print(time.process_time() - start, now('VmHWM') - before)
"""


def write(folder: Path, rows: int) -> list[Path]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    columns = {f"c{k}": rng.exponential(100, rows).round(4) for k in range(COLUMNS - 1)}
    table = pa.table({**columns, "e": rng.integers(0, 2, rows)})
    paths = [folder / f"table{rows}.csv", folder / f"table{rows}.parquet"]
    pa.csv.write_csv(table, paths[0])
    pa.parquet.write_table(table, paths[1])
    return paths


def run() -> None:
    if not os.path.exists("/proc/self/clear_refs"):  # noqa: PTH110
        print("measured on Linux only")
        return
    held = ROWS * COLUMNS * 8 / 2**20
    values: dict[str, Any] = {"rows": ROWS, "columns": COLUMNS, "arrays MB": round(held)}
    print(f"{ROWS} rows x {COLUMNS} columns of numbers: {held:.0f} MB as arrays")
    print(f"{'file':>8} {'MB on disk':>11} {'reader':>8} {'seconds':>8} {'peak MB':>8} {'peak / arrays':>14}")
    with tempfile.TemporaryDirectory() as place:
        warm, big = write(Path(place), 1000), write(Path(place), ROWS)
        for small, path in zip(warm, big, strict=True):
            for name, reader in READERS.items():
                code = CODE.format(reader=reader, warm=str(small), path=str(path))
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
                seconds, peak = map(float, done.stdout.split())
                size = path.stat().st_size / 2**20
                file = values.setdefault(path.suffix[1:], {"MB": round(size), "readers": {}})
                file["readers"][name] = {"seconds": round(seconds, 2), "peak over arrays": round(peak / held, 2)}
                print(f"{path.suffix[1:]:>8} {size:>11.0f} {name:>8} {seconds:>8.1f} {peak:>8.0f} {peak / held:>14.2f}")
    store_section(PERFORMANCE, "tables", values, today("python -m bench tables"))


if __name__ == "__main__":
    run()
