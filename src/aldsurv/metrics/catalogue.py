"""Metrics by name or as functions, ready to be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, TypeAlias, final

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.metrics.checked_arguments import Prediction
from aldsurv.metrics.evaluation_times import event_quantiles
from aldsurv.registry import METRICS, MetricRecord

__all__ = ["Metric", "MetricFunction", "find_metric"]

# (predicted, data, **options) to a number or a tuple of numbers.
MetricFunction: TypeAlias = Callable[..., Any]


@final
@dataclass(frozen=True)
class Metric:
    """A function ``(predicted, data, **options)``, and which of the numbers it gives is meant.

    Parameters
    ----------
    function
        Gives a number or a tuple of numbers.
    record
        The record of the metric; None: it has none, as a function that a user wrote.
    part
        Place in the tuple, or several places; None: all that the function gives.
    """

    function: MetricFunction
    record: MetricRecord | None = None
    part: int | tuple[int, ...] | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """As in `aldsurv.registry.MetricRecord`."""
        return None if self.record is None else self.record.bounds

    @property
    def option_names(self) -> list[str]:
        """Names of the options of the function."""
        return list(signature(self.function).parameters)[2:]

    def options_with(
        self, train: SurvivalData | None, options: Mapping[str, object], data: SurvivalData
    ) -> dict[str, object]:
        """The options of a call, with the training rows and the times where the function takes them."""
        if self.record is None:
            return dict(options) if train is None else {**options, "train": train}
        if train is None and self.record.train == "or_data":
            train = data
        if train is None and self.record.train == "required":
            raise ParameterError(
                f"{self.function.__name__} estimates the censoring from the training rows, but train is None.",
                argument="train",
                advice="Give them as train=, or train=data if there are no others.",
            )
        complete = dict(options)
        argument = self.record.time_argument
        if argument is not None and options.get(argument) is None:
            rows = SurvivalData.of(data if train is None else train).persons()
            if argument == "times":
                complete["times"] = event_quantiles(rows, [0.25, 0.5, 0.75])
            else:
                complete["time"] = float(event_quantiles(rows, [0.5])[0])
        if self.record.train != "unused":
            complete["train"] = train
        return complete

    def __call__(self, predicted: Prediction, data: SurvivalData, **options: object) -> Any:
        """The number, or several of them."""
        result = self.function(predicted, data, **options)
        if isinstance(self.part, tuple):
            return tuple(result[part] for part in self.part)
        return result if self.part is None else result[self.part]


def find_metric(metric: str | MetricFunction) -> Metric:
    """A metric by its name, or a function as one."""
    if isinstance(metric, str):
        record = METRICS[metric]
        return Metric(record.load(), record, record.part)
    if not callable(metric):
        raise ParameterError(f"metric must be a name or a function, but is {type(metric).__name__}.", argument="metric")
    location = f"{getattr(metric, '__module__', '')}:{getattr(metric, '__qualname__', '')}"
    return Metric(metric, next((record for record in METRICS.records() if record.location == location), None))
