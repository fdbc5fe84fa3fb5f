"""The same work by the code of two trees, in turns: how many times the seconds and the memory of the other.

``python -m bench.side_by_side OLD_TREE [ROUNDS]``. Only names that both trees have are used.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

WORK = """
import json, resource, sys, time, warnings
import numpy as np
start = time.process_time()
import aldsurv
from aldsurv import metrics
warnings.simplefilter("ignore")
seconds, memory = {}, {}

def timed(name, action):
    began = time.process_time()
    result = action()
    seconds[name] = time.process_time() - began
    memory[name] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result

def rows(n, d):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d))
    event, lost = np.exp(1 + x[:, 0] - 0.5 * x[:, 1] + 0.6 * rng.normal(size=n)), rng.exponential(6.0, n)
    return x, aldsurv.SurvivalData.right(np.minimum(event, lost), event <= lost)

x, y = rows(1000, 10)
wide_x, wide_y = rows(20_000, 10)
given = {"random_state": 0, "progress": False}
timed("(imports and the first fit)", lambda: aldsurv.ALDSurvival(max_epochs=1, **given).fit(x[:100], y[:100]))
model = timed("fit ALD", lambda: aldsurv.ALDSurvival(max_epochs=40, patience=0, **given).fit(x, y))
timed("fit ALD, paper", lambda: aldsurv.ALDSurvival("paper", max_epochs=60, patience=0, **given).fit(x, y))
timed("fit LogNormal", lambda: aldsurv.LogNormalSurvival(max_epochs=40, patience=0, **given).fit(x, y))
timed("fit CQRNN", lambda: aldsurv.CQRNN(max_epochs=40, patience=0, **given).fit(x, y))
timed("fit DeepSurv", lambda: aldsurv.DeepSurv(max_epochs=40, patience=0, **given).fit(x, y))
timed("fit DeepHit", lambda: aldsurv.DeepHit(max_epochs=40, patience=0, **given).fit(x, y))
cox = timed("fit Cox", lambda: aldsurv.CoxRegression().fit(wide_x, wide_y))
timed("fit Weibull AFT", lambda: aldsurv.WeibullAFT().fit(wide_x, wide_y))
times = np.linspace(0.5, 10, 5)
timed("predict ALD, survival", lambda: model.predict_distribution(wide_x).survival(times))
timed("predict ALD, quantiles", lambda: model.predict_distribution(wide_x[:5000]).quantile([0.1, 0.5, 0.9]))
timed("predict Cox, survival", lambda: cox.predict_distribution(wide_x).survival(times))
distribution = aldsurv.WeibullAFT().fit(wide_x, wide_y).predict_distribution(wide_x)
timed("evaluate", lambda: metrics.evaluate(distribution, wide_y, train=wide_y))
timed("evaluate, bootstrap", lambda: metrics.evaluate(distribution[:2000], wide_y[:2000], train=wide_y, bootstrap=50))
print(json.dumps([seconds, memory]))
"""


def measure(tree: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of the processor and megabytes at most, by task."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", WORK], env=environment, capture_output=True, text=True, check=True)
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def main(old: Path, rounds: int) -> None:
    here = Path(__file__).resolve().parents[1]
    runs = [(measure(old), measure(here)) for _ in range(rounds)]
    print(f"{'':28} {'old s':>7} {'new s':>7} {'ratio':>6} {'lowest':>7} {'highest':>8} {'memory':>7}")
    for task in runs[0][0][0]:
        pairs = [(before[0][task], after[0][task]) for before, after in runs]
        ratios = sorted(after / before for before, after in pairs)
        seconds = [statistics.median(column) for column in zip(*pairs, strict=True)]
        memory = statistics.median(after[1][task] / before[1][task] for before, after in runs)
        print(
            f"{task:28} {seconds[0]:7.3f} {seconds[1]:7.3f} {statistics.median(ratios):6.2f} {ratios[0]:7.2f} "
            f"{ratios[-1]:8.2f} {memory:7.2f}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
