"""One predicted time for each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from aldsurv.checks import Choice, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array
from aldsurv.metrics.checked_arguments import FloatArray, Prediction, as_numbers, matched_data, number_column

__all__ = ["Point", "point_estimate"]

Point: TypeAlias = Literal["mean", "median", "mode", "restricted_mean"]

_POINTS: dict[str, Callable[[SurvivalDistribution, float], Array]] = {
    "mean": lambda predicted, _: predicted.mean(),
    "median": lambda predicted, _: predicted.median(),
    "mode": lambda predicted, _: predicted.mode(),
    "restricted_mean": lambda predicted, horizon: predicted.restricted_mean(horizon),
}


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
        return number_column(predicted, "predicted", len(SurvivalData.of(data)))
    rows = matched_data(predicted, data)
    # A row of weight 0 counts as absent.
    largest = float(rows.time[rows.weights > 0].max(initial=0.0)) if point == "restricted_mean" else 0.0
    return number_column(as_numbers(_POINTS[point](predicted, largest)), "predicted", len(rows))
