"""Areas under ``exp(-H(t)·risk)`` for many risks: computed at a few risks, and interpolated between them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["areas_by_risk"]

FloatArray = NDArray[np.float64]
Mapped = Callable[[FloatArray], FloatArray]

# Chebyshev points in a stretch of log risks of length 1. As a function of log risk, exp(-H·risk) is analytic and no
# larger than 1 wherever the imaginary part is below π/2, whatever H is. Within the ellipse of which that is the
# half-axis, interpolation by n points errs by less than 4·ρ^(1-n)/(ρ - 1), ρ = π + sqrt(π² + 1): here by 5e-17.
_POINTS = 21
_ANGLES = np.pi * (np.arange(_POINTS) + 0.5) / _POINTS
# Coefficients of Chebyshev's polynomials from values at those points.
_TO_COEFFICIENTS = 2 / _POINTS * np.cos(np.arange(_POINTS)[:, None] * _ANGLES)
_TO_COEFFICIENTS[0] /= 2
# Stretches in a unit of log risk where survival is mapped.
_MAPPED_STRETCHES = 8
# In a stretch with fewer rows each is computed by itself.
_LEAST_ROWS = 4 * _POINTS
# Values of a table that is made for a few rows and thrown away: 4 MB.
_TABLE_VALUES = 1 << 19


def areas_by_risk(
    log_heights: FloatArray, widths: FloatArray, log_risk: FloatArray, *, mapped: Mapped | None = None
) -> FloatArray:
    """``Σ_j widths_j·exp(-exp(log_heights_j + log_risk))`` of each row (n, q), to rounding.

    Rows and times are not multiplied: it takes memory for each of both, and time for each row and for each time and
    stretch of log risks that many rows are in. The error is below 1e-15 of the sum of the widths.

    Parameters
    ----------
    log_heights
        Logarithms of the cumulative hazard (m,).
    widths
        How long it lasts, in each of several areas (m, q); finite.
    log_risk
        Of each row (n,).
    mapped
        What survival becomes, where its levels were mapped by a smooth function of pieces. Stretches are then shorter,
        and the error is about 1e-6 of the sum of the widths, as the pieces meet with the same slope only.
    """
    per_unit = 1 if mapped is None else _MAPPED_STRETCHES
    some = widths.any(axis=1)
    log_heights, widths = log_heights[some], widths[some]
    answer = np.empty((log_risk.size, widths.shape[1]))
    order = np.argsort(log_risk, kind="stable")
    stretch = np.floor(per_unit * log_risk[order])
    starts = np.append(np.flatnonzero(np.diff(stretch, prepend=np.nan) != 0), log_risk.size)
    for first, last in pairwise(starts.tolist()):
        rows = order[first:last]
        if rows.size < _LEAST_ROWS:
            answer[rows] = _areas(log_heights, widths, log_risk[rows], mapped)
            continue
        low = float(stretch[first])
        nodes = (low + (1 + np.cos(_ANGLES)) / 2) / per_unit
        coefficients = _TO_COEFFICIENTS @ _areas(log_heights, widths, nodes, mapped)
        for few in _parts(rows, _POINTS):
            places = 2 * (per_unit * log_risk[few] - low) - 1
            answer[few] = np.polynomial.chebyshev.chebvander(places, _POINTS - 1) @ coefficients
    return answer


def _areas(log_heights: FloatArray, widths: FloatArray, log_risk: FloatArray, mapped: Mapped | None) -> FloatArray:
    """The same for a few risks, each by itself."""
    answer = np.empty((log_risk.size, widths.shape[1]))
    with np.errstate(over="ignore", under="ignore"):
        for few in _parts(np.arange(log_risk.size), log_heights.size):
            table = log_risk[few, None] + log_heights
            np.exp(table, out=table)
            np.negative(table, out=table)
            np.exp(table, out=table)
            answer[few] = (table if mapped is None else mapped(table)) @ widths
    return answer


def _parts(rows: NDArray[Any], values_per_row: int) -> list[NDArray[Any]]:
    step = max(1, _TABLE_VALUES // max(1, values_per_row))
    return [rows[start : start + step] for start in range(0, rows.size, step)]
