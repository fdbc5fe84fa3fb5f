"""What monitoring a model gives: its quality by period, drift of its columns, and alarms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, final

from aldsurv.display.frames import data_frame
from aldsurv.monitoring.column_drift import ColumnDrift
from aldsurv.monitoring.period_quality import PeriodQuality

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DRIFT", "RATIO", "SLOPE", "Alarm", "Monitoring"]

RATIO, SLOPE, DRIFT = "observed/expected", "calibration slope", "covariate drift"


@final
@dataclass(frozen=True)
class Alarm:
    """The first period in which a test found a change.

    Attributes
    ----------
    period
        After which there was enough evidence.
    test
        ``"observed/expected"``, ``"calibration slope"`` or ``"covariate drift"``.
    since
        The period at which most of the evidence begins.
    value, lower, upper
        Observed/expected or slope from `since` to `period`, with usual limits; of drift the stability index, without.
    evidence, limit
        The evidence, and the 1/α that it reached; of drift the p-value, and what it does not exceed.
    column
        The column that drifted; None for the other tests.
    """

    period: str
    test: str
    since: str
    value: float
    lower: float
    upper: float
    evidence: float
    limit: float
    column: str | None = None

    def describe(self) -> str:
        """A sentence about it, without its period."""
        if self.column is not None:
            return f"{self.column} differs from the reference: stability index {self.value:.2f}"
        limits = f" ({self.lower:.2f}–{self.upper:.2f})" if math.isfinite(self.lower + self.upper) else ""
        begin = "" if self.since == self.period else f" since {self.since}"
        value = f" {self.value:.2f}" if math.isfinite(self.value) else ""
        return f"{self.test}{value}{limits}{begin}"


@final
@dataclass(frozen=True)
class Monitoring:
    """A model in use, watched over calendar periods.

    Attributes
    ----------
    periods
        Its quality in each period, in order.
    drift
        Each column in each period.
    alarms
        The first alarm of each test, and of each column that drifted, in order of time.
    alpha, alphas
        Probability of any alarm while nothing has changed, and how it is divided among the tests.
    confidence
        Of the limits.
    reference
        What columns are compared with, in words.
    period_kind
        What a period is called: ``"month"``, ``"quarter"``, ``"year"`` or ``"period"``.
    cause
        The cause whose events count; None: the event, or the first of any cause.
    notes
        What a reader should know.
    """

    periods: tuple[PeriodQuality, ...]
    drift: tuple[ColumnDrift, ...]
    alarms: tuple[Alarm, ...]
    alpha: float
    alphas: Mapping[str, float]
    confidence: float
    reference: str
    period_kind: str = "period"
    cause: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows of all periods."""
        return sum(period.rows for period in self.periods)

    @property
    def events(self) -> float:
        """Events of all periods."""
        return sum(period.events for period in self.periods)

    @property
    def expected(self) -> float:
        """Expected events of all periods."""
        return sum(period.expected for period in self.periods)

    @property
    def main_alarm(self) -> Alarm | None:
        """The first alarm of calibration, or else of covariates; None if there is none."""
        return next((alarm for alarm in self.alarms if alarm.column is None), next(iter(self.alarms), None))

    @property
    def verdict(self) -> str:
        """One sentence: no alarm, or the main one, and how many more there are."""
        main, more = self.main_alarm, len(self.alarms) - 1
        if main is None:
            return f"No alarm in {len(self.periods)} {self.period_kind}s"
        others = f", and {more} more alarm{'s' * (more != 1)}" if more else ""
        return f"Alarm in {main.period}: {main.describe()}{others}"

    def to_frame(self) -> pd.DataFrame:
        """A row per period, as pandas has it."""
        names = [field.name for field in fields(PeriodQuality) if field.name not in ("period", "notes")]
        columns = {name: [getattr(period, name) for period in self.periods] for name in names}
        return data_frame(columns, index=[period.period for period in self.periods], length=len(self.periods))

    def drift_frame(self) -> pd.DataFrame:
        """A row per period and column, as pandas has it."""
        columns = {field.name: [getattr(each, field.name) for each in self.drift] for field in fields(ColumnDrift)}
        return data_frame(columns, index=None, length=len(self.drift))

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, text and numbers."""
        return {
            "verdict": self.verdict,
            "rows": self.rows,
            "events": self.events,
            "expected": self.expected,
            **asdict(self),
        }
