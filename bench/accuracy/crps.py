"""Ranked probability scores up to a horizon, by quadrature on one grid for all rows and models.

Beyond the last time seen nothing is known of any model, and a heavy tail or a curve that never reaches 0 has an
infinite score there: every integral runs from 0 to the horizon, the largest time in the rows learned from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData
from aldsurv.distributions import SurvivalDistribution

__all__ = ["TruthScore", "grid_of", "restricted_survival_crps", "score_against_truth"]

FloatArray = NDArray[np.float64]

_POINTS = 256


class TruthScore(NamedTuple):
    """Expected score under the true distribution, and the part of it that a perfect prediction would not have."""

    crps: float
    distance: float


def grid_of(learn: SurvivalData) -> FloatArray:
    """Times from 0 to the horizon: as many evenly spread as at quantiles of the times in the rows learned from."""
    even = np.linspace(0.0, learn.time.max(), _POINTS)
    return np.unique(np.concatenate([even, np.quantile(learn.time, np.linspace(0, 1, _POINTS))]))


def restricted_survival_crps(predicted: SurvivalDistribution, data: SurvivalData, grid: FloatArray) -> float:
    """Mean of ``∫ F² dt`` up to the row's time plus, for an event, ``∫ S² dt`` from there to the end of the grid."""
    cdf = _cdf(predicted, grid)
    time = np.clip(data.time, grid[0], grid[-1])
    before = _integral_to(grid, cdf**2, time)
    after = _integral_to(grid, (1 - cdf) ** 2, np.full_like(time, grid[-1])) - _integral_to(grid, (1 - cdf) ** 2, time)
    return float(np.mean(before + np.where(data.event, after, 0.0)))


def score_against_truth(predicted: SurvivalDistribution, truth: SurvivalDistribution, grid: FloatArray) -> TruthScore:
    """Mean over the rows of the CRPS that is expected if times come from `truth`: ``∫ (F̂ - F)² + F(1 - F) dt``."""
    cdf, true = _cdf(predicted, grid), _cdf(truth, grid)
    distance = np.trapezoid((cdf - true) ** 2, grid, axis=1).mean()
    return TruthScore(float(distance + np.trapezoid(true * (1 - true), grid, axis=1).mean()), float(distance))


def _cdf(predicted: SurvivalDistribution, grid: FloatArray) -> FloatArray:
    """What is put below 0 counts as at 0, where no event can be earlier."""
    return np.asarray(predicted.cdf(grid), np.float64).reshape(len(predicted), len(grid))


def _integral_to(grid: FloatArray, values: FloatArray, stop: FloatArray) -> FloatArray:
    """Integral of each row's values, joined by straight lines, from the start of the grid to a time of its own."""
    widths = np.diff(grid)
    whole = np.concatenate([np.zeros((len(values), 1)), np.cumsum((values[:, 1:] + values[:, :-1]) / 2 * widths, 1)], 1)
    cell = np.clip(np.searchsorted(grid, stop, side="right") - 1, 0, len(widths) - 1)
    row = np.arange(len(values))
    start, end, width = values[row, cell], values[row, cell + 1], stop - grid[cell]
    return np.asarray(whole[row, cell] + width * (start + (end - start) * width / widths[cell] / 2))
