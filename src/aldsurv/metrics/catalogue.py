"""Metrics by name or as functions, ready to be called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal, final

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.metrics.evaluation_times import event_quantiles
from aldsurv.registry import METRICS
from aldsurv.registry.metric_records import TrainingRows

__all__ = ["Metric", "find_metric"]


@final
@dataclass(frozen=True)
class Metric:
    """A function ``(predicted, data, **options)``, and which of the numbers it gives is meant.

    Parameters
    ----------
    function
        Gives a number or a tuple of numbers.
    part
        Place in the tuple, or several places; None: all that the function gives.
    train, time_argument, bounds
        As in `aldsurv.registry.MetricRecord`.
    """

    function: Callable[..., Any]
    part: int | tuple[int, ...] | None = None
    train: TrainingRows = "unused"
    time_argument: Literal["time", "times"] | None = None
    bounds: tuple[float, float] | None = None

    def options_with(self, train: Any, options: dict[str, Any], data: Any) -> dict[str, Any]:
        """The options of a call, with the training rows and the times where the function takes them."""
        if self.train == "or_data" and train is None:
            train = data
        if self.train == "required" and train is None:
            raise ParameterError(
                f"{self.function.__name__} estimates the censoring from the training rows, but train is None.",
                argument="train",
                advice="Give them as train=, or train=data if there are no others.",
            )
        if self.time_argument is not None and options.get(self.time_argument) is None:
            several = self.time_argument == "times"
            quantiles = event_quantiles(
                SurvivalData.of(data if train is None else train), [0.25, 0.5, 0.75] if several else [0.5]
            )
            options = {**options, self.time_argument: quantiles if several else float(quantiles[0])}
        return options if self.train == "unused" or train is None else {**options, "train": train}

    def __call__(self, predicted: Any, data: Any, **options: Any) -> Any:
        """The number, or several of them."""
        result = self.function(predicted, data, **options)
        if isinstance(self.part, tuple):
            return tuple(result[part] for part in self.part)
        return result if self.part is None else result[self.part]

    @property
    def option_names(self) -> list[str]:
        """Names of the options of the function."""
        return list(signature(self.function).parameters)[2:]


def find_metric(metric: str | Callable[..., Any]) -> Metric:
    """A metric by its name, or a function as one."""
    if isinstance(metric, str):
        record = METRICS[metric]
        return Metric(record.load(), record.part, record.train, record.time_argument, record.bounds)
    if not callable(metric):
        raise ParameterError(f"metric must be a name or a function, but is {type(metric).__name__}.", argument="metric")
    location = f"{getattr(metric, '__module__', '')}:{getattr(metric, '__qualname__', '')}"
    for record in METRICS.records():
        if record.location == location:
            return Metric(metric, train=record.train, bounds=record.bounds)
    return Metric(metric, train="optional")
