"""Calibration and order of the predictions within groups of rows, and the group that fares worst."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.checks import WholeNumber, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.calibration.distribution_calibration import d_calibration
from aldsurv.metrics.calibration.level_calibration import censored_d_calibration_by_chance
from aldsurv.metrics.checked_arguments import FloatArray, matched_data, without_delayed_entry
from aldsurv.metrics.discrimination.concordance import concordance_harrell
from aldsurv.metrics.evaluation_times import checked_time, mean_survival
from aldsurv.metrics.point_estimates import RankingPoint, ranking_time
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["CalibrationByGroup", "GroupCalibration", "calibration_by_group"]

_BINS = 10
_ALPHA = 0.05


class GroupCalibration(NamedTuple):
    """Metrics of one group; `difference` is mean predicted survival minus Kaplan-Meier at the horizon."""

    group: Any
    n: int
    events: int
    harrell_c: float
    cens_dcal: float
    p_value: float
    difference: float


class CalibrationByGroup(NamedTuple):
    """One entry per group, the label of the worst of the large enough ones (None if there is none), and the horizon."""

    groups: tuple[GroupCalibration, ...]
    worst: Any
    horizon: float


def calibration_by_group(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    groups: ArrayLike,
    *,
    horizon: float | None = None,
    least: int = 50,
    point: RankingPoint = "follow_up",
    train: SurvivalData | None = None,
) -> CalibrationByGroup:
    """Metrics within each level of a column, such as sex or hospital, and the level that is predicted worst.

    A prediction can be right on average and wrong for everyone: too early for one group, too late for another. Small
    groups scatter: CensDcal of n uncensored rows is ``90/n`` on average even if the prediction is right. The worst
    group is that with the largest CensDcal beyond its value by chance (`censored_d_calibration_by_chance`),
    among those of `least` rows or more that are off by more than chance explains: whose p-value is below 0.05 over
    the number of such groups. Where none is, it is the largest of all, and its p-value says that it need not mean
    anything.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored; rows of weight 0 are left out.
    groups
        Label of each row (n,): numbers, strings, a column of a frame. Missing ones are a group None.
    horizon
        Time at which mean predicted survival is compared with Kaplan-Meier. None: the median of the observed
        times. A group that ends earlier has no `difference`: NaN, with a warning.
    least
        Rows that a group needs to be named the worst.
    point
        Time that represents a distribution in Harrell's C, as in `concordance_harrell`.
    train
        The training rows, whose follow-up counts there; None: the rows of all groups.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right(Exponential([5.0] * 400).sample(random_state=0), [True] * 400)
    >>> result = calibration_by_group(Exponential([5.0] * 200 + [8.0] * 200), data, ["a"] * 200 + ["b"] * 200)
    >>> result.worst, round(result.groups[1].difference, 2)
    ('b', 0.11)
    """
    rows = without_delayed_entry(matched_data(predicted, data), "calibration_by_group")
    check("least", least, WholeNumber(1))
    labels = _labels(groups, len(rows))
    counted = rows.weights > 0
    if not counted.any():
        warnings.warn("calibration_by_group: no row has a positive weight.", UserWarning, stacklevel=2)
        return CalibrationByGroup((), None, float("nan"))
    if horizon is None:
        horizon = float(np.quantile(rows.time, 0.5, weights=rows.weights, method="inverted_cdf"))
    else:
        horizon = checked_time(horizon, "horizon")
    members: dict[Hashable, list[int]] = {}
    for row in np.flatnonzero(counted):
        members.setdefault(labels[row], []).append(int(row))
    parts = [(label, np.array(members[label])) for label in _ordered(members)]
    times = ranking_time(predicted, rows, point=point, train=train)
    results = tuple(_group(label, predicted[index], rows[index], horizon, times[index]) for label, index in parts)
    _warn_of_short_groups(results, horizon)
    excess = [
        group.cens_dcal - censored_d_calibration_by_chance(predicted[index], rows[index], bins=_BINS)
        for group, (_, index) in zip(results, parts, strict=True)
    ]
    return CalibrationByGroup(results, _worst(results, excess, int(least)), horizon)


def _group(
    label: Hashable, predicted: SurvivalDistribution, rows: SurvivalData, horizon: float, times: FloatArray
) -> GroupCalibration:
    test, curve = d_calibration(predicted, rows, bins=_BINS), kaplan_meier(rows)
    difference = float("nan")
    if horizon <= curve.times[-1] or curve.survival[-1] == 0:
        at = np.array([horizon])
        difference = float((mean_survival(predicted, rows.weights, at) - curve.survival_at(at))[0])
    # CensDcal is the statistic on another scale.
    distance = 100 * test.statistic / (_BINS * rows.total_weight)
    return GroupCalibration(
        label,
        len(rows),
        rows.n_events,
        concordance_harrell(times, rows),
        distance,
        test.p_value,
        difference,
    )


def _worst(groups: tuple[GroupCalibration, ...], excess: list[float], least: int) -> Hashable:
    """Label of the group that is furthest off, of those that are so by more than chance if there are any."""
    large = [
        (group, more) for group, more in zip(groups, excess, strict=True) if group.n >= least and not np.isnan(more)
    ]
    # A small group scatters more: without the test it would often be named in place of a large one that is wrong.
    clear = [(group, more) for group, more in large if group.p_value < _ALPHA / len(large)]
    ordered = sorted(clear or large, key=lambda pair: -pair[1])
    return ordered[0][0].group if ordered else None


def _labels(groups: ArrayLike, length: int) -> list[Hashable]:
    column = np.asarray(groups)
    if column.shape != (length,):
        raise ParameterError(
            f"groups must have one label for each of {length} rows, but has shape {column.shape}.", argument="groups"
        )
    return [None if label is None or _is_missing(label) else label for label in column.tolist()]


def _is_missing(label: Hashable) -> bool:
    """Whether a label is NaN, NaT or NA of a frame: not equal to itself, or without a truth value."""
    try:
        return bool(label != label)
    except (TypeError, ValueError):
        return True


def _ordered(members: dict[Hashable, list[int]]) -> list[Hashable]:
    """Labels in their order, None last; in that of their first rows if they have none."""
    labels: list[Any] = [label for label in members if label is not None]
    with contextlib.suppress(TypeError):
        labels = sorted(labels)
    return labels + [label for label in members if label is None]


def _warn_of_short_groups(groups: tuple[GroupCalibration, ...], horizon: float) -> None:
    short = [group.group for group in groups if np.isnan(group.difference)]
    if short:
        warnings.warn(
            f"calibration_by_group: {len(short)} of {len(groups)} groups end before the horizon {horizon:g} and have "
            f"no difference (first: {short[0]!r}). Give a smaller horizon.",
            UserWarning,
            stacklevel=3,
        )
