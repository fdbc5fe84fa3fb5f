"""Maximum likelihood with competing causes and with a share that never has the event, around any likelihood.

With probabilities π of the causes, an event of cause k has the likelihood ``π_k·f_k``, and a row without an event
``Σ π_k·S_k``, to which a cure adds its share. With hazards, the likelihood is the product over the causes of that of
the cause's own distribution, events of the others being censorings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.data.cause_checks import require_known_causes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.cause_outputs import CauseOutputs
from aldsurv.losses.likelihood.entry_rows import outcome_and_entry
from aldsurv.losses.objective import (
    ClosedFormLikelihood,
    Device,
    FloatArray,
    Guess,
    IntArray,
    LikelihoodObjective,
    Objective,
)

__all__ = ["cause_objective"]

_START_ROWS = 512
# How far logits may be off at the start, and the share that may never have an event there.
_LOGIT_REACH, _FIRST_CURE = 1.0, 0.2
MakePart = Callable[[SurvivalData], LikelihoodObjective]


def cause_objective(
    outputs: CauseOutputs, part: MakePart, data: SurvivalData, *, device: Device = "cpu"
) -> LikelihoodObjective:
    """Mean negative log-likelihood of rows with causes.

    Parameters
    ----------
    outputs
        What the network's outputs are.
    part
        Makes the likelihood of rows under the distribution of one cause, from the rows; all parts have the same
        number of outputs.
    data
        The rows; weights come with each batch. Without causes, events are of one.
    device
        Where the tensors live.
    """
    cause = data.exact.astype(np.int64) if data.cause is None else data.cause
    outcome, survived, entered = outcome_and_entry(data)
    if outputs.mixture:
        parts = [part(rows) for rows in (outcome, survived) if rows is not None]
    else:
        require_known_causes(data)
        parts = [part(data.of_cause(k + 1)) for k in range(outputs.causes)]
    closed = all(isinstance(one, ClosedFormLikelihood) for one in parts)
    columns = [torch.from_numpy(np.array(cause)).to(device)]
    if outputs.mixture:
        columns += [torch.from_numpy(np.array(column)).to(device) for column in (data.right_censored, entered)]
    kind = (_ClosedMixture if closed else _Mixture) if outputs.mixture else (_ClosedHazards if closed else _Hazards)
    return kind(outputs, parts, cause, data.lower, tuple(columns))


class _Causes(LikelihoodObjective):
    """What both kinds share: the parts, whose fields follow those of the causes, and the start."""

    def __init__(
        self,
        layout: CauseOutputs,
        parts: Sequence[LikelihoodObjective],
        cause: IntArray,
        order: NDArray[np.float64],
        columns: tuple[Tensor, ...],
    ) -> None:
        self.outputs = layout.outputs
        self._layout, self._parts, self._cause, self._order, self._own = layout, parts, cause, order, columns
        self.fields = (*columns, *(field for part in parts for field in part.fields))
        self._columns = [layout.columns(k) for k in range(layout.causes)]
        self.start_steps = parts[0].start_steps  # type: ignore[misc]

    def _fields_of(self, fields: Sequence[Any], number: int) -> tuple[Any, ...]:
        begin = len(self._own) + sum(len(part.fields) for part in self._parts[:number])
        return tuple(fields[begin : begin + len(self._parts[number].fields)])

    def for_start(self) -> Objective:
        parts = [part.for_start() for part in self._parts]
        likelihoods = [part for part in parts if isinstance(part, LikelihoodObjective)]
        return type(self)(self._layout, likelihoods, self._cause, self._order, self._own)

    def start_rows(self, rows: IntArray) -> IntArray:
        if len(rows) <= _START_ROWS:
            return rows
        ordered = rows[np.lexsort((self._order[rows], self._cause[rows]))]
        return np.asarray(ordered[np.linspace(0, len(rows) - 1, _START_ROWS).round().astype(np.intp)])

    def guess(self, rows: IntArray) -> Guess:
        layout = self._layout
        start, scale = np.zeros(self.outputs), np.full(self.outputs, _LOGIT_REACH)
        counts = np.bincount(self._cause[rows], minlength=layout.causes + 1)[1:] + 1.0
        for k, columns in enumerate(self._columns):
            own = rows[self._cause[rows] == k + 1]
            part = self._parts[0 if layout.mixture else k]
            start[columns], scale[columns] = part.guess(own if len(own) else rows)
        if layout.mixture:
            shares = counts / counts.sum() * (1 - _FIRST_CURE if layout.cure else 1)
            start[: layout.logits] = np.log(np.append(shares, _FIRST_CURE) if layout.cure else shares)
        return start, scale


class _Mixture(_Causes):
    """Causes with probabilities, by automatic differentiation."""

    def log_likelihoods(self, raw: Tensor, fields: tuple[Tensor, ...]) -> Tensor:
        cause, censored, entered = fields[: len(self._own)]
        log_share = torch.log_softmax(raw[..., : self._layout.logits], dim=-1)
        values = self._mixed(raw, log_share, fields, 0, cause, censored)
        if len(self._parts) > 1:
            before = self._mixed(raw, log_share, fields, 1, torch.zeros_like(cause), torch.ones_like(censored))
            values = values - torch.where(entered, before, torch.zeros_like(before))
        return values

    def _mixed(
        self, raw: Tensor, log_share: Tensor, fields: Any, number: int, cause: Tensor, censored: Tensor
    ) -> Tensor:
        """Log-likelihood of the mixture for the rows of one of the parts."""
        part, known = self._parts[number], self._fields_of(fields, number)
        terms = []
        for k, columns in enumerate(self._columns):
            own = part.log_likelihoods(raw[..., columns], known)
            possible = (cause == 0) | (cause == k + 1)
            # The branch not taken stays finite: torch differentiates both.
            term = log_share[..., k] + torch.where(possible, own, torch.zeros_like(own))
            terms.append(torch.where(possible, term, torch.full_like(term, -torch.inf)))
        if self._layout.cure:
            never = log_share[..., -1]
            terms.append(torch.where(censored, never, torch.full_like(never, -torch.inf)))
        return torch.logsumexp(torch.stack(terms), dim=0)


class _ClosedMixture(_Mixture, ClosedFormLikelihood):
    """The same with slopes in closed form."""

    _parts: Sequence[ClosedFormLikelihood]

    def log_likelihoods_and_slopes(self, raw: FloatArray, fields: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
        cause, censored, entered = fields[: len(self._own)]
        logits = raw[..., : self._layout.logits]
        log_share = logits - logits.max(axis=-1, keepdims=True)
        log_share = log_share - np.log(np.exp(log_share).sum(axis=-1, keepdims=True))
        values, slopes = self._mixed_with_slopes(raw, log_share, fields, 0, cause, censored)
        if len(self._parts) > 1:
            nothing = np.zeros_like(cause), np.ones_like(censored)
            before, before_slopes = self._mixed_with_slopes(raw, log_share, fields, 1, *nothing)
            values = values - np.where(entered, before, 0)
            slopes = slopes - np.where(entered[..., None], before_slopes, 0)
        return values, slopes

    def _mixed_with_slopes(
        self, raw: FloatArray, log_share: FloatArray, fields: Any, number: int, cause: Any, censored: Any
    ) -> tuple[FloatArray, FloatArray]:
        part, known = self._parts[number], self._fields_of(fields, number)
        terms, parts = [], []
        for k, columns in enumerate(self._columns):
            own, slopes = part.log_likelihoods_and_slopes(np.ascontiguousarray(raw[..., columns]), known)
            possible = (cause == 0) | (cause == k + 1)
            terms.append(np.where(possible, log_share[..., k] + own, -np.inf))
            parts.append(slopes)
        if self._layout.cure:
            terms.append(np.where(censored, log_share[..., -1], -np.inf))
        stacked = np.stack(terms)
        top = stacked.max(axis=0)
        relative = np.exp(stacked - top)
        total = relative.sum(axis=0)
        responsibility = relative / total
        found = np.empty(raw.shape, raw.dtype)
        found[..., : self._layout.logits] = np.moveaxis(responsibility, 0, -1) - np.exp(log_share)
        for k, (columns, slopes) in enumerate(zip(self._columns, parts, strict=True)):
            pull = responsibility[k][..., None]
            found[..., columns] = np.where(pull > 0, pull * slopes, 0)
        return (top + np.log(total)).astype(raw.dtype, copy=False), found


class _Hazards(_Causes):
    """Causes with hazards, by automatic differentiation."""

    def log_likelihoods(self, raw: Tensor, fields: tuple[Tensor, ...]) -> Tensor:
        parts = [
            part.log_likelihoods(raw[..., columns], self._fields_of(fields, k))
            for k, (part, columns) in enumerate(zip(self._parts, self._columns, strict=True))
        ]
        return torch.stack(parts).sum(dim=0)


class _ClosedHazards(_Hazards, ClosedFormLikelihood):
    """The same with slopes in closed form."""

    _parts: Sequence[ClosedFormLikelihood]

    def log_likelihoods_and_slopes(self, raw: FloatArray, fields: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
        total, found = np.zeros(raw.shape[:2], raw.dtype), np.empty(raw.shape, raw.dtype)
        for k, (part, columns) in enumerate(zip(self._parts, self._columns, strict=True)):
            values, slopes = part.log_likelihoods_and_slopes(
                np.ascontiguousarray(raw[..., columns]), self._fields_of(fields, k)
            )
            total += values
            found[..., columns] = slopes
        return total, found
