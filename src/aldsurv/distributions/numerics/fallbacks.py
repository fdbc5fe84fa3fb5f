"""Numerical answers for families that have no closed form: one root search, two integrals, one maximiser.

All are vectorised over rows and arguments, run on numpy and torch, and need nothing of a family but its log
survival, log cdf and log density (and ``_kinks``, the places where those are not smooth).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace, without_gradient
from aldsurv.distributions.numerics.log_space import log1mexp

if TYPE_CHECKING:
    from aldsurv.distributions.formulas import Formulas

__all__ = ["inverse_log_survival", "lower_integral", "middle", "mode", "upper_integral"]

Function = Callable[[Array], Array]
Integrand = Callable[[Array, Array], Array]

_MOST_STEPS = 300
# Panels end where survival (or the cdf) has fallen by these many e-folds since the start.
_FOLDS = (1.0, 4.0, 16.0, 64.0, 350.0)
# Further places where panels meet, by log survival: the body of the distribution is a sharp feature on the scale of a
# start or stop far away from it.
_BODY = [[float(np.log1p(-np.exp(-12.0))), float(np.log1p(-np.exp(-3.0))), -0.7, -3.0, -12.0]]
# An integral whose last panel still holds this share of the whole has no finite value.
_DIVERGENT_SHARE = 1e-3


def _tanh_sinh(step: float = 0.125, reach: float = 3.75) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances from the left and the right end of the unit interval, and weights.

    The nodes crowd towards both ends, which integrates what is singular there (a Weibull of shape 0.1 at zero).
    """
    s = np.arange(-reach, reach + step / 2, step)
    left = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(s)))
    right = 1.0 / (1.0 + np.exp(np.pi * np.sinh(s)))
    return left, right, step * np.pi * np.cosh(s) * left * right


_FROM_LEFT, _FROM_RIGHT, _WEIGHTS = _tanh_sinh()


def inverse_log_survival(distribution: Formulas, log_survival: Array) -> Array:
    """Time at which the log survival falls to ``log_survival``: Newton steps kept inside a shrinking bracket.

    The equation solved is ``log H(t) = log H*`` (H the cumulative hazard): close to linear in both tails. On
    torch the search runs without gradients, and one last Newton step carries the derivative of the implicit function.
    """
    xp = namespace(log_survival)
    target = xp.log(-log_survival)
    still = distribution._map_rows(without_gradient)
    found = _search(still, without_gradient(log_survival), without_gradient(target))
    if is_numpy(xp):
        return found
    safe = xp.where(xp.isfinite(found), found, xp.zeros_like(found))
    value, slope = _log_hazard_equation(distribution, safe, target)
    slope = without_gradient(slope)
    polished = safe - value / slope
    usable = xp.isfinite(found) & xp.isfinite(polished) & (slope > 0)
    return xp.where(usable, polished, found)


def _log_hazard_equation(distribution: Formulas, times: Array, target: Array) -> tuple[Array, Array]:
    xp = namespace(times)
    log_survival = distribution._log_survival(times)
    cumulative = -log_survival
    # Not `_log_hazard`, which would compute the survival once more.
    slope = xp.exp(distribution._log_density(times) - log_survival) / cumulative
    return xp.log(cumulative) - target, slope


def _search(distribution: Formulas, log_survival: Array, target: Array) -> Array:
    xp = namespace(log_survival)
    low, high = distribution._bracket(log_survival)
    lowest, highest = low, high
    furthest = _furthest(low)
    low = xp.clip(low, -furthest, furthest)
    high = xp.clip(high, -furthest, furthest)
    times = xp.clip(distribution._first_guess(log_survival, low, high), low, high)
    precision = 2 * float(xp.finfo(low.dtype).eps)
    settled = xp.zeros_like(low, dtype=xp.bool)
    moved = high - low
    for _ in range(_MOST_STEPS):
        value, slope = _log_hazard_equation(distribution, times, target)
        before = value < 0
        low = xp.where(before, times, low)
        high = xp.where(before, high, times)
        newton = times - value / slope
        inside = (newton > low) & (newton < high)
        # A Newton step must be at most half the step before it, or else the bracket is halved: jumps and flat
        # stretches come to an end too.
        good = inside & (xp.abs(newton - times) <= moved / 2)
        following = xp.where(good, newton, middle(low, high))
        moved = xp.abs(following - times)
        closed = high - low <= precision * xp.abs(high)
        # Where the equation holds to rounding, or Newton stands still, nothing more is gained.
        solved = xp.abs(value) <= 2 * precision * (1 + xp.abs(target))
        arrived = solved | (inside & (xp.abs(newton - times) <= precision * xp.abs(times)))
        done = settled | closed | arrived | (value == 0)
        times = xp.where(settled, times, xp.where(closed, high, xp.where(arrived & inside, newton, times)))
        times = xp.where(done, times, following)
        settled = done
        if bool(xp.all(settled)):
            break
    never = times >= furthest / 2
    times = xp.where(never, xp.full_like(times, math.inf), times)
    times = xp.where(log_survival == 0, lowest, times)
    return xp.where(log_survival == -math.inf, highest, times)


def _furthest(like: Array) -> float:
    """A time as good as infinite whose square root, and whose difference with another, can still be computed."""
    return float(namespace(like).finfo(like.dtype).max) / 1e8


def middle(low: Array, high: Array) -> Array:
    """Halfway between: arithmetically when close; when orders of magnitude apart, by sign first, then geometrically."""
    xp = namespace(low)
    small, large = xp.minimum(xp.abs(low), xp.abs(high)), xp.maximum(xp.abs(low), xp.abs(high))
    geometric = xp.sqrt(xp.clip(small, 1 / _furthest(low), None)) * xp.sqrt(large)
    signed = xp.where(low >= 0, geometric, xp.where(high <= 0, -geometric, xp.zeros_like(low)))
    return xp.where(large > 1e3 * small, signed, low + (high - low) / 2)


def upper_integral(
    distribution: Formulas,
    integrand: Integrand,
    of: Function,
    start: Array,
    stop: Array | None = None,
) -> Array:
    """``∫ integrand(t, of(t)) dt`` from ``start`` to ``stop`` (infinity if None), decaying at least like S.

    ``of`` is one of the distribution's own functions of time, survival or its logarithm. The integrand gets
    times and values of one shape ``(n, m, panels, nodes)``.
    """
    xp = namespace(start)
    start, _ = xp.broadcast_arrays(start, distribution._column[:, :1])
    usable = xp.isfinite(start)
    begin = xp.where(usable, start, xp.zeros_like(start))
    log_start = distribution._log_survival(begin)
    still = distribution._map_rows(without_gradient)
    ends = _times_around(still, without_gradient(log_start)[..., None] - as_like(_FOLDS, start), 1)
    endless = ~xp.isfinite(ends[..., -1])
    if stop is not None:
        # Where survival never falls that far, the stop is the end.
        ends = xp.where(xp.isfinite(ends), ends, stop[..., None])
    panels = _panels(distribution, integrand, of, begin, ends, stop, stretched_from=ends[..., 0])
    total = xp.sum(panels, axis=-1)
    if stop is None:
        divergent = endless | (xp.abs(panels[..., -1]) > _DIVERGENT_SHARE * xp.abs(total))
        total = xp.where(divergent, xp.full_like(total, math.inf), total)
    return xp.where(usable & (log_start > -math.inf), total, xp.zeros_like(total))


def lower_integral(distribution: Formulas, integrand: Integrand, of: Function, stop: Array) -> Array:
    """``∫ integrand(t, of(t)) dt`` from minus infinity to ``stop``, decaying at least like F."""
    xp = namespace(stop)
    stop, _ = xp.broadcast_arrays(stop, distribution._column[:, :1])
    usable = xp.isfinite(stop)
    end = xp.where(usable, stop, xp.zeros_like(stop))
    log_stop = distribution._log_cdf(end)
    still = distribution._map_rows(without_gradient)
    starts = _times_around(still, log1mexp(without_gradient(log_stop)[..., None] - as_like(_FOLDS, stop)), 0)
    # Probabilities too small for a float have no quantile: what lies below them counts for nothing.
    starts = xp.where(xp.isfinite(starts), starts, end[..., None])
    lowest = xp.maximum(xp.min(starts, axis=-1), still._lower())
    panels = _panels(distribution, integrand, of, lowest, xp.concat([starts, end[..., None]], axis=-1))
    total = xp.sum(panels, axis=-1)
    return xp.where(usable & (log_stop > -math.inf), total, xp.zeros_like(total))


def _times_around(distribution: Formulas, log_survivals: Array, side: int) -> Array:
    """Times close before (side 0) or after (side 1) those quantiles ``(n, m, k)``, in one search."""
    xp = namespace(log_survivals)
    n, m, k = log_survivals.shape
    flat = xp.reshape(log_survivals, (n, m * k))
    return xp.reshape(distribution._around(flat)[side], log_survivals.shape)


def _panels(
    distribution: Formulas,
    integrand: Integrand,
    of: Function,
    begin: Array,
    ends: Array,
    stop: Array | None = None,
    *,
    stretched_from: Array | None = None,
) -> Array:
    xp = namespace(begin)
    n, m = begin.shape
    first = begin[..., None]
    edges = xp.concat([first, xp.where(xp.isfinite(ends), ends, first)], axis=-1)
    # An integral does not depend on where its panels meet, so those places carry no gradient.
    still = distribution._map_rows(without_gradient)
    body = still._around(as_like(_BODY, begin) + xp.zeros_like(still._column[:, :1]))[1]
    kinks = xp.concat([still._kinks(), xp.where(xp.isfinite(body), body, xp.zeros_like(body))], axis=1)
    kinks = xp.broadcast_to(kinks[:, None, :], (n, m, kinks.shape[-1]))
    edges = xp.sort(xp.concat([edges, xp.clip(kinks, first, xp.max(edges, axis=-1, keepdims=True))], axis=-1))
    if stop is not None:
        edges = xp.minimum(edges, xp.maximum(stop, begin)[..., None])
    left, right = edges[..., :-1, None], edges[..., 1:, None]
    width = right - left
    from_left, from_right = as_like(_FROM_LEFT, begin), as_like(_FROM_RIGHT, begin)
    times = xp.where(from_left < 0.5, left + width * from_left, right - width * from_right)
    speed = width
    if stretched_from is not None:
        # Far out, panels that span orders of magnitude are walked at constant ratio: power laws become exponentials.
        origin = first[..., None]
        wide = (left >= stretched_from[..., None, None]) & (left > origin) & (right - origin > 8 * (left - origin))
        step = xp.where(wide, left - origin, xp.ones_like(left))
        magnitude = xp.log(xp.where(wide, (right - origin) / step, xp.ones_like(left)))
        by_ratio = step * xp.exp(magnitude * from_left)
        times = xp.where(wide, origin + by_ratio, times)
        speed = xp.where(wide, by_ratio * magnitude, width)
    flat = xp.reshape(times, (n, math.prod(times.shape[1:])))
    values = integrand(times, xp.reshape(of(flat), times.shape))
    return xp.sum(values * speed * as_like(_WEIGHTS, begin), axis=-1)


def mode(distribution: Formulas) -> Array:
    """Time of the highest density: the best of many places, then a golden-section search around it."""
    xp = namespace(distribution._column)
    places = xp.sort(distribution._places())
    heights = distribution._log_density(places)
    best = xp.argmax(heights, axis=-1)[:, None]
    start, top = xp.take_along_axis(places, best, axis=-1), xp.take_along_axis(heights, best, axis=-1)
    # The next different places on either side: several may coincide.
    low = xp.max(xp.where(places < start, places, xp.min(places, axis=-1, keepdims=True)), axis=-1, keepdims=True)
    high = xp.min(xp.where(places > start, places, xp.max(places, axis=-1, keepdims=True)), axis=-1, keepdims=True)
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        inner, outer = high - golden * (high - low), low + golden * (high - low)
        left_is_higher = distribution._log_density(inner) > distribution._log_density(outer)
        low, high = xp.where(left_is_higher, low, inner), xp.where(left_is_higher, outer, high)
    refined = low + (high - low) / 2
    return xp.where(distribution._log_density(refined) > top, refined, start)
