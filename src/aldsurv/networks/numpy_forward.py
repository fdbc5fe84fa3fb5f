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


def forward(network: Architecture, arrays: Mapping[str, NDArray[np.float32]], x: NDArray[np.float32]) -> FloatArray:
    """Outputs of all members (members, n, outputs).

    Parameters
    ----------
    network, arrays
        What the network looks like, and its weights with a leading members axis.
    x
        Inputs (n, inputs) for all members, or (members, n, inputs) when each has its own.
    """
    weights = {name: array.astype(np.float64) for name, array in arrays.items()}
    members = weights["output.bias"].shape[0]
    widest = max([units for _, units in network.layers()] + [network.inputs, 1])
    rows = max(1, _BLOCK // (members * widest))
    n = x.shape[-2]
    raw = np.empty((members, n, network.outputs))
    for start in range(0, n, rows):
        block = x[..., start : start + rows, :].astype(np.float64)
        raw[:, start : start + rows] = _forward_block(network, weights, block)
    return raw


def _forward_block(network: Architecture, weights: Mapping[str, FloatArray], x: FloatArray) -> FloatArray:
    activation = ACTIVATIONS[network.activation]
    members, n, heads = weights["output.bias"].shape[0], x.shape[-2], network.heads

    def finish(h: FloatArray, layer: str) -> FloatArray:
        h = h + weights[f"{layer}.bias"][:, None, :]
        if network.batch_norm:
            spread = np.sqrt(weights[f"{layer}.variance"] + BATCH_NORM_EPSILON)
            factor = (weights[f"{layer}.scale"] / spread)[:, None, :]
            h = (h - weights[f"{layer}.mean"][:, None, :]) * factor + weights[f"{layer}.shift"][:, None, :]
        return activation(h)

    h = np.broadcast_to(x, (members, *x.shape[-2:]))
    for i, size in enumerate(network.hidden):
        product = h @ weights[f"hidden{i}.weight"]
        h = finish(product[..., :size], f"hidden{i}")
        if network.residual:
            h = h + product[..., size:]
    for i, size in enumerate(network.head_hidden):
        weight = weights[f"head{i}.weight"]
        if i == 0:
            product = h @ weight
        else:
            apart = h.reshape(members, n, heads, -1).swapaxes(1, 2)
            product = (apart @ weight).swapaxes(1, 2).reshape(members, n, heads * size)
        h = finish(product, f"head{i}")
    if network.head_hidden:
        raw = np.einsum("mnkh,mkh->mnk", h.reshape(members, n, heads, -1), weights["output.weight"])
    else:
        raw = h @ weights["output.weight"]
    bias = weights["output.bias"][:, None, :]
    if network.constants:
        fixed = np.broadcast_to(bias[..., heads:], (members, n, network.constants))
        return np.concatenate([raw + bias[..., :heads], fixed], axis=-1)
    return np.asarray(raw + bias)
