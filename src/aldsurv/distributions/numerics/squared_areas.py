"""``∫ F²`` and ``∫ S²`` of mixtures of asymmetric Laplace distributions in closed form, for their CRPS.

The square of a sum of K curves is a sum over pairs. Between the two places of a pair each of its curves is
``value + slope·(e^(rate·s) - 1)/rate``, with value and slope positive, so that a stretch of the product has a closed
form, and nothing but positive stretches is added up. With support log the same curves are integrated over log time
with the weight e^y. All exponentials are of numbers below 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from aldsurv.distributions.numerics.backend import Array, as_like, namespace

if TYPE_CHECKING:
    from aldsurv.distributions.support import Support

__all__ = ["Curves", "falling", "rising", "squared_area"]

_SQRT2 = math.sqrt(2.0)
# Up to this many e-folds on a stretch, three nodes are exact to rounding, and differences of exponentials are not.
_FEW_FOLDS = 0.02
_NODES, _SHARES = (0.5 * (np.polynomial.legendre.leggauss(3)[k] + (1 - k)) for k in (0, 1))


@final
@dataclass(frozen=True)
class Curves:
    """Increasing curves: ``mass·e^((t-place)/near)`` before the place, then up by ``reach·(1-e^(-(t-place)/far))``.

    Attributes
    ----------
    place, near, far, mass, reach, weight
        Columns (n, K).
    growth
        The area is that under the square times ``e^(growth·t)``.
    begin
        Where the curves are 0, by subtracting a constant; None for minus infinity.
    """

    place: Array
    near: Array
    far: Array
    mass: Array
    reach: Array
    weight: Array
    growth: float = 0.0
    begin: float | None = None

    def sorted(self) -> Curves:
        """The same with the places of each row in ascending order."""
        xp = namespace(self.place)
        order = xp.argsort(self.place, axis=1)
        names = ("place", "near", "far", "mass", "reach", "weight")
        columns = {name: xp.take_along_axis(getattr(self, name), order, axis=1) for name in names}
        return Curves(**columns, growth=self.growth, begin=self.begin)


class _Stretch(NamedTuple):
    """A curve from the start of a stretch on; its slope is that at the end if the rate is positive."""

    value: Array
    slope: Array
    rate: Array


def rising(theta: Array, sigma: Array, kappa: Array, weights: Array, support: Support) -> Curves:
    """The components' cdfs, of log time with support log."""
    left, right = sigma * kappa / _SQRT2, sigma / (kappa * _SQRT2)
    below, above = 1 / (1 + kappa**-2), 1 / (1 + kappa**2)
    if not support.cut_at_zero:
        return Curves(theta, left, right, below, above, weights, growth=1.0 if support.of_log_time else 0.0)
    place, slope, high = _cut_at_zero(theta, left, below, above)
    return Curves(place, left, right, slope, high, weights, begin=0.0)


def falling(theta: Array, sigma: Array, kappa: Array, weights: Array, support: Support) -> Curves:
    """The components' survivals, as increasing curves of the negative time (the negative log time)."""
    left, right = sigma * kappa / _SQRT2, sigma / (kappa * _SQRT2)
    below, above = 1 / (1 + kappa**-2), 1 / (1 + kappa**2)
    if not support.cut_at_zero:
        return Curves(-theta, right, left, above, below, weights, growth=-1.0 if support.of_log_time else 0.0)
    place, slope, high = _cut_at_zero(theta, left, below, above)
    return Curves(-place, right, left, high, slope, weights)


def _cut_at_zero(theta: Array, left: Array, below: Array, above: Array) -> tuple[Array, Array, Array]:
    """Peak, and the probabilities on both sides of it relative to that of a positive time."""
    xp = namespace(theta)
    peak = xp.clip(theta, 0.0, None)
    positive = above - below * xp.expm1(-peak / left)
    # A peak below 0 leaves an exponential, of which nothing lies before its place.
    return peak, below / positive, above / positive


def squared_area(curves: Curves, stop: Array, start: Array | None = None) -> Array:
    """``∫ (Σ weight·curve)²·e^(growth·t) dt`` up to ``stop`` (n, m), from ``start`` or minus infinity."""
    xp = namespace(curves.place)
    curves = curves.sorted()
    first, second = (index.tolist() for index in np.triu_indices(curves.place.shape[1]))
    begin = curves.begin if start is None else start
    usable = xp.isfinite(stop)
    stop = xp.where(usable, stop, xp.zeros_like(stop))[..., None]
    one, other = _Pair(curves, first), _Pair(curves, second)
    double = as_like([1.0 if i == j else 2.0 for i, j in zip(first, second, strict=True)], curves.place)
    weight = double * (curves.weight[:, first] * curves.weight[:, second])[:, None, :]

    early = xp.minimum(stop, one.place)
    bounds = [(one.place, xp.minimum(stop, other.place), False, True), (other.place, stop, False, False)]
    if begin is None:
        area = _endless(one, other, early, curves.growth)
    else:
        begin = as_like(begin, curves.place)
        begin = begin if begin.ndim == 0 else begin[..., None]
        bounds = [(begin, early, True, True)] + [(xp.maximum(a, begin), *rest) for a, *rest in bounds]
        area = xp.zeros_like(weight * early)
    area = area + _stretches(one, other, bounds, curves.growth)
    area = xp.where(weight > 0, area, xp.zeros_like(area))
    total = xp.sum(weight * area, axis=-1)
    return xp.where(usable, total, xp.zeros_like(total))


class _Pair:
    """One curve of each pair, with columns (n, 1, pairs)."""

    def __init__(self, curves: Curves, index: list[int]) -> None:
        names = ("place", "near", "far", "mass", "reach")
        self.columns = {name: getattr(curves, name)[:, index][:, None, :] for name in names}
        self.place, self.begin = self.columns["place"], curves.begin

    def along(self, some: Array, low: Array, high: Array, *, rising: bool) -> _Stretch:
        """The curve on stretches (chosen,) of some pairs, on which it is before its place, or after."""
        xp = namespace(self.place)
        place, near, far, mass, reach = (xp.broadcast_to(c, some.shape)[some] for c in self.columns.values())
        if rising:
            value = mass * xp.exp((low - place) / near) * self._share(low, near)
            return _Stretch(value, mass / near * xp.exp((high - place) / near), 1 / near)
        left = xp.exp((place - low) / far)
        value = mass * self._share(place, near) + reach * -xp.expm1((place - low) / far)
        return _Stretch(value, reach / far * left, -1 / far)

    def _share(self, at: Array, near: Array) -> Array:
        """What is left of an exponential that was moved down to begin at 0."""
        return 1.0 if self.begin is None else -namespace(at).expm1((self.begin - at) / near)


def _endless(one: _Pair, other: _Pair, stop: Array, growth: float) -> Array:
    """Area of the products from minus infinity to a stop before both places; infinite if the tails are too heavy."""
    xp = namespace(stop)
    a, b = one.columns, other.columns
    rate = 1 / a["near"] + 1 / b["near"] + growth
    exists = rate > 0
    exponent = (stop - a["place"]) / a["near"] + (stop - b["place"]) / b["near"] + growth * stop
    area = a["mass"] * b["mass"] * xp.exp(exponent) / xp.where(exists, rate, xp.ones_like(rate))
    return xp.where(exists, area, xp.full_like(area, math.inf))


def _stretches(one: _Pair, other: _Pair, bounds: list[Any], growth: float) -> Array:
    """Areas of the products between bounds; 0 where the upper one is not above the lower."""
    xp = namespace(one.place)
    chosen, parts = [], []
    for low, high, *rising_there in bounds:
        low, high, _ = xp.broadcast_arrays(low, high, one.place)
        some = high > low
        low, high = low[some], high[some]
        chosen.append(some)
        stretches = (
            part.along(some, low, high, rising=grows) for part, grows in zip((one, other), rising_there, strict=True)
        )
        # The weight counts where it is largest; what it falls off to is in the product.
        parts.append((high - low, high if growth > 0 else low, *(column for part in stretches for column in part)))
    # All in one call: for few rows each operation costs more than its numbers.
    width, largest, *columns = (xp.concat(kind) for kind in zip(*parts, strict=True))
    found = _product(width, growth, _Stretch(*columns[:3]), _Stretch(*columns[3:]))
    if growth:
        found = found * xp.exp(growth * largest)
    total, start = 0.0, 0
    for some, (own, *_) in zip(chosen, parts, strict=True):
        area = xp.zeros(some.shape, dtype=found.dtype, device=found.device)
        area[some] = found[start : start + len(own)]
        total, start = total + area, start + len(own)
    return total


def _product(width: Array, growth: float, one: _Stretch, other: _Stretch) -> Array:
    xp = namespace(width)
    few = (xp.abs(one.rate) + xp.abs(other.rate) + abs(growth)) * width <= _FEW_FOLDS
    area = xp.zeros_like(width)
    for rows, formula in ((few, _by_nodes), (~few, _in_closed_form)):
        if bool(xp.any(rows)):
            parts = (_Stretch(*(column[rows] for column in part)) for part in (one, other))
            area[rows] = formula(width[rows], growth, *parts)
    return area


def _by_nodes(width: Array, growth: float, *parts: _Stretch) -> Array:
    xp = namespace(width)
    total = xp.zeros_like(width)
    slopes = [part.slope * xp.exp(-xp.clip(part.rate, 0.0, None) * width) for part in parts]
    for node, share in zip(_NODES.tolist(), _SHARES.tolist(), strict=True):
        values = [
            part.value + slope * xp.expm1(part.rate * (node * width)) / part.rate
            for part, slope in zip(parts, slopes, strict=True)
        ]
        product = share * values[0] * values[1]
        if growth:
            product = product * xp.exp((growth * node - max(growth, 0.0)) * width)
        total = total + product
    return total * width


def _in_closed_form(width: Array, growth: float, one: _Stretch, other: _Stretch) -> Array:
    xp = namespace(width)
    most = max(growth, 0.0)
    grow_one, grow_other = xp.clip(one.rate, 0.0, None), xp.clip(other.rate, 0.0, None)
    fall_one, fall_other = xp.exp(-grow_one * width), xp.exp(-grow_other * width)
    base = _area(xp.zeros_like(width) + growth, most, width)
    with_one = _area(growth + one.rate, most + grow_one, width)
    with_other = _area(growth + other.rate, most + grow_other, width)
    with_both = _area(growth + one.rate + other.rate, most + grow_one + grow_other, width)
    area = one.value * other.value * base
    area = area + other.value * one.slope / one.rate * (with_one - fall_one * base)
    area = area + one.value * other.slope / other.rate * (with_other - fall_other * base)
    mixed = (with_both - fall_other * with_one) - fall_one * (with_other - fall_other * base)
    return area + one.slope * other.slope / (one.rate * other.rate) * mixed


def _area(rate: Array, most: Array | float, width: Array) -> Array:
    """``e^(-most·width) ∫ e^(rate·s) ds`` over a stretch, with most ≥ rate."""
    xp = namespace(width)
    flat = rate == 0
    size = xp.abs(xp.where(flat, xp.ones_like(rate), rate))
    area = xp.where(flat, width, -xp.expm1(-size * width) / size)
    return area * xp.exp((xp.clip(rate, 0.0, None) - most) * width)
