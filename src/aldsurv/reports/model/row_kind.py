"""What is known of the outcomes of the rows: times, times after a delayed entry, or only bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.registry import MetricRecord

__all__ = ["RowKind", "count_known_events", "known_times"]

# Defined for delayed entry over all follow-up, beside what is defined for any censoring.
_OVER_FOLLOW_UP = ("calibration_slope", "observed_expected_ratio", "calibration_in_the_large")


@final
@dataclass(frozen=True)
class RowKind:
    """Of how many of the rows the outcome is known only in part.

    Attributes
    ----------
    rows, bounded, delayed
        Number of rows, of left- or interval-censored ones, and of those that came under observation after time 0.
    """

    rows: int
    bounded: int
    delayed: int

    @classmethod
    def of(cls, data: SurvivalData) -> RowKind:
        """The kind of these rows."""
        bounded = int(np.count_nonzero(~(data.exact | data.right_censored)))
        delayed = 0 if data.entry is None else int(np.count_nonzero(data.entry > 0))
        return cls(len(data), bounded, delayed)

    @property
    def complete(self) -> bool:
        """Whether all rows were observed from time 0 to an event or to the end of their follow-up."""
        return not (self.bounded or self.delayed)

    @property
    def has_times(self) -> bool:
        """Whether each row has a time of the event or of censoring."""
        return not self.bounded

    @property
    def reason(self) -> str:
        """Why some measures are not defined, as a clause; empty if all are."""
        if self.bounded:
            return (
                f"of {self.bounded:,} of {self.rows:,} rows the time of the event is known only within bounds (left- "
                "or interval-censored)"
            )
        if self.delayed:
            return f"{self.delayed:,} of {self.rows:,} rows came under observation after time 0 (delayed entry)"
        return ""

    @property
    def short_reason(self) -> str:
        """The same in two or three words, for a table."""
        return "events within bounds" if self.bounded else "delayed entry" if self.delayed else ""

    def defines(self, metric: MetricRecord) -> bool:
        """Whether a metric is defined for these rows."""
        return self.complete or metric.any_censoring or (self.has_times and metric.name in _OVER_FOLLOW_UP)


def known_times(data: SurvivalData) -> NDArray[np.float64]:
    """The last time (n,) at which something is known of each row: of the event, of its upper bound, or of censoring."""
    return np.where(np.isfinite(data.upper), data.upper, data.lower)


def count_known_events(data: SurvivalData) -> int:
    """Number of rows whose event is known to have come, at a time or within bounds."""
    return int(np.isfinite(data.upper).sum())
