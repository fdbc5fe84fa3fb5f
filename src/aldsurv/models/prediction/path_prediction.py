"""Predictions for persons whose covariates change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aldsurv.data.episode_columns import read_paths
from aldsurv.data.frame_columns import Column
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.covariate_path import path_of_rows
from aldsurv.errors import DataError

__all__ = ["predict_along_paths"]


def predict_along_paths(
    predict: Callable[[object], SurvivalDistribution],
    X: object,
    identity: object,
    start: object,
    stop: object,
    *,
    gaps: str = "refuse",
) -> SurvivalDistribution:
    """The distribution of each person along its episodes.

    Parameters
    ----------
    predict
        Gives the distribution of each row of covariates.
    X, identity, start, stop, gaps
        As in `aldsurv.models.base.SurvivalEstimator.predict_path`.
    """
    paths = read_paths(Column(identity, "id"), Column(start, "start"), Column(stop, "stop"), gaps=gaps)
    predicted = predict(X)
    if len(predicted) != len(paths.order):
        raise DataError(
            f"X has {len(predicted)} rows, but stop has {len(paths.order)}",
            argument="X",
            advice="Give one row of X for each episode.",
        )
    last = np.flatnonzero(np.append(~paths.follows, True))
    first = np.append(0, last[:-1] + 1)
    return path_of_rows(predicted, paths.order, first, last, paths.start)
