"""Slopes of a mixture's log-likelihood in closed form, on numpy or on torch: whichever module the caller hands in.

The slope of ``log Σ w·exp(l)`` by what moves component k is its responsibility ``w·exp(l)/Σ`` times the slope of its
own log-likelihood l, which is known (`aldsurv.losses.likelihood.ald_slopes`). Components lie along the first axis, so
that each operation runs over long rows of numbers.

A left-censored row is a right-censored one in the mirror: ``F(y; θ, σ, κ) = S(-y; -θ, σ, 1/κ)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aldsurv.distributions.mixture_outputs import SHARED_OUT, MixtureOutputs
from aldsurv.losses.likelihood.ald_slopes import (
    LARGEST_LOG_KAPPA,
    between_parameter_slopes,
    parameter_slopes,
    within_range,
)

__all__ = ["between_value_and_slopes", "constant_value_and_slopes", "value_and_slopes"]


def value_and_slopes(xp: Any, raw: Any, time: Any, event: Any, least: Any, *rest: Any) -> tuple[Any, Any]:
    """Log-likelihood of each row and its slopes by the outputs, on numpy or torch.

    `rest` is entry times or None, signs or None (-1 where the event came at or before the time, which no row with
    support positive may have), the layout of the outputs, whether the support is positive, and whether slopes are
    wanted.
    """
    entry, sign, layout, positive, wanted = rest
    parts = _Parts(xp, raw, least, layout, positive)
    value, slopes, pull = parts.known(time, event, entry, sign, wanted)
    return value, parts.by_outputs(slopes, pull) if wanted else None


def constant_value_and_slopes(
    outputs: Any, time: Any, event: Any, least: Any, entry: Any, sign: Any, layout: MixtureOutputs, positive: bool
) -> tuple[Any, Callable[[Any], Any]]:
    """Log-likelihood of rows (m, n) that have the same outputs (m, k) and least scale (m, 1) in all columns, on numpy.

    Also returned is a function of weights (m, n) that gives the slopes (m, k) of the weighted sum by the outputs: what
    does not differ by column is computed once.
    """
    parts = _Parts(np, outputs[:, None], least, layout, positive)
    value, slopes, pull = parts.known(time, event, entry, sign, True)

    def summed(weight: Any) -> Any:
        *by, pulled = ((slope * weight).sum(-1, keepdims=True) for slope in (*slopes, pull))
        return parts.by_outputs(by, pulled)[:, 0]

    return value, summed


def between_value_and_slopes(xp: Any, raw: Any, lower: Any, upper: Any, least: Any, *rest: Any) -> tuple[Any, Any]:
    """The same for rows whose event came after `lower`, which may be -inf, and at or before `upper`.

    `rest` is entry times or None, the layout of the outputs, whether the support is positive (then no lower bound is
    below 0), and whether slopes are wanted.
    """
    entry, layout, positive, wanted = rest
    parts = _Parts(xp, raw, least, layout, positive)
    value, slopes, pull = parts.between(lower, upper, entry, wanted)
    return value, parts.by_outputs(slopes, pull) if wanted else None


class _Parts:
    """Parameters of the components, and what the way back from their slopes to those of the outputs needs."""

    def __init__(self, xp: Any, raw: Any, least: Any, layout: MixtureOutputs, positive: bool) -> None:
        self.xp, self.layout, self.positive = xp, layout, positive
        planes = np.ascontiguousarray(np.moveaxis(raw, -1, 0)) if xp is np else raw.movedim(-1, 0).contiguous()
        location, log_scale, log_kappa, logits = layout.split(planes)
        # Outputs of one extreme row among millions may be so large that single precision has no number for e to them.
        log_scale, log_kappa = within_range(xp, log_scale), within_range(xp, log_kappa, LARGEST_LOG_KAPPA)
        if xp is np and layout.constants and not layout.skewed and (log_kappa == log_kappa[..., :1]).all():
            # As a network gives it, the same for every row: what depends on it alone is computed once.
            log_kappa = log_kappa[..., :1]
        theta = xp.exp(within_range(xp, location)) if layout.exp_theta else location
        grown = xp.exp(log_scale)
        sigma = grown + least
        share = xp.exp(logits - (logits.max(0) if xp is np else logits.amax(0)))
        self.share = share / share.sum(0)
        self.weight = SHARED_OUT / layout.components + (1 - SHARED_OUT) * self.share
        self.shape = theta, xp.log(sigma), log_kappa
        self.planes, self.location, self.by_scale = planes, location, grown / sigma

    def known(self, time: Any, event: Any, entry: Any, sign: Any, wanted: bool) -> tuple[Any, list[Any], Any]:
        """Log-likelihood of rows, its slopes by each component's θ, log σ and log κ, and responsibilities."""
        xp = self.xp
        theta, log_sigma, log_kappa = self.shape
        if sign is None:
            own = parameter_slopes(xp, self.shape, time, event, *self._cut(time), wanted=wanted)
            return self._given_entry(self._mixed(*own), entry)
        mirrored = theta * sign, log_sigma, log_kappa * sign
        own = parameter_slopes(xp, mirrored, time * sign, event, *self._cut(time), wanted=wanted)
        value, slopes, pull = self._mixed(*own)
        if wanted:
            slopes = [slopes[0] * sign, slopes[1], slopes[2] * sign]
        return self._given_entry((value, slopes, pull), entry)

    def between(self, lower: Any, upper: Any, entry: Any, wanted: bool) -> tuple[Any, list[Any], Any]:
        """The same for rows whose event came after `lower` and at or before `upper`."""
        own = between_parameter_slopes(self.xp, self.shape, lower, upper, *self._cut(upper), wanted=wanted)
        return self._given_entry(self._mixed(*own), entry)

    def _cut(self, like: Any) -> tuple[Any, ...]:
        """Where the support of each component begins."""
        return (self.xp.zeros_like(like),) if self.positive else ()

    def _mixed(self, own: Any, slopes: list[Any]) -> tuple[Any, list[Any], Any]:
        """Log of the mixture, its slopes by what those of the components are by, and their responsibilities."""
        xp = self.xp
        total = own + xp.log(self.weight)
        top = total.max(0) if xp is np else total.amax(0)
        relative = xp.exp(total - top)
        everything = relative.sum(0)
        value = top + xp.log(everything)
        if not slopes:
            return value, [], None
        responsibility = relative / everything
        return value, [responsibility * slope for slope in slopes], responsibility

    def _given_entry(self, mixed: tuple[Any, list[Any], Any], entry: Any) -> tuple[Any, list[Any], Any]:
        """What is left of it given that the event came after the entry."""
        value, slopes, pull = mixed
        if entry is None:
            return mixed
        xp = self.xp
        delayed = entry > -math.inf
        at = xp.where(delayed, entry, 0.0)
        event, wanted = xp.zeros_like(delayed), bool(slopes)
        survived = self._mixed(*parameter_slopes(xp, self.shape, at, event, *self._cut(at), wanted=wanted))
        before, before_slopes, before_pull = survived
        value = value - xp.where(delayed, before, 0.0)
        if wanted:
            slopes = [s - xp.where(delayed, b, 0.0) for s, b in zip(slopes, before_slopes, strict=True)]
            pull = pull - xp.where(delayed, before_pull, 0.0)
        return value, slopes, pull

    def by_outputs(self, slopes: list[Any], pull: Any) -> Any:
        """Slopes by the outputs, from those by each component's parameters and the responsibilities."""
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


def _by_tied_outputs(xp: Any, layout: MixtureOutputs, planes: Any, location: Any, parts: list[Any]) -> list[Any]:
    by_location, by_log_scale, by_log_kappa, by_logit = parts
    shift, spread = by_location.sum(0), by_log_scale.sum(0)
    by_relative = by_location
    if not layout.exp_theta:
        # The places are relative to the shared scale: it moves them, too.
        spread = spread + (by_location * (location - planes[:1])).sum(0)
        by_relative = by_location * xp.exp(within_range(xp, planes[1:2]))
    shared = [shift[None], spread[None]]
    if layout.skewed:
        shared.append(by_log_kappa.sum(0)[None])
    return [*shared, by_logit, by_relative, by_log_scale, by_log_kappa]
