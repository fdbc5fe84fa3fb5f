"""Elementary functions that stay accurate where the textbook form cancels or overflows.

Each runs on numpy and torch. Where a formula has branches, the branch not taken is kept finite: torch
differentiates both sides of a ``where``.
"""

from __future__ import annotations

import math

from aldsurv.distributions.numerics.backend import Array, namespace

__all__ = [
    "exponential_remainder",
    "growth_remainder",
    "log1mexp",
    "log_sum_exp",
    "or_complement",
    "power_integral",
    "saturation",
    "squared_remainder",
    "truncated_exponential_moments",
]

_LOG2 = math.log(2.0)
# Below this a Taylor series is more accurate than the closed form; 18 terms reach 1e-17 there.
_SERIES_BELOW = 0.7
_REMAINDER = [(-1.0) ** k / math.factorial(k) for k in range(2, 20)]
_GROWTH = [(2.0 ** (k - 1) - 2.0) / math.factorial(k) for k in range(3, 28)]
_SQUARED = [(-1.0) ** k * (2.0 - 2.0 ** (k - 1)) / math.factorial(k) for k in range(3, 24)]


def _bernoulli_over_factorial(count: int) -> list[float]:
    """``Bₙ/n!`` for n = 0 … count-1, from ``Σ (Bₖ/k!)/(n+1-k)! = 0``."""
    terms = [1.0]
    for n in range(1, count):
        terms.append(-sum(term / math.factorial(n + 1 - k) for k, term in enumerate(terms)))
    return terms


_BERNOULLI = _bernoulli_over_factorial(24)
_BERNOULLI_MEAN = _BERNOULLI[2::2]
_BERNOULLI_VARIANCE = [(n - 1) * _BERNOULLI[n] for n in range(2, 24, 2)]


def log1mexp(x: Array) -> Array:
    """``log(1 - exp(x))`` for x ≤ 0; -inf at 0."""
    xp = namespace(x)
    # -expm1 near zero and log1p far from it: each is used where it loses no digits.
    far = x < -_LOG2
    near = ~far & (x < 0)
    elsewhere = xp.full_like(x, -_LOG2)
    value = xp.where(far, xp.log1p(-xp.exp(xp.where(far, x, elsewhere))), xp.full_like(x, -math.inf))
    return xp.where(near, xp.log(-xp.expm1(xp.where(near, x, elsewhere))), value)


def or_complement(log_value: Array, log_other: Array) -> Array:
    """Log of a probability that is known, and of the one it adds up to 1 with: the more accurate of both ways."""
    xp = namespace(log_value)
    small = log_other < -_LOG2
    complement = xp.log1p(-xp.exp(xp.where(small, log_other, -xp.ones_like(log_other))))
    return xp.where(small, complement, log_value)


def log_sum_exp(x: Array, axis: int = -1) -> Array:
    """``log Σ exp(x)`` along ``axis``, which is dropped; -inf where all terms are."""
    xp = namespace(x)
    top = xp.max(x, axis=axis, keepdims=True)
    impossible = top == -math.inf
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    total = xp.sum(xp.exp(x - top), axis=axis)
    impossible, top = xp.squeeze(impossible, axis=axis), xp.squeeze(top, axis=axis)
    value = top + xp.log(xp.where(impossible, xp.ones_like(total), total))
    return xp.where(impossible, xp.full_like(value, -math.inf), value)


def exponential_remainder(x: Array) -> Array:
    """``∫₀ˣ (1 - e⁻ˢ) ds = x + expm1(-x)`` for x ≥ 0, with all its digits at small x."""
    xp = namespace(x)
    small = x < _SERIES_BELOW
    near = xp.where(small, x, xp.zeros_like(x))
    far = xp.where(small, xp.ones_like(x), x)
    return xp.where(small, near**2 * _horner(_REMAINDER, near), far + xp.expm1(-far))


def squared_remainder(x: Array) -> Array:
    """``∫₀ˣ (1 - e⁻ˢ)² ds`` for x ≥ 0, with all its digits at small x."""
    xp = namespace(x)
    small = x < _SERIES_BELOW
    near = xp.where(small, x, xp.zeros_like(x))
    far = xp.where(small, xp.ones_like(x), x)
    rise = -xp.expm1(-far)
    return xp.where(small, near**3 * _horner(_SQUARED, near), far - rise - rise**2 / 2)


def saturation(distance: Array, scale: Array) -> Array:
    """``1 - exp(-distance/scale)``, 1 at an infinite distance, where the plain form has no derivative."""
    xp = namespace(distance)
    endless = distance == math.inf
    value = -xp.expm1(-xp.where(endless, xp.zeros_like(distance), distance) / scale)
    return xp.where(endless, xp.ones_like(value), value)


def growth_remainder(x: Array) -> Array:
    """``e⁻²ˣ ∫₀ˣ (eˢ - 1)² ds`` for x ≥ 0, with all its digits at small x."""
    xp = namespace(x)
    small = x < _SERIES_BELOW
    near = xp.where(small, x, xp.zeros_like(x))
    far = xp.clip(xp.where(small, xp.ones_like(x), x), None, 1e4)
    decay = xp.exp(-far)
    closed = -xp.expm1(-2 * far) / 2 + 2 * decay * xp.expm1(-far) + xp.exp(xp.log(far) - 2 * far)
    return xp.where(small, near**3 * _horner(_GROWTH, near) * xp.exp(-2 * near), closed)


def truncated_exponential_moments(x: Array) -> tuple[Array, Array]:
    """Mean and variance of a standard exponential known to lie in [0, x]."""
    xp = namespace(x)
    small = x < 1.0
    near = xp.where(small, x, xp.zeros_like(x))
    # Beyond 700 the mean is 1 to the last digit, and eˣ would overflow.
    far = xp.clip(xp.where(small, xp.ones_like(x), x), None, 700.0)
    # h/(eʰ - 1) = Σ Bₙ hⁿ/n!, the Bernoulli numbers.
    mean = near / 2 - near**2 * _horner(_BERNOULLI_MEAN, near**2)
    variance = near**2 * _horner(_BERNOULLI_VARIANCE, near**2)
    decay = far / xp.expm1(far)
    return xp.where(small, mean, 1 - decay), xp.where(small, variance, 1 - decay**2 * xp.exp(far))


def power_integral(exponent: Array, log_ratio: Array) -> Array:
    """``∫₁ʳ t^(exponent-1) dt = (r^exponent - 1)/exponent`` with ``r = exp(log_ratio)``; log r at exponent 0."""
    xp = namespace(exponent)
    product = exponent * log_ratio
    small = exponent == 0
    safe = xp.where(small, xp.ones_like(exponent), exponent)
    return xp.where(small, log_ratio + 0 * exponent, xp.expm1(product) / safe)


def _horner(coefficients: list[float], x: Array) -> Array:
    total = 0 * x + coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total
