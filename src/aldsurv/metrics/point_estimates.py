"""One time for each row: the predicted one, and the one to rank by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from aldsurv.checks import Choice, check
from aldsurv.data.follow_up import end_of_follow_up
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array
from aldsurv.metrics.checked_arguments import (
    FloatArray,
    Prediction,
    as_numbers,
    matched_data,
    number_column,
    person_rows,
)

__all__ = ["RANKING_POINTS", "Point", "RankingPoint", "error_point", "point_estimate", "ranking_time"]

Point: TypeAlias = Literal["mean", "median", "mode", "restricted_mean"]
RankingPoint: TypeAlias = Literal["follow_up", "mean", "median", "mode", "restricted_mean"]

_POINTS: dict[str, Callable[[SurvivalDistribution, float], Array]] = {
    "mean": lambda predicted, _: predicted.mean(),
    "median": lambda predicted, _: predicted.median(),
    "mode": lambda predicted, _: predicted.mode(),
    "restricted_mean": lambda predicted, horizon: predicted.restricted_mean(horizon),
}
# Share of follow-up within which two restricted means are the same.
_TIED = 2.0**-40
RANKING_POINTS = ("follow_up", *_POINTS)


def point_estimate(predicted: Prediction, data: SurvivalData, *, point: Point = "median") -> FloatArray:
    """Predicted time of each row (n,).

    Parameters
    ----------
    predicted
        A distribution, or predicted times (n,), which are checked and returned.
    data
        The rows predicted; the restricted mean is restricted to their largest time.
    point
        Time that represents a distribution: ``"mean"``, ``"median"``, ``"mode"`` or ``"restricted_mean"``. A mean,
        or a median beyond the end of a curve that never reaches 0.5, may be infinite.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 4], [True, False])
    >>> point_estimate(Exponential([1.0, 2.0]), data, point="restricted_mean").round(3)
    array([0.982, 1.729])
    """
    check("point", point, Choice(tuple(_POINTS)))
    if not isinstance(predicted, SurvivalDistribution):
        return number_column(predicted, "predicted", len(person_rows(data)))
    rows = matched_data(predicted, data)
    # A row of weight 0 counts as absent.
    largest = float(rows.time[rows.weights > 0].max(initial=0.0)) if point == "restricted_mean" else 0.0
    return number_column(as_numbers(_POINTS[point](predicted, largest)), "predicted", len(rows))


def ranking_time(
    predicted: Prediction,
    data: SurvivalData,
    *,
    point: RankingPoint = "follow_up",
    train: SurvivalData | None = None,
) -> FloatArray:
    """Time by which rows are ranked (n,): the higher, the lower the risk.

    Parameters
    ----------
    predicted, data
        As in `point_estimate`.
    point
        One of `point_estimate`, or ``"follow_up"``: the mean time without event up to the end of follow-up, which is
        the time by which 80 % of the rows have left. What a distribution says about later times is its shape rather
        than anything seen, and so is the order of medians that lie there.
    train
        Rows whose follow-up counts; None: `data`.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 4, 50], [True, True, True, True, False])
    >>> predicted = Exponential([5.0, 6.0, 7.0, 8.0, 9.0])
    >>> bool(np.allclose(ranking_time(predicted, data), predicted.restricted_mean(4.0), rtol=1e-11))
    True
    """
    check("point", point, Choice(RANKING_POINTS))
    if point != "follow_up" or not isinstance(predicted, SurvivalDistribution):
        return point_estimate(predicted, data, point=error_point(point))
    rows = matched_data(predicted, data)
    end = end_of_follow_up(rows if train is None else SurvivalData.of(train).persons())
    means = number_column(as_numbers(predicted.approximate_restricted_mean(end)), "predicted", len(rows))
    if not 0 < end < math.inf:
        return means
    # Sums of the same terms may differ in their last bits: rows with the same covariates are to be tied.
    step = end * _TIED
    return np.round(means / step) * step


def error_point(point: RankingPoint) -> Point:
    """The time that represents a distribution in errors, where rows are ranked by `point`."""
    return "median" if point == "follow_up" else point
