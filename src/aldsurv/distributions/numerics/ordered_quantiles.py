"""From numbers on the real line, such as a network's outputs, to quantiles that do not cross."""

from __future__ import annotations

from aldsurv.distributions.numerics.backend import Array, namespace

__all__ = ["middle_level", "ordered_quantiles"]


def middle_level(levels: int) -> int:
    """Place of the quantile that the first number is."""
    return levels // 2


def ordered_quantiles(raw: Array) -> Array:
    """Increasing quantiles, in the shape of `raw` ``(..., levels)``.

    The first number is the quantile in the middle, where most is known; softplus of each of the others is the distance
    between two neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> ordered_quantiles(np.array([5.0, 0.0, 1.0, 2.0])).round(3)
    array([2.994, 3.687, 5.   , 7.127])
    """
    xp = namespace(raw)
    # Softplus in operations that run on many numbers at once.
    gaps = xp.clip(raw, 0.0, None) + xp.log1p(xp.exp(-xp.abs(raw)))
    steps = xp.concat([xp.zeros_like(raw[..., :1]), gaps[..., 1:]], axis=-1)
    sums = xp.cumulative_sum(steps, axis=-1)
    middle = middle_level(raw.shape[-1])
    return raw[..., :1] + (sums - sums[..., middle : middle + 1])
