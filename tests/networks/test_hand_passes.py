from __future__ import annotations

import numpy as np
import pytest
import torch

from aldsurv.networks import Architecture
from aldsurv.networks.closed_form_passes import HandPasses
from aldsurv.networks.torch_forward import forward_on_torch

MEMBERS, DROPOUT = 3, 0.25
NETWORKS = {
    "paper": Architecture(5, 3, dropout=DROPOUT),
    "deeper": Architecture(5, 3, hidden=(7, 6), head_hidden=(5, 4, 3), dropout=DROPOUT),
    "no residual": Architecture(5, 2, hidden=(8, 4), head_hidden=(6,), residual=False, dropout=DROPOUT),
    "no heads": Architecture(5, 4, hidden=(8, 5), head_hidden=(), dropout=DROPOUT),
    "no heads, no residual": Architecture(5, 4, hidden=(8, 5), head_hidden=(), residual=False, dropout=DROPOUT),
    "no shared layers": Architecture(5, 3, hidden=(), head_hidden=(4, 6), dropout=DROPOUT),
    "linear": Architecture(5, 3, hidden=(), head_hidden=(), dropout=DROPOUT),
    "one output": Architecture(5, 1, hidden=(4,), head_hidden=(3, 2), dropout=DROPOUT),
    "one column": Architecture(1, 3, hidden=(1,), head_hidden=(1,), dropout=DROPOUT),
    "silu": Architecture(5, 3, hidden=(7, 6), head_hidden=(5, 4), activation="silu", dropout=DROPOUT),
    "silu, no residual": Architecture(5, 3, activation="silu", residual=False, dropout=DROPOUT),
    "tanh": Architecture(5, 3, activation="tanh", dropout=DROPOUT),
    "constants": Architecture(5, 7, constants=4, activation="silu", dropout=DROPOUT),
    "constants, deeper": Architecture(5, 4, hidden=(7, 6), head_hidden=(5, 4), constants=1, dropout=DROPOUT),
    "constants, no heads": Architecture(5, 4, hidden=(8, 5), head_hidden=(), constants=2, dropout=DROPOUT),
    "constants, linear": Architecture(5, 3, hidden=(), head_hidden=(), constants=2, dropout=DROPOUT),
}
every = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


def weights_of(network):
    rng = np.random.default_rng(0)
    return {
        slot.name: torch.tensor(rng.normal(size=(MEMBERS, *slot.shape)) / 2, dtype=torch.float32)
        for slot in network.slots()
    }


def batch_of(network, n, seed, *, dropped):
    rng = np.random.default_rng(seed)
    x = torch.tensor(rng.normal(size=(MEMBERS, n, network.inputs)), dtype=torch.float32)
    # A row of zeros, and units that are off for it: what is exactly 0 has no slope.
    x[:, 0] = 0
    units = sum(size for _, size in network.layers())
    keep = torch.tensor(rng.random((MEMBERS, n, units)) >= DROPOUT, dtype=torch.float32) / (1 - DROPOUT)
    slopes = rng.normal(size=(MEMBERS, n, network.outputs)).astype(np.float32)
    return x, keep if dropped else None, slopes


@every
@pytest.mark.parametrize("dropped", [True, False])
def test_is_what_torch_differentiates(network, dropped):
    weights = weights_of(network)
    # Whatever was there before is overwritten.
    gradients = {name: torch.full_like(weight, 7.0) for name, weight in weights.items()}
    passes = HandPasses(network, weights, gradients)
    # Sizes that come back, so that memory is used again.
    for seed, n in enumerate((9, 4, 9, 1, 4)):
        x, keep, slopes = batch_of(network, n, seed, dropped=dropped)
        leaves = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        expected = forward_on_torch(network, leaves, x, keep=keep)
        (expected * torch.from_numpy(slopes)).sum().backward()
        found = passes.forward(x, keep)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected.detach(), rtol=1e-5, atol=1e-5)
        passes.backward(slopes.copy())
        for name, leaf in leaves.items():
            torch.testing.assert_close(gradients[name], leaf.grad, rtol=1e-4, atol=1e-5)


@pytest.fixture
def one_thread():
    """As the training loop has it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("outputs", range(1, 13))
@pytest.mark.parametrize("rows", [15, 31, 90])
def test_a_member_computes_the_same_alone(outputs, rows):
    network = Architecture(5, outputs, hidden=(32,), head_hidden=(), activation="silu")
    weights, (x, _, slopes) = weights_of(network), batch_of(network, rows, 1, dropped=False)

    def both(members):
        own = {name: weight[members].clone() for name, weight in weights.items()}
        passes = HandPasses(network, own, gradients := {name: torch.zeros_like(weight) for name, weight in own.items()})
        raw = passes.forward(x[members], None).copy()
        passes.backward(slopes[members])
        return raw, forward_on_torch(network, own, x[members]).numpy(), *(g.numpy() for g in gradients.values())

    together, alone = both(slice(None)), [both(slice(k, k + 1)) for k in range(MEMBERS)]
    for whole, *parts in zip(together, *alone, strict=True):
        # Equal bits on most processors; some have another order of sums for products of one column.
        np.testing.assert_allclose(whole, np.concatenate(parts), rtol=1e-5, atol=1e-5)


@every
def test_weights_may_move_between_batches(network):
    weights = weights_of(network)
    passes = HandPasses(network, weights, {name: torch.empty_like(weight) for name, weight in weights.items()})
    x, _, slopes = batch_of(network, 6, 0, dropped=False)
    passes.forward(x, None)
    passes.backward(slopes)
    for weight in weights.values():
        weight.mul_(0.5).add_(0.1)
    np.testing.assert_allclose(passes.forward(x, None), forward_on_torch(network, weights, x), rtol=1e-5, atol=1e-5)


def test_batches_with_and_without_dropout_may_alternate():
    network = NETWORKS["paper"]
    weights = weights_of(network)
    gradients = {name: torch.empty_like(weight) for name, weight in weights.items()}
    passes = HandPasses(network, weights, gradients)
    for seed, dropped in enumerate((True, False, True)):
        x, keep, slopes = batch_of(network, 5, seed, dropped=dropped)
        leaves = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        (forward_on_torch(network, leaves, x, keep=keep) * torch.from_numpy(slopes)).sum().backward()
        passes.forward(x, keep)
        passes.backward(slopes.copy())
        for name, leaf in leaves.items():
            torch.testing.assert_close(gradients[name], leaf.grad, rtol=1e-4, atol=1e-5)


def test_inputs_are_left_alone():
    network = NETWORKS["deeper"]
    weights = weights_of(network)
    before = {name: weight.clone() for name, weight in weights.items()}
    passes = HandPasses(network, weights, {name: torch.empty_like(weight) for name, weight in weights.items()})
    x, keep, slopes = batch_of(network, 5, 0, dropped=True)
    given = x.clone(), keep.clone()
    passes.forward(x, keep)
    passes.backward(slopes)
    assert torch.equal(x, given[0])
    assert torch.equal(keep, given[1])
    assert all(torch.equal(weights[name], before[name]) for name in weights)
