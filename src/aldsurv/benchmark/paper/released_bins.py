"""Shares of events in bins of predicted probability, counted as the released code counts them."""

from __future__ import annotations

import numpy as np

from aldsurv.benchmark.statistics import FloatArray
from aldsurv.data.survival_data import SurvivalData

__all__ = ["released_bin_shares", "released_density_line", "released_survival_line"]


def released_bin_shares(data: SurvivalData, quantiles: FloatArray, *, closed: bool) -> FloatArray:
    """Share of the events in each bin (k + 1,), by comparing times with quantiles.

    An event on the edge of two bins counts in both. A censored row counts ``(b - u)/(1 - u)`` in the bin that its time
    is in and ``(b - a)/(1 - u)`` in the later ones, where u is the level of the nearest quantile: b or a, not between.

    Parameters
    ----------
    data
        Exact and right-censored rows.
    quantiles
        Times (n, k) between the bins.
    closed
        Whether a censored row on an edge counts in both bins, too.
    """
    bins = quantiles.shape[1] + 1
    edge = np.full((len(data), 1), np.inf)
    lower, upper = np.concatenate([-edge, quantiles], axis=1), np.concatenate([quantiles, edge], axis=1)
    time = data.time[:, None]
    u = (np.abs(quantiles - time).argmin(axis=1)[:, None] + 1) / bins
    since, until = np.arange(bins) / bins, np.arange(1, bins + 1) / bins
    inside = (lower <= time) & (time <= upper)
    censored_inside = inside if closed else (lower <= time) & (time < upper)
    before = time <= lower if closed else time < lower
    censored = (censored_inside * (until - u) + before * (until - since)) / (1 - u)
    return np.asarray(np.where(data.event[:, None], inside, censored).mean(axis=0))


def released_survival_line(data: SurvivalData, quantiles: FloatArray) -> tuple[float, float]:
    """Slope and intercept through the cumulated shares of all bins, the last of which is set to 1."""
    observed = np.cumsum(released_bin_shares(data, quantiles, closed=True))
    observed[-1] = 1.0
    return _line(np.arange(1, len(observed) + 1) / len(observed), observed)


def released_density_line(data: SurvivalData, quantiles: FloatArray) -> tuple[float, float]:
    """Slope and intercept through the shares within 1, 2, … bins on each side of the median."""
    shares = released_bin_shares(data, quantiles, closed=True)
    middle = len(shares) // 2
    observed = np.array([shares[middle - k : middle + k].sum() for k in range(1, middle)])
    return _line(np.arange(1, middle) / middle, observed)


def _line(expected: FloatArray, observed: FloatArray) -> tuple[float, float]:
    slope, intercept = np.polyfit(expected, observed, 1)
    return float(slope), float(intercept)
