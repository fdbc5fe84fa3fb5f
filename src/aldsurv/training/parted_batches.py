"""Gradients of large batches in parts of fixed size, which processes and their threads share.

The parts are the same however many processes and threads there are, and their gradients are added in one order: so is
what comes out. A part's numbers also stay in the cache of one core, where those of a large batch would not.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.losses.objective import ClosedFormObjective
from aldsurv.networks.architecture import Architecture
from aldsurv.networks.closed_form_passes import HandPasses
from aldsurv.training.ranks import Ranks
from aldsurv.training.training_rows import Batch
from aldsurv.training.weights import WeightBlock

__all__ = ["PART_ROWS", "PartedBatches", "losses_by_hand"]

# Rows of a part. Smaller ones spend more on calls than on numbers.
PART_ROWS = 256


@final
class PartedBatches:
    """Losses and gradients of batches, by the processes of a group and the threads of each.

    Parameters
    ----------
    network
        The layers, which `HandPasses` can take.
    block
        Weights of all members; their gradients are written there.
    threads
        Parts that this process works on at once.
    ranks
        The processes that share a batch.
    """

    def __init__(self, network: Architecture, block: WeightBlock, threads: int, ranks: Ranks) -> None:
        self._block, self._threads, self._ranks = block, threads, ranks
        self._sums = [torch.zeros_like(block.values) for _ in range(threads)]
        # Gradients and losses of a part.
        self._result = block.values.new_zeros(len(block.values) + block.members)
        self._passes = [HandPasses(network, block.arrays, block.laid_out(flat)) for flat in self._sums]
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def losses(self, objective: ClosedFormObjective, batch: Batch) -> Tensor:
        """Losses of a batch (members,); the gradients are where the optimiser reads them."""
        starts = range(0, batch.x.shape[1], PART_ROWS)
        shares = _shares(batch, starts)
        mine = self._ranks.share(len(starts))
        found = [torch.empty(0)] * len(mine)

        def work(thread: int) -> None:
            for place in range(thread, len(mine), self._threads):
                start = starts[mine[place]]
                part = _part(batch, slice(start, start + PART_ROWS))
                own = losses_by_hand(self._passes[thread], objective, part, shares[mine[place]])
                flat = self._sums[thread]
                found[place] = torch.cat([flat, torch.from_numpy(own).to(flat)])

        others = [self._pool.submit(work, thread) for thread in range(1, self._threads)] if self._pool else []
        work(0)
        for other in others:
            other.result()
        parts = self._ranks.exchange(len(starts), found, self._result)
        weights = len(self._sums[0])
        self._block.set_gradients([part[:weights] for part in parts])
        return torch.from_numpy(torch.stack([part[weights:] for part in parts]).numpy().sum(axis=0))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


def losses_by_hand(
    passes: HandPasses, objective: ClosedFormObjective, batch: Batch, share: NDArray[np.floating] | None = None
) -> NDArray[np.floating]:
    """Losses of a batch (members,), times the members' shares of it; the gradients are where the passes write them."""
    fields = [field.numpy() for field in batch.fields]
    weight = None if batch.weight is None else batch.weight.numpy()
    # What overflows shows in the loss, which is looked at after the epoch.
    with np.errstate(all="ignore"):
        raw = passes.forward(batch.x, batch.keep)
        losses, slopes = objective.losses_and_slopes(raw, fields, weight)
        if share is not None:
            losses, slopes = losses * share, slopes * share[:, None, None]
        passes.backward(slopes)
    return losses


def _part(batch: Batch, rows: slice) -> Batch:
    x, fields, weight, keep, _ = batch
    return Batch(
        x[:, rows],
        tuple(field[:, rows] for field in fields),
        None if weight is None else weight[:, rows],
        None if keep is None else keep[:, rows],
    )


def _shares(batch: Batch, starts: Sequence[int]) -> NDArray[np.floating]:
    """Share of each part in the weight of the batch (parts, members)."""
    weight = batch.weight if batch.weight is not None else torch.ones_like(batch.x[..., 0])
    sums = torch.stack([weight[:, start : start + PART_ROWS].sum(1) for start in starts])
    return np.asarray((sums / sums.sum(0).clamp_min(1e-30)).numpy())
