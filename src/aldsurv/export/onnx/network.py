"""The forward pass of all members at once: weights (members, outputs, inputs) times rows (inputs, rows)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from aldsurv.export.onnx.columns import Rows
from aldsurv.export.onnx.functions import expm1, softplus
from aldsurv.export.onnx.graph import Graph, Tensor, joined
from aldsurv.networks.architecture import Architecture
from aldsurv.networks.numpy_forward import BATCH_NORM_EPSILON

__all__ = ["network_outputs"]

FloatArray = NDArray[np.float64]
_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def _tanh(x: Tensor) -> Tensor:
    return x.graph.node("Tanh", [x], x.dtype)


def _silu(x: Tensor) -> Tensor:
    # Not by Sigmoid: some runtimes fuse that into an operator which they have in single precision only. Where the
    # exponential is infinite, the quotient is 0.
    return x / ((-x).exp() + 1.0)


def _gelu(x: Tensor) -> Tensor:
    return x * 0.5 * (_tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)) + 1.0)


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": lambda x: x.maximum(0.0),
    "leaky_relu": lambda x: x.maximum(x * 0.01),
    "elu": lambda x: x.maximum(0.0) + expm1(x.minimum(0.0)),
    "selu": lambda x: (x.maximum(0.0) + expm1(x.minimum(0.0)) * _SELU_ALPHA) * _SELU_SCALE,
    "gelu": _gelu,
    "silu": _silu,
    "tanh": _tanh,
    "softplus": softplus,
}


def network_outputs(
    network: Architecture,
    arrays: Mapping[str, NDArray[np.float32]],
    rows: Rows,
    levels: FloatArray | None = None,
) -> Tensor:
    """Outputs of all members (members, outputs, rows), at several levels (members, outputs, levels, rows)."""
    weights = {name: array.astype(np.float64) for name, array in arrays.items()}
    return _Forward(rows.values.graph, network, weights, levels).outputs(rows)


class _Forward:
    """One pass; with levels, rows are repeated for each of them from where these come in."""

    def __init__(
        self, graph: Graph, network: Architecture, weights: dict[str, FloatArray], levels: FloatArray | None
    ) -> None:
        self._graph, self._network, self._weights = graph, network, weights
        self._members = weights["output.bias"].shape[0]
        self._beside: FloatArray | None = None
        self._at = ""
        if levels is not None:
            self._beside = _embedded(network, weights, levels)
            first_head = "head0.weight" if network.head_hidden else "output.weight"
            self._at = first_head if network.level_units else network.input_slot

    def outputs(self, rows: Rows) -> Tensor:
        network, weights = self._network, self._weights
        h = rows.values
        first = weights[network.input_slot]
        seen = np.concatenate([rows.order, np.arange(network.inputs, first.shape[1])])
        if self._at == network.input_slot and not network.level_units:
            seen = np.append(rows.order, network.inputs - 1)
        # Numbers that no row has, of columns that are left out, add nothing.
        weights[network.input_slot] = first[:, seen] if first.ndim == 3 else first
        around: Tensor | None = None
        for i, size in enumerate(network.hidden):
            slot = f"hidden{i}.weight"
            straight = network.residual and i == len(network.hidden) - 1 and not network.head_hidden
            if straight and self._beside is None:
                # What goes around the last layer goes on to the outputs, which are fewer than its units; by a product
                # of its own, since a part of a product would be copied.
                skip = weights[slot][:, :, size:] @ weights["output.weight"]
                around = self._times(skip.transpose(0, 2, 1), h, slot)
                weights[slot] = weights[slot][:, :, :size]
                h = self._finished(self._product(h, slot), f"hidden{i}")
                continue
            product = self._product(h, slot)
            h = self._finished(product.slice(0, size, axis=1) if network.residual else product, f"hidden{i}")
            if network.residual:
                h = h + product.slice(size, 2 * size, axis=1)
        for i, size in enumerate(network.head_hidden):
            if i == 0:
                product = self._product(h, "head0.weight")
            else:
                weight = weights[f"head{i}.weight"].transpose(0, 1, 3, 2)
                apart = h.reshape([self._members, network.heads, weight.shape[3], -1])
                product = (self._graph.constant(weight) @ apart).reshape([self._members, network.heads * size, -1])
            h = self._finished(product, f"head{i}")
        raw = self._heads(h) if network.head_hidden else self._product(h, "output.weight")
        raw = raw if around is None else raw + around
        bias = weights["output.bias"]
        raw = raw + self._graph.constant(bias[:, : network.heads, None])
        if network.constants:
            fixed = self._graph.constant(bias[:, network.heads :, None])
            raw = joined([raw, fixed + raw.slice(0, 1, axis=1) * 0.0], axis=1)
        if self._beside is None:
            return raw
        return raw.reshape([self._members, network.outputs, self._beside.shape[2], -1])

    def _product(self, h: Tensor, slot: str) -> Tensor:
        weight = self._weights[slot].transpose(0, 2, 1)
        if slot != self._at or self._beside is None:
            return self._times(weight, h, slot)
        extra = self._beside.shape[1]
        own = self._times(weight[:, :, :-extra], h, slot)
        return self._with_levels(own, weight[:, :, -extra:] @ self._beside)

    def _times(self, weight: FloatArray, h: Tensor, slot: str) -> Tensor:
        if slot != self._network.input_slot:
            return self._graph.constant(weight) @ h
        # All members read the same rows: one product for all of them.
        flat = self._graph.constant(weight.reshape(-1, weight.shape[2])) @ h
        return flat.reshape([self._members, weight.shape[1], -1])

    def _with_levels(self, own: Tensor, of_level: FloatArray) -> Tensor:
        """Each row (members, units, rows) with each level (members, units, levels), levels before rows."""
        every = own.unsqueeze(2) + self._graph.constant(of_level[:, :, :, None])
        return every.reshape([self._members, of_level.shape[1], -1])

    def _heads(self, h: Tensor) -> Tensor:
        """Each output from the units of its own head."""
        network, weight = self._network, self._weights["output.weight"]
        last = weight.shape[-1] - network.embedded
        apart = h.reshape([self._members, network.heads, last, -1])
        raw = (self._graph.constant(weight[:, :, None, :last]) @ apart).reshape([self._members, network.heads, -1])
        if not network.embedded or self._beside is None:
            return raw
        of_level = self._graph.constant((weight[:, :, last:] @ self._beside)[:, :, :, None])
        apart = raw.reshape([self._members, network.heads, self._beside.shape[2], -1])
        return (apart + of_level).reshape([self._members, network.heads, -1])

    def _finished(self, product: Tensor, layer: str) -> Tensor:
        shift = self._weights[f"{layer}.bias"]
        if self._network.batch_norm:
            spread = np.sqrt(self._weights[f"{layer}.variance"] + BATCH_NORM_EPSILON)
            factor = self._weights[f"{layer}.scale"] / spread
            shift = (shift - self._weights[f"{layer}.mean"]) * factor + self._weights[f"{layer}.shift"]
            product = product * self._graph.constant(factor[:, :, None])
        return _ACTIVATIONS[self._network.activation](product + self._graph.constant(shift[:, :, None]))


def _embedded(network: Architecture, weights: Mapping[str, FloatArray], levels: FloatArray) -> FloatArray:
    """The levels as each member sees them (members, numbers, levels)."""
    e = np.broadcast_to(levels, (weights["output.bias"].shape[0], 1, len(levels)))
    for i in range(len(network.level_units)):
        e = weights[f"level{i}.weight"].transpose(0, 2, 1) @ e + weights[f"level{i}.bias"][:, :, None]
        e = np.maximum(e, 0.0) if i < len(network.level_units) - 1 else np.exp(e)
    return np.asarray(e)
