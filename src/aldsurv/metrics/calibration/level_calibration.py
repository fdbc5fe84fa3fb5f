"""Calibration at all levels of the predicted probability: CensDcal, Cal[S] and Cal[f]."""

from __future__ import annotations

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.calibration.event_levels import CalibrationLine, CalibrationPoints, event_levels
from aldsurv.metrics.cause_of_interest import Cause
from aldsurv.metrics.checked_arguments import FloatArray, PredictedDistribution

__all__ = [
    "calibration_counts",
    "censored_d_calibration",
    "censored_d_calibration_by_chance",
    "density_calibration",
    "density_calibration_points",
    "survival_calibration",
    "survival_calibration_points",
]


def calibration_counts(
    predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None
) -> FloatArray:
    """Weight of the rows whose ``u = F(y|x)`` falls into each of `bins` equal bins (a, b] of (0, 1].

    An event counts in its bin. A censored row is spread evenly over the u it may have: censored at u it counts
    ``(b - u)/(1 - u)`` in the bin of u and ``(b - a)/(1 - u)`` in each later one. The counts sum to the total weight.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed. Left- and interval-censored rows and delayed entry count as in `event_levels`.
    bins
        Number of bins, 2 or more.
    cause
        Number or name of a cause, whose events alone have an u, as in `event_levels`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([0.1, 0.6931471805599453], [True, False])  # the second censored at its median
    >>> calibration_counts(Exponential([1.0, 1.0]), data, bins=4).round(4)
    array([1. , 0. , 0.5, 0.5])
    """
    return event_levels(predicted, data, cause=cause).counts(bins)


def censored_d_calibration(
    predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None
) -> float:
    """CensDcal: ``100·Σ_j (1/bins - ζ_j/N)²``, ζ the `calibration_counts` and N their sum; 0 is best.

    Parameters
    ----------
    predicted, data, bins, cause
        As in `calibration_counts`.

    Examples
    --------
    Four events, one in each quarter of its distribution:

    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([0.1, 0.5, 1.0, 2.0], [True] * 4)
    >>> censored_d_calibration(Exponential([1.0] * 4), data, bins=4)
    0.0
    """
    return event_levels(predicted, data, cause=cause).distance_from_uniform(bins)


def censored_d_calibration_by_chance(
    predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None
) -> float:
    """What `censored_d_calibration` equals by chance, on average, if the predictions are right.

    Counts scatter, so even the truth has a CensDcal above 0: ``100·(1 - 1/bins)/n`` with n events, and less with
    censored rows, which are spread over bins. It is estimated from how the given rows are spread, and holds for
    predictions that are right or nearly so.

    Parameters
    ----------
    predicted, data, bins, cause
        As in `calibration_counts`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([0.1, 0.5, 1.0, 2.0], [True] * 4)
    >>> censored_d_calibration_by_chance(Exponential([1.0] * 4), data, bins=4)
    18.75
    """
    return event_levels(predicted, data, cause=cause).expected_distance(bins)


def survival_calibration_points(
    predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None
) -> CalibrationPoints:
    """Share of the rows whose event had come when its predicted probability was j/bins, j = 1 … bins.

    Parameters
    ----------
    predicted, data, bins, cause
        As in `calibration_counts`. The last share is always 1.
    """
    return event_levels(predicted, data, cause=cause).survival_points(bins)


def survival_calibration(
    predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None
) -> CalibrationLine:
    """Cal[S]: slope and intercept of the least-squares line through the `survival_calibration_points`.

    Parameters
    ----------
    predicted, data, bins, cause
        As in `calibration_counts`.
    """
    return survival_calibration_points(predicted, data, bins=bins, cause=cause).line


def density_calibration_points(
    predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None
) -> CalibrationPoints:
    """Share of the rows whose event came within its central interval of probability j/bins, j = 1 … bins - 1.

    The ends of an interval belong to it.

    Parameters
    ----------
    predicted, data, cause
        As in `calibration_counts`.
    bins
        One more than the number of points, 3 or more.
    """
    return event_levels(predicted, data, cause=cause).density_points(bins)


def density_calibration(
    predicted: PredictedDistribution, data: SurvivalData, *, bins: int = 10, cause: Cause = None
) -> CalibrationLine:
    """Cal[f]: slope and intercept of the least-squares line through the `density_calibration_points`.

    Parameters
    ----------
    predicted, data, bins, cause
        As in `density_calibration_points`.
    """
    return density_calibration_points(predicted, data, bins=bins, cause=cause).line
