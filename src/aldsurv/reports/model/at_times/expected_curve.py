"""The survival curve that is expected of rows as they were observed, to stand beside their Kaplan-Meier curve."""

from __future__ import annotations

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import SurvivalDistribution
from aldsurv.metrics.checked_arguments import FloatArray, as_numbers
from aldsurv.metrics.evaluation_times import mean_survival

__all__ = ["expected_survival"]

_STEPS = 200


def expected_survival(predicted: SurvivalDistribution, data: SurvivalData, times: FloatArray) -> FloatArray:
    """Expected survival (m,) at `times`: the mean of the predicted curves or, after delayed entry, of their hazards.

    With delayed entry the Kaplan-Meier curve follows those under observation, who at later times are others than at
    first. Its expected value is ``exp(-∫ mean hazard)``, the mean at each time over those under observation then
    (Ederer's second method); the mean of all predicted curves is that of people observed from time 0.

    Parameters
    ----------
    predicted, data
        Predictions and rows with times.
    times
        When to look, in any order.
    """
    if data.entry is None or not (data.entry > 0).any():
        return mean_survival(predicted, data.weights, times)
    entry, end, weights = np.maximum(data.entry, 0.0), data.time, data.weights
    edges = np.unique(np.concatenate([np.linspace(0.0, float(end.max()), _STEPS + 1), times[times >= 0]]))
    cumulative = np.zeros(edges.size)
    before = _hazard(predicted, np.maximum(entry, edges[0]))
    for place in range(1, edges.size):
        low, high = edges[place - 1], edges[place]
        stop = np.clip(high, entry, np.maximum(end, entry))
        after = _hazard(predicted, stop)
        observed = np.maximum(np.minimum(end, high) - np.maximum(entry, low), 0.0)
        exposure = float(weights @ observed)
        expected = float(weights @ np.maximum(after - before, 0.0))
        cumulative[place] = cumulative[place - 1] + (expected / exposure * (high - low) if exposure > 0 else 0.0)
        before = after
    return np.asarray(np.exp(-np.interp(times, edges, cumulative)))


def _hazard(predicted: SurvivalDistribution, times: FloatArray) -> FloatArray:
    """Cumulative hazard at one time per row (n,); that of a survival of 0 is cut."""
    with np.errstate(divide="ignore"):
        hazard = -as_numbers(predicted.log_survival(times[:, None]))[:, 0]
    return np.asarray(np.minimum(hazard, 50.0))
