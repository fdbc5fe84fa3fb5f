"""Cox's partial likelihood with tied events, weights, delayed entry and strata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.data.survival_data import SurvivalData
from aldsurv.losses.cox_slopes import cox_losses_and_slopes
from aldsurv.losses.objective import ClosedFormObjective, Device, FloatArray, Objective

__all__ = ["cox_losses", "cox_objective"]

Ties = Literal["efron", "breslow"]
# In place of the logarithm of no weight: an infinity would make slopes of 0/0.
_NOTHING = -1e30
# Ranges of log risks up to which the closed form is exact enough; beyond, sums are made so that nothing is lost, which
# takes longer.
_WIDE, _WIDE_WITH_ENTRY = 600.0, 15.0


def cox_objective(
    data: SurvivalData, *, ties: Ties = "efron", strata: NDArray[Any] | None = None, device: Device = "cpu"
) -> Objective:
    """Negative log partial likelihood per event, of one network output per row: its log risk.

    Parameters
    ----------
    data
        Exact and right-censored rows, perhaps with delayed entry; weights come with each batch.
    ties
        ``"efron"`` or ``"breslow"``.
    strata
        Stratum of each row (n,), as numbers; risk sets are those of a stratum.
    device
        Where the tensors live.
    """
    event = torch.from_numpy(np.array(data.event)).to(device)
    # Only the order of times counts. Ranks keep it, and the ties, where float32 would make ties of its own.
    if strata is None and (data.entry is None or bool((data.entry < data.time.min()).all())):
        rank = np.unique(data.time, return_inverse=True)[1].astype(np.int32)
        return _Cox(ties, (torch.from_numpy(rank).to(device), event))
    codes = np.zeros(len(data), np.int64) if strata is None else strata
    ranks = _one_axis(_row(data.time), None if data.entry is None else _row(data.entry), _row(codes))
    return _Cox(ties, (ranks[0][0].int().to(device), event, ranks[1][0].int().to(device)))


@final
class _Cox(ClosedFormObjective):
    """Fields are the rank of time, the event and, where not all are at risk from the start, the rank of entry."""

    outputs = 1

    def __init__(self, ties: Ties, fields: tuple[Tensor, ...]) -> None:
        self._ties, self.fields = ties, fields

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        if raw.device.type != "cpu":
            entry = fields[2] if len(fields) > 2 else None
            return cox_losses(raw[..., 0], fields[0], fields[1], weight, entry=entry, ties=self._ties)
        found: Tensor = _ClosedForm.apply(raw, fields, weight, self._ties)  # type: ignore[no-untyped-call]
        return found

    def losses_and_slopes(
        self, raw: FloatArray, fields: Sequence[Any], weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        losses, slopes = _by_hand(raw, fields, weight, self._ties)
        return losses.astype(raw.dtype), slopes.astype(raw.dtype)


@final
class _ClosedForm(torch.autograd.Function):
    """The closed form for networks that torch differentiates: half the time of differentiating the loss as well."""

    @staticmethod
    def forward(ctx: Any, raw: Tensor, fields: Sequence[Tensor], weight: Tensor | None, ties: Ties) -> Tensor:
        columns = [field.numpy() for field in fields]
        losses, slopes = _by_hand(raw.detach().numpy(), columns, None if weight is None else weight.numpy(), ties)
        ctx.save_for_backward(torch.from_numpy(slopes).to(raw.dtype))
        return torch.from_numpy(losses).to(raw.dtype)

    @staticmethod
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor, None, None, None]:
        return outer[:, None, None] * ctx.saved_tensors[0], None, None, None


def _by_hand(
    raw: NDArray[Any], fields: Sequence[NDArray[Any]], weight: NDArray[Any] | None, ties: Ties
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Losses (members,) and their slopes (members, rows, 1), whatever the range of the risks."""
    risks, (time, event), entry = raw[..., 0], fields[:2], fields[2] if len(fields) > 2 else None
    if np.ptp(risks, axis=1).max() < (_WIDE if entry is None else _WIDE_WITH_ENTRY):
        losses, slopes = cox_losses_and_slopes(risks, time, event, weight, entry=entry, ties=ties)
        return losses, slopes[..., None]
    with torch.enable_grad():
        leaf = torch.from_numpy(risks.astype(np.float64)).requires_grad_()
        columns = [torch.from_numpy(np.array(field)) for field in fields]
        weights = None if weight is None else torch.from_numpy(weight.astype(np.float64))
        since = columns[2] if len(columns) > 2 else None
        found = cox_losses(leaf, columns[0], columns[1], weights, entry=since, ties=ties)
        (slope,) = torch.autograd.grad(found.sum(), leaf)
    return found.detach().numpy(), slope[..., None].numpy()


def cox_losses(
    log_risk: Tensor,
    time: Tensor,
    event: Tensor,
    weight: Tensor | None = None,
    *,
    entry: Tensor | None = None,
    strata: Tensor | None = None,
    ties: Ties = "efron",
) -> Tensor:
    """Negative log partial likelihood of each member, divided by the weight of its events; 0 where there are none.

    For an event at t with risk ``r`` it is ``log Σ exp(r_j) - r`` over the rows j at risk, those with
    ``entry < t <= time`` in the same stratum. With weights a row counts as so many, and m tied events by Efron's rule
    share their weight evenly among the sums without 0/m, 1/m, … of their own risk.

    In a mini-batch the risk sets are those of the batch. What is minimised is then the mean loss of random samples of
    that size: the best log risks are the same under proportional hazards, as in a nested case-control study, but a
    small risk set carries less information, about ``1 - 1/b`` of the whole for an event with b at risk, and an event
    whose risk set has shrunk to itself none. So larger batches are better as long as they leave enough steps;
    dividing by the events keeps the steps of any batch alike.

    Parameters
    ----------
    log_risk
        Logarithm of the risk of each row (members, rows).
    time, event
        Time of event or censoring, numbers whose order alone counts, and which it was; of the same shape.
    weight
        Weight of each row; one without is absent. None: all count the same.
    entry
        Delayed entry, in the numbers of `time`.
    strata
        Stratum of each row, as a number.
    ties
        ``"efron"`` or ``"breslow"``.
    """
    if strata is not None:
        time, entry = _one_axis(time, entry, strata)
    # From the last time to the first: all rows before a place are at risk there.
    order = torch.argsort(time, dim=1, descending=True, stable=True)
    time, event, risk = (values.gather(1, order) for values in (time, event, log_risk))
    if weight is None:
        share, weights = risk, torch.ones_like(risk)
    else:
        weights = weight.gather(1, order)
        present = weights > 0
        event = event & present
        share = torch.where(present, risk + torch.where(present, weights, 1.0).log(), _NOTHING)
    counted = weights * event
    backwards = -time
    last = torch.searchsorted(backwards, backwards, right=True) - 1
    if entry is None:
        at_risk = torch.logcumsumexp(share, 1).gather(1, last)
    else:
        at_risk = torch.maximum(_log_sums_at_risk(share, time, entry.gather(1, order)), share)
    # What is not summed must not be infinite either: its slope would be.
    at_risk = torch.where(event, at_risk, 0.0)
    tied = _group_sums(event.to(risk.dtype), last)
    if ties == "efron":
        own = _group_sums(torch.where(event, share - at_risk, _NOTHING).exp(), last)
        seen = torch.cumsum(event, 1)
        place = (seen - seen.gather(1, last)).to(risk.dtype) + tied - 1
        at_risk = at_risk + torch.where(event, torch.log1p(-place * own / tied.clamp_min(1.0)), 0.0)
        even = _group_sums(counted, last) / tied.clamp_min(1.0)
        rows = event * even * at_risk - counted * risk
    else:
        rows = counted * (at_risk - risk)
    return rows.sum(1) / counted.sum(1).clamp_min(1e-30)


def _group_sums(values: Tensor, last: Tensor) -> Tensor:
    """For each row the sum over the rows of its time, which have the same `last`."""
    return torch.zeros_like(values).scatter_add(1, last, values).gather(1, last)


def _row(column: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.array(column))[None]


def _one_axis(time: Tensor, entry: Tensor | None, strata: Tensor) -> tuple[Tensor, Tensor]:
    """Ranks of time and entry on an axis where the strata lie one behind the other.

    No row is at risk before the start of its stratum, so that strata are a kind of delayed entry.
    """
    start = torch.full_like(time, -torch.inf, dtype=torch.float64)
    values = torch.cat([time.double(), start if entry is None else entry.double()], 1)
    both = torch.cat([strata, strata], 1)
    order = torch.argsort(values, dim=1, stable=True)
    order = order.gather(1, torch.argsort(both.gather(1, order), dim=1, stable=True))
    values, both = values.gather(1, order), both.gather(1, order)
    rise = (values[:, 1:] != values[:, :-1]) | (both[:, 1:] != both[:, :-1])
    sorted_ranks = torch.nn.functional.pad(torch.cumsum(rise, 1), (1, 0))
    ranks = torch.empty_like(sorted_ranks).scatter_(1, order, sorted_ranks)
    n = time.shape[1]
    return ranks[:, :n], ranks[:, n:]


def _log_sums_at_risk(share: Tensor, time: Tensor, entry: Tensor) -> Tensor:
    """Logarithm of the sum of exp(share) over those at risk at the time of each row; times descend.

    Row j is at risk at a stretch of rows. Sums of what has entered less what has left would lose small risk sets to
    rounding: instead each stretch is cut into the few nodes of a tree of stretches that make it up.
    """
    backwards = -time
    low = torch.searchsorted(backwards, backwards)
    high = torch.searchsorted(backwards, -entry.to(time.dtype))
    largest = share.detach().amax(1, keepdim=True)
    values = (share - largest).exp()
    size = 1 << (time.shape[1] - 1).bit_length()
    levels = []
    while size:
        inside = low < high
        level = torch.zeros(len(values), size, dtype=values.dtype, device=values.device)
        for node, takes in ((low, inside & (low % 2 == 1)), (high - 1, inside & (high % 2 == 1))):
            level = level.scatter_add(1, node.clamp(0, size - 1), values * takes)
        levels.append(level)
        low, high, size = (low + 1) // 2, high // 2, size // 2
    sums = levels[-1]
    for level in reversed(levels[:-1]):
        sums = level + sums.repeat_interleave(2, 1)
    return sums[:, : time.shape[1]].clamp_min(torch.finfo(values.dtype).tiny).log() + largest
