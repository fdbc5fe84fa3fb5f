"""Pointwise bootstrap limits of curves that are sums over rows."""

from __future__ import annotations

import numpy as np

from aldsurv.errors import ParameterError
from aldsurv.metrics.resampling.bootstrap import all_replicates
from aldsurv.metrics.resampling.row_counts import ByCounts
from aldsurv.plots.drawing.time_grid import FloatArray

__all__ = ["bootstrap_band"]

_LEVEL = 0.95
# The same picture of the same rows, whenever it is drawn.
_SEED = 0


def bootstrap_band(form: ByCounts, n: int, samples: int | None) -> tuple[FloatArray, FloatArray] | None:
    """95 % limits (k,) of what `form` makes of counts of rows; None without resamples, or without rows to draw from.

    Parameters
    ----------
    form
        Counts (b, n) of the rows in b resamples to the k values on each (b, k).
    n
        Number of rows. Of one row all resamples are alike.
    samples
        Number of resamples; None for no band.
    """
    if samples is None:
        return None
    if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 2:
        raise ParameterError(f"bootstrap must be None or an integer of 2 or more, but is {samples!r}.")
    if n < 2:
        return None
    drawn = all_replicates(form, n, int(samples), _SEED)
    limits = np.full((2, drawn.shape[1]), np.nan)
    for k, column in enumerate(drawn.T):
        known = column[~np.isnan(column)]
        if known.size:
            limits[:, k] = np.quantile(known, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return limits[0], limits[1]
