"""Mixtures of asymmetric Laplace distributions on one support: all components of all members in one array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv.distributions.support import Support
from aldsurv.export.onnx.curves.base import SmoothCurve
from aldsurv.export.onnx.functions import expm1, log1mexp
from aldsurv.export.onnx.graph import Graph, Tensor, joined

__all__ = ["LaplaceMixture"]

_SQRT2 = math.sqrt(2.0)
_LOG_HALF = math.log(0.5)
_MOST_STEPS, _NEAR_ENOUGH = 60, 1e-12
# Distances from the place of a component, in units of its scale there; beyond the last, e^-36 of it is left.
_DISTANCES = (6.0, 16.0, 36.0)
# Times that have a logarithm; survival at such a time is 1.
_LEAST_TIME = float(np.finfo(np.float64).tiny)


@final
@dataclass(frozen=True, eq=False)
class _Parts:
    """What the components are in the time inside.

    Survival is ``above + below·(1 - e^((t-place)/left))`` before the place and ``above·e^(-(t-place)/right)`` from it
    on; ``floor`` is what a support that begins at 0 cuts off of ``below``.
    """

    place: Tensor
    left: Tensor
    right: Tensor
    below: Tensor
    above: Tensor
    floor: Tensor | None

    @property
    def reached(self) -> Tensor:
        """The cdf at the place."""
        return self.below if self.floor is None else self.below - self.floor


@final
@dataclass(frozen=True, eq=False)
class LaplaceMixture(SmoothCurve):
    """Components (components, rows) of one support with their weights (components, rows), which add up to one.

    Parameters
    ----------
    theta, sigma, kappa, weights
        As in `aldsurv.distributions.MixedAsymmetricLaplace`.
    support
        What the time inside is.
    """

    theta: Tensor
    sigma: Tensor
    kappa: Tensor
    weights: Tensor
    support: Support

    @property
    def graph(self) -> Graph:
        """That of its parameters."""
        return self.theta.graph

    @staticmethod
    def joined(parts: Sequence[LaplaceMixture], shares: Sequence[Tensor | float]) -> LaplaceMixture:
        """The mixture of mixtures of one support, with a share (1, rows) of each."""
        names = ("theta", "sigma", "kappa")
        columns = {name: joined([getattr(part, name) for part in parts]) for name in names}
        weights = joined([part.weights * share for part, share in zip(parts, shares, strict=True)])
        return LaplaceMixture(**columns, weights=weights, support=parts[0].support)

    def scaled(self, factor: float) -> LaplaceMixture:
        """The same in another unit of time."""
        if self.support.of_log_time:
            theta, sigma = self.theta + math.log(factor), self.sigma
        else:
            theta, sigma = self.theta * factor, self.sigma * factor
        return LaplaceMixture(theta, sigma, self.kappa, self.weights, self.support)

    # ---- values at times

    def _parts(self) -> _Parts:
        """Columns (components, 1, rows)."""
        theta, sigma, kappa = (column.unsqueeze(1) for column in (self.theta, self.sigma, self.kappa))
        left, right = sigma * kappa / _SQRT2, sigma / (kappa * _SQRT2)
        below, above = 1.0 / (1.0 + 1.0 / (kappa * kappa)), 1.0 / (1.0 + kappa * kappa)
        if not self.support.cut_at_zero:
            return _Parts(theta, left, right, below, above, None)
        place = theta.maximum(0.0)
        fallen = (-place / left).exp()
        whole = above - below * expm1(-place / left)
        # A peak below 0 leaves an exponential distribution.
        some = theta > 0.0
        below, above = some.where(below / whole, 1.0), some.where(above / whole, 1.0)
        return _Parts(place, left, right, below, above, below * fallen)

    def inside(self, times: Tensor) -> Tensor:
        """The time that has the Laplace distribution."""
        if self.support.of_log_time:
            return times.maximum(_LEAST_TIME).log()
        return times.maximum(0.0) if self.support.cut_at_zero else times

    def outside(self, inside: Tensor) -> Tensor:
        """The time."""
        return inside.exp() if self.support.of_log_time else inside

    def density_inside(self, inside: Tensor) -> Tensor:
        """A weighted sum of the components'."""
        parts, weight = self._parts(), self.weights.unsqueeze(1)
        z = inside - parts.place
        height = (z < 0.0).where(weight * parts.below / parts.left, weight * parts.above / parts.right)
        return (height * _decay(z, parts)).sum(0)

    def marks(self) -> Tensor:
        """Places of the components, where densities have kinks, and distances from them on either side."""
        parts = self._parts()
        place, left, right = (column.squeeze(1) for column in (parts.place, parts.left, parts.right))
        found = [place, *(place - left * far for far in _DISTANCES), *(place + right * far for far in _DISTANCES)]
        return joined(found).maximum(0.0) if self.support.cut_at_zero else joined(found)

    def survival(self, times: Tensor) -> Tensor:
        """A weighted sum of the components'."""
        parts, weight = self._parts(), self.weights.unsqueeze(1)
        z = self.inside(times) - parts.place
        decay = _decay(z, parts)
        above, whole = weight * parts.above, weight * (parts.above + parts.below)
        # By a product in place of `where`, which runtimes are slow with: before the place it is whole - below·decay.
        early = (z < 0.0).cast("float64")
        value = (above * decay + early * (whole - whole * decay)).sum(0).minimum(1.0)
        return (times > 0.0).where(value, 1.0) if self.support.from_zero else value

    def cdf(self, times: Tensor) -> Tensor:
        """A weighted sum of the components'."""
        parts, weight = self._parts(), self.weights.unsqueeze(1)
        z = self.inside(times) - parts.place
        decay = _decay(z, parts)
        early = parts.below * decay if parts.floor is None else parts.below * decay - parts.floor
        late = parts.reached + parts.above * (1.0 - decay)
        value = (weight * (z < 0.0).where(early, late)).sum(0).clip(0.0, 1.0)
        return (times > 0.0).where(value, 0.0) if self.support.from_zero else value

    # ---- quantiles

    def _component_quantiles(self, parts: _Parts, log_survival: Tensor) -> Tensor:
        """Times inside (components, m, rows)."""
        gone = -expm1(log_survival)
        after = log_survival.exp() < parts.above
        fallen = gone if parts.floor is None else gone + parts.floor
        early = parts.left * after.where(0.5, (fallen / parts.below).maximum(1e-300)).log()
        return parts.place + after.where(parts.right * (parts.above.log() - log_survival), early)

    def around(self, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        """The first and the last quantile of the components."""
        times = self._component_quantiles(self._parts(), log_survival)
        low, high = times.min(0), times.max(0)
        return (low.exp(), high.exp()) if self.support.of_log_time else (low, high)

    def quantile(self, log_survival: Tensor) -> Tensor:
        """Of several components by Newton's steps in a bracket, on log S for late times and on log F for early ones."""
        parts, weight = self._parts(), self.weights.unsqueeze(1)
        each = self._component_quantiles(parts, log_survival)
        low, high = each.min(0), each.max(0)
        start = (each * weight).sum(0).maximum(low).minimum(high)
        late = log_survival < _LOG_HALF
        target = late.where(log_survival, log1mexp(log_survival))
        weighted_above, weighted_below = weight * parts.above, weight * parts.below
        before_place, after_place = weighted_above + weighted_below, weight * parts.reached + weighted_above
        floor = None if parts.floor is None else weight * parts.floor
        # What a step is small beside: of log time it is a relative one already.
        size = start.abs() + (1.0 if self.support.of_log_time else high - low)

        def step(state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
            first, time, last = state
            z = time - parts.place
            early, decay = z < 0.0, _decay(z, parts)
            part = early.where(weighted_below, weighted_above) * decay
            density = (part / early.where(parts.left, parts.right)).sum(0)
            survival = early.where(before_place - part, part).sum(0)
            risen = part if floor is None else part - floor
            cdf = early.where(risen, after_place - part).sum(0)
            tail = late.where(survival, cdf)
            value = tail.log() - target
            before = (late & (value > 0.0)) | (~late & (value < 0.0))
            first, last = before.where(time, first), before.where(last, time)
            newton = time + late.where(value, -value) * tail / density
            good = (newton >= first) & (newton <= last)
            following = good.where(newton, first * 0.5 + last * 0.5)
            return ((following - time).abs() > size * _NEAR_ENOUGH).any(), [first, following, last]

        time = self.graph.loop(_MOST_STEPS, [low, start, high], step)[1]
        return time.exp() if self.support.of_log_time else time


def _decay(z: Tensor, parts: _Parts) -> Tensor:
    """``e`` to the distance from the place, over the scale of its side, which is negative: at most 1."""
    return (z * (1.0 / parts.left)).minimum(z * (-1.0 / parts.right)).exp()
