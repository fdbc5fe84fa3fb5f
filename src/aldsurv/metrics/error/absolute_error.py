"""Mean absolute error of predicted times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.metrics.checked_arguments import Prediction, number_column, person_rows, undefined, without_delayed_entry
from aldsurv.metrics.point_estimates import Point, point_estimate

__all__ = ["mean_absolute_error"]


def mean_absolute_error(
    predicted: Prediction,
    data: SurvivalData,
    *,
    point: Point = "median",
    truth: ArrayLike | None = None,
    unit: float = 1.0,
) -> float:
    """Weighted mean distance of the predicted from the true time; lower is better.

    Parameters
    ----------
    predicted
        A distribution, or predicted times (n,). Infinite ones make the error infinite.
    data
        The same rows as observed.
    point
        Time that represents a distribution, as in `point_estimate`.
    truth
        True times (n,) to compare with, such as the mean of each row where the data were simulated. None: the
        observed times of the uncensored rows, which are earlier than those of all rows: the more censoring,
        the more the error favours predictions that are too early.
    unit
        Divisor of the error, such as the standard deviation of the times.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 5], [True, False, True])
    >>> mean_absolute_error([2.0, 7.0, 3.0], data)
    1.5
    """
    check("unit", unit, Number(0, above=True))
    rows = person_rows(data)
    counted, kind = rows.weights > 0, "row"
    if truth is None:
        # Predicted times are those of all subjects; late entrants are seen only if their time is long.
        without_delayed_entry(rows, "mean_absolute_error without truth")
        truth, counted, kind = rows.time, counted & rows.event, "uncensored row"
    target = number_column(truth, "truth", len(rows))
    if not np.isfinite(target).all():
        raise ParameterError(
            "truth must be finite, but some of it is infinite.", argument="truth", advice="Leave those rows out."
        )
    estimate = point_estimate(predicted, rows, point=point)
    if not counted.any():
        return undefined("mean_absolute_error", f"no {kind} has a positive weight")
    weight = rows.weights[counted]
    return float((weight * np.abs(estimate[counted] - target[counted])).sum() / weight.sum() / unit)
