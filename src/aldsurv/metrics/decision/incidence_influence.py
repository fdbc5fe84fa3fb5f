"""The probability of an event by a time from censored rows, and what each row contributes to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.metrics.checked_arguments import FloatArray

__all__ = ["CENSORED", "OF_INTEREST", "OF_OTHER", "IncidenceInfluence", "incidence_influence"]

# What ended the observation of a row.
CENSORED, OF_INTEREST, OF_OTHER = 0, 1, 2


class IncidenceInfluence(NamedTuple):
    """Estimated probability of the event by a time, and its derivative by the weight of each row (n,)."""

    incidence: float
    influence: FloatArray


def incidence_influence(
    time: FloatArray, ended_by: NDArray[np.int64], weights: FloatArray, until: float
) -> IncidenceInfluence | None:
    """The Aalen-Johansen estimate (without other causes one less Kaplan-Meier's) and its derivatives.

    The incidence is ``F = Σ_u S(u-)·d(u)/n(u)``. One more row at risk at u changes S from there on by the factor
    ``1/(n - e) - 1/n``, with e the events of any cause, and the share d/n by ``-d/n²``; one more event changes them by
    ``-1/n`` and ``1/n - d/n²``. Squares of these derivatives add up to the variance of F (the infinitesimal
    jackknife), which for Kaplan-Meier is Greenwood's.

    Parameters
    ----------
    time
        Times (n,), ascending.
    ended_by
        `CENSORED`, `OF_INTEREST` or `OF_OTHER` for each row.
    weights
        Positive; numbers of rows.
    until
        The time by which the event is to come.

    Returns
    -------
    IncidenceInfluence or None
        None if the last row is censored before `until`.
    """
    starts = np.flatnonzero(np.concatenate([[True], time[1:] != time[:-1]]))
    place = np.repeat(np.arange(starts.size), np.diff(np.append(starts, time.size)))
    own, other, censored = (
        np.add.reduceat(np.where(ended_by == kind, weights, 0.0), starts) for kind in (OF_INTEREST, OF_OTHER, CENSORED)
    )
    if time[-1] < until and censored[-1] > 0:
        return None
    # Summed from the end, so that no one is left exactly when the last have had the event.
    total = own + other + censored
    after = np.append(np.cumsum(total[::-1])[::-1][1:], 0.0)
    survivors = after + censored
    at_risk = survivors + own + other
    before = np.concatenate([[1.0], np.cumprod(survivors / at_risk)[:-1]])
    counted = time[starts] <= until
    rise = np.where(counted, before * own / at_risk, 0.0)
    incidence = np.cumsum(rise)
    # Where all at risk have the event, no incidence rises afterwards: what they did to survival has no effect.
    gone = np.divide(1.0, survivors, out=np.zeros(survivors.shape), where=survivors > 0)
    stays = np.where(gone > 0, gone - 1 / at_risk, 0.0)
    survival_change = np.cumsum(stays)
    while_at_risk = np.cumsum(rise * (survival_change - stays - 1 / at_risk))
    at_event = np.where(counted, before / at_risk, 0.0)
    influence = while_at_risk[place] + np.where(ended_by == OF_INTEREST, at_event[place], 0.0)
    later = survival_change[place] - np.where(ended_by != CENSORED, gone[place], 0.0)
    influence += later * (incidence[-1] - incidence[place])
    return IncidenceInfluence(float(incidence[-1]), influence)
