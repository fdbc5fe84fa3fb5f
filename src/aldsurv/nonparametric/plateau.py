"""Whether follow-up was long enough to estimate a share without event: the level tail of the Kaplan-Meier estimate."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import CureWarning, DataError
from aldsurv.nonparametric.kaplan_meier import kaplan_meier
from aldsurv.plain_numbers import plain_number

__all__ = ["FollowUpTest", "follow_up_test", "warn_of_short_follow_up"]


class FollowUpTest(NamedTuple):
    """Whether the tail of the Kaplan-Meier estimate is long enough to be a plateau.

    Attributes
    ----------
    plateau
        Survival at the last time: the estimate of the share without event, if follow-up is sufficient.
    last_event, last_time
        The last event, and the last time of any row.
    events_before
        Number of events before the last one, within as long before it as the tail is after it.
    p
        Of the test that the hazard is no lower in the tail than before it, so that follow-up is too short.
    maller_zhou
        Maller & Zhou's ``(1 - N/n)^n``, N those events and the last one: without regard to how few are left at risk.
    """

    plateau: float
    last_event: float
    last_time: float
    events_before: int
    p: float
    maller_zhou: float

    @property
    def sufficient(self) -> bool:
        """Whether p is below 0.05."""
        return self.p < 0.05


def follow_up_test(data: SurvivalData) -> FollowUpTest:
    """Whether follow-up is sufficient to see a plateau, from the stretches before and after the last event.

    If some never have the event and follow-up is long enough, the last event comes long before the last time. After it
    is a tail without events; before it a stretch as long (at most from time 0), as compared by Maller & Zhou (1994).
    Were the hazard the same in both, then of n events other than the last all would fall into the earlier one with
    probability ``(A/(A + B))^n``, A and B the times that rows spent at risk in each. Under a constant hazard p is
    below a level with no more than that probability. Where the last row has the event, there is no tail and p is 1.

    Parameters
    ----------
    data
        The rows; those of weight 0 count as absent, and left- or interval-censored ones as events at their upper bound.

    Examples
    --------
    >>> time = np.append(np.linspace(0.1, 3, 60), np.full(40, 10.0))
    >>> result = follow_up_test(SurvivalData.right(time, time < 10))
    >>> result.plateau, result.sufficient
    (0.4, True)
    """
    rows = SurvivalData.of(data)
    rows = rows[rows.weights > 0]
    event = np.isfinite(rows.upper)
    if not event.any():
        raise DataError("a test of follow-up needs at least one event, but there is none", argument="data")
    time = np.where(event, rows.upper, rows.lower)
    last_event, last_time = float(time[event].max()), float(time.max())
    begin = max(2 * last_event - last_time, 0.0)
    near = int(np.count_nonzero(event & (time > begin)))
    entry = np.zeros(len(rows)) if rows.entry is None else np.maximum(rows.entry, 0.0)

    def exposure(start: float, stop: float) -> float:
        return float(np.maximum(np.minimum(time, stop) - np.maximum(entry, start), 0.0).sum())

    before, after = exposure(begin, last_event), exposure(last_event, last_time)
    p = (before / (before + after)) ** (near - 1) if after > 0 else 1.0
    maller_zhou = (1 - near / len(rows)) ** len(rows) if last_time > last_event else 1.0
    curve = kaplan_meier(SurvivalData.right(np.maximum(time, 0.0), event, weight=rows.weight))
    return FollowUpTest(float(curve.survival[-1]), last_event, last_time, near - 1, p, maller_zhou)


def warn_of_short_follow_up(data: SurvivalData, owner: str, *, stacklevel: int) -> FollowUpTest:
    """The result of `follow_up_test`, with a `CureWarning` unless follow-up is sufficient.

    Parameters
    ----------
    data
        The rows that a model with a cure learns from.
    owner
        The name of the model.
    stacklevel
        Of the warning, so that it is about the line that called ``fit``.
    """
    result = follow_up_test(data)
    if not result.sufficient:
        tail = result.last_time - result.last_event
        warnings.warn(
            f"follow-up may be too short for {owner} to estimate a share without event: the last event is at "
            f"{plain_number(result.last_event)} and the last row ends at {plain_number(result.last_time)}, "
            f"{_tail_text(tail, result)}. What is beyond follow-up rests on the shape of the distribution.",
            CureWarning,
            stacklevel=stacklevel,
        )
    return result


def _tail_text(tail: float, result: FollowUpTest) -> str:
    if tail <= 0:
        return "so that survival has no level tail"
    return f"and {result.events_before} more events fall in a stretch as long before it (p = {result.p:.2g})"
