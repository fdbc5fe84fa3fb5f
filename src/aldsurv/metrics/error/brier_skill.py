"""How much better a prediction is than the Kaplan-Meier curve, which has no covariates."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.step import Step
from aldsurv.metrics.checked_arguments import undefined
from aldsurv.metrics.error.brier import default_times, integrated_brier_score
from aldsurv.metrics.evaluation_times import checked_times
from aldsurv.nonparametric.censoring_weights import Ties
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["brier_skill_score"]


def brier_skill_score(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: ArrayLike | None = None,
    ties: Ties = "events_first",
) -> float:
    """``1 - IBS/IBS₀``, IBS₀ being that of the Kaplan-Meier curve of the training rows; 1 is best, 0 no skill.

    Parameters
    ----------
    predicted, data, train, times, ties
        As in `integrated_brier_score`; both scores are over the same times.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> round(brier_skill_score(Exponential([1.0, 2.0, 3.0, 6.0]), data, train=data), 4)
    0.3383
    """
    score = integrated_brier_score(predicted, data, train=train, times=times, ties=ties)
    if np.isnan(score):
        return score
    training = SurvivalData.of(train).persons()
    curve = kaplan_meier(training)
    if times is None:
        times = default_times(training)
    grid = checked_times(times)
    # Only the values at the grid matter: the whole curve for each row would be as large as rows times training rows.
    marginal = np.broadcast_to(curve.survival_at(grid), (len(predicted), grid.size))
    with warnings.catch_warnings():
        # The score of the prediction has already warned of times that are cut off.
        warnings.simplefilter("ignore", UserWarning)
        unskilled = integrated_brier_score(Step(grid, marginal), data, train=train, times=grid, ties=ties)
    if unskilled == 0:
        return undefined("brier_skill_score", "the Kaplan-Meier curve has no error to improve on")
    return 1 - score / unskilled
