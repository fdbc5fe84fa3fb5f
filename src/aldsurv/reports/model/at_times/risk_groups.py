"""Groups of rows by predicted risk: the curve that was predicted for each, and the one that was observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CompetingDistribution, SurvivalDistribution
from aldsurv.errors import AldsurvError
from aldsurv.metrics.calibration.risk_groups import ObservedRisk, groups_by_risk, observed_risk
from aldsurv.metrics.cause_of_interest import event_of_interest
from aldsurv.metrics.checked_arguments import FloatArray, as_numbers
from aldsurv.nonparametric import GroupTest, aalen_johansen, gray_test, kaplan_meier, log_rank_test
from aldsurv.plots.group_curve_plot import GroupCurve
from aldsurv.plots.incidence_plots import mean_incidence
from aldsurv.reports.model.at_times.expected_curve import expected_survival
from aldsurv.reports.model.at_times.time_findings import prediction_of
from aldsurv.reports.model.evaluated_model import EvaluatedModel

__all__ = ["GroupRisk", "RiskGroups", "compute_risk_groups"]

_GRID = 101
# A quarter of fewer events has curves with wide bands.
_EVENTS_FOR_QUARTERS = 200
_NAMES = {2: ("low", "high"), 3: ("low", "middle", "high"), 4: ("lowest", "second", "third", "highest")}


@final
@dataclass(frozen=True, eq=False)
class GroupRisk:
    """A group of rows with like predicted risk.

    Attributes
    ----------
    name, rows, events
        Its name, and its number of rows and events.
    low, high
        Least and largest predicted risk of its rows at the horizon.
    predicted, observed
        Mean predicted and observed probability of the event by each time.
    curve
        Both over time.
    """

    name: str
    rows: int
    events: int
    low: float
    high: float
    predicted: tuple[float, ...]
    observed: tuple[ObservedRisk, ...]
    curve: GroupCurve


@final
@dataclass(frozen=True, eq=False)
class RiskGroups:
    """The groups by the risk of one event at a horizon, and the test of whether their curves differ.

    Attributes
    ----------
    cause
        Whose incidence is the risk; None: that of the first event.
    horizon, times
        When the risk is that of the groups, and when predicted and observed risks are compared.
    groups
        From the lowest to the highest risk.
    test
        The log-rank test; of a cause Gray's test. None if it has no value.
    """

    cause: str | None
    horizon: float
    times: tuple[float, ...]
    groups: tuple[GroupRisk, ...]
    test: GroupTest | None


def compute_risk_groups(
    evaluated: EvaluatedModel, times: Sequence[float], horizon: float, cause: str | None = None
) -> RiskGroups | None:
    """Cut the rows at quantiles of their predicted risk at the horizon; None if all have about the same risk."""
    counted = np.flatnonzero(evaluated.data.weights > 0)
    predicted, data = prediction_of(evaluated, cause)[counted], evaluated.data[counted]
    distribution, other = event_of_interest(predicted, data, cause)
    risk = as_numbers(distribution.cdf(horizon)).reshape(-1)
    event = data.event & ~other
    size = 4 if np.count_nonzero(event) >= _EVENTS_FOR_QUARTERS else 3
    number = np.unique(groups_by_risk(risk, data.weights, size), return_inverse=True)[1]
    if number.max(initial=0) < 1:
        return None
    names = _NAMES[int(number.max()) + 1]
    groups = tuple(
        _group(name, predicted, data, other, np.flatnonzero(number == place), risk, times, cause)
        for place, name in enumerate(names)
    )
    try:
        test = log_rank_test(data, number) if cause is None else gray_test(data, number, cause=cause)
    except AldsurvError:
        test = None
    return RiskGroups(cause, horizon, tuple(times), groups, test)


def _group(
    name: str,
    predicted: SurvivalDistribution | CompetingDistribution,
    data: SurvivalData,
    other: NDArray[np.bool_],
    rows: NDArray[np.intp],
    risk: FloatArray,
    times: Sequence[float],
    cause: str | None,
) -> GroupRisk:
    here, outcome, elsewhere = predicted[rows], data[rows], other[rows]
    estimate = kaplan_meier(outcome)
    last = float(estimate.times[-1])
    grid = np.linspace(0.0, last, _GRID)
    when = np.asarray(times, np.float64)
    if isinstance(here, CompetingDistribution):
        place = here.causes.index(str(cause))
        expected = mean_incidence(here, outcome.weights, np.append(grid, when))[place]
        curves = aalen_johansen(outcome)
        lower, upper = curves.band(0.95, "complementary", cause=cause)
        observed, at_times = curves.incidence_at(curves.times, cause), expected[grid.size :]
    else:
        expected = expected_survival(here, outcome, np.append(grid, when))
        lower, upper = estimate.band(0.95)
        observed, at_times = estimate.survival, 1 - expected[grid.size :]
    return GroupRisk(
        name,
        len(rows),
        int(np.count_nonzero(outcome.event & ~elsewhere)),
        float(risk[rows].min()),
        float(risk[rows].max()),
        tuple(at_times.tolist()),
        tuple(observed_risk(outcome, elsewhere, time) for time in when.tolist()),
        GroupCurve(name, estimate.times, observed, lower, upper, estimate, grid, expected[: grid.size]),
    )
