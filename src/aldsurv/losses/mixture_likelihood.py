"""Maximum likelihood for mixtures of asymmetric Laplace distributions, with closed-form slopes.

The slope of ``log Σ w·exp(l)`` by what moves component k is its responsibility ``w·exp(l)/Σ`` times the slope of its
own log-likelihood l, which is known (`aldsurv.losses.asymmetric_laplace`). Components lie along the first axis, so that
each operation runs over long rows of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from aldsurv.distributions.likelihood import EXACT, INTERVAL, RIGHT, log_likelihood_of_bounds, row_kinds
from aldsurv.distributions.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.mixture_outputs import SHARED_OUT, MixtureOutputs
from aldsurv.errors import DataError
from aldsurv.losses.asymmetric_laplace import _value_and_slopes as _component
from aldsurv.losses.likelihood import _LEAST_LOG_TIME, _NARROW, _float, _in_log_time, _means_and_slopes
from aldsurv.losses.objective import ClosedFormObjective, FloatArray, Objective, weighted_mean
from aldsurv.survival_data import SurvivalData

__all__ = ["mixture_objective"]

_WEIGHT_REACH = 0.2


def mixture_objective(
    outputs: MixtureOutputs,
    support: str,
    data: SurvivalData,
    least_scale: Any,
    *,
    unit: Any = 1.0,
    device: torch.device | str = "cpu",
) -> Objective:
    """Mean negative censored log-likelihood of `data` under a mixture.

    Parameters
    ----------
    outputs
        What the network's outputs are.
    support
        ``"real"``, ``"positive"`` or ``"log"``.
    data
        The rows; their weights are the loop's business.
    least_scale
        What the scale of every component is above, a number or one a row.
    unit
        How many of the user's units of time one unit of `data` has, a number or one a row.
    device
        Where the tensors live.
    """
    kinds, since = row_kinds(data)
    if support == "log" and bool(((kinds == EXACT) & (data.lower <= 0)).any()):
        raise DataError("an event at time 0 has no logarithm. Give it as left-censored: (-inf, the first later time].")
    least = np.broadcast_to(np.asarray(least_scale, np.float64), (len(data),))
    if bool(((kinds == EXACT) | (kinds == RIGHT)).all()):
        return _MixtureLikelihood(outputs, support, data, kinds == EXACT, least, np.log(unit), device)
    return _AnyCensoring(outputs, support, data, kinds, since, least, np.log(unit), device)


@final
class _MixtureLikelihood(ClosedFormObjective):
    """Exact and right-censored rows, by the closed form."""

    def __init__(
        self,
        layout: MixtureOutputs,
        support: str,
        data: SurvivalData,
        event: Any,
        least: Any,
        log_unit: Any,
        device: Any,
    ) -> None:
        self.outputs = layout.outputs
        self._layout, self._positive = layout, support == "positive"
        time, entry, offset = data.lower, data.entry, np.where(event, log_unit, 0.0)
        if support == "log":
            time, entry, offset = _in_log_time(time, entry, event, offset)
        elif self._positive and entry is not None:
            # To be event-free at 0 is no news.
            entry = np.where(entry > 0, entry, -np.inf)
        self._middle, self._least = time, least
        columns = [_float(time, device), torch.from_numpy(np.array(event)).to(device)]
        columns += [_float(offset, device), _float(least, device)]
        self.fields = (*columns, _float(entry, device)) if entry is not None else tuple(columns)

    def guess(self, rows: Any) -> tuple[Any, Any]:
        return _guess(self._layout, self._middle[rows], self._least[rows])

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        time, event, offset, least, *entry = fields
        rows: Tensor = _RowLogLikelihood.apply(  # type: ignore[no-untyped-call]
            raw, time, event, least, entry[0] if entry else None, self._layout, self._positive
        )
        return weighted_mean(offset - rows, weight)

    def losses_and_slopes(
        self, raw: FloatArray, fields: Sequence[Any], weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        time, event, offset, least, *entry = fields
        # What overflows shows in the loss, which the training loop looks at.
        with np.errstate(all="ignore"):
            rows, slopes = _value_and_slopes(
                np, raw, time, event, least, entry[0] if entry else None, self._layout, self._positive, True
            )
        return _means_and_slopes(offset - rows, slopes, weight)


class _RowLogLikelihood(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: Tensor, *known: Any) -> Tensor:
        wanted = ctx.needs_input_grad[0]
        if raw.device.type == "cpu":
            # A call of numpy costs a fraction of one of torch, and there are dozens on small arrays.
            arrays = [value.detach().numpy() if isinstance(value, Tensor) else value for value in (raw, *known)]
            with np.errstate(all="ignore"):
                value, slopes = _value_and_slopes(np, *arrays, wanted)
            found = torch.from_numpy(value), None if slopes is None else torch.from_numpy(slopes)
        else:
            found = _value_and_slopes(torch, raw, *known, wanted)
        if found[1] is not None:
            ctx.save_for_backward(found[1])
        return found[0]

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        (slopes,) = ctx.saved_tensors
        return slopes * outer[0].unsqueeze(-1), None, None, None, None, None, None


def _value_and_slopes(xp: Any, raw: Any, time: Any, event: Any, least: Any, *rest: Any) -> tuple[Any, Any]:
    """Log-likelihood of each row and its slopes by the outputs, on numpy or torch."""
    entry, layout, positive, wanted = rest
    planes = np.ascontiguousarray(np.moveaxis(raw, -1, 0)) if xp is np else raw.movedim(-1, 0).contiguous()
    location, log_scale, log_kappa, logits = layout.split(planes)
    theta = xp.exp(location) if layout.exp_theta else location
    grown = xp.exp(log_scale)
    sigma = grown + least
    shape = theta, xp.log(sigma), log_kappa + xp.zeros_like(theta)
    share = xp.exp(logits - (logits.max(0) if xp is np else logits.amax(0)))
    share = share / share.sum(0)
    weight = SHARED_OUT / layout.components + (1 - SHARED_OUT) * share
    since = (xp.zeros_like(time),) if positive else ()

    value, slopes, pull = _mixed(xp, shape, weight, time, event, since, wanted)
    if entry is not None:
        delayed = entry > -math.inf
        at = xp.where(delayed, entry, 0.0)
        before, before_slopes, before_pull = _mixed(xp, shape, weight, at, xp.zeros_like(event), since, wanted)
        value = value - xp.where(delayed, before, 0.0)
        if wanted:
            slopes = slopes - xp.where(delayed, before_slopes, 0.0)
            pull = pull - xp.where(delayed, before_pull, 0.0)
    if not wanted:
        return value, None
    by_theta, by_log_sigma, by_log_kappa = slopes
    by_location = by_theta * theta if layout.exp_theta else by_theta
    by_log_scale = by_log_sigma * (grown / sigma)
    # Of a weight, what does not come from the even share follows the softmax.
    pull = pull * ((1 - SHARED_OUT) * share / weight)
    by_logit = pull - share * pull.sum(0)
    parts = [by_location, by_log_scale, by_log_kappa, by_logit]
    if layout.tied:
        parts = _by_tied_outputs(xp, layout, planes, location, parts)
    joined: Any = np.concatenate(parts) if xp is np else torch.cat(parts)
    return value, np.moveaxis(joined, 0, -1) if xp is np else joined.movedim(0, -1)


def _mixed(
    xp: Any, shape: tuple[Any, ...], weight: Any, time: Any, event: Any, since: tuple[Any, ...], wanted: bool
) -> tuple[Any, Any, Any]:
    """Log of the mixture, its slopes by each component's θ, log σ and log κ, and the components' responsibilities."""
    own, slopes = _component(xp, _last(xp, shape), time, event, *since, False, wanted)
    total = own + xp.log(weight)
    top = total.max(0) if xp is np else total.amax(0)
    relative = xp.exp(total - top)
    everything = relative.sum(0)
    value = top + xp.log(everything)
    if not wanted:
        return value, None, None
    responsibility = relative / everything
    slopes = np.moveaxis(slopes, -1, 0) if xp is np else slopes.movedim(-1, 0)
    return value, responsibility * slopes, responsibility


def _last(xp: Any, shape: Any) -> Any:
    """The three parameters on a last axis, each of them contiguous."""
    return np.moveaxis(np.stack(shape), 0, -1) if xp is np else torch.stack(shape).movedim(0, -1)


def _by_tied_outputs(xp: Any, layout: MixtureOutputs, planes: Any, location: Any, parts: list[Any]) -> list[Any]:
    by_location, by_log_scale, by_log_kappa, by_logit = parts
    shift, spread = by_location.sum(0), by_log_scale.sum(0)
    by_relative = by_location
    if not layout.exp_theta:
        # The places are relative to the shared scale: it moves them, too.
        spread = spread + (by_location * (location - planes[:1])).sum(0)
        by_relative = by_location * xp.exp(planes[1:2])
    return [shift[None], spread[None], by_logit, by_relative, by_log_scale, by_log_kappa]


@final
class _AnyCensoring(Objective):
    """Rows of every kind, by automatic differentiation of the distribution's own formulas."""

    def __init__(
        self,
        layout: MixtureOutputs,
        support: str,
        data: SurvivalData,
        kinds: Any,
        since: Any,
        least: Any,
        log_unit: Any,
        device: Any,
    ) -> None:
        self.outputs = layout.outputs
        self._layout, self._support, self._least = layout, support, least
        upper = data.upper
        middle = np.where(np.isfinite(since + upper), (since + upper) / 2, np.where(np.isfinite(upper), upper, since))
        self._middle = np.log(np.maximum(middle, np.finfo(np.float64).tiny)) if support == "log" else middle
        kinds, offset = kinds.copy(), np.where(kinds == EXACT, log_unit, 0.0)
        # An interval too narrow for float32 holds its density times its width.
        narrow = (kinds == INTERVAL) & (upper - since < _NARROW * upper)
        kinds[narrow] = EXACT
        offset[narrow] = -np.log((upper - since)[narrow])
        columns = [_float(column, device) for column in (since, upper, offset, least)]
        entry = [_float(data.entry, device)] if data.entry is not None else []
        self.fields = (*columns, torch.from_numpy(np.array(kinds)).to(device), *entry)

    def guess(self, rows: Any) -> tuple[Any, Any]:
        return _guess(self._layout, self._middle[rows], self._least[rows])

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        lower, upper, offset, least, kinds, *entry = (field.reshape(-1) for field in fields)
        columns = self._layout.columns(raw.reshape(-1, self.outputs), least[:, None])
        mixture = MixedAsymmetricLaplace._trusted(**columns, support=self._support)
        rows = log_likelihood_of_bounds(mixture, lower, upper, kinds, entry[0] if entry else None)
        return weighted_mean((offset - rows).view(raw.shape[:2]), weight)


def _guess(layout: MixtureOutputs, times: Any, least: Any) -> tuple[Any, Any]:
    """Outputs of symmetric components at evenly spread quantiles of the times, and their scales."""
    k = layout.components
    times = times[times > _LEAST_LOG_TIME]
    times = times if times.size else np.ones(1)
    middle = float(np.median(times))
    spread = max(float(np.mean(np.abs(times - middle))), 1e-3 * abs(middle), 1e-3)
    places = np.quantile(times, (np.arange(k) + 0.5) / k)
    reach = np.ones(1)
    if layout.exp_theta:
        middle, places = np.log(max(middle, spread)), np.log(np.maximum(places, spread / 10))
    else:
        reach = np.full(1, spread)
    width = np.log(max(spread / math.sqrt(k) - float(np.max(least)), spread / 10))
    zeros, ones = np.zeros(k), np.ones(k)
    # Log weights may move little, so that every component still has rows of its own when training begins.
    if not layout.tied:
        start = [places - layout.places, zeros + width, zeros, zeros]
        return np.concatenate(start), np.concatenate([np.repeat(reach, k), ones, ones, _WEIGHT_REACH * ones])
    relative = (places - middle) / (1.0 if layout.exp_theta else spread)
    start = [[middle, np.log(spread)], zeros, relative - layout.places, zeros + width - np.log(spread), zeros]
    return np.concatenate(start), np.concatenate([reach, [1.0], _WEIGHT_REACH * ones, np.ones(3 * k)])
