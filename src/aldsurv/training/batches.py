"""Rows of all members in batches, gathered many batches at a time.

Gathering and drawing dropout for several batches in one call costs little more than for one; the size of such a
chunk depends on the batch alone, never on how many members there are, so that each draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.training.randomness import Purpose, dropout_bits, generator_for, shuffled
from aldsurv.training.training_rows import Batch, TrainingRows

__all__ = ["Batch", "RowSource"]

# Values held for one member and chunk.
_CHUNK = 2**18


@final
@dataclass(frozen=True)
class RowSource(TrainingRows):
    """Rows in memory: what is known of all of them, and which rows each member has.

    Attributes
    ----------
    x
        Inputs (n, ...) of all rows of all members.
    fields
        What the objective knows of each row, (n,) each.
    weight
        Weight of each row (n,), or None.
    rows
        Row numbers of each member.
    dtype
        Precision of what is handed out; what is whole numbers or bools stays so.
    """

    x: Tensor
    fields: tuple[Tensor, ...]
    weight: Tensor | None
    rows: Sequence[NDArray[np.int64]]
    dtype: torch.dtype = torch.float32

    @property
    def counts(self) -> Sequence[int]:
        """Rows of each member."""
        return [len(own) for own in self.rows]

    @property
    def device(self) -> torch.device:
        """Where the rows are."""
        return self.x.device

    def of_members(self, members: NDArray[np.int64]) -> RowSource:
        """The rows of some of the members, by their numbers."""
        return replace(self, rows=[self.rows[k] for k in members])

    def largest_input(self) -> float:
        """The largest absolute value of an input; 0 where inputs are whole numbers, or there are none."""
        return float(self.x.abs().max()) if self.x.is_floating_point() and self.x.numel() else 0.0

    def batches(
        self, seeds: Sequence[int], epoch: int, size: int, units: int, dropout: float, *, levels: bool = False
    ) -> Iterator[Batch]:
        """The batches of an epoch, as `TrainingRows` says."""
        order = shuffled(self.rows, seeds, epoch)
        dropped = [generator_for(seed, Purpose.DROPOUT, epoch) for seed in seeds]
        drawn = [generator_for(seed, Purpose.LEVEL, epoch) for seed in seeds] if levels else None
        return self.ordered_batches(order, dropped, drawn, size, units, dropout)

    def ordered_batches(
        self,
        order: NDArray[np.int64],
        dropped: Sequence[np.random.Generator],
        drawn: Sequence[np.random.Generator] | None,
        size: int,
        units: int,
        dropout: float,
    ) -> Iterator[Batch]:
        """Batches of the rows in `order` (members, rows), in which -1 is no row.

        Parameters
        ----------
        order
            Row numbers of each member.
        dropped, drawn
            Of each member what draws its dropout, and its levels if it gets some.
        size, units, dropout
            As for `batches`.
        """
        per_row = max(int(np.prod(self.x.shape[1:])), units, 1)
        whole = max(1, _CHUNK // (size * per_row)) * size
        n = order.shape[1]
        all_levels = None if drawn is None else self._drawn_levels(drawn, n)
        full = n - n % size
        starts = [(start, min(start + whole, full)) for start in range(0, full, whole)]
        if full < n:
            starts.append((full, n))
        for start, stop in starts:
            rows = min(size, stop - start)
            chosen = order[:, start:stop].reshape(len(order), -1, rows).swapaxes(0, 1)
            keep = self._keep_factors(dropped, chosen.shape, units, dropout) if dropout > 0 else None
            level = None if all_levels is None else all_levels[:, start:stop].view(len(order), -1, rows)
            yield from self._chunk(chosen, keep, level)

    def _chunk(self, chosen: NDArray[np.int64], keep: Tensor | None, level: Tensor | None) -> Iterator[Batch]:
        """Batches of the rows in `chosen` (batches, members, rows)."""
        fields, weight = self.known(chosen)
        nothing = [None] * len(chosen)
        # One call for all batches where indices would need one for each of them.
        yield from map(
            Batch,
            self.inputs(chosen).unbind(),
            zip(*(field.unbind() for field in fields), strict=True) if fields else [()] * len(chosen),
            nothing if weight is None else weight.unbind(),
            nothing if keep is None else keep.unbind(1),
            nothing if level is None else level.unbind(1),
        )

    def in_order(self) -> NDArray[np.int64]:
        """Rows of all members (members, most rows) as they are; -1 where a member has no more."""
        order = np.full((len(self.rows), self.most_rows), -1, np.int64)
        for k, own in enumerate(self.rows):
            order[k, : len(own)] = own
        return order

    def inputs(self, chosen: NDArray[np.int64]) -> Tensor:
        """Inputs of the rows in `chosen`, in its shape; any where that is -1."""
        return self._picked(self.x, self._index(chosen), chosen.shape)

    def known(self, chosen: NDArray[np.int64]) -> tuple[tuple[Tensor, ...], Tensor | None]:
        """Fields and weights of the rows in `chosen`, in its shape; -1 is a row without weight."""
        index = self._index(chosen)
        weight = None if self.weight is None else self._picked(self.weight, index, chosen.shape)
        absent = chosen < 0
        if absent.any():
            present = torch.from_numpy(~absent).to(self.x.device, self.dtype)
            weight = present if weight is None else weight * present
        return tuple(self._picked(field, index, chosen.shape) for field in self.fields), weight

    def _index(self, chosen: NDArray[np.int64]) -> Tensor:
        if (chosen < 0).any():
            # Any row will do where it does not count.
            chosen = np.where(chosen < 0, np.array([own[0] for own in self.rows])[:, None], chosen)
        return torch.from_numpy(np.ascontiguousarray(chosen).reshape(-1)).to(self.x.device)

    def _picked(self, values: Tensor, index: Tensor, shape: tuple[int, ...]) -> Tensor:
        picked = values.index_select(0, index).view(*shape, *values.shape[1:])
        return picked.to(self.dtype) if picked.is_floating_point() else picked

    def _drawn_levels(self, generators: Sequence[np.random.Generator], n: int) -> Tensor:
        """A random number for each row (members, n)."""
        drawn = np.stack([generator.random(n, np.float32) for generator in generators])
        return torch.from_numpy(drawn).to(self.x.device, self.dtype)

    def _keep_factors(
        self, generators: Sequence[np.random.Generator], shape: tuple[int, ...], units: int, dropout: float
    ) -> Tensor:
        """0 or 1/(1 - dropout) for each unit (members, batches, rows, units)."""
        batches, members, rows = shape
        bits = dropout_bits(generators, batches * rows * units)
        least = round(dropout * 2**16) - 2**15
        kind = np.float64 if self.dtype == torch.float64 else np.float32
        factors = np.multiply(bits >= least, kind(1 / (1 - dropout)), dtype=kind)
        return torch.from_numpy(factors.reshape(members, batches, rows, units)).to(self.x.device)
