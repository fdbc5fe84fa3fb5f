"""Memory and milliseconds of 1,000 plots in a service, where pyplot must not keep them.

Run: python -m bench.plots.
"""

from __future__ import annotations

import time
from pathlib import Path

from matplotlib import pyplot

from aldsurv.distributions import Exponential
from aldsurv.plots import plot_survival

PLOTS, WARM_UP = 1000, 100


def main() -> None:
    """Print a line: growth of the process in MB after the first plots, and time per plot."""
    rows = Exponential([2.0, 5.0])
    for _ in range(WARM_UP):
        plot_survival(rows)
    before, start = _megabytes(), time.process_time()
    for _ in range(PLOTS):
        plot_survival(rows)
    seconds = time.process_time() - start
    grown = _megabytes() - before
    print(
        f"{PLOTS} plots: {grown:+.1f} MB, {1000 * seconds / PLOTS:.1f} ms each, {len(pyplot.get_fignums())} left open"
    )


def _megabytes() -> float:
    """What the process holds now, on Linux."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
