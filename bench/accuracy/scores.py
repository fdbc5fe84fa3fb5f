"""Every score of one fitted model on one part of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import SurvivalDistribution
from aldsurv.distributions.time_zero import with_log_times
from aldsurv.metrics.calibration.event_levels import event_levels
from bench.accuracy.crps import grid_of, restricted_survival_crps, score_against_truth
from bench.accuracy.data import Part
from bench.accuracy.pieces import is_table, pieces_of

__all__ = ["log_loss", "measured"]

_BINS = 10
_ICI_LEVELS = (0.25, 0.5, 0.75)


def measured(model: Any, learn: Part, held: Part) -> dict[str, float]:
    """Scores by name; times are in units of the standard deviation of the times in the rows learned from."""
    predicted, data, unit = model.predict_distribution(held.x), held.y, float(np.std(learn.y.time))
    earliness = -np.asarray(model.predict(held.x), np.float64)
    levels, grid = event_levels(predicted, data), grid_of(learn.y)
    found: dict[str, Any] = {
        "log_loss": log_loss(predicted, learn.y, data),
        "survival_crps": restricted_survival_crps(predicted, data, grid) / unit,
        "ibs": metrics.integrated_brier_score(predicted, data, train=learn.y, ties="scikit-survival"),
        "harrell_c": metrics.concordance_harrell(earliness, data),
        "uno_c": metrics.concordance_uno(earliness, data, train=learn.y),
        "cens_dcal": levels.distance_from_uniform(_BINS),
        "ici": _ici(predicted, learn.y, data),
    }
    found["cal_s_slope"], found["cal_s_intercept"] = levels.survival_points(_BINS).line
    found["cal_f_slope"], found["cal_f_intercept"] = levels.density_points(_BINS).line
    found |= _errors(np.asarray(model.predict_time(held.x), np.float64), learn.y, held, unit)
    if held.truth is not None:
        score = score_against_truth(predicted, held.truth, grid)
        found["true_crps"], found["true_distance"] = score.crps / unit, score.distance / unit
    return {name: float(value) for name, value in found.items()}


def log_loss(predicted: SurvivalDistribution, learn: SurvivalData, data: SurvivalData) -> float:
    """Mean negative censored log-likelihood, time in units of the standard deviation of the times learned from.

    A model that gives a table of its curve is judged as piecewise exponential, any other by its own density. An event
    at time 0 is taken as one at or before the first later time, of every model alike.
    """
    rows = with_log_times(data)
    terms = pieces_of(predicted, learn).log_likelihood(rows) if is_table(predicted) else predicted.log_likelihood(rows)
    return float(-np.mean(np.asarray(terms)) - rows.exact.mean() * np.log(np.std(learn.time)))


def _ici(predicted: SurvivalDistribution, learn: SurvivalData, data: SurvivalData) -> float:
    """Mean of the integrated calibration index at the quartiles of the event times in the rows learned from."""
    times = np.quantile(learn.time[learn.event], _ICI_LEVELS)
    return float(np.mean([metrics.integrated_calibration_index(predicted, data, float(time)).ici for time in times]))


def _errors(estimate: NDArray[np.float64], learn: SurvivalData, held: Part, unit: float) -> dict[str, float]:
    # A curve that ends before it has fallen far enough says no more than: not before its last time.
    beyond = ~np.isfinite(estimate)
    estimate = np.where(beyond, learn.time.max(), estimate)
    found = {"mae": metrics.mean_absolute_error(estimate, held.y, unit=unit), "beyond": float(beyond.mean())}
    if held.truth is not None:
        mean = np.asarray(held.truth.mean())
        found["true_mae"] = metrics.mean_absolute_error(estimate, held.y, truth=mean, unit=unit)
    return found
