"""The log-likelihood of exact and right-censored rows under the ALD, with its gradient in closed form.

Automatic differentiation would record some fifty small steps a batch; here value and gradient come from one
pass (`aldsurv.losses.likelihood.ald_slopes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.losses.likelihood.ald_slopes import value_and_slopes as _value_and_slopes

__all__ = ["ald_log_likelihood", "ald_log_likelihood_and_slopes"]

FloatArray = NDArray[np.floating[Any]]


def ald_log_likelihood(
    raw: Tensor, time: Tensor, event: Tensor, since: Tensor | None = None, *, exp_theta: bool
) -> Tensor:
    """Log-likelihood of each row, in the shape of `time`.

    Parameters
    ----------
    raw
        The last axis holds θ (its logarithm if `exp_theta`), log σ and log κ.
    time, event
        Time, and whether the event came then (otherwise later).
    since
        Condition on an event after this time; -inf for no condition.
    exp_theta
        Whether θ is the exponential of its output.
    """
    rows: Tensor = _RowLogLikelihood.apply(raw, time, event, since, exp_theta)  # type: ignore[no-untyped-call]
    return rows


def ald_log_likelihood_and_slopes(
    raw: FloatArray, time: FloatArray, event: NDArray[np.bool_], since: FloatArray | None = None, *, exp_theta: bool
) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood of each row and its slopes by `raw`, on numpy; the parameters of `ald_log_likelihood`."""
    entry = () if since is None else (since,)
    # What overflows shows in the loss, which the training loop looks at.
    with np.errstate(all="ignore"):
        return _value_and_slopes(np, raw, time, event, *entry, exp_theta, True)


class _RowLogLikelihood(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: Tensor, time: Tensor, event: Tensor, since: Tensor | None, exp_theta: bool) -> Tensor:
        wanted = ctx.needs_input_grad[0]
        given = [raw, time, event] if since is None else [raw, time, event, since]
        if raw.device.type == "cpu":
            # A call of numpy costs a fraction of one of torch, and there are dozens on small arrays.
            with np.errstate(all="ignore"):
                value, slopes = _value_and_slopes(np, *(tensor.numpy() for tensor in given), exp_theta, wanted)
            found = torch.from_numpy(value), None if slopes is None else torch.from_numpy(slopes)
        else:
            found = _value_and_slopes(torch, *given, exp_theta, wanted)
        if found[1] is not None:
            ctx.save_for_backward(found[1])
        return found[0]

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        (slopes,) = ctx.saved_tensors
        return slopes * outer[0].unsqueeze(-1), None, None, None, None
