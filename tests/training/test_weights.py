from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from aldsurv.networks import Architecture
from aldsurv.networks.torch_forward import forward_on_torch
from aldsurv.training.member_network import MemberNetwork
from aldsurv.training.settings import TrainingSettings
from training.runs import CPU

MEMBERS = 3
NETWORKS = {
    "paper": Architecture(5, 3),
    "odd sizes": Architecture(3, 2, hidden=(5, 7), head_hidden=(3, 9), batch_norm=True),
    "no heads": Architecture(4, 1, hidden=(6,), head_hidden=(), residual=False),
}
every = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


def members_of(network, encoders=(), members=MEMBERS):
    initial = [network.initial(np.random.default_rng([1, k])) for k in range(members)]
    return MemberNetwork(network, initial, encoders, CPU), initial


def separate(network, initial):
    """One tensor for each slot and member."""
    return {
        (slot.name, k): torch.tensor(arrays[slot.name]).requires_grad_()
        for k, arrays in enumerate(initial)
        for slot in network.slots()
    }


def random_gradients(block, network, apart, rng, scale=1.0):
    for slot in network.slots():
        gradient = (scale * rng.normal(size=(MEMBERS, *slot.shape))).astype(np.float32)
        block.arrays[slot.name].grad.copy_(torch.from_numpy(gradient))
        for k in range(MEMBERS):
            apart[slot.name, k].grad = torch.from_numpy(gradient[k].copy())


@every
@pytest.mark.parametrize("decay", [0.0, 0.3])
@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_one_block_is_optimised_as_separate_tensors(network, optimizer, decay):
    members, initial = members_of(network)
    apart = separate(network, initial)
    settings = TrainingSettings(optimizer=optimizer, weight_decay=decay, learning_rate=0.02)
    fused = members.optimizer(settings, 100)
    # torch's AdamW decays by 0.01 unless told otherwise.
    groups = [
        {"params": [p for (name, _), p in apart.items() if name.endswith(".weight")], "weight_decay": decay},
        {"params": [p for (name, _), p in apart.items() if not name.endswith(".weight")], "weight_decay": 0.0},
    ]
    plain = {
        "adam": lambda: torch.optim.Adam(groups, lr=0.02, foreach=False),
        "adamw": lambda: torch.optim.AdamW(groups, lr=0.02, foreach=False),
        "sgd": lambda: torch.optim.SGD(groups, lr=0.02, momentum=0.9, foreach=False),
    }[optimizer]()
    rng = np.random.default_rng(0)
    for step in range(6):
        random_gradients(members.block, network, apart, rng)
        for group in plain.param_groups:
            group["lr"] = 0.02 / (step + 1)
        fused.step(0.02 / (step + 1))
        plain.step()
    for (name, k), expected in apart.items():
        torch.testing.assert_close(members.block.arrays[name][k].detach(), expected.detach(), rtol=1e-5, atol=1e-6)
        assert not np.allclose(expected.detach(), initial[k][name], atol=1e-3)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_decay_pulls_weights_and_nothing_else(optimizer):
    network = NETWORKS["odd sizes"]
    members, initial = members_of(network)
    step = members.optimizer(TrainingSettings(optimizer=optimizer, weight_decay=0.5, learning_rate=0.1), 100)
    members.zero_gradients()
    step.step(0.1)
    for slot in network.slots():
        before = np.stack([arrays[slot.name] for arrays in initial])
        after = members.block.arrays[slot.name].detach().numpy()
        if slot.decays:
            assert (np.abs(after) < np.abs(before))[np.abs(before) > 0.1].all()
        else:
            assert np.array_equal(after, before)
        if slot.decays and optimizer != "adam":
            np.testing.assert_allclose(after, before * (1 - 0.1 * 0.5), rtol=1e-6)


@every
def test_arrays_and_gradients_are_those_of_each_member(network):
    members, initial = members_of(network)
    for name, array in members.block.arrays.items():
        assert np.array_equal(array.detach(), np.stack([arrays[name] for arrays in initial]))
    x = torch.tensor(np.random.default_rng(0).normal(size=(MEMBERS, 6, network.inputs)), dtype=torch.float32)
    members.zero_gradients()
    members.outputs(x).square().sum().backward()
    for k, arrays in enumerate(initial):
        own = {name: torch.tensor(array[None]) for name, array in arrays.items()}
        for slot in network.slots():
            own[slot.name].requires_grad_()
        forward_on_torch(network, own, x[k : k + 1]).square().sum().backward()
        for slot in network.slots():
            torch.testing.assert_close(members.block.arrays[slot.name].grad[k], own[slot.name].grad[0])


def test_a_step_moves_what_the_forward_pass_reads():
    network = NETWORKS["paper"]
    members, _ = members_of(network)
    optimizer = members.optimizer(TrainingSettings(learning_rate=0.05), 100)
    x = torch.ones(MEMBERS, 4, network.inputs)
    losses = []
    for _ in range(30):
        members.zero_gradients()
        loss = (members.outputs(x) - 1).square().mean()
        loss.backward()
        optimizer.step(0.05)
        losses.append(loss.item())
    assert losses[-1] < 0.01 * losses[0]


def test_gradients_are_forgotten():
    network = NETWORKS["paper"]
    members, _ = members_of(network)
    x = torch.ones(MEMBERS, 4, network.inputs)
    gradients = []
    for _ in range(2):
        members.zero_gradients()
        members.outputs(x).sum().backward()
        gradients.append({slot.name: members.block.arrays[slot.name].grad.clone() for slot in network.slots()})
    assert all(torch.equal(gradients[0][name], gradients[1][name]) for name in gradients[0])


@every
def test_clipping_is_torchs_for_each_member(network):
    members, initial = members_of(network)
    apart = separate(network, initial)
    random_gradients(members.block, network, apart, np.random.default_rng(3))
    # Of three lengths: far above the limit, above, below.
    for name, array in members.block.arrays.items():
        for k, factor in enumerate((50.0, 1.0, 1e-4)):
            if (name, k) in apart:
                array.grad[k] *= factor
                apart[name, k].grad *= factor
    kept = {slot.name: members.block.arrays[slot.name].grad[2].clone() for slot in network.slots()}
    members.clip_gradients(0.5)
    for k in range(MEMBERS):
        own = [parameter for (_, member), parameter in apart.items() if member == k]
        norm = nn.utils.clip_grad_norm_(own, 0.5)
        assert (norm > 0.5) == (k < 2)
    for (name, k), parameter in apart.items():
        torch.testing.assert_close(members.block.arrays[name].grad[k], parameter.grad, rtol=1e-4, atol=1e-7)
    assert all(torch.equal(members.block.arrays[name].grad[2], gradient) for name, gradient in kept.items())


def test_clipping_counts_the_encoder():
    torch.manual_seed(0)
    encoders = [nn.Linear(2, 3) for _ in range(MEMBERS)]
    members, _ = members_of(Architecture(3, 1, hidden=(), head_hidden=()), encoders)
    members.zero_gradients()
    (1e3 * members.outputs(torch.ones(MEMBERS, 5, 2)).square()).sum().backward()
    factor = []
    for k in range(MEMBERS):
        own = [members.block.arrays[name].grad[k] for name in ("output.weight", "output.bias")]
        norm = torch.cat([g.flatten() for g in [*own, *(p.grad for p in encoders[k].parameters())]]).norm()
        factor.append((1.0 / norm).item())
    before = [encoder.weight.grad.clone() for encoder in encoders]
    bias = members.block.arrays["output.bias"].grad.clone()
    members.clip_gradients(1.0)
    for k in range(MEMBERS):
        torch.testing.assert_close(encoders[k].weight.grad, before[k] * factor[k])
        torch.testing.assert_close(members.block.arrays["output.bias"].grad[k], bias[k] * factor[k])


@every
def test_each_member_keeps_its_own_best(network):
    members, initial = members_of(network)
    arrays = members.block.arrays

    def fill(value):
        with torch.no_grad():
            for array in arrays.values():
                array.fill_(value)

    fill(5.0)
    members.keep(torch.tensor([0, 2]))
    fill(7.0)
    members.keep(torch.tensor([2]))
    fill(9.0)
    best = members.best_arrays()
    assert set(best) == {slot.name for slot in [*network.slots(), *network.buffers()]}
    for name, array in best.items():
        assert array.dtype == np.float32
        assert (array[0] == 5).all()
        assert np.array_equal(array[1], initial[1][name])
        assert (array[2] == 7).all()
        # What was handed out is a copy.
        array[:] = 0
    assert (members.best_arrays()["output.bias"][2] == 7).all()


def test_each_encoder_keeps_its_own_best():
    encoders = [nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)) for _ in range(2)]
    members, _ = members_of(Architecture(3, 1, hidden=(), head_hidden=()), encoders, members=2)
    start = encoders[1][0].weight.detach().clone()
    with torch.no_grad():
        for encoder in encoders:
            encoder[0].weight.fill_(5.0)
            encoder[1].running_mean.fill_(4.0)
    members.keep(torch.tensor([0]))
    with torch.no_grad():
        for encoder in encoders:
            encoder[0].weight.fill_(9.0)
    first, second = members.restore_encoders()
    assert (first[0].weight == 5).all()
    assert (first[1].running_mean == 4).all()
    assert torch.equal(second[0].weight, start)
    assert not first.training


def test_gradients_in_float64_are_rounded_to_the_digits_of_half_precision():
    network = NETWORKS["paper"]
    initial = [network.initial(np.random.default_rng(k)) for k in range(MEMBERS)]
    block = MemberNetwork(network, initial, (), CPU, torch.float64).block
    values = torch.from_numpy(np.random.default_rng(0).normal(size=block.values.shape) * 1e-6)
    block.values.grad.copy_(values)
    block.round_gradients()
    rounded = block.values.grad.clone()
    np.testing.assert_allclose(rounded, values, rtol=2.0**-11)
    assert len(np.unique(np.frexp(np.abs(rounded.numpy()))[0])) <= 2**10 + 1
    # What is not in these digits is gone.
    block.values.grad.copy_(values * (1 + 1e-15))
    block.round_gradients()
    np.testing.assert_array_equal(block.values.grad, rounded)
    # A gradient that is no number must still be seen.
    block.values.grad.copy_(torch.full_like(values, torch.nan))
    block.round_gradients()
    assert bool(block.values.grad.isnan().all())
    assert all(array.dtype == np.float32 for array in block.best_arrays().values())


def test_gradients_in_float32_stay_as_they_are():
    block = members_of(NETWORKS["paper"])[0].block
    block.values.grad.copy_(torch.linspace(-1, 1, len(block.values)))
    block.round_gradients()
    np.testing.assert_array_equal(block.values.grad, torch.linspace(-1, 1, len(block.values)))
