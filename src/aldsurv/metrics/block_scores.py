"""Metrics of rows that come in blocks: sums that merge, and what each metric makes of them.

Every number is computed by the function of the metric itself: for a block, where the metric is a mean over rows; of
the levels of all rows, counted in bins; of the times that rank all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aldsurv.checks import listed
from aldsurv.data.follow_up import end_of_follow_up
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.calibration.distribution_calibration import d_calibration_of
from aldsurv.metrics.calibration.event_levels import EventLevels, event_levels
from aldsurv.metrics.catalogue import find_metric
from aldsurv.metrics.checked_arguments import FloatArray, without_delayed_entry
from aldsurv.metrics.error.absolute_error import mean_absolute_error
from aldsurv.metrics.error.brier import default_times, integrated_squared_error, squared_error_at
from aldsurv.metrics.error.log_likelihood import bounded_rows, log_likelihood_rows, time_per_event
from aldsurv.metrics.evaluation_times import event_quantiles
from aldsurv.metrics.point_estimates import RankingPoint, error_point, ranking_time
from aldsurv.nonparametric.censoring_weights import Ties, censoring_distribution, has_estimate
from aldsurv.nonparametric.kaplan_meier import KaplanMeier
from aldsurv.quoting import quoted
from aldsurv.registry import METRICS

__all__ = ["MERGED_METRICS", "PAIR_METRICS", "BlockScores", "RankedRows", "ScoreSettings", "condensed", "ranked_rows"]

# Means over rows.
_MEANS = ("log_likelihood", "bounded_log_likelihood", "ibs", "brier", "mae")
_LEVELS = ("cens_dcal", "d_calibration", "cal_s_slope", "cal_s_intercept", "cal_f_slope", "cal_f_intercept")
PAIR_METRICS = ("harrell_c", "uno_c")
MERGED_METRICS = (*_MEANS, *_LEVELS, *PAIR_METRICS)
_BINS = 10


@final
@dataclass(frozen=True, eq=False)
class ScoreSettings:
    """How blocks are scored.

    Attributes
    ----------
    metrics
        Names of metrics, of `MERGED_METRICS`.
    smallest
        The smallest time above 0 of all rows.
    censoring
        Estimated from the training rows; None if no metric looks at it, and then there are no times either.
    grid, times
        Times of ``ibs`` and of ``brier``, at which the censoring has an estimate.
    follow_up, per_event
        A row that leaves at the end of the training rows' follow-up, and one whose event comes at their time per
        event: all that the time that ranks, and the bounded log-likelihood, see of the training rows.
    point, ranking_point, ties
        As in `aldsurv.metrics.evaluate`.
    """

    metrics: tuple[str, ...]
    smallest: float
    censoring: KaplanMeier | None
    grid: FloatArray
    times: FloatArray
    follow_up: SurvivalData
    per_event: SurvivalData
    point: RankingPoint
    ranking_point: RankingPoint
    ties: Ties

    @classmethod
    def of(
        cls,
        metrics: Sequence[str],
        train: SurvivalData,
        smallest: float,
        *,
        point: RankingPoint = "follow_up",
        ranking_point: RankingPoint | None = None,
        ties: Ties = "events_first",
    ) -> ScoreSettings:
        """Settings with what is estimated from the training rows, of which `condensed` ones give the same."""
        for name in metrics:
            if name not in MERGED_METRICS:
                raise ParameterError(
                    f"metric {quoted(name)} is not computed from parts; those that are: "
                    f"{listed(MERGED_METRICS, len(MERGED_METRICS))}.",
                    argument="metrics",
                )
        censoring, grid, times = None, np.zeros(0), np.zeros(0)
        if {"ibs", "brier"} & set(metrics):
            censoring = censoring_distribution(train)
            grid, times = default_times(train), event_quantiles(train, [0.25, 0.5, 0.75])
            grid, times = grid[has_estimate(censoring, grid)], times[has_estimate(censoring, times)]
        return cls(
            metrics=tuple(metrics),
            smallest=smallest,
            censoring=censoring,
            grid=grid,
            times=times,
            follow_up=SurvivalData.right([end_of_follow_up(train)], [True]),
            per_event=SurvivalData.right([time_per_event(train)], [True]),
            point=point,
            ranking_point=point if ranking_point is None else ranking_point,
            ties=ties,
        )


@final
@dataclass(frozen=True)
class RankedRows:
    """Rows as metrics of pairs see them: the time that ranks each (n,), and its outcome."""

    time: FloatArray
    outcome: SurvivalData

    @classmethod
    def joined(cls, parts: Sequence[RankedRows]) -> RankedRows:
        """All rows."""
        outcome = SurvivalData.concatenate([part.outcome for part in parts])
        return cls(np.concatenate([part.time for part in parts]), outcome)

    def value(self, name: str, train: SurvivalData) -> float:
        """A metric of pairs."""
        metric = find_metric(name)
        return float(metric(self.time, self.outcome, **metric.options_with(train, {}, self.outcome)))

    def __getitem__(self, rows: Any) -> RankedRows:
        return RankedRows(self.time[rows], self.outcome[rows])


@final
@dataclass(frozen=True)
class BlockScores:
    """Sums over some rows.

    Attributes
    ----------
    sums
        Of each metric that is a mean over rows its sum and the weight of the rows that count.
    levels
        Mass at and between the levels that the metrics of calibration look at.
    """

    sums: Mapping[str, tuple[float, float]]
    levels: EventLevels

    @classmethod
    def of(cls, predicted: SurvivalDistribution, data: SurvivalData, settings: ScoreSettings) -> BlockScores:
        """Of a block of rows."""
        sums = {name: _sum(name, predicted, data, settings) for name in settings.metrics if name in _MEANS}
        levels = EventLevels(*np.zeros((3, 0)))
        if any(name in _LEVELS for name in settings.metrics):
            levels = event_levels(predicted, data, smallest=settings.smallest).condensed(_BINS)
        return cls(sums, levels)

    @classmethod
    def merged(cls, parts: Iterable[BlockScores]) -> BlockScores:
        """Of all rows."""
        total: BlockScores | None = None
        for part in parts:
            if total is None:
                total = part
                continue
            sums = {
                name: (value + part.sums[name][0], weight + part.sums[name][1])
                for name, (value, weight) in total.sums.items()
            }
            levels = EventLevels(*(np.concatenate(pair) for pair in zip(total.levels, part.levels, strict=True)))
            total = cls(sums, levels.condensed(_BINS))
        return cls({}, EventLevels(*np.zeros((3, 0)))) if total is None else total

    def value(self, name: str) -> float:
        """A metric of all rows, except one of pairs."""
        if name in self.sums:
            total, weight = self.sums[name]
            if not weight:
                return float("nan")
            return total / weight
        if name == "cens_dcal":
            return self.levels.distance_from_uniform(_BINS)
        if name == "d_calibration":
            return d_calibration_of(self.levels.counts(_BINS)).p_value
        points = self.levels.survival_points(_BINS) if name.startswith("cal_s") else self.levels.density_points(_BINS)
        part = METRICS[name].part
        return float(points.line[part if isinstance(part, int) else 0])


def ranked_rows(predicted: SurvivalDistribution, data: SurvivalData, settings: ScoreSettings) -> RankedRows:
    """A block as metrics of pairs see it."""
    time = ranking_time(predicted, data, point=settings.ranking_point, train=settings.follow_up)
    return RankedRows(time, SurvivalData.from_checked(data.lower, data.upper, data.entry, data.weight))


def condensed(parts: Sequence[SurvivalData]) -> SurvivalData:
    """Equal outcomes as one row with the sum of their weights: estimates without covariates are the same."""
    columns = [
        np.concatenate([np.full(len(part), -np.inf) if part.entry is None else part.entry for part in parts]),
        np.concatenate([part.upper for part in parts]),
        np.concatenate([part.lower for part in parts]),
    ]
    weights = np.concatenate([part.weights for part in parts])
    order = np.lexsort(columns)
    columns, weights = [column[order] for column in columns], weights[order]
    starts = np.flatnonzero(np.append(True, np.any([column[1:] != column[:-1] for column in columns], axis=0)))
    entry, upper, lower = (column[starts] for column in columns)
    late = None if np.isneginf(entry).all() else entry
    return SurvivalData.from_checked(lower, upper, late, np.add.reduceat(weights, starts))


def _sum(
    name: str, predicted: SurvivalDistribution, data: SurvivalData, settings: ScoreSettings
) -> tuple[float, float]:
    """A metric of a block, times the weight of the rows that count, and that weight."""
    weights = data.weights * data.event if name == "mae" else data.weights
    weight, counted = float(weights.sum()), weights > 0
    if not weight:
        return 0.0, 0.0
    if name == "mae":
        return weight * mean_absolute_error(predicted, data, point=error_point(settings.point)), weight
    if name == "log_likelihood":
        values = log_likelihood_rows(predicted, data, settings.smallest)
        return float(weights[counted] @ values[counted]), weight
    if name == "bounded_log_likelihood":
        values = bounded_rows(predicted, data, settings.per_event, smallest=settings.smallest)
        return float(weights[counted] @ values[counted]), weight
    rows, censoring = without_delayed_entry(data, name), settings.censoring
    no_other = np.zeros(len(data), np.bool_)
    if name == "brier" and censoring is not None and settings.times.size:
        scores = squared_error_at(predicted, rows, no_other, settings.times, censoring, settings.ties)
        return weight * float(scores.mean()), weight
    if name == "ibs" and censoring is not None and settings.grid.size > 1 and settings.grid[0] < settings.grid[-1]:
        score = integrated_squared_error(predicted, rows, no_other, settings.grid, censoring, settings.ties)
        return weight * score, weight
    return float("nan"), weight
