"""The forward pass on numpy: predicting needs neither torch nor a device.

The weights are float32, the arithmetic is float64: a row's prediction does not depend on the rows beside it
by more than the last digits of a float64, and is the same from the estimator that was trained and from its file.

Units are the rows of arrays ``(members, units, n)``, and a layer is ``weights @ units``: the first layer of all
members, which have the same inputs, is then one product of matrices, and each output is one piece of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.networks.activations import ACTIVATIONS
from aldsurv.networks.architecture import Architecture

__all__ = ["BATCH_NORM_EPSILON", "PreparedNetwork", "forward"]

FloatArray = NDArray[np.float64]
BATCH_NORM_EPSILON = 1e-5
# Largest number of values in the widest layer at once: what stays in a processor's cache.
_BLOCK = 100_000
# Largest number of values in an activation at once: memory for more would be fresh each time.
_PIECE = 12_000


class _Layer(NamedTuple):
    """A layer with an activation: ``act(weight @ h + bias)``, batch normalisation multiplied into it.

    Arrays (members, units, inputs) and (members, units, 1); the later layers of heads have an axis of heads after that
    of the members. A shared layer's `weight` has more rows than its `bias` if something passes the activation by.
    """

    weight: FloatArray
    bias: FloatArray


@final
class PreparedNetwork:
    """The layers of all members, ready for products: what follows a product at once is multiplied into it.

    It computes in memory of its own, which the next block of rows takes again: fresh memory would cost more than the
    numbers in it. An answer holds until the next one, and no two threads share one.

    Batch normalisation is part of the weights, and the residual path of the last shared layer, which meets nothing that
    bends on its way to the outputs, is one product with them.

    Parameters
    ----------
    network, arrays
        What the network looks like, and its weights with a leading members axis.

    Attributes
    ----------
    constants
        Outputs (members, constants) that are the same for every row.
    """

    def __init__(self, network: Architecture, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        weights = {name: array.astype(np.float64) for name, array in arrays.items()}
        self._network, self._members = network, len(weights["output.bias"])
        self._buffers: dict[str, FloatArray] = {}
        self._bias = weights["output.bias"][:, : network.heads, None]
        self.constants: FloatArray = weights["output.bias"][:, network.heads :]
        self._level_layers = [
            (weights[f"level{i}.weight"].swapaxes(-1, -2), weights[f"level{i}.bias"][..., None])
            for i in range(len(network.level_units))
        ]
        self._heads = [_layer(f"head{i}", weights) for i in range(len(network.head_hidden))]
        self._shared = [_layer(f"hidden{i}", weights) for i in range(len(network.hidden))]
        self._output = weights["output.weight"] if self._heads else weights["output.weight"].swapaxes(-1, -2)
        # Whether the residual path of the last shared layer ends at the outputs, not at the units.
        self._past_units = bool(
            network.residual and network.hidden and not self._heads and network.heads < network.hidden[-1]
        )
        if self._past_units:
            size, (weight, bias) = network.hidden[-1], self._shared[-1]
            past = self._output[..., :size] @ weight[:, size:]
            self._shared[-1] = _Layer(np.concatenate([weight[:, :size], past], axis=1), bias)

    def row_blocks(self, x: NDArray[np.float32], count: int = 1) -> Iterator[slice]:
        """Rows of `x`, of which those at `count` levels go through at once."""
        shared = x.ndim == 2
        units = max([units for _, units in self._network.layers()] + [self._network.outputs])
        widest = self._members * (units if shared else max(units, self._network.inputs)) + self._network.inputs
        rows = max(1, _BLOCK // (widest * count))
        return (slice(start, start + rows) for start in range(0, x.shape[-2], rows))

    def moving_outputs(self, x: NDArray[np.float32], levels: FloatArray | None = None) -> FloatArray:
        """Outputs (members, n, levels, heads) that depend on the inputs, all rows at once; without levels, of one."""
        block, embedded = x.astype(np.float64), None
        if levels is not None and self._level_layers:
            embedded = self._embedded(levels)
        elif levels is not None:
            block = _with_levels(block, levels)
        raw = self._outputs(block.swapaxes(-1, -2), embedded)
        raw += self._bias
        return np.moveaxis(raw.reshape(*raw.shape[:2], x.shape[-2], -1), 1, -1)

    def _outputs(self, h: FloatArray, e: FloatArray | None) -> FloatArray:
        """Outputs (members, heads, n) without bias; with embedded levels (members, numbers, m) of all n·m pairs."""
        activation = ACTIVATIONS[self._network.activation]
        members, heads = self._members, self._network.heads
        past = None
        for i, layer in enumerate(self._shared):
            size, product = layer.bias.shape[1], self._product(f"hidden{i}", h, layer.weight)
            h, linear = product[:, :size], product[:, size:]
            h += layer.bias
            _activate(h, activation)
            if self._past_units and i == len(self._shared) - 1:
                past = linear
            elif self._network.residual:
                h += linear
        for i, layer in enumerate(self._heads):
            if i == 0:
                h = self._product_with_levels("head0", h, layer.weight, e)
            else:
                h = (layer.weight @ h.reshape(members, heads, -1, h.shape[-1])).reshape(members, -1, h.shape[-1])
            h += layer.bias
            _activate(h, activation)
        if self._heads:
            return _head_outputs(h.reshape(members, heads, -1, h.shape[-1]), self._output, e)
        raw = self._product_with_levels("output", h, self._output, e)
        if past is not None:
            raw += past if e is None else np.repeat(past, e.shape[-1], axis=-1)
        return raw

    def _product(self, name: str, h: FloatArray, weight: FloatArray) -> FloatArray:
        """Weights (members, units, inputs) times inputs (members, inputs, n), or times those of all (inputs, n)."""
        members, units, inputs = weight.shape
        shape = members, units, h.shape[-1]
        if name not in self._buffers or self._buffers[name].shape != shape:
            self._buffers[name] = np.empty(shape)
        out = self._buffers[name]
        if h.ndim == 3:
            return np.matmul(weight, h, out=out)
        np.matmul(weight.reshape(members * units, inputs), h, out=out.reshape(members * units, h.shape[-1]))
        return out

    def _product_with_levels(self, name: str, h: FloatArray, weight: FloatArray, e: FloatArray | None) -> FloatArray:
        """Product of weights with units (members, units, n) and embedded levels (members, numbers, m), all pairs."""
        if e is None:
            return self._product(name, h, weight)
        own, of_level = self._product(name, h, weight[..., : -e.shape[1]]), weight[..., -e.shape[1] :] @ e
        return np.asarray(own[..., None] + of_level[:, :, None, :]).reshape(*own.shape[:2], -1)

    def _embedded(self, levels: FloatArray) -> FloatArray:
        """The levels as each member sees them (members, numbers, levels)."""
        e = np.broadcast_to(levels, (self._members, 1, len(levels)))
        for i, (weight, bias) in enumerate(self._level_layers):
            e = weight @ e + bias
            e = np.exp(e) if i == len(self._level_layers) - 1 else np.maximum(e, 0.0)
        return e


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
    prepared = PreparedNetwork(network, arrays)
    members, count = len(prepared.constants), 1 if levels is None else len(levels)
    # Each output is one piece of memory.
    raw = np.moveaxis(np.empty((members, network.outputs, x.shape[-2], count)), 1, -1)
    raw[..., network.heads :] = prepared.constants[:, None, None, :]
    for rows in prepared.row_blocks(x, count):
        raw[:, rows, :, : network.heads] = prepared.moving_outputs(x[..., rows, :], levels)
    return raw[:, :, 0] if levels is None else raw


def _layer(name: str, weights: Mapping[str, FloatArray]) -> _Layer:
    weight, bias = weights[f"{name}.weight"].swapaxes(-1, -2), weights[f"{name}.bias"][..., None]
    if f"{name}.variance" not in weights:
        return _Layer(weight, bias)
    spread = np.sqrt(weights[f"{name}.variance"] + BATCH_NORM_EPSILON)
    factor = (weights[f"{name}.scale"] / spread)[..., None]
    bias = (bias - weights[f"{name}.mean"][..., None]) * factor + weights[f"{name}.shift"][..., None]
    if weight.ndim == 4:
        # A later layer of heads: its bias has the units of one head after the other.
        return _Layer(weight * factor.reshape(*weight.shape[:-1], 1), bias)
    # What passes by is not normalised.
    size = bias.shape[1]
    return _Layer(np.concatenate([weight[:, :size] * factor, weight[:, size:]], axis=1), bias)


def _activate(h: FloatArray, activation: Callable[[FloatArray], FloatArray]) -> None:
    """Apply an activation to units (members, units, n) in place, some members at a time."""
    step = max(1, _PIECE // max(1, h[0].size))
    for first in range(0, len(h), step):
        h[first : first + step] = activation(h[first : first + step])


def _head_outputs(h: FloatArray, weight: FloatArray, e: FloatArray | None) -> FloatArray:
    """One output of each head from its units (members, heads, units, n) and the embedded levels."""
    members, heads, units, n = h.shape
    raw = np.asarray(weight[:, :, None, :units] @ h).reshape(members, heads, n)
    if e is None:
        return raw
    of_level = weight[..., units:] @ e
    return np.asarray(raw.reshape(members, heads, -1, e.shape[-1]) + of_level[:, :, None, :]).reshape(raw.shape)


def _with_levels(x: FloatArray, levels: FloatArray) -> FloatArray:
    """Each row of the inputs once for each level, which is the last of its inputs."""
    repeated = np.repeat(x, len(levels), axis=-2)
    last = np.broadcast_to(np.tile(levels, x.shape[-2])[:, None], (*repeated.shape[:-1], 1))
    return np.concatenate([repeated, last], axis=-1)
