"""Predictions for persons whose covariates change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aldsurv.columns.joined_episodes import join_episodes
from aldsurv.data.episode_columns import entries, read_paths
from aldsurv.data.frame_columns import Column
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.covariate_path import along_paths
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
    never = np.full(len(paths.stop), np.inf)
    episodes = SurvivalData.from_checked(paths.stop, never, entries(paths.start), person=paths.person)
    X, episodes = join_episodes(X, episodes)
    predicted = predict(X)
    if len(predicted) != len(episodes):
        raise DataError(
            f"X has {len(predicted)} rows, but stop has {len(episodes)}",
            argument="X",
            advice="Give one row of X for each episode.",
        )
    return along_paths(predicted, episodes)[0]
