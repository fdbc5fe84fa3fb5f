"""Cox's predictions on many rows: seconds and peak memory of baseline and risk, beside the table of rows × times."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIZES = (2_000, 5_000, 10_000, 50_000, 200_000)
# A table of more rows would not fit into the memory of most machines.
MOST_IN_TABLE = 10_000

MEASURE = """
import sys, time
def peak():
    lines = open('/proc/self/status').read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith('VmHWM'))
"""
PREDICT = """
import numpy as np
from aldsurv import SurvivalData, metrics
from aldsurv.models import CoxRegression
n, table = int(sys.argv[1]), sys.argv[2] == "table"
rng = np.random.default_rng(0)
x = rng.normal(size=(n, 1))
event, censored = rng.exponential(np.exp(-x[:, 0])), rng.exponential(2.0, n)
data = SurvivalData.right(np.minimum(event, censored), event <= censored)
model, before = CoxRegression().fit(x, data), peak()
start = time.perf_counter()
predicted = model.predict_distribution(x)
predicted = predicted.to_step() if table else predicted
predicted.survival([0.5, 1.0, 2.0])
predicted.median()
metrics.integrated_brier_score(predicted, data, train=data)
metrics.log_likelihood(predicted, data)
print(time.perf_counter() - start, before, peak())
"""
COMMAND = """
from aldsurv.cli.main import main
start = time.perf_counter()
assert main(sys.argv[1:]) == 0
print(time.perf_counter() - start, 0, peak())
"""


def measured(code: str, *arguments: object) -> tuple[float, float, float]:
    """Seconds, and the peak of memory in MB before and at the end, in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", MEASURE + code, *map(str, arguments)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    seconds, before, peak = map(float, found.stdout.splitlines()[-1].split())
    return seconds, before, peak


def write(path: Path, rows: int) -> None:
    """A table of one column with distinct times."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    event, censored = rng.exponential(np.exp(-x)), rng.exponential(2.0, rows)
    columns = np.minimum(event, censored), (event <= censored).astype(int), x
    lines = zip(*(column.tolist() for column in columns), strict=True)
    path.write_text("time,event,x\n" + "".join(f"{t!r},{e},{v!r}\n" for t, e, v in lines))


def main() -> None:
    """Print the tables."""
    print("survival at three times, median, IBS and log-likelihood of all rows")
    print(f"{'rows':>8} {'as':>18} {'µs a row':>10} {'MB more':>9}")
    for rows in SIZES:
        for kind in ("table", "baseline and risk"):
            if kind == "table" and rows > MOST_IN_TABLE:
                continue
            seconds, before, peak = measured(PREDICT, rows, kind)
            print(f"{rows:>8} {kind:>18} {1e6 * seconds / rows:>10.1f} {peak - before:>9.0f}")
    rows = SIZES[-1]
    print(f"\ncommands on {rows} rows\n{'':>10} {'seconds':>8} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder) / "people.csv", Path(folder) / "people.aldsurv"
        write(table, rows)
        commands = {
            "fit": ["fit", table, "--time", "time", "--event", "event", "--model", "cox", "--out", model, "--quiet"],
            "predict": ["predict", model, table, "--times", "0.5,1,2", "--out", Path(folder) / "found.csv", "--quiet"],
            "evaluate": ["evaluate", model, table, "--bootstrap", "0", "--quiet"],
        }
        for name, command in commands.items():
            seconds, _, peak = measured(COMMAND, *command)
            print(f"{name:>10} {seconds:>8.1f} {peak:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
