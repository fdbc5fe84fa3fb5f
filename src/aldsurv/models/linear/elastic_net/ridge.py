"""Ridge paths of tables with more columns than rows, in as many dimensions as there are rows.

A ridge's coefficients are combinations of the rows, so that columns may be rotated into principal components: as many
as rows, whose ridge is the same, however many columns there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.models.linear.elastic_net.losses import Slopes
from aldsurv.models.linear.elastic_net.solver import PenalisedFit

__all__ = ["Components", "follow_ridge_path", "ridge_alphas"]

FloatArray = NDArray[np.float64]

# Smaller squares of singular values, as a share of the largest, are rounding.
_RANK = 1e-10
# How far derivatives may be from 0, relative to their size without coefficients.
_TOLERANCE = 1e-6
_MOST_STEPS, _MOST_HALVINGS = 50, 30
# Ends of a path in units of the largest and of the mean square of a component per row: from next to no effect to one
# that explains the rows almost freely.
_FIRST, _LAST = 30.0, 0.03


@final
@dataclass(frozen=True)
class Components:
    """Principal components of columns, not centred, with the way back.

    Attributes
    ----------
    values
        The components (r, n), as columns.
    loadings
        Coefficients (d, r) of the columns in each.
    """

    values: FloatArray
    loadings: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> Components:
        """All components of columns (d, n), by the products between rows."""
        squares, rows = np.linalg.eigh(columns.T @ columns)
        kept = squares > _RANK * max(float(squares[-1]), 0.0) if squares.size else np.zeros(0, np.bool_)
        size = np.sqrt(squares[kept])
        return cls((rows[:, kept] * size).T, columns @ (rows[:, kept] / size))


def ridge_alphas(columns: FloatArray, count: int) -> FloatArray:
    """Falling penalties (count,) for columns (d, n) or their components, evenly by their logarithms."""
    d, n = columns.shape
    products = columns.T @ columns if d > n else columns @ columns.T
    squares = np.linalg.eigvalsh(products) / n if products.size else np.zeros(1)
    squares = squares[squares > _RANK * squares[-1]]
    # Without a column that varies any penalty will do.
    if not squares.size:
        return np.geomspace(1.0, _LAST / _FIRST, count)
    return np.geomspace(_FIRST * float(squares[-1]), _LAST * float(squares.mean()), count)


def follow_ridge_path(components: FloatArray, fits: Sequence[PenalisedFit], alphas: Sequence[float]) -> Iterator[float]:
    """Bring the fits to the minimum of ``-ℓ/n + ½·alpha·Σβ²`` for each alpha in turn.

    Parameters
    ----------
    components
        Values (r, N) in all rows.
    fits
        Fits to some of the rows each, without a coefficient so far.
    alphas
        Falling.

    Yields
    ------
    float
        Each alpha, once all fits have reached it. It ends before one that a fit does not reach.
    """
    inside = [np.ascontiguousarray(components[:, fit.rows]) for fit in fits]
    bounds = [
        _TOLERANCE * float(np.abs(x @ fit.residual).max(initial=0.0)) for x, fit in zip(inside, fits, strict=True)
    ]
    for alpha in alphas:
        for fit, x, bound in zip(fits, inside, bounds, strict=True):
            if not _minimise(fit, x, alpha, bound):
                return
        yield alpha


def _minimise(fit: PenalisedFit, x: FloatArray, alpha: float, bound: float) -> bool:
    """Newton's steps, each halved until it lowers the objective; whether the minimum was reached."""
    weight, size = fit.loss.weight, len(x)
    for _ in range(_MOST_STEPS):
        gradient = np.append(x @ fit.residual - alpha * fit.beta, fit.slopes.by_free / weight)
        if float(np.abs(gradient).max(initial=0.0)) <= bound + 1e-12:
            return True
        curvature = fit.slopes.information(x.T) / weight
        np.einsum("ii->i", curvature)[:size] += alpha
        try:
            step: FloatArray = np.asarray(np.linalg.solve(curvature, gradient), np.float64)
        except np.linalg.LinAlgError:
            return False
        if not _move(fit, x, alpha, step[:size], step[size:]):
            return float(np.abs(gradient).max()) <= 1e3 * bound
    return False


def _move(fit: PenalisedFit, x: FloatArray, alpha: float, step: FloatArray, free: FloatArray) -> bool:
    def objective(slopes: Slopes, beta: FloatArray) -> float:
        return 0.5 * alpha * float(beta @ beta) - slopes.value / fit.loss.weight

    here = objective(fit.slopes, fit.beta)
    for halvings in range(_MOST_HALVINGS):
        length = 0.5**halvings
        beta = fit.beta + length * step
        slopes = fit.loss.at(beta @ x, fit.free + length * free)
        if slopes is not None and objective(slopes, beta) < here:
            fit.beta, fit.free, fit.slopes = beta, fit.free + length * free, slopes
            return True
    return False
