"""Slopes of a mixture's log-likelihood in closed form, on numpy or on torch: whichever module the caller hands in.

The slope of ``log Σ w·exp(l)`` by what moves component k is its responsibility ``w·exp(l)/Σ`` times the slope of its
own log-likelihood l, which is known (`aldsurv.losses.ald_slopes`). Components lie along the first axis, so that
each operation runs over long rows of numbers.

A left-censored row is a right-censored one in the mirror: ``F(y; θ, σ, κ) = S(-y; -θ, σ, 1/κ)``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aldsurv.distributions.mixture_outputs import SHARED_OUT, MixtureOutputs
from aldsurv.losses.ald_slopes import value_and_slopes as _component

__all__ = ["value_and_slopes"]


def value_and_slopes(xp: Any, raw: Any, time: Any, event: Any, least: Any, *rest: Any) -> tuple[Any, Any]:
    """Log-likelihood of each row and its slopes by the outputs, on numpy or torch.

    `rest` is entry times or None, signs or None (-1 where the event came at or before the time, which no row with
    support positive may have), the layout of the outputs, whether the support is positive, and whether slopes are
    wanted.
    """
    entry, sign, layout, positive, wanted = rest
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

    if sign is None:
        value, slopes, pull = _mixed(xp, shape, weight, time, event, since, wanted)
    else:
        mirrored = theta * sign, shape[1], shape[2] * sign
        value, slopes, pull = _mixed(xp, mirrored, weight, time * sign, event, since, wanted)
        if wanted:
            slopes = xp.stack((slopes[0] * sign, slopes[1], slopes[2] * sign))
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
    return value, xp.moveaxis(xp.concatenate(parts), 0, -1)


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
    slopes = xp.moveaxis(slopes, -1, 0)
    return value, responsibility * slopes, responsibility


def _last(xp: Any, shape: Any) -> Any:
    """The three parameters on a last axis, each of them contiguous."""
    return xp.moveaxis(xp.stack(shape), 0, -1)


def _by_tied_outputs(xp: Any, layout: MixtureOutputs, planes: Any, location: Any, parts: list[Any]) -> list[Any]:
    by_location, by_log_scale, by_log_kappa, by_logit = parts
    shift, spread = by_location.sum(0), by_log_scale.sum(0)
    by_relative = by_location
    if not layout.exp_theta:
        # The places are relative to the shared scale: it moves them, too.
        spread = spread + (by_location * (location - planes[:1])).sum(0)
        by_relative = by_location * xp.exp(planes[1:2])
    return [shift[None], spread[None], by_logit, by_relative, by_log_scale, by_log_kappa]
