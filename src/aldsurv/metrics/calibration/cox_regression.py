"""Cox and Fine-Gray regression of rows on a few columns, as calibration needs them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.checked_arguments import FloatArray
from aldsurv.nonparametric.censoring_weights import censoring_distribution

__all__ = ["LARGEST_LOG_RATIO", "CoxFit", "RiskSets", "fit_cox"]

_ITERATIONS = 50
_TOLERANCE = 1e-9
# Logarithm of a ratio of hazards that no data can distinguish from infinity, and whose exponential is still finite.
LARGEST_LOG_RATIO = 300.0


class RiskSets(NamedTuple):
    """Rows in descending order of time, and who is at risk at the event of each."""

    time: FloatArray
    weights: FloatArray
    event: NDArray[np.bool_]
    ends: NDArray[np.intp]
    stays: FloatArray
    """What a row counts after its time: 1/G(y-) after another event, else 0."""
    uncensored: FloatArray
    """G just before each time."""

    @classmethod
    def of(cls, data: SurvivalData, other: NDArray[np.bool_]) -> RiskSets:
        """Risk sets of rows in descending order of time.

        Rows in `other` (n,) had an event of another cause: they stay at risk, at t with the weight ``G(t-)/G(y-)``, the
        probability to be uncensored at t of those who were so at their event at y (Fine & Gray 1999).
        """
        uncensored = np.ones(len(data))
        if other.any():
            uncensored = censoring_distribution(data).survival_before(data.time)
        stays = np.divide(1.0, uncensored, out=np.zeros(len(data)), where=other & (uncensored > 0))
        return cls(data.time, data.weights, data.event & ~other, _stretch_ends(data.time), stays, uncensored)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum of values (n, …) over those at risk at each event of interest."""
        at_events = self.ends[self.event]
        present = np.cumsum(values, axis=0)[at_events]
        if not self.stays.any():
            return np.asarray(present)
        shape = (-1,) + (1,) * (values.ndim - 1)
        staying = np.cumsum(values * self.stays.reshape(shape), axis=0)
        return np.asarray(present + self.uncensored[self.event].reshape(shape) * (staying[-1] - staying[at_events]))

    def sums_over_events(self, values: FloatArray) -> FloatArray:
        """Sum of values (events, …) over the events at which each row (n, …) was at risk, with its weight there."""
        shape = (-1,) + (1,) * (values.ndim - 1)

        def until(amounts: FloatArray) -> FloatArray:
            """Sums over the events up to the time of each row, those at that time included."""
            spread = np.zeros((len(self.time), *values.shape[1:]))
            spread[self.event] = amounts
            after = np.cumsum(spread, axis=0)
            first = np.searchsorted(-self.time, -self.time, side="left")
            before_first = np.where((first > 0).reshape(shape), after[np.maximum(first - 1, 0)], 0.0)
            return np.asarray(after[-1] - before_first)

        total = until(values)
        if self.stays.any():
            later = values * self.uncensored[self.event].reshape(shape)
            total = total + self.stays.reshape(shape) * (later.sum(axis=0) - until(later))
        return total


class CoxFit(NamedTuple):
    """Coefficients (k,) of a regression, and the variance (k, k) of them."""

    coefficients: FloatArray
    variance: FloatArray


def fit_cox(data: RiskSets, covariates: FloatArray) -> CoxFit | None:
    """Cox regression by Newton's method; None if the likelihood has no finite maximum.

    Events at one time share their risk set (Breslow), so that a row of weight 2 counts exactly as two rows. The
    variance is the inverse of the information; where rows stay at risk after another event, with weights that are
    no numbers of rows, it is the robust one, of scores of single rows, given the weights.

    Parameters
    ----------
    data
        The rows.
    covariates
        Their columns (n, k), of about mean 0 and variance 1.
    """
    event = data.event
    weight, of_events = data.weights[event], covariates[event]
    products = covariates[:, :, None] * covariates[:, None, :]

    def likelihood(slope: FloatArray) -> tuple[float, FloatArray]:
        score = covariates @ slope
        # Any constant cancels; this one keeps the exponentials finite.
        relative = data.weights * np.exp(score - score.max())
        return float(weight @ (of_events @ slope - score.max() - np.log(data.sums(relative)))), relative

    slope = np.zeros(covariates.shape[1])
    value, relative = likelihood(slope)
    for _ in range(_ITERATIONS):
        total = data.sums(relative)
        mean = data.sums(relative[:, None] * covariates) / total[:, None]
        square = data.sums(relative[:, None, None] * products) / total[:, None, None]
        gradient = weight @ (of_events - mean)
        curvature = np.tensordot(weight, square - mean[:, :, None] * mean[:, None, :], axes=1)
        if np.linalg.cond(curvature) > 1e12:
            return None
        step = np.linalg.solve(curvature, gradient)
        if np.abs(step).max() < _TOLERANCE:
            inverse: FloatArray = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
            if data.stays.any():
                inverse = inverse @ _score_products(data, covariates, relative, total, mean) @ inverse
            return CoxFit(slope + step, inverse)
        # Without a maximum the steps go on for ever; with one, full steps may overshoot far from it.
        if np.ptp(covariates @ (slope + step)) > LARGEST_LOG_RATIO:
            return None
        for _ in range(20):
            longer, weights = likelihood(slope + step)
            if longer >= value - 1e-10 * abs(value):
                break
            step = step / 2
        slope, value, relative = slope + step, longer, weights
    return None


def _score_products(
    data: RiskSets, covariates: FloatArray, relative: FloatArray, total: FloatArray, mean: FloatArray
) -> FloatArray:
    """Sum over the rows of the products (k, k) of their scores (Lin & Wei 1989)."""
    weight = data.weights[data.event]
    score = np.zeros(covariates.shape)
    score[data.event] = covariates[data.event] - mean
    rate = weight / total
    times = data.sums_over_events(np.column_stack([rate, rate[:, None] * mean]))
    relative = np.divide(relative, data.weights, out=np.zeros(relative.shape), where=data.weights > 0)
    score -= relative[:, None] * (covariates * times[:, :1] - times[:, 1:])
    return np.asarray((score * data.weights[:, None]).T @ score)


def _stretch_ends(time: FloatArray) -> NDArray[np.intp]:
    """Index of the last row of the same time, for rows in order of time."""
    last = np.append(np.flatnonzero(time[1:] != time[:-1]), time.size - 1)
    return last[np.searchsorted(last, np.arange(time.size))]
