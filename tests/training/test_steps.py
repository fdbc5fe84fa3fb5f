"""A step of training: large batches in parts that threads share, and devices that hold no numbers."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.losses.likelihood.mixture_likelihood import mixture_objective
from aldsurv.networks import Architecture
from aldsurv.training.batches import RowSource
from aldsurv.training.member_network import MemberNetwork
from aldsurv.training.parted_batches import PART_ROWS, PartedBatches
from aldsurv.training.ranks import Ranks
from aldsurv.training.settings import TrainingSettings
from aldsurv.training.steps import take_step
from training.runs import rows_of

LAYOUT = MixtureOutputs(3, True, False)


def problem(rows, *, device="cpu", weight=False, dropout=0.0):
    """Two members of a mixture's network, and a batch of all rows of each."""
    x, data = rows_of(rows, weight=weight)
    objective = mixture_objective(LAYOUT, SUPPORTS["log"], data, 0.01, device=device)
    architecture = Architecture(
        x.shape[1],
        LAYOUT.outputs,
        constants=LAYOUT.constants,
        hidden=(6, 5),
        head_hidden=(),
        activation="silu",
        residual=False,
        dropout=dropout,
    )
    initial = [architecture.initial(np.random.default_rng(seed)) for seed in (1, 2)]
    network = MemberNetwork(architecture, initial, (), torch.device(device))
    weights = torch.from_numpy(data.weights.astype(np.float32)).to(device) if weight else None
    source = RowSource(
        torch.from_numpy(x).to(device), objective.fields, weights, [np.arange(rows), np.arange(rows - 9)]
    )
    (batch,) = source.batches((1, 2), 0, rows, 11, dropout)
    return network, objective, batch


def differentiated(rows, threads, **options):
    """Losses and gradients of a batch, by parts unless there are no threads."""
    network, objective, batch = problem(rows, **options)
    optimizer = network.optimizer(TrainingSettings(), rows)
    given = {"rate": 0.0, "clip_norm": 0.0}
    if not threads:
        losses = take_step(network, objective, optimizer, batch, **given)
    else:
        parted = PartedBatches(network.architecture, network.block, threads, Ranks())
        losses = take_step(network, objective, optimizer, batch, parted=parted, **given)
        parted.close()
    return losses.numpy(), {name: gradient.numpy().copy() for name, gradient in network.block.gradients.items()}


@pytest.mark.parametrize("options", [{}, {"weight": True, "dropout": 0.2}])
def test_parts_of_a_batch_add_up_to_it_whatever_the_threads(options):
    rows = 2 * PART_ROWS + 77
    whole, gradients = differentiated(rows, 0, **options)
    one, by_one = differentiated(rows, 1, **options)
    three, by_three = differentiated(rows, 3, **options)
    assert_allclose(one, whole, rtol=1e-5)
    assert_array_equal(three, one)
    for name, gradient in gradients.items():
        assert_allclose(by_one[name], gradient, rtol=1e-3, atol=1e-6)
        assert_array_equal(by_three[name], by_one[name])


def test_a_step_on_another_device_copies_nothing_to_the_processor():
    # A tensor on the device "meta" has no numbers: whatever looked at one would fail.
    network, objective, batch = problem(40, device="meta", dropout=0.1)
    optimizer = network.optimizer(TrainingSettings(optimizer="adamw", weight_decay=0.1), 40)
    losses = take_step(network, objective, optimizer, batch, rate=0.01, clip_norm=1.0)
    assert losses.device.type == "meta"
    assert losses.shape == (2,)
    assert {gradient.device.type for gradient in network.block.gradients.values()} == {"meta"}
