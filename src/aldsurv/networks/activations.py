"""Activation functions on numpy, by the names that they have in `torch.nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTIVATIONS"]

FloatArray = NDArray[np.float64]

_GELU_SLOPE = math.sqrt(2 / math.pi)
_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def _relu(x: FloatArray) -> FloatArray:
    return np.maximum(x, 0.0)


def _leaky_relu(x: FloatArray) -> FloatArray:
    return np.maximum(x, 0.01 * x)


def _elu(x: FloatArray) -> FloatArray:
    return np.maximum(x, 0.0) + np.expm1(np.minimum(x, 0.0))


def _selu(x: FloatArray) -> FloatArray:
    return _SELU_SCALE * (np.maximum(x, 0.0) + _SELU_ALPHA * np.expm1(np.minimum(x, 0.0)))


def _gelu(x: FloatArray) -> FloatArray:
    # The form with tanh: numpy has no error function.
    return 0.5 * x * (1.0 + np.tanh(_GELU_SLOPE * (x + 0.044715 * x**3)))


def _silu(x: FloatArray) -> FloatArray:
    # x·sigmoid(x) = x/(1 + exp(-x)), in place: most of what a prediction takes. Beyond 700 the exponential is infinite
    # for the purpose, but must not overflow.
    decay = np.minimum(np.negative(x), 700.0)
    np.exp(decay, out=decay)
    decay += 1.0
    return np.divide(x, decay, out=decay)


def _softplus(x: FloatArray) -> FloatArray:
    return np.logaddexp(x, 0.0)


ACTIVATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "relu": _relu,
    "leaky_relu": _leaky_relu,
    "elu": _elu,
    "selu": _selu,
    "gelu": _gelu,
    "silu": _silu,
    "tanh": np.tanh,
    "softplus": _softplus,
}
