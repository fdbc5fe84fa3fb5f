"""The partial likelihood and its slopes by the closed form, on numpy, while a network trains.

Two others stand beside it because it cannot replace them: `aldsurv.losses.cox_loss.cox_losses` takes log risks of any
range, on any device, at the price of logarithms of sums; `aldsurv.models.linear.partial_likelihood` has the second
derivatives by the coefficients of a linear model, which Newton's method needs.
"""

from __future__ import annotations

from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["cox_losses_and_slopes"]

Values = NDArray[np.float64]


def cox_losses_and_slopes(
    log_risk: NDArray[np.floating[Any]],
    time: NDArray[Any],
    event: NDArray[np.bool_],
    weight: NDArray[np.floating[Any]] | None = None,
    *,
    entry: NDArray[np.integer[Any]] | None = None,
    ties: Literal["efron", "breslow"] = "efron",
) -> tuple[Values, Values]:
    """What `cox_losses` gives (members,), and its slopes by `log_risk` (members, rows).

    The slope of a row is minus its martingale residual: expected events, ``exp(r)·H0(time)`` with the baseline hazard
    of the same batch, minus observed ones; by Efron's rule a tied event is not expected of those before it.

    The log risks of a member must lie within 600 of each other, so that their exponentials stay in float64. With
    `entry`, when `time` must be whole numbers from 0 on as well, a risk set is a difference of sums, which leaves of
    float64 what float32 needs if they lie within 15.
    """
    members, n = log_risk.shape
    order = np.argsort(time, axis=1, kind="stable")
    order += n * np.arange(members)[:, None]
    times, events, risk = time.ravel()[order], event.ravel()[order], log_risk.ravel()[order].astype(np.float64)
    largest = risk.max(axis=1, keepdims=True)
    share = np.exp(risk - largest)
    if weight is None:
        counted = events.astype(np.float64)
    else:
        weights = weight.ravel()[order].astype(np.float64)
        share *= weights
        counted = events * weights
        events = counted > 0
    # Sums of positive numbers, from the last time on: as exact as they are small.
    at_risk = np.cumsum(share[:, ::-1], axis=1)[:, ::-1]
    first = np.ones((members, n), np.bool_)
    np.not_equal(times[:, 1:], times[:, :-1], out=first[:, 1:])
    tied = not first.all()
    if tied:
        starts, group = np.flatnonzero(first), np.cumsum(first).reshape(first.shape) - 1
        at_risk = at_risk.ravel()[starts][group]
    if entry is not None:
        delays = _Delays(times, entry.ravel()[order])
        # An event is in its own risk set, whatever rounding leaves of the difference.
        at_risk = np.maximum(at_risk - delays.not_entered(share), share)
    rises = counted
    if tied and ties == "efron":
        rises, at_risk, gone = _one_after_the_other(events, counted, share, at_risk, starts, group)
    # A row without weight behind all others has an empty risk set, and the hazard does not rise there.
    at_risk = np.where(at_risk > 0, at_risk, 1.0)
    steps = rises / at_risk
    hazard = np.cumsum(steps, axis=1)
    before = None if entry is None else delays.at_entry(hazard)
    if tied:
        # All events of a row's time belong to its hazard.
        hazard = hazard.ravel()[np.append(starts[1:], members * n) - 1][group]
        if ties == "efron":
            hazard -= events * np.bincount(group.ravel(), (steps * gone).ravel())[group]
    if before is not None:
        hazard -= before
    total = np.maximum(counted.sum(axis=1, keepdims=True), 1e-30)
    losses = (rises * np.log(at_risk) - counted * (risk - largest)).sum(axis=1) / total[:, 0]
    slopes = np.empty(members * n)
    slopes[order] = (share * hazard - counted) / total
    return losses, slopes.reshape(members, n)


@final
class _Delays:
    """Delayed entry of rows (members, n) whose times ascend, both whole numbers."""

    def __init__(self, times: NDArray[Any], entry: NDArray[Any]) -> None:
        members, n = times.shape
        self._member = np.arange(members)[:, None]
        # One axis for all members, one behind the other, so that one search does for all.
        width = int(max(times.max(), entry.max())) + 1
        flat_times, flat_entry = (values.astype(np.int64) + width * self._member for values in (times, entry))
        self._by_entry = np.argsort(flat_entry, axis=1, kind="stable") + n * self._member
        sorted_entry = flat_entry.ravel()[self._by_entry]
        self._later = np.searchsorted(sorted_entry.ravel(), flat_times)
        self._passed = np.searchsorted(flat_times.ravel(), flat_entry, side="right")

    def not_entered(self, share: Values) -> Values:
        """Sum of the shares of those who enter at the time of each row or later."""
        sums = np.cumsum(share.ravel()[self._by_entry][:, ::-1], axis=1)[:, ::-1]
        # One zero behind the sums of each member, where no row enters later.
        padded = np.pad(sums, ((0, 0), (0, 1)))
        return np.asarray(padded.ravel()[self._later + self._member])

    def at_entry(self, hazard: Values) -> Values:
        """The hazard that had accumulated when each row entered."""
        padded = np.pad(hazard, ((0, 0), (1, 0)))
        return np.asarray(padded.ravel()[self._passed + self._member])


def _one_after_the_other(
    events: NDArray[np.bool_],
    counted: Values,
    share: Values,
    at_risk: Values,
    starts: NDArray[np.intp],
    group: NDArray[np.intp],
) -> tuple[Values, Values, Values]:
    """Efron's rule: each event's even part of the tied weight, the risk left, and what part of the tied is gone."""
    columns = (events.astype(np.float64), counted, events * share)
    tied, weight, own = (np.add.reduceat(column.ravel(), starts) for column in columns)
    seen = np.cumsum(events).reshape(events.shape)
    before = np.append(0, np.cumsum(tied))[:-1]
    some = np.maximum(tied, 1.0)
    gone = events * (seen - 1 - before[group]) / some[group]
    return events * (weight / some)[group], at_risk - gone * own[group], gone
