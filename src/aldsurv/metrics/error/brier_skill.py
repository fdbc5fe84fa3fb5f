"""How much better a prediction is than the Kaplan-Meier curve, which has no covariates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.distributions.families.step import Step
from aldsurv.metrics.cause_of_interest import Cause, censoring_of_causes, event_of_interest
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution, undefined
from aldsurv.metrics.error.brier import default_times, integrated_brier_score, integrated_squared_error
from aldsurv.metrics.evaluation_times import checked_times
from aldsurv.nonparametric.aalen_johansen import aalen_johansen
from aldsurv.nonparametric.censoring_weights import Ties, has_estimate
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["brier_skill_score"]


def brier_skill_score(
    predicted: PredictedDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: ArrayLike | None = None,
    ties: Ties = "events_first",
    cause: Cause = None,
) -> float:
    """``1 - IBS/IBS₀``, IBS₀ being that of the Kaplan-Meier curve of the training rows; 1 is best, 0 no skill.

    With a cause it is Aalen-Johansen's estimate of its incidence: the index of prediction accuracy of Kattan & Gerds
    (2018), over time.

    Parameters
    ----------
    predicted, data, train, times, ties, cause
        As in `integrated_brier_score`; both scores are over the same times.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> round(brier_skill_score(Exponential([1.0, 2.0, 3.0, 6.0]), data, train=data), 4)
    0.3383
    """
    score = integrated_brier_score(predicted, data, train=train, times=times, ties=ties, cause=cause)
    if np.isnan(score):
        return score
    training, rows = SurvivalData.of(train).persons(), SurvivalData.of(data)
    censoring = censoring_of_causes(training, cause)
    grid = checked_times(default_times(training) if times is None else times)
    grid = grid[has_estimate(censoring, grid)]
    # Only the values at the grid matter: the whole curve for each row would be as large as rows times training rows.
    survival = _without_covariates(predicted, training, grid, cause)
    marginal = Step(grid, np.broadcast_to(survival, (len(rows), grid.size)))
    _, other = event_of_interest(predicted, rows, cause)
    unskilled = integrated_squared_error(marginal, rows, other, grid, censoring, ties)
    if unskilled == 0:
        curve = "Kaplan-Meier curve" if cause is None else "Aalen-Johansen estimate"
        return undefined("brier_skill_score", f"the {curve} has no error to improve on")
    return 1 - score / unskilled


def _without_covariates(
    predicted: PredictedDistribution, train: SurvivalData, times: FloatArray, cause: Cause
) -> FloatArray:
    """Estimated probability (m,) of no event, or of none of a cause, by each time."""
    if cause is None or not isinstance(predicted, CompetingDistribution):
        return kaplan_meier(train).survival_at(times)
    name, curves = predicted.causes[cause_number(cause, predicted.causes) - 1], aalen_johansen(train)
    return 1 - curves.incidence_at(times, name) if name in curves.causes else np.ones(times.shape)
