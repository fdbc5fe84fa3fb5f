"""How metrics are computed, as options of a command."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, final

import click

from aldsurv.cli.shared.command_options import train_option
from aldsurv.cli.shared.number_text import format_count
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.metrics.point_estimates import Point, RankingPoint
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["MetricSettings", "metric_options", "without_few_resamples"]

_POINTS = ("follow_up", "mean", "median", "mode", "restricted_mean")
# Intervals from resamples of fewer rows are too narrow.
_LEAST_RESAMPLED = 10


@final
@dataclass(frozen=True)
class MetricSettings:
    """How metrics are computed.

    Attributes
    ----------
    point
        Time that stands for a distribution; None: those by which the model predicts and ranks.
    bootstrap
        The number of resamples; None: no limits.
    confidence, seed
        Of the limits and of the resamples.
    error
        Time that stands for a distribution in errors, if not as by `point`.
    """

    point: RankingPoint | None
    bootstrap: int | None
    confidence: float
    seed: int
    error: Point | None = None

    def error_point(self, model: SurvivalEstimator) -> Point:
        """The time that stands for a prediction of the model in errors."""
        from aldsurv.models.prediction.point_summaries import time_point

        if self.error is not None:
            return self.error
        return cast("Point", model.error_point_ if self.point is None else time_point(self.point))

    def ranking_point(self, model: SurvivalEstimator) -> RankingPoint:
        """The time by which predictions of the model are ranked."""
        return cast("RankingPoint", model.ranking_point_) if self.point is None else self.point


def metric_options(resamples: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options for metrics; the command gets them as ``settings``, a `MetricSettings`.

    Parameters
    ----------
    resamples
        Default of ``--bootstrap``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_settings(*arguments: Any, **options: Any) -> Any:
            samples = options.pop("bootstrap")
            if samples == 1:
                raise ParameterError("--bootstrap must be 0 (no intervals) or 2 and more, but is 1.")
            others = {name: options.pop(name) for name in ("point", "confidence", "seed")}
            return command(*arguments, settings=MetricSettings(bootstrap=samples or None, **others), **options)

        inside = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)
        for option in (
            click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed."),
            click.option("--confidence", default=0.95, show_default=True, type=inside, help="Level of the intervals."),
            click.option(
                "--bootstrap", default=resamples, show_default=True, type=click.IntRange(min=0), metavar="N",
                help="Number of resamples for intervals; 0: none.",
            ),
            click.option(
                "--point", default=None, type=click.Choice(_POINTS), metavar="NAME",
                help="Predicted time for errors and ranking: mean, median, mode, restricted_mean, or follow_up (errors "
                "of the median; ranks by the restricted mean up to the time by which 80 % of the training rows had the "
                "event or were censored). Default: that of the model.",
            ),
            train_option(),
        ):  # fmt: skip
            with_settings = option(with_settings)
        return with_settings

    return decorate


def without_few_resamples(settings: MetricSettings, rows: SurvivalData) -> MetricSettings:
    """The settings; without resamples where there are too few rows, or persons, to draw from."""
    count, kind = rows[rows.weights > 0].n_groups, "row" if rows.group is None else "person"
    if settings.bootstrap is None or count >= _LEAST_RESAMPLED:
        return settings
    warnings.warn(f"only {format_count(count, kind)} with weight: too few to resample, no intervals.", stacklevel=2)
    return replace(settings, bootstrap=None)
