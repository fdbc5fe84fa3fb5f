"""What the training loop asks of a loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, device

__all__ = [
    "ClosedFormLikelihood",
    "ClosedFormObjective",
    "Device",
    "Guess",
    "IntArray",
    "LikelihoodObjective",
    "Objective",
    "row_shares",
    "weighted_mean",
]

# Of the network while training; of doubles while a start is looked for.
FloatArray = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.int64]
Device: TypeAlias = device | str
# Outputs from which a search begins, and how far each may be off.
Guess: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]

_LEAST_WEIGHT = np.float32(1e-30)
# Each evaluation stays far below a millisecond.
_START_ROWS = 4096


class Objective(ABC):
    """A loss together with what it needs to know of each row.

    Attributes
    ----------
    outputs
        How many numbers per row the network has to give.
    fields
        Tensors (n,) of what is known of each row; the loop hands their values for a batch to `losses`.
    start_steps
        Steps at most of the search for a start.
    level_nodes
        If the network is to take a level between 0 and 1 beside the inputs, at how many of them the validation rows
        are looked at; 0: there is no level. While training, each row has a fresh one in every step; it is the last
        of the fields that `losses` gets.
    """

    outputs: int
    fields: tuple[Tensor, ...]
    start_steps: ClassVar[int] = 15_000
    level_nodes: int = 0

    def guess(self, rows: IntArray) -> Guess:
        """Outputs (outputs,) from which to look for those that suit `rows` best, and how far each may be off."""
        return np.zeros(self.outputs), np.ones(self.outputs)

    def start_rows(self, rows: IntArray) -> IntArray:
        """So many of the rows as are enough to place a start."""
        return rows[:: -(-len(rows) // _START_ROWS)]

    def for_start(self) -> Objective:
        """The loss by which the best start without covariates is looked for: this one, or a quicker one near it."""
        return self

    @abstractmethod
    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        """Loss of each member (members,).

        Parameters
        ----------
        raw
            Network outputs (members, rows, outputs).
        fields
            Values (members, rows) of each of the objective's fields.
        weight
            Weight of each row (members, rows), or None when all count the same.
        """


class ClosedFormObjective(Objective):
    """A loss with slopes in closed form, which saves the automatic differentiation (``bench/closed_forms.py``)."""

    @abstractmethod
    def losses_and_slopes(
        self, raw: FloatArray, fields: Sequence[NDArray[Any]], weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """The same losses (members,) as `losses`, and their slopes by `raw`, on numpy."""

    def constant_losses_and_slopes(
        self, outputs: FloatArray, fields: Sequence[NDArray[Any]], weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Losses (members,) where all rows of a member have the same outputs (members, k), and slopes (members, k)."""
        every = np.broadcast_to(outputs[:, None], (*fields[0].shape, outputs.shape[1]))
        losses, slopes = self.losses_and_slopes(every, fields, weight)
        return losses, slopes.sum(axis=1, dtype=np.float64)


class LikelihoodObjective(Objective):
    """The mean negative log-likelihood of rows: what composes with others is the log-likelihood of each row."""

    @abstractmethod
    def log_likelihoods(self, raw: Tensor, fields: tuple[Tensor, ...]) -> Tensor:
        """Log-likelihood of each row (members, rows), in the user's unit of time."""

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        """The weighted mean of the negative log-likelihoods."""
        return weighted_mean(-self.log_likelihoods(raw, fields), weight)


class ClosedFormLikelihood(LikelihoodObjective, ClosedFormObjective):
    """The same with slopes in closed form."""

    @abstractmethod
    def log_likelihoods_and_slopes(
        self, raw: FloatArray, fields: Sequence[NDArray[Any]]
    ) -> tuple[FloatArray, FloatArray]:
        """What `log_likelihoods` gives, and its slopes (members, rows, outputs) by `raw`, on numpy."""

    def losses_and_slopes(
        self, raw: FloatArray, fields: Sequence[NDArray[Any]], weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """The weighted mean of the negative log-likelihoods, and its slopes."""
        # What overflows shows in the loss, which the training loop looks at.
        with np.errstate(all="ignore"):
            values, slopes = self.log_likelihoods_and_slopes(raw, fields)
        if weight is None:
            slopes *= -1 / values.shape[1]
            return (-values).mean(axis=1), slopes
        share = row_shares(values, weight)
        slopes *= -share[..., None]
        return (-values * share).sum(axis=1), slopes


def row_shares(values: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Share of each row (members, rows) in the mean of its member's values."""
    if weight is None:
        return np.full_like(values, 1 / values.shape[1])
    return np.asarray(weight / np.maximum(weight.sum(axis=1, keepdims=True), _LEAST_WEIGHT))


def weighted_mean(values: Tensor, weight: Tensor | None) -> Tensor:
    """Mean of each member's rows (members,); 0 where no row has any weight."""
    if weight is None:
        return values.mean(1)
    return (values * weight).sum(1) / weight.sum(1).clamp_min(1e-30)
