"""Functions that ONNX lacks, or has in single precision only, made of those that it has in double precision."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.export.onnx.graph import Tensor

__all__ = ["count_below", "erfc", "expm1", "log1mexp", "log1p", "normal_survival", "softplus"]

# The variable of the polynomial for the scaled error function is (x - a)/(x + a), which maps [0, ∞) onto [-1, 1).
_MIDDLE, _TERMS = 3.75, 30


def log1p(x: Tensor) -> Tensor:
    """``log(1 + x)`` with all its digits at small x (Kahan's form: the rounding of 1 + x is made good)."""
    one_more = x + 1.0
    rounded = one_more - 1.0
    tiny = rounded.equals(0.0)
    safe = tiny.where(1.0, rounded)
    # At infinity the quotient would be none.
    endless = one_more.equals(math.inf)
    return endless.where(math.inf, tiny.where(x, one_more.log() * (x / safe)))


def expm1(x: Tensor) -> Tensor:
    """``exp(x) - 1`` for x ≤ 0 with all its digits near 0, in Kahan's form."""
    grown = x.exp()
    less = grown - 1.0
    tiny, far = less.equals(0.0), grown < 1e-3
    safe = (tiny | far).where(math.exp(-1.0), grown)
    return tiny.where(x, far.where(less, less * x / safe.log()))


def log1mexp(x: Tensor) -> Tensor:
    """``log(1 - exp(x))`` for x ≤ 0; -inf at 0."""
    return (x < -math.log(2.0)).where(log1p(-x.minimum(-math.log(2.0)).exp()), (-expm1(x)).log())


def softplus(x: Tensor) -> Tensor:
    """``log(1 + exp(x))``."""
    return x.maximum(0.0) + log1p((-x.abs()).exp())


@lru_cache
def _scaled_error_terms() -> NDArray[np.float64]:
    """Chebyshev coefficients of ``(1 + 2x)·exp(x²)·erfc(x)`` as a function of ``(x - a)/(x + a)``."""
    from scipy.special import erfcx

    def values(y: NDArray[np.float64]) -> NDArray[np.float64]:
        x = _MIDDLE * (1 + y) / (1 - y)
        return np.asarray((1 + 2 * x) * erfcx(x))

    interpolate: Any = np.polynomial.chebyshev.chebinterpolate
    return np.asarray(interpolate(values, _TERMS))


def erfc(x: Tensor) -> Tensor:
    """The complementary error function, whose upper tail keeps its digits until it underflows."""
    size = x.abs().minimum(30.0)
    y = (size - _MIDDLE) / (size + _MIDDLE)
    twice = y * 2.0
    terms = _scaled_error_terms()
    # Clenshaw's recurrence.
    here, before = y * 0.0 + float(terms[-1]), y * 0.0
    for term in terms[-2:0:-1]:
        here, before = twice * here - before + float(term), here
    scaled = (y * here - before + float(terms[0])) / (size * 2.0 + 1.0)
    tail = scaled * (-(size * size)).exp()
    return (x < 0.0).where(2.0 - tail, tail)


def normal_survival(z: Tensor) -> Tensor:
    """Probability of a standard normal number above z."""
    return erfc(z * math.sqrt(0.5)) * 0.5


def count_below(table: Tensor, size: int, values: Tensor, *, inclusive: bool) -> Tensor:
    """How many of the ascending entries of a table lie below values, by halving.

    Parameters
    ----------
    table
        Constant (m, 1), the same for all rows, or (m, rows).
    size
        m.
    values
        (q, 1) or (q, rows); of a table by rows (q, rows).
    inclusive
        Whether entries that are equal count.
    """
    constant = table.value is not None
    # Zeros in the shape of the values.
    place = (values > math.inf).cast("int64")
    step = 1 << max(size.bit_length() - 1, 0)
    flat = table.reshape([-1]) if constant else table
    while step and size:
        ahead = place + step
        within = ahead <= size
        entry = ahead.minimum(size) - 1
        found = flat.gather(entry) if constant else flat.gather_rows(entry)
        passed = found <= values if inclusive else found < values
        place = (within & passed).where(ahead, place)
        step >>= 1
    return place
