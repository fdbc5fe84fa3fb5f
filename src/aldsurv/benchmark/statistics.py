"""Tests over the runs of a benchmark. What cannot be tested has NaN, and nothing warns or raises."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "TTest",
    "adjusted_p_values",
    "as_loss",
    "corrected_resampled_t",
    "spread",
    "student_t",
    "student_t_from_summary",
]

FloatArray = NDArray[np.float64]

_HIGHER_IS_BETTER = ("harrell_c", "uno_c", "log_likelihood")
_IDEAL = {"cal_s_slope": 1.0, "cal_f_slope": 1.0, "cal_s_intercept": 0.0, "cal_f_intercept": 0.0}


class TTest(NamedTuple):
    """A t test, or arrays of many.

    Attributes
    ----------
    difference
        Mean of the first less mean of the second.
    statistic, degrees
        t and its degrees of freedom.
    p_value
        Two-sided.
    """

    difference: Any
    statistic: Any
    degrees: Any
    p_value: Any


def as_loss(metric: str, values: ArrayLike) -> FloatArray:
    """Values of a metric turned so that lower is better: slopes become ``|1 - slope|``, intercepts ``|intercept|``.

    Examples
    --------
    >>> as_loss("cal_s_slope", [0.9, 1.2]), as_loss("harrell_c", [0.6, 0.7]), as_loss("mae", [0.6, 0.7])
    (array([0.1, 0.2]), array([-0.6, -0.7]), array([0.6, 0.7]))
    """
    found = np.asarray(values, np.float64)
    if metric in _IDEAL:
        return np.abs(found - _IDEAL[metric])
    return -found if metric in _HIGHER_IS_BETTER else found


def spread(values: ArrayLike) -> tuple[float, float, int]:
    """Mean, standard deviation (with ``n - 1``) and number of runs; NaN where there are too few."""
    found = np.asarray(values, np.float64).ravel()
    n = found.size
    with np.errstate(invalid="ignore", over="ignore"):
        mean = float(found.mean()) if n else np.nan
        deviation = float(found.std(ddof=1)) if n > 1 else np.nan
    return mean, deviation, n


def student_t(first: ArrayLike, second: ArrayLike) -> TTest:
    """Student's t test of two independent samples with one variance, which is what the paper names.

    The runs of two models share their rows, so that the samples are not independent; see `corrected_resampled_t`.

    Parameters
    ----------
    first, second
        Values of the runs of two models, two or more each; otherwise the p-value is NaN.

    Examples
    --------
    >>> round(float(student_t([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).p_value), 4)
    0.1963
    """
    found = student_t_from_summary(*spread(first), *spread(second))
    return TTest(*(float(value) for value in found))


def student_t_from_summary(
    mean: ArrayLike, sd: ArrayLike, n: ArrayLike, other_mean: ArrayLike, other_sd: ArrayLike, other_n: ArrayLike
) -> TTest:
    """`student_t` of samples of which only mean, standard deviation and size are known; arrays broadcast."""
    first, first_sd, first_n, second, second_sd, second_n = (
        np.asarray(value, np.float64) for value in (mean, sd, n, other_mean, other_sd, other_n)
    )
    with np.errstate(all="ignore"):
        degrees = first_n + second_n - 2
        pooled = ((first_n - 1) * first_sd**2 + (second_n - 1) * second_sd**2) / degrees
        error = np.sqrt(pooled * (1 / first_n + 1 / second_n))
        return _t_test(first - second, error, degrees)


def corrected_resampled_t(first: ArrayLike, second: ArrayLike, *, test_share: float) -> TTest:
    """The corrected resampled t test of Nadeau and Bengio (2003), paired by run.

    Runs on random splits of the same rows share most of their training rows: their differences vary less than
    those of runs on new rows would, and a test that takes them for independent finds too much. The variance of the
    mean difference is therefore taken as ``(1/k + n_test/n_train)`` times that of the k differences.

    Parameters
    ----------
    first, second
        Values of the same runs, in the same order.
    test_share
        ``n_test/n_train``; 0 for runs that each have new rows, which gives the paired t test.
    """
    with np.errstate(all="ignore"):
        mean, deviation, n = spread(np.asarray(first, np.float64) - np.asarray(second, np.float64))
        error = np.sqrt(np.divide(1.0, n) + test_share) * deviation
        found = _t_test(np.asarray(mean), np.asarray(error), np.asarray(n - 1.0))
    return TTest(*(float(value) for value in found))


def adjusted_p_values(p_values: ArrayLike) -> FloatArray:
    """Benjamini and Hochberg's adjusted p-values: those below a level have at most that false discovery rate.

    Parameters
    ----------
    p_values
        Of all tests, in any shape; NaN stands for a test that was not made, and is not counted.

    Examples
    --------
    >>> adjusted_p_values([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.04,  nan, 0.04])
    """
    given = np.asarray(p_values, np.float64)
    found = np.full(given.shape, np.nan)
    made = ~np.isnan(given)
    made_p = given[made]
    order = np.argsort(made_p)[::-1]
    ranks = np.arange(made_p.size, 0, -1)
    # From the largest down: no test may be adjusted above one with a larger p-value.
    adjusted = np.minimum.accumulate(made_p[order] * made_p.size / ranks)
    placed = np.empty_like(adjusted)
    placed[order] = adjusted
    found[made] = placed
    return found


def _t_test(difference: FloatArray, error: FloatArray, degrees: FloatArray) -> TTest:
    from scipy.special import stdtr

    # Runs that are all the same: no difference is none, and any other is beyond doubt.
    statistic = np.where((difference == 0) & (error == 0), 0.0, difference / error)
    p_value = np.where(degrees > 0, 2 * stdtr(np.where(degrees > 0, degrees, 1.0), -np.abs(statistic)), np.nan)
    return TTest(difference, statistic, degrees, p_value)
