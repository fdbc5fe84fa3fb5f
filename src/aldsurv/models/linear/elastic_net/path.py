"""Fits along a falling penalty, several in step: that of all rows and those of folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aldsurv.models.linear.elastic_net.solver import TOLERANCE, PenalisedFit, Penalty

__all__ = ["follow_path", "largest_alpha"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def largest_alpha(columns: FloatArray, fit: PenalisedFit, l1_ratio: float) -> float:
    """The smallest alpha for which every coefficient is 0."""
    return float(np.abs(columns @ _residuals(columns, [fit])).max(initial=0.0)) / l1_ratio


def follow_path(
    columns: FloatArray, fits: Sequence[PenalisedFit], alphas: Sequence[float], l1_ratio: float
) -> Iterator[float]:
    """Bring the fits to the minimum for each alpha in turn, beginning where the one before ended.

    Only columns that the sequential strong rule (Tibshirani et al. 2012) does not exclude are looked at; afterwards the
    derivatives of all columns, for all fits by one product of matrices, show whether it excluded one wrongly.

    Parameters
    ----------
    columns
        Values (d, N) of all columns in all rows, column by column.
    fits
        Fits to some of the rows each, without a coefficient so far.
    alphas
        Falling.
    l1_ratio
        Share of the penalty on absolute values.

    Yields
    ------
    float
        Each alpha, once all fits have reached it. It ends before one that a fit does not reach.
    """
    slopes = columns @ _residuals(columns, fits)
    before = np.abs(slopes).max(axis=0, initial=0.0)
    for alpha in alphas:
        penalty = Penalty.mixed(alpha, l1_ratio)
        bound = penalty.absolute * (1 + TOLERANCE)
        looked_at: list[BoolArray] = [
            (fit.beta != 0) | (np.abs(slopes[:, k]) >= 2 * penalty.absolute - before[k]) for k, fit in enumerate(fits)
        ]
        pending = list(range(len(fits)))
        while pending:
            for k in pending:
                numbers = np.flatnonzero(looked_at[k])
                if not fits[k].minimise(columns[np.ix_(numbers, fits[k].rows)], numbers, penalty):
                    return
            slopes[:, pending] = columns @ _residuals(columns, [fits[k] for k in pending])
            missed = {k: ~looked_at[k] & (np.abs(slopes[:, k]) > bound) for k in pending}
            pending = [k for k in pending if missed[k].any()]
            for k in pending:
                looked_at[k] |= missed[k]
        before = np.full(len(fits), penalty.absolute)
        yield alpha


def _residuals(columns: FloatArray, fits: Sequence[PenalisedFit]) -> FloatArray:
    """What each row (N, fits) adds to the derivatives; 0 in rows that a fit does not have."""
    residuals = np.zeros((columns.shape[1], len(fits)))
    for k, fit in enumerate(fits):
        residuals[fit.rows, k] = fit.residual
    return residuals
