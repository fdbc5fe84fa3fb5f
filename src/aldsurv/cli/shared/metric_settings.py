"""How metrics are computed, as options of a command."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import click

from aldsurv.cli.shared.outcome import words
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData

__all__ = ["MetricSettings", "metric_options", "resampled_if_many", "times_of"]

_POINTS = ("mean", "median", "mode", "restricted_mean")
# Resamples of fewer rows are so much alike that their intervals would promise too much.
_LEAST_RESAMPLED = 10


@final
@dataclass(frozen=True)
class MetricSettings:
    """How metrics are computed: the point estimate, the number of resamples (None: no limits), confidence and seed."""

    point: str
    bootstrap: int | None
    confidence: float
    seed: int


def metric_options(resamples: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options for metrics; the command gets them as ``settings``, a `MetricSettings`.

    Parameters
    ----------
    resamples
        Default of ``--bootstrap``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def collected(*arguments: Any, **options: Any) -> Any:
            samples = options.pop("bootstrap")
            if samples == 1:
                raise ParameterError("--bootstrap must be 0 (no intervals) or 2 and more, but is 1.")
            named = {name: options.pop(name) for name in ("point", "confidence", "seed")}
            return command(*arguments, settings=MetricSettings(bootstrap=samples or None, **named), **options)

        inside = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)
        for option in (
            click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the resamples."),
            click.option("--confidence", default=0.95, show_default=True, type=inside, help="Of the intervals."),
            click.option(
                "--bootstrap", default=resamples, show_default=True, type=click.IntRange(min=0), metavar="N",
                help="Resamples behind the intervals; 0: none.",
            ),
            click.option(
                "--point", default="median", show_default=True, type=click.Choice(_POINTS), metavar="NAME",
                help="Time that stands for a distribution in error and ranking: mean, median, mode, restricted_mean.",
            ),
            click.option(
                "--train", default=None, metavar="TABLE",
                help="Rows of training, to estimate the censoring from  [default: TABLE itself]",
            ),
        ):  # fmt: skip
            collected = option(collected)
        return collected

    return decorate


def times_of(text: str | None) -> list[float]:
    """Times of an option such as ``365,730``."""
    found = []
    for word in words(text):
        try:
            number = float(word)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise ParameterError(
                f"--times must be positive numbers with commas between them, such as 365,730, but has {quoted(word)}."
            )
        found.append(number)
    return found


def resampled_if_many(settings: MetricSettings, rows: SurvivalData) -> MetricSettings:
    """The settings, without resamples where there are too few rows to draw from."""
    count = int((rows.weights > 0).sum())
    if settings.bootstrap is None or count >= _LEAST_RESAMPLED:
        return settings
    many = "row has" if count == 1 else "rows have"
    warnings.warn(f"only {count} {many} a weight: too few to draw from, there are no intervals.", stacklevel=2)
    return replace(settings, bootstrap=None)
