"""Pointwise bootstrap limits of curves that are means over rows."""

from __future__ import annotations

import numpy as np

from aldsurv.checks import WholeNumber, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.resampling.bootstrap import all_replicates
from aldsurv.metrics.resampling.row_counts import ByCounts
from aldsurv.plots.drawing.time_grid import FloatArray

__all__ = ["bootstrap_band"]

_LEVEL = 0.95
# Fixed, so that the same rows give the same picture.
_SEED = 0


def bootstrap_band(form: ByCounts, rows: SurvivalData, samples: int | None) -> tuple[FloatArray, FloatArray] | None:
    """95 % limits (k,) of values computed from counts of rows; None without resamples, or with fewer than two groups.

    Parameters
    ----------
    form
        Computes the k values (b, k) of b resamples from the counts (b, n) of their rows.
    rows
        The rows; those of one group are drawn together.
    samples
        Number of resamples; None for no band.
    """
    check("bootstrap", samples, WholeNumber(2), none=True)
    if samples is None or rows.n_groups < 2:
        return None
    drawn = all_replicates(form, rows, int(samples), _SEED)
    limits = np.full((2, drawn.shape[1]), np.nan)
    for k, column in enumerate(drawn.T):
        defined = column[~np.isnan(column)]
        if defined.size:
            limits[:, k] = np.quantile(defined, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return limits[0], limits[1]
