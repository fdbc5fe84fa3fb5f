"""The log-likelihood of exact and right-censored rows under the log-normal, for training.

With the logarithm y of the time, ``η = softplus`` of the second output and ``z = (y - μ)/η``::

    log f = -z²/2 - log η - ½·log 2π      (of y; f of the time is that divided by the time)
    log S = log Φ(-z)

These are the formulas of `aldsurv.distributions.Normal`, here for outputs (members, rows) whose times are logarithms
already. All of it is in float64: float32 has no digits left of log Φ and its slope where rows far from their
prediction still have to pull it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["log_normal_log_likelihood"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
# Softplus of less is below the smallest number whose reciprocal float32 can hold; that of more is linear.
_LEAST_RAW, _LINEAR = -80.0, 80.0


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
    mu = raw[..., 0].double()
    eta = torch.nn.functional.softplus(raw[..., 1].double().clamp_min(_LEAST_RAW), threshold=_LINEAR)
    z = (log_time - mu) / eta
    # The branch not taken stays finite, or its slope would spoil the other's.
    log_density = -torch.where(event, z, 0.0).square() / 2 - eta.log() - _LOG_SQRT_2PI
    rows = torch.where(event, log_density, torch.special.log_ndtr(-torch.where(event, 0.0, z)))
    if since is not None:
        delayed = since > -math.inf
        entry = (torch.where(delayed, since, 0.0) - mu) / eta
        rows = rows - torch.where(delayed, torch.special.log_ndtr(-torch.where(delayed, entry, 0.0)), 0.0)
    return rows.to(raw.dtype)
