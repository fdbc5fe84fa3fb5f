"""Means and tests over the runs of a benchmark. A test that cannot be made gives NaN, without warning or error."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Generic, NamedTuple, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.registry import METRICS

__all__ = [
    "FloatArray",
    "RunSummary",
    "TTest",
    "adjusted_p_values",
    "as_loss",
    "corrected_resampled_t",
    "distance_from",
    "run_summary",
    "student_t",
    "student_t_from_summary",
]

FloatArray = NDArray[np.float64]
NumberT = TypeVar("NumberT", float, FloatArray)


class RunSummary(NamedTuple):
    """Mean and standard deviation (with ``n - 1``) over runs, and their number; NaN where there are too few."""

    mean: float
    sd: float
    runs: int


@final
@dataclass(frozen=True)
class TTest(Generic[NumberT]):
    """One t test, or arrays of many.

    Attributes
    ----------
    difference
        Mean of the first less mean of the second.
    statistic, degrees
        t and its degrees of freedom.
    p_value
        Two-sided.
    """

    difference: NumberT
    statistic: NumberT
    degrees: NumberT
    p_value: NumberT


def as_loss(metric: str, values: ArrayLike) -> FloatArray:
    """Values of a metric as losses, lower being better: slopes become ``|1 - slope|``, intercepts ``|intercept|``.

    Examples
    --------
    >>> as_loss("cal_s_slope", [0.9, 1.2]), as_loss("harrell_c", [0.6, 0.7]), as_loss("mae", [0.6, 0.7])
    (array([0.1, 0.2]), array([-0.6, -0.7]), array([0.6, 0.7]))
    """
    numbers = np.asarray(values, np.float64)
    ideal = distance_from(metric)
    if ideal is not None:
        return np.abs(numbers - ideal)
    return -numbers if metric in METRICS and METRICS[metric].direction == "higher" else numbers


def distance_from(metric: str) -> float | None:
    """The ideal value, if the loss of a metric is the distance from it, as for slopes and intercepts; else None."""
    return METRICS[metric].ideal if metric in METRICS and METRICS[metric].direction == "nearest" else None


def run_summary(values: ArrayLike) -> RunSummary:
    """Mean, standard deviation and number of the values."""
    runs = np.asarray(values, np.float64).ravel()
    with np.errstate(invalid="ignore", over="ignore"):
        mean = float(runs.mean()) if runs.size else np.nan
        sd = float(runs.std(ddof=1)) if runs.size > 1 else np.nan
    return RunSummary(mean, sd, runs.size)


def student_t(first: ArrayLike, second: ArrayLike) -> TTest[float]:
    """Student's t test of two independent samples with equal variance, which is the test that the paper names.

    The runs of two models share their rows, so the samples are not independent; see `corrected_resampled_t`.

    Parameters
    ----------
    first, second
        Values of the runs of two models, two or more each; otherwise the p-value is NaN.

    Examples
    --------
    >>> round(student_t([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).p_value, 4)
    0.1963
    """
    return _as_floats(student_t_from_summary(*run_summary(first), *run_summary(second)))


def student_t_from_summary(
    mean: ArrayLike, sd: ArrayLike, n: ArrayLike, other_mean: ArrayLike, other_sd: ArrayLike, other_n: ArrayLike
) -> TTest[FloatArray]:
    """`student_t` from mean, standard deviation and size of each sample; arrays broadcast."""
    first, first_sd, first_n, second, second_sd, second_n = (
        np.asarray(value, np.float64) for value in (mean, sd, n, other_mean, other_sd, other_n)
    )
    with np.errstate(all="ignore"):
        degrees = first_n + second_n - 2
        pooled = ((first_n - 1) * first_sd**2 + (second_n - 1) * second_sd**2) / degrees
        error = np.sqrt(pooled * (1 / first_n + 1 / second_n))
        return _t_test(first - second, error, degrees)


def corrected_resampled_t(first: ArrayLike, second: ArrayLike, *, test_share: float) -> TTest[float]:
    """The corrected resampled t test of Nadeau and Bengio (2003), paired by run.

    Runs on random splits of the same rows share most of their training rows: their differences vary less than
    those of runs on new rows would, and a test that assumes independence rejects too often. The variance of the
    mean difference is therefore taken as ``(1/k + n_test/n_train)`` times that of the k differences.

    Parameters
    ----------
    first, second
        Values of the same runs, in the same order.
    test_share
        ``n_test/n_train``; 0 for runs on independent rows, which gives the paired t test.
    """
    with np.errstate(all="ignore"):
        mean, sd, runs = run_summary(np.asarray(first, np.float64) - np.asarray(second, np.float64))
        error = np.sqrt(np.divide(1.0, runs) + test_share) * sd
        return _as_floats(_t_test(np.asarray(mean), np.asarray(error), np.asarray(runs - 1.0)))


def adjusted_p_values(p_values: ArrayLike) -> FloatArray:
    """Benjamini and Hochberg's adjusted p-values: those below a level have at most that false discovery rate.

    Parameters
    ----------
    p_values
        Of all tests, in any shape; NaN is a test that was not made, and is not counted.

    Examples
    --------
    >>> adjusted_p_values([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.04,  nan, 0.04])
    """
    given = np.asarray(p_values, np.float64)
    adjusted = np.full(given.shape, np.nan)
    made = ~np.isnan(given)
    made_p = given[made]
    order = np.argsort(made_p)[::-1]
    ranks = np.arange(made_p.size, 0, -1)
    made_adjusted = np.empty_like(made_p)
    # From the largest down: no test may be adjusted above one with a larger p-value.
    made_adjusted[order] = np.minimum.accumulate(made_p[order] * made_p.size / ranks)
    adjusted[made] = made_adjusted
    return adjusted


def _t_test(difference: FloatArray, error: FloatArray, degrees: FloatArray) -> TTest[FloatArray]:
    from scipy.special import stdtr

    # Runs without any variance: equal means have t = 0, other means t = ±inf.
    statistic = np.where((difference == 0) & (error == 0), 0.0, difference / error)
    p_value = np.where(degrees > 0, 2 * stdtr(np.where(degrees > 0, degrees, 1.0), -np.abs(statistic)), np.nan)
    return TTest(difference, statistic, degrees, p_value)


def _as_floats(test: TTest[FloatArray]) -> TTest[float]:
    return TTest(*(float(value) for value in astuple(test)))
