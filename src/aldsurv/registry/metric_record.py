"""What is known of a metric before it is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from aldsurv.registry.records import Record

__all__ = ["Causes", "Direction", "MetricRecord", "TrainingRows"]

Direction: TypeAlias = Literal["lower", "higher", "nearest"]
TrainingRows: TypeAlias = Literal["unused", "required", "or_data"]
Causes: TypeAlias = Literal["none", "each", "joint"]


@dataclass(frozen=True, kw_only=True)
class MetricRecord(Record):
    """A metric: a function ``(predicted, data, **options)`` that gives a number or a tuple of numbers.

    Parameters
    ----------
    short_title
        Title where there is little room; empty: the title.
    hint
        How to read its size, beside the number.
    ideal
        Value of a perfect prediction; None: there is none, as of a likelihood.
    direction
        Whether lower or higher values are better, or those nearest to the ideal.
    part
        Which of the numbers of the function is meant; None: it gives one number.
    train
        Whether the function needs the training rows, or gets the data themselves where there are none (``"or_data"``).
    time_argument
        ``"time"`` or ``"times"`` if the function must be given when to look. By default that is the median, or the
        quartiles, of the event times of the training rows, or without those of the data.
    uses_point
        Whether one predicted time per row is enough, so that ``predicted`` may be an array of times.
    ranks_rows
        Whether only the order of these times counts: then ``"follow_up"`` is one of the points.
    uses_truth
        Whether it has an option ``truth``, the true times of simulated rows; a scorer does not take it.
    any_censoring
        Whether it is defined for left- and interval-censored rows and delayed entry, too.
    causes
        Whether it is defined for predictions with causes: for ``"each"`` cause, by its option ``cause``; for all of
        them in one number (``"joint"``); or not.
    bounds
        Least and largest possible value of a metric that moves to one side when rows are drawn again: a resample is
        further from any ideal than the rows are. The limits of a bootstrap are freed of this bias. None: it has none.
    scorer
        Name as a scorer, of which greater is better; empty: the name, with ``neg_`` before it if lower is better.
    fixed_option
        An option that the scorer does not take, for its name says the value.
    """

    hint: str
    ideal: float | None
    direction: Direction
    short_title: str = ""
    part: int | None = None
    train: TrainingRows = "unused"
    time_argument: Literal["time", "times"] | None = None
    uses_point: bool = False
    ranks_rows: bool = False
    uses_truth: bool = False
    any_censoring: bool = False
    causes: Causes = "none"
    bounds: tuple[float, float] | None = None
    scorer: str = ""
    fixed_option: str = ""

    def __post_init__(self) -> None:
        if not self.short_title:
            object.__setattr__(self, "short_title", self.title)
        if not self.scorer:
            object.__setattr__(self, "scorer", f"neg_{self.name}" if self.direction == "lower" else self.name)

    @property
    def function_name(self) -> str:
        """Name of the function, without importing it."""
        return self.location.split(":")[1]

    def score(self, value: float) -> float:
        """A value turned so that greater is better: itself, its negative, or minus its distance from the ideal.

        Examples
        --------
        >>> from aldsurv.registry import METRICS
        >>> METRICS["ibs"].score(0.1), METRICS["harrell_c"].score(0.7), METRICS["cal_s_slope"].score(1.5)
        (-0.1, 0.7, -0.5)
        """
        if self.ideal is not None and self.direction == "nearest":
            return -abs(self.ideal - value)
        return -value if self.direction == "lower" else value
