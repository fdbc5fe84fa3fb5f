"""Confidence limits of a metric by drawing rows again: the bootstrap."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias, final

import numpy as np

from aldsurv.checks import Choice, Number, WholeNumber, check
from aldsurv.data.group_column import group_numbers
from aldsurv.data.survival_data import SurvivalData
from aldsurv.display.html import fields_html
from aldsurv.errors import ParameterError, SkippedResamplesWarning
from aldsurv.metrics.catalogue import MetricFunction, find_metric
from aldsurv.metrics.checked_arguments import FloatArray, Prediction, person_rows
from aldsurv.metrics.resampling.row_counts import ByCounts, Counts, by_counts, numbers

__all__ = [
    "BootstrapResult",
    "IntervalMethod",
    "all_replicates",
    "as_given",
    "bootstrap",
    "check_settings",
    "interval",
    "jackknife",
    "reflected",
    "replicates",
    "spread",
    "summary",
    "warn_of_skipped",
]

IntervalMethod: TypeAlias = Literal["percentile", "bca"]

RandomState: TypeAlias = int | np.random.Generator | None

# Counts of rows held at once.
_BLOCK_VALUES = 1 << 20


@final
@dataclass(frozen=True)
class BootstrapResult:
    """A metric with its uncertainty; arrays (k,) in place of numbers if the metric gives k of them.

    Attributes
    ----------
    value
        The metric on the rows as they are.
    lower, upper
        Confidence limits.
    standard_error
        Standard deviation of the replicates.
    samples
        Number of replicates that had a value.
    """

    value: float | FloatArray
    lower: float | FloatArray
    upper: float | FloatArray
    standard_error: float | FloatArray
    samples: int

    def _repr_html_(self) -> str:
        return fields_html("Bootstrap", vars(self))


def bootstrap(
    metric: str | MetricFunction,
    predicted: Prediction,
    data: SurvivalData,
    *,
    train: SurvivalData | None = None,
    samples: int = 1000,
    level: float = 0.95,
    method: IntervalMethod = "percentile",
    random_state: RandomState = None,
    **options: object,
) -> BootstrapResult:
    """A metric with a confidence interval, by drawing the rows again with replacement.

    The interval says how the metric of *this* prediction would vary over other rows from the same population. The
    model is not fitted again, and the training rows stay as they are. For the default metrics of `evaluate`, by name or
    as functions, the prediction is evaluated once and rows are counted; any other function is called on the drawn rows.
    An event at 0 is one at or before the smallest time above 0 of all rows, not only of those drawn; a function without
    a record in `aldsurv.registry.METRICS` sees the drawn rows alone.

    Rows of one group, such as those of one person, are drawn together: as many groups as there are, with replacement
    (the cluster bootstrap). Single rows would be drawn as if they were independent, and limits would be too narrow.

    A resample is further from any ideal than the rows are, and these are further from it than the population is:
    replicates of a distance that cannot be negative, like CensDcal, lie mostly above the value, and the value above
    the truth. For the distances of calibration among the named metrics (and for p-values, which move down) the
    replicates are therefore reflected at the value (the basic bootstrap), and limits beyond the possible values are
    cut. For any other metric this is done where the limits would leave the value out. An interval always holds its
    value: a limit that is still on its other side is moved to it.

    Parameters
    ----------
    metric
        A name in `aldsurv.registry.METRICS`, such as ``"harrell_c"``, or a function ``(predicted, data, **options)``
        that gives a number or a tuple of numbers.
    predicted
        Distribution of each row; predicted times (n,) where the metric takes them.
    data
        The same rows as observed; a row is drawn with its weight, and with the others of its group.
    train
        Training rows, for the metrics that take them.
    samples
        Number of replicates. Those that are NaN, as without a comparable pair, are left out with a warning.
    level
        Confidence of the interval.
    method
        ``"percentile"``: quantiles of the replicates. ``"bca"``: the same, corrected for bias and skewness
        (Efron 1987), for which the metric is computed once more without each of the rows. Distances and p-values of
        calibration have the same limits by both.
    random_state
        Seed or generator. The same seed draws the same rows for every metric.
    **options
        Options of the metric, the same for all draws, except `truth`, which goes with the rows. The restricted mean as
        the point of a default metric of `evaluate` is restricted to the largest time of all rows, or with
        ``"follow_up"`` to the end of follow-up of all.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> rng = np.random.default_rng(0)
    >>> truth = Exponential(rng.uniform(1, 20, 200))
    >>> data = SurvivalData.right(truth.sample(random_state=1), np.ones(200, bool))
    >>> result = bootstrap("harrell_c", truth, data, samples=200, random_state=0)
    >>> result.lower < result.value < result.upper
    True
    """
    check_settings(samples, level, method)
    rows, called = person_rows(data), find_metric(metric)
    all_options = called.options_with(train, options, rows)
    value = called(predicted, rows, **all_options)
    form = by_counts(called, predicted, rows, all_options)
    drawn = replicates(form, rows, samples, random_state)
    without_each = jackknife(form, rows) if method == "bca" and called.bounds is None else None
    return summary(value, drawn, level, without_each, bounds=called.bounds)


def summary(
    value: float | FloatArray,
    drawn: FloatArray,
    level: float,
    without_each: FloatArray | None = None,
    *,
    bounds: tuple[float, float] | None = None,
) -> BootstrapResult:
    """The value of a metric with the limits from its replicates (b, k) and its jackknife; bounds as in `interval`."""
    lower, upper = interval(drawn, numbers(value), level, without_each, bounds=bounds)
    shape = np.shape(value)
    return BootstrapResult(
        as_given(numbers(value), shape),
        as_given(lower, shape),
        as_given(upper, shape),
        as_given(spread(drawn), shape),
        len(drawn),
    )


def check_settings(samples: int, level: float, method: str) -> None:
    """Raise `ParameterError` unless these are a number of replicates, a confidence and a method."""
    check("samples", samples, WholeNumber(2))
    check("level", level, Number(0, 1, above=True, below=True))
    check("method", method, Choice(("percentile", "bca")))


def as_given(vector: FloatArray, shape: tuple[int, ...]) -> float | FloatArray:
    """A vector in the shape that the metric gives: a number, or as many."""
    return float(vector[0]) if shape == () else vector


def replicates(form: ByCounts, rows: SurvivalData, samples: int, random_state: RandomState) -> FloatArray:
    """Values (b, k) on resamples of the rows, without those that are NaN in any of the k."""
    values = all_replicates(form, rows, samples, random_state)
    defined = ~np.isnan(values).any(axis=1)
    if not defined.all():
        warn_of_skipped("the metric", int(np.count_nonzero(~defined)), samples)
    return np.asarray(values[defined])


def all_replicates(form: ByCounts, rows: SurvivalData, samples: int, random_state: RandomState) -> FloatArray:
    """Values (samples, k) on resamples of the rows, or of their groups, NaN where there is none."""
    if len(rows) == 0:
        raise ParameterError("data must have rows to draw from, but have none.", argument="data")
    if rows.group is not None and rows.n_groups < 2:
        raise ParameterError(
            f"all {len(rows)} rows are of one group: there is nothing to draw",
            argument="group",
            advice="Give two groups or more, or none.",
        )
    generator = np.random.default_rng(random_state)
    with warnings.catch_warnings():
        # Resamples without a value are counted, and warned of once.
        warnings.simplefilter("ignore", UserWarning)
        return np.concatenate([form(counts) for counts in _resamples(rows, samples, generator)])


def warn_of_skipped(metric: str, skipped: int, samples: int) -> None:
    """Warn that a metric has no value on some resamples."""
    text = (
        f"{skipped} of {samples} resamples have no value of {metric} (no comparable pair, no event) and are left out."
    )
    warnings.warn(SkippedResamplesWarning(text, skipped=skipped, samples=samples), stacklevel=4)


def _resamples(rows: SurvivalData, samples: int, generator: np.random.Generator) -> Iterator[Counts]:
    units = _units(rows)
    n = int(units.max()) + 1
    step = max(1, _BLOCK_VALUES // len(rows))
    for start in range(0, samples, step):
        draws = (generator.integers(0, n, n) for _ in range(min(step, samples - start)))
        yield np.stack([np.bincount(drawn, minlength=n)[units] for drawn in draws])


def jackknife(form: ByCounts, rows: SurvivalData) -> FloatArray:
    """Values (n, k) without each of the rows, or of their groups."""
    units = _units(rows)
    n, step = int(units.max()) + 1, max(1, _BLOCK_VALUES // len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        blocks = (np.arange(start, min(start + step, n)) for start in range(0, n, step))
        return np.concatenate([form((some[:, None] != units).astype(np.int64)) for some in blocks])


def _units(rows: SurvivalData) -> Counts:
    """The number of what is drawn with each row (n,): the row itself, or its group."""
    return np.arange(len(rows)) if rows.group is None else group_numbers(rows.group)


def interval(
    drawn: FloatArray,
    value: FloatArray,
    level: float,
    without_each: FloatArray | None = None,
    *,
    bounds: tuple[float, float] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Confidence limits (k,) each from replicates (b, k); bias-corrected and accelerated with a jackknife.

    With the `bounds` of a metric that is biased on resamples, replicates are reflected at the value and limits cut to
    the bounds. Without, they are reflected only where the limits would leave the value out. NaN for a value of NaN.
    """
    limits = np.full((2, value.size), np.nan)
    for k in np.flatnonzero(~np.isnan(value)) if len(drawn) else ():
        column, point = drawn[:, k], float(value[k])
        ends = None
        if bounds is None:
            ends = _quantiles(column, point, level, None if without_each is None else without_each[:, k])
        if ends is None or not ends[0] <= point <= ends[1]:
            ends = _quantiles(reflected(column, point), point, level, None)
        limits[:, k] = min(ends[0], point), max(ends[1], point)
    return (limits[0], limits[1]) if bounds is None else (np.clip(limits[0], *bounds), np.clip(limits[1], *bounds))


def reflected(column: FloatArray, value: float) -> FloatArray:
    """Replicates (b,) on the other side of the value, as far from it as they are; unchanged if any is infinite."""
    if not (np.isfinite(column).all() and np.isfinite(value)):
        return column
    return np.asarray(2 * value - column)


def _quantiles(column: FloatArray, value: float, level: float, without_each: FloatArray | None) -> FloatArray:
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    if without_each is not None:
        shares = _corrected(shares, column, value, without_each)
    # Between a finite and an infinite replicate there is no interpolation.
    return np.asarray(np.quantile(column, shares, method="linear" if np.isfinite(column).all() else "inverted_cdf"))


def _corrected(tails: FloatArray, column: FloatArray, value: float, without_each: FloatArray) -> FloatArray:
    """Shares of the replicates that stand in for the tails (Efron 1987); the tails where there is no correction."""
    normal = NormalDist()
    below = float(((column < value).mean() + (column <= value).mean()) / 2)
    influence = without_each[np.isfinite(without_each)]
    influence = influence.mean() - influence if influence.size else influence
    power = float((influence**2).sum())
    if not (0 < below < 1 and power > 0):
        return tails
    acceleration = float((influence**3).sum()) / (6 * power**1.5)
    bias = normal.inv_cdf(below)
    moved = [bias + normal.inv_cdf(tail) for tail in tails.tolist()]
    return np.array([normal.cdf(bias + z / (1 - acceleration * z)) for z in moved])


def spread(drawn: FloatArray) -> FloatArray:
    """Standard deviation (k,) of replicates (b, k)."""
    if len(drawn) < 2:
        return np.full(drawn.shape[1], np.nan)
    with np.errstate(invalid="ignore"):
        deviation = drawn.std(axis=0, ddof=1)
    return np.where(np.isinf(drawn).any(axis=0), np.inf, deviation)
