"""The metrics of one prediction side by side."""

from __future__ import annotations

from typing import Any

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.metrics.brier import integrated_brier_score
from aldsurv.metrics.concordance import concordance_harrell, concordance_uno
from aldsurv.metrics.error import mean_absolute_error
from aldsurv.metrics.event_levels import event_levels
from aldsurv.metrics.likelihood import log_likelihood
from aldsurv.metrics.point_estimates import Point, point_estimate
from aldsurv.metrics.row_matching import matched_data
from aldsurv.survival_data import SurvivalData

__all__ = ["evaluate"]

_BINS = 10


def evaluate(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    point: Point = "median",
    truth: Any = None,
    unit: float | None = None,
) -> dict[str, float]:
    """The nine metrics and the log-likelihood, by name.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed: exact or right-censored, without delayed entry.
    train
        Rows that the censoring is estimated from, for ``ibs`` and ``uno_c``.
    point
        What stands for a distribution in ``mae``, ``harrell_c`` and ``uno_c``, as in `point_estimate`.
    truth, unit
        As in `mean_absolute_error`; a unit of None is that of the data.

    Returns
    -------
    dict
        ``mae ibs harrell_c uno_c cens_dcal cal_s_slope cal_s_intercept cal_f_slope cal_f_intercept
        log_likelihood``, each as the function of its own gives it.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> found = evaluate(Exponential([1.0, 2.0, 3.0, 6.0]), data, train=data)
    >>> round(found["ibs"], 4), found["harrell_c"]
    (0.138, 1.0)
    """
    rows = matched_data(predicted, data)
    estimate = point_estimate(predicted, rows, point=point)
    found = {
        "mae": mean_absolute_error(estimate, rows, truth=truth, unit=1.0 if unit is None else unit),
        "ibs": integrated_brier_score(predicted, rows, train=train),
        "harrell_c": concordance_harrell(estimate, rows),
        "uno_c": concordance_uno(estimate, rows, train=train),
    }
    levels = event_levels(predicted, rows)
    found["cens_dcal"] = levels.distance_from_uniform(_BINS)
    found["cal_s_slope"], found["cal_s_intercept"] = levels.survival_points(_BINS).line
    found["cal_f_slope"], found["cal_f_intercept"] = levels.density_points(_BINS).line
    found["log_likelihood"] = log_likelihood(predicted, rows)
    return found
