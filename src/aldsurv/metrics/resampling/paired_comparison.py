"""The difference of a metric between two predictions of the same rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.display.html import fields_html
from aldsurv.errors import AldsurvWarning, ParameterError
from aldsurv.metrics.catalogue import MetricFunction, find_metric
from aldsurv.metrics.checked_arguments import FloatArray, Prediction, person_rows
from aldsurv.metrics.resampling.bootstrap import (
    IntervalMethod,
    RandomState,
    as_given,
    check_settings,
    interval,
    jackknife,
    reflected,
    replicates,
    spread,
)
from aldsurv.metrics.resampling.row_counts import Counts, by_counts, numbers

__all__ = ["Comparison", "compare"]


@final
@dataclass(frozen=True)
class Comparison:
    """The difference of a metric between two predictions; arrays (k,) if the metric gives k numbers.

    Attributes
    ----------
    first, second
        The metric of each prediction.
    difference
        The first less the second.
    lower, upper
        Confidence limits of the difference.
    standard_error
        Standard deviation of the replicates of the difference.
    p_value
        Two-sided: twice the share of replicates on the less frequent side of 0, those at 0 on both, each share as
        ``(count + 1)/(samples + 1)`` and at most 1. It is below ``1 - level`` about where the percentile
        interval leaves 0 out, and never below ``2/(samples + 1)``.
    samples
        Number of replicates that had a value.
    """

    first: float | FloatArray
    second: float | FloatArray
    difference: float | FloatArray
    lower: float | FloatArray
    upper: float | FloatArray
    standard_error: float | FloatArray
    p_value: float | FloatArray
    samples: int

    def _repr_html_(self) -> str:
        return fields_html("Comparison", vars(self))


def compare(
    first: Prediction,
    second: Prediction,
    data: SurvivalData,
    *,
    metric: str | MetricFunction,
    train: SurvivalData | None = None,
    samples: int = 1000,
    level: float = 0.95,
    method: IntervalMethod = "percentile",
    random_state: RandomState = None,
    **options: object,
) -> Comparison:
    """Whether one prediction is better than another, judged on the same rows.

    Both are evaluated on the same draws of rows. What makes rows easy or hard for both cancels in the difference, whose
    limits are therefore far narrower than those of the two values would suggest. An infinite value, as of an error
    where a predicted time is infinite, neither wins nor loses: the difference, its limits and its p-value are NaN, and
    a warning says why.

    Parameters
    ----------
    first, second
        Predictions of the rows of `data`, as in `bootstrap`.
    data
        The rows as observed; those of one group are drawn together.
    metric, train, samples, level, method, random_state, **options
        As in `bootstrap`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> mean = np.random.default_rng(0).uniform(1, 20, 200)
    >>> truth = Exponential(mean)
    >>> data = SurvivalData.right(truth.sample(random_state=1), np.ones(200, bool))
    >>> marginal = Exponential(np.full(200, 10.0))
    >>> result = compare(truth, marginal, data, metric="log_likelihood", samples=200, random_state=0)
    >>> result.difference > 0, result.p_value < 0.05
    (True, True)
    """
    check_settings(samples, level, method)
    rows, called = person_rows(data), find_metric(metric)
    all_options = called.options_with(train, options, rows)
    values = [called(predicted, rows, **all_options) for predicted in (first, second)]
    shape = np.shape(values[0])
    one, other = (numbers(value) for value in values)
    if one.shape != other.shape:
        raise ParameterError(
            f"metric must give as many numbers for both predictions, but gave {one.size} and {other.size}.",
            argument="metric",
        )
    forms = [by_counts(called, predicted, rows, all_options) for predicted in (first, second)]
    infinite = np.isinf(one) | np.isinf(other)

    def difference_by_counts(counts: Counts) -> FloatArray:
        # On draws without the rows that make a value infinite, the difference would be that of easier rows.
        with np.errstate(invalid="ignore"):
            differences = np.asarray(forms[0](counts) - forms[1](counts))
        return np.where(infinite | np.isinf(differences), np.nan, differences)

    if infinite.any():
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", "the metric")
        whose = " and ".join(place for place, part in (("first", one), ("second", other)) if np.isinf(part).any())
        warnings.warn(
            f"{name} of the {whose} prediction is infinite: it neither wins nor loses, and the comparison "
            "has no result.",
            AldsurvWarning,
            stacklevel=2,
        )
    if infinite.all():
        nothing = as_given(np.full(one.shape, np.nan), shape)
        first_value, second_value = as_given(one, shape), as_given(other, shape)
        return Comparison(first_value, second_value, nothing, nothing, nothing, nothing, nothing, 0)
    drawn = replicates(difference_by_counts, rows, samples, random_state)
    with np.errstate(invalid="ignore"):
        difference = np.where(infinite, np.nan, one - other)
    # Differences of distances are biased on resamples as these are, but not bounded.
    bounds = None if called.bounds is None else (-np.inf, np.inf)
    without_each = jackknife(difference_by_counts, rows) if method == "bca" and bounds is None else None
    lower, upper = interval(drawn, difference, level, without_each, bounds=bounds)
    if bounds is not None:
        drawn = np.stack([reflected(drawn[:, k], float(difference[k])) for k in range(difference.size)], axis=1)
    return Comparison(
        as_given(one, shape),
        as_given(other, shape),
        as_given(difference, shape),
        as_given(lower, shape),
        as_given(upper, shape),
        as_given(spread(drawn), shape),
        as_given(_p_value(drawn), shape),
        len(drawn),
    )


def _p_value(drawn: FloatArray) -> FloatArray:
    if len(drawn) == 0:
        return np.full(drawn.shape[1], np.nan)
    fewer = np.minimum((drawn <= 0).sum(axis=0), (drawn >= 0).sum(axis=0))
    return np.asarray(np.minimum(1.0, 2 * (fewer + 1) / (len(drawn) + 1)))
