"""The same forward pass on torch, with what training needs: gradients, dropout, statistics of the batch.

Small networks on a CPU are bound by the number of calls, so operations are few and large: one product for a
layer and its residual projection, one for the first layer of all heads.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from aldsurv.networks.architecture import Architecture
from aldsurv.networks.numpy_forward import BATCH_NORM_EPSILON

__all__ = ["forward_on_torch"]

_MOMENTUM = 0.1


def forward_on_torch(
    network: Architecture,
    weights: Mapping[str, Tensor],
    x: Tensor,
    *,
    keep: Tensor | None = None,
    training: bool = False,
) -> Tensor:
    """Outputs (members, rows, outputs) for inputs (members, rows, inputs).

    Parameters
    ----------
    network, weights
        What the network looks like, and its arrays with a leading members axis.
    x
        Inputs of each member; if the network embeds a level, that is behind them.
    keep
        Factors (members, rows, units of all layers) for dropout: 0 for a unit that is dropped.
    training
        Whether batch normalisation uses, and learns, the statistics of this batch.
    """
    members, n, _ = x.shape
    heads, used = network.heads, 0

    def finish(h: Tensor, layer: str) -> Tensor:
        return _activate(network, _normalise(weights, h, layer, training) if network.batch_norm else h)

    def drop(h: Tensor) -> Tensor:
        nonlocal used
        if keep is None:
            return h
        used += h.shape[-1]
        return h * keep[..., used - h.shape[-1] : used]

    h, e = x, None
    if network.level_units:
        h, e = x[..., : network.inputs], _embedded(network, weights, x[..., network.inputs :])
    for i, size in enumerate(network.hidden):
        weight, bias = weights[f"hidden{i}.weight"], weights[f"hidden{i}.bias"].unsqueeze(1)
        if network.residual:
            product = torch.bmm(h, weight)
            h = finish(product[..., :size] + bias, f"hidden{i}") + product[..., size:]
        else:
            h = finish(torch.baddbmm(bias, h, weight), f"hidden{i}")
        h = drop(h)
    for i, size in enumerate(network.head_hidden):
        weight, bias = weights[f"head{i}.weight"], weights[f"head{i}.bias"].unsqueeze(1)
        if i == 0:
            h = torch.baddbmm(bias, h if e is None else torch.cat([h, e], -1), weight)
        else:
            apart = h.view(members, n, heads, -1).transpose(1, 2)
            h = (apart @ weight).transpose(1, 2).reshape(members, n, heads * size) + bias
        h = drop(finish(h, f"head{i}"))
    bias = weights["output.bias"].unsqueeze(1)
    own = bias[..., :heads]
    if network.head_hidden:
        # A sum of products, not a product with one column, whose rounding would depend on the other members.
        apart = h.view(members, n, heads, -1)
        if e is not None:
            apart = torch.cat([apart, e.unsqueeze(2).expand(-1, -1, heads, -1)], -1)
        raw = (apart * weights["output.weight"].unsqueeze(1)).sum(-1) + own
    else:
        own, weight = (F.pad(a, (0, network.spare_columns)) for a in (own, weights["output.weight"]))
        raw = torch.baddbmm(own, h if e is None else torch.cat([h, e], -1), weight)[..., :heads]
    return torch.cat([raw, bias[..., heads:].expand(-1, n, -1)], -1) if network.constants else raw


def _embedded(network: Architecture, weights: Mapping[str, Tensor], level: Tensor) -> Tensor:
    """Levels (members, rows, 1) as the heads see them: linear layers, relu in between, and exp."""
    e = level
    for i in range(len(network.level_units)):
        weight, bias = weights[f"level{i}.weight"], weights[f"level{i}.bias"].unsqueeze(1)
        e = torch.baddbmm(bias, e, weight) if i else e * weight + bias
        e = torch.relu(e) if i < len(network.level_units) - 1 else torch.exp(e)
    return e


def _activate(network: Architecture, h: Tensor) -> Tensor:
    if network.activation == "relu":
        return torch.relu(h)
    if network.activation == "gelu":
        return F.gelu(h, approximate="tanh")
    activated: Tensor = getattr(F, network.activation)(h)
    return activated


def _normalise(weights: Mapping[str, Tensor], h: Tensor, layer: str, training: bool) -> Tensor:
    mean, variance = weights[f"{layer}.mean"], weights[f"{layer}.variance"]
    scale, shift = weights[f"{layer}.scale"].unsqueeze(1), weights[f"{layer}.shift"].unsqueeze(1)
    # A single row has no spread of its own: it is normalised by what was learned so far.
    if training and h.shape[1] > 1:
        now_variance, now_mean = torch.var_mean(h, dim=1, correction=0)
        with torch.no_grad():
            mean.lerp_(now_mean, _MOMENTUM)
            # The spread of all rows, of which the batch is a sample.
            variance.lerp_(now_variance * (h.shape[1] / (h.shape[1] - 1)), _MOMENTUM)
        mean, variance = now_mean, now_variance
    return (h - mean.unsqueeze(1)) * torch.rsqrt(variance.unsqueeze(1) + BATCH_NORM_EPSILON) * scale + shift
