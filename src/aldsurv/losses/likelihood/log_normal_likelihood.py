"""The log-likelihood of exact and right-censored rows under the log-normal, with its gradient in closed form.

With the logarithm y of the time, ``η = softplus`` of the second output and ``z = (y - μ)/η``::

    log f = -z²/2 - log η - ½·log 2π      (of y; f of the time is that divided by the time)
    log S = log Φ(-z)

The slope of log S by z is minus the normal hazard ``φ(z)/Φ(-z) = √(2/π)/erfcx(z/√2)``, which needs no difference of
large numbers in either tail. Tails are computed in float64: float32 has no digits left of log Φ and its slope where
rows far from their prediction still have to pull it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["log_normal_log_likelihood", "log_normal_log_likelihood_and_slopes"]

FloatArray = NDArray[np.floating[Any]]
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
# Softplus of less is below the smallest number whose reciprocal float32 can hold.
_LEAST_RAW = -80.0


def log_normal_log_likelihood(raw: Tensor, log_time: Tensor, event: Tensor, since: Tensor | None = None) -> Tensor:
    """Log-likelihood of each row, of the logarithm of its time, in the shape of `log_time`.

    Parameters
    ----------
    raw
        The last axis holds μ and, through softplus, η.
    log_time, event
        Logarithm of the time, and whether the event came then (otherwise later).
    since
        Condition on an event after this logarithm of a time; -inf for no condition.
    """
    rows: Tensor = _RowLogLikelihood.apply(raw, log_time, event, since)  # type: ignore[no-untyped-call]
    return rows


def log_normal_log_likelihood_and_slopes(
    raw: FloatArray, log_time: FloatArray, event: NDArray[np.bool_], since: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood of each row and its slopes by `raw`, on numpy; parameters as in `log_normal_log_likelihood`."""
    # What overflows shows in the loss, which the training loop looks at.
    with np.errstate(all="ignore"):
        return _value_and_slopes(np, raw, log_time, event, since)


class _RowLogLikelihood(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: Tensor, log_time: Tensor, event: Tensor, since: Tensor | None) -> Tensor:
        given = (raw, log_time, event, since)
        if raw.device.type == "cpu":
            # A call of numpy costs a fraction of one of torch, and there are dozens on small arrays.
            arrays = [None if tensor is None else tensor.numpy() for tensor in given]
            with np.errstate(all="ignore"):
                value, slopes = (torch.from_numpy(found) for found in _value_and_slopes(np, *arrays))
        else:
            value, slopes = _value_and_slopes(torch, *given)
        ctx.save_for_backward(slopes)
        return value

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        (slopes,) = ctx.saved_tensors
        return slopes * outer[0].unsqueeze(-1), None, None, None


def _value_and_slopes(xp: Any, raw: Any, log_time: Any, event: Any, since: Any) -> tuple[Any, Any]:
    """Log-likelihood of each row and its slopes by the two outputs, on numpy or torch."""
    tails = _special(xp)
    double = raw.astype(np.float64) if xp is np else raw.double()
    mu, second = double[..., 0], xp.clip(double[..., 1], _LEAST_RAW, None)
    decay = xp.exp(-xp.abs(second))
    eta = xp.log1p(decay) + xp.clip(second, 0.0, None)
    # The slope of softplus, the logistic function.
    spread = xp.where(second >= 0, 1.0, decay) / (1 + decay)

    def survived(z: Any) -> tuple[Any, Any]:
        return tails.log_ndtr(-z), _SQRT_2_OVER_PI / tails.erfcx(_SQRT_HALF * z)

    z = (log_time - mu) / eta
    log_survival, hazard = survived(z)
    value = xp.where(event, -z * z / 2 - xp.log(eta) - _LOG_SQRT_2PI, log_survival)
    # Slopes by z, negated: what pulls μ up; η feels it times z, and an event its own height.
    pull = xp.where(event, z, hazard)
    by_mu, by_eta = pull / eta, (pull * z - event * 1.0) / eta
    if since is not None:
        delayed = since > -math.inf
        z = (xp.where(delayed, since, mu) - mu) / eta
        log_survival, hazard = survived(z)
        hazard = xp.where(delayed, hazard, 0.0)
        value = value - xp.where(delayed, log_survival, 0.0)
        by_mu, by_eta = by_mu - hazard / eta, by_eta - hazard * z / eta
    slopes = xp.stack((by_mu, by_eta * spread), -1)
    if xp is np:
        return value.astype(raw.dtype, copy=False), slopes.astype(raw.dtype, copy=False)
    return value.to(raw.dtype), slopes.to(raw.dtype)


def _special(xp: Any) -> Any:
    if xp is not np:
        return torch.special
    from scipy import special

    return special
