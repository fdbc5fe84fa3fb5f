"""Numbers without their last digits, which depend on the unit of time, the processor and the order of sums.

Where training goes on from such numbers, or compares them, the last digits would decide: two runs with the same seed
would have less and less in common. Rounded, they are the same numbers, except for a rare one between two steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["beside_the_times", "on_grid", "rounded"]

FloatArray = NDArray[np.float64]

# No time that people write down, nor its logarithm, is a multiple of such a step and these shares of it.
_STEPS, _BORDER, _PLACE = 517 * 2**0.5, 0.29, 0.08


def rounded(values: Any, bits: int) -> FloatArray:
    """Values with so many binary digits behind the first; infinite ones as they are.

    Parameters
    ----------
    values
        Numbers of any size.
    bits
        At most 51.
    """
    found = np.array(values, np.float64)
    half = np.int64(2 ** (51 - bits))
    places = found.view(np.int64)
    # The digits of a float are those of a whole number: what is rounded up past 2 goes on in the exponent.
    places += half
    places &= -2 * half
    return found


def on_grid(values: Any, step: float) -> FloatArray:
    """The nearest multiples of `step`, a power of 2: sums of them are exact in any order.

    Parameters
    ----------
    values
        Numbers of any size.
    step
        Distance of the multiples.
    """
    return np.asarray(np.rint(np.asarray(values, np.float64) / step) * step)


def beside_the_times(value: Any) -> Any:
    """Something near `value`, which is a quantile of times, at which no time is.

    The slope of an asymmetric Laplace likelihood has a jump where θ is a time: there the last digits would decide on
    which side a search begins.
    """
    return (np.floor(value * _STEPS + _BORDER) + _PLACE) / _STEPS
