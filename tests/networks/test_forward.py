from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given, settings
from hypothesis import strategies as st

from aldsurv.networks import ACTIVATIONS, Architecture, PreparedNetwork, forward, numpy_forward
from aldsurv.networks.torch_forward import forward_on_torch
from networks.by_hand import ACTIVATIONS as REFERENCE
from networks.by_hand import ByHand

NETWORKS = {
    "paper": Architecture(5, 3),
    "deeper": Architecture(5, 3, hidden=(7, 6), head_hidden=(5, 4, 3)),
    "no residual": Architecture(5, 2, hidden=(8, 4), head_hidden=(6,), residual=False, activation="tanh"),
    "no heads": Architecture(5, 4, hidden=(8, 5), head_hidden=(), activation="silu"),
    "no shared layers": Architecture(5, 3, hidden=(), head_hidden=(4,)),
    "linear": Architecture(5, 3, hidden=(), head_hidden=()),
    "one output": Architecture(5, 1, hidden=(4,), head_hidden=(3, 2)),
    "batch norm": Architecture(5, 3, hidden=(6, 7), head_hidden=(4, 3), batch_norm=True),
    "batch norm, no heads": Architecture(5, 1, hidden=(6, 7), head_hidden=(), batch_norm=True, residual=False),
    **{f"all {name}": Architecture(5, 2, hidden=(6,), head_hidden=(4, 3), activation=name) for name in ACTIVATIONS},
}
every = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
MEMBERS = 3


def members_of(network, seed=0):
    """Arrays of each member, batch normalisation with statistics that matter."""
    found = []
    for k in range(MEMBERS):
        rng = np.random.default_rng([seed, k])
        arrays = network.initial(rng)
        for slot in [*network.slots(), *network.buffers()]:
            kind = slot.name.split(".")[1]
            if kind in ("scale", "shift", "mean"):
                arrays[slot.name] = rng.normal(size=slot.shape).astype(np.float32)
            if kind == "variance":
                arrays[slot.name] = rng.uniform(0.2, 3, slot.shape).astype(np.float32)
        found.append(arrays)
    return found


def stacked(members):
    return {name: np.stack([arrays[name] for arrays in members]) for name in members[0]}


def on_torch(arrays, dtype=torch.float32):
    return {name: torch.tensor(array, dtype=dtype) for name, array in arrays.items()}


def inputs(network, n=23, seed=1, members=None):
    shape = (n, network.inputs) if members is None else (members, n, network.inputs)
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("head_hidden", [(4, 3), ()], ids=["heads", "no heads"])
def test_constants_are_outputs_that_no_input_moves(head_hidden):
    network = Architecture(5, 6, hidden=(7,), head_hidden=head_hidden, constants=4)
    varying = Architecture(5, 2, hidden=(7,), head_hidden=head_hidden)
    arrays, x = stacked(members_of(network)), inputs(network)
    raw = forward(network, arrays, x)
    np.testing.assert_array_equal(
        raw[..., 2:], np.broadcast_to(arrays["output.bias"][:, None, 2:], (MEMBERS, len(x), 4))
    )
    # The others are those of the network without constants.
    fewer = {**arrays, "output.bias": arrays["output.bias"][:, :2]}
    np.testing.assert_array_equal(raw[..., :2], forward(varying, fewer, x))
    found = forward_on_torch(network, on_torch(arrays, torch.float64), torch.tensor(np.stack([x] * MEMBERS)).double())
    np.testing.assert_allclose(found, raw, rtol=1e-12)


@every
def test_numpy_and_torch_are_the_network_by_hand(network):
    members, x = members_of(network), inputs(network)
    arrays = stacked(members)
    found = forward(network, arrays, x)
    assert found.dtype == np.float64
    each = torch.tensor(x).expand(MEMBERS, -1, -1)
    on_float32 = forward_on_torch(network, on_torch(arrays), each)
    on_float64 = forward_on_torch(network, on_torch(arrays, torch.float64), each.double())
    assert on_float32.dtype == torch.float32
    for k, own in enumerate(members):
        expected = ByHand(network, own).eval()(torch.tensor(x, dtype=torch.float64)).detach().numpy()
        # torch's softplus is linear beyond 20; nothing else here differs by more than rounding.
        np.testing.assert_allclose(found[k], expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(on_float64[k], expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(on_float32[k], expected, rtol=2e-5, atol=2e-5)


@every
def test_each_member_may_have_inputs_of_its_own(network):
    arrays, x = stacked(members_of(network)), inputs(network, members=MEMBERS)
    found = forward(network, arrays, x)
    for k in range(MEMBERS):
        np.testing.assert_allclose(found[k], forward(network, arrays, x[k])[k], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        forward_on_torch(network, on_torch(arrays), torch.tensor(x)), found, rtol=2e-5, atol=2e-5
    )


@every
def test_gradients_are_those_of_the_network_by_hand(network):
    members, x = members_of(network), torch.tensor(inputs(network), dtype=torch.float64)
    weights = on_torch(stacked(members), torch.float64)
    for slot in network.slots():
        weights[slot.name].requires_grad_()
    raw = forward_on_torch(network, weights, x.expand(MEMBERS, -1, -1))
    factors = torch.linspace(-1, 1, raw[0].numel(), dtype=torch.float64).view(raw[0].shape)
    (raw * factors).sum().backward()
    for k, own in enumerate(members):
        module = ByHand(network, own).eval()
        (module(x) * factors).sum().backward()
        bias = torch.cat([output.bias.grad for output in module.outputs])
        torch.testing.assert_close(weights["output.bias"].grad[k], bias)
        if network.hidden:
            size, first = network.hidden[0], module.shared[0]
            gradient = weights["hidden0.weight"].grad[k]
            torch.testing.assert_close(gradient[:, :size], first.linear.weight.grad.T)
            if network.residual:
                torch.testing.assert_close(gradient[:, size:], first.projection.weight.grad.T)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_torchs(name):
    x = np.concatenate([np.linspace(-30, 30, 601), [-800.0, -1e-9, 0.0, 1e-9, 800.0]])
    expected = REFERENCE[name](torch.tensor(x)).numpy()
    np.testing.assert_allclose(ACTIVATIONS[name](x), expected, rtol=1e-9, atol=1e-12)
    if name != "gelu":
        function = getattr(F, name) if hasattr(F, name) else getattr(torch, name)
        np.testing.assert_allclose(ACTIVATIONS[name](x), function(torch.tensor(x)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["batch norm", "batch norm, no heads"])
def test_batch_norm_learns_as_torch_does(name):
    network = NETWORKS[name]
    members = members_of(network)
    weights = on_torch(stacked(members), torch.float64)
    modules = [ByHand(network, own).train() for own in members]
    for step in range(4):
        x = torch.tensor(inputs(network, n=9 + step, seed=step, members=MEMBERS), dtype=torch.float64)
        found = forward_on_torch(network, weights, x, training=True)
        for k, module in enumerate(modules):
            torch.testing.assert_close(found[k], module(x[k]), rtol=1e-9, atol=1e-9)
    for layer, _ in network.layers():
        for k, module in enumerate(modules):
            mean = torch.cat([norm.running_mean for norm in module.norms(layer)])
            variance = torch.cat([norm.running_var for norm in module.norms(layer)])
            torch.testing.assert_close(weights[f"{layer}.mean"][k], mean, rtol=1e-9, atol=1e-12)
            torch.testing.assert_close(weights[f"{layer}.variance"][k], variance, rtol=1e-9, atol=1e-12)


def test_batch_norm_gradient_passes_through_the_statistics():
    network = NETWORKS["batch norm"]
    members = members_of(network)
    weights = on_torch(stacked(members), torch.float64)
    for slot in network.slots():
        weights[slot.name].requires_grad_()
    x = torch.tensor(inputs(network, members=MEMBERS), dtype=torch.float64)
    forward_on_torch(network, weights, x, training=True).square().sum().backward()
    for k, own in enumerate(members):
        module = ByHand(network, own).train()
        module(x[k]).square().sum().backward()
        gradient = weights["hidden0.weight"].grad[k]
        torch.testing.assert_close(gradient[:, :6], module.shared[0].linear.weight.grad.T, rtol=1e-7, atol=1e-9)
        scale = torch.cat([head[0].norm.weight.grad for head in module.heads])
        torch.testing.assert_close(weights["head0.scale"].grad[k], scale, rtol=1e-7, atol=1e-9)


def test_batch_norm_of_a_single_row_uses_what_was_learned():
    network = NETWORKS["batch norm"]
    arrays = stacked(members_of(network))
    weights, x = on_torch(arrays), torch.tensor(inputs(network, n=1, members=MEMBERS))
    found = forward_on_torch(network, weights, x, training=True)
    assert torch.equal(found, forward_on_torch(network, on_torch(arrays), x))
    assert all(np.array_equal(weights[name], arrays[name]) for name in arrays)


def test_predicting_leaves_the_statistics_alone():
    network = NETWORKS["batch norm"]
    arrays = stacked(members_of(network))
    weights = on_torch(arrays)
    forward_on_torch(network, weights, torch.tensor(inputs(network, members=MEMBERS)))
    assert all(np.array_equal(weights[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize("name", ["paper", "deeper", "no heads", "linear"])
def test_dropout_multiplies_the_units_of_each_layer(name):
    network = NETWORKS[name]
    members, x = members_of(network), torch.tensor(inputs(network, n=6, members=MEMBERS), dtype=torch.float64)
    units = sum(size for _, size in network.layers())
    keep = torch.tensor(np.random.default_rng(0).choice([0.0, 1.25], (MEMBERS, 6, units), p=[0.2, 0.8]))
    found = forward_on_torch(network, on_torch(stacked(members), torch.float64), x, keep=keep)
    for k, own in enumerate(members):
        module = ByHand(network, own).eval()
        h, used = x[k], 0
        for layer in module.shared:
            h = layer(h)
            h, used = h * keep[k][:, used : used + h.shape[1]], used + h.shape[1]
        columns = []
        for head_number, (head, output) in enumerate(zip(module.heads, module.outputs, strict=True)):
            own_h, start = h, used
            for layer, size in zip(head, network.head_hidden, strict=True):
                begin = start + head_number * size
                own_h, start = layer(own_h) * keep[k][:, begin : begin + size], start + network.outputs * size
            columns.append(output(own_h))
        torch.testing.assert_close(found[k], torch.cat(columns, 1), rtol=1e-9, atol=1e-10)


@every
@pytest.mark.parametrize("block", [1, 40, 1000])
def test_blocks_are_one_piece(network, block, monkeypatch):
    arrays, x = stacked(members_of(network)), inputs(network, n=37)
    whole = forward(network, arrays, x)
    monkeypatch.setattr(numpy_forward, "_BLOCK", block)
    np.testing.assert_allclose(forward(network, arrays, x), whole, rtol=1e-12, atol=1e-12)


@every
def test_a_row_does_not_depend_on_the_others(network):
    arrays, x = stacked(members_of(network)), inputs(network, n=50)
    whole = forward(network, arrays, x)
    for row in (0, 23, 49):
        alone = forward(network, arrays, x[row : row + 1])
        np.testing.assert_allclose(alone[:, 0], whole[:, row], rtol=1e-12, atol=1e-12)
    reverse = forward(network, arrays, x[::-1])
    np.testing.assert_allclose(reverse[:, ::-1], whole, rtol=1e-12, atol=1e-12)


@every
def test_a_member_does_not_depend_on_the_others(network):
    members, x = members_of(network), inputs(network)
    whole = forward(network, stacked(members), x)
    for k in range(MEMBERS):
        alone = forward(network, stacked(members[k : k + 1]), x)
        np.testing.assert_allclose(alone[0], whole[k], rtol=1e-12, atol=1e-12)


@every
def test_no_rows(network):
    arrays = stacked(members_of(network))
    assert forward(network, arrays, inputs(network, n=0)).shape == (MEMBERS, 0, network.outputs)


def test_no_columns():
    network = Architecture(0, 3)
    arrays, x = stacked(members_of(network)), np.empty((4, 0), np.float32)
    found = forward(network, arrays, x)
    assert np.isfinite(found).all()
    assert (found == found[:, :1]).all()
    on_float32 = forward_on_torch(network, on_torch(arrays), torch.empty(MEMBERS, 4, 0))
    np.testing.assert_allclose(on_float32, found, rtol=2e-5, atol=2e-5)


def test_inputs_are_left_alone():
    network = NETWORKS["batch norm"]
    arrays, x = stacked(members_of(network)), inputs(network)
    before = {name: array.copy() for name, array in arrays.items()}, x.copy()
    forward(network, arrays, x)
    assert np.array_equal(before[1], x)
    assert all(np.array_equal(before[0][name], arrays[name]) for name in arrays)


@st.composite
def architectures(draw):
    """Networks of all kinds that predict without a level."""
    sizes = st.lists(st.integers(1, 5), max_size=2).map(tuple)
    outputs = draw(st.integers(1, 7))
    return Architecture(
        draw(st.integers(1, 6)),
        outputs,
        hidden=draw(sizes),
        head_hidden=draw(sizes),
        activation=draw(st.sampled_from(sorted(ACTIVATIONS))),
        residual=draw(st.booleans()),
        batch_norm=draw(st.booleans()),
        constants=draw(st.integers(0, outputs - 1)),
    )


def plain_product(network, arrays, x):
    """One member, layer by layer as the page of the model file has it."""
    activation = ACTIVATIONS[network.activation]

    def layer(h, name, weight, units):
        z = h @ weight + arrays[f"{name}.bias"][units]
        if network.batch_norm:
            mean, variance, scale, shift = (
                arrays[f"{name}.{kind}"][units] for kind in ("mean", "variance", "scale", "shift")
            )
            z = (z - mean) / np.sqrt(variance + 1e-5) * scale + shift
        return activation(z)

    h, weight = x, arrays["output.weight"]
    for i, size in enumerate(network.hidden):
        both = arrays[f"hidden{i}.weight"]
        units = layer(h, f"hidden{i}", both[:, :size], slice(None))
        h = units + h @ both[:, size:] if network.residual else units
    columns = []
    for k in range(network.outputs - network.constants):
        own = h
        for i, size in enumerate(network.head_hidden):
            units, name = slice(k * size, (k + 1) * size), f"head{i}"
            own = layer(own, name, arrays[f"{name}.weight"][:, units] if i == 0 else arrays[f"{name}.weight"][k], units)
        columns.append(own @ (weight[k] if network.head_hidden else weight[:, k]))
    columns += [np.zeros(len(x))] * network.constants
    return np.stack(columns, axis=1) + arrays["output.bias"]


@settings(deadline=None, max_examples=60)
@given(network=architectures(), rows=st.integers(1, 9), own_inputs=st.booleans(), block=st.sampled_from([1, 30, 10**6]))
def test_all_members_at_once_are_the_members_one_by_one(network, rows, own_inputs, block):
    members = members_of(network)
    x = inputs(network, rows, members=MEMBERS if own_inputs else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numpy_forward, "_BLOCK", block)
        patch.setattr(numpy_forward, "_PIECE", block)
        found = forward(network, stacked(members), x)
    for k, arrays in enumerate(members):
        exact = {name: array.astype(np.float64) for name, array in arrays.items()}
        wanted = plain_product(network, exact, (x[k] if own_inputs else x).astype(np.float64))
        np.testing.assert_allclose(found[k], wanted, rtol=1e-11, atol=1e-11)


def test_memory_that_is_used_again_leaves_no_trace():
    network = NETWORKS["no heads"]
    prepared, x = PreparedNetwork(network, stacked(members_of(network))), inputs(network, 30)
    first = prepared.moving_outputs(x[:10]).copy()
    prepared.moving_outputs(x[10:17])
    prepared.moving_outputs(x[20:])
    np.testing.assert_array_equal(prepared.moving_outputs(x[:10]), first)
