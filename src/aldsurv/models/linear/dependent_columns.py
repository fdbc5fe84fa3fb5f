"""Columns of a linear model that are combinations of others: which to leave out, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed

__all__ = ["independent_columns", "rank_of_rows"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# A column is dependent if less than this share of its variance is left after the others.
_LEAST_SHARE = 1e-10
# A weight below this in a combination is rounding.
_LEAST_WEIGHT = 1e-6


def independent_columns(
    gram: FloatArray, names: Sequence[str], reference: FloatArray, *, fixed: int = 0
) -> tuple[IntArray, dict[str, str]]:
    """Which columns stay, and why each of the others is dropped: of dependent columns the later one, as in R.

    Parameters
    ----------
    gram
        Products of the columns (k, k); its diagonal is the information of each column.
    names
        Names of the columns.
    reference
        What the squares would be if a column varied freely (k,).
    fixed
        How many columns at the front always stay, and are not among those returned: the intercept.
    """
    squares = np.diag(gram)
    visible = (reference > 0) & (squares > _LEAST_SHARE * reference)
    visible[:fixed] = True
    dropped = {
        names[k]: "it does not vary among those at risk at any event" if not fixed else "it holds one value only"
        for k in np.flatnonzero(~visible).tolist()
    }
    places = np.flatnonzero(visible)
    spread = np.sqrt(squares[places])
    scaled = gram[np.ix_(places, places)] / spread / spread[:, None]
    if places.size and float(np.linalg.eigvalsh(scaled)[0]) <= _LEAST_SHARE:
        independent = _shares_left(scaled, 10 * len(gram) * _LEAST_SHARE) > 0
        kept, combined = np.flatnonzero(independent), np.flatnonzero(~independent)
        weights = np.linalg.lstsq(scaled[np.ix_(kept, kept)], scaled[np.ix_(kept, combined)], rcond=None)[0]
        for k, weight in zip(combined, np.abs(weights.T), strict=True):
            others = [names[places[kept[j]]] for j in np.flatnonzero(weight > _LEAST_WEIGHT) if kept[j] >= fixed]
            dropped[names[places[k]]] = (
                f"it is a combination of {listed(others, 8)}" if others else "it holds one value only"
            )
        places = places[kept]
    return places[places >= fixed] - fixed, {name: dropped[name] for name in names if name in dropped}


def _shares_left(scaled: FloatArray, least: float) -> FloatArray:
    """The share of each column's square that is left after those before it; 0 if less than `least`."""
    left = scaled.copy()
    shares = np.zeros(len(left))
    for k in range(len(left)):
        if left[k, k] > least:
            shares[k] = left[k, k]
            left[k + 1 :, k + 1 :] -= np.outer(left[k + 1 :, k] / shares[k], left[k, k + 1 :])
    return shares


def rank_of_rows(x: FloatArray) -> int:
    """How many columns (n, d) are independent of each other and of a constant, on their own scales."""
    centred = x - x.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    centred = centred[:, spread > 0] / spread[spread > 0]
    if not centred.size:
        return 0
    products = centred @ centred.T if centred.shape[1] > len(centred) else centred.T @ centred
    squares = np.linalg.eigvalsh(products)
    return int(np.count_nonzero(squares > _LEAST_SHARE * squares[-1]))
