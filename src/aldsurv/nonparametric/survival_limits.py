"""Confidence limits of survival at one time that hold with few events, none, or all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number, check
from aldsurv.nonparametric.kaplan_meier import KaplanMeier

__all__ = ["survival_limits"]


def survival_limits(curve: KaplanMeier, time: float, level: float = 0.95) -> tuple[float, float]:
    """Confidence limits of survival at one time by the beta product (Fay, Brittain & Proschan 2013).

    Greenwood's limits are too narrow with few events, above all far out in the tails, where a correction for many
    comparisons looks, and have no width without an event. The beta product is the share that survives each event
    time, drawn from its beta distribution; its quantiles are those of a beta distribution of the same mean and
    variance. Without censoring before `time` these are the limits of Clopper and Pearson, and like them they cover
    at least as often as they say.

    Parameters
    ----------
    curve
        Of rows without delayed entry.
    time
        Limits are of survival beyond it.
    level
        Confidence, between 0 and 1.

    Examples
    --------
    >>> from aldsurv.data import SurvivalData
    >>> from aldsurv.nonparametric import kaplan_meier
    >>> curve = kaplan_meier(SurvivalData.right([1, 2, 3, 4, 5, 6, 7, 8], [1, 0, 0, 1, 0, 0, 0, 0]))
    >>> [round(limit, 3) for limit in survival_limits(curve, 5.0)]
    [0.243, 0.964]
    >>> survival_limits(curve, 0.5)[1]
    1.0
    """
    check("level", level, Number(0, 1, above=True, below=True))
    tail = (1 - level) / 2
    passed = int(np.searchsorted(curve.times, time, side="right"))
    seen = np.flatnonzero(curve.events[:passed] > 0)
    deaths, survivors = curve.events[seen], curve.at_risk[seen] - curve.events[seen]
    upper = _product_quantile(1 - tail, survivors + 1, deaths)
    beyond = _survivors(curve, time, passed)
    if beyond <= 0:
        return 0.0, upper
    # One more death among those left, who may all have had it right after the time.
    lower = _product_quantile(tail, np.append(survivors + 1, beyond), np.append(deaths, 1.0))
    return lower, upper


def _survivors(curve: KaplanMeier, time: float, passed: int) -> float:
    """Number known to be without event at the time; who is censored at it survived it."""
    if passed and curve.times[passed - 1] == time:
        return float(curve.at_risk[passed - 1] - curve.events[passed - 1])
    return float(curve.at_risk[passed]) if passed < curve.times.size else 0.0


def _product_quantile(share: float, first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Quantile of a product of beta variables, by a beta distribution of the same mean and variance."""
    from scipy.special import betaincinv

    if first.size == 0:
        return 1.0
    total = first + second
    mean = float(np.exp(np.sum(np.log(first / total))))
    # Squared variation, from factors near 1: E[B²]/E[B]² = 1 + b/(a (a + b + 1)).
    variation = float(np.expm1(np.sum(np.log1p(second / (first * (total + 1))))))
    size = (1 - mean) / (mean * variation) - 1
    return float(betaincinv(mean * size, (1 - mean) * size, share))
