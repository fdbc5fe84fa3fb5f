"""The Aalen-Johansen estimate of the incidence of competing causes, with delayed entry and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.competing.cumulative_incidence import CumulativeIncidence
from aldsurv.errors import DataError, ParameterError
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["AalenJohansen", "aalen_johansen"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class AalenJohansen:
    """Incidence of each cause at the distinct times of events and censorings.

    At each time the incidence of cause k rises by ``S(t-)·d_k/n``, with S the Kaplan-Meier estimate for the event of
    any cause: the incidences add up to 1 - S. (One minus the Kaplan-Meier estimate with other causes as censorings is
    larger: it is the incidence in a world without the others.) The arrays are read-only.

    Parameters
    ----------
    times
        Distinct times (m,), ascending.
    at_risk
        Number at risk at each time, as sum of weights: those with ``entry < t <= time``.
    events
        Number of events of each cause at each time (causes, m).
    incidence
        Estimate for each cause at each time (causes, m), to be held until the next.
    survival
        Kaplan-Meier estimate for the event of any cause (m,).
    causes
        Names of the causes.

    Examples
    --------
    >>> curves = aalen_johansen(SurvivalData.competing([1, 2, 3, 4], [1, 2, 0, 1], names=["death", "relapse"]))
    >>> curves.incidence
    array([[0.25, 0.25, 0.25, 0.75],
           [0.  , 0.25, 0.25, 0.25]])
    >>> curves.incidence_at([0.5, 3.5], cause="death")
    array([0.  , 0.25])
    """

    times: FloatArray
    at_risk: FloatArray
    events: FloatArray
    incidence: FloatArray
    survival: FloatArray
    causes: tuple[str, ...]

    def __post_init__(self) -> None:
        for array in (self.times, self.at_risk, self.events, self.incidence, self.survival):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"AalenJohansen({self.times.size} times, causes={list(self.causes)})"

    @property
    def distribution(self) -> CumulativeIncidence:
        """The curves as the incidence of one individual; after the last time they are held."""
        positive = self.times > 0
        if not positive.all() and self.incidence[:, ~positive].any():
            raise DataError(
                "an event at time 0 cannot be in CumulativeIncidence, which is 0 there.",
                advice="Use incidence_at.",
            )
        return CumulativeIncidence(self.times[positive], self.incidence[:, positive], self.causes)

    def incidence_at(self, times: ArrayLike, cause: int | str | None = None) -> FloatArray:
        """Estimate at any times, of their shape, for one cause by number or name; for all with a leading axis."""
        requested = np.asarray(times, np.float64)
        if np.isnan(requested).any():
            raise ParameterError(
                f"times must be numbers, but {np.isnan(requested).sum()} of {requested.size} are NaN.", argument="times"
            )
        padded = np.concatenate([np.zeros((len(self.causes), 1)), self.incidence], axis=1)
        incidence: FloatArray = padded[:, np.searchsorted(self.times, requested, side="right")]
        return incidence if cause is None else incidence[cause_number(cause, self.causes) - 1]


def aalen_johansen(data: SurvivalData) -> AalenJohansen:
    """Aalen-Johansen estimate of the incidence of each cause, from exact and right-censored rows.

    Parameters
    ----------
    data
        Data with causes, made by `SurvivalData.competing`; without, the events are of one cause. Delayed entry and
        weights count as in `kaplan_meier`.
    """
    rows = SurvivalData.of(data)
    curve = kaplan_meier(rows)
    cause = rows.exact.astype(np.int64) if rows.cause is None else rows.cause
    names = ("1",) if rows.causes is None else rows.causes
    m = curve.times.size
    counted = rows.exact & (rows.weights > 0)
    place = (cause[counted] - 1) * m + np.searchsorted(curve.times, rows.time[counted])
    events = np.bincount(place, rows.weights[counted], len(names) * m).astype(np.float64).reshape(len(names), m)
    before = np.concatenate([[1.0], curve.survival[:-1]])
    at_risk = curve.at_risk
    share = np.divide(before, at_risk, out=np.zeros(m), where=at_risk > 0)
    return AalenJohansen(curve.times, at_risk.copy(), events, np.cumsum(share * events, axis=1), curve.survival, names)
