"""One fit of the study: a model, or a peer, on a drawn table."""

from __future__ import annotations

import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv import (
    ALDSurvival,
    BoostedALD,
    CauseSpecificCox,
    DeepHit,
    FineGray,
    LogNormalSurvival,
    SurvivalData,
    datasets,
    metrics,
)
from aldsurv.distributions import CumulativeIncidence
from aldsurv.nonparametric import aalen_johansen
from bench.causes import peer_fit
from bench.causes.drawn_tables import drawn_table
from bench.causes.peer_fit import PEERS

__all__ = ["MODELS", "REAL", "WITHOUT_COVARIATES", "Cell", "run_cell"]

FloatArray = NDArray[np.float64]
OURS: dict[str, Callable[[int], Any]] = {
    "ALDSurvival": lambda seed: ALDSurvival(random_state=seed),
    "LogNormalSurvival": lambda seed: LogNormalSurvival(random_state=seed),
    "BoostedALD": lambda seed: BoostedALD(random_state=seed),
    "DeepHit": lambda seed: DeepHit(random_state=seed),
    "CauseSpecificCox": lambda seed: CauseSpecificCox(),
    "FineGray": lambda seed: FineGray(),
}
WITHOUT_COVARIATES = "Aalen-Johansen"
MODELS = [*OURS, WITHOUT_COVARIATES, *PEERS]
REAL = "rotterdam"
# Times at which the Brier score of the real table is taken, up to this quantile of its times.
_TIMES, _LAST_LEVEL = 50, 0.9


class Cell(NamedTuple):
    """A model on a table; `python` is the interpreter that has the peers."""

    stage: str
    model: str
    table: str
    seed: int
    rows: int
    python: str

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.model} on {self.table}"


def run_cell(cell: Cell) -> dict[str, Any]:
    """Its entries, with seconds and scores by cause, or with an error."""
    line: dict[str, Any] = dict(cell._asdict())
    try:
        line |= _real_scores(cell) if cell.table == REAL else _drawn_scores(cell)
    except Exception as error:
        message = " ".join(str(error).split())
        line["error"] = f"{type(error).__name__}: {message}"[:500]
    return line


def _drawn_scores(cell: Cell) -> dict[str, Any]:
    """By cause the integrated Brier score expected of a model, and how far it exceeds the truth's.

    The Brier score of an individual at a time has the expectation ``F·(1 - F) + (F̂ - F)²``: no row is censored in it,
    and chance is in the training rows only.
    """
    drawn = drawn_table(cell.table, rows=cell.rows, seed=cell.seed)
    predicted, seconds, kind = _predicted(cell, drawn.x, drawn.y, drawn.test_x, drawn.times)
    chance = (drawn.incidence * (1 - drawn.incidence)).mean(axis=(1, 2))
    excess = ((predicted - drawn.incidence) ** 2).mean(axis=(1, 2))
    return {
        "seconds": seconds,
        "kind": kind,
        "ibs": (chance + excess).tolist(),
        "excess": (excess / chance).tolist(),
        "largest": float((excess / chance).max()),
        "events": np.bincount(drawn.y.cause, minlength=3).tolist(),
    }


def _real_scores(cell: Cell) -> dict[str, Any]:
    """By cause the integrated Brier score of held-out rows, with weights for censoring."""
    train, test = datasets.load(REAL).split(seed=cell.seed)
    times = np.linspace(0, float(np.quantile(train.y.time, _LAST_LEVEL)), _TIMES + 1)[1:]
    predicted, seconds, kind = _predicted(cell, train.x, train.y, test.x, times)
    # Peers may give incidences that fall, or add up to more than one.
    grown = np.maximum.accumulate(np.clip(predicted, 0.0, 1.0), axis=2)
    grown = grown / np.maximum(grown.sum(axis=0).max(axis=1), 1.0)[None, :, None]
    table = CumulativeIncidence(times, grown, train.y.causes)
    scores = [
        metrics.integrated_brier_score(table, test.y, train=train.y, times=times, cause=cause)
        for cause in train.y.causes
    ]
    return {"seconds": seconds, "kind": kind, "ibs": scores, "largest": max(scores)}


def _predicted(
    cell: Cell, x: FloatArray, y: SurvivalData, test_x: FloatArray, times: FloatArray
) -> tuple[FloatArray, float, str]:
    """Incidences of the test rows, seconds of the processor for the fit, and which kind of causes was chosen."""
    if cell.model in PEERS:
        return *_by_peer(cell, x, y, test_x, times), ""
    start = time.process_time()
    if cell.model == WITHOUT_COVARIATES:
        curves = aalen_johansen(y)
        seconds = time.process_time() - start
        flat = np.stack([curves.incidence_at(times, cause=k) for k in (1, 2)])
        return np.repeat(flat[:, None, :], len(test_x), axis=1), seconds, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OURS[cell.model](cell.seed).fit(x, y)
    seconds = time.process_time() - start
    kind = next((text for text in ("mixture", "hazards") if f"({text})" in model.summary()), "")
    return model.predict_incidence(test_x).incidence(times), seconds, kind


def _by_peer(
    cell: Cell, x: FloatArray, y: SurvivalData, test_x: FloatArray, times: FloatArray
) -> tuple[FloatArray, float]:
    with tempfile.TemporaryDirectory() as folder:
        table, answer = (Path(folder) / name for name in ("table.npz", "answer.npz"))
        np.savez(table, x=x, time=y.time, cause=y.cause, test_x=test_x, times=times)
        command = [cell.python, peer_fit.__file__, cell.model, str(table), str(answer)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-300:])
        with np.load(answer) as found:
            return found["incidence"], float(found["seconds"])
