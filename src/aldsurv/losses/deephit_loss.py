"""DeepHit's loss: the likelihood of a discrete distribution over causes and bins of time, and a ranking of pairs.

The outputs of a row are logits of ``causes * bins`` probabilities; a further logit of 0 stands for *after the last
bin*, so that no row has to have an event within the grid. With F(k, b) the probability of cause k by the end of bin b::

    likelihood   log p(cause, bin) of an event,  log S of a censored row
    ranking      mean over all pairs (i, j) of  1(i has an event, j is at risk after its bin) · exp((F_j - F_i)/σ)

where F is that of the cause of i at the end of its bin (Lee, Zame, Yoon & van der Schaar, 2018; at ties as in pycox).
The exponential is a product of a factor of i and one of j: one sum over the rows at risk for each cause and bin holds
all pairs, and neither time nor memory grows with the square of the rows.

Where a row is in time is one number, its ``place``: the bin of an event, or how many bins a censored row has passed,
2.25 if it left a quarter into the third. In either case a row is at risk after bin b if its place is at least b + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.losses.deephit_slopes import deephit_losses, deephit_losses_and_slopes
from aldsurv.losses.objective import ClosedFormObjective, Device, FloatArray, Guess, IntArray, Objective

__all__ = ["deephit_log_likelihood", "deephit_loss", "deephit_objective", "deephit_ranking"]


def deephit_log_likelihood(
    raw: Tensor, place: Tensor, cause: Tensor, entered: Tensor | None = None, *, causes: int = 1
) -> Tensor:
    """Log-likelihood of each row (members, rows).

    Parameters
    ----------
    raw
        Logits (members, rows, causes * bins), cause by cause.
    place
        Bin of an event, or number of bins that a censored row has passed (members, rows).
    cause
        0 for a censored row, else its cause, from 1 on.
    entered
        Bins passed at delayed entry: condition on survival to there; 0 for no condition.
    causes
        Number of causes.
    """
    bins = raw.shape[-1] // causes
    whole = torch.logsumexp(_with_after(raw), -1)
    own = ((cause - 1).clamp_min(0) * bins + place.floor().clamp_max(bins - 1).long()).unsqueeze(-1)
    event = cause > 0
    # The branch not taken stays finite: a row with an event is asked for the probability of all times.
    later = _log_tail(raw, torch.where(event, torch.zeros_like(place), place), causes)
    found = torch.where(event, raw.gather(-1, own).squeeze(-1), later) - whole
    return found if entered is None else found - _log_tail(raw, entered, causes) + whole


def deephit_ranking(
    raw: Tensor,
    place: Tensor,
    cause: Tensor,
    weight: Tensor | None = None,
    entered: Tensor | None = None,
    *,
    causes: int = 1,
    sigma: float = 0.1,
) -> Tensor:
    """Ranking loss of each member (members,): the mean over all pairs, weighted by the product of their weights.

    The parameters are those of `deephit_log_likelihood`. With delayed entry a row is ranked against events after it
    entered.
    """
    members, rows, outputs = raw.shape
    bins = outputs // causes
    incidence = torch.softmax(_with_after(raw), -1)[..., :-1].view(members, rows, causes, bins).cumsum(-1)
    weight = torch.ones_like(incidence[:, :, 0, 0]) if weight is None else weight
    ends = torch.arange(bins, device=raw.device) + 1
    at_risk = place.unsqueeze(-1) >= ends
    if entered is not None:
        at_risk = at_risk & (entered.unsqueeze(-1) < ends)
    # Centred, so that neither factor overflows where their product does not.
    grown = torch.exp((incidence - 0.5) / sigma) * (at_risk * weight.unsqueeze(-1)).unsqueeze(2)
    others = grown.sum(1).flatten(1)
    event = cause > 0
    own = torch.where(event, (cause - 1) * bins + place.floor().clamp_max(bins - 1).long(), torch.zeros_like(cause))
    reached = incidence.flatten(2).gather(-1, own.unsqueeze(-1)).squeeze(-1)
    pairs = weight * torch.exp((0.5 - reached) / sigma) * others.gather(1, own) * event
    return pairs.sum(1) / weight.sum(1).clamp_min(1e-30) ** 2


def deephit_loss(
    raw: Tensor,
    place: Tensor,
    cause: Tensor,
    weight: Tensor | None = None,
    entered: Tensor | None = None,
    *,
    causes: int = 1,
    alpha: float = 0.2,
    sigma: float = 0.1,
) -> Tensor:
    """``alpha * (mean negative log-likelihood) + (1 - alpha) * ranking`` of each member (members,).

    On the CPU value and gradient come from one pass in numpy; elsewhere by automatic differentiation.
    """
    if raw.device.type == "cpu":
        found: Tensor = _OnePass.apply(raw, place, cause, weight, entered, (causes, alpha, sigma))  # type: ignore[no-untyped-call]
        return found
    rows = deephit_log_likelihood(raw, place, cause, entered, causes=causes)
    mean = rows.mean(1) if weight is None else (rows * weight).sum(1) / weight.sum(1).clamp_min(1e-30)
    ranking = deephit_ranking(raw, place, cause, weight, entered, causes=causes, sigma=sigma)
    return (1 - alpha) * ranking - alpha * mean


class _OnePass(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: Tensor, *rest: Any) -> Tensor:
        *known, (causes, alpha, sigma) = rest
        arrays: list[Any] = [None if tensor is None else tensor.numpy() for tensor in known]
        with np.errstate(all="ignore"):
            if not ctx.needs_input_grad[0]:
                losses = deephit_losses(raw.numpy(), *arrays, causes=causes, alpha=alpha, sigma=sigma)
                return torch.from_numpy(losses)
            losses, slopes = deephit_losses_and_slopes(
                raw.detach().numpy(), *arrays, causes=causes, alpha=alpha, sigma=sigma
            )
        ctx.save_for_backward(torch.from_numpy(slopes))
        return torch.from_numpy(losses)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        (slopes,) = ctx.saved_tensors
        return slopes * outer[0][:, None, None], None, None, None, None, None


def deephit_objective(
    place: NDArray[np.float64],
    cause: NDArray[np.int64],
    entered: NDArray[np.float64] | None = None,
    *,
    bins: int,
    causes: int = 1,
    alpha: float = 0.2,
    sigma: float = 0.1,
    start: Callable[[NDArray[np.int64]], NDArray[np.float64]] | None = None,
    device: Device = "cpu",
) -> Objective:
    """DeepHit's loss of rows whose places in the grid are known.

    Parameters
    ----------
    place, cause, entered
        Of each row (n,), as in `deephit_log_likelihood`; `entered` is None if all were observed from the start.
    bins, causes
        Numbers of bins and of causes.
    alpha, sigma
        Share of the likelihood in the loss, and the scale of differences in the ranking.
    start
        Gives for row numbers the probabilities (causes, bins) that suit them best without covariates.
    device
        Where the tensors live.
    """
    columns = [torch.from_numpy(np.array(place, np.float32)), torch.from_numpy(np.array(cause, np.int64))]
    if entered is not None:
        columns.append(torch.from_numpy(np.array(entered, np.float32)))
    fields = tuple(column.to(device) for column in columns)
    return _DeepHit(fields, causes * bins, start, causes=causes, alpha=alpha, sigma=sigma)


@final
class _DeepHit(ClosedFormObjective):
    def __init__(self, fields: tuple[Tensor, ...], outputs: int, start: Any, **constants: Any) -> None:
        self.fields, self.outputs = fields, outputs
        self._start, self._constants = start, constants

    def guess(self, rows: IntArray) -> Guess:
        if self._start is None:
            return super().guess(rows)
        chances = self._start(rows).reshape(-1)
        # Without covariates the best probabilities are known: there is nothing to search for.
        return np.log(chances) - np.log(1 - chances.sum()), np.full(self.outputs, 1e-3)

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        place, cause, *entered = fields
        return deephit_loss(raw, place, cause, weight, *entered, **self._constants)

    def losses_and_slopes(
        self, raw: FloatArray, fields: Sequence[NDArray[Any]], weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        place, cause, *entered = fields
        return deephit_losses_and_slopes(raw, place, cause, weight, *entered, **self._constants)


def _with_after(raw: Tensor) -> Tensor:
    """Logits with that of *after the last bin*."""
    return torch.cat([raw, torch.zeros_like(raw[..., :1])], -1)


def _log_tail(raw: Tensor, passed: Tensor, causes: int) -> Tensor:
    """Logarithm of the sum of exponentials of all bins after those passed, whatever the cause."""
    bins = raw.shape[-1] // causes
    number = torch.arange(bins, device=raw.device) + 1
    share = (number - passed.unsqueeze(-1)).clamp(0, 1).repeat(1, 1, causes)
    left = torch.where(share > 0, raw + torch.where(share > 0, share, torch.ones_like(share)).log(), -torch.inf)
    return torch.logsumexp(_with_after(left), -1)
