"""Start-up: a fresh interpreter each time, beside one that imports numpy.

Seconds are those of the processor: what else runs on the machine counts little.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from bench.pages.results import PERFORMANCE, store_section, today
from bench.processor_time import seconds_of_children

REPEATS = 15
DISTRIBUTION = "from aldsurv.distributions import AsymmetricLaplace"
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    'python -c "import numpy"': ["-c", "import numpy"],
    'python -c "import aldsurv"': ["-c", "import aldsurv"],
    "aldsurv --help": ["-m", "aldsurv", "--help"],
    f'python -c "{DISTRIBUTION}"': ["-c", DISTRIBUTION],
    'python -c "import lifelines"': ["-c", "import lifelines"],
    'python -c "import sksurv.metrics"': ["-c", "import sksurv.metrics"],
}


def run() -> None:
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for repeat in range(REPEATS):
        for name, arguments in COMMANDS.items():
            if repeat >= 3 and ("lifelines" in name or "sksurv" in name):
                continue
            before = seconds_of_children()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            taken[name].append(seconds_of_children() - before)
    numpy = statistics.median(taken['python -c "import numpy"'])
    print("seconds of the processor, median (best); ratio to importing numpy")
    for name, times in taken.items():
        middle = statistics.median(times)
        print(f"  {name:<52}{middle:6.3f} ({min(times):.3f})  {middle / numpy:5.2f}")
    seconds = {name: round(statistics.median(times), 4) for name, times in taken.items()}
    store_section(PERFORMANCE, "imports", seconds, today("python -m bench imports"))


if __name__ == "__main__":
    run()
