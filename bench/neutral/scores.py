"""The study's three scores, by its own definitions.

They differ from `aldsurv.metrics` in what is left open there: censoring is estimated on the training rows and read at
t, not just before; a row that is censored at t has left; the grid is that of the test times; an event and a censored
row at the same time are no pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData, metrics
from aldsurv.nonparametric import kaplan_meier

__all__ = ["MEASURES", "concordance", "score_times", "scores", "weighted_scores"]

FloatArray = NDArray[np.float64]
# By name: whether higher is better.
MEASURES = {"isbs": False, "isll": False, "harrell_c": True}
# The smallest censoring weight, and the smallest probability in a logarithm.
_LEAST = 0.001
# Scores are integrated up to the first time at which a larger share of the test rows has left.
_SHARE = 0.8


def scores(model: Any, x: object, test: SurvivalData, train: SurvivalData) -> dict[str, float]:
    """The scores of a fitted model on test rows."""
    times = score_times(test.time)
    survival = np.asarray(model.predict_distribution(x).survival(times))
    isbs, isll = weighted_scores(survival, times, test, train)
    return {"isbs": isbs, "isll": isll, "harrell_c": concordance(np.asarray(model.predict(x), np.float64), test)}


def concordance(risk: FloatArray, test: SurvivalData) -> float:
    """Harrell's C of pairs whose earlier time is an event's and strictly earlier; equal risks count one half."""
    places = np.unique(test.time, return_inverse=True)[1]
    # The library's C has an event before a censored row of the same time: put behind it, it is not comparable.
    apart = SurvivalData.right(2.0 * places + test.event, test.event)
    return float(metrics.concordance_harrell(-risk, apart))


def score_times(time: FloatArray) -> FloatArray:
    """The distinct test times up to the first at which more than 80 % of the rows have left."""
    times, counts = np.unique(time, return_counts=True)
    left_before = (np.cumsum(counts) - counts) / len(time)
    beyond = np.flatnonzero(left_before > _SHARE)
    return times[: beyond[0] + 1] if len(beyond) else times


def weighted_scores(
    survival: FloatArray, times: FloatArray, test: SurvivalData, train: SurvivalData
) -> tuple[float, float]:
    """Integrated Brier score and integrated log-loss of survival (rows, times), weighted for censoring."""
    censoring = kaplan_meier(SurvivalData.right(train.time, ~train.event)).distribution
    at_time, at_row = (_least(np.asarray(censoring.survival(at)).ravel()) for at in (times, test.time))
    alive = test.time[:, None] > times
    weight = np.where(alive, 1 / at_time, np.where(test.event, 1 / at_row, 0.0)[:, None])
    squares = np.where(alive, 1 - survival, survival) ** 2
    logs = -np.log(_least(np.where(alive, survival, 1 - survival)))
    spread = times[-1] - times[0]
    isbs, isll = (float(np.trapezoid((weight * part).mean(axis=0), times) / spread) for part in (squares, logs))
    return isbs, isll


def _least(values: FloatArray) -> FloatArray:
    return np.maximum(values, _LEAST)
