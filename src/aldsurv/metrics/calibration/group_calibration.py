"""Calibration and order of the predictions within groups of rows, and the group that fares worst."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Hashable, Iterable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.checks import WholeNumber, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.display.html import html_block, html_note, html_table
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import AldsurvWarning, ParameterError
from aldsurv.metrics.calibration.distribution_calibration import d_calibration
from aldsurv.metrics.checked_arguments import FloatArray, matched_data, without_delayed_entry
from aldsurv.metrics.discrimination.concordance import concordance_harrell
from aldsurv.metrics.evaluation_times import checked_time, mean_survival
from aldsurv.metrics.point_estimates import RankingPoint, ranking_time
from aldsurv.nonparametric.kaplan_meier import kaplan_meier
from aldsurv.nonparametric.survival_limits import survival_limits

__all__ = [
    "MARGIN",
    "CalibrationByGroup",
    "Finding",
    "GroupCalibration",
    "calibration_by_group",
    "worst_group",
]

Finding: TypeAlias = Literal["off", "unclear", "right", "too few", "not judged"]


# A difference of survival that hardly matters.
MARGIN = 0.05
_BINS = 10
_ALPHA = 0.05


class GroupCalibration(NamedTuple):
    """Metrics of one group, and how far its predicted survival is from the observed one at the horizon.

    Attributes
    ----------
    group, n, events
        Its label, rows and events.
    harrell_c, cens_dcal, p_value
        Harrell's C, CensDcal, and the p-value of D-calibration, which looks at all times.
    predicted, observed
        Mean predicted survival, and that of Kaplan-Meier, at the horizon.
    difference, lower, upper
        Predicted less observed, and its 95 % limits.
    corrected_lower, corrected_upper
        Limits that hold for all groups at once with 95 %.
    comparisons
        Number of groups that they are corrected for; 0 for a group with too few rows to be judged.
    """

    group: Any
    n: int
    events: int
    harrell_c: float
    cens_dcal: float
    p_value: float
    predicted: float
    observed: float
    difference: float
    lower: float
    upper: float
    corrected_lower: float
    corrected_upper: float
    comparisons: int

    @property
    def judged(self) -> bool:
        """Whether it has enough rows, and these were followed up to the horizon."""
        return self.comparisons > 0 and not np.isnan(self.difference)

    @property
    def off_by_at_least(self) -> float:
        """Distance of the corrected limits from 0: 0 where they hold it; NaN for a group that is not judged."""
        return max(self.corrected_lower, -self.corrected_upper, 0.0) if self.judged else float("nan")

    @property
    def shape_off(self) -> bool:
        """Whether D-calibration rejects the predictions over all times, given the number of groups."""
        return self.comparisons > 0 and self.p_value * self.comparisons < _ALPHA

    @property
    def finding(self) -> Finding:
        """What the limits say.

        ``"off"``: the corrected limits leave out 0. ``"unclear"``: only the group's own limits do, as some of many
        groups do by chance. ``"right"``: they hold 0 and nothing beyond 5 points. ``"too few"``: they hold 0 and
        larger differences, too. ``"not judged"``: too few rows, or none followed up to the horizon.
        """
        if not self.judged:
            return "not judged"
        if self.off_by_at_least > 0:
            return "off"
        if self.lower > 0 or self.upper < 0:
            return "unclear"
        return "right" if max(-self.lower, self.upper) <= MARGIN else "too few"

    @property
    def short_verdict(self) -> str:
        """The finding in few words, beside the difference and its limits."""
        if self.finding == "off":
            return f"off by {_points(self.off_by_at_least)} or more"
        if self.finding == "unclear":
            return f"too {self._side}, or chance"
        return "too few to tell" if self.finding == "too few" else self.verdict

    @property
    def verdict(self) -> str:
        """The finding in words, with the difference and its limits in percentage points."""
        if not self.judged:
            return "too few rows" if self.comparisons == 0 else "ends before the horizon"
        if self.finding == "right":
            return f"right within {100 * MARGIN:.0f} points"
        if self.finding == "too few":
            return f"too few to tell ({_points(-self.lower)} points too low to {_points(self.upper)} too high)"
        near, far = sorted([abs(self.lower), abs(self.upper)])
        text = f"too {self._side} by {_points(abs(self.difference))} points ({_points(near)} to {_points(far)})"
        if self.finding == "unclear":
            return f"{text}, may be chance among {self.comparisons} groups"
        if self.comparisons == 1:
            return text
        return f"{text}, at least {_points(self.off_by_at_least)} given {self.comparisons} groups"

    @property
    def _side(self) -> str:
        return "high" if self.difference > 0 else "low"


def _points(share: float) -> str:
    """A share in percentage points; a tiny one with its first digit."""
    value = 100 * share
    return f"{value:.1f}" if abs(value) >= 0.05 or value == 0 else f"{value:.1g}"


class CalibrationByGroup(NamedTuple):
    """One entry per group, the label of the worst of the large enough ones (None if there is none), and the horizon."""

    groups: tuple[GroupCalibration, ...]
    worst: Any
    horizon: float

    def _repr_html_(self) -> str:
        table = html_table([name.replace("_", " ") for name in GroupCalibration._fields], self.groups)
        return html_block("Calibration by group", table, html_note(f"worst: {self.worst}, horizon {self.horizon:g}"))


def calibration_by_group(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    groups: ArrayLike,
    *,
    horizon: float | None = None,
    least: int = 50,
    comparisons: int | None = None,
    point: RankingPoint = "follow_up",
    train: SurvivalData | None = None,
) -> CalibrationByGroup:
    """Metrics within each level of a column, such as sex or hospital, and the level that is predicted worst.

    A prediction can be right on average and wrong for everyone: too early for one group, too late for another. A
    group is judged by the difference of its mean predicted survival and Kaplan-Meier at the horizon, and by the limits
    of that. They are those of the observed survival by the beta product (`aldsurv.nonparametric.survival_limits`),
    which are not too narrow with few events; the mean prediction is a fixed number. Of many groups some differ by
    chance: the corrected limits have a confidence of 1 - 0.05 divided by the number of judged groups (Bonferroni),
    so that no more than 5 % of right predictions have any group called off. Rows of one person or cluster count as
    if independent.

    The worst group is the one that is off by the most for sure: whose corrected limits are furthest from 0. Where all
    hold 0, it is the one with the largest difference, which need not mean anything.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, exact or right-censored; rows of weight 0 are left out. Whole weights are counts of
        rows; others are rescaled to Kish's effective number of rows for the limits.
    groups
        Label of each row (n,): numbers, strings, a column of a frame. Missing ones are a group None.
    horizon
        Time at which mean predicted survival is compared with Kaplan-Meier. None: the median of the observed
        times. A group that ends earlier has no `difference`: NaN, with a warning.
    least
        Rows that a group needs to be judged.
    comparisons
        Number of groups to correct for, as where several columns are looked at; None: those with `least` rows.
    point
        Time that represents a distribution in Harrell's C, as in `concordance_harrell`.
    train
        The training rows, whose follow-up counts there; None: the rows of all groups.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right(Exponential([5.0] * 400).sample(random_state=0), [True] * 400)
    >>> result = calibration_by_group(Exponential([5.0] * 200 + [8.0] * 200), data, ["a"] * 200 + ["b"] * 200)
    >>> result.worst, round(result.groups[1].difference, 2), result.groups[1].verdict
    ('b', 0.11, 'too high by 10.7 points (3.6 to 17.9), at least 2.6 given 2 groups')
    """
    rows = without_delayed_entry(matched_data(predicted, data), "calibration_by_group")
    check("least", least, WholeNumber(1))
    check("comparisons", comparisons, WholeNumber(1), none=True)
    labels = _labels(groups, len(rows))
    counted = rows.weights > 0
    if not counted.any():
        warnings.warn("calibration_by_group: no row has a positive weight.", AldsurvWarning, stacklevel=2)
        return CalibrationByGroup((), None, float("nan"))
    if horizon is None:
        horizon = float(np.quantile(rows.time, 0.5, weights=rows.weights, method="inverted_cdf"))
    else:
        horizon = checked_time(horizon, "horizon")
    members: dict[Hashable, list[int]] = {}
    for row in np.flatnonzero(counted):
        members.setdefault(labels[row], []).append(int(row))
    if comparisons is None:
        comparisons = sum(len(index) >= least for index in members.values())
    times = ranking_time(predicted, rows, point=point, train=train)
    results = []
    for label in _ordered(members):
        index = np.array(members[label])
        judged = comparisons if index.size >= least else 0
        results.append(_group(label, predicted[index], rows[index], horizon, times[index], judged))
    _warn_of_short_groups(results, horizon)
    worst = worst_group(results)
    return CalibrationByGroup(tuple(results), None if worst is None else worst.group, horizon)


def worst_group(groups: Iterable[GroupCalibration]) -> GroupCalibration | None:
    """The judged group that is off by the most for sure, or the one with the largest difference if none is off."""
    judged = [group for group in groups if group.judged]
    return max(judged, key=lambda group: (group.off_by_at_least, abs(group.difference)), default=None)


def _group(
    label: Hashable,
    predicted: SurvivalDistribution,
    rows: SurvivalData,
    horizon: float,
    times: FloatArray,
    comparisons: int,
) -> GroupCalibration:
    test = d_calibration(predicted, rows, bins=_BINS)
    at = np.array([horizon])
    mean = float(mean_survival(predicted, rows.weights, at)[0])
    curve = kaplan_meier(_effective_rows(rows))
    observed, limits, corrected = float("nan"), (float("nan"),) * 2, (float("nan"),) * 2
    if horizon <= curve.times[-1] or curve.survival[-1] == 0:
        observed = float(curve.survival_at(at)[0])
        limits = survival_limits(curve, horizon, 1 - _ALPHA)
        corrected = survival_limits(curve, horizon, 1 - _ALPHA / max(comparisons, 1))
    # CensDcal is the statistic on another scale.
    distance = 100 * test.statistic / (_BINS * rows.total_weight)
    return GroupCalibration(
        label,
        len(rows),
        rows.n_events,
        concordance_harrell(times, rows),
        distance,
        test.p_value,
        mean,
        observed,
        mean - observed,
        mean - limits[1],
        mean - limits[0],
        mean - corrected[1],
        mean - corrected[0],
        comparisons,
    )


def _effective_rows(rows: SurvivalData) -> SurvivalData:
    """The rows with weights that add up to the number of rows of weight 1 that would know as much."""
    weights = rows.weights
    if (weights == np.floor(weights)).all():
        return rows
    return rows.with_weight(weights * weights.sum() / (weights @ weights))


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


def _warn_of_short_groups(groups: list[GroupCalibration], horizon: float) -> None:
    short = [group.group for group in groups if np.isnan(group.difference)]
    if short:
        warnings.warn(
            f"calibration_by_group: {len(short)} of {len(groups)} groups end before the horizon {horizon:g} and have "
            f"no difference (first: {short[0]!r}). Give a smaller horizon.",
            AldsurvWarning,
            stacklevel=3,
        )
