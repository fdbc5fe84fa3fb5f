"""Forward and backward pass of a network by hand, for training small networks on a CPU.

Autograd and torch's dispatch cost more than the arithmetic of a small network. Here products are torch's, all else is
numpy on the same memory, results go into buffers that are used again for the next batch, and gradients are written
where the optimiser reads them. `forward_on_torch` says what is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.networks.architecture import Architecture

__all__ = ["BY_HAND", "HandPasses"]

# float32 or float64, as the weights are.
FloatArray = NDArray[np.floating[Any]]


def _relu(units: FloatArray, after: FloatArray, slopes: NDArray[Any]) -> None:
    np.greater(units, 0.0, out=slopes)
    np.maximum(units, 0.0, out=after)


def _silu(units: FloatArray, after: FloatArray, slopes: NDArray[Any]) -> None:
    # With s = 1/(1 + e⁻ᵘ): the unit is u·s, its slope s + u·s·(1 - s).
    np.negative(units, out=slopes)
    _exponentiate(slopes)
    slopes += 1.0
    np.reciprocal(slopes, out=slopes)
    np.multiply(units, slopes, out=after)
    # The units are not needed any more, unless they are the result.
    slopes *= np.subtract(1.0, after, out=None if after is units else units)
    slopes += after


def _exponentiate(values: FloatArray) -> None:
    """Replace values by their exponentials."""
    if values.dtype == np.float64:
        # On processors without AVX-512 numpy has no vector form for float64; that of torch takes half the time.
        tensor = torch.from_numpy(values)
        torch.exp(tensor, out=tensor)
    else:
        np.exp(values, out=values)


def _tanh(units: FloatArray, after: FloatArray, slopes: NDArray[Any]) -> None:
    np.tanh(units, out=after)
    np.multiply(after, after, out=slopes)
    np.subtract(1.0, slopes, out=slopes)


# Activations with their slopes, which for a rectified unit are bools; `after` may be `units` itself.
BY_HAND: dict[str, tuple[Callable[[FloatArray, FloatArray, NDArray[Any]], None], torch.dtype | None]] = {
    "relu": (_relu, torch.bool),
    "silu": (_silu, None),
    "tanh": (_tanh, None),
}


@final
class HandPasses:
    """Passes of one network over batches of any size.

    Parameters
    ----------
    network
        One whose activation is in `BY_HAND`, without batch normalisation.
    weights, gradients
        Its arrays with a leading members axis, and where their gradients go; contiguous, on the CPU.
    """

    def __init__(self, network: Architecture, weights: Mapping[str, Tensor], gradients: Mapping[str, Tensor]) -> None:
        self._network = network
        self._weights = {name: weight.detach() for name, weight in weights.items()}
        self._gradients = dict(gradients)
        self._biases = {name: w.numpy()[:, None, :] for name, w in self._weights.items() if name.endswith(".bias")}
        self._sums = {name: g.numpy() for name, g in gradients.items() if name.endswith(".bias")}
        self._members = self._weights["output.bias"].shape[0]
        self._buffers: dict[tuple[Any, ...], tuple[Tensor, Any]] = {}
        self._x = self._last = torch.empty(0)
        self._dropped = False
        self._factors: dict[str, Any] = {}
        self._dtype = self._weights["output.bias"].dtype
        self._activate, slope_type = BY_HAND[network.activation]
        self._slope_type = slope_type or self._dtype
        self._widths = dict(network.layers())
        # Where the factors of each layer are among those of all of them.
        stops = np.cumsum([0, *self._widths.values()]).tolist()
        self._spans = {name: slice(*stops[i : i + 2]) for i, name in enumerate(self._widths)}
        self._all_outputs: dict[int, FloatArray] = {}

    def forward(self, x: Tensor, keep: Tensor | None) -> FloatArray:
        """Outputs (members, rows, outputs); they are overwritten by the next call."""
        network, n = self._network, x.shape[1]
        self._x, self._dropped = x, keep is not None
        factors = self._layer_factors(keep)
        h = x
        for i, size in enumerate(network.hidden):
            name = f"hidden{i}"
            product, values = self._buffer(f"{name} product", n, 2 * size if network.residual else size)
            torch.bmm(h, self._weights[f"{name}.weight"], out=product)
            h, after = self._buffer(name, n, size)
            units = values[..., :size]
            units += self._biases[f"{name}.bias"]
            self._activate(units, after, self._slopes(name, n))
            if network.residual:
                after += values[..., size:]
            if keep is not None:
                after *= factors[name]
        for i, size in enumerate(network.head_hidden):
            name = f"head{i}"
            h = self._head_product(i, h, n, size)
            values = self._buffer(name, n, network.heads * size)[1]
            self._activate(values, values, self._slopes(name, n))
            if keep is not None:
                values *= factors[name]
        self._last = self._output_weight()
        heads = network.heads
        raw, numbers = self._buffer("raw", n, heads + network.spare_columns)
        bias = self._weights["output.bias"][:, :heads].unsqueeze(1)
        torch.baddbmm(self._widened("bias", bias), h, self._widened("weight", self._last), out=raw)
        if network.constants:
            return self._with_constants(numbers[..., :heads])
        return np.ascontiguousarray(numbers[..., :heads])

    def backward(self, slopes: FloatArray) -> None:
        """Write the gradients of all weights, given those of the last outputs."""
        network, n = self._network, slopes.shape[1]
        # Into memory of torch: how products round may depend on where their factors lie, and numpy's lie anywhere.
        g, values = self._buffer("slopes", n, network.heads)
        np.copyto(values, slopes[..., : network.heads])
        slopes.sum(axis=1, out=self._sums["output.bias"])
        layers = [f"hidden{i}" for i in range(len(network.hidden))]
        layers += [f"head{i}" for i in range(len(network.head_hidden))]
        last = self._buffer(layers[-1], n, self._width(layers[-1]))[0] if layers else self._x
        self._output_gradient(torch.bmm(last.transpose(1, 2), g))
        g = self._times_transposed("last", g, self._last) if layers else g
        for i in reversed(range(len(network.head_hidden))):
            g = self._head_backward(i, self._before_activation(f"head{i}", g), n)
        for i in reversed(range(len(network.hidden))):
            name, size = f"hidden{i}", network.hidden[i]
            before = self._x if i == 0 else self._buffer(f"hidden{i - 1}", n, network.hidden[i - 1])[0]
            g = self._residual(name, g, size) if network.residual else self._before_activation(name, g)
            g.numpy()[..., :size].sum(axis=1, out=self._sums[f"{name}.bias"])
            torch.bmm(before.transpose(1, 2), g, out=self._gradients[f"{name}.weight"])
            if i > 0:
                g = self._times_transposed(name, g, self._weights[f"{name}.weight"])

    def _times_transposed(self, name: str, g: Tensor, weight: Tensor) -> Tensor:
        """Gradients of the units before a product, from those behind it."""
        before = self._buffer(f"before {name}", g.shape[1], weight.shape[1])[0]
        return torch.bmm(g, weight.transpose(1, 2), out=before)

    def _widened(self, name: str, array: Tensor) -> Tensor:
        """An array of the outputs with the spare columns of zeros."""
        spare = self._network.spare_columns
        if not spare:
            return array
        rows, heads = array.shape[1:]
        wide, values = self._buffer(f"output {name}, widened", rows, heads + spare)
        values[..., :heads] = array.numpy()
        return wide

    def _with_constants(self, numbers: FloatArray) -> FloatArray:
        """Outputs that depend on the inputs, and behind them those that do not; each output is contiguous."""
        heads, n = self._network.heads, numbers.shape[1]
        if n not in self._all_outputs:
            planes = np.zeros((self._network.outputs, self._members, n), numbers.dtype)
            self._all_outputs[n] = planes.transpose(1, 2, 0)
        everything = self._all_outputs[n]
        everything[..., :heads] = numbers
        everything[..., heads:] = self._biases["output.bias"][..., heads:]
        return everything

    def _buffer(self, name: str, n: int, units: int, dtype: torch.dtype | None = None) -> tuple[Tensor, Any]:
        key = (name, n)
        if key not in self._buffers:
            tensor = torch.zeros(self._members, n, units, dtype=dtype or self._dtype)
            self._buffers[key] = (tensor, tensor.numpy())
        return self._buffers[key]

    def _width(self, layer: str) -> int:
        return self._widths[layer]

    def _layer_factors(self, keep: Tensor | None) -> dict[str, Any]:
        self._factors = {}
        if keep is None:
            return {}
        values = keep.numpy()
        self._factors = {name: values[..., span] for name, span in self._spans.items()}
        return self._factors

    def _head_product(self, i: int, h: Tensor, n: int, size: int) -> Tensor:
        """Weighted sums of the units before, in the buffer of this layer."""
        out, values = self._buffer(f"head{i}", n, self._network.heads * size)
        weight = self._weights[f"head{i}.weight"]
        if i == 0:
            return torch.baddbmm(self._weights["head0.bias"].unsqueeze(1), h, weight, out=out)
        product = self._apart(h) @ weight
        np.add(product.transpose(1, 2).numpy().reshape(values.shape), self._biases[f"head{i}.bias"], out=values)
        return out

    def _head_backward(self, i: int, g: Tensor, n: int) -> Tensor:
        """Gradients of a layer of the heads, and of the units before it."""
        network, weight = self._network, self._weights[f"head{i}.weight"]
        g.numpy().sum(axis=1, out=self._sums[f"head{i}.bias"])
        if i > 0:
            before = self._buffer(f"head{i - 1}", n, self._width(f"head{i - 1}"))[0]
            own = self._apart(g)
            torch.matmul(self._apart(before).transpose(2, 3), own, out=self._gradients[f"head{i}.weight"])
            return (own @ weight.transpose(2, 3)).transpose(1, 2).reshape(g.shape[0], n, -1)
        shared = len(network.hidden)
        before = self._buffer(f"hidden{shared - 1}", n, network.hidden[-1])[0] if shared else self._x
        torch.bmm(before.transpose(1, 2), g, out=self._gradients["head0.weight"])
        return self._times_transposed("head0", g, weight) if shared else g

    def _apart(self, h: Tensor) -> Tensor:
        """Units of each head (members, heads, rows, units)."""
        return h.view(*h.shape[:2], self._network.heads, -1).transpose(1, 2)

    def _slopes(self, layer: str, n: int) -> Any:
        """Where the slope of each unit's activation is kept for the way back."""
        return self._buffer(f"{layer} slopes", n, self._width(layer), self._slope_type)[1]

    def _before_activation(self, layer: str, g: Tensor) -> Tensor:
        """Gradient of a layer's weighted sums, from that of its units after dropout."""
        values = g.numpy()
        if self._dropped:
            values *= self._factors[layer]
        values *= self._slopes(layer, g.shape[1])
        return g

    def _residual(self, layer: str, g: Tensor, size: int) -> Tensor:
        """Gradient of a layer's weighted sums and, beside it, of its projection."""
        both, values = self._buffer(f"{layer} gradient", g.shape[1], 2 * size)
        projected = values[..., size:]
        if self._dropped:
            np.multiply(g.numpy(), self._factors[layer], out=projected)
        else:
            projected[...] = g.numpy()
        np.multiply(projected, self._slopes(layer, g.shape[1]), out=values[..., :size])
        return both

    def _output_weight(self) -> Tensor:
        """Weights of the outputs as one matrix (members, units, outputs): each sees the units of its own head."""
        weight = self._weights["output.weight"]
        if not self._network.head_hidden:
            return weight
        heads, units = weight.shape[1:]
        full = self._buffer("output weight", heads * units, heads)[0]
        full.view(-1, heads, units, heads).diagonal(0, 1, 3).copy_(weight.transpose(1, 2))
        return full

    def _output_gradient(self, full: Tensor) -> None:
        gradient = self._gradients["output.weight"]
        if self._network.head_hidden:
            heads, units = gradient.shape[1:]
            gradient.copy_(full.view(-1, heads, units, heads).diagonal(0, 1, 3).transpose(1, 2))
        else:
            gradient.copy_(full)
