"""Rows, events and follow-up of a set of rows, as a table of participants has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.nonparametric import KaplanMeier
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.plots.drawing.axes_text import collected_warnings
from aldsurv.reports.model.row_kind import RowKind, known_times

__all__ = ["OutcomeSummary", "median_follow_up"]


@final
@dataclass(frozen=True)
class OutcomeSummary:
    """What is known of the outcomes of some rows.

    Attributes
    ----------
    rows, episodes
        Number of rows, or of persons, and of their episodes if there are any.
    events, censored, bounded, delayed
        Number of observed events, of right-censored rows, of those known only within bounds, and of delayed entries.
        None where it is not known.
    causes
        Number of events of each cause.
    follow_up
        Median follow-up by the reverse Kaplan-Meier estimate; NaN if half of the rows were not followed so long, None
        if it is not known.
    first, last
        Range of the observed times.
    """

    rows: int
    events: int
    first: float
    last: float
    censored: int | None = None
    bounded: int | None = None
    delayed: int | None = None
    episodes: int | None = None
    causes: tuple[tuple[str, int], ...] = ()
    follow_up: float | None = None

    @classmethod
    def of(cls, data: SurvivalData) -> OutcomeSummary:
        """Of rows, or of episodes of persons."""
        episodes = None if data.person is None else len(data)
        data = data.persons()
        kind, times = RowKind.of(data), known_times(data)
        causes = tuple((name, data.of_cause(name).n_events) for name in data.causes or ())
        return cls(
            len(data),
            data.n_events,
            float(times.min()),
            float(times.max()),
            int(np.count_nonzero(data.right_censored)),
            kind.bounded,
            kind.delayed,
            episodes,
            causes,
            median_follow_up(data) if kind.has_times else None,
        )

    @classmethod
    def of_training(cls, trained_on: TrainedOn) -> OutcomeSummary:
        """Of what a model file has of its training rows."""
        persons = trained_on.persons
        return cls(
            trained_on.rows if persons is None else persons,
            trained_on.events,
            trained_on.first_time,
            trained_on.last_time,
            episodes=None if persons is None else trained_on.rows,
        )


def median_follow_up(data: SurvivalData) -> float:
    """The median of the censoring time by Kaplan-Meier, events being its censorings; NaN if it is not reached."""
    # With delayed entry the estimate may fall to 0 early, which the page need not say.
    with collected_warnings():
        curve: KaplanMeier = censoring_distribution(data)
    reached = np.flatnonzero(curve.survival <= 0.5)
    return float(curve.times[reached[0]]) if reached.size else float("nan")
