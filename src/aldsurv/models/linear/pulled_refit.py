"""Coefficients of a fitted linear model learned again from other rows, pulled towards what they were.

The linear predictor alone changes: the spread of log time, or the shape of the baseline hazard, stays. A pull of k is a
normal prior around the old coefficients that weighs about as much as k events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, Standard
from aldsurv.models.linear.linear_fit import inverse
from aldsurv.models.linear.newton import Evaluation, maximise

__all__ = ["PulledRefit", "refit_location", "refit_log_risk"]

FloatArray = NDArray[np.float64]


class PulledRefit(NamedTuple):
    """The new parameters.

    Attributes
    ----------
    point
        The intercept, the slopes, and what follows them; slopes that are not free as they were.
    covariance
        Inverse of the information with the pull, 0 for what is not free.
    log_likelihood
        Without the pull.
    """

    point: FloatArray
    covariance: FloatArray
    log_likelihood: float


def refit_location(
    x: FloatArray, rows: SurvivalData, standard: Standard, old: FloatArray, *, free: NDArray[np.bool_], pull: float
) -> PulledRefit:
    """Intercept and slopes of log time, its spread as it was.

    Parameters
    ----------
    x, rows
        Columns (n, d) of rows with positive times and weights.
    standard
        Distribution of ``(log t - μ)/σ``.
    old
        The intercept, the slopes and log σ (d + 2,).
    free
        Which slopes may change (d,).
    pull
        Weight of the old coefficients, in events.
    """
    log_sigma = float(old[-1])
    offset = x[:, ~free] @ old[1:-1][~free]
    columns = np.column_stack([np.ones(len(x)), x[:, free], offset])
    likelihood = LogTimeLikelihood(columns, rows, standard)

    def evaluate(point: FloatArray) -> Evaluation:
        value, gradient, information = likelihood(np.concatenate([point, [1.0, log_sigma]]))
        return Evaluation(value, gradient[: point.size], information[: point.size, : point.size])

    # An event says as much about the location of log time as about a mean of variance σ².
    return _pulled(evaluate, old, free, pull * float(np.exp(-2 * log_sigma)))


def refit_log_risk(
    x: FloatArray, data: SurvivalData, hazard: FloatArray, old: FloatArray, *, free: NDArray[np.bool_], pull: float
) -> PulledRefit:
    """Slopes of the log risk, and as intercept the logarithm of a factor of the baseline, whose shape stays.

    It is Poisson regression with the logarithm of the baseline's cumulative hazard as offset.

    Parameters
    ----------
    x, data
        Columns (n, d), measured from an average row, of exact and right-censored rows.
    hazard
        Cumulative hazard of an average row over the time that each row is observed (n,).
    old
        The slopes (d,).
    free, pull
        As in `refit_location`.
    """
    columns, events, weights = np.column_stack([np.ones(len(x)), x[:, free]]), data.exact.astype(float), data.weights
    offset = x[:, ~free] @ old[~free]

    def evaluate(point: FloatArray) -> Evaluation:
        with np.errstate(over="ignore", invalid="ignore"):
            log_risk = offset + columns @ point
            expected = weights * hazard * np.exp(log_risk)
            value = float((weights * events) @ log_risk - expected.sum())
            gradient = columns.T @ (weights * events - expected)
            return Evaluation(value, gradient, columns.T @ (expected[:, None] * columns))

    return _pulled(evaluate, np.concatenate([[0.0], old]), free, pull)


def _pulled(
    evaluate: Callable[[FloatArray], Evaluation], old: FloatArray, free: NDArray[np.bool_], strength: float
) -> PulledRefit:
    """The maximum of the function less ``½·strength·Σ(parameter - old)²``."""
    places = np.concatenate([[0], 1 + np.flatnonzero(free)])
    start = old[places]

    def pulled(point: FloatArray) -> Evaluation:
        value, gradient, information = evaluate(point)
        away = point - start
        return Evaluation(
            value - 0.5 * strength * float(away @ away),
            gradient - strength * away,
            information + strength * np.eye(len(point)),
        )

    point, best = maximise(pulled, start, names=["intercept", *(f"column {place}" for place in places[1:])])
    whole, covariance = old.copy(), np.zeros((old.size, old.size))
    whole[places] = point
    covariance[np.ix_(places, places)] = inverse(best.information)
    return PulledRefit(whole, covariance, evaluate(point).value)
