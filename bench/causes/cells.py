"""One fit of the study: a model, or a peer, on a drawn table."""

from __future__ import annotations

import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv import ALDSurvival, BoostedALD, DeepHit, LogNormalSurvival
from aldsurv.nonparametric import aalen_johansen
from bench.causes import peer_fit
from bench.causes.drawn_tables import DrawnTable, drawn_table
from bench.causes.peer_fit import PEERS

__all__ = ["MODELS", "WITHOUT_COVARIATES", "Cell", "run_cell"]

FloatArray = NDArray[np.float64]
OURS: dict[str, Any] = {
    "ALDSurvival": ALDSurvival,
    "LogNormalSurvival": LogNormalSurvival,
    "BoostedALD": BoostedALD,
    "DeepHit": DeepHit,
}
WITHOUT_COVARIATES = "Aalen-Johansen"
MODELS = [*OURS, WITHOUT_COVARIATES, *PEERS]


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
    """Its entries with seconds, by cause the integrated Brier score expected of it, and how far it exceeds the truth's.

    The Brier score of an individual at a time has the expectation ``F·(1 - F) + (F̂ - F)²``: no row is censored in it,
    and chance is in the training rows only.
    """
    line: dict[str, Any] = dict(cell._asdict())
    try:
        drawn = drawn_table(cell.table, rows=cell.rows, seed=cell.seed)
        predicted, line["seconds"], line["kind"] = _predicted(cell, drawn)
        chance = (drawn.incidence * (1 - drawn.incidence)).mean(axis=(1, 2))
        excess = ((predicted - drawn.incidence) ** 2).mean(axis=(1, 2))
        line["ibs"], line["excess"] = (chance + excess).tolist(), (excess / chance).tolist()
        line["largest"] = float(line["excess"][int(np.argmax(line["excess"]))])
        line["events"] = np.bincount(drawn.y.cause, minlength=3).tolist()
    except Exception as error:
        message = " ".join(str(error).split())
        line["error"] = f"{type(error).__name__}: {message}"[:500]
    return line


def _predicted(cell: Cell, drawn: DrawnTable) -> tuple[FloatArray, float, str]:
    """Incidences of the test rows, seconds of the processor for the fit, and which kind of causes was chosen."""
    if cell.model in PEERS:
        return *_by_peer(cell, drawn), ""
    start = time.process_time()
    if cell.model == WITHOUT_COVARIATES:
        curves = aalen_johansen(drawn.y)
        seconds = time.process_time() - start
        flat = np.stack([curves.incidence_at(drawn.times, cause=k) for k in (1, 2)])
        return np.repeat(flat[:, None, :], len(drawn.test_x), axis=1), seconds, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OURS[cell.model](random_state=cell.seed).fit(drawn.x, drawn.y)
    seconds = time.process_time() - start
    kind = next((text for text in ("mixture", "hazards") if f"({text})" in model.summary()), "")
    return model.predict_incidence(drawn.test_x).incidence(drawn.times), seconds, kind


def _by_peer(cell: Cell, drawn: DrawnTable) -> tuple[FloatArray, float]:
    with tempfile.TemporaryDirectory() as folder:
        table, answer = (Path(folder) / name for name in ("table.npz", "answer.npz"))
        arrays = {"x": drawn.x, "time": drawn.y.time, "cause": drawn.y.cause}
        np.savez(table, **arrays, test_x=drawn.test_x, times=drawn.times)
        command = [cell.python, peer_fit.__file__, cell.model, str(table), str(answer)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-300:])
        with np.load(answer) as found:
            return found["incidence"], float(found["seconds"])
