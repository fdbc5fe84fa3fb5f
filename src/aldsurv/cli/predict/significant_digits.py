"""Predicted numbers rounded to the digits that people read, a column at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.cli.predict.prediction_files import ALL_DIGITS

__all__ = ["rounded"]

FloatArray = NDArray[np.float64]

# With more, the product below would differ from the decimal number in the last digit.
_FAST_DIGITS = 12
# Powers of ten without a rounding error: a whole number divided by one is the number nearest to that decimal.
_POWERS = 10.0 ** np.arange(23)


def rounded(values: FloatArray, digits: int) -> FloatArray:
    """The numbers (n,) nearest to the values in so many significant digits.

    The shortest text that reads back as such a number has at most `digits` of them: what writes numbers by their
    shortest text need not know of digits. The order of values stays, and -0 becomes 0.

    Parameters
    ----------
    values
        Any numbers, NaN and infinities too.
    digits
        From 1 to 17; 17 gives back the values.

    Examples
    --------
    >>> rounded(np.array([1234.5678, 0.99999999, 1e-30 / 3]), 6).tolist()
    [1234.57, 1.0, 3.33333e-31]
    """
    if digits >= ALL_DIGITS:
        return values
    with np.errstate(divide="ignore"):
        exponent = np.floor(np.log10(np.abs(values)))
    decimals = digits - 1 - exponent
    fast = np.abs(decimals) < len(_POWERS) if digits <= _FAST_DIGITS else np.zeros(values.shape, np.bool_)
    power = _POWERS[np.where(fast, np.abs(decimals), 0).astype(np.intp)]
    result = np.where(decimals >= 0, np.rint(values * power) / power, np.rint(values / power) * power)
    # What is left, 0 and numbers that are not finite, was divided by 1.
    others = ~fast & np.isfinite(values) & (values != 0)
    if others.any():
        result[others] = _by_text(values[others], digits, decimals[others])
    return np.asarray(result + 0.0)


def _by_text(values: FloatArray, digits: int, decimals: FloatArray) -> FloatArray:
    """The same by way of decimal text: for numbers so large or small that no exact power of ten is at hand."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    if digits > _FAST_DIGITS:
        return np.array([float(f"{value:.{digits - 1}e}") for value in values.tolist()])
    # Twice half the power: the whole one is infinite for the smallest numbers.
    half = np.floor(decimals / 2)
    whole = np.rint(values * 10.0**half * 10.0 ** (decimals - half)).astype(np.int64)
    parts = [compute.cast(arrow.array(part), arrow.string()) for part in (whole, -decimals.astype(np.int64))]
    text = compute.binary_join_element_wise(parts[0], "e", parts[1], "")
    return np.asarray(compute.cast(text, arrow.float64()).to_numpy(zero_copy_only=False))
