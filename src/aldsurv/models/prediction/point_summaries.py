"""One time that stands for a predicted distribution: which there are, and how they are computed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution

__all__ = ["POINTS", "RANKING_POINTS", "summarised", "time_point"]

# Summaries of a distribution that may stand for it.
POINTS = ("mean", "median", "mode", "restricted_mean")
# By which rows may be ranked; values of the parameter `point`.
RANKING_POINTS = ("follow_up", *POINTS)


def time_point(point: str) -> str:
    """The summary that is the predicted time where rows are ranked by `point`."""
    return "median" if point == "follow_up" else point


def summarised(distribution: SurvivalDistribution, point: str, horizon: float) -> NDArray[np.float64]:
    """One time per row (n,).

    Parameters
    ----------
    distribution
        The rows.
    point
        One of `POINTS`.
    horizon
        Up to which the restricted mean counts.
    """
    if point == "restricted_mean":
        return np.asarray(distribution.restricted_mean(horizon))
    return np.asarray(getattr(distribution, point)())
