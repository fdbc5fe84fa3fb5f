"""Slopes of a mixture's log-likelihood in closed form, on numpy or on torch: whichever module the caller hands in.

The slope of ``log Σ w·exp(l)`` by what moves component k is its responsibility ``w·exp(l)/Σ`` times the slope of its
own log-likelihood l, which is known (`aldsurv.losses.likelihood.ald_slopes`). Components lie along the first axis, so
that each operation runs over long rows of numbers.

A left-censored row is a right-censored one in the mirror: ``F(y; θ, σ, κ) = S(-y; -θ, σ, 1/κ)``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aldsurv.distributions.mixture_outputs import SHARED_OUT, MixtureOutputs
from aldsurv.losses.likelihood.ald_slopes import between_value_and_slopes as _component_between
from aldsurv.losses.likelihood.ald_slopes import value_and_slopes as _component

__all__ = ["between_value_and_slopes", "value_and_slopes"]


def value_and_slopes(xp: Any, raw: Any, time: Any, event: Any, least: Any, *rest: Any) -> tuple[Any, Any]:
    """Log-likelihood of each row and its slopes by the outputs, on numpy or torch.

    `rest` is entry times or None, signs or None (-1 where the event came at or before the time, which no row with
    support positive may have), the layout of the outputs, whether the support is positive, and whether slopes are
    wanted.
    """
    entry, sign, layout, positive, wanted = rest
    parts = _Parts(xp, raw, least, layout, positive)
    if sign is None:
        own = _component(xp, _last(xp, parts.shape), time, event, *parts.cut(time), False, wanted)
        return parts.conditional(parts.mixed(*own), entry, wanted)
    theta, log_sigma, log_kappa = parts.shape
    mirrored = _last(xp, (theta * sign, log_sigma, log_kappa * sign))
    own = _component(xp, mirrored, time * sign, event, *parts.cut(time), False, wanted)
    value, slopes, pull = parts.mixed(*own)
    if wanted:
        slopes = xp.stack((slopes[0] * sign, slopes[1], slopes[2] * sign))
    return parts.conditional((value, slopes, pull), entry, wanted)


def between_value_and_slopes(xp: Any, raw: Any, lower: Any, upper: Any, least: Any, *rest: Any) -> tuple[Any, Any]:
    """The same for rows whose event came after `lower`, which may be -inf, and at or before `upper`.

    `rest` is entry times or None, the layout of the outputs, whether the support is positive (then no lower bound is
    below 0), and whether slopes are wanted.
    """
    entry, layout, positive, wanted = rest
    parts = _Parts(xp, raw, least, layout, positive)
    shape, cut = _last(xp, parts.shape), parts.cut(upper)
    own = _component_between(xp, shape, lower, upper, *cut, exp_theta=False, wanted=wanted)
    return parts.conditional(parts.mixed(*own), entry, wanted)


class _Parts:
    """Parameters of the components, and what the way back from their slopes to those of the outputs needs."""

    def __init__(self, xp: Any, raw: Any, least: Any, layout: MixtureOutputs, positive: bool) -> None:
        self.xp, self.layout, self.positive = xp, layout, positive
        planes = np.ascontiguousarray(np.moveaxis(raw, -1, 0)) if xp is np else raw.movedim(-1, 0).contiguous()
        location, log_scale, log_kappa, logits = layout.split(planes)
        theta = xp.exp(location) if layout.exp_theta else location
        grown = xp.exp(log_scale)
        sigma = grown + least
        share = xp.exp(logits - (logits.max(0) if xp is np else logits.amax(0)))
        self.share = share / share.sum(0)
        self.weight = SHARED_OUT / layout.components + (1 - SHARED_OUT) * self.share
        self.shape = theta, xp.log(sigma), log_kappa + xp.zeros_like(theta)
        self.planes, self.location, self.by_scale = planes, location, grown / sigma

    def cut(self, like: Any) -> tuple[Any, ...]:
        """Where the support of each component begins."""
        return (self.xp.zeros_like(like),) if self.positive else ()

    def mixed(self, own: Any, slopes: Any) -> tuple[Any, Any, Any]:
        """Log of the mixture, its slopes by each component's θ, log σ and log κ, and their responsibilities."""
        xp = self.xp
        total = own + xp.log(self.weight)
        top = total.max(0) if xp is np else total.amax(0)
        relative = xp.exp(total - top)
        everything = relative.sum(0)
        value = top + xp.log(everything)
        if slopes is None:
            return value, None, None
        responsibility = relative / everything
        return value, responsibility * xp.moveaxis(slopes, -1, 0), responsibility

    def conditional(self, mixed: tuple[Any, Any, Any], entry: Any, wanted: bool) -> tuple[Any, Any]:
        """Value and slopes by the outputs, given that the event came after the entry."""
        xp = self.xp
        value, slopes, pull = mixed
        if entry is not None:
            delayed = entry > -math.inf
            at = xp.where(delayed, entry, 0.0)
            survived = _component(xp, _last(xp, self.shape), at, xp.zeros_like(delayed), *self.cut(at), False, wanted)
            before, before_slopes, before_pull = self.mixed(*survived)
            value = value - xp.where(delayed, before, 0.0)
            if wanted:
                slopes = slopes - xp.where(delayed, before_slopes, 0.0)
                pull = pull - xp.where(delayed, before_pull, 0.0)
        return value, self._by_outputs(slopes, pull) if wanted else None

    def _by_outputs(self, slopes: Any, pull: Any) -> Any:
        by_theta, by_log_sigma, by_log_kappa = slopes
        by_location = by_theta * self.shape[0] if self.layout.exp_theta else by_theta
        by_log_scale = by_log_sigma * self.by_scale
        # Of a weight, what does not come from the even share follows the softmax.
        pull = pull * ((1 - SHARED_OUT) * self.share / self.weight)
        by_logit = pull - self.share * pull.sum(0)
        parts = [by_location, by_log_scale, by_log_kappa, by_logit]
        if self.layout.tied:
            parts = _by_tied_outputs(self.xp, self.layout, self.planes, self.location, parts)
        return self.xp.moveaxis(self.xp.concatenate(parts), 0, -1)


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
    shared = [shift[None], spread[None]]
    if layout.skewed:
        shared.append(by_log_kappa.sum(0)[None])
    return [*shared, by_logit, by_relative, by_log_scale, by_log_kappa]
