"""Networks that take a level beside the inputs: by hand, on torch and on numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from aldsurv.errors import ParameterError
from aldsurv.networks import Architecture, forward, numpy_forward
from aldsurv.networks.level_grid import level_nodes
from aldsurv.networks.torch_forward import forward_on_torch

NETWORKS = {
    "icald": Architecture(5, 3, level_units=(8, 4)),
    "deeper": Architecture(5, 3, hidden=(7, 6), head_hidden=(5, 4), level_units=(6, 3, 2), residual=False),
    "no heads": Architecture(5, 4, hidden=(8,), head_hidden=(), level_units=(3,)),
    "linear": Architecture(5, 2, hidden=(), head_hidden=(), level_units=(8, 4)),
    "constants": Architecture(5, 4, head_hidden=(6,), level_units=(8, 4), constants=1),
    "batch norm": Architecture(5, 3, hidden=(6,), head_hidden=(4,), level_units=(8, 4), batch_norm=True),
    # Not embedded: the level is the last input.
    "plain": Architecture(6, 3, hidden=(9,), head_hidden=()),
}
every = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


def weights_of(network, members=2):
    parts = [network.initial(np.random.default_rng([7, k])) for k in range(members)]
    return {name: np.stack([part[name] for part in parts]) for name in parts[0]}


def row_by_hand(network, arrays, x, level):
    """Outputs of one member for one row at one level, unit by unit as the definition has it."""
    relu = lambda h: np.maximum(h, 0.0)  # noqa: E731
    e = np.array([level])
    for i in range(len(network.level_units)):
        e = e @ arrays[f"level{i}.weight"] + arrays[f"level{i}.bias"]
        e = np.exp(e) if i == len(network.level_units) - 1 else relu(e)
    h = x
    for i, size in enumerate(network.hidden):
        weight = arrays[f"hidden{i}.weight"]
        after = relu(h @ weight[:, :size] + arrays[f"hidden{i}.bias"])
        h = after + h @ weight[:, size:] if network.residual else after
    outputs = []
    for k in range(network.heads):
        z = np.concatenate([h, e])
        for i, size in enumerate(network.head_hidden):
            weight = arrays[f"head{i}.weight"][:, k * size : (k + 1) * size] if i == 0 else arrays[f"head{i}.weight"][k]
            z = relu(z @ weight + arrays[f"head{i}.bias"][k * size : (k + 1) * size])
        if network.head_hidden:
            outputs.append(np.concatenate([z, e]) @ arrays["output.weight"][k])
        else:
            outputs.append(z @ arrays["output.weight"][:, k])
    return np.array([*outputs, *np.zeros(network.constants)]) + arrays["output.bias"]


@pytest.mark.parametrize("name", ["icald", "deeper", "no heads", "linear", "constants"])
def test_as_it_is_defined(name):
    network = NETWORKS[name]
    arrays, rng = weights_of(network), np.random.default_rng(0)
    x, levels = rng.normal(size=(4, 5)).astype(np.float32), np.array([0.05, 0.4, 0.93])
    found = forward(network, arrays, x, levels)
    assert found.shape == (2, 4, 3, network.outputs)
    for member in range(2):
        own = {key: array[member].astype(np.float64) for key, array in arrays.items()}
        wanted = [[row_by_hand(network, own, row.astype(np.float64), level) for level in levels] for row in x]
        assert_allclose(found[member], wanted, rtol=1e-12, atol=1e-13)


@every
def test_numpy_and_torch_agree(network, monkeypatch):
    arrays, rng = weights_of(network), np.random.default_rng(1)
    x, levels = rng.normal(size=(2, 9, 5)).astype(np.float32), np.array([0.1, 0.5, 0.6, 0.99])
    found = forward(network, arrays, x, levels)
    on_torch = {name: torch.tensor(array, dtype=torch.float64) for name, array in arrays.items()}
    for k, level in enumerate(levels):
        inputs = np.concatenate([x, np.full((2, 9, 1), level)], axis=-1)
        raw = forward_on_torch(network, on_torch, torch.tensor(inputs, dtype=torch.float64))
        assert_allclose(raw.numpy(), found[:, :, k], rtol=1e-12, atol=1e-13)
    # Rows in blocks of one, and one level at a time, are the same rows.
    monkeypatch.setattr(numpy_forward, "_BLOCK", 1)
    assert_allclose(forward(network, arrays, x, levels), found, rtol=1e-13, atol=1e-14)
    assert_allclose(forward(network, arrays, x, levels[1:2])[:, :, 0], found[:, :, 1], rtol=1e-13, atol=1e-14)
    shared = forward(network, arrays, x[0], levels)
    assert_allclose(shared[0], found[0], rtol=1e-13, atol=1e-14)


def test_a_level_is_part_of_the_description():
    network = NETWORKS["icald"]
    assert network.to_plain()["level_units"] == [8, 4]
    assert Architecture.from_plain(network.to_plain()) == network
    # Without one, the description is that of files from before there were levels.
    assert "level_units" not in Architecture(5, 3).to_plain()
    arrays = weights_of(network)
    network.check_arrays(arrays, 2)
    assert arrays["level0.weight"].shape == (2, 1, 8)
    assert arrays["head0.weight"].shape == (2, 36, 96)
    assert arrays["output.weight"].shape == (2, 3, 36)
    with pytest.raises(ParameterError, match="level_units"):
        Architecture(5, 3, level_units=(8, 0))


@pytest.mark.parametrize("count", [1, 2, 8, 32])
def test_nodes_integrate_polynomials_exactly(count):
    for power in range(2 * count):
        mean = sum(share * level**power for level, share in level_nodes(count))
        assert mean == pytest.approx(1 / (power + 1), rel=1e-12)
