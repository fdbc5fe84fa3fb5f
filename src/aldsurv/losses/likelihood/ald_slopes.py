"""Slopes of the ALD's log-likelihood in closed form, on numpy or on torch: whichever module the caller hands in.

With ``z = y - θ``, ``v = min(z, 0)/left`` and ``w = -max(z, 0)/right``, of which one is always 0::

    log f = v + w + log √2 - log σ - log(κ + 1/κ)
    log S = log((1 - F(θ))·eᵛ - expm1(v)) + w

An event between a and b has, with p = F(θ), q = 1 - p and the exponents v and w of both, the probability ::

    log(F(b) - F(a)) = v_b + w_a + log(-p·expm1(v_a - v_b) - q·expm1(w_b - w_a))

of which nothing cancels, however narrow the interval is and however far from θ.

No exponent is positive. Only operations whose result for a row does not depend on the rows beside it are used
(torch's sigmoid and logaddexp round differently at the end of an array), so that a member trains to the same
bits alone and among others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = [
    "LARGEST_LOG_KAPPA",
    "between_parameter_slopes",
    "between_value_and_slopes",
    "parameter_slopes",
    "value_and_slopes",
    "within_range",
]

# As predicted distributions limit them; of κ the square is needed, also in single precision.
_LARGEST_LOG, LARGEST_LOG_KAPPA = 80.0, 40.0
_SQRT2 = math.sqrt(2.0)
_LOG_SQRT2 = math.log(2.0) / 2


def value_and_slopes(xp: Any, raw: Any, time: Any, event: Any, *rest: Any) -> tuple[Any, Any]:
    """Log-likelihood of each row and its slopes by the three outputs, on numpy or torch."""
    *entry, exp_theta, wanted = rest
    parameters = _parameters(xp, raw, exp_theta)
    value, slopes = parameter_slopes(xp, parameters, time, event, *entry, wanted=wanted)
    return value, _by_outputs(xp, parameters[0], slopes, exp_theta) if wanted else None


def between_value_and_slopes(
    xp: Any, raw: Any, lower: Any, upper: Any, *entry: Any, exp_theta: bool, wanted: bool
) -> tuple[Any, Any]:
    """The same for rows whose event came after `lower`, which may be -inf, and at or before `upper`."""
    parameters = _parameters(xp, raw, exp_theta)
    value, slopes = between_parameter_slopes(xp, parameters, lower, upper, *entry, wanted=wanted)
    return value, _by_outputs(xp, parameters[0], slopes, exp_theta) if wanted else None


def parameter_slopes(
    xp: Any, parameters: Sequence[Any], time: Any, event: Any, *entry: Any, wanted: bool
) -> tuple[Any, list[Any]]:
    """Log-likelihood of each row and, if wanted, its slopes by θ, log σ and log κ, which need not differ by row."""
    theta, *scale_and_skew = parameters
    shape = _Shape(xp, *scale_and_skew)
    return _conditional(xp, shape, theta, shape.known(time - theta, event, wanted), entry)


def between_parameter_slopes(
    xp: Any, parameters: Sequence[Any], lower: Any, upper: Any, *entry: Any, wanted: bool
) -> tuple[Any, list[Any]]:
    """The same for rows whose event came after `lower`, which may be -inf, and at or before `upper`."""
    theta, *scale_and_skew = parameters
    shape = _Shape(xp, *scale_and_skew)
    bounded = lower > -math.inf
    below = xp.where(bounded, lower, 0.0) - theta
    return _conditional(xp, shape, theta, shape.between(below, upper - theta, bounded, wanted), entry)


def _parameters(xp: Any, raw: Any, exp_theta: bool) -> tuple[Any, Any, Any]:
    location, log_sigma, log_kappa = raw[..., 0], raw[..., 1], raw[..., 2]
    theta = xp.exp(within_range(xp, location)) if exp_theta else location
    return theta, within_range(xp, log_sigma), within_range(xp, log_kappa, LARGEST_LOG_KAPPA)


def within_range(xp: Any, log: Any, largest: float = _LARGEST_LOG) -> Any:
    """A logarithm limited to what can be taken back; its slope beyond the limits is that at them."""
    return xp.clip(log, -largest, largest)


def _by_outputs(xp: Any, theta: Any, slopes: list[Any], exp_theta: bool) -> Any:
    by_theta, by_log_sigma, by_log_kappa = slopes
    return xp.stack((by_theta * theta if exp_theta else by_theta, by_log_sigma, by_log_kappa), -1)


def _conditional(
    xp: Any, shape: _Shape, theta: Any, known: tuple[Any, list[Any]], entry: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """What is left of log-likelihood and slopes by z, and those by θ, given that the event came after the entries."""
    value, slopes = known
    for since in entry:
        delayed = since > -math.inf
        at = xp.where(delayed, since, theta)
        before, before_slopes = shape.known(at - theta, xp.zeros_like(delayed), bool(slopes))
        value = value - xp.where(delayed, before, 0.0)
        slopes = [s - xp.where(delayed, b, 0.0) for s, b in zip(slopes, before_slopes, strict=True)]
    return value, [-slopes[0], *slopes[1:]] if slopes else []


class _Shape:
    """What the log-likelihood needs of scale and asymmetry, computed once for all times."""

    def __init__(self, xp: Any, log_sigma: Any, log_kappa: Any) -> None:
        self.xp = xp
        squared = xp.exp(2 * log_kappa)
        self.per_right = _SQRT2 * xp.exp(log_kappa - log_sigma)
        self.per_left = _SQRT2 * xp.exp(-log_kappa - log_sigma)
        self.mass_right = 1 / (1 + squared)
        self.mass_left = squared * self.mass_right
        self.log_height = log_kappa - log_sigma - xp.log1p(squared) + _LOG_SQRT2

    def known(self, z: Any, event: Any, wanted: bool) -> tuple[Any, list[Any]]:
        """Log density where `event`, else log survival, and its slopes by z, log σ and log κ if `wanted`."""
        xp = self.xp
        above = z >= 0
        v = xp.where(above, 0.0, z) * self.per_left
        w = xp.where(above, -z, 0.0) * self.per_right
        u = v + w
        decay = xp.exp(v)
        survival = self.mass_right * decay - xp.expm1(v)
        value = xp.where(event, u + self.log_height, xp.log(survival) + w)
        if not wanted:
            return value, []
        # Below θ survival hardly falls: its logarithm moves by this factor of what the exponent v does.
        falls = -self.mass_left * decay / survival
        factor = xp.where(event | above, 1.0, falls)
        by_z = factor * xp.where(above, -self.per_right, self.per_left)
        by_log_sigma = xp.where(event, -1.0 - u, -factor * u)
        censored = xp.where(above, w - 2 * self.mass_left, falls * (2 * self.mass_right - v))
        by_log_kappa = xp.where(event, w - v + self.mass_right - self.mass_left, censored)
        return value, [by_z, by_log_sigma, by_log_kappa]

    def between(self, z_lower: Any, z_upper: Any, bounded: Any, wanted: bool) -> tuple[Any, list[Any]]:
        """Log probability of an event from `z_lower`, or -inf where not `bounded`, to `z_upper`, and its slopes."""
        xp = self.xp
        z_lower = xp.where(bounded, z_lower, xp.where(z_upper < 0, z_upper, 0.0))
        from_above, to_above = bounded & (z_lower >= 0), z_upper >= 0
        v = xp.where(to_above, 0.0, z_upper) * self.per_left
        w = xp.where(from_above, -z_lower, 0.0) * self.per_right
        left = xp.where(from_above, 0.0, z_lower) * self.per_left - v
        right = xp.where(to_above, -z_upper, 0.0) * self.per_right - w
        mass_left = xp.where(bounded, -xp.expm1(left), 1.0)
        mass_right = -xp.expm1(right)
        total = self.mass_left * mass_left + self.mass_right * mass_right
        value = v + w + xp.log(total)
        if not wanted:
            return value, []
        decay_left = xp.where(bounded, self.mass_left * xp.exp(left), 0.0)
        decay_right = self.mass_right * xp.exp(right)
        # θ inside the interval: both ends move, each in its own piece.
        inside = to_above & ~from_above
        ends = xp.where(inside, decay_right * self.per_right - decay_left * self.per_left, 0.0)
        whole = xp.where(to_above, 0.0, self.per_left) - xp.where(from_above, self.per_right, 0.0)
        by_z = whole + ends / total
        by_log_sigma = (decay_left * left + decay_right * right) / total - v - w
        shift = 2 * self.mass_left * self.mass_right * (mass_left - mass_right)
        by_log_kappa = (decay_left * left - decay_right * right + shift) / total - v + w
        return value, [by_z, by_log_sigma, by_log_kappa]
