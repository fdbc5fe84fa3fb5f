"""Start-up: a fresh interpreter each time, beside one that imports numpy."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

REPEATS = 15
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    'python -c "import numpy"': ["-c", "import numpy"],
    'python -c "import aldsurv"': ["-c", "import aldsurv"],
    "aldsurv --help": ["-m", "aldsurv", "--help"],
    'python -c "from aldsurv.distributions import …"': ["-c", "from aldsurv.distributions import AsymmetricLaplace"],
    'python -c "import lifelines"': ["-c", "import lifelines"],
    'python -c "import sksurv.metrics"': ["-c", "import sksurv.metrics"],
}


def run() -> None:
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for repeat in range(REPEATS):
        for name, arguments in COMMANDS.items():
            if repeat >= 3 and ("lifelines" in name or "sksurv" in name):
                continue
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            taken[name].append(time.perf_counter() - start)
    numpy = statistics.median(taken['python -c "import numpy"'])
    print("seconds, median (best); ratio to importing numpy")
    for name, times in taken.items():
        middle = statistics.median(times)
        print(f"  {name:<52}{middle:6.3f} ({min(times):.3f})  {middle / numpy:5.2f}")


if __name__ == "__main__":
    run()
