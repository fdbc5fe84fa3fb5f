"""One fit of another library, by an interpreter that has it: ``python peer_fit.py NAME TABLE.npz ANSWER.npz``.

The table has ``x``, ``time``, ``cause``, ``test_x`` and ``times``; the answer ``incidence`` (causes, n, m), and
``seconds`` of the processor for the fit. It imports nothing of aldsurv, whose interpreter need not be the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["PEERS"]


def _forest(table: Any) -> tuple[Any, float]:
    from comprisk import CompetingRiskForest

    model = CompetingRiskForest(random_state=0, n_jobs=1, device="cpu")
    # The first call compiles: it is not counted. Rows from all over the table, so that every cause is among them.
    few = slice(None, None, max(1, len(table["x"]) // 400))
    CompetingRiskForest(n_estimators=1, random_state=0, n_jobs=1, device="cpu").fit(
        table["x"][few], table["time"][few], table["cause"][few]
    )
    start = time.process_time()
    model.fit(table["x"], table["time"], table["cause"])
    seconds = time.process_time() - start
    return np.moveaxis(model.predict_cif(table["test_x"], times=table["times"]), 1, 0), seconds


def _boosting(table: Any) -> tuple[Any, float]:
    import pandas as pd
    from hazardous import SurvivalBoost

    model = SurvivalBoost(random_state=0, show_progressbar=False)
    start = time.process_time()
    model.fit(table["x"], pd.DataFrame({"event": table["cause"], "duration": table["time"]}))
    seconds = time.process_time() - start
    # The first of its answers is the survival.
    return np.moveaxis(model.predict_cumulative_incidence(table["test_x"], times=table["times"]), 1, 0)[1:], seconds


PEERS: dict[str, Callable[[Any], tuple[Any, float]]] = {
    "comprisk forest": _forest,
    "hazardous SurvivalBoost": _boosting,
}


def main(name: str, table: str, answer: str) -> None:
    """Fit, and write what it predicts."""
    with np.load(table) as arrays:
        incidence, seconds = PEERS[name](dict(arrays))
    np.savez(answer, incidence=incidence, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
