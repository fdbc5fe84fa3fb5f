"""``aldsurv predict`` on tables of many rows: seconds and peak memory, beside peers on what they can hold."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.pages.results import PERFORMANCE, store_section, today

TIMES = (12.0, 24.0, 60.0)
SIZES = (1_000_000, 5_000_000)
FEW = 100_000
CHUNK = 500_000
NAMES = ("hormone", "size", "postmenopausal", "age", "nodes", "progesterone", "oestrogen")
CURVES = ["--times", ",".join(f"{time:g}" for time in TIMES)]
QUANTILES = ["--quantiles", "0.1,0.5,0.9"]

MEASURE = """
import resource, sys, time
def peak():
    lines = open('/proc/self/status').read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith('VmHWM'))
def used():
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime
"""
OURS = """
from aldsurv.cli.main import main
start, before = time.perf_counter(), used()
assert main(sys.argv[1:]) == 0
print(time.perf_counter() - start, used() - before, peak())
"""
PEERS = """
import pandas
from aldsurv import datasets
data = datasets.load("gbsg")
frame = pandas.DataFrame(data.x, columns=data.feature_names)
source, target = sys.argv[1:]
{fit}
start, before = time.perf_counter(), used()
rows = pandas.read_parquet(source)[data.feature_names]
found = pandas.DataFrame({predict}, columns=[f"survival_{{time:g}}" for time in {times}])
found.to_parquet(target)
print(time.perf_counter() - start, used() - before, peak())
"""
SCIKIT = (
    "from sksurv.linear_model import CoxPHSurvivalAnalysis\n"
    "import numpy\n"
    "model = CoxPHSurvivalAnalysis().fit(frame.to_numpy(), data.y.to_structured())\n"
    "where = numpy.searchsorted(model.unique_times_, {times}, side='right') - 1",
    "model.predict_survival_function(rows.to_numpy(), return_array=True)[:, where]",
)
LIFELINES = (
    "from lifelines import CoxPHFitter\n"
    "model = CoxPHFitter().fit(frame.assign(T=data.y.time, E=data.y.event), 'T', 'E')",
    "model.predict_survival_function(rows, times={times}).T.to_numpy()",
)


def write(path: Path, rows: int) -> None:
    """Columns that look like those of the breast cancer table."""
    import pyarrow as pa
    import pyarrow.parquet

    rng, writer = np.random.default_rng(0), None
    for start in range(0, rows, CHUNK):
        n = min(CHUNK, rows - start)
        columns = (
            rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(0, 2, n), rng.uniform(21, 90, n).round(1),
            rng.integers(1, 40, n), rng.exponential(100, n).round(1), rng.exponential(100, n).round(1),
        )  # fmt: skip
        table = pa.table(dict(zip(NAMES, columns, strict=True)))
        writer = writer or pa.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def measured(code: str, *words: object) -> tuple[float, float, float]:
    """Seconds by the clock, seconds of the processor, and the peak in MB, of a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", MEASURE + code, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    clock, processor, peak = map(float, done.stdout.split()[-3:])
    return clock, processor, peak


def line(title: str, what: str, rows: int, jobs: object, found: tuple[float, float, float]) -> dict[str, object]:
    clock, processor, peak = found
    print(
        f"{title:<22} {what:<12} {rows:>10} {jobs!s:>8} {clock:>8.1f} {rows / clock:>10.0f}"
        f" {processor:>10.1f} {1e6 * processor / rows:>8.2f} {peak:>8.0f}",
        flush=True,
    )
    seconds = {"clock": round(clock, 2), "processor": round(processor, 2), "peak MB": round(peak)}
    return {"model": title, "what": what, "rows": rows, "threads": jobs, **seconds}


def models(place: Path) -> dict[str, Path]:
    from aldsurv import datasets
    from aldsurv.models import ALDSurvival, CoxRegression

    data = datasets.load("gbsg")
    x = dict(zip(data.feature_names, data.x.T, strict=True))
    made = {
        "ALD, 5 members": ALDSurvival("large", random_state=0),
        "ALD, 1 member": ALDSurvival("large", members=1, random_state=0),
        "Cox": CoxRegression(),
    }
    return {title: model.fit(x, data.y).save(place / f"{k}.aldsurv") for k, (title, model) in enumerate(made.items())}


def run() -> None:
    if not os.path.exists("/proc/self/status"):  # noqa: PTH110
        print("measured on Linux only")
        return
    print("Parquet to Parquet, 7 columns in; survival at 3 times, or 3 quantiles, out; start-up counted")
    print(
        f"{'model':<22} {'what':<12} {'rows':>10} {'threads':>8} {'seconds':>8} {'rows/s':>10}"
        f" {'CPU s':>10} {'us/row':>8} {'peak MB':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ours, out = models(place), place / "out.parquet"
        tables = {rows: place / f"{rows}.parquet" for rows in (FEW, *SIZES)}
        for rows, path in tables.items():
            write(path, rows)
        lines: list[dict[str, object]] = []

        def predict(title: str, what: str, asked: list[str], rows: int, jobs: int | None = None) -> None:
            words = ["predict", ours[title], tables[rows], *asked, "--quiet", "--out", out]
            words += [] if jobs is None else ["--jobs", jobs]
            lines.append(line(title, what, rows, jobs or "all", measured(OURS, *words)))

        for title, sizes in (("ALD, 1 member", SIZES), ("ALD, 5 members", SIZES[:1])):
            for rows in sizes:
                predict(title, "survival", CURVES, rows)
            predict(title, "survival", CURVES, SIZES[0], jobs=1)
            predict(title, "quantiles", QUANTILES, FEW)
        for rows in (FEW, SIZES[0]):
            predict("Cox", "survival", CURVES, rows)
        for title, rows, (fit, answer) in (
            ("scikit-survival Cox", FEW, SCIKIT),
            ("lifelines Cox", FEW, LIFELINES),
            ("lifelines Cox", SIZES[0], LIFELINES),
        ):
            times = list(TIMES)
            code = PEERS.format(fit=fit.format(times=times), predict=answer.format(times=times), times=times)
            lines.append(line(title, "survival", rows, 1, measured(code, tables[rows], out)))
    store_section(PERFORMANCE, "predict", lines, today("python -m bench predict", ["ald/large", "cox/default"]))


if __name__ == "__main__":
    run()
