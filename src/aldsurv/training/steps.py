"""One step of training: losses and gradients of a batch, then the optimiser.

Nothing here waits for the device or copies from it: on a GPU the processor only hands out work.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from aldsurv.losses.objective import ClosedFormObjective, Objective
from aldsurv.training.member_network import MemberNetwork
from aldsurv.training.optimizers import Optimizer
from aldsurv.training.parted_batches import PART_ROWS, PartedBatches, losses_by_hand
from aldsurv.training.training_rows import Batch

__all__ = ["take_step"]


def take_step(
    network: MemberNetwork,
    objective: Objective,
    optimizer: Optimizer,
    batch: Batch,
    *,
    rate: float,
    clip_norm: float,
    seeds: Sequence[int] = (),
    parted: PartedBatches | None = None,
) -> Tensor:
    """Learn from a batch; the losses (members,) before the step.

    Parameters
    ----------
    network, objective, optimizer
        What learns by what.
    rate, clip_norm
        Learning rate, and largest norm of a member's gradient; 0 for no limit.
    seeds
        One per member for what encoders draw.
    parted
        What threads share large batches by.
    """
    if network.passes is None or not isinstance(objective, ClosedFormObjective):
        losses = _differentiated(network, objective, batch, seeds)
    elif parted is not None and batch.x.shape[1] > PART_ROWS:
        losses = parted.losses(objective, batch)
    else:
        losses = torch.from_numpy(losses_by_hand(network.passes, objective, batch))
    network.block.pull_back()
    network.block.leave_fixed()
    if clip_norm > 0:
        network.clip_gradients(clip_norm)
    network.block.round_gradients()
    optimizer.step(rate)
    return losses


def _differentiated(network: MemberNetwork, objective: Objective, batch: Batch, seeds: Sequence[int]) -> Tensor:
    """Losses of a batch (members,); the gradients, by automatic differentiation, are where the optimiser reads them."""
    raw = network.outputs(batch.x, keep=batch.keep, training=True, seeds=seeds, level=batch.level)
    fields = batch.fields if batch.level is None else (*batch.fields, batch.level)
    losses = objective.losses(raw, fields, batch.weight)
    network.zero_gradients()
    losses.sum().backward()  # type: ignore[no-untyped-call]
    return losses.detach()
