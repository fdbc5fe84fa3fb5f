"""How far the members of an ensemble differ: bands around their joint prediction, and parts of the variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number, check
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.metrics.row_blocks import row_blocks

__all__ = [
    "Band",
    "VarianceParts",
    "checked_level",
    "student_quantile",
    "survival_band",
    "time_band",
    "variance_parts",
]

FloatArray = NDArray[np.float64]

# Of the variance within a horizon: panels of time, and nodes in each; curves may have jumps, which need many.
_PANELS, _NODES = 128, 4
# Survivals at all nodes that are in memory at once.
_BLOCK_VALUES = 1 << 20


class Band(NamedTuple):
    """Lower and upper limits, arrays of one shape."""

    lower: FloatArray
    upper: FloatArray


class VarianceParts(NamedTuple):
    """Parts of the variance of the predicted time (n,) each; ``total`` is the sum of the two.

    Attributes
    ----------
    within
        Mean of the variances that the members predict: what would remain if they all agreed.
    between
        Variance of the means that they predict: how far they disagree.
    total
        Variance of their mixture, which is the prediction.
    """

    within: FloatArray
    between: FloatArray
    total: FloatArray


def survival_band(
    members: Sequence[SurvivalDistribution],
    joint: SurvivalDistribution,
    times: object,
    *,
    level: float,
    stretch: float,
) -> Band:
    """Limits (n, m) of the survival at `times`; `joint` is the prediction of all members together.

    Parameters
    ----------
    members, joint
        Distributions of the same rows.
    times
        As `SurvivalDistribution.survival` takes them.
    level, stretch
        As in `time_band`.
    """
    # On this scale curves are never outside of 0 … 1, and spread about as far early as late.
    # Before the time of a condition rounding may leave a hazard a little below 0.
    hazard = np.maximum(-np.stack([np.asarray(one.log_survival(times), np.float64) for one in members]), 0.0)
    with np.errstate(divide="ignore"):
        lower, upper = _limits(np.log(hazard), level, stretch)
    with np.errstate(over="ignore"):
        survival = np.asarray(joint.survival(times), np.float64)
        return _around(Band(np.exp(-np.exp(upper)), np.exp(-np.exp(lower))), survival)


def time_band(
    values: FloatArray, joint: FloatArray, *, level: float, stretch: float, least: Any = -np.inf, most: Any = np.inf
) -> Band:
    """Limits (n,) of one time per row.

    Parameters
    ----------
    values, joint
        The time of each member (members, n), and that of all members together (n,).
    level
        Of Student's distribution with one degree of freedom less than there are members.
    stretch
        Standard errors of the prediction in one standard deviation between the members.
    least, most
        Numbers, or one per row, between which such a time always lies.
    """
    positive = ((values > 0) & np.isfinite(values)).all(axis=0)
    with np.errstate(invalid="ignore"):
        lower, upper = _limits(np.log(np.where(positive, values, 1.0)), level, stretch)
        # A time that is not positive has no logarithm, an infinite one no distance: the range remains.
        lowest, highest = values.min(axis=0), values.max(axis=0)
    with np.errstate(over="ignore"):
        limits = Band(np.where(positive, np.exp(lower), lowest), np.where(positive, np.exp(upper), highest))
    return _around(Band(np.clip(limits.lower, least, most), np.clip(limits.upper, least, most)), joint)


def variance_parts(members: Sequence[SurvivalDistribution], horizon: float | None) -> VarianceParts:
    """The law of total variance over members of equal weight; up to a horizon, of the time cut off there."""
    if horizon is None:
        pairs = [(np.asarray(one.mean(), np.float64), np.asarray(one.variance(), np.float64)) for one in members]
    else:
        pairs = [_cut_moments(one, float(horizon)) for one in members]
    means, variances = (np.stack(moments) for moments in zip(*pairs, strict=True))
    within = variances.mean(axis=0)
    with np.errstate(invalid="ignore"):
        between = means.var(axis=0)
    # The distance between infinite means is undefined, but the total variance is infinite.
    between = np.where(np.isfinite(means).all(axis=0), between, np.inf)
    return VarianceParts(within, between, within + between)


def student_quantile(level: float, freedom: int) -> float:
    """Quantile of Student's distribution with a whole number of degrees of freedom, for levels above one half.

    The cdf has a finite sum for each (Abramowitz & Stegun 26.7.3 and 26.7.4); prediction needs no more than numpy.
    """
    low, high = 0.0, 1.0
    while _student_cdf(high, freedom) < level:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_cdf(middle, freedom) < level else (low, middle)
    return (low + high) / 2


def _limits(values: FloatArray, level: float, stretch: float) -> tuple[FloatArray, FloatArray]:
    """Student's limits around the mean of the members; their range where one of them is infinite."""
    half = student_quantile((1 + level) / 2, len(values) - 1) * stretch
    lowest, highest = values.min(axis=0), values.max(axis=0)
    usual = np.isfinite(lowest) & np.isfinite(highest)
    with np.errstate(invalid="ignore"):
        center, width = values.mean(axis=0), half * values.std(axis=0, ddof=1)
    return np.where(usual, center - width, lowest), np.where(usual, center + width, highest)


def _around(band: Band, joint: FloatArray) -> Band:
    """The band, wide enough for the prediction itself: a mean of curves is not the mean on another scale."""
    return Band(np.minimum(band.lower, joint), np.maximum(band.upper, joint))


def _cut_moments(one: SurvivalDistribution, horizon: float) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the time between 0 and the horizon, later ones counting as the horizon."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    step = horizon / _PANELS
    times = ((np.arange(_PANELS)[:, None] + (nodes + 1) / 2) * step).reshape(-1)
    weights = np.tile(weights * step / 2, _PANELS)
    moments = np.empty((len(one), 2))
    for rows in row_blocks(len(one), times.size, values=_BLOCK_VALUES):
        survival = np.asarray(one[rows].survival(times), np.float64)
        moments[rows] = survival @ np.column_stack([weights, weights * times])
    mean, squares = moments.T
    return mean, np.maximum(2 * squares - mean**2, 0.0)


def _student_cdf(t: float, freedom: int) -> float:
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom == 1:
        return 0.5 + angle / math.pi
    total, term, start = 0.0, (cosine if freedom % 2 else 1.0), (3 if freedom % 2 else 2)
    for k in range(start, freedom + 1, 2):
        total += term
        term *= cosine**2 * (k - 1) / k
    if freedom % 2:
        return 0.5 + (angle + sine * total) / math.pi
    return 0.5 + sine * total / 2


def checked_level(level: object) -> float:
    """A level between 0 and 1, or `ParameterError`."""
    check("level", level, Number(0, 1, above=True, below=True))
    return float(level)  # type: ignore[arg-type]
