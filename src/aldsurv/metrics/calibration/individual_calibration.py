"""Calibration on average, in the worst group, and of each individual of simulated data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import WholeNumber, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.calibration.event_levels import event_levels
from aldsurv.metrics.checked_arguments import FloatArray, as_numbers, matched_data, undefined
from aldsurv.metrics.evaluation_times import checked_time, weighted_quantiles
from aldsurv.metrics.row_blocks import row_blocks
from aldsurv.nonparametric.kaplan_meier import kaplan_meier
from aldsurv.plain_numbers import plain_number

__all__ = ["WorstGroup", "average_calibration", "individual_calibration", "worst_group_calibration"]

# Levels whose quantiles divide the integral over time, and how often each piece is divided again.
_LEVELS = np.concatenate([[1e-6, 1e-4, 1e-3, 1e-2], np.linspace(0.05, 0.95, 19), [0.99, 0.999, 1 - 1e-4, 1 - 1e-6]])
_PIECES = 8
# Values of cdfs that are held at once.
_BLOCK_VALUES = 2_000_000


class WorstGroup(NamedTuple):
    """Largest `average_calibration` within a group, the group in words, and how many rows it has."""

    distance: float
    group: str
    n: int


def average_calibration(predicted: SurvivalDistribution, data: SurvivalData) -> float:
    """Mean distance of the sorted levels ``u = F(y|x)`` from those of a uniform distribution; 0 is best, 0.5 worst.

    ``∫ |G(u) - u| du``, G the distribution of the levels: of events the empirical one, with censored rows the
    Kaplan-Meier estimate, in which a row is censored at the level that it had reached. If that ends below 1, the
    integral ends with it and is divided by its length. n events of a right prediction have about ``0.31/√n``.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored; delayed entry as in `event_levels`. Weights count.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([0.5, 1.0, 3.0], [True, True, False])
    >>> round(average_calibration(Exponential([1.0, 2.0, 2.0]), data), 4)
    0.1555
    """
    rows = matched_data(predicted, data)
    _ = rows.time  # refuses other rows
    return _distance_from_uniform(_reached_levels(predicted, rows), rows, "average_calibration")


def worst_group_calibration(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    X: ArrayLike,
    *,
    least: int = 50,
    names: Sequence[str] | None = None,
) -> WorstGroup:
    """The largest `average_calibration` within halves of the columns and quadrants of pairs of columns.

    Each column divides the rows at its median, a column of two values between these. Some group is always the worst,
    the more so the smaller groups may be: compare models on the same rows, not with 0.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored.
    X
        Numbers (n, columns) by which to divide; rows with a gap in a column are in none of its groups.
    least
        Rows of positive weight that a group must have.
    names
        Of the columns, for the answer; None: x0, x1, …

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> time = Exponential([5.0] * 400).sample(random_state=0)
    >>> x = np.repeat([[0.0], [1.0]], 200, axis=0)
    >>> result = worst_group_calibration(Exponential(5.0 + 3 * x[:, 0]), SurvivalData.right(time, [True] * 400), x)
    >>> result.group, result.n
    ('x0 > 0', 200)
    """
    rows = matched_data(predicted, data)
    _ = rows.time
    check("least", least, WholeNumber(1))
    table = _numbers(X, len(rows))
    labels = [f"x{j}" for j in range(table.shape[1])] if names is None else [str(name) for name in names]
    if len(labels) != table.shape[1]:
        raise ParameterError(
            f"names must have one for each of {table.shape[1]} columns, but has {len(labels)}.", argument="names"
        )
    levels, worst = _reached_levels(predicted, rows), None
    for label, chosen in _groups(table, labels, rows.weights):
        inside = chosen & (rows.weights > 0)
        count = int(inside.sum())
        if count < least or not rows.event[inside].any():
            continue
        group = WorstGroup(_distance_from_uniform(levels[inside], rows[inside], label), label, count)
        if not np.isnan(group.distance) and (worst is None or group.distance > worst.distance):
            worst = group
    if worst is None:
        return WorstGroup(undefined("worst_group_calibration", f"no group has {least} rows and an event"), "", 0)
    return worst


def individual_calibration(
    predicted: SurvivalDistribution, truth: SurvivalDistribution, *, horizon: float | None = None
) -> float:
    """Mean over rows of the 1-Wasserstein distance ``∫ |F(t) - F*(t)| dt`` from the true distribution; 0 is best.

    For simulated data only: the distribution of one individual cannot be observed. In the unit of time, as a mean
    absolute error of all quantiles at once: the distance also is ``∫ |Q(p) - Q*(p)| dp``.

    Parameters
    ----------
    predicted, truth
        Distributions of the same rows.
    horizon
        Time at which the integral ends, which begins at the earliest time of either distribution; None: it goes on
        without end, and the distance of a prediction without a mean is infinite.

    Examples
    --------
    >>> from aldsurv.distributions import Normal
    >>> round(individual_calibration(Normal([0.0, 0.0], 1.0), Normal([0.5, 0.1], 1.0)), 4)
    0.3
    """
    for each, name in ((predicted, "predicted"), (truth, "truth")):
        if not isinstance(each, SurvivalDistribution):
            raise ParameterError(f"{name} must be a SurvivalDistribution, but is {type(each).__name__}.", argument=name)
    if len(predicted) != len(truth):
        raise ParameterError(
            f"predicted and truth must have the same rows, but predicted has {len(predicted)} and truth {len(truth)}.",
            argument="truth",
        )
    if horizon is not None:
        horizon = checked_time(horizon, "horizon")
    blocks = row_blocks(len(truth), 2 * _LEVELS.size * _PIECES, values=_BLOCK_VALUES)
    return float(np.concatenate([_distances(predicted[rows], truth[rows], horizon) for rows in blocks]).mean())


def _reached_levels(predicted: SurvivalDistribution, rows: SurvivalData) -> FloatArray:
    """Level (n,) of each event, or that a censored row had reached; of an event at 0 the middle of the early ones."""
    levels = event_levels(predicted, rows)
    return np.where(rows.event, levels.middle, levels.low)


def _distance_from_uniform(levels: FloatArray, rows: SurvivalData, metric: str) -> float:
    counted = rows.weights > 0
    if not (counted & rows.event).any():
        return undefined(metric, "no event has a positive weight")
    curve = kaplan_meier(SurvivalData.right(levels[counted], rows.event[counted], weight=rows.weights[counted]))
    ends = np.append(np.append(0.0, curve.times), 1.0)
    cdf = np.append(0.0, 1 - curve.survival)
    last = 1.0 if curve.survival[-1] <= 0 else float(curve.times[-1])
    low, high = np.minimum(ends[:-1], last), np.minimum(ends[1:], last)
    # |G - u| between two levels: two triangles if u passes G in between.
    area = _area_of_absolute(cdf - low, cdf - high, high - low)
    return float(area.sum() / last) if last > 0 else undefined(metric, "all levels are 0")


def _area_of_absolute(left: FloatArray, right: FloatArray, width: FloatArray) -> FloatArray:
    """Integral of the absolute value of a straight line."""
    total = np.abs(left) + np.abs(right)
    crossing = left * right < 0
    safe = np.where(total > 0, total, 1.0)
    return np.asarray(width * np.where(crossing, (left**2 + right**2) / (2 * safe), total / 2))


def _groups(table: FloatArray, labels: list[str], weights: FloatArray) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Halves of each column, then quadrants of each pair."""
    halves = []
    for column, label in zip(table.T, labels, strict=True):
        present = np.isfinite(column)
        counted = present & (weights > 0)
        if not counted.any():
            continue
        values = np.unique(column[counted])
        cut = float(values[0] if values.size == 2 else weighted_quantiles(column[counted], [0.5], weights[counted])[0])
        # Where more than half have the largest value, those below it are the other part.
        cut = float(values[-2]) if cut >= values[-1] and values.size > 1 else cut
        halves.append(
            [
                (f"{label} ≤ {plain_number(cut)}", present & (column <= cut)),
                (f"{label} > {plain_number(cut)}", present & (column > cut)),
            ]
        )
    for pair in halves:
        yield from pair
    for first, second in combinations(halves, 2):
        for one, inside in first:
            for other, within in second:
                yield f"{one}, {other}", inside & within


def _numbers(X: ArrayLike, length: int) -> FloatArray:
    try:
        table = np.asarray(X, np.float64)
    except (TypeError, ValueError) as error:
        problem = f"X must be numbers (n, columns), but is {type(X).__name__} ({error})."
        raise ParameterError(problem, argument="X") from None
    if table.ndim != 2 or len(table) != length:
        problem = f"X must have a row for each of {length} rows and columns, but has shape {table.shape}."
        raise ParameterError(problem, argument="X")
    return table


def _distances(predicted: SurvivalDistribution, truth: SurvivalDistribution, horizon: float | None) -> FloatArray:
    """Wasserstein distance of each row: the cdfs are taken as straight between many times."""
    knots = np.sort(np.concatenate([as_numbers(each.quantile(_LEVELS)) for each in (predicted, truth)], axis=1), axis=1)
    knots = knots if horizon is None else np.minimum(knots, horizon)
    inside = np.arange(_PIECES) / _PIECES
    times = (knots[:, :-1, None] + np.diff(knots, axis=1)[..., None] * inside).reshape(len(knots), -1)
    times = np.concatenate([times, knots[:, -1:] if horizon is None else np.full((len(knots), 1), horizon)], axis=1)
    apart = as_numbers(predicted.cdf(times)) - as_numbers(truth.cdf(times))
    area: FloatArray = _area_of_absolute(apart[:, :-1], apart[:, 1:], np.diff(times, axis=1)).sum(axis=1)
    if horizon is not None:
        return area
    last = times[:, -1:]
    tails = [as_numbers(each.survival(last) * each.mean_residual_life(last))[:, 0] for each in (predicted, truth)]
    return area + np.abs(tails[0] - tails[1])
