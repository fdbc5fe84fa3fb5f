"""What the training loop asks of the rows that it learns from, wherever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Batch", "TrainingRows"]


class Batch(NamedTuple):
    """A batch of every member; the first axes are (members, rows)."""

    x: Tensor
    fields: tuple[Tensor, ...]
    weight: Tensor | None
    keep: Tensor | None
    level: Tensor | None = None


class TrainingRows(ABC):
    """Rows that members learn from, batch by batch: in memory as `RowSource` has them, or read from files.

    The loop learns in an epoch from ``ceil(most_rows / size)`` batches. Batch ``k`` has of each member the rows ``k ·
    size`` to ``(k + 1) · size`` in the order of this epoch, in places ``0`` onwards; a member that has no more rows has
    others there, of weight 0. What is in a batch depends on the seeds and the epoch alone, so that an epoch after a
    resume is the epoch that it would have been.
    """

    @property
    @abstractmethod
    def counts(self) -> Sequence[int]:
        """Rows of each member."""

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Where the batches are."""

    @property
    def most_rows(self) -> int:
        """Rows of the member that has most."""
        return max(self.counts)

    @abstractmethod
    def batches(
        self, seeds: Sequence[int], epoch: int, size: int, units: int, dropout: float, *, levels: bool = False
    ) -> Iterator[Batch]:
        """The batches of an epoch.

        Parameters
        ----------
        seeds, epoch
            What decides order and dropout.
        size
            Rows of a batch; the last may have fewer.
        units, dropout
            Units that dropout may drop, and with what probability.
        levels
            Whether each row gets a random number between 0 and 1.
        """

    @abstractmethod
    def of_members(self, members: NDArray[np.int64]) -> TrainingRows:
        """The rows of some of the members, by their numbers."""

    @abstractmethod
    def largest_input(self) -> float:
        """The largest absolute value of an input, for a message; 0 where inputs are no such numbers."""
