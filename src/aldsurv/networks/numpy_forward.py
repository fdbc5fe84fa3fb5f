"""The forward pass on numpy: predicting needs neither torch nor a device.

The weights are float32, the arithmetic is float64: a row's prediction does not depend on the rows beside it
by more than the last digits of a float64, and is the same from the estimator that was trained and from its file.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from aldsurv.networks.activations import ACTIVATIONS
from aldsurv.networks.architecture import Architecture

__all__ = ["BATCH_NORM_EPSILON", "forward"]

FloatArray = NDArray[np.float64]
BATCH_NORM_EPSILON = 1e-5
# Largest number of intermediate values held at once.
_BLOCK = 4_000_000


def forward(
    network: Architecture,
    arrays: Mapping[str, NDArray[np.float32]],
    x: NDArray[np.float32],
    levels: FloatArray | None = None,
) -> FloatArray:
    """Outputs of all members (members, n, outputs), at each of several levels (members, n, levels, outputs).

    Parameters
    ----------
    network, arrays
        What the network looks like, and its weights with a leading members axis.
    x
        Inputs (n, inputs) for all members, or (members, n, inputs) when each has its own.
    levels
        Levels (levels,) for a network that takes one beside the inputs: embedded, or as the last of its inputs.
    """
    weights = {name: array.astype(np.float64) for name, array in arrays.items()}
    members = weights["output.bias"].shape[0]
    widest = max([units for _, units in network.layers()] + [network.inputs, 1])
    count = 1 if levels is None else len(levels)
    rows = max(1, _BLOCK // (members * widest * count))
    n = x.shape[-2]
    raw = np.empty((members, n, count, network.outputs))
    for start in range(0, n, rows):
        block = x[..., start : start + rows, :].astype(np.float64)
        own = levels
        if levels is not None and not network.level_units:
            block, own = _with_levels(block, levels), None
        raw[:, start : start + rows] = _forward_block(network, weights, block, own).reshape(
            members, -1, count, network.outputs
        )
    return raw[:, :, 0] if levels is None else raw


def _with_levels(x: FloatArray, levels: FloatArray) -> FloatArray:
    """Each row of the inputs once for each level, which is the last of its inputs."""
    repeated = np.repeat(x, len(levels), axis=-2)
    last = np.broadcast_to(np.tile(levels, x.shape[-2])[:, None], (*repeated.shape[:-1], 1))
    return np.concatenate([repeated, last], axis=-1)


def _forward_block(
    network: Architecture, weights: Mapping[str, FloatArray], x: FloatArray, levels: FloatArray | None
) -> FloatArray:
    activation = ACTIVATIONS[network.activation]
    members, heads = weights["output.bias"].shape[0], network.heads
    n = x.shape[-2] * (1 if levels is None else len(levels))
    e = None if levels is None else _embedded(network, weights, levels)

    def finish(h: FloatArray, layer: str) -> FloatArray:
        h = h + weights[f"{layer}.bias"][:, None, :]
        if network.batch_norm:
            spread = np.sqrt(weights[f"{layer}.variance"] + BATCH_NORM_EPSILON)
            factor = (weights[f"{layer}.scale"] / spread)[:, None, :]
            h = (h - weights[f"{layer}.mean"][:, None, :]) * factor + weights[f"{layer}.shift"][:, None, :]
        return activation(h)

    def beside(h: FloatArray, weight: FloatArray) -> FloatArray:
        """Product of units (members, rows, units) and embedded levels with one weight, for all pairs of both."""
        if e is None:
            return np.asarray(h @ weight)
        own, of_level = h @ weight[:, : -network.embedded], e @ weight[:, -network.embedded :]
        return (own[:, :, None, :] + of_level[:, None, :, :]).reshape(members, n, -1)

    h = np.broadcast_to(x, (members, *x.shape[-2:]))
    for i, size in enumerate(network.hidden):
        product = h @ weights[f"hidden{i}.weight"]
        h = finish(product[..., :size], f"hidden{i}")
        if network.residual:
            h = h + product[..., size:]
    for i, size in enumerate(network.head_hidden):
        weight = weights[f"head{i}.weight"]
        if i == 0:
            product = beside(h, weight)
        else:
            apart = h.reshape(members, n, heads, -1).swapaxes(1, 2)
            product = (apart @ weight).swapaxes(1, 2).reshape(members, n, heads * size)
        h = finish(product, f"head{i}")
    if network.head_hidden:
        weight = weights["output.weight"]
        last = weight.shape[-1] - network.embedded
        raw = np.einsum("mnkh,mkh->mnk", h.reshape(members, n, heads, -1), weight[..., :last])
        if e is not None:
            of_level = e @ weight[..., last:].swapaxes(1, 2)
            raw = (raw.reshape(members, -1, e.shape[1], heads) + of_level[:, None]).reshape(members, n, heads)
    else:
        raw = beside(h, weights["output.weight"])
    bias = weights["output.bias"][:, None, :]
    if network.constants:
        fixed = np.broadcast_to(bias[..., heads:], (members, n, network.constants))
        return np.concatenate([raw + bias[..., :heads], fixed], axis=-1)
    return np.asarray(raw + bias)


def _embedded(network: Architecture, weights: Mapping[str, FloatArray], levels: FloatArray) -> FloatArray:
    """The levels as each member sees them (members, levels, numbers)."""
    e = np.broadcast_to(levels[:, None], (weights["output.bias"].shape[0], len(levels), 1))
    for i in range(len(network.level_units)):
        e = e @ weights[f"level{i}.weight"] + weights[f"level{i}.bias"][:, None, :]
        e = np.maximum(e, 0.0) if i < len(network.level_units) - 1 else np.exp(e)
    return e
