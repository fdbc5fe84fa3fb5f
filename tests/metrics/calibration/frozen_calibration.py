"""Numbers of R's survival, rms and cmprsk, and the predictions that they are of."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CauseHazards, Exponential, LogNormal, Weibull

FROZEN = json.loads((Path(__file__).parents[1] / "frozen" / "calibration.json").read_text())
AT = float(FROZEN["at"])
KINDS = ("weibull", "log_normal")


def prediction(kind):
    """Weibull times, which are of proportional hazards, or log-normal ones, which are not."""
    scale = np.array(FROZEN["rows"]["scale"])
    return Weibull(scale, 1.3) if kind == "weibull" else LogNormal(np.log(scale), 0.8)


def rows(part):
    """Exact times, a coarse clock with weights, or delayed entry."""
    given = {name: np.array(values) for name, values in FROZEN["rows"].items()}
    event = given["event"].astype(bool)
    if part == "ties":
        return SurvivalData.right(given["tick"], event, weight=given["weight"])
    return SurvivalData.right(given["time"], event, entry=given["entry"] if part == "entry" else None)


def causes():
    """Exponential times to each of two causes, and the rows."""
    given = FROZEN["causes"]
    predicted = CauseHazards(
        [Exponential(1 / np.array(given["rate1"])), Exponential(1 / np.array(given["rate2"]))], ["one", "two"]
    )
    data = SurvivalData.competing(given["time"], given["cause"], names=["one", "two"])
    return predicted, data
