"""The networks as torch.nn modules, written out from their definition: the oracle of the forward passes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from aldsurv.networks import Architecture

ACTIVATIONS = {
    "relu": nn.ReLU(),
    "leaky_relu": nn.LeakyReLU(),
    "elu": nn.ELU(),
    "selu": nn.SELU(),
    "gelu": nn.GELU(approximate="tanh"),
    "silu": nn.SiLU(),
    "tanh": nn.Tanh(),
    "softplus": nn.Softplus(),
}


class Layer(nn.Module):
    """Linear, batch normalisation if there is any, activation, and the projection of the input beside it."""

    def __init__(self, inputs: int, size: int, activation: str, *, norm: bool, residual: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, size)
        self.norm = nn.BatchNorm1d(size) if norm else nn.Identity()
        self.activation = ACTIVATIONS[activation]
        self.projection = nn.Linear(inputs, size, bias=False) if residual else None

    def forward(self, x: Tensor) -> Tensor:
        h = self.activation(self.norm(self.linear(x)))
        return h if self.projection is None else h + self.projection(x)


class ByHand(nn.Module):
    """One member: shared layers, then a head for each output."""

    def __init__(self, network: Architecture, arrays: dict[str, np.ndarray]) -> None:
        super().__init__()
        norm, activation = network.batch_norm, network.activation
        widths = [network.inputs, *network.hidden]
        self.shared = nn.ModuleList(
            Layer(a, b, activation, norm=norm, residual=network.residual) for a, b in pairwise(widths)
        )
        widths = [widths[-1], *network.head_hidden]
        self.heads = nn.ModuleList(
            nn.ModuleList(Layer(a, b, activation, norm=norm, residual=False) for a, b in pairwise(widths))
            for _ in range(network.outputs)
        )
        self.outputs = nn.ModuleList(nn.Linear(widths[-1], 1) for _ in range(network.outputs))
        self.double()
        self._copy(network, {name: torch.tensor(array, dtype=torch.float64) for name, array in arrays.items()})

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.shared:
            x = layer(x)
        columns = []
        for head, output in zip(self.heads, self.outputs, strict=True):
            h = x
            for layer in head:
                h = layer(h)
            columns.append(output(h))
        return torch.cat(columns, dim=1)

    @torch.no_grad()
    def _copy(self, network: Architecture, arrays: dict[str, Tensor]) -> None:
        def fill(layer: Layer, name: str, weight: Tensor, units: Any) -> None:
            layer.linear.weight.copy_(weight.T)
            layer.linear.bias.copy_(arrays[f"{name}.bias"][units])
            if network.batch_norm:
                layer.norm.weight.copy_(arrays[f"{name}.scale"][units])
                layer.norm.bias.copy_(arrays[f"{name}.shift"][units])
                layer.norm.running_mean.copy_(arrays[f"{name}.mean"][units])
                layer.norm.running_var.copy_(arrays[f"{name}.variance"][units])

        for i, (layer, size) in enumerate(zip(self.shared, network.hidden, strict=True)):
            weight = arrays[f"hidden{i}.weight"]
            fill(layer, f"hidden{i}", weight[:, :size], slice(None))
            if network.residual:
                layer.projection.weight.copy_(weight[:, size:].T)
        for k, (head, output) in enumerate(zip(self.heads, self.outputs, strict=True)):
            for i, (layer, size) in enumerate(zip(head, network.head_hidden, strict=True)):
                units = slice(k * size, (k + 1) * size)
                weight = arrays[f"head{i}.weight"]
                fill(layer, f"head{i}", weight[:, units] if i == 0 else weight[k], units)
            weight = arrays["output.weight"]
            output.weight.copy_(weight[k][None] if network.head_hidden else weight[:, k][None])
            output.bias.copy_(arrays["output.bias"][k : k + 1])

    def norms(self, layer: str) -> list[nn.BatchNorm1d]:
        """The normalisations that belong to one of the architecture's layers."""
        i = int(layer[-1])
        if layer.startswith("hidden"):
            return [self.shared[i].norm]
        return [head[i].norm for head in self.heads]
